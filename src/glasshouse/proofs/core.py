"""The part of a graph that its LP left open: what a tree search goes on with."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glasshouse.certificates.bound import Parts as FlatParts
from glasshouse.proofs.cycles import signed_loops
from glasshouse.proofs.leaf_parts import flat_parts, joined_parts
from glasshouse.proofs.relaxation import Loop, Parts
from glasshouse.proofs.search import Search
from glasshouse.proofs.signed_graph import SignedGraph, Spins, exact_array


@dataclass(frozen=True, eq=False)
class Core:
    """What is left to prove, and what proves the rest.

    Attributes:
        graph: the open part, its vertices counted from 0.
        names: which node of the whole problem each of its vertices is.
        common: loops that all leaves of a tree have in common, over the whole problem.
        cost: what the rest of the graph costs in every case.
    """

    graph: SignedGraph
    names: npt.NDArray[np.int32]
    common: FlatParts
    cost: int

    @classmethod
    def whole(cls, graph: SignedGraph, loops: Iterable[Loop] = ()) -> Core:
        """All of a graph, nothing reduced."""
        names = np.arange(graph.num_vertices, dtype=np.int32)
        return cls(graph, names, _common(graph, list(loops)), 0)

    @classmethod
    def left_by(cls, search: Search, loops: Iterable[Loop] = ()) -> Core:
        """The blocks that a search has not closed.

        Args:
            search: one that has run.
            loops: more of them that all leaves have, over the search's graph.
        """
        reduction, graph = search.reduction, search.graph
        ends, weights, cost = [], [], reduction.cost
        common, denominators = [reduction.triangles, list(loops)], [1, 1]
        for block, result in zip(reduction.blocks, search.results, strict=True):
            names = reduction.names[block.vertices]
            if search.is_closed(result):
                loops_of_block = signed_loops(block.graph, result.packing)
                common.append([(mu, names[nodes].tolist(), signs)
                               for mu, nodes, signs in loops_of_block])  # fmt: skip
                denominators.append(result.packing.denominator)
                cost += result.cost
            else:
                ends.append(names[block.graph.edges])
                weights += block.graph.weights.tolist()
        if not ends:
            raise ValueError("all blocks are closed; there is nothing to branch on")
        kept, edges = np.unique(np.concatenate(ends), return_inverse=True)
        core = SignedGraph(len(kept), np.sort(edges.reshape(-1, 2), axis=1).astype(np.int32),
                           exact_array(weights))  # fmt: skip
        denominator = math.lcm(*denominators)
        whole = [(multiplier * (denominator // one), vertices, signs)
                 for group, one in zip(common, denominators, strict=True)
                 for multiplier, vertices, signs in group]  # fmt: skip
        return cls(core, kept.astype(np.int32), _common(graph, whole, denominator), cost)

    def parts(self, parts: Parts, loop_scale: int) -> FlatParts:
        """Loops and squares of a leaf, over the whole problem."""
        return flat_parts(parts, self.names, loop_scale)

    def with_common(self, own: FlatParts) -> FlatParts:
        """All that bounds a leaf."""
        return joined_parts([self.common, own])

    def is_whole(self, num_edges: int) -> bool:
        """Whether a problem of so many edges has none outside the core."""
        return self.graph.num_edges == num_edges and not len(self.common.multipliers)


def lifted_state(search: Search, core: Core, spins: Spins) -> Spins:
    """Spins of the whole graph from those of the core."""
    place = {name: k for k, name in enumerate(core.names.tolist())}
    states = []
    for block, result in zip(search.reduction.blocks, search.results, strict=True):
        names = search.reduction.names[block.vertices].tolist()
        closed = search.is_closed(result)
        states.append(result.state if closed else spins[[place[name] for name in names]])
    return search.reduction.lift_state(states)


def _common(graph: SignedGraph, loops: list[Loop], denominator: int = 1) -> FlatParts:
    names = np.arange(graph.num_vertices, dtype=np.int32)
    return flat_parts(Parts(denominator, loops, []), names, graph.loop_scale)
