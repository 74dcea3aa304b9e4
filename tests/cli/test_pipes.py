"""Standard input and output, consoles without UTF-8, and the ways to start the command."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.children import PATIENCE
from tests.notices import without_notices

import glasshouse as gh
from glasshouse.cli import main

FULL_DISK = Path("/dev/full")
PLANT = ["plant", "random", "-n", "9", "-f", "1/5", "--loops", "4", "--seed", "1"]
SUFFIXES = ["wcnf", "cnf", "opb", "qubo", "mc", "coo", "bqm", "npz", "wcnf.xz", ".WCNF.gz"]


def feed(monkeypatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def run(*words, cwd, **environment):
    return subprocess.run(
        [sys.executable, *words],
        capture_output=True, cwd=cwd, timeout=PATIENCE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
    )  # fmt: skip


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_standard_output_gets_the_bytes_of_the_file_and_nothing_else(
    suffix, tmp_path, capsysbinary
):
    words = PLANT
    if suffix == "cnf":
        words = ["plant", "uniform", "-n", "20", "--clause-density", "2", "--seed", "1"]
    path = tmp_path / f"x.{suffix.lstrip('.')}"
    assert main([*words, "-o", str(path)]) == 0
    capsysbinary.readouterr()
    assert main([*words, "-o", "-", "--format", suffix]) == 0
    shown = capsysbinary.readouterr()
    assert shown.out == path.read_bytes()
    assert shown.err.count(b"\n") == 1
    assert b"seed 1" in shown.err


@pytest.mark.parametrize("suffix", ["wcnf", "qubo", "mc", "coo", "bqm", "npz", "wcnf.xz"])
def test_what_was_written_is_read_and_converted_again(suffix, monkeypatch, capsysbinary):
    main([*PLANT, "-o", "-", "--format", suffix])
    data = capsysbinary.readouterr().out
    feed(monkeypatch, data)
    assert main(["convert", "-", "-", "--from", suffix, "--to", "coo"]) == 0
    text, said = capsysbinary.readouterr()
    # No certificate can be next to a pipe. The archive holds its loops, others a recipe.
    assert (b"states (there is no proof)" in said) == (suffix not in ("bqm", "npz"))
    if suffix != "bqm":
        feed(monkeypatch, data)
        assert main(["convert", "-", "-", "--from", suffix, "--to", "coo", "--recipe"]) == 0
        text = capsysbinary.readouterr().out
    feed(monkeypatch, text)
    assert main(["solve", "-", "--format", "coo", "--runs", "4", "--json"]) == 0
    answer = json.loads(capsysbinary.readouterr().out)
    # dimod's own format has no place for what is known.
    assert answer["objective"] == (-36 if suffix == "bqm" else answer["stated_optimum"])


def test_a_certificate_goes_where_it_is_told(tmp_path, monkeypatch, capsysbinary):
    place = tmp_path / "proof.cert"
    words = [*PLANT, "--blind", "-o", "-", "--format", "wcnf", "--certificate", str(place)]
    assert main(words) == 0
    data = capsysbinary.readouterr().out
    assert b"planted" not in data
    feed(monkeypatch, data)
    assert main(["check", "-", "--format", "wcnf", "--certificate", str(place)]) == 0
    assert b"VERIFIED, 12" in capsysbinary.readouterr().out
    before = place.read_bytes()
    assert main(words) == 2
    assert b"already exists" in capsysbinary.readouterr().err
    assert place.read_bytes() == before
    path = tmp_path / "inst.wcnf"
    assert main([*PLANT, "-o", str(path), "--certificate", str(tmp_path / "inst.wcnf")]) == 2
    assert not path.exists()
    assert main([*PLANT, "-o", str(path), "--certificate", str(tmp_path / "far.cert")]) == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["far.cert", "inst.wcnf", "proof.cert"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["solve", "-"], "add --format NAME"),
        (["check", "-"], "add --format NAME"),
        (["convert", "-", "x.coo"], "add --from NAME"),
        (["convert", "-", "-", "--from", "wcnf"], "add --to NAME"),
        ([*PLANT, "-o", "-"], "add --format NAME"),
        ([*PLANT, "-o", "-", "--format", "tiff"], "unknown suffix '.tiff'"),
        ([*PLANT, "-o", "-", "--format", "wcnf", "--json"], "use only one of them"),
        (["prove", "-", "--format", "wcnf"], "add --certificate"),
        (["info", "-", "--format", "wcnf"], "line 1: "),
        ([*PLANT, "-o", "-", "--format", "wcnf", "--count", "2"], "-o DIR"),
        ([*PLANT, "--format", "wcnf"], "add -o FILE"),
    ],
)
def test_what_is_missing_is_said_in_one_line(words, reason, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    feed(monkeypatch, b"1 1 -2 0\n" if "convert" in words else b"p wcnf x\n")
    assert main(words) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert reason in shown.err
    assert not list(tmp_path.iterdir())


def test_a_format_overrides_a_suffix_that_tells_nothing(tmp_path, capsys):
    path = tmp_path / "instance.dat"
    assert main([*PLANT, "-o", str(path), "--format", "wcnf.gz"]) == 0
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    assert main(["check", str(path), "--format", "wcnf.gz"]) == 0
    assert gh.read(path, format="wcnf.gz").num_variables == 18


def test_streams_from_python():
    plant, stream = gh.random_loops(9, 9, frustration="1/5", loops=4, rng=1), io.BytesIO()
    gh.write(stream, plant, format="npz")
    stream.seek(0)
    assert gh.read(stream, format="npz") == plant
    with pytest.raises(ValueError, match="<stream>: has no suffix"):
        gh.read(stream)
    with pytest.raises(ValueError, match="<stream>, line 1"):
        gh.read(io.BytesIO(b"p wcnf\n"), format="wcnf")


def test_a_failed_write_leaves_a_stream_empty():
    stream = io.BytesIO()
    with pytest.raises(ValueError, match="integer weights"):
        gh.write(stream, gh.Ising.from_edges(2, [(0, 1)], [0.5]), format="wcnf")
    assert stream.getvalue() == b""


class TestProcesses:
    def test_real_pipes(self, tmp_path):
        command = f"'{sys.executable}' -m glasshouse"
        script = (
            f"{command} {' '.join(PLANT)} -o - --format wcnf 2>/dev/null"
            f" | {command} convert - - --from wcnf --to coo 2>/dev/null | head -n 1"
        )
        done = subprocess.run(
            ["sh", "-c", script], capture_output=True, cwd=tmp_path, text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        assert (done.stdout, done.stderr) == ("# vartype=SPIN\n", "")

    def test_a_reader_that_goes_away_is_no_error(self, tmp_path):
        words = ["plant", "random", "-n", "900", "-f", "1/5", "--loops", "20000"]
        words += ["-o", "-", "--format", "coo"]
        with subprocess.Popen(
            [sys.executable, "-m", "glasshouse", *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        ) as process:  # fmt: skip
            process.stdout.readline()
            process.stdout.close()
            told = process.stderr.read()
        assert b"Traceback" not in told
        assert b"ignored" not in told
        assert b"rror" not in told
        assert process.returncode == 141

    @pytest.mark.parametrize(
        "environment",
        [
            {"PYTHONIOENCODING": "ascii"},
            {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        ],
    )
    def test_a_console_without_utf8(self, environment, tmp_path):
        script = f"""
