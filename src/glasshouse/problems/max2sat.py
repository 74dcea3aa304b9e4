"""Problems of weighted clauses, and MAX-2-SAT: clauses of at most two literals."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems import exact, naming, validation
from glasshouse.problems.clauses import is_literal
from glasshouse.problems.naming import Labels, Names, State
from glasshouse.problems.qubo import Qubo
from glasshouse.problems.reduction import Space
from glasshouse.problems.validation import Number, WeightArray
from glasshouse.summaries import Summarised

if TYPE_CHECKING:
    import dimod

ClauseArray = npt.NDArray[np.int32]

_CHUNK = 1 << 22


class WeightedClauses(Summarised):
    """Base class of problems with weighted soft clauses and with hard clauses."""

    num_variables: int
    weights: WeightArray
    labels: Labels | None
    total_weight: Number

    @property
    def num_clauses(self) -> int:
        """The number of soft clauses."""
        return len(self.weights)

    @property
    def num_hard(self) -> int:
        """The number of hard clauses."""
        raise NotImplementedError

    def _soft_cost(self, bits: npt.NDArray[np.int8]) -> npt.NDArray[Any]:
        raise NotImplementedError

    def _broken(self, bits: npt.NDArray[np.int8]) -> npt.NDArray[Any]:
        raise NotImplementedError

    @property
    def clause_density(self) -> float:
        """The number of clauses per variable, including hard clauses."""
        return (self.num_clauses + self.num_hard) / max(1, self.num_variables)

    @property
    def hard_weight(self) -> Number:
        """The cost of violating a hard clause: 1 + Σ weights, or 2 Σ weights if they are floats.

        Adding 1 to a large float changes nothing, and next to tiny floats 1 is so much that sums
        lose them. Twice the sum is of their own size, and more than rounding can take away. Floats
        that are all zero leave 1.
        """
        if self.is_integer:
            return self.total_weight + 1
        return 2 * self.total_weight or 1.0

    @property
    def offset(self) -> int:
        """Always 0; a constant cost is represented by an empty clause instead."""
        return 0

    @property
    def is_integer(self) -> bool:
        """Whether weights and costs are exact integers."""
        return bool(self.weights.dtype == np.int64)

    def cost(self, assignment: State) -> Any:
        """Return the weight of falsified soft clauses, plus `hard_weight` per violated hard clause.

        So a cost of at least `hard_weight` means that a hard clause is violated; `broken` returns
        the number of violated hard clauses. One assignment (or a mapping by label) has a number as
        its cost; a batch (last axis = variables) has an array.
        """
        bits = self._bits(assignment)
        cost = self._soft_cost(bits)
        if self.num_hard:
            cost = self._with_broken(cost, np.asarray(self._broken(bits)))
        return cost.item() if np.ndim(cost) == 0 else cost

    def _with_broken(
        self, cost: npt.NDArray[Any], broken: npt.NDArray[np.int64]
    ) -> npt.NDArray[Any]:
        """Return the costs plus `hard_weight` for each violated hard clause."""
        most = int(broken.max(initial=0))
        if not most:
            return cost
        limit = validation.INT64_MAX if self.is_integer else sys.float_info.max
        if most * self.hard_weight + self.total_weight <= limit:
            return np.asarray(cost + broken * self.hard_weight)
        exact = np.empty(cost.shape, dtype=object)
        exact[...] = cost.astype(object) + broken.astype(object) * self.hard_weight
        if exact.max() > limit:
            what = "2^63-1" if self.is_integer else "all floats"
            raise ValueError(
                f"an assignment violates {most} hard clauses of weight {self.hard_weight} each, "
                f"so its cost is above {what}; divide all weights by a common factor"
            )
        return exact.astype(cost.dtype)

    def energy(self, assignment: State) -> Any:
        """Return the cost of an assignment, under the name that all kinds of problem share."""
        return self.cost(assignment)

    def broken(self, assignment: State) -> Any:
        """Return the number of hard clauses that an assignment violates."""
        broken = self._broken(self._bits(assignment))
        return broken.item() if np.ndim(broken) == 0 else broken

    def _bits(self, assignment: State) -> npt.NDArray[np.int8]:
        ordered = naming.in_order(assignment, self.labels, self.num_variables)
        return validation.states(ordered, self.num_variables, (0, 1), "assignment")

    def _size(self) -> str:
        hard = f", {self.num_hard} hard clauses" if self.num_hard else ""
        return f"{self.num_variables} variables, {self.num_clauses} clauses{hard}"


@dataclass(frozen=True, eq=False, repr=False)
class Max2Sat(WeightedClauses):
    """Weighted MAX-2-SAT: minimise the falsified soft weight, and satisfy all hard clauses.

    Literals are DIMACS integers: +k is variable k (from 1), -k its negation. A clause is a row of
    two literals; 0 as the second makes it a unit clause, two zeros an empty clause, which no
    assignment satisfies. Clauses are stored unchanged and in order; `simplified` applies the
    paper's hygiene.

    Attributes:
        num_variables: the number of variables.
        clauses: (k, 2) array of literals of the soft clauses.
        weights: the weight of each soft clause, at least 0.
        hard: (h, 2) array of literals of the clauses that must hold.
        labels: the variables' external names; None for the numbers from 0.
        hard_weight: the cost of breaking one hard clause: more than all soft clauses together.

    >>> problem = Max2Sat.from_clauses(2, [[1, 2], [-1], [-2]], [3, 1, 2])
    >>> problem
    Max2Sat(2 variables, 3 clauses, integer weights 1 to 3)
    >>> problem.cost([[0, 0], [1, 0]])
    array([3, 1])
    >>> problem.energy([1, 0]) == problem.cost([1, 0])
    True
    >>> problem.num_clauses, problem.num_edges, problem.clause_density, problem.is_integer
    (3, 1, 1.5, True)
    >>> problem.edges.tolist(), problem.offset, problem.space.low
    ([[0, 1]], 0, 0)
    >>> strict = Max2Sat.from_clauses(2, [[1], [2]], [3, 4], hard=[[-1, -2]])
    >>> strict.num_hard, strict.hard_weight, strict.broken([1, 1])
    (1, 8, 1)
    >>> problem.to_bqm().energy({0: 1, 1: 0}).item()
    1.0
    """

    num_variables: int
    clauses: ClauseArray
    weights: WeightArray
    hard: ClauseArray = field(default_factory=lambda: np.empty((0, 2), dtype=np.int32))
    labels: Labels | None = None
    total_weight: Number = field(init=False)

    def __post_init__(self) -> None:
        size = validation.size(self.num_variables, "num_variables")
        clauses = _clause_array(self.clauses, size, "clauses")
        hard = _clause_array(self.hard, size, "hard")
        weights, total = soft_weights(self.weights, len(clauses))
        if not hard[:, 0].all():
            raise ValueError("a hard clause is empty, so no assignment satisfies it")
        values = {
            "num_variables": size, "clauses": clauses, "weights": weights, "hard": hard,
            "labels": naming.check(self.labels, size), "total_weight": total,
        }  # fmt: skip
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_clauses(
        cls,
        num_variables: int,
        clauses: list[list[int]],
        weights: npt.ArrayLike,
        hard: list[list[int]] | None = None,
        labels: Names | None = None,
    ) -> Max2Sat:
        """Build a MAX-2-SAT problem from clauses that are lists of one or two literals."""
        soft, must = _padded(clauses, "clauses"), _padded(hard or [], "hard")
        return cls(num_variables, soft, validation.weights(weights, "weights"), must, labels)  # type: ignore[arg-type]

    @property
    def num_hard(self) -> int:
        """The number of hard clauses."""
        return len(self.hard)

    @property
    def space(self) -> Space:
        """The space of the problem's assignments."""
        return Space("MAX-2-SAT", self.num_variables, 0)

    @cached_property
    def edges(self) -> npt.NDArray[np.int32]:
        """A (k, 2) array of the pairs of variables (from 0) that share a clause, each pair once.

        Weights belong to clauses, not to these pairs.
        """
        pairs = np.abs(np.concatenate([self.clauses, self.hard])) - 1
        pairs = np.sort(pairs[(pairs >= 0).all(axis=1) & (pairs[:, 0] != pairs[:, 1])], axis=1)
        return validation.read_only(np.unique(pairs, axis=0))

    @property
    def num_edges(self) -> int:
        """The number of pairs of variables that share a clause."""
        return len(self.edges)

    def _soft_cost(self, bits: npt.NDArray[np.int8]) -> npt.NDArray[Any]:
        return _falsified_weight(bits, self.clauses, self.weights)

    def _broken(self, bits: npt.NDArray[np.int8]) -> npt.NDArray[Any]:
        return _falsified_weight(bits, self.hard, np.ones(self.num_hard, dtype=np.int64))

    def simplified(self) -> Max2Sat:
        """Return a problem with the same costs but no redundant clauses (ERRATA, clause hygiene).

        `x ∨ x` becomes the unit clause x, `x ∨ ¬x` is removed, equal clauses are merged, zero
        weights dropped. Clauses are in ascending order of their literals.

        >>> Max2Sat(3, [[3, 3], [1, -1], [2, 1], [1, 2]], [2, 7, 1, 4]).simplified().clauses
        array([[1, 2], [3, 0]], dtype=int32)
        """
        clauses, weights = _merged(self.clauses, self.weights)
        hard, _ = _merged(self.hard, np.ones(self.num_hard, dtype=np.int64))
        return Max2Sat(self.num_variables, clauses, weights, hard, self.labels)

    def to_bqm(self) -> dimod.BinaryQuadraticModel:
        """Return a dimod model of vartype BINARY whose energies are the costs."""
        return cost_as_qubo(self).to_bqm()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Max2Sat):
            return NotImplemented
        return (
            self.num_variables == other.num_variables
            and self.is_integer == other.is_integer
            and np.array_equal(self.clauses, other.clauses)
            and np.array_equal(self.weights, other.weights)
            and np.array_equal(self.hard, other.hard)
            and self.labels == other.labels
        )

    def __hash__(self) -> int:
        return hash((self.num_variables, self.clauses.tobytes(), self.hard.tobytes()))

    def __repr__(self) -> str:
        return f"Max2Sat({self._size()}, {validation.describe(self.weights)})"


