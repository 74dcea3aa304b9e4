"""Worker processes end without complaints, and report when their work begins."""

from __future__ import annotations

import io
import logging
import os
import signal
import sys
import time
from contextlib import closing, redirect_stderr
from pathlib import Path

import pytest
from tests import children

from glasshouse.pool import Worker, WorkerPool, core_sets, ending_cleanly


def _sleep(seconds: float) -> None:
    time.sleep(seconds)


def _cleaned(marker: str) -> None:
    """Do the work of a worker that must clean up at its end."""
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
    done = children.run([sys.executable, str(script)], env=environment)
    assert (done.returncode, done.stderr) == (0, "")


class SlowToArrive:
    """An argument whose unpickling waits for a file, so that the work cannot begin."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self):
        return _arrive, (self.file,)


def _arrive(file: Path) -> SlowToArrive:
    wait_for(file.exists)
    return SlowToArrive(file)


def wait_for(happens, seconds: float = 120.0) -> None:
    deadline = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def work(argument: SlowToArrive, begun: Path, may_end: Path) -> str:
    begun.touch()
    wait_for(may_end.exists)
    return "done"


def test_work_has_begun_when_the_worker_says_so_and_not_when_its_future_does(tmp_path):
    arrives, begun, may_end = (tmp_path / name for name in ("arrives", "begun", "may_end"))
    with closing(Worker()) as worker:
        for _ in range(2):  # the report of the first piece of work is not mistaken for the second's
            future = worker.submit(work, SlowToArrive(arrives), begun, may_end)
            wait_for(future.running)
            assert not worker.has_begun
            arrives.touch()
            wait_for(begun.exists)
            assert worker.has_begun
            may_end.touch()
            assert future.result(60) == "done"
            for path in (arrives, begun, may_end):
                path.unlink()
        worker.rebuild()
        assert not worker.has_begun
        assert worker.submit(abs, -3).result(60) == 3


@pytest.mark.parametrize("workers", [0, -1, 1.5, True])
def test_a_number_of_workers_must_be_a_positive_integer(workers):
    from glasshouse.store.workers import Workers

    with pytest.raises(ValueError, match="workers="):
        Workers(workers, 1.0)


def _notice_after_a_library_has_logged() -> str:
    text = io.StringIO()
    logging.getLogger("glasshouse").handlers[0].setStream(text)
    with redirect_stderr(text):
        logging.info("this makes a handler of the root logger")
        logging.getLogger("glasshouse").warning("compiling")
    return text.getvalue()


def test_notices_of_a_worker_are_plain_lines_whatever_libraries_log():
    with closing(WorkerPool(1)) as workers:
        assert workers.submit(_notice_after_a_library_has_logged).result() == "compiling\n"


def _cpus() -> list[int]:
    return sorted(os.sched_getaffinity(0))


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="NOT TESTED: no affinity here")
def test_a_worker_keeps_its_cores_when_it_is_started_again():
    (own,) = core_sets(1, 1)
    with closing(Worker(own)) as worker:
        assert worker.submit(_cpus).result() == sorted(own)
        worker.rebuild()
        assert worker.submit(_cpus).result() == sorted(own)


def test_the_threads_of_a_core_stay_together(monkeypatch):
    """Of eight CPUs, pairs such as 0 and 4 share a core, and one CPU is not available."""
    monkeypatch.setattr(os, "sched_setaffinity", None, raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {*range(8)} - {5}, raising=False)
    monkeypatch.setattr("glasshouse.pool._core_of", lambda cpu: f"{cpu % 4}")
    assert core_sets(2, 2) == [{0, 4, 1}, {2, 6, 3, 7}]
    assert core_sets(3, 1) == [{0, 4}, {1}, {2, 6}]
    with pytest.raises(ValueError, match="workers=5 and cores=1 need 5 cores, but only 4 can"):
        core_sets(5, 1)
