"""Exact reductions of a signed graph, and the reverse maps for states and loops.

Two steps alternate until neither applies.

*Split*: a cycle stays inside one biconnected block, so blocks are solved separately. A vertex in
several blocks gets a copy in each, and bridges, which no cycle uses, are removed.

*Contract*: if one edge of a vertex weighs at least as much as all its other edges together, some
optimum satisfies it: the vertex moves onto its neighbour, and edges that become parallel merge.
Leaves and chains are the simplest cases; at the hardness peak, almost every edge is contracted.

A packing of odd cycles in the remaining graph becomes a packing of the whole graph with the same
slack. A loop over a moved edge also uses the contracted edge, which has capacity for all such
loops. A loop over a merged edge uses one of its two edges, or is split between both. Two parallel
edges of opposite signs are an odd cycle themselves.

A graph whose faces will be matched is only split, so that lattices remain lattices.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Parts
from glasshouse.kernels.adjacency import adjacency
from glasshouse.problems import INT64_MAX
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.kernels import graphs
from glasshouse.proofs.matching.surface import Surface
from glasshouse.proofs.parts import triangle_parts
from glasshouse.proofs.signed_graph import EdgeArray, SignedGraph, Spins, exact_array


@dataclass
class OddCycle:
    """An odd cycle: a set of edges, and a multiplier to be divided by the packing's denominator."""

    multiplier: int
    edges: set[int]


class _Moved(NamedTuple):
    """A moved edge: when an end of edge `old` moved along edge `along`, the edge became `new`."""

    new: int
    old: int
    along: int


class _Added(NamedTuple):
    """A merged edge: edge `new` replaces two parallel edges of the same sign."""

    new: int
    first: int
    second: int


class _Cancelled(NamedTuple):
    """Two parallel edges of opposite signs, replaced by edge `new` (-1 if the weights cancel)."""

    new: int
    larger: int
    smaller: int


class _Followed(NamedTuple):
    """A contracted vertex: its spin is `sign` times the spin of its leader."""

    vertex: int
    leader: int
    sign: int


class _Copied(NamedTuple):
    """Vertices split into copies: copy k is a copy of `original[k]`; `edges` connect the copies.

    `fixed` is the sign of each edge that is a removed bridge, and 0 for every other edge.
    """

    original: npt.NDArray[np.int32]
    num_vertices: int
    edges: EdgeArray
    fixed: Spins


# Vertices to contract, and edges to copy, between two checks of the clock.
_STEPS_PER_LOOK, _EDGES_PER_LOOK = 1 << 10, 1 << 16

_Step = _Moved | _Added | _Cancelled | _Followed | _Copied
_Ends = dict[int, tuple[int, int]]


@dataclass(frozen=True)
class CoreBlock:
    """A block of the core: any two edges lie on a common cycle; its faces are in `surface`."""

    graph: SignedGraph
    vertices: npt.NDArray[np.int32]
    edges: list[int]
    surface: Surface | None


