"""Processes of a run are found by their environment, at whatever moment the search comes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.races.running.test_runner import linux

from glasshouse.races.running.processes import MARK, RunProcesses, _belongs, _environment

LOOKS = 3000  # checks, of which about 30 come while a program is being loaded


@pytest.fixture
def restless(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A daemon that starts itself again all the time, with the same process number."""
    script = tmp_path / "again.sh"
    script.write_text('#!/bin/sh\nexec "$0"\n')
    script.chmod(0o755)
    environment = os.environ | {MARK: "restless"}
    with subprocess.Popen([script], env=environment, start_new_session=True) as process:
        yield process
        process.kill()


@linux
def test_a_process_is_found_while_it_loads_a_program(restless):
    """Linux shows an empty environment then; a daemon could escape by that."""
    entry = f"{MARK}=restless".encode()
    missed = sum(not _belongs(restless.pid, entry, None) for _ in range(LOOKS))
    assert missed == 0
    assert not _belongs(restless.pid, f"{MARK}=other".encode(), None)


@linux
def test_a_process_that_loads_programs_all_the_time_is_ended(restless):
    assert RunProcesses("restless").end()
    assert restless.wait(60) == -9


@linux
def test_processes_without_an_environment_are_hardly_waited_for(monkeypatch):
    waits = []

    words = ["/bin/cat"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={}) as cleared:
        assert cleared.stdin is not None
        assert cleared.stdout is not None
        cleared.stdin.write(b"x")
        cleared.stdin.flush()
        assert cleared.stdout.read(1) == b"x"  # it is loaded
        monkeypatch.setattr("time.sleep", waits.append)
        assert _environment(cleared.pid) == b""
        assert sum(waits) < 0.1  # seconds; it might have been loading a program
        waits.clear()
        cleared.stdin.close()
        os.waitid(os.P_PID, cleared.pid, os.WEXITED | os.WNOWAIT)
        assert not _belongs(cleared.pid, b"x", None)  # it has ended, and its number is in use
    kernel = Path("/proc/2/comm")
    if kernel.exists() and kernel.read_text() == "kthreadd\n":
        assert not _belongs(2, b"x", None)


@linux
@pytest.mark.parametrize("k", range(5))
def test_a_process_that_is_another_one_at_every_moment_is_ended(k, tmp_path):
    """A process that starts its successor and ends, about every millisecond."""
    script, mark = tmp_path / "hop.sh", f"restless {k}"
    script.write_text('#!/bin/sh\n"$0" &\n')
    script.chmod(0o755)
    environment = os.environ | {MARK: mark}
    subprocess.run([script], env=environment, start_new_session=True, check=True)
    try:
        assert RunProcesses(mark).end()
        # Nothing was found twice: it is gone, and not just between two moments.
        assert all(not [*RunProcesses(mark)._anywhere()] for _ in range(20))
    finally:
        script.write_text("")
