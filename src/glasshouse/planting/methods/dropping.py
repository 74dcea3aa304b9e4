"""Random loops on a graph: the graph, the search for cycles, and the rules for overlap.

Classic loops, graph loops and structured graph loops share this code. The complete bipartite graph
of an RBM is a graph, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glasshouse.planting import arguments
from glasshouse.planting.demand import Demand, Meter, graph_extent, refuse_spent
from glasshouse.planting.graph_names import Extent
from glasshouse.planting.graphs import Graph, Rows
from glasshouse.planting.kernels import cycles
from glasshouse.planting.kernels.graph_loops import (
    ANY,
    CONSTRUCTIVE,
    DISJOINT,
    PATH,
    TABLE,
    CycleSource,
    LoopRule,
    drop_loops,
)
from glasshouse.planting.loops import Loops
from glasshouse.planting.planted import Planted
from glasshouse.problems import INT64_MAX, IntArray, SpinArray, validation

if TYPE_CHECKING:
    from glasshouse.planting.graphs import GraphLike

Stream = npt.NDArray[np.uint64]
Table = npt.NDArray[np.int32]

# Cycles of one length are listed if they are at most this many and found in this many steps.
_MOST_LISTED, _MOST_STEPS = 1 << 20, 1 << 25
_STEPS_AT_ONCE = 1 << 24  # about a tenth of a second, after which signals are handled
# Failed attempts after which an existing loop is placed again, or the search stops.
_PATIENCE = 1000
# The most attempts for the last space, if loops must be disjoint or weights are limited.
_MOST_PATIENCE = 100_000
# If space runs out, everything starts again this many times.
_RESTARTS = 4
NO_TABLE = np.empty(0, dtype=np.int32)
_NO_EDGES = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Ground:
    """The graph on which loops are placed: its size is known at once, but it is built lazily.

    The complete bipartite graph of an RBM is not stored until it must be.

    Attributes:
        given: the graph, its name or its edges; None for an RBM.
        layers: (n, m) of an RBM, else (0, 0).
    """

    given: Graph | str | list[Any] | None
    layers: tuple[int, int] = (0, 0)

    @classmethod
    def of(cls, graph: GraphLike) -> Ground:
        """Return the ground for any argument that `Graph.of` accepts.

        Names and lists may come from an untrusted file, and request more memory than there is.
        """
        return cls(graph if isinstance(graph, (str, list)) else Graph.of(graph))

    @classmethod
    def of_graph_or_layers(cls, graph: GraphLike | tuple[int, int]) -> Ground:
        """Return the ground of an RBM for (n, m), or of a graph for any other argument."""
        if isinstance(graph, (tuple, list)) and len(graph) == 2 and np.ndim(graph[0]) == 0:
            n, m = graph
            return cls(None, arguments.layer_sizes(n, m))
        return cls.of(graph)

    @cached_property
    def graph(self) -> Graph | None:
        """The graph, or None for an RBM."""
        return None if self.given is None else Graph.of(self.given)

    def refuse_acyclic(self) -> None:
        """Raise an error if the graph has no cycle."""
        graph = self.graph
        if graph and graph.num_nodes < 3:
            raise ValueError(f"{graph!r} is too small for a cycle; use at least 3 nodes")
        if graph and not len(graph.core):
            raise ValueError(f"{graph!r} has no cycle, so no loop fits; add edges")

    @cached_property
    def extent(self) -> tuple[Extent, int]:
        """The size of the graph and its memory; the memory of an RBM is 0."""
        if self.given is None:
            return Extent(sum(self.layers), math.prod(self.layers)), 0
        return graph_extent(self.given)

    @property
    def num_variables(self) -> int:
        """The number of nodes of the graph, or of all spins of an RBM."""
        return self.extent[0].nodes

    def demand(self, loops: int, *, stored: bool = False) -> Demand:
        """Return the size and memory of a plant; `stored` means that an RBM's graph is stored."""
        if self.given is None:
            return Demand.of_loops_on_rbm(*self.layers, loops, stored=stored)
        return Demand.of_loops_on_graph(*self.extent, loops)

    @property
    def half(self) -> Fraction:
        """The paper's n: the number of visible spins of an RBM, or half the number of nodes."""
        return arguments.half(self.num_variables, self.layers[0] if self.given is None else None)

    @property
    def is_bipartite(self) -> bool:
        """Whether the graph is bipartite, so that all cycles have even length."""
        return self.graph is None or self.graph.is_bipartite

    @property
    def longest_cycle(self) -> int:
        """An upper bound on the length of a cycle."""
        return len(self.graph.core) if self.graph else 2 * min(self.layers)

    def parameter(self) -> Any:
        """Return the ground as a recipe stores it."""
        return self.graph.name if self.graph else list(self.layers)

    def stored(self) -> Graph:
        """Return the graph itself; the graph of an RBM is built for this."""
        return self.graph if self.graph else Graph.layers(*self.layers)

    def rows(self, *, stored: bool) -> Rows:
        """Return compressed rows for the kernel; empty for an RBM unless they must be stored."""
        if self.graph or stored:
            return self.stored().core_rows
        none = np.empty(0, dtype=np.int32)
        return np.empty(0, dtype=np.int64), none, none, none.reshape(0, 2)

    def roots(self) -> npt.NDArray[np.int32]:
        """Return the start nodes of walks; an empty array means all spins."""
        return self.graph.core if self.graph else np.empty(0, dtype=np.int32)

    def plant(self, loops: Loops, state: SpinArray, loop_weight: int, offset: int = 0) -> Planted:
        """Return the planted instance: an RBM or an Ising problem."""
        if self.graph is None:
            return Planted.of_rbm(*self.layers, loops, state, loop_weight)
        size, labels = self.num_variables, self.graph.labels
        return Planted.of_ising(size, loops, state, loop_weight, labels=labels, offset=offset)

    def __str__(self) -> str:
        return repr(self.graph) if self.graph else f"{self.layers[0]} × {self.layers[1]} weights"


