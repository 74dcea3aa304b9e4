"""A command prints "proven" only of what a verifier has just accepted."""

import re
import shlex
import sys

import pytest

from glasshouse.certificates import CertificateError, verdict
from glasshouse.cli import main
from glasshouse.files import known, writing
from glasshouse.files.certificate.reading import side_car
from glasshouse.fuzzing import hunting
from glasshouse.suites import writing as suite_writing

SILENT = shlex.join([sys.executable, "-c", "print('s OPTIMUM FOUND')"])
PLANT = "plant random -n 8 -f 1/5 --loops 5 --seed 1"
# All in a folder that contains inst.wcnf, its certificate and answer.txt.
COMMANDS = [
    f"{PLANT} -o new.wcnf",
    f"{PLANT} -o new.wcnf --json",
    f"{PLANT} -o new.npz",
    f"{PLANT} -o new.mc",
    f"{PLANT} -o new.wcnf --blind",
    f"{PLANT} -o -",
    f"{PLANT}",
    f"{PLANT} --count 2 -o many",
    f"{PLANT} --count 2 -o many --format npz",
    f"{PLANT} --count 2 -o many --blind",
    f"{PLANT} --count 2 -o many --blind --answers apart",
    "fuzz one --seed 1 -o new.wcnf",
    "fuzz one --seed 1 -o new.wcnf --json",
    f"fuzz run --solver {shlex.quote(SILENT)} --count 1 -o faults",
    f"fuzz run --solver {shlex.quote(SILENT)} --count 1 -o faults --json",
    "suite write smoke --count 1 -o smoke",
    "check inst.wcnf",
    "check inst.wcnf --json",
    "convert inst.wcnf new.qubo",
    "prove inst.wcnf --certificate new.cert",
    "prove inst.wcnf --certificate new.cert --json",
    "solve inst.wcnf --solver prove",
    "solve inst.wcnf --sweeps 10 --runs 1",
    "judge inst.wcnf answer.txt",
    "race run --solver anneal --suite inst.wcnf --time-limit 1 -o race.sqlite",
    "report inst.wcnf -o page.html",
]
# Affirmative claims, in the words of all commands.
CLAIM = re.compile(
    r"(?<!not )(?<!not be )\bproven\b(?! for 0)(?!\": false)|is the optimum|\"optimal\": true"
    r"|\"optimum\": [0-9-]|their optima"
)


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([*shlex.split(PLANT), "-o", "inst.wcnf"]) == 0
    (tmp_path / "answer.txt").write_text("o 15\ns OPTIMUM FOUND\nv 0000000000000000\n")
    capsys.readouterr()
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_called_proven_if_the_verifier_says_no(command, folder, monkeypatch, capsys):
    def refuse(*_):
        raise CertificateError("the verifier says no")

    monkeypatch.setattr(verdict, "examined", refuse)
    monkeypatch.setattr(known, "examined", refuse)
    main(shlex.split(command))
    said = capsys.readouterr().out
    assert not CLAIM.search(said), said
    for written in folder.rglob("*"):
        if written.suffix in (".txt", ".html", ".jsonl", ".csv") and written.name != "answer.txt":
            text = written.read_text()
            assert not re.search(r"optimum \d+, proven|is the optimum|\"optimum\": \d", text)


WRITERS = [
    f"{PLANT} -o new.wcnf",
    f"{PLANT} --count 2 -o many",
    f"{PLANT} --count 2 -o many --blind --answers apart",
    "fuzz one --seed 1 -o new.wcnf",
    f"fuzz run --solver {shlex.quote(SILENT)} --count 1 -o faults",
]


@pytest.mark.parametrize(
    "command", [*WRITERS, "check inst.wcnf", "prove inst.wcnf --certificate new.cert"]
)
def test_what_the_verifier_accepts_is_called_proven(command, folder, capsys):
    main(shlex.split(command))
    assert CLAIM.search(capsys.readouterr().out)


@pytest.mark.parametrize("command", [*WRITERS, "suite write smoke --count 1 -o smoke"])
def test_nothing_is_called_proven_if_the_disk_holds_another_certificate(
    command, folder, monkeypatch, capsys
):
    """The certificate is replaced, right after it was written, by one that states another cost."""
    real = writing.write_certificate

    def tamper(path, certificate, **options):
        real(path, certificate, **options)
        path.write_text(re.sub(r"^cost .*$", "cost 123456", path.read_text(), flags=re.MULTILINE))

    for module in (writing, hunting):
        monkeypatch.setattr(module, "write_certificate", tamper)
    assert main(shlex.split(command)) != 0
    said = capsys.readouterr()
    assert not CLAIM.search(said.out), said.out
    assert "Traceback" not in said.err
    assert not list(folder.rglob("manifest.jsonl"))


def test_an_enumerated_optimum_is_of_the_file_that_was_written(tmp_path, monkeypatch):
    from glasshouse.fuzzing.question import Question

    question = Question(2, ((3, (1, 2)), (None, (-1,)), (2, (-2,))), optimum=2)
    assert hunting.write_question(tmp_path / "x.wcnf", question) is None
    text = question.text.replace(b"3 1 2 0", b"3 -1 2 0")
    monkeypatch.setitem(question.__dict__, "text", text)
    with pytest.raises(CertificateError, match="does not contain the enumerated clauses"):
        hunting.write_question(tmp_path / "y.wcnf", question)


def test_a_suite_of_blind_files_is_proven_by_its_plants(tmp_path, monkeypatch):
    """The written file holds a problem other than the plant."""
    from glasshouse.planting.methods import random_loops

    plants = [random_loops(6, 6, frustration="1/5", loops=5, rng=seed) for seed in (1, 2)]
    real = suite_writing.write
    monkeypatch.setattr(
        suite_writing, "write", lambda path, plant, **options: real(path, plants[1], **options)
    )
    with pytest.raises(CertificateError):
        suite_writing.write_suite(tmp_path / "many", plants[:1], blind=True)
    assert not side_car(tmp_path / "many" / "instance-00000.wcnf").exists()
    assert not (tmp_path / "many" / "manifest.jsonl").exists()
