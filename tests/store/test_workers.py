"""Batches on local workers: waiting ends, and a fault affects only its own batch."""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from tests.store.synthetic import Fake

from glasshouse.store import Stop, collect
from glasshouse.store.workers import Workers


@dataclass(frozen=True)
class Counted(Fake):
    """A task that writes down each of its starts, and may wait for the starts of another task."""

    waits_for: tuple[int, int] = (0, 0)  # the seed of the other task, and how many starts of it

    def measure(self, first: int, count: int) -> dict[str, np.ndarray]:
        name = f"start-{self.seed}-{first}-{os.getpid()}-{time.monotonic_ns()}"
        (Path(self.folder) / name).touch()
        seed, number = self.waits_for
        deadline = time.monotonic() + 60
        while len(starts(self.folder, seed)) < number:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return super().measure(first, count)


def starts(folder: str | Path, seed: int | str = "*") -> list[int]:
    """The seeds of the tasks that were started, one for each start."""
    return sorted(int(path.name.split("-")[1]) for path in Path(folder).glob(f"start-{seed}-*"))


@dataclass(frozen=True)
class Timed(Counted):
    """A task that takes ten seconds of the coordinator's clock."""

    def measure(self, first: int, count: int) -> dict[str, np.ndarray]:
        end = now_in(self.folder) + 10
        found = super().measure(first, count)
        deadline = time.monotonic() + 300
        while now_in(self.folder) < end:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return found


def now_in(folder: str | Path) -> int:
    return len(list(Path(folder).glob("second-*")))


def test_a_healthy_batch_that_had_to_wait_is_not_taken_for_a_hang(tmp_path, monkeypatch):
    """One worker, batches of 10 s, and 15 s until a hang.

    The clock advances by a second each time the workers are checked, and stops when the
    batches that have begun have had their ten seconds: the speed of the computer does not matter.
    """

    def clock() -> int:
        now = now_in(tmp_path)
        if now < 10 * len(starts(tmp_path)):
            (tmp_path / f"second-{now}").touch()
        return now_in(tmp_path)

    class Clocked(Workers):
        def __init__(self, number: int, timeout: float, cores: int | None) -> None:
            super().__init__(number, timeout, clock, cores)

    module = sys.modules["glasshouse.store.collect"]  # the package has a function of that name
    monkeypatch.setattr(module, "Workers", Clocked)
    tasks = [Timed(seed=k, stop=Stop(1), folder=str(tmp_path)) for k in range(4)]
    end = collect(tasks, tmp_path / "s.sqlite", workers=1, timeout=15.0)
    assert end.is_complete
    assert starts(tmp_path) == [0, 1, 2, 3]
    assert end.retried == ()
    assert now_in(tmp_path) == 40


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_the_same_in_seconds(workers, tmp_path):
    tasks = [Counted(seed=k, stop=Stop(1), pause=10.0, folder=str(tmp_path)) for k in range(4)]
    end = collect(tasks, tmp_path / "s.sqlite", workers=workers, timeout=15.0)
    assert end.is_complete
    assert starts(tmp_path) == [0, 1, 2, 3]
    assert end.retried == ()


def test_a_batch_that_ends_its_worker_disturbs_no_other_batch_and_is_reported(tmp_path):
    folder = str(tmp_path)
    killer = Counted(seed=1, stop=Stop(1), trouble="die", at=0, folder=folder)
    victim = Counted(seed=2, stop=Stop(1), folder=folder, waits_for=(1, 2))
    end = collect([victim, killer], tmp_path / "s.sqlite", workers=2)
    assert end.is_complete
    assert starts(tmp_path) == [1, 1, 2]
    ((task, first, error),) = [(one.task_id, one.first, one.error) for one in end.retried]
    assert (task, first) == (killer.task_id, 0)
    assert "Broken" in error


def test_a_batch_that_hangs_disturbs_no_other_batch_and_is_reported(tmp_path):
    folder = str(tmp_path)
    hanging = Counted(seed=1, stop=Stop(1), trouble="hang", at=0, folder=folder)
    others = [Counted(seed=k, stop=Stop(1), pause=1.0, folder=folder) for k in range(2, 9)]
    end = collect([hanging, *others], tmp_path / "s.sqlite", workers=2, timeout=6.0)
    assert end.is_complete
    assert starts(tmp_path) == [1, 1, 2, 3, 4, 5, 6, 7, 8]
    assert [(one.task_id, one.error) for one in end.retried] == [
        (hanging.task_id, "TimeoutError: no answer within 6 s")
    ]


class Pretended:
    """A worker whose work begins when the test says so."""

    def __init__(self, cores: object = None) -> None:
        self.has_begun = False
        self.rebuilt = 0

    def submit(self, function, *arguments) -> Future:
        self.has_begun = False
        return Future()

    def rebuild(self) -> None:
        self.rebuilt += 1


@pytest.fixture
def time_of(monkeypatch):
    """The clock of pretended workers, which the test sets."""
    monkeypatch.setattr("glasshouse.store.workers.Worker", Pretended)
    return [0.0]


def test_the_clock_of_a_batch_starts_when_its_worker_says_that_it_has_begun(time_of):
    workers = Workers(2, timeout=15.0, clock=lambda: time_of[0])
    first, second = workers.submit(abs, 1), workers.submit(abs, 2)
    of_first, of_second = (workers._at_work[future].worker for future in (first, second))

    def watch(seconds: float) -> list[Future]:
        for _ in range(round(2 * seconds)):
            time_of[0] += 0.5
            found = workers.hung()
        return found

    assert watch(1000) == []  # neither has begun, however long that takes
    of_first.has_begun = True
    assert watch(15) == []
    of_second.has_begun = True
    assert watch(1) == [first]
    workers.release(first)
    assert (of_first.rebuilt, of_second.rebuilt) == (1, 0)
    third = workers.submit(abs, 3)
    assert workers._at_work[third].worker is of_first
    assert watch(14) == []
    assert watch(1) == [second]
    second.set_result(2)  # at the last moment
    assert workers.hung() == []
    workers.release(second)
    assert of_second.rebuilt == 0


def test_time_in_which_nobody_watched_does_not_count(time_of):
    """After the sleep of a laptop, or after Ctrl-Z and fg, workers have not worked either."""
    workers = Workers(1, timeout=15.0, clock=lambda: time_of[0])
    future = workers.submit(abs, 1)
    workers._at_work[future].worker.has_begun = True
    workers.hung()
    for _ in range(15):
        time_of[0] += 3600
        assert workers.hung() == []
    time_of[0] += 1
    assert workers.hung() == [future]


def test_a_worker_that_was_just_given_a_batch_is_ended_too(time_of, monkeypatch):
    """Ctrl-C may come while a batch is submitted, when its worker is neither idle nor at work."""
    ended = []
    monkeypatch.setattr(Pretended, "terminate", lambda self: None, raising=False)
    monkeypatch.setattr(Pretended, "close", lambda self: ended.append(self), raising=False)
    workers = Workers(2, timeout=15.0)
    workers.submit(abs, 1)

    def interrupt(self, *_) -> Future:
        raise KeyboardInterrupt

    monkeypatch.setattr(Pretended, "submit", interrupt)
    with pytest.raises(KeyboardInterrupt):
        workers.submit(abs, 2)
    workers.close()
    assert len(ended) == 2