def soft_weights(values: npt.ArrayLike, count: int) -> tuple[WeightArray, Number]:
    """Check the weights of `count` soft clauses; return the weights and their sum."""
    weights = validation.weights(values, "weights")
    if len(weights) != count:
        raise ValueError(f"{count} clauses but {len(weights)} weights; pass one weight per clause")
    if (weights < 0).any():
        k = int(np.flatnonzero(weights < 0)[0])
        raise ValueError(
            f"clause {k} has weight {weights[k]}; weights must not be negative; to prefer "
            "a false literal, use its negation"
        )
    return weights, validation.total_magnitude([weights], 0, "the soft weights")


def _clause_array(clauses: npt.ArrayLike, size: int, name: str) -> ClauseArray:
    array = np.asarray(clauses)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int32)
    if array.dtype.kind not in "iu" or array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            f"{name} must be a (k, 2) array of literals, not {array.dtype} of shape {array.shape}; "
            "use from_clauses for lists of one or two literals"
        )
    highest = max(-int(array.min()), int(array.max()))
    if highest > size:
        raise ValueError(f"{name}: there are {size} variables, but variable {highest} is used")
    if ((array[:, 0] == 0) & (array[:, 1] != 0)).any():
        raise ValueError(f"a unit clause in {name} must have its literal first")
    return validation.read_only(array.astype(np.int32, copy=False))


