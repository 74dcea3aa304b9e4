"""Limited-memory quasi-Newton ascent of the regularised dual, with non-negative multipliers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.budget import Budget
from glasshouse.proofs.semidefinite import kernels
from glasshouse.proofs.semidefinite.cuts import FloatArray
from glasshouse.proofs.semidefinite.dual import Point, RegularisedDual

_STEPS = 12
_ENOUGH = 1e-4  # the fraction of the gain that the gradient predicts, which a step must reach
_SHORTER = 0.4  # the factor by which a step that gains too little is shortened
_MOST_SHORTENED = 15


class Memory:
    """The last steps of the ascent: the move in each step, and the decrease of the gradient.

    The steps survive a change of the cuts, because they stay valid for the remaining cuts.

    Args:
        length: the number of coordinates.
    """

    def __init__(self, length: int) -> None:
        self._moves = np.empty((_STEPS, length))
        self._falls = np.empty((_STEPS, length))
        self._weights = np.empty(_STEPS)
        self._count = self._next = 0  # recorded steps, and the row of the next one

    def __len__(self) -> int:
        return self._count

    def forget(self) -> None:
        """Forget all recorded steps."""
        self._count = self._next = 0

    def add(self, move: FloatArray, fall: FloatArray) -> None:
        """Record a step instead of the oldest, unless the gradient did not decrease along it."""
        product = float(move @ fall)
        if product > 0.0:
            self._moves[self._next], self._falls[self._next] = move, fall
            self._weights[self._next] = 1.0 / product
            self._count = min(self._count + 1, _STEPS)
            self._next = (self._next + 1) % _STEPS

    def turn(self, slope: FloatArray, scales: FloatArray) -> FloatArray:
        """Multiply the gradient by the inverse negative Hessian, estimated from recorded steps."""
        direction: FloatArray = kernels.turned(
            slope, scales, self._moves, self._falls, self._weights, self._oldest_first()
        )
        return direction

    def steepen(self, factor: float) -> None:
        """Multiply all gradient decreases by a factor."""
        rows = self._oldest_first()
        self._falls[rows] *= factor
        self._weights[rows] /= factor

    def carried_over(self, kept: npt.NDArray[np.bool_], added: int) -> Memory:
        """Return the steps in the `kept` coordinates, with `added` more coordinates that are 0."""
        later = Memory(int(kept.sum()) + added)
        for row in self._oldest_first():
            move, fall = (steps[row][kept] for steps in (self._moves, self._falls))
            later.add(np.pad(move, (0, added)), np.pad(fall, (0, added)))
        return later

    def _oldest_first(self) -> npt.NDArray[np.int64]:
        """Return the rows of the recorded steps."""
        return (self._next - self._count + np.arange(self._count)) % _STEPS


def ascend(
    dual: RegularisedDual,
    start: FloatArray,
    memory: Memory,
    evaluations: int,
    tolerance: float,
    budget: Budget,
    is_enough: Callable[[Point], bool],
) -> Point:
    """Maximise the dual until it is large enough, its gradient is near 0, or a limit is reached.

    Args:
        dual: the function to maximise.
        start: the starting point, with multipliers of at least 0.
        memory: the steps at similar points; new steps are added.
        evaluations: the most points to evaluate.
        tolerance: the greatest entry of the gradient that counts as zero.
        budget: decides when to stop.
        is_enough: called at every point.
    """
    point = dual.at(start)
    left = evaluations - 1
    while left > 0 and not is_enough(point) and not budget.asks_to_stop():
        # All coordinates except multipliers at 0 that would decrease.
        free = (point.x > 0.0) | (point.gradient > 0.0)
        free[: dual.size] = True
        slope = np.where(free, point.gradient, 0.0)
        if np.abs(slope).max(initial=0.0) < tolerance:
            break
        better, used = _along(dual, point, _direction(dual, slope, free, memory))
        left -= used
        if better is not None:
            memory.add(better.x - point.x, point.gradient - better.gradient)
            point = better
        elif len(memory):
            memory.forget()
        else:
            break
    return point


def _direction(
    dual: RegularisedDual, slope: FloatArray, free: npt.NDArray[np.bool_], memory: Memory
) -> FloatArray:
    """Return the quasi-Newton direction if it is an ascent, otherwise the scaled gradient."""
    if len(memory):
        direction = np.where(free, memory.turn(slope, dual.scales), 0.0)
        if direction @ slope > 0.0:
            return direction
        memory.forget()
    return slope * (dual.scales * min(1.0, dual.alpha / float(np.abs(slope).max())))


def _along(dual: RegularisedDual, point: Point, direction: FloatArray) -> tuple[Point | None, int]:
    """Return the first point along a direction with a sufficient increase, and the trials made."""
    length = 1.0
    for tried in range(1, _MOST_SHORTENED + 1):
        x = point.x + length * direction
        np.maximum(x[dual.size :], 0.0, out=x[dual.size :])
        better = dual.at(x)
        if better.value >= point.value + _ENOUGH * float(point.gradient @ (x - point.x)):
            return better, tried
        length *= _SHORTER
    return None, _MOST_SHORTENED
