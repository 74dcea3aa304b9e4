"""Single spin flips, with the cost of every flip kept up to date."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import inlined


class Walker(NamedTuple):
    """A state that changes by single spin flips, with the margin of every spin.

    The spins are consecutive nodes of a graph in compressed rows.
    `margins[i]` is s_i θ_i, spin times local field. A flip of spin i costs twice this margin, and
    changes only the margins of spin i and its neighbours.
    """

    starts: npt.NDArray[np.int64]
    neighbours: npt.NDArray[Any]
    weights: npt.NDArray[Any]
    first: int  # the node of spin 0; spin i is on node `first` + i
    spins: npt.NDArray[Any]
    margins: npt.NDArray[Any]


@inlined
def flip(walker: Any, i: Any, tolerance: Any, cover: Any) -> Any:
    """Flip spin i; return how the numbers of negative and zero margins and Σ|margin| change.

    Returns:
        The changes in three quantities: the number of negative margins; the number of zero margins,
        up to `tolerance`; the sum of |margin| over the spins with index `cover` and above. The
        compiler drops the quantities that the caller ignores.
    """
    starts, neighbours, weights, first, spins, margins = walker
    spin, margin = spins[i], -margins[i]
    spins[i], margins[i] = -spin, margin
    falling = np.int64(margin < -tolerance) - np.int64(margin > tolerance)
    flat, above = np.int64(0), margin - margin
    for k in range(starts[first + i], starts[first + i + 1]):
        j = neighbours[k] - first
        bond = weights[k] * spin * spins[j]
        old = margins[j]
        new = old - bond - bond  # 2 · bond may not fit
        margins[j] = new
        falling += np.int64(new < -tolerance) - np.int64(old < -tolerance)
        flat += np.int64(abs(new) <= tolerance) - np.int64(abs(old) <= tolerance)
        if j >= cover:
            above += abs(new) - abs(old)
    return falling, flat, above


@inlined
def turning_bit(step: Any) -> Any:
    """Return the index of the lowest set bit of `step`, which a Gray code changes at this step."""
    bit = 0
    while not (step >> bit) & 1:
        bit += 1
    return bit
