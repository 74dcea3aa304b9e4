"""Worker processes: none is left, and none complains, whenever a signal comes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from glasshouse.pool import WorkerPool, ending_cleanly


def _sleep(seconds: float) -> None:
    time.sleep(seconds)


def _cleaned(marker: str) -> None:
    """What a worker does that has something to clean up."""
    with ending_cleanly():
        try:
            Path(marker).write_text("begun")
            time.sleep(60)
        finally:
            Path(marker).write_text("cleaned")


class StopError(Exception):
    pass


def _raise(*_: object) -> None:
    raise StopError


def test_a_signal_while_workers_are_started_waits_until_all_are_known(monkeypatch):
    pool = WorkerPool(2)
    executor = pool._executor
    submit = executor.submit

    def during(*arguments):
        os.kill(os.getpid(), signal.SIGUSR1)
        return submit(*arguments)

    monkeypatch.setattr(executor, "submit", during)
    before = signal.signal(signal.SIGUSR1, _raise)
    try:
        with pytest.raises(StopError):
            pool.submit(_sleep, 60)
        processes = pool._processes()
        assert processes
    finally:
        signal.signal(signal.SIGUSR1, before)
        pool.close()
    assert not any(process.is_alive() for process in processes)


def test_a_signal_does_not_keep_workers_from_being_ended(monkeypatch):
    pool = WorkerPool(1)
    pool.submit(_sleep, 60)
    (process,) = pool._processes()
    terminate = process.terminate

    def during():
        os.kill(os.getpid(), signal.SIGUSR1)
        terminate()

    monkeypatch.setattr(process, "terminate", during)
    before = signal.signal(signal.SIGUSR1, _raise)
    try:
        with pytest.raises(StopError):
            pool.close()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert not process.is_alive()


def test_a_worker_cleans_up_and_dies_of_the_signal(tmp_path):
    marker = tmp_path / "marker"
    pool = WorkerPool(1)
    try:
        future = pool.submit(_cleaned, str(marker))
        while not marker.exists() or marker.read_text() != "begun":
            time.sleep(0.01)
            assert not future.done()
        (process,) = pool._processes()
    finally:
        pool.close()
    assert marker.read_text() == "cleaned"
    assert process.exitcode in (-signal.SIGTERM, None)  # None: the executor has collected it


LOADING = """
import os, signal
from glasshouse.pool import WorkerPool
from tests.test_pool import _sleep

if __name__ == "__main__":
    pool = WorkerPool(1)
    future = pool.submit(_sleep, 0)
    for process in pool._processes():
        os.kill(process.pid, signal.SIGINT)
    future.result()
    pool.close()
"""
APART = """
import os, signal, subprocess
from glasshouse.proofs.exact import apart

real = subprocess.Popen
class Popen(real):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(self.pid, number)
subprocess.Popen = Popen
assert apart.call_apart("toy", abs, -3) == 3
"""
SCRIPT = """
import time
from glasshouse.pool import WorkerPool
from tests.test_pool import _sleep

if __name__ == "__main__":
    pool = WorkerPool(1)
    futures = [pool.submit(_sleep, 60) for _ in range(5)]
    while not futures[0].running():
        time.sleep(0.01)
    pool.close()
    assert all(future.done() for future in futures)
"""


@pytest.mark.parametrize("text", [SCRIPT, LOADING, APART])
def test_workers_that_are_ended_or_loading_leave_no_traceback(text, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(text)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path.cwd()), *sys.path])}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
