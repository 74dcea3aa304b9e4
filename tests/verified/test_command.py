"""`glasshouse check --verified`, and the program that it runs."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import signal
import stat
import subprocess
import threading
import zipfile
from pathlib import Path

import pytest
from tests.golden.plants import PLANTS, grown

from glasshouse import files
from glasshouse.cli import main
from glasshouse.cli.verified import VARIABLE
from glasshouse.planting.methods import cores, random_loops, xorsat
from glasshouse.problems import MaxSat, Polynomial


@pytest.fixture
def plant(tmp_path):
    path = tmp_path / "inst.wcnf"
    files.write(path, random_loops(9, 8, frustration="1/4", loop_density=2, rng=5))
    return path


def test_a_plant_is_verified(verified, plant, capsys):
    assert main(["check", str(plant), "--verified"]) == 0
    assert capsys.readouterr().out.endswith("; the verified checker agrees\n")
    assert main(["check", str(plant), "--verified", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verified"] is True


def test_every_planted_family_is_verified(verified, tmp_path):
    pairs, values = [], []
    for number, name in enumerate(PLANTS):
        plant = grown(name)
        kinds = {Polynomial: (".hubo",), MaxSat: (".wcnf",)}
        for suffix in kinds.get(type(plant.problem), (".wcnf", ".mc")):
            path = tmp_path / f"{number}{suffix}"
            try:
                files.write(path, plant)
            except ValueError:  # decimals in a WCNF file
                continue
            pairs += [path, files.side_car(path)]
            values.append((name, suffix, files.verify_file(path).value))
    done = subprocess.run([verified, *pairs], capture_output=True, text=True, check=False)
    assert len(values) > 40
    assert done.stdout.splitlines() == [f"VERIFIED optimum {value}" for *_, value in values]


def test_a_planted_polynomial_is_verified(verified, tmp_path, capsys):
    path = tmp_path / "inst.hubo"
    files.write(path, xorsat(12, native=True, rng=1))
    assert main(["check", str(path), "--verified"]) == 0
    assert capsys.readouterr().out.endswith("; the verified checker agrees\n")


def test_planted_cores_are_verified(verified, tmp_path, capsys):
    path = tmp_path / "inst.wcnf"
    files.write(path, cores(30, clause_density=4, max_weight=5, harden="1/9", rng=1))
    assert main(["check", str(path), "--verified"]) == 0
    assert capsys.readouterr().out.endswith("; the verified checker agrees\n")


def test_packed_files_are_unpacked(verified, plant, tmp_path, capsys):
    packed = tmp_path / "packed.wcnf.gz"
    packed.write_bytes(gzip.compress(plant.read_bytes()))
    arguments = ["check", str(packed), "--certificate", f"{plant}.cert", "--verified"]
    assert main(arguments) == 0
    assert "the verified checker agrees" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["inst", "inst.zip"])
def test_the_content_gives_the_format_where_the_name_does_not(
    verified, plant, tmp_path, capsys, name
):
    path = tmp_path / name
    if path.suffix:
        with zipfile.ZipFile(path, "w") as archive:
            archive.write(plant, "inst.wcnf")
    else:
        path.write_bytes(plant.read_bytes())
    assert main(["check", str(path), "--certificate", f"{plant}.cert", "--verified"]) == 0
    assert "the verified checker agrees" in capsys.readouterr().out


def test_formats_that_it_does_not_read_are_refused_in_one_line(verified, tmp_path, capsys):
    path = tmp_path / "inst.coo"
    files.write(path, random_loops(4, 4, frustration="1/4", loops=3, rng=5))
    assert main(["check", str(path), "--verified"]) == 2
    said = capsys.readouterr().err
    assert "the verified checker reads .wcnf, .mc, .sparse, .hubo files" in said
    assert said.count("\n") == 1


def test_a_missing_program_is_one_line(plant, monkeypatch, capsys):
    monkeypatch.setattr("glasshouse.cli.verified._BUILT", plant / "none")
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("PATH", "")
    assert main(["check", str(plant), "--verified"]) == 2
    said = capsys.readouterr().err
    assert "libzarith-ocaml-dev, build it with `make verified`" in said
    assert said.count("\n") == 1
    monkeypatch.setenv(VARIABLE, str(plant))
    assert main(["check", str(plant), "--verified"]) == 2
    assert "cannot be run" in capsys.readouterr().err


# OPTIMUM is the true one, which is accepted only if nothing else is printed, and with exit code 0.
@pytest.mark.parametrize(
    "script",
    [
        "echo VERIFIED optimum 1",
        "echo REFUSED",
        "",
        "echo VERIFIED optimum OPTIMUM; exit 2",
        "echo VERIFIED optimum OPTIMUM; kill -SEGV $$",
        "echo VERIFIED optimum OPTIMUM; echo VERIFIED optimum OPTIMUM",
        "echo VERIFIED optimum OPTIMUM; echo a warning >&2",
        "echo VERIFIED optimum OPTIMUM.0",
        "echo NOT VERIFIED optimum OPTIMUM",
        "printf 'VERIFIED optimum OPTIMUM'",
        r"printf 'VERIFIED optimum OPTIMUM\377\n'",
        "exec yes VERIFIED optimum OPTIMUM",
    ],
)
def test_another_answer_of_the_program_fails(plant, tmp_path, monkeypatch, capsys, script):
    optimum = files.verify_file(plant).value
    pretend(tmp_path / "other", script.replace("OPTIMUM", str(optimum)), monkeypatch)
    assert main(["check", str(plant), "--verified"]) == 1
    captured = capsys.readouterr()
    assert "the verified checker" in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_the_exact_answer_of_a_program_is_accepted(plant, tmp_path, monkeypatch):
    optimum = files.verify_file(plant).value
    pretend(tmp_path / "other", f"echo VERIFIED optimum {optimum}", monkeypatch)
    assert main(["check", str(plant), "--verified"]) == 0


def pretend(program, script, monkeypatch):
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv(VARIABLE, str(program))


def test_ctrl_c_ends_a_program_that_hangs(plant, tmp_path, monkeypatch, capsys):
    started = tmp_path / "started"
    os.mkfifo(started)
    pretend(tmp_path / "hangs", f"echo $$ >{started}; exec sleep 1000", monkeypatch)
    pids = []

    def interrupt():
        pids.append(int(started.read_text()))
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with contextlib.suppress(KeyboardInterrupt):
        assert main(["check", str(plant), "--verified"]) == 130
    thread.join()
    assert "VERIFIED" not in capsys.readouterr().out
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


def test_manifests_are_refused(tmp_path, capsys):
    assert main(["check", str(tmp_path / "manifest.jsonl"), "--verified"]) == 2
    assert "--verified applies to problem files" in capsys.readouterr().err


def test_the_program_judges_pairs_and_tells_by_its_exit_code(verified, plant, tmp_path):
    def run(*paths: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run([verified, *paths], capture_output=True, text=True, check=False)

    certificate = f"{plant}.cert"
    assert run(plant, certificate).returncode == 0
    assert run(plant, certificate, plant, plant).returncode == 1
    assert run(plant, tmp_path / "missing").stdout.startswith("REFUSED ")
    assert "usage" in run(plant).stderr
    assert "usage" in run().stderr
    assert run().returncode == run(plant, certificate, plant).returncode == 1
    assert run(plant, certificate, plant).stdout == ""
    assert "name the certificate after it" in run(certificate, plant).stdout
    weak = tmp_path / "weak.cert"
    lines = files.side_car(plant).read_text().splitlines()
    state = next(line for line in lines if line.startswith("state"))
    weak.write_text(f"glasshouse-certificate 1\ndenominator 1\n{state}\nloops 0\n")
    done = run(plant, weak)
    assert done.returncode == 2
    assert done.stdout.startswith("VERIFIED only a lower bound: ")


def test_odd_files_are_refused_in_one_line_each(verified, plant, tmp_path):
    certificate = files.side_car(plant)
    pipe = tmp_path / "pipe.wcnf"
    os.mkfifo(pipe)
    holder = os.open(pipe, os.O_RDWR)  # opening a pipe without a writer would wait forever
    odd = [tmp_path, pipe, "/dev/null", "/dev/zero", "", "a\nVERIFIED optimum 1", "\377.wcnf"]
    pairs = [pair for one in odd for pair in ((one, certificate), (plant, one))]
    nothing = tmp_path / "nothing.wcnf"
    nothing.write_bytes(b"")
    with_nul = tmp_path / "nul.wcnf"
    with_nul.write_bytes(plant.read_bytes() + b"\0")
    pairs += [(nothing, certificate), (with_nul, certificate), (plant, nothing)]
    words = [word for pair in pairs for word in pair]
    done = subprocess.run([verified, *words], capture_output=True, text=True, check=False)
    os.close(holder)
    lines = done.stdout.splitlines()
    assert len(lines) == len(pairs)
    assert all(line.startswith("REFUSED ") for line in lines)
    assert (done.returncode, done.stderr) == (1, "")


def test_line_ends_do_not_matter(verified, plant, tmp_path):
    texts = plant.read_bytes(), files.side_car(plant).read_bytes()
    for number, change in enumerate((lambda t: t.replace(b"\n", b"\r\n"), lambda t: t[:-1])):
        path = tmp_path / f"{number}.wcnf"
        for place, text in zip((path, files.side_car(path)), texts, strict=True):
            place.write_bytes(change(text))
        done = subprocess.run([verified, path, files.side_car(path)], check=False)
        assert done.returncode == 0


def test_an_answer_that_cannot_be_printed_is_no_bound(verified, plant):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([verified, plant, files.side_car(plant)], stdout=full, check=False)
    assert done.returncode == 1
