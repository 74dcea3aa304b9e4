"""Packings of odd cycles with integer multipliers, and the matchings of faces that yield them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from glasshouse.kernels.adjacency import adjacency
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.matching.kernels import matching
from glasshouse.proofs.matching.kernels import moats as moat_kernels
from glasshouse.proofs.matching.kernels.regions import Regions
from glasshouse.proofs.matching.surface import Marks, Sides, Surface

Lengths = npt.NDArray[np.int64]
# Regions whose moats are computed between two checks of the clock.
_REGIONS_AT_ONCE = 1 << 11


@dataclass(frozen=True, eq=False)
class Packing:
    """Odd cycles with multipliers, such that no edge is used above its weight.

    Attributes:
        edges: the edges of all cycles.
        begins: the index at which each cycle begins, and the end of the last.
        widths: the multipliers, times the denominator.
        denominator: a power of two.
    """

    edges: npt.NDArray[np.int32]
    begins: Lengths
    widths: Lengths
    denominator: int

    @cached_property
    def total(self) -> Fraction:
        """The sum of all multipliers: every state violates at least this weight."""
        return Fraction(int(self.widths.sum()), self.denominator)

    def counts(self, marks: Marks) -> Lengths:
        """Return how many edges of each cycle are marked."""
        before = np.append(0, np.cumsum(marks[self.edges], dtype=np.int64))
        return np.diff(before[self.begins])

    def chosen(self, marks: Marks) -> Packing:
        """Return the packing of the marked cycles."""
        sizes = np.diff(self.begins)
        begins = np.append(0, np.cumsum(sizes[marks]))
        return Packing(self.edges[np.repeat(marks, sizes)], begins, self.widths[marks],
                       self.denominator)  # fmt: skip

    def load(self, num_edges: int) -> Lengths:
        """Return the sum of the widths at each edge."""
        load = np.zeros(num_edges, np.int64)
        np.add.at(load, self.edges, np.repeat(self.widths, np.diff(self.begins)))
        return load

    def refined(self, denominator: int) -> Packing:
        """Return the same packing with a larger denominator."""
        times = denominator // self.denominator
        return Packing(self.edges, self.begins, self.widths * times, denominator)

    def joined(self, other: Packing) -> Packing:
        """Return the cycles of two packings with the same denominator."""
        begins = np.concatenate([self.begins, self.begins[-1] + other.begins[1:]])
        edges = np.concatenate([self.edges, other.edges])
        widths = np.concatenate([self.widths, other.widths])
        return Packing(edges, begins, widths, self.denominator)


def match(
    surface: Surface, sides: Sides, is_odd: Marks, lengths: Lengths, budget: Budget
) -> tuple[Regions, Marks]:
    """Return a least matching of odd faces, and the edges that its paths cross.

    Args:
        surface: the surface of the edges.
        sides: the faces of each edge, one for each entry of `is_odd`.
        is_odd: which faces to match: an even number, which paths can join.
        lengths: an even length for each edge.
        budget: raises an exception when the time is up.

    Raises:
        TimeIsUpError: the budget asks to stop.
    """
    odd = np.flatnonzero(is_odd).astype(np.int32)
    if sides is surface.faces.sides:
        dual = surface.dual
    else:
        dual = adjacency(len(is_odd), sides)
    regions = matching.match(dual, lengths, odd, budget.check)
    assert regions is not None, "an odd number of odd faces"
    return regions, matching.crossed_edges(regions, budget.check)


def moats(surface: Surface, regions: Regions, denominator: int, budget: Budget) -> Packing:
    """Return the moats around the regions of a matching.

    Args:
        surface: the surface on which faces were matched.
        regions: the regions of the matching.
        denominator: the unit of the regions' radii is a weight of 1 / `denominator`.
        budget: raises an exception when the time is up.

    Raises:
        TimeIsUpError: the budget asks to stop.
    """
    graph = surface.graph
    around = tuple(graph.rows), graph.edges, graph.negative
    edges, sizes = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
    widths = [np.zeros(0, np.int64)]
    for first, last in budget.pieces(len(regions.base), _REGIONS_AT_ONCE):
        some, begins, found = moat_kernels.moats(regions, *around, first, last)
        edges.append(some)
        sizes.append(np.diff(begins))
        widths.append(found)
    begins = np.cumsum(np.concatenate(sizes))
    return Packing(np.concatenate(edges), begins, np.concatenate(widths), denominator)
