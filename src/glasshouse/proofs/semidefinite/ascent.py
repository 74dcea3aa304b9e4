"""Limited-memory quasi-Newton ascent of the regularised dual, multipliers kept at 0 or more."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.semidefinite.cuts import FloatArray
from glasshouse.proofs.semidefinite.dual import Point, RegularisedDual
from glasshouse.proofs.semidefinite.memory import Memory
from glasshouse.stopping import working_time

_ENOUGH = 1e-4  # the part of what the slope promises that a step has to gain
_SHORTER = 0.4  # by what to shorten a step that gains too little
_MOST_SHORTENED = 15


def ascend(
    dual: RegularisedDual,
    start: FloatArray,
    memory: Memory,
    evaluations: int,
    tolerance: float,
    deadline: float,
    is_enough: Callable[[Point], bool],
) -> Point:
    """Climb from a start until a point is enough, nearly flat, or evaluations or time are used up.

    Args:
        dual: what to maximise.
        start: where to begin, multipliers at 0 or more.
        memory: of steps at points like these; those taken are added.
        evaluations: how many points to look at, at most.
        tolerance: the greatest entry of the gradient that counts as none.
        deadline: on the clock of `working_time`.
        is_enough: asked at every point.
    """
    point = dual.at(start)
    left = evaluations - 1
    while left > 0 and not is_enough(point) and working_time() < deadline:
        free = _is_free(dual, point)
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


def _is_free(dual: RegularisedDual, point: Point) -> npt.NDArray[np.bool_]:
    """All but the multipliers that are 0 and want to be less."""
    free: npt.NDArray[np.bool_] = (point.x > 0.0) | (point.gradient > 0.0)
    free[: dual.size] = True
    return free


def _direction(
    dual: RegularisedDual, slope: FloatArray, free: npt.NDArray[np.bool_], memory: Memory
) -> FloatArray:
    """Upwards: quasi-Newton, or along the slope where nothing is remembered."""
    if len(memory):
        direction = np.where(free, memory.turn(slope, dual.scales), 0.0)
        if direction @ slope > 0.0:
            return direction
        memory.forget()
    return slope * (dual.scales * min(1.0, dual.alpha / float(np.abs(slope).max())))


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
