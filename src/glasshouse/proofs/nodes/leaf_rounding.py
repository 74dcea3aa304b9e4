"""From floating-point duals of a node's LP to loops that bound its states in exact integers.

Any multipliers μ ≥ 0 give a bound, so nothing has to be repaired: they are rounded to integers over
a denominator, and the exact bound tells whether they are good enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.nodes.cuts import Cut, parts_of
from glasshouse.proofs.nodes.ties import Ties
from glasshouse.proofs.relaxation import Parts
from glasshouse.proofs.signed_graph import exact_array

# Vertices of the dual polytope mostly have small denominators; a certificate with one reads well.
_SMALL_DENOMINATORS = (1, 2, 3, 4, 6, 8, 12, 24, 60)
# Powers of two to try after them, as long as a finer one can make a difference.
_BITS = (10, 20, 30, 40)
# Bits of a dual that are kept: those of a float, and some in reserve for duals below 1.
_DUAL_BITS = 60
# Below this no sum of int64 that we make can wrap.
_ROOM = 2**62


@dataclass(frozen=True, eq=False)
class Rounded:
    """Loops with exact multipliers over a denominator, and the bound that they prove."""

    denominator: int
    multipliers: npt.NDArray[Any]
    cuts: Sequence[Cut]
    bound: int  # times the denominator

    def proves(self, target: int | None) -> bool:
        """Whether all values are above `target`."""
        return target is None or self.bound > target * self.denominator

    def parts(self, signs: npt.NDArray[np.int8]) -> Parts:
        """The loops and squares, with the signs that the weights give their edges."""
        return parts_of(self.cuts, self.multipliers, self.denominator, signs)


def round_duals(
    ties: Ties, cuts: Sequence[Cut], duals: npt.NDArray[np.float64], target: int | None
) -> Rounded:
    """Loops that prove that all values are above `target`, or the best bound that was tried.

    Args:
        ties: the states of the node.
        cuts: the rows of its LP.
        duals: one for each, in units of the graph's largest weight.
        target: a value.
    """
    best = None
    for denominator in _denominators(ties.graph.largest):
        rounded = _rounded_to(denominator, ties, cuts, duals)
        if rounded.proves(target):
            return rounded
        if best is None or rounded.bound * best.denominator > best.bound * denominator:
            best = rounded
    assert best is not None
    return best


def honest_bound(ties: Ties, cuts: Sequence[Cut], duals: npt.NDArray[np.float64]) -> Rounded:
    """Loops whose bound is that of the duals but for the last digits of a float."""
    *_, denominator = _denominators(ties.graph.largest)
    return _rounded_to(denominator, ties, cuts, duals)


def _rounded_to(
    denominator: int, ties: Ties, cuts: Sequence[Cut], duals: npt.NDArray[np.float64]
) -> Rounded:
    """Loops whose multipliers are the duals, rounded to one denominator."""
    used = np.flatnonzero(duals > 0.0)
    multipliers = _integers(duals[used], denominator * ties.graph.largest)
    kept = np.flatnonzero(multipliers)
    return exact_bound(ties, denominator, multipliers[kept], [cuts[k] for k in used[kept].tolist()])


def _denominators(largest: int) -> Iterator[int]:
    """Small ones and powers of two, until one part is about the error of a float."""
    yield from _SMALL_DENOMINATORS
    for bits in _BITS:
        if largest.bit_length() + bits > 50:
            break
        yield 1 << bits


def _integers(duals: npt.NDArray[np.float64], unit: int) -> npt.NDArray[Any]:
    """The duals times `unit`, rounded: as int64 where these are sure to fit."""
    if unit * (int(duals.max(initial=0.0)) + 1) < 2**52:
        return np.rint(duals * float(unit)).astype(np.int64)
    half = 1 << (_DUAL_BITS - 1)
    return exact_array(
        (int(dual * 2.0**_DUAL_BITS) * unit + half) >> _DUAL_BITS for dual in duals.tolist()
    )


def exact_bound(
    ties: Ties, denominator: int, multipliers: npt.NDArray[Any], cuts: Sequence[Cut]
) -> Rounded:
    """What loops prove about all states that agree with the ties, in exact integers."""
    graph = ties.graph
    numbers = multipliers.tolist()
    largest = sum(m * cut.size for m, cut in zip(numbers, cuts, strict=True))
    # No partial sum below is larger than this.
    fits = denominator * graph.total + largest < _ROOM
    kind = np.dtype(np.int64) if fits else np.dtype(object)
    rest = (graph.weights * denominator).astype(kind)
    if cuts:
        edges = np.concatenate([cut.edges for cut in cuts])
        amounts = np.concatenate([cut.coefficients for cut in cuts])
        amounts *= graph.signs[edges]
        sizes = [len(cut.edges) for cut in cuts]
        np.subtract.at(rest, edges, np.repeat(multipliers.astype(kind), sizes) * amounts)
    inside = (rest * ties.products)[ties.inside].sum()
    between = np.abs(ties.aggregate(rest)).sum()
    spent = sum(m * cut.depth for m, cut in zip(numbers, cuts, strict=True))
    bound = denominator * graph.constant - spent - int(inside) - int(between)
    return Rounded(denominator, multipliers, cuts, bound)
