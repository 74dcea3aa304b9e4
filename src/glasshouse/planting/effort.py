"""How many steps planting may take: any number, unless somebody else wrote the recipe.

Loops are searched for by trial. A recipe can ask for what is nowhere to be found, or only after
hours. Whoever grows a stranger's recipe says beforehand how much work it may be; the kernels count
their steps down on a meter, so that the same recipe fails or grows alike on every machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from glasshouse.problems.validation import IntArray

_UNBOUNDED = 1 << 62
_FIRST_PIECE, _PIECE_SECONDS = 4096, 0.2
_METER: ContextVar[IntArray | None] = ContextVar("meter", default=None)


class EffortError(ValueError):
    """The steps that were allowed did not lead to all loops."""


@contextmanager
def at_most(steps: int) -> Iterator[None]:
    """Whatever is planted within takes no more steps than these, or raises an EffortError."""
    token = _METER.set(np.array([steps], dtype=np.int64))
    try:
        yield
    finally:
        _METER.reset(token)


def new_meter() -> IntArray:
    """What a kernel counts down: one number, the steps that are left."""
    meter = _METER.get()
    return np.array([_UNBOUNDED], dtype=np.int64) if meter is None else meter


def spend(steps: int) -> None:
    """Count steps before they are taken, such as the pairs of squares; too many are refused."""
    meter = new_meter()
    if steps > int(meter[0]):
        raise EffortError(f"its squares have {steps} pairs of spins, more than the steps allowed")
    meter[0] -= steps


def refuse_spent(meter: IntArray) -> None:
    """Raise if the steps are used up."""
    if meter[0] <= 0:
        raise EffortError("its loops are not found in the number of steps that are allowed")


def in_pieces(first: int, last: int, drop: Callable[[int, int], int]) -> int:
    """Drop loops `first` to `last` - 1, a few at a time, so that signals are handled in between.

    Args:
        first: the number of the first loop.
        last: one more than the number of the last loop.
        drop: drops loops of a range, and returns where it stopped: at the end, unless there is no
            place for a loop. What it draws must not depend on how loops are divided into ranges.

    Returns:
        Where it stopped.
    """
    size = _FIRST_PIECE
    while first < last:
        end, began = min(first + size, last), time.perf_counter()
        first = drop(first, end)
        if first < end:
            break
        took = time.perf_counter() - began
        size = 2 * size if took < _PIECE_SECONDS / 2 else max(1, size // 2)
    return first
