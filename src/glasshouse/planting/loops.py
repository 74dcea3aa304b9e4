"""Frustrated loops: the parts of a plant, and the proof of its ground state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.certificates.exact_sums import summed
from glasshouse.certificates.flat_cycles import NodeArray, checked_cycles, edges_of_cycles
from glasshouse.planting.kernels import sums
from glasshouse.problems import IntArray, Ising, validation
from glasshouse.summaries import Summarised


class Loop(NamedTuple):
    """One loop: its nodes in order, and the weight of the edge that leaves each node."""

    nodes: NodeArray
    weights: IntArray

    def __repr__(self) -> str:
        low, high = self.weights.min(), self.weights.max()
        return f"Loop({len(self.nodes)} nodes, weights {low} to {high})"


@dataclass(frozen=True, eq=False, repr=False)
class Loops(Summarised):
    """Any number of frustrated loops in flat arrays; their weights are in the planted gauge.

    Loop k visits `nodes[starts[k]:starts[k+1]]`, each once, and returns to its first node.
    `weights[i]` belongs to the edge from `nodes[i]` to the next node of its loop. The last edge of
    a loop, back to its first node, is the negative one: it weighs -b ≤ 0 and every other edge at
    least b, so that all spins up is a ground state of the loop (paper, "Frustrated Loop" and
    "Tunable Frustration"; a loop atom is (w, w, w, -αw) with α ≤ 1).

    A node is a spin of the Ising form (visible spins first). In a problem of s spins, node s is
    the ghost spin that carries the fields.

    Attributes:
        nodes: int32, the nodes of all loops, concatenated.
        starts: int64, the start of each loop, followed by the end of the last loop.
        weights: int64, one for each node.

    >>> loops = Loops.of_length([[2, 0, 3, 1]], positive=4, negative=-3)
    >>> loops
    Loops(1 loop of length 4, weights -3 to 4)
    >>> loops.sum(4).weights
    array([ 4,  4, -3,  4])
    >>> loops.num_loops, loops.lengths, loops.frustration
    (1, array([4]), Fraction(1, 5))
    >>> loops.positive_weights, loops.negative_weights
    (array([4, 4, 4]), array([-3]))
    >>> edges, weights = loops.edge_sums(4)
    >>> edges.tolist(), weights.tolist()
    ([[0, 2], [0, 3], [1, 2], [1, 3]], [4, 4, -3, 4])
    >>> Loops.from_cycles([[0, 1, 2], [0, 1, 2, 3]], positive=2, negatives=[-1, -2])
    Loops(2 loops of lengths 3 to 4, weights -2 to 2)
    """

    nodes: NodeArray
    starts: IntArray
    weights: IntArray

    def __post_init__(self) -> None:
        nodes, starts = checked_cycles(self.nodes, self.starts)
        weights = validation.weights(self.weights, "weights")
        if weights.dtype != np.int64:
            raise ValueError(f"loop weights must be integers, not {weights.dtype}")
        if len(weights) != len(nodes):
            raise ValueError(f"{len(nodes)} nodes need {len(nodes)} weights, not {len(weights)}")
        bad = sums.find_bad_weights(starts, weights) if len(weights) else -1
        if bad >= 0:
            raise ValueError(
                f"loop {bad} has the weights {weights[starts[bad] : starts[bad + 1]].tolist()}; "
                "the last must be at most 0, the others positive and no smaller in magnitude"
            )
        validation.total_magnitude([weights], 0, "all loops")
        for name, value in {"nodes": nodes, "starts": starts, "weights": weights}.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of_length(cls, nodes: npt.ArrayLike, *, positive: int, negative: int) -> Loops:
        """Return one loop for each row of nodes; all loops have the same two weights."""
        table = np.asarray(nodes)
        if table.ndim != 2:
            raise ValueError(f"pass one row per loop, not an array of shape {table.shape}")
        weights = np.full(table.shape, _weight(positive), dtype=np.int64)
        weights[:, -1:] = _weight(negative)
        return cls.of_rows(table, weights)

    @classmethod
    def of_rows(cls, nodes: NodeArray, weights: IntArray) -> Loops:
        """Return one loop for each row of `nodes`, with the weights in the same row of `weights`.

        >>> Loops.of_rows(np.array([[2, 0, 3, 1]]), np.array([[4, 5, 4, -3]]))
        Loops(1 loop of length 4, weights -3 to 5)
        """
        count, length = nodes.shape
        starts = np.arange(count + 1, dtype=np.int64) * length
        return cls(nodes.reshape(-1), starts, weights.reshape(-1))

    @classmethod
    def from_cycles(
        cls, cycles: Sequence[Sequence[int]], *, positive: int, negatives: Sequence[int]
    ) -> Loops:
        """Return loops of any lengths, with one `positive` weight, and a negative one per loop."""
        if len(cycles) != len(negatives):
            raise ValueError(f"pass {len(cycles)} negatives, one per cycle, not {len(negatives)}")
        starts = np.zeros(len(cycles) + 1, dtype=np.int64)
        np.cumsum([len(cycle) for cycle in cycles], out=starts[1:])
        nodes = np.array([node for cycle in cycles for node in cycle])
        weights = np.full(len(nodes), _weight(positive), dtype=np.int64)
        weights[starts[1:] - 1] = [_weight(negative) for negative in negatives]
        return cls(nodes, starts, weights)

    @property
    def num_loops(self) -> int:
        """The number of loops, called N in the paper."""
        return len(self.starts) - 1

    @property
    def frustration(self) -> Fraction:
        """The fraction of the total weight that is negative; if loops are alike, each loop's f."""
        total = int(np.abs(self.weights).sum())
        return Fraction(-int(self.negative_weights.sum()), max(total, 1))

    @property
    def lengths(self) -> IntArray:
        """The number of edges in each loop."""
        return np.diff(self.starts)

    @property
    def negative_weights(self) -> IntArray:
        """The weight of each loop's last edge, which is at most zero."""
        return self.weights[self.starts[1:] - 1]

    @property
    def positive_weights(self) -> IntArray:
        """The weights of all edges except each loop's last edge, loop by loop."""
        is_positive = np.ones(len(self.weights), dtype=bool)
        is_positive[self.starts[1:] - 1] = False
        return self.weights[is_positive]

    def sum(self, num_spins: int) -> Ising:
        """Return the sum of all loops as a problem in the planted gauge: all spins up is optimal.

        Args:
            num_spins: spins of the problem; edges to node `num_spins` become fields.
        """
        return ising_of_edges(num_spins, *self.edge_sums(num_spins))

    def edge_sums(self, num_spins: int) -> tuple[NodeArray, IntArray]:
        """Return the sum of all loops: sorted edges i < j, including the ghost's, and weights."""
        size = validation.size(num_spins, "num_spins")
        if len(self.nodes) and int(self.nodes.max()) > size:
            raise ValueError(
                f"a loop visits node {self.nodes.max()}, but the spins are nodes 0 to {size - 1}, "
                f"and the ghost is node {size}"
            )
        return summed(edges_of_cycles(self.nodes, self.starts), self.weights, size + 1)

    def __len__(self) -> int:
        return self.num_loops

    def __getitem__(self, index: int) -> Loop:
        """Return loop number `index`; negative numbers count from the end."""
        k = range(self.num_loops)[index]
        part = slice(self.starts[k], self.starts[k + 1])
        return Loop(self.nodes[part], self.weights[part])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Loops):
            return NotImplemented
        return (
            np.array_equal(self.nodes, other.nodes)
            and np.array_equal(self.starts, other.starts)
            and np.array_equal(self.weights, other.weights)
        )

    def __hash__(self) -> int:
        return hash((self.nodes.tobytes(), self.starts.tobytes(), self.weights.tobytes()))

    def __repr__(self) -> str:
        if not self.num_loops:
            return "Loops(no loops)"
        least, most = int(self.lengths.min()), int(self.lengths.max())
        loops = "1 loop" if self.num_loops == 1 else f"{self.num_loops} loops"
        length = f"length {least}" if least == most else f"lengths {least} to {most}"
        return f"Loops({loops} of {length}, weights {self.weights.min()} to {self.weights.max()})"


