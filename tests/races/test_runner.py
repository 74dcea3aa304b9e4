"""Commands under limits: what is kept, what is stopped, and that nothing is left behind."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from glasshouse.races.command import SolverCommand
from glasshouse.races.limits import MEGABYTE, Limits
from glasshouse.races.runner import run

linux = pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")


def python(code: str, **limits):
    return run([sys.executable, "-c", code], Limits(**({"seconds": 10} | limits)))


def running(word: str) -> list[str]:
    """Command lines of live processes that hold a word."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if word in text and path.parent.name != str(os.getpid()):
            found.append(text)
    return found


def test_output_comes_with_its_times():
    outcome = python(
        "import time\nprint('first', flush=True)\ntime.sleep(.3)\nprint('second', end='')"
    )
    (early, first), (late, second) = outcome.transcript.lines()
    assert (first, second) == ("first", "second")
    assert 0.25 < late - early < 2
    assert outcome.exit_code == 0
    assert outcome.stopped is None


@pytest.mark.parametrize("code", ["while True: pass", "import time; time.sleep(1000)"])
def test_the_wall_clock_limit_is_kept(code):
    start = time.monotonic()
    outcome = python(code, seconds=0.7)
    assert outcome.stopped == "time"
    assert abs(outcome.seconds - 0.7) < 0.5
    assert time.monotonic() - start < 0.7 + 0.5 + 0.4


def test_the_processor_limit_counts_busy_time_only():
    assert python("import time; time.sleep(.5)", cpu_seconds=0.3).stopped is None
    assert python("while True: pass", cpu_seconds=0.3).stopped == "cpu"


@linux
def test_the_memory_limit_is_kept_by_all_processes_together():
    one = "x = bytearray(120_000_000); import time; time.sleep(.5)"
    assert python(one, memory=300 * MEGABYTE).stopped is None
    outcome = python(f"import os; os.fork(); os.fork(); {one}", memory=300 * MEGABYTE)
    assert outcome.stopped == "memory"
    assert outcome.memory < 900 * MEGABYTE


def test_output_is_bounded():
    outcome = python("while True: print('x' * 100000)", output=MEGABYTE)
    assert outcome.stopped == "output"
    assert MEGABYTE < len(outcome.transcript.output) < 2 * MEGABYTE


def test_errors_keep_their_end():
    outcome = python("import sys; sys.stderr.write('x' * 10**6 + 'end')")
    assert len(outcome.transcript.errors) == 1 << 16
    assert outcome.transcript.errors.endswith(b"xend")


def test_a_solver_may_print_its_best_when_it_is_told_to_stop():
    code = (
        "import signal, sys, time\n"
        "def end(*_):\n    print('v 01', flush=True)\n    sys.exit(10)\n"
        "signal.signal(signal.SIGTERM, end)\nprint('o 3', flush=True)\ntime.sleep(1000)"
    )
    outcome = python(code, seconds=0.6)
    assert [line for _, line in outcome.transcript.lines()] == ["o 3", "v 01"]
    assert outcome.exit_code == 10


@linux
def test_children_that_leave_their_session_do_not_survive():
    mark = "glasshouse_orphan_test"
    code = (
        f"import os, signal, time  # {mark}\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork() == 0:\n"
        "            signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "        time.sleep(1000)\n"
        "print('done')"
    )
    outcome = python(code)
    assert outcome.stopped is None
    assert outcome.seconds < 5
    assert not running(mark)


def test_no_folder_and_no_core_dump_are_left(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    outcome = python("open('left', 'w').close(); import ctypes; ctypes.string_at(0)")
    assert outcome.exit_code == -11
    assert not list(tmp_path.iterdir())


def test_ctrl_c_ends_the_command_too(monkeypatch):
    mark = "glasshouse_interrupt_test"
    monkeypatch.setattr(
        "glasshouse.races.runner.processes.usage_of",
        lambda pids: (_ for _ in ()).throw(KeyboardInterrupt),
    )
    with pytest.raises(KeyboardInterrupt):
        python(f"import time  # {mark}\ntime.sleep(1000)")
    assert not running(mark)


def test_a_program_that_cannot_be_started_is_one_clear_line(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("no program")
    with pytest.raises(ValueError, match="'nosuchsolver' is not there; give the path"):
        SolverCommand.parse("nosuchsolver {file}")
    with pytest.raises(ValueError, match="is not executable"):
        SolverCommand.parse(f"{text} {{file}}")
    text.chmod(0o755)
    with pytest.raises(ValueError, match="cannot start"):
        run([str(text)], Limits())
    with pytest.raises(ValueError, match="an empty command"):
        SolverCommand.parse("  ")
    with pytest.raises(ValueError, match="cannot split"):
        SolverCommand.parse("solver 'half")


def test_only_three_places_are_filled_and_never_twice():
    command = SolverCommand.parse("echo {seed} {seconds} {other} '{print $1}' {file}")
    assert command.arguments(Path("{seed}.wcnf"), 5, 1.2)[1:] == [
        "5", "2", "{other}", "{print $1}", "{seed}.wcnf",
    ]  # fmt: skip


def test_nothing_goes_through_a_shell(tmp_path):
    command = SolverCommand.parse("echo $HOME ; touch x {file}")
    outcome = run(command.arguments(tmp_path / "a b", 1, 1), Limits())
    assert outcome.transcript.output.decode() == f"$HOME ; touch x {tmp_path}/a b\n"


def test_scripts_are_found_where_the_user_is(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("import sys; print('hello', sys.argv[1])")
    monkeypatch.chdir(tmp_path)
    command = SolverCommand.parse(f"{sys.executable} mine.py")
    outcome = run(command.arguments(Path("x"), 1, 1), Limits())
    assert outcome.transcript.output == b"hello x\n"


@pytest.mark.parametrize("limits", [{"seconds": 0}, {"grace": -1}, {"memory": 5}, {"seconds": "x"}])
def test_limits_that_are_none_are_refused(limits):
    with pytest.raises(ValueError, match=next(iter(limits))):
        Limits(**limits)
