"""Worker processes report when their work begins."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import pytest

from glasshouse.pool import Worker


class SlowToArrive:
    """An argument that cannot be unpickled before a file exists, so that the work cannot begin."""

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
        for _ in range(2):  # what the first piece of work reported is not taken for the second
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
    from glasshouse.studies.workers import Workers

    with pytest.raises(ValueError, match="workers="):
        Workers(workers, 1.0)