def _padded(clauses: list[list[int]], name: str) -> npt.NDArray[np.int64]:
    array = np.zeros((len(clauses), 2), dtype=np.int64)
    for k, clause in enumerate(clauses):
        if not 1 <= len(clause) <= 2 or not all(is_literal(literal) for literal in clause):
            raise ValueError(f"{name}[{k}] = {clause} is not a list of one or two literals")
        array[k, : len(clause)] = clause
    return array


def _falsified_weight(
    bits: npt.NDArray[np.int8], clauses: ClauseArray, weights: WeightArray
) -> npt.NDArray[Any]:
    """Return the weight of the clauses whose literals are all false."""
    rows = validation.rows(bits).astype(bool)
    # Column 0 means "no literal": it is always false.
    rows = np.concatenate([np.zeros((len(rows), 1), dtype=bool), rows], axis=1)
    variables, negated = np.abs(clauses), clauses < 0
    totals = np.zeros(len(rows), dtype=weights.dtype)
    step = max(1, _CHUNK // max(1, len(clauses)))
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        true = (block[:, variables[:, 0]] ^ negated[:, 0]) | (
            block[:, variables[:, 1]] ^ negated[:, 1]
        )
        totals[start : start + step] = ~true @ weights
    return totals.reshape(bits.shape[:-1])


def _merged(clauses: ClauseArray, weights: WeightArray) -> tuple[ClauseArray, WeightArray]:
    first, second = clauses[:, 0].astype(np.int64), clauses[:, 1].astype(np.int64)
    second = np.where(second == first, 0, second)
    swap = (second != 0) & (np.abs(second) < np.abs(first))
    first, second = np.where(swap, second, first), np.where(swap, first, second)
    kept = ((first != -second) | (first == 0)) & (weights != 0)
    first, second, weights = first[kept], second[kept], weights[kept]
    # Variables ascending, a positive literal before its negation: 1, -1, 2, -2, …
    order = np.lexsort((_rank(second), _rank(first)))
    first, second, weights = first[order], second[order], weights[order]
    if not len(first):
        return np.empty((0, 2), dtype=np.int32), weights
    new = np.r_[True, (np.diff(first) != 0) | (np.diff(second) != 0)]
    starts = np.flatnonzero(new)
    merged = np.column_stack([first[starts], second[starts]]).astype(np.int32)
    return merged, np.add.reduceat(weights, starts)


def _rank(literals: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return 2 * np.abs(literals) + (literals < 0)


def cost_as_qubo(problem: Max2Sat) -> Qubo:
    """Return the QUBO whose energy is the cost; hard clauses have the weight `hard_weight`.

    A clause is falsified when both its literals are false; a literal is false as c + d·x, with
    (c, d) = (1, -1) for x and (0, 1) for ¬x. Multiplying out gives constant, linear and pair terms.
    """
    clauses, weights = with_hard_clauses(problem)
    (c1, d1, x1), (c2, d2, x2) = _falsity(clauses[:, 0]), _falsity(clauses[:, 1])
    linear = np.zeros(problem.num_variables + 1, dtype=weights.dtype)
    np.add.at(linear, x1, weights * (d1 * c2))
    np.add.at(linear, x2, weights * (c1 * d2))
    same_variable = (x1 == x2) & (x1 > 0)
    np.add.at(linear, x1[same_variable], (weights * (d1 * d2))[same_variable])  # x·x = x
    pair = (d1 * d2 != 0) & ~same_variable
    edges = np.column_stack([x1[pair], x2[pair]]) - 1
    offset = exact.total(weights * (c1 * c2))
    return Qubo.from_edges(
        problem.num_variables, edges, (weights * (d1 * d2))[pair], linear[1:], offset,
        problem.labels,
    )  # fmt: skip


def _falsity(literals: npt.NDArray[np.int32]) -> tuple[Any, Any, Any]:
    """Return c, d and the variable x of each literal: c + d·x is 1 if the literal is false."""
    constant = np.where(literals < 0, 0, 1)
    return constant, -np.sign(literals).astype(np.int64), np.abs(literals)


def with_hard_clauses(problem: Max2Sat) -> tuple[npt.NDArray[np.int32], Any]:
    """Return all clauses with their weights; use Python integers if sums could overflow."""
    penalty = problem.hard_weight
    kind = (
        object if problem.is_integer and penalty > validation.INT64_MAX else problem.weights.dtype
    )
    hard = np.full(problem.num_hard, penalty, dtype=kind)
    weights = np.concatenate([problem.weights, hard])
    if weights.dtype != object:
        (weights,) = exact.room(weights, factor=4)  # x ∨ x adds three times its weight to x
    return np.concatenate([problem.clauses, problem.hard]), weights