@dataclass(frozen=True)
class LoopWeights:
    """Weights of loops of length L: -(constant + slope·(L-1)) on one edge, `positive` on others."""

    positive: int
    constant: int
    slope: int

    @classmethod
    def of(cls, f: Fraction, lengths: range) -> LoopWeights:
        """Return weights that give loops of all lengths the same f, as small integers."""
        if len(lengths) == 1:
            positive, negative = arguments.loop_weights(f, lengths[0])
            return cls(positive, constant=-negative, slope=0)
        # For consecutive lengths, the values L-1 have no common divisor, and p/q is in lowest
        # terms.
        return cls(f.denominator - f.numerator, constant=0, slope=f.numerator)

    def negative(self, length: int) -> int:
        """Return the negative weight of a loop with this length."""
        return -(self.constant + self.slope * (length - 1))

    def check(self, number: int, longest: int, most: int = INT64_MAX) -> None:
        """Refuse sums of weights that may exceed int64, and weights of a loop above `most`."""
        arguments.check_total(number, self.positive * (longest - 1) - self.negative(longest))
        heaviest = max(self.positive, -self.negative(longest))
        if most < heaviest:
            raise ValueError(
                f"max_weight={most} is below {heaviest}, the heaviest weight of a single loop; use "
                "a frustration with a smaller denominator, or shorter loops"
            )


