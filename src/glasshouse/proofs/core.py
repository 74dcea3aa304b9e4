"""What exact reductions leave of a graph: what a tree search branches on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glasshouse.certificates.bound import Parts as FlatParts
from glasshouse.proofs.contraction import ContractedGraph
from glasshouse.proofs.parts import Packing, flat_parts, joined_parts, signed_loops
from glasshouse.proofs.relaxation import Loop, Parts
from glasshouse.proofs.signed_graph import SignedGraph, Spins, exact_array


@dataclass(frozen=True, eq=False)
class Core:
    """What is left to prove, and what proves the rest.

    Attributes:
        graph: the core, its vertices counted from 0.
        names: which node of the whole problem each of its vertices is.
        common: loops that all leaves of a tree have in common, over the whole problem.
        offset: the value of the whole problem is this and twice the cost of the core.
        is_whole: whether there is nothing beside the core.
    """

    graph: SignedGraph
    names: npt.NDArray[np.int32]
    common: FlatParts
    offset: int
    is_whole: bool = False

    @classmethod
    def whole(cls, graph: SignedGraph, loops: Iterable[Loop] = ()) -> Core:
        """All of a graph, nothing reduced."""
        names = np.arange(graph.num_vertices, dtype=np.int32)
        extra = list(loops)
        return cls(graph, names, _common(graph, extra), int(graph.value(0)), not extra)

    @classmethod
    def reduced(cls, reduction: ContractedGraph, loops: Iterable[Loop] = ()) -> Core:
        """All blocks of a reduced graph.

        The same graph always gives the same core and the same common parts, so that a search can
        go on from the certificate of another.

        Args:
            reduction: of the whole graph.
            loops: more of them that all leaves have, over the whole graph.
        """
        graph, common = reduction.graph, [*reduction.triangles, *loops]
        if not reduction.blocks:
            return cls.whole(graph, loops)
        ends = [reduction.names[block.vertices[block.graph.edges]] for block in reduction.blocks]
        weights = [w for block in reduction.blocks for w in block.graph.weights]
        kept, edges = np.unique(np.concatenate(ends), return_inverse=True)
        pairs = np.sort(edges.reshape(-1, 2), axis=1).astype(np.int32)
        core = SignedGraph(len(kept), pairs, exact_array(weights))
        is_whole = core.num_edges == graph.num_edges and not common
        return cls(core, kept.astype(np.int32), _common(graph, common),
                   int(graph.value(reduction.cost)), is_whole)  # fmt: skip

    def packed(
        self, reduction: ContractedGraph, packings: Iterable[Packing], loop_scale: int
    ) -> FlatParts:
        """What linear programs of the blocks found, as parts of the whole."""
        groups = [self.common.chosen([slice(0, 0)], [slice(0, 0)])]
        for block, packing in zip(reduction.blocks, packings, strict=False):
            loops = list(signed_loops(block.graph, packing.multipliers, packing.cycles))
            names = reduction.names[block.vertices]
            groups.append(flat_parts(Parts(packing.denominator, loops, []), names, loop_scale))
        return joined_parts(groups)

    def parts(self, parts: Parts, loop_scale: int) -> FlatParts:
        """Loops and squares of a leaf, over the whole problem."""
        return flat_parts(parts, self.names, loop_scale)

    def with_common(self, own: FlatParts) -> FlatParts:
        """All that bounds a leaf."""
        return joined_parts([self.common, own])


def lifted_state(reduction: ContractedGraph, core: Core, spins: Spins) -> Spins:
    """Spins of the whole graph from those of the core."""
    if len(core.names) == reduction.graph.num_vertices:
        return spins
    place = {name: k for k, name in enumerate(core.names.tolist())}
    return reduction.lift_state([
        spins[[place[name] for name in reduction.names[block.vertices].tolist()]]
        for block in reduction.blocks
    ])  # fmt: skip


def _common(graph: SignedGraph, loops: list[Loop]) -> FlatParts:
    names = np.arange(graph.num_vertices, dtype=np.int32)
    return flat_parts(Parts(1, loops, []), names, graph.loop_scale)
