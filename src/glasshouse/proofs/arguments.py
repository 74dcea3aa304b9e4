"""Checks of what `prove` and the exact solvers are called with."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

# Thirty years; timers and other people's solvers take no more than some such number.
_LONGEST = 1e9


def seconds(time_limit: Any) -> float | None:
    """A time limit, or None for none.

    >>> seconds(3), seconds(None)
    (3.0, None)
    >>> seconds(0)
    Traceback (most recent call last):
        ...
    ValueError: time_limit=0 is not above 0 and finite, in seconds; None sets no limit
    """
    if time_limit is None:
        return None
    if not _is_finite(time_limit) or not time_limit > 0:
        raise ValueError(
            f"time_limit={time_limit!r} is not above 0 and finite, in seconds; None sets no limit"
        )
    return float(min(time_limit, _LONGEST))


def energy(target: Any) -> Any:
    """An energy to reach, or None for none; whole numbers stay exact."""
    if target is None:
        return None
    if not _is_finite(target):
        raise ValueError(f"target={target!r} is not an energy; expected a finite number or None")
    return target


def _is_finite(value: object) -> bool:
    try:
        return isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return True
