"""Limited-memory quasi-Newton ascent of the regularised dual, multipliers kept at 0 or more."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.semidefinite.dual import FloatArray, Point, RegularisedDual

_MEMORY = 12  # steps remembered
_ENOUGH = 1e-4  # the part of what the slope promises that a step has to gain
_SHORTER = 0.4  # by what to shorten a step that gains too little
_MOST_SHORTENED = 15


class _Step(NamedTuple):
    """A step taken, how much the gradient fell over it, and one over the product of both."""

    move: FloatArray
    fall: FloatArray
    weight: float


def ascend(
    dual: RegularisedDual,
    start: FloatArray,
    evaluations: int,
    tolerance: float,
    deadline: float,
    is_enough: Callable[[Point], bool],
) -> Point:
    """Climb from a start until a point is enough, nearly flat, or evaluations or time are used up.

    Args:
        dual: what to maximise.
        start: where to begin, multipliers at 0 or more.
        evaluations: how many points to look at, at most.
        tolerance: the greatest entry of the gradient that counts as none.
        deadline: on the monotonic clock.
        is_enough: asked at every point.
    """
    point = dual.at(start)
    steps: deque[_Step] = deque(maxlen=_MEMORY)
    left = evaluations - 1
    while left > 0 and not is_enough(point) and time.monotonic() < deadline:
        free = _is_free(dual, point)
        slope = np.where(free, point.gradient, 0.0)
        if np.abs(slope).max(initial=0.0) < tolerance:
            break
        direction = np.where(free, _direction(dual, slope, steps), 0.0)
        if direction @ slope <= 0.0:
            steps.clear()
            direction = _direction(dual, slope, steps)
        better, used = _along(dual, point, direction)
        left -= used
        if better is None:
            break
        move, fall = better.x - point.x, point.gradient - better.gradient
        if move @ fall > 0.0:
            steps.append(_Step(move, fall, 1.0 / float(move @ fall)))
        point = better
    return point


def _is_free(dual: RegularisedDual, point: Point) -> npt.NDArray[np.bool_]:
    """All but the multipliers that are 0 and want to be less."""
    free: npt.NDArray[np.bool_] = (point.x > 0.0) | (point.gradient > 0.0)
    free[: dual.size] = True
    return free


def _direction(dual: RegularisedDual, slope: FloatArray, steps: deque[_Step]) -> FloatArray:
    """The slope times the inverse curvature that the steps tell of (the two-loop recursion)."""
    direction = slope.copy()
    amounts = []
    for step in reversed(steps):
        amount = step.weight * float(step.move @ direction)
        direction -= amount * step.fall
        amounts.append(amount)
    if steps:
        last = steps[-1]
        direction *= dual.scales / (last.weight * float(last.fall @ (dual.scales * last.fall)))
    else:
        direction *= dual.scales * min(1.0, dual.alpha / float(np.abs(slope).max()))
    for step, amount in zip(steps, reversed(amounts), strict=True):
        direction += (amount - step.weight * float(step.fall @ direction)) * step.move
    return direction


def _along(dual: RegularisedDual, point: Point, direction: FloatArray) -> tuple[Point | None, int]:
    """The first point on the way that gains enough, and how many were tried."""
    length = 1.0
    for tried in range(1, _MOST_SHORTENED + 1):
        x = point.x + length * direction
        np.maximum(x[dual.size :], 0.0, out=x[dual.size :])
        better = dual.at(x)
        if better.value >= point.value + _ENOUGH * float(point.gradient @ (x - point.x)):
            return better, tried
        length *= _SHORTER
    return None, _MOST_SHORTENED
