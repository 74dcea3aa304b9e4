"""Odd cliques as cuts (a·s)² ≥ 1 for integers a of odd sum, and the search for violated cuts.

All violated triangles are found; pentagons and heptagons are found by search.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.semidefinite import kernels

FloatArray = npt.NDArray[np.float64]

WIDTH = 7  # vertices of the widest cut
_HASH_SEED = 0x5EED
_MOST_TRIANGLES = 400_000
_SPARE = 4  # cliques that are sorted for each one that may be added
_NEAR = 0.4  # the slack up to which a triangle may grow into a violated pentagon


@dataclass(frozen=True)
class Cuts:
    """Odd cliques, one per row, with their multipliers.

    Attributes:
        vertices: (m, WIDTH), padded with zeros, like the coefficients.
        coefficients: integers of odd sum, non-zero ones first.
        multipliers: the multipliers, at least 0.
    """

    vertices: npt.NDArray[np.int32]
    coefficients: npt.NDArray[np.int8]
    multipliers: FloatArray

    @classmethod
    def none(cls) -> Cuts:
        """Return an empty set of cuts."""
        return cls(
            np.empty((0, WIDTH), np.int32), np.empty((0, WIDTH), np.int8), np.empty(0, np.float64)
        )

    def __len__(self) -> int:
        return len(self.multipliers)

    @property
    def depths(self) -> FloatArray:
        """The depths (Σ a² - 1) / 2; in every state, a cut's sum over pairs is at least -depth."""
        coefficients = self.coefficients.astype(np.float64)
        depths: FloatArray = ((coefficients**2).sum(axis=1) - 1.0) / 2.0
        return depths

    def kept(self, mask: npt.NDArray[np.bool_]) -> Cuts:
        """Return the cuts marked by a mask."""
        return Cuts(self.vertices[mask], self.coefficients[mask], self.multipliers[mask])

    def weighted(self, multipliers: FloatArray) -> Cuts:
        """Return these cuts with new multipliers."""
        return replace(self, multipliers=multipliers)

    def extended(
        self,
        vertices: npt.NDArray[np.int32],
        coefficients: npt.NDArray[np.int8],
        slacks: FloatArray,
        room: int,
    ) -> Cuts:
        """Return the cuts, followed by the most violated new cliques, at most `room`."""
        if len(slacks) > _SPARE * room:  # enough, even if some are known or found several times
            most = np.argpartition(slacks, _SPARE * room)[: _SPARE * room]
            vertices, coefficients, slacks = vertices[most], coefficients[most], slacks[most]
        order = np.argsort(slacks, kind="stable")
        prints = _fingerprints(vertices[order], coefficients[order])
        _, first = np.unique(prints, return_index=True)
        is_new = np.zeros(len(order), np.bool_)
        is_new[first] = True
        is_new &= ~np.isin(prints, _fingerprints(self.vertices, self.coefficients))
        chosen = order[is_new][:room]
        padding = ((0, 0), (0, WIDTH - vertices.shape[1]))
        return Cuts(
            np.concatenate([self.vertices, np.pad(vertices[chosen], padding)]),
            np.concatenate([self.coefficients, np.pad(coefficients[chosen], padding)]),
            np.concatenate([self.multipliers, np.zeros(len(chosen))]),
        )

    def mapped(self, target: npt.NDArray[np.int64], signs: npt.NDArray[np.int8]) -> Cuts:
        """Return the cuts with every vertex v replaced by `signs[v]` times vertex `target[v]`.

        Cuts over a single vertex and cuts with a vertex of target -1 are dropped.
        """
        vertices = target[self.vertices].astype(np.int32)
        coefficients = (self.coefficients * signs[self.vertices]).astype(np.int8)
        for q in range(1, WIDTH):  # merge entries of the same vertex
            for p in range(q):
                same = (vertices[:, p] == vertices[:, q]) & (coefficients[:, p] != 0)
                coefficients[same, p] += coefficients[same, q]
                coefficients[same, q] = 0
        order = np.argsort(coefficients == 0, axis=1, kind="stable")
        vertices = np.take_along_axis(vertices, order, axis=1)
        coefficients = np.take_along_axis(coefficients, order, axis=1)
        vertices[coefficients == 0] = 0
        says_something = (coefficients[:, 1] != 0) & (vertices >= 0).all(axis=1)
        return Cuts(vertices, coefficients, self.multipliers).kept(says_something)


def _fingerprints(vertices: npt.NDArray[Any], coefficients: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a hash of each cut; a cut and its negative have the same hash, others almost never."""
    size = int(vertices.max(initial=0)) + 1
    words = np.random.default_rng(_HASH_SEED).integers(-(2**62), 2**62, size)
    prints: npt.NDArray[np.int64] = np.abs((words[vertices] * coefficients).sum(axis=1))
    return prints


def separated(cuts: Cuts, gram: FloatArray, violation: float, room: int, seeds: int) -> Cuts:
    """Add up to `room` violated cuts of each width to the known cuts, and return all.

    Args:
        cuts: the known cuts.
        gram: the matrix X; its diagonal is taken as 1.
        violation: the least violation that counts.
        room: the most cuts of each width to add.
        seeds: the triangles from which pentagons are searched for; half as many for heptagons.
    """
    roots = np.sqrt(np.maximum(gram.diagonal(), 1e-9))
    correlations = gram / np.outer(roots, roots)
    before = len(cuts)
    for limit in (-violation, 0.0, _NEAR):
        vertices, signs, slacks = kernels.violated_triangles(correlations, limit, _MOST_TRIANGLES)
        if len(slacks) >= seeds:
            break
    bad = slacks < -violation
    cuts = cuts.extended(vertices[bad], signs[bad], slacks[bad], room)
    if len(cuts) - before >= room // 2:
        return cuts
    widest = min(WIDTH, len(gram))  # `widened` takes two more vertices, which must exist
    while vertices.shape[1] + 2 <= widest and len(vertices):
        best = np.argpartition(slacks, min(seeds, len(slacks)) - 1)[:seeds]
        vertices, signs, slacks = kernels.widened(correlations, vertices[best], signs[best])
        bad = slacks < -violation
        cuts = cuts.extended(vertices[bad], signs[bad], slacks[bad], room)
        seeds //= 2
    return cuts
