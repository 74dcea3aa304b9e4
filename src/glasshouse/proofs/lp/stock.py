"""A stock of cuts for a search tree: a cut found at one node is valid at all nodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.lp.cuts import Cut
from glasshouse.proofs.parts import flat

# The most cuts in stock; the oldest leave it.
_MOST = 8000


class Stock:
    """The cuts found at all nodes of a tree, including those that the LP does not contain now.

    Attributes:
        num_bytes: the memory of the cuts and of their flat copy, in bytes.
    """

    def __init__(self, num_edges: int) -> None:
        self.cuts: dict[int, Cut] = {}  # keyed by their marks
        self._signatures = np.random.default_rng(0).integers(-(2**62), 2**62, num_edges)
        self._flatten()

    def keep(self, cuts: Sequence[Cut]) -> None:
        """Add cuts that are not in the stock yet."""
        for cut in cuts:
            self.cuts.setdefault(self._mark(cut), cut)
        for mark in list(self.cuts)[: max(len(self.cuts) - _MOST, 0)]:
            del self.cuts[mark]
        self._flatten()

    def violated(self, point: npt.NDArray[np.float64], tolerance: float) -> list[Cut]:
        """Return the cuts of the stock that a point violates by more than `tolerance`."""
        if not self.cuts:
            return []
        sums = np.add.reduceat(self._coefficients * point[self._edges], self._begins[:-1])
        chosen = np.flatnonzero(sums < self._right_sides - tolerance)
        cuts = list(self.cuts.values())
        return [cuts[k] for k in chosen.tolist()]

    def joined(self, known: Sequence[Cut], found: Sequence[Cut]) -> list[Cut]:
        """Return known and newly found cuts as one list without duplicates."""
        marks = {self._mark(cut) for cut in known}
        return [*known, *(cut for cut in found if self._mark(cut) not in marks)]

    def _mark(self, cut: Cut) -> int:
        """Return a hash of a cut that almost certainly differs from the hashes of other cuts."""
        return int((self._signatures[cut.edges] * cut.coefficients).sum())

    def _flatten(self) -> None:
        cuts = list(self.cuts.values())
        self._edges, self._begins = flat([cut.edges for cut in cuts], np.int32)
        self._coefficients, _ = flat([cut.coefficients for cut in cuts], np.int64)
        self._right_sides = np.array([cut.right_side for cut in cuts], np.int64)
        copy = self._edges, self._begins, self._coefficients, self._right_sides
        self.num_bytes = sum(array.nbytes for array in copy) + sum(cut.num_bytes for cut in cuts)
