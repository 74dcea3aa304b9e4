"""Ground states of dense squares, counted by a meet-in-the-middle method.

All states of one half of the spins are listed, and all states of the other half. A state in which
every square is at its minimum is a pair of halves whose sums match. That takes 2^(n/2) steps
instead of 2^n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from glasshouse.planting.counting import GroundStates, count_ground_states
from glasshouse.problems import IntArray

if TYPE_CHECKING:
    from glasshouse.planting.planted import Planted

_MOST_SPINS = 40  # a million states per half
_MOST_MATCHES = 1 << 18  # pairs that are checked one by one
# Powers of an odd number mix the sums of several squares into one 64-bit word.
_MIXER = 0x9E3779B97F4A7C15

_Words = npt.NDArray[np.uint64]


def count_by_halves(planted: Planted) -> GroundStates:
    """Count the states that minimise all squares (a·s)²: all are 0, or a single square is 1.

    If there are too many spins, or loops, `count_ground_states` is used.
    """
    size, squares = len(planted.state), planted.squares
    is_all = bool(squares) and not planted.loops.num_loops and int(squares.nodes.max()) < size
    if is_all and size <= _MOST_SPINS:
        rows = np.zeros((squares.num_squares, size), dtype=np.int64)
        rows[np.repeat(np.arange(len(rows)), squares.lengths), squares.nodes] = squares.coefficients
        aim = rows @ planted.state
        if len(rows) == 1 or not aim.any():
            number = count_solutions(rows, aim)
            if number is not None:
                return GroundStates(number * (2 if aim.any() else 1), True, "counted")
    return count_ground_states(planted)


def count_solutions(rows: IntArray, aim: IntArray) -> int | None:
    """Count the states s with rows·s = aim; return None if too many pairs of halves seem to match.

    No sum of a row may exceed int64.

    >>> count_solutions(np.array([[3, 2, 1]]), np.array([0]))
    2
    """
    size = rows.shape[1]
    middle = size // 2
    mixers = np.array([pow(_MIXER, k, 2**64) for k in range(len(rows))], dtype=np.uint64)
    # Sums wrap around: equal sums give equal words, and words of a single row are the sums.
    weights = (rows.astype(np.uint64) * mixers[:, np.newaxis]).sum(axis=0)
    wanted = (aim.astype(np.uint64) * mixers).sum()
    left, right = _sums(weights[:middle]), _sums(weights[middle:])
    order = np.argsort(left)
    left = left[order]
    missing = np.atleast_1d(wanted) - right
    first = np.searchsorted(left, missing)
    matches = np.searchsorted(left, missing, side="right") - first
    total = int(matches.sum())
    if len(rows) == 1:
        return total
    if total > _MOST_MATCHES:
        return None
    begins = np.cumsum(matches) - matches
    places = np.repeat(first - begins, matches) + np.arange(total)  # starting at `first`, for each
    halves = (order[places], middle), (np.repeat(np.arange(len(right)), matches), size - middle)
    bits = [codes[:, np.newaxis] >> np.arange(length) & 1 for codes, length in halves]
    states = 2 * np.concatenate(bits, axis=1) - 1
    return int((states @ rows.T == aim).all(axis=1).sum())


def _sums(weights: _Words) -> _Words:
    """Return Σ w·s for every state; spin i is up in state k if bit i of k is set."""
    sums = np.zeros(1, dtype=np.uint64)
    for weight in weights:
        sums = np.concatenate([sums - weight, sums + weight])
    return sums