from glasshouse.cli import main
assert main({PLANT} + ["-o", "x.wcnf"]) == 0
assert main(["convert", "x.wcnf", "y.coo"]) == 0
assert main(["plant", "--help"]) == 0
assert main(["check", "--print-checker"]) == 0
"""
        done = run("-c", script, cwd=tmp_path, **environment)
        assert (done.returncode, done.stderr) == (0, b"")
        assert b"9 visible x 9 hidden" in done.stdout
        assert b"MAX-2-SAT -> Ising" in done.stdout
        assert (tmp_path / "x.wcnf").exists()

    @pytest.mark.skipif(sys.platform != "linux", reason="other systems have names of characters")
    def test_a_name_that_is_no_text(self, tmp_path):
        name = os.fsdecode(b"\xff.wcnf")
        done = run("-m", "glasshouse", *PLANT, "-o", name, cwd=tmp_path)
        assert done.returncode == 0
        assert (tmp_path / name).exists()

    @pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
    def test_completion_is_a_script_that_bash_takes(self, tmp_path, capsys):
        assert main(["completion", "bash"]) == 0
        script = capsys.readouterr().out
        check = 'COMP_WORDS=(glasshouse pl); COMP_CWORD=1; _glasshouse; echo "${COMPREPLY[@]}"'
        done = subprocess.run(
            ["bash", "-c", script + "\n" + check], capture_output=True, text=True, cwd=tmp_path
        )
        assert done.stdout.split() == ["plant"], done.stderr

    def test_completion_of_other_shells(self, capsys):
        for shell in ("zsh", "fish"):
            assert main(["completion", shell]) == 0
            assert "loop-density" in capsys.readouterr().out
        assert main(["completion", "tcsh"]) == 2


@pytest.mark.parametrize("flag", ["-V", "--version"])
def test_the_version(flag, capsys):
    assert main([flag]) == 0
    assert capsys.readouterr().out.splitlines()[0] == f"glasshouse {gh.__version__}"


@pytest.mark.skipif(not FULL_DISK.exists(), reason="no full device here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_told_without_a_number(unbuffered, tmp_path):
    with FULL_DISK.open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "glasshouse", *PLANT], stdout=full, stderr=subprocess.PIPE,
            cwd=tmp_path, timeout=PATIENCE, text=True,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )  # fmt: skip
    assert done.returncode == 2
    assert without_notices(done.stderr) == "glasshouse: No space left on device\n"