class ContractedGraph:
    """A signed graph and its core, with the maps from one to the other.

    Edges are numbered: first the edges of the graph, then the edges that the steps create.

    Args:
        graph: the graph to reduce.
        budget: the budget; `TimeIsUpError` is raised if the reduction takes longer.
        matching: find surfaces of the blocks, and do not contract if all blocks have one.

    Attributes:
        graph: the graph that was reduced.
        blocks: the remaining blocks, in ascending order of size.
        cost: the weight that every state violates, found by merging parallel edges.
        names: for each vertex of the blocks, its vertex in the graph.
        triangles: loops that turn the energy of the graph into that of the core plus the weight
            that every state violates. They may use pairs without an edge.

    >>> square = SignedGraph(
    ...     4, np.array([[0, 1], [1, 2], [2, 3], [0, 3]]), exact_array([5, 5, 5, -3]))
    >>> reduction = ContractedGraph(square)
    >>> reduction.blocks, reduction.cost
    ([], 3)
    >>> reduction.lift_state([]).tolist(), reduction.lift_loops([], denominator=1)
    ([1, 1, 1, 1], [OddCycle(multiplier=3, edges={0, 1, 2, 3})])
    """

    def __init__(
        self, graph: SignedGraph, budget: Budget | None = None, *, matching: bool = False
    ) -> None:
        self.graph, self._budget, self._matching = graph, budget or Budget(), matching
        self.cost = 0
        self._weights: list[int] = []
        self._steps: list[_Step] = []
        self._num_vertices = graph.num_vertices
        self.names = np.arange(graph.num_vertices, dtype=np.int32)
        self._names: list[int] = []  # `names` as a list, for single vertices
        # Six numbers per triangle, because lists of lists slow down Python's garbage collector.
        self._triangles: list[int] = []
        ends: _Ends = {}
        for first, last in self._budget.pieces(graph.num_edges, _EDGES_PER_LOOK):
            self._weights += graph.weights[first:last].tolist()
            # Column by column, because lists of pairs slow down Python's garbage collector.
            pairs = zip(*graph.edges[first:last].T.tolist(), strict=True)
            ends.update(zip(range(first, last), pairs, strict=True))
        parts = self._split(ends)
        blocks = [self._block(part) for part in parts]
        if any(block.surface is None for block in blocks):
            blocks = [self._block(part) for part in self._reduced(parts)]
        self.blocks = sorted(blocks, key=lambda block: block.graph.num_edges)

    def _reduced(self, parts: list[_Ends]) -> list[_Ends]:
        """Contract and split blocks until nothing changes."""
        while True:
            items = [item for part in parts for item in part.items()]
            ends = self._contract(items)
            if len(ends) == len(items):  # every turn that changes the graph removes edges
                return parts
            parts = self._split(ends)

    def _split(self, ends: _Ends) -> list[_Ends]:
        """Give each biconnected block its own copies of its vertices, and remove bridges."""
        ids = list(ends)
        pairs = np.array(list(ends.values()), dtype=np.int32).reshape(-1, 2)
        rows = adjacency(self._num_vertices, pairs)
        number, count = graphs.blocks(*rows, len(ids))
        self._budget.check()
        stride = max(count, 1)
        copies, copied = np.unique(
            pairs.ravel().astype(np.int64) * stride + np.repeat(number, 2), return_inverse=True
        )
        copied = copied.reshape(-1, 2)
        bridge = np.bincount(number, minlength=count)[number] == 1
        signs = np.array([1 if self._weights[k] > 0 else -1 for k in ids], dtype=np.int8)
        original = (copies // stride).astype(np.int32)
        self._steps.append(
            _Copied(original, self._num_vertices, copied.astype(np.int32), signs * bridge)
        )
        self._num_vertices = len(original)
        self.names = self.names[original]
        self._names = self.names.tolist()
        parts: list[_Ends] = [{} for _ in range(count)]
        pairs_of_copies = zip(*copied.T.tolist(), strict=True)
        for edge, block, pair in zip(ids, number.tolist(), pairs_of_copies, strict=True):
            parts[block][edge] = pair
        return [part for part in parts if len(part) > 1]

    def _contract(self, items: list[tuple[int, tuple[int, int]]]) -> _Ends:
        """Contract edges that weigh at least as much as all other edges at one end together."""
        self._budget.check()
        if self._is_contracted(items):
            return dict(items)
        adjacent: list[dict[int, int]] = [{} for _ in range(self._num_vertices)]
        strength = [0] * self._num_vertices
        for edge, (a, b) in items:
            adjacent[a][b] = adjacent[b][a] = edge
            strength[a] += abs(self._weights[edge])
            strength[b] += abs(self._weights[edge])
        waiting = deque(v for v in range(self._num_vertices) if adjacent[v])
        queued = set(waiting)
        while waiting:
            if len(waiting) % _STEPS_PER_LOOK == 0:
                self._budget.check()
            vertex = waiting.popleft()
            queued.discard(vertex)
            if not adjacent[vertex]:
                continue
            leader, along = max(
                adjacent[vertex].items(), key=lambda item: abs(self._weights[item[1]])
            )
            if 2 * abs(self._weights[along]) < strength[vertex]:
                continue
            changed = self._follow(vertex, leader, adjacent, strength)
            fresh = [v for v in changed if v not in queued]
            waiting.extend(fresh)
            queued.update(fresh)
        return {edge: (a, b) for a, row in enumerate(adjacent) for b, edge in row.items() if a < b}

    def _is_contracted(self, items: list[tuple[int, tuple[int, int]]]) -> bool:
        """Return True if a quick test shows that no edge can be contracted, as in most lattices."""
        if self.graph.total > INT64_MAX // 4:
            return False
        sizes = np.array([abs(self._weights[edge]) for edge, _ in items], dtype=np.int64)
        ends = np.array([pair for _, pair in items], dtype=np.int64).reshape(-1, 2)
        strength, largest = np.zeros((2, self._num_vertices), np.int64)
        for side in ends.T:
            np.add.at(strength, side, sizes)
            np.maximum.at(largest, side, sizes)
        return not ((2 * largest >= strength) & (strength > 0)).any()

    def _follow(
        self, vertex: int, leader: int, adjacent: list[dict[int, int]], strength: list[int]
    ) -> list[int]:
        """Contract the edge between a vertex and its leader; return the vertices that changed."""
        along = adjacent[vertex].pop(leader)
        del adjacent[leader][vertex]
        strength[leader] -= abs(self._weights[along])
        sign = 1 if self._weights[along] > 0 else -1
        self._steps.append(_Followed(vertex, leader, sign))
        touched = [leader]
        for other, edge in adjacent[vertex].items():
            del adjacent[other][vertex]
            touched.append(other)
            self._note_triangle(vertex, other, leader, self._weights[edge], sign)
            moved = self._new(sign * self._weights[edge])
            self._steps.append(_Moved(moved, edge, along))
            strength[leader] += abs(self._weights[edge])
            if other not in adjacent[leader]:
                adjacent[leader][other] = adjacent[other][leader] = moved
                continue
            merged, lost = self._merge(adjacent[leader].pop(other), moved)
            del adjacent[other][leader]
            strength[leader] -= 2 * lost
            strength[other] -= 2 * lost
            if merged >= 0:
                adjacent[leader][other] = adjacent[other][leader] = merged
        adjacent[vertex] = {}
        return touched

    def _note_triangle(self, vertex: int, other: int, leader: int, weight: int, sign: int) -> None:
        """Record the triangle that moves weight from two edges to a third when an edge is moved.

        -w·s_v·s_x - |w|·sign·s_v·s_l + w·sign·s_l·s_x ≥ -|w| is an odd cycle.
        """
        own = 1 if weight > 0 else -1
        names = self._names
        self._triangles += abs(weight), names[vertex], names[other], names[leader], own, sign

    def _merge(self, first: int, second: int) -> tuple[int, int]:
        """Merge parallel edges; return the new edge (-1 if none) and the weight always violated."""
        one, two = self._weights[first], self._weights[second]
        if (one > 0) == (two > 0):
            merged = self._new(one + two)
            self._steps.append(_Added(merged, first, second))
            return merged, 0
        larger, smaller = (first, second) if abs(one) >= abs(two) else (second, first)
        merged = self._new(one + two) if one + two else -1
        self._steps.append(_Cancelled(merged, larger, smaller))
        lost = abs(self._weights[smaller])
        self.cost += lost
        return merged, lost

    def _new(self, weight: int) -> int:
        self._weights.append(weight)
        return len(self._weights) - 1

    def _block(self, part: _Ends) -> CoreBlock:
        pairs = np.array(list(part.values()), dtype=np.int32)
        vertices, local = np.unique(pairs, return_inverse=True)
        weights = exact_array(self._weights[edge] for edge in part)
        ends = local.reshape(-1, 2).astype(np.int32)
        graph = SignedGraph(len(vertices), ends, weights)
        surface = Surface.of(graph, self._budget) if self._matching else None
        return CoreBlock(graph, vertices, list(part), surface)

    @property
    def triangles(self) -> Parts:
        """The triangles that account for all weight moved between edges, one per moved edge."""
        columns = [self._triangles[k::6] for k in range(6)]
        own, sign = (np.array(column, dtype=np.int8) for column in columns[4:])
        nodes = np.array(columns[1:4], dtype=np.int32).T
        return triangle_parts(columns[0], nodes, np.column_stack([own, -own * sign, sign]) < 0)

    def restrict(self, spins: Spins) -> list[Spins]:
        """Return the spins of each block, given the spins of the whole graph."""
        for step in self._steps:
            if isinstance(step, _Copied):
                spins = spins[step.original]
        return [spins[block.vertices] for block in self.blocks]

    def lift_state(self, block_states: list[Spins]) -> Spins:
        """Return the spins of the whole graph, given the spins of its blocks."""
        spins = np.ones(self._num_vertices, dtype=np.int8)
        for block, state in zip(self.blocks, block_states, strict=True):
            spins[block.vertices] = state
        for step in reversed(self._steps):
            if isinstance(step, _Followed):
                spins[step.vertex] = step.sign * spins[step.leader]
            elif isinstance(step, _Copied):
                relative = spins[step.edges[:, 0]] * spins[step.edges[:, 1]]
                relative = np.where(step.fixed, step.fixed, relative).astype(np.int8)
                rows = adjacency(step.num_vertices, step.original[step.edges].reshape(-1, 2))
                spins = graphs.agree(*rows, relative)
        return spins

    @property
    def is_lifting(self) -> bool:
        """Whether the blocks' loops must be changed to become loops of the whole graph."""
        return not all(isinstance(step, _Copied) for step in self._steps)

    def lift_loops(self, loops: list[OddCycle], denominator: int) -> list[OddCycle]:
        """Return loops of the whole graph: lifted loops of its blocks, and loops from merged edges.

        If the loops of the core respect all weights, so do the returned loops.
        """
        return _Lifting(loops).undo(self._steps, self._weights, denominator)


class _Lifting:
    """Loops that are being lifted, with an index from each edge to the loops that use it."""

    def __init__(self, loops: Iterable[OddCycle]) -> None:
        self.loops: list[OddCycle] = []
        self.users: dict[int, set[int]] = {}
        for loop in loops:
            self.add(loop.multiplier, loop.edges)

    def undo(self, steps: list[_Step], weights: list[int], denominator: int) -> list[OddCycle]:
        """Undo all reduction steps in reverse order, and return the lifted loops."""
        for step in reversed(steps):
            if isinstance(step, _Moved):
                for loop in sorted(self.users.pop(step.new, ())):
                    self.loops[loop].edges.remove(step.new)
                    self.toggle(loop, step.old)
                    self.toggle(loop, step.along)
            elif isinstance(step, _Added):
                self.share(step, abs(weights[step.first]) * denominator)
            elif isinstance(step, _Cancelled):
                for loop in sorted(self.users.pop(step.new, ())):
                    self.loops[loop].edges.remove(step.new)
                    self.toggle(loop, step.larger)
                slack = abs(weights[step.smaller]) * denominator
                self.add(slack, {step.larger, step.smaller})
        return self.loops

    def add(self, multiplier: int, edges: set[int]) -> None:
        """Add a loop with a multiplier and a set of edges."""
        self.loops.append(OddCycle(multiplier, set(edges)))
        for edge in edges:
            self.users.setdefault(edge, set()).add(len(self.loops) - 1)

    def toggle(self, loop: int, edge: int) -> None:
        """Add an edge to a loop, or remove it if the loop already contains it."""
        edges, users = self.loops[loop].edges, self.users.setdefault(edge, set())
        for group, member in ((edges, edge), (users, loop)):
            if member in group:
                group.remove(member)
            else:
                group.add(member)

    def share(self, step: _Added, room: int) -> None:
        """Route loops over the first parallel edge up to its capacity, then over the second one."""
        for loop in sorted(self.users.pop(step.new, ())):
            edges, multiplier = self.loops[loop].edges, self.loops[loop].multiplier
            edges.remove(step.new)
            if 0 < room < multiplier:
                self.loops[loop].multiplier = room
                self.add(multiplier - room, edges | {step.second})
                multiplier = room
            self.toggle(loop, step.first if multiplier <= room else step.second)
            if multiplier <= room:
                room -= multiplier
