"""What a file claims about its optimum, held against what was found."""

from __future__ import annotations

import math
from typing import Any


def false_claim(stated: Any, found: Any, optimal: bool) -> str:
    """What shows that the stated optimum is none, in words; empty where nothing does.

    Args:
        stated: the optimum that the file states, or None.
        found: the energy of a state.
        optimal: whether no state has a lower one.

    >>> false_claim(10, 7, optimal=False)
    'it states an optimum of 10, but the state found has 7'
    """
    if stated is None or _alike(stated, found):
        return ""
    if found < stated:
        return f"it states an optimum of {stated}, but the state found has {found}"
    return f"it states an optimum of {stated}, but the optimum is {found}" if optimal else ""


def _alike(first: Any, second: Any) -> bool:
    """Whether two numbers are equal, or two floats that may be sums of the same numbers."""
    if isinstance(first, int) and isinstance(second, int):
        return first == second
    return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12)
