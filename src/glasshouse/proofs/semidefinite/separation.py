"""Which odd cliques a matrix X violates: triangles all, pentagons and heptagons by search."""

from __future__ import annotations

import numpy as np

from glasshouse.proofs.semidefinite import kernels
from glasshouse.proofs.semidefinite.cuts import WIDTH, Cuts, FloatArray

_MOST_TRIANGLES = 400_000
_NEAR = 0.4  # the slack up to which a triangle may grow into a violated pentagon


def separated(cuts: Cuts, gram: FloatArray, violation: float, room: int, seeds: int) -> Cuts:
    """Cuts with up to `room` violated triangles more, and as many wider ones where there is room.

    Args:
        cuts: those that are known.
        gram: X; its diagonal is taken as 1.
        violation: what counts as violated.
        room: how many to add of each width.
        seeds: from how many triangles to search for pentagons, half as many for heptagons.
    """
    roots = np.sqrt(np.maximum(gram.diagonal(), 1e-9))
    correlations = gram / np.outer(roots, roots)
    before = len(cuts)
    vertices, signs, slacks = kernels.violated_triangles(correlations, _NEAR, _MOST_TRIANGLES)
    bad = slacks < -violation
    cuts = cuts.extended(vertices[bad], signs[bad], slacks[bad], room)
    if len(cuts) - before >= room // 2:
        return cuts
    while vertices.shape[1] < WIDTH and len(vertices):
        best = np.argpartition(slacks, min(seeds, len(slacks)) - 1)[:seeds]
        vertices, signs, slacks = kernels.widened(correlations, vertices[best], signs[best])
        bad = slacks < -violation
        cuts = cuts.extended(vertices[bad], signs[bad], slacks[bad], room)
        seeds //= 2
    return cuts