def ising_of_edges(num_spins: int, edges: NodeArray, weights: IntArray, offset: int = 0) -> Ising:
    """Return an Ising problem with the given edges and weights, which become read-only.

    Edges to node `num_spins`, the ghost, become fields.
    """
    is_field = edges[:, 1] == num_spins
    fields = np.zeros(num_spins, dtype=np.int64)
    if is_field.any():
        fields[edges[is_field, 0]] = weights[is_field]
        edges, weights = edges[~is_field], weights[~is_field]
    for array in (edges, weights, fields):
        array.setflags(write=False)  # a problem keeps arrays without a copy if they cannot change
    return Ising(num_spins, edges, weights, fields, offset)


def _weight(value: int) -> int:
    """Check one weight of a loop; raise if it does not fit int64."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_whole or abs(int(value)) > validation.INT64_MAX:
        raise ValueError(f"a loop's weight must be an integer below 2^63 in magnitude, not {value}")
    return int(value)


NO_LOOPS = Loops.of_length(np.empty((0, 3), dtype=np.int32), positive=1, negative=-1)


def decompose_loop(nodes: Sequence[int], *, weight: int = 1) -> Loops:
    """Write a frustrated loop of length 2l as the sum of l-1 loop atoms (paper, "Loop Atom").

    The loop i1-j1-…-il-jl-i1 weighs +w on every edge except the last, from jl back to i1, which
    weighs -w. Atom k is i1-jk-i(k+1)-j(k+1)-i1; the edge from i1 to jk, which it shares with the
    atom before, cancels.

    Args:
        nodes: the loop, alternating between the two layers; its negative edge goes from the last
            node to the first.
        weight: w.

    >>> atoms = decompose_loop([0, 3, 1, 4, 2, 5])
    >>> [atom.nodes.tolist() for atom in atoms]
    [[0, 3, 1, 4], [0, 4, 2, 5]]
    >>> atoms.sum(6) == Loops.of_length([[0, 3, 1, 4, 2, 5]], positive=1, negative=-1).sum(6)
    True
    """
    cycle = checked_cycles(nodes, [0, len(nodes)])[0]
    if len(cycle) < 4 or len(cycle) % 2:
        raise ValueError(
            f"a loop of length {len(cycle)} cannot be split into atoms, which have length 4; use "
            "an even length of at least 4"
        )
    validation.count(weight, "weight", 1)
    atoms = [[cycle[0], *cycle[k : k + 3]] for k in range(1, len(cycle) - 2, 2)]
    return Loops.of_length(np.array(atoms), positive=weight, negative=-weight)
