"""Processes that write the same new store at the same moment."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.children import PATIENCE
from tests.store.synthetic import Fake

ROWS = 3


def rival(number: int, gate: Any, orders: Any) -> None:
    """Write rows of task `number` to each store that is named; answer "done" or the refusal."""
    from glasshouse.store import storefile
    from glasshouse.store.store import Store, StoreError

    lock = storefile._lock
    pause = [0.0]

    def late(handle: int) -> bool:
        time.sleep(pause[0])  # as if other processes ran just now
        return lock(handle)

    storefile._lock = late
    while (order := orders.recv()) is not None:
        path, delays = order
        pause[0] = delays[2]
        gate.wait(PATIENCE)
        time.sleep(delays[0])
        try:
            with Store(path, write=True) as store:
                (task,) = store.add_tasks([Fake(seed=number)])
                time.sleep(delays[1])
                store.add_batch(task, 0, Fake(seed=number).measure(0, ROWS))
            orders.send("done")
        except StoreError as error:
            orders.send(str(error))


@contextmanager
def rivals(count: int) -> Iterator[Any]:
    """A function that starts `count` processes on one path and returns their outcomes."""
    context = multiprocessing.get_context("spawn")
    gate = context.Barrier(count)
    ends, processes = [], []
    for number in range(count):
        mine, theirs = context.Pipe()
        process = context.Process(target=rival, args=(number, gate, theirs), daemon=True)
        process.start()
        ends.append(mine)
        processes.append(process)

    def race(path: Path, chance: random.Random, longest: float) -> list[str]:
        for end in ends:
            # Most processes do not wait: short delays are the dangerous ones.
            delays = [chance.uniform(0, longest) * chance.randrange(2) for _ in range(3)]
            end.send((path, delays))
        return [end.recv() for end in ends]

    try:
        yield race
    finally:
        for end, process in zip(ends, processes, strict=True):
            end.send(None)
            process.join(10)
            process.kill()