@dataclass(frozen=True)
class Drop:
    """How to place random loops: the source of cycles, the weights, and the allowed overlap.

    Attributes:
        sampler: the source of cycles, a constant of the kernel.
        ground: the graph on which the loops are placed.
        shortest: the least length of a loop.
        longest: the greatest length of a loop.
        weights: the weights by length.
        rule: how loops may share edges, a constant of the kernel.
        most: the largest magnitude of a weight.
        table: all cycles, concatenated, for the sampler TABLE.
        inner: the edges inside the block, for the sampler BLOCK.
        border: the size of the block.
        inside: whether the fourth node of a block's loop is inside the block.
    """

    sampler: int
    ground: Ground
    shortest: int
    longest: int
    weights: LoopWeights
    rule: int = CONSTRUCTIVE
    most: int = INT64_MAX
    table: Table = field(default_factory=lambda: NO_TABLE)
    inner: IntArray = field(default_factory=lambda: _NO_EDGES)
    border: int = 0
    inside: bool = False

    @property
    def rows(self) -> Rows:
        """The graph in the form that the kernel needs."""
        return self.ground.rows(stored=self._needs_totals)

    @property
    def _needs_totals(self) -> bool:
        return self.rule != ANY or self.most < INT64_MAX

    @property
    def _is_limited(self) -> bool:
        """Whether a rule limits how many loops fit."""
        return self.rule == DISJOINT or self.most < INT64_MAX

    def new_totals(self) -> IntArray:
        """Return an array of zero weights for all edges; it is empty if no rule needs it."""
        return np.zeros(len(self.rows[3]) if self._needs_totals else 0, dtype=np.int64)

    def run(
        self, stream: Stream, number: int, totals: IntArray, meter: Meter
    ) -> tuple[Any, IntArray]:
        """Place up to `number` loops on top of `totals`; return their nodes and starts."""
        rows = self.rows
        source = CycleSource(
            self.sampler, rows, self.ground.layers, self.ground.roots(), self.table, self.inner,
            self.border, self.inside,
        )  # fmt: skip
        patience = max(_PATIENCE, 20 * len(self.table) // self.shortest)
        if self._is_limited:
            patience = max(patience, min(2 * len(rows[3]), _MOST_PATIENCE))
        weights = self.weights
        rule = LoopRule(
            self.shortest, self.longest, weights.positive, weights.constant, weights.slope,
            self.rule, self.most,
        )  # fmt: skip
        nodes, starts = np.empty(max(16, 4 * number), np.int32), np.zeros(number + 1, np.int64)
        state, is_stuck = np.zeros(2, np.int64), False
        while state[0] < number and meter[0] > 0 and not is_stuck:
            pause = max(int(meter[0]) - _STEPS_AT_ONCE, 0)
            nodes = drop_loops(
                stream, source, rule, nodes, starts, state, patience, totals, meter, pause
            )
            is_stuck = bool(meter[0] > pause)  # it ended because space ran out
        placed = int(state[0])
        if placed < number:
            refuse_spent(meter)
        return nodes[: starts[placed]].copy(), starts[: placed + 1].copy()

    def grow(self, stream: Stream, number: int, remedy: str, meter: Meter) -> Loops:
        """Place exactly `number` loops; otherwise raise an error that states how many fit."""
        reached = 0
        for _ in range(_RESTARTS if self._is_limited else 1):
            nodes, starts = self.run(stream, number, self.new_totals(), meter)
            if len(starts) - 1 == number:
                return self.weighed(nodes, starts)
            reached = max(reached, len(starts) - 1)
        if not reached or not self._is_limited:
            raise ValueError(f"no {self} was found on {self.ground}; {remedy}")
        limit = "disjoint loops" if self.rule == DISJOINT else f"loops under max_weight={self.most}"
        raise ValueError(
            f"no space for {number} {limit} on {self.ground}: {reached} was the most in "
            f"{_RESTARTS} attempts; use loops={reached} or fewer"
        )

    def weighed(self, nodes: npt.NDArray[np.int32], starts: IntArray) -> Loops:
        """Return the loops with their weights; the last edge of each is negative."""
        weights = np.full(len(nodes), self.weights.positive, dtype=np.int64)
        lengths = np.diff(starts)
        weights[starts[1:] - 1] = -(self.weights.constant + self.weights.slope * (lengths - 1))
        return Loops(nodes, starts, weights)

    def __str__(self) -> str:
        if self.shortest == self.longest:
            return f"loop of length {self.shortest}"
        return f"loop of length {self.shortest} to {self.longest}"


def chosen_length(length: int | None, limit: int | None, name: str) -> int | None:
    """Check that at most one of two lengths is given; return it, or None if neither is given."""
    if length is not None and limit is not None:
        raise ValueError(f"length={length} and {name}={limit} are both given; pass one")
    given, called = (limit, name) if length is None else (length, "length")
    return None if given is None else validation.count(given, called, 3)


def cycles_of_length(ground: Ground, length: int, meter: Meter) -> tuple[int, Table]:
    """Return the sampler for cycles of one length: a table of all such cycles, or random paths."""
    if length > ground.longest_cycle:
        raise ValueError(
            f"{ground} has no cycle of length {length}; use at most {ground.longest_cycle}"
        )
    if length % 2 and ground.is_bipartite:
        raise ValueError(f"{ground} has no cycle of length {length}; use an even length")
    if ground.graph is None:
        return PATH, NO_TABLE
    starts, neighbours, _, _ = ground.graph.core_rows
    table, is_complete = cycles.list_cycles(
        starts, neighbours, length, _MOST_LISTED, _MOST_STEPS, meter
    )
    refuse_spent(meter)
    if is_complete and not len(table):
        raise ValueError(f"{ground} has no cycle of length {length}; use another length")
    return (TABLE if is_complete else PATH), table
