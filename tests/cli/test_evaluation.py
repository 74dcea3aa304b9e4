"""The lines of the MaxSAT Evaluation: a model is printed only with its `o` line, whatever comes."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest
from tests.cli.test_termination import START, start

import glasshouse as gh
from glasshouse.cli import console
from glasshouse.cli.evaluation import Contest

MODEL, BETTER = np.array([0, 0], np.int8), np.array([1, 1], np.int8)


@pytest.fixture
def contest(tmp_path):
    path = tmp_path / "x.wcnf"
    path.write_text("h 1 -2 0\n3 1 0\n4 2 0\n")
    document = gh.read_document(path)
    return Contest(document, document.problem)


def test_a_line_that_was_not_written_leaves_no_model(contest, monkeypatch):
    assert contest.offer(MODEL)
    monkeypatch.setattr(console, "write", lambda line: (_ for _ in ()).throw(BrokenPipeError))
    with pytest.raises(BrokenPipeError):
        contest.offer(BETTER)
    assert (contest.model is MODEL, contest.cost) == (True, 7)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGUSR1])
def test_a_signal_comes_after_line_and_model(contest, number, monkeypatch, capsys):
    class StoppedError(Exception):
        pass

    def stop(*_):
        raise StoppedError

    write = console.write
    before = signal.signal(number, stop)
    try:
        monkeypatch.setattr(console, "write", lambda line: (os.kill(os.getpid(), number),
                                                            write(line)))  # fmt: skip
        with pytest.raises(StoppedError):
            contest.offer(MODEL)
    finally:
        signal.signal(number, before)
    assert contest.model is MODEL
    assert capsys.readouterr().out == "o 7\n"


BLOCKED = f"""
import sys
from glasshouse.cli import console
is_read = console.is_read
def loud(*arguments, **options):
    answer = is_read(*arguments, **options)
    if not answer:
        print("nobody reads", file=sys.stderr, flush=True)
    return answer
console.is_read = loud
{START}
"""


def fill(pipe: int) -> int:
    """Write to a pipe until it takes no more."""
    os.set_blocking(pipe, False)
    filled = 0
    try:
        while True:
            filled += os.write(pipe, b"\n" * 4096)
    except BlockingIOError:
        os.set_blocking(pipe, True)
        return filled


@pytest.mark.parametrize("reads_on", [False, True])
@pytest.mark.parametrize("solver", ["anneal", "prove", "rc2", "highs"])
def test_where_nobody_reads_there_is_no_model_and_sigterm_is_heard(solver, reads_on, tmp_path):
    if solver == "rc2":
        pytest.importorskip("pysat")
    path = tmp_path / "x.wcnf"
    gh.write(path, gh.random_loops(6, 6, frustration="1/5", loops=4, rng=1))
    reader, writer = os.pipe()
    filled = fill(writer)
    words = ["solve", str(path), "--maxsat-output", "--solver", solver]
    process = start(words, BLOCKED, stdout=writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as output, process:
        while process.stderr.readline() != "nobody reads\n":
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        if not reads_on:
            assert process.wait(60) == 143
        lines = output.read()[filled:].decode().splitlines()
        process.wait(60)
    if not reads_on:
        assert lines == []
        return
    # The reader was only slow: the answer is whole, and has no model without its line.
    assert (lines, process.returncode) == (["s UNKNOWN"], 0)


def test_a_long_model_is_written_in_pieces(contest, capfd, monkeypatch):
    text = "s SATISFIABLE\nv " + "01" * 20_000 + "\n"
    console.write_whole(text)
    assert capfd.readouterr().out == text


def test_an_answer_that_nobody_reads_is_given_up_after_a_signal(monkeypatch):
    monkeypatch.setattr(console, "is_read", lambda *_, **__: False)
    monkeypatch.setattr(console, "_PATIENCE", 0.0)

    class Told:
        came, last = [signal.SIGTERM], time.monotonic() - 1

    monkeypatch.setattr(console, "current", Told)
    with pytest.raises(console.BlockedError):
        console.write_whole("s UNKNOWN\n")


def test_a_reader_that_is_only_slow_gets_everything(tmp_path):
    """Without a signal, the reason why a command ends is printed even if the pipe is full."""
    reader, writer = os.pipe()
    filled = fill(writer)
    process = start(["info", str(tmp_path / "missing.wcnf")], stdout=writer, stderr=writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as output, process:
        time.sleep(3)  # longer than any patience
        said = output.read()[filled:].decode()
    assert process.returncode == 2
    assert said.endswith("no such file\n")
