"""A stock of cuts for a search tree: a cut found at one node is valid at all nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.lp.cuts import Cut
from glasshouse.proofs.parts import flat

# The most cuts in stock; the oldest leave it.
_MOST = 8000


class Stock:
    """The cuts found at all nodes of a tree, including those that the LP does not contain now."""

    def __init__(self, num_edges: int) -> None:
        self.cuts: dict[int, Cut] = {}  # keyed by their marks
        self._signatures = np.random.default_rng(0).integers(-(2**62), 2**62, num_edges)
        self._edges, self._begins = np.zeros(0, np.int32), np.zeros(1, np.int64)
        self._coefficients, self._right_sides = np.zeros((2, 0), np.int64)

    @property
    def num_bytes(self) -> int:
        """The memory of the cuts and of their flat copy, in bytes."""
        copy = self._edges, self._begins, self._coefficients, self._right_sides
        cuts = self.cuts.values()
        return sum(array.nbytes for array in copy) + sum(cut.num_bytes for cut in cuts)

    def keep(self, cuts: Sequence[Cut]) -> None:
        """Add cuts that are not in the stock yet."""
        fresh = {m: c for m, c in zip(self._marks(cuts), cuts, strict=True) if m not in self.cuts}
        self.cuts.update(fresh)
        old = list(self.cuts)[: max(len(self.cuts) - _MOST, 0)]
        for mark in old:
            del self.cuts[mark]
        # The arrays grow and shrink with the stock, because building them anew takes longer.
        edges, coefficients, begins = _flat(list(fresh.values()))
        sides = np.array([cut.right_side for cut in fresh.values()], np.int64)
        self._right_sides = np.concatenate([self._right_sides, sides])[len(old) :]
        begins = np.append(self._begins, self._begins[-1] + begins[1:])[len(old) :]
        self._begins = begins - begins[0]
        self._edges = np.append(self._edges, edges)[begins[0] :]
        self._coefficients = np.append(self._coefficients, coefficients)[begins[0] :]

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
        marks = set(self._marks(known))
        both = zip(self._marks(found), found, strict=True)
        return [*known, *(cut for mark, cut in both if mark not in marks)]

    def _marks(self, cuts: Sequence[Cut]) -> list[int]:
        """Return hashes of cuts; hashes of different cuts almost certainly differ."""
        edges, coefficients, begins = _flat(cuts)
        sums = np.append(0, np.cumsum(self._signatures[edges] * coefficients))  # modulo 2^64
        marks: list[int] = np.diff(sums[begins]).tolist()
        return marks


def _flat(cuts: Sequence[Cut]) -> tuple[Any, Any, Any]:
    """Return the edges and coefficients of cuts, concatenated, and the offset of each cut."""
    edges, begins = flat([cut.edges for cut in cuts], np.int32)
    return edges, flat([cut.coefficients for cut in cuts], np.int64)[0], begins
