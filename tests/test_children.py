"""Tests of the tools for child processes, and of the check that no process is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests import children
from tests.children import end_all, processes_with, run, start, until

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")

ROOT = Path(__file__).parents[1]
IGNORED = """
import signal
numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
print([signal.getsignal(number) is signal.SIG_IGN for number in numbers])
"""
PARENT = f"""
import subprocess, sys
from tests.children import default_signals
default_signals()
subprocess.run([sys.executable, "-c", {IGNORED!r}], check=True)
"""
# The script starts another process in a new session, and waits until that process has started.
WITH_ORPHAN = """
import subprocess, sys
sleeper = "print(flush=True); import time; time.sleep(1000)"
other = subprocess.Popen([sys.executable, "-c", sleeper], start_new_session=True, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
other.stdout.readline()
print(other.pid, flush=True)
"""


def without_signals(command: list[str]) -> list[str]:
    """Return a command that ignores signals from its start, as under `nohup`."""
    return ["sh", "-c", 'trap "" INT TERM HUP; exec "$@"', "sh", *command]


def is_alive(process: int) -> bool:
    """Return whether a process runs; a zombie does not run."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_children_start_with_default_signals_where_the_parent_ignores_them():
    bare = run(without_signals([sys.executable, "-c", IGNORED]))
    assert bare.stdout == "[True, True, True]\n"
    mended = run(without_signals([sys.executable, "-c", PARENT]), cwd=ROOT)
    assert (mended.stdout, mended.stderr) == ("[False, False, False]\n", "")


def test_what_was_said_before_and_after_a_line_is_heard_whole():
    script = "import sys; print('a\\nb\\nc', flush=True); print('d'); print('e', file=sys.stderr)"
    child = start([sys.executable, "-c", script])
    assert child.stdout.readline() == "a\n"
    assert child.heard() == ("b\nc\nd\n", "e\n")


def test_an_event_that_never_comes_is_a_failure_as_soon_as_the_child_ends():
    child = start([sys.executable, "-c", "raise SystemExit(3)"])
    with pytest.raises(AssertionError, match="ended with 3 too early"):
        until(lambda: False, child)
    assert until(lambda: child.poll() == 3, child)


def test_a_child_is_ended_with_all_its_descendants():
    child = start([sys.executable, "-c", WITH_ORPHAN + "import time; time.sleep(1000)"])
    orphan = int(child.stdout.readline())
    assert set(child.family()) == {child.pid, orphan}
    end_all()
    assert child.returncode == -signal.SIGKILL
    assert not is_alive(orphan)


def test_a_child_that_ends_and_leaves_another_behind_is_a_failure(monkeypatch):
    monkeypatch.setattr(children, "_FAREWELL", 0.1)
    orphan = int(run([sys.executable, "-c", WITH_ORPHAN]).stdout)
    assert is_alive(orphan)
    with pytest.raises(AssertionError, match=f"left behind: .*{orphan}"):
        end_all()
    until(lambda: not is_alive(orphan))


LEAVES_ONE = f"""
import subprocess, sys

def test_it():
    print(subprocess.check_output([sys.executable, "-c", {WITH_ORPHAN!r}], text=True))
"""


@pytest.mark.parametrize("workers", ["0", "1"])
def test_a_process_left_behind_fails_the_run_and_is_named(workers, tmp_path):
    (tmp_path / "test_leaving.py").write_text(LEAVES_ONE)
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text()
                                          + "\nfrom tests import children\n"
                                          "children._FAREWELL = 0.1\n")  # fmt: skip
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    words = [sys.executable, "-m", "pytest", "-q", "-n", workers, tmp_path]
    usual = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    ran = run(words, cwd=tmp_path, env=usual | {"PYTHONPATH": str(ROOT)}, stderr=subprocess.STDOUT)
    assert ran.returncode == 1, ran.stdout
    assert "1 passed" in ran.stdout
    (line,) = [one for one in ran.stdout.splitlines() if one.startswith("ERROR: process")]
    assert "left behind by test_leaving.py::test_it (call)" in line
    until(lambda: not is_alive(int(line.split()[2])))


def test_the_environment_of_a_process_is_searched_for_whole_names(monkeypatch):
    child = start([sys.executable, "-c", "input()"], stdin=subprocess.PIPE,
                  env=os.environ | {"GLASSHOUSE_TEST_NAME_1": "x"})  # fmt: skip
    # Linux shows an empty environment until the new program is loaded.
    until(lambda: child.pid in processes_with("GLASSHOUSE_TEST_NAME_1"), child)
    assert child.pid not in processes_with("GLASSHOUSE_TEST_NAME")
    assert child.pid not in processes_with("TEST_NAME_1")
