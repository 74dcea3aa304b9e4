"""Certificates: a state, with loops and squares that bound all energies from below.

Plants, linear programs and the checkers share one definition. In the gauge of the state, a loop of
length L with multiplier μ means +μ on all its edges except the last, and -μ on the last, which the
state violates. The minimum of the loop is -μ(L-2). A square c·(a·s)² is never below c·g²·[Σ a_i/g
odd] (see `squares`). With R = problem minus all loops and squares, edge by edge,

    E(any state) ≥ B = -Σ μ(L-2) + Σ c·(g²·[odd] - Σ a_i²) - Σ |R_e| + offset.

If B equals the energy of the state, the state is optimal. It is also optimal if the difference is
smaller than the least difference of two energies. `verdict` computes all of this.

Vertices may also be products of spins (see `products`): then an edge is the product of its two
vertices, and R is summed term by term.

Loops and squares may also belong to the leaves of a search tree, which partition all states (see
`tree`); then the bound is the least B of all leaves.

Costs of clauses can be bounded by frustrated cores instead (see `cores`): decision trees whose
leaves are falsified clauses.

If a state is not proven optimal, it may violate three or more edges of the best known loops. These
loops still bound all energies: the minimum of a loop depends only on the parity of its negative
edges.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates.cores import NO_CORES, Cores
from glasshouse.certificates.exact_sums import positive_numbers
from glasshouse.certificates.flat_cycles import NodeArray, checked_cycles
from glasshouse.certificates.products import NO_MONOMIALS, checked_table
from glasshouse.certificates.squares import NO_SQUARES, Squares
from glasshouse.certificates.tree import Tree
from glasshouse.problems import IntArray, SpinArray, validation
from glasshouse.problems.monomials import Monomials
from glasshouse.summaries import Summarised


class CertificateError(ValueError):
    """Raised if a certificate is invalid, does not fit its problem, or refutes a file's statement.

    >>> from glasshouse.problems import Ising
    >>> from glasshouse.certificates import verify
    >>> try:
    ...     verify(Ising.from_edges(2, [(0, 1)], [1]), Certificate.of_squares([1], Squares.of([])))
    ... except CertificateError as error:
    ...     print(error)
    the certificate is for 1 variables, but the problem has 2
    """


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Summarised):
    """A certificate: a state, and loops and squares whose multipliers share one denominator.

    Loops and squares may use edges that the problem lacks because weights cancelled there. They may
    also use the ghost spin (the node after the last spin), whose edges are the fields.

    Attributes:
        state: the spins s.
        nodes: the nodes of all loops, concatenated; the state violates the edge of each loop from
            its last node to its first.
        starts: the index at which each loop begins, and the end of the last loop.
        multipliers: μ > 0 of each loop, in units of 1/denominator: int64, or Python integers if
            one exceeds int64.
        denominator: 1 for planted loops; linear programs need other denominators.
        violated: a mask of the edges (from a node to the next of its loop) that the state violates,
            an odd number in each loop, including its last edge; None if only the last edges are.
        squares: the squares, over the same denominator.
        tree: divides the states into leaves, each with its own loops and squares; None if one leaf
            has all of them.
        monomials: products of spins that are vertices, too: the nodes after the ghost. An edge
            stands for the product of its two nodes, so a loop is any even cover.
        cores: cores of clauses, over the same denominator, instead of all other parts.

    >>> Certificate([1, 1, 1, 1], [0, 1, 2, 3], [0, 4], [3])
    Certificate(4 spins, 1 loop)
    >>> Certificate.of_squares([1, 1], Squares.of([[(0, 1), (1, -1)]]))
    Certificate(2 spins, 1 square)
    >>> proof = Certificate([1, 1, 1, 1], [0, 1, 2, 3], [0, 4], [3])
    >>> proof.num_loops, proof.num_squares, proof.num_leaves, proof.num_monomials, proof.num_cores
    (1, 0, 1, 0, 0)
    >>> proof.parts
    '1 loop'
    >>> proof.negative_edges
    array([False, False, False,  True])
    """

    state: SpinArray
    nodes: NodeArray
    starts: IntArray
    multipliers: npt.NDArray[Any]
    denominator: int = 1
    violated: npt.NDArray[np.bool_] | None = None
    squares: Squares = NO_SQUARES
    tree: Tree | None = None
    monomials: Monomials = NO_MONOMIALS
    cores: Cores = NO_CORES

    def __post_init__(self) -> None:
        state = validation.states(self.state, np.size(self.state), (-1, 1), "state")
        nodes, starts = checked_cycles(self.nodes, self.starts)
        multipliers = positive_numbers(self.multipliers, len(starts) - 1, "loop")
        if not isinstance(self.squares, Squares):
            raise ValueError(f"squares must be Squares, not {type(self.squares).__name__}")
        _check_tree(self.tree, len(multipliers), self.squares.num_squares)
        if not isinstance(self.cores, Cores):
            raise ValueError(f"cores must be Cores, not {type(self.cores).__name__}")
        if self.num_cores and (
            len(multipliers) or self.squares or self.tree or self.monomials.indices.size
        ):
            raise ValueError("cores cannot be combined with loops, squares, trees or monomials")
        values = {
            "state": validation.read_only(state), "nodes": nodes, "starts": starts,
            "multipliers": multipliers,
            "denominator": validation.count(self.denominator, "denominator", 1),
            "violated": _checked_violated(self.violated, starts),
        }  # fmt: skip
        if self.monomials is not NO_MONOMIALS:
            values["monomials"] = checked_table(self.monomials, len(state))
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of_squares(
        cls, state: npt.ArrayLike, squares: Squares, denominator: int = 1
    ) -> Certificate:
        """Return a certificate that consists of a state and squares, without loops."""
        none: Any = np.empty(0, dtype=np.int64)
        return cls(np.asarray(state), none, np.zeros(1, np.int64), none, denominator, None, squares)

    @classmethod
    def of_cores(cls, state: npt.ArrayLike, cores: Cores, denominator: int = 1) -> Certificate:
        """Return a certificate that consists of a state and frustrated cores.

        >>> Certificate.of_cores([1], Cores.of([(2, [1, -1, -2])]))
        Certificate(1 spins, 1 core)
        """
        return replace(cls.of_squares(state, NO_SQUARES, denominator), cores=cores)

    @property
    def num_loops(self) -> int:
        """The number of loops in the proof."""
        return len(self.multipliers)

    @property
    def num_squares(self) -> int:
        """The number of squares in the proof."""
        return self.squares.num_squares

    @property
    def num_monomials(self) -> int:
        """The number of vertices that are products of spins."""
        return len(self.monomials.starts) - 1

    @property
    def num_cores(self) -> int:
        """The number of cores."""
        return len(self.cores.costs)

    @property
    def parts(self) -> str:
        """The numbers of all parts as text, such as "8 loops" or "3 loops and 2 squares"."""
        if self.num_cores:
            return f"{self.num_cores} core{'s' * (self.num_cores != 1)}"
        covers, orders = (self.tree.num_covers, self.tree.num_orders) if self.tree else (0, 0)
        return counted_parts(self.num_loops, self.num_squares, self.num_leaves, covers, orders)

    @property
    def num_leaves(self) -> int:
        """The number of leaves of the tree; 1 if there is no tree."""
        return 1 if self.tree is None else self.tree.num_leaves

    @property
    def negative_edges(self) -> npt.NDArray[np.bool_]:
        """The mask of the violated edges, which are negative in the gauge of the state."""
        if self.violated is not None:
            return self.violated
        last = np.zeros(len(self.nodes), dtype=bool)
        last[self.starts[1:] - 1] = True
        return last

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Certificate):
            return NotImplemented
        return (
            self.denominator == other.denominator
            and np.array_equal(self.state, other.state)
            and np.array_equal(self.nodes, other.nodes)
            and np.array_equal(self.starts, other.starts)
            and np.array_equal(self.multipliers, other.multipliers)
            and np.array_equal(self.negative_edges, other.negative_edges)
            and self.squares == other.squares
            and self.tree == other.tree
            and np.array_equal(self.monomials.indices, other.monomials.indices)
            and np.array_equal(self.monomials.starts, other.monomials.starts)
            and self.cores == other.cores
        )

    def __hash__(self) -> int:
        multipliers = tuple(self.multipliers.tolist())
        return hash((self.denominator, self.nodes.tobytes(), multipliers, self.cores))

    def __repr__(self) -> str:
        over = f", over {validation.shown(self.denominator)}" if self.denominator > 1 else ""
        return f"Certificate({len(self.state)} spins, {self.parts}{over})"


def counted_parts(
    loops: int, squares: int, leaves: int = 1, covers: int = 0, orders: int = 0
) -> str:
    """Return counts of parts and leaves as text, such as "1 loop in 2 leaves".

    >>> counted_parts(3, 0), counted_parts(0, 1), counted_parts(2, 2)
    ('3 loops', '1 square', '2 loops and 2 squares')
    >>> counted_parts(9, 0, 4)
    '9 loops in 4 leaves'
    >>> counted_parts(0, 0, 1, 1), counted_parts(2, 0, 3, 0, 2)
    ('1 cover', '2 loops and 2 elimination orders in 3 leaves')
    """
    counts = {"loop": loops, "square": squares, "cover": covers, "elimination order": orders}
    said = squares or covers or orders
    kept = {what: n for what, n in counts.items() if n or (what == "loop" and not said)}
    words = " and ".join(f"{n} {what}{'s' * (n != 1)}" for what, n in kept.items())
    return words if leaves == 1 else f"{words} in {leaves} leaves"


def _check_tree(tree: Tree | None, loops: int, squares: int) -> None:
    """Raise unless the leaves of a tree have as many loops and squares as the certificate."""
    if tree is None:
        return
    if not isinstance(tree, Tree):
        raise ValueError(f"tree must be a Tree, not {type(tree).__name__}")
    if (tree.num_loops, tree.num_squares) != (loops, squares):
        raise ValueError(
            f"the leaves of the tree have {counted_parts(tree.num_loops, tree.num_squares)}, but "
            f"the certificate has {counted_parts(loops, squares)}"
        )


def _checked_violated(
    values: npt.ArrayLike | None, starts: IntArray
) -> npt.NDArray[np.bool_] | None:
    """Check and return a mask of violated edges, or None if it marks only each loop's last edge."""
    if values is None:
        return None
    mask = np.asarray(values)
    if mask.dtype != np.bool_ or mask.shape != (int(starts[-1]),):
        raise ValueError(f"violated must be {int(starts[-1])} booleans, one for each node")
    if not len(mask):
        return None
    counts = np.add.reduceat(mask.astype(np.int64), starts[:-1])
    wrong = np.flatnonzero((counts % 2 == 0) | ~mask[starts[1:] - 1])
    if len(wrong):
        raise ValueError(
            f"loop {wrong[0]} marks {counts[wrong[0]]} edges as violated; it must mark an odd "
            "number of edges, including the last"
        )
    return validation.read_only(mask) if counts.max() > 1 else None
