"""The core: the graph that remains after exact reductions, on which a tree search branches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Parts
from glasshouse.proofs.contraction import ContractedGraph
from glasshouse.proofs.parts import NO_PARTS, joined_parts, named_parts
from glasshouse.proofs.signed_graph import SignedGraph, Spins, exact_array


@dataclass(frozen=True, eq=False)
class Core:
    """The graph that remains after exact reductions, and the loops that prove the reductions.

    Attributes:
        graph: the core, with vertices counted from 0.
        names: for each vertex of the core, its node in the whole problem.
        common: loops that all leaves of a tree have in common, over the whole problem.
        offset: the value of the whole problem is this offset plus twice the cost of the core.
        is_whole: whether the core is the whole problem.
    """

    graph: SignedGraph
    names: npt.NDArray[np.int32]
    common: Parts
    offset: int
    is_whole: bool = False

    @classmethod
    def whole(cls, graph: SignedGraph, loops: Parts = NO_PARTS) -> Core:
        """Return a whole graph as its own core, without reductions."""
        names = np.arange(graph.num_vertices, dtype=np.int32)
        common = named_parts(loops, graph.loop_scale)
        return cls(graph, names, common, int(graph.value(0)), not len(loops.multipliers))

    @classmethod
    def reduced(cls, reduction: ContractedGraph, loops: Parts = NO_PARTS) -> Core:
        """Return the core of a reduced graph: all its blocks together.

        The same graph always yields the same core and the same common parts, so that a search can
        resume from the certificate of an earlier search.

        Args:
            reduction: the reduction of the whole graph.
            loops: further loops that all leaves share, over the whole graph.
        """
        graph = reduction.graph
        if not reduction.blocks:
            return cls.whole(graph, loops)
        common = joined_parts([reduction.triangles, loops])
        ends = [reduction.names[block.vertices[block.graph.edges]] for block in reduction.blocks]
        weights = [w for block in reduction.blocks for w in block.graph.weights]
        kept, edges = np.unique(np.concatenate(ends), return_inverse=True)
        pairs = np.sort(edges.reshape(-1, 2), axis=1).astype(np.int32)
        core = SignedGraph(len(kept), pairs, exact_array(weights))
        is_whole = core.num_edges == graph.num_edges and not len(common.multipliers)
        return cls(core, kept.astype(np.int32), named_parts(common, graph.loop_scale),
                   int(graph.value(reduction.cost)), is_whole)  # fmt: skip


def lifted_state(reduction: ContractedGraph, core: Core, spins: Spins) -> Spins:
    """Return the spins of the whole graph, given the spins of the core."""
    if len(core.names) == reduction.graph.num_vertices:
        return spins
    place = {name: k for k, name in enumerate(core.names.tolist())}
    return reduction.lift_state([
        spins[[place[name] for name in reduction.names[block.vertices].tolist()]]
        for block in reduction.blocks
    ])  # fmt: skip
