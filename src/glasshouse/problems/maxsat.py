"""The weighted MaxSAT problem: soft and hard clauses of any length."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems import exact, naming, validation
from glasshouse.problems.clauses import Clauses, falsity
from glasshouse.problems.expansion import MOST_PARTS, joined, to_pairs
from glasshouse.problems.max2sat import Max2Sat, WeightedClauses, soft_weights
from glasshouse.problems.monomials import merged
from glasshouse.problems.naming import Labels, Names
from glasshouse.problems.polynomial import Polynomial
from glasshouse.problems.qubo import Qubo
from glasshouse.problems.reduction import Reduction, Space, same_state
from glasshouse.problems.validation import IntArray, Number, WeightArray


@dataclass(frozen=True, eq=False, repr=False, init=False)
class MaxSat(WeightedClauses):
    """Weighted MaxSAT: minimise the falsified soft weight, and satisfy all hard clauses.

    Literals are DIMACS integers: +k is variable k (from 1), -k its negation. Clauses stay as they
    were given, in their order, including repeated literals and tautologies; no assignment
    satisfies an empty one. With at most two literals in each, `to_max2sat` gives a `Max2Sat`.

    Attributes:
        num_variables: the number of variables.
        soft: the soft clauses: lists of literals, or a table with one clause per row; both are
            stored as flat arrays, `Clauses(literals, starts)`.
        weights: the weight of each soft clause, at least 0.
        hard: the clauses that must hold, in the same form as `soft`.
        labels: the variables' external names; None for the numbers from 0.
        hard_weight: the cost of violating one hard clause: more than all soft clauses together.

    >>> problem = MaxSat(3, [[1, 2, 3], [-1], [-2], [-3]], [5, 3, 2, 4], hard=[[1, -2]])
    >>> problem
    MaxSat(3 variables, 4 clauses, 1 hard clauses, at most 3 literals, integer weights 2 to 5)
    >>> problem.cost([[1, 0, 0], [0, 0, 0], [0, 1, 0]]).tolist(), problem.broken([0, 1, 0])
    ([3, 5, 17], 1)
    >>> problem.literals.tolist(), problem.starts.tolist(), problem.hard_literals.tolist()
    ([1, 2, 3, -1, -2, -3], [0, 3, 4, 5, 6], [1, -2])
    >>> problem == MaxSat(3, problem.soft, problem.weights, problem.hard), problem.longest
    (True, 3)
    >>> problem.num_clauses, problem.num_hard, problem.num_edges, problem.clause_density
    (4, 1, 5, 1.6666666666666667)
    >>> problem.hard_weight, problem.hard_starts.tolist(), problem.is_integer, problem.offset
    (15, [0, 2], True, 0)
    >>> problem.energy([1, 0, 0]), problem.space.low
    (3, 0)
    """

    num_variables: int
    soft: Clauses
    weights: WeightArray
    hard: Clauses
    labels: Labels | None
    total_weight: Number = field(init=False)

    def __init__(
        self,
        num_variables: int,
        soft: Any,
        weights: npt.ArrayLike,
        hard: Any = (),
        labels: Names | None = None,
    ) -> None:
        size = validation.size(num_variables, "num_variables")
        clauses = Clauses.of(soft).checked(size, "clauses")
        kept, total = soft_weights(weights, len(clauses.starts) - 1)
        values = {
            "num_variables": size, "soft": clauses, "weights": kept, "total_weight": total,
            "hard": Clauses.of(hard, "hard").checked(size, "hard"),
            "labels": naming.check(labels, size),
        }  # fmt: skip
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def literals(self) -> npt.NDArray[np.int32]:
        """The literals of all soft clauses, concatenated."""
        return self.soft.literals

    @property
    def starts(self) -> IntArray:
        """The start of each soft clause, and the end of the last one."""
        return self.soft.starts

    @property
    def hard_literals(self) -> npt.NDArray[np.int32]:
        """The literals of all hard clauses, concatenated."""
        return self.hard.literals

    @property
    def hard_starts(self) -> IntArray:
        """The start of each hard clause, and the end of the last one."""
        return self.hard.starts

    @property
    def num_hard(self) -> int:
        """The number of hard clauses."""
        return len(self.hard.starts) - 1

    @property
    def num_edges(self) -> int:
        """The number of clauses, including hard ones: they are the edges of a hypergraph."""
        return self.num_clauses + self.num_hard

    @property
    def longest(self) -> int:
        """The largest number of literals in a clause."""
        return max(self.soft.longest, self.hard.longest)

    @property
    def space(self) -> Space:
        """The space of the problem's assignments."""
        return Space("MaxSAT", self.num_variables, 0)

    def _soft_cost(self, bits: npt.NDArray[np.int8]) -> npt.NDArray[Any]:
        return self.soft.falsified(bits, self.weights)

    def _broken(self, bits: npt.NDArray[np.int8]) -> npt.NDArray[Any]:
        return self.hard.falsified(bits, np.ones(self.num_hard, dtype=np.int64))

    def simplified(self) -> MaxSat:
        """Return a problem with the same costs but no redundant clauses.

        A clause has each literal once, `x ∨ ¬x` is dropped, equal clauses are merged, zero weights
        dropped. Clauses come out by length, then in ascending order of their literals.

        >>> MaxSat(3, [[3, 1, 3], [1, 2, -1], [1, 3], []], [2, 7, 1, 4]).simplified().soft.lists()
        [[], [1, 3]]
        """
        soft, weights = _merged(self.soft, self.weights)
        hard, _ = _merged(self.hard, np.ones(self.num_hard, dtype=np.int64))
        return MaxSat(self.num_variables, soft, weights, hard, self.labels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MaxSat):
            return NotImplemented
        mine: list[Any] = [*self.soft, *self.hard]
        theirs: list[Any] = [*other.soft, *other.hard]
        return (
            self.num_variables == other.num_variables
            and self.is_integer == other.is_integer
            and all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True))
            and np.array_equal(self.weights, other.weights)
            and self.labels == other.labels
        )

    def __hash__(self) -> int:
        return hash((self.num_variables, *(array.tobytes() for array in (*self.soft, *self.hard))))

    def __repr__(self) -> str:
        most = f"at most {self.longest} literals"
        return f"MaxSat({self._size()}, {most}, {validation.describe(self.weights)})"


def _merged(clauses: Clauses, weights: WeightArray) -> tuple[Clauses, Any]:
    sums: Any
    held, sums, constant = merged(clauses.products, weights, spins=False)
    # Codes ascend in each product, so x is next to ¬x.
    codes = held.indices
    opposite = (codes[1:] == codes[:-1] + 1) & (codes[:-1] % 2 == 0)
    opposite &= held.rows[1:] == held.rows[:-1]
    kept = np.ones(len(sums), dtype=np.bool_)
    kept[held.rows[1:][opposite]] = False
    held, sums = held.chosen(np.flatnonzero(kept)), sums[kept]
    literals = (held.indices // 2 + 1) * (1 - 2 * (held.indices % 2))
    starts = held.starts
    if constant:  # the empty clause
        starts, sums = np.append(0, starts), np.append(sums[:0].dtype.type(constant), sums)
    return Clauses(literals.astype(np.int32), starts), sums


def pairs_of_clauses(problem: MaxSat) -> Max2Sat:
    """Convert a MaxSAT problem whose clauses have at most two literals to a `Max2Sat`."""
    soft, hard = (_pairs(clauses) for clauses in (problem.soft, problem.hard))
    return Max2Sat(problem.num_variables, soft, problem.weights, hard, problem.labels)


def _pairs(clauses: Clauses) -> npt.NDArray[np.int32]:
    rows = np.zeros((len(clauses.starts) - 1, 2), dtype=np.int32)
    across = np.arange(len(clauses.literals)) - clauses.starts[clauses.rows]
    rows[clauses.rows, across] = clauses.literals
    return rows


def clauses_of_pairs(problem: Max2Sat) -> MaxSat:
    """Convert a `Max2Sat` to a `MaxSat` with the same clauses."""
    soft, hard = (Clauses.of_pairs(rows) for rows in (problem.clauses, problem.hard))
    return MaxSat(problem.num_variables, soft, problem.weights, hard, problem.labels)


def _all_clauses(problem: MaxSat) -> tuple[Clauses, Any]:
    """Return soft and hard clauses with their weights, as Python integers if int64 is too small."""
    kind: Any = problem.weights.dtype
    if problem.is_integer and problem.hard_weight > validation.INT64_MAX:
        kind = np.dtype(object)
    weights = np.concatenate(
        [problem.weights, np.full(problem.num_hard, problem.hard_weight, dtype=kind)]
    )
    return Clauses.joined([problem.soft, problem.hard]), weights


def clause_polynomial(problem: MaxSat) -> Polynomial:
    """Return the polynomial in bits whose energy is the cost; k literals become degree k.

    A clause is falsified where all its literals are false, as a product of 1 - x for x and of x for
    ¬x. A hard clause weighs `hard_weight`.

    >>> clause_polynomial(MaxSat(3, [[1, -2, -3]], [5])).terms()
    {(1, 2): 5, (0, 1, 2): -5}
    """
    clauses, weights = _all_clauses(problem)
    # A clause with k positive literals becomes at most 2^k terms.
    positive = np.bincount(clauses.rows[clauses.literals > 0], minlength=len(weights))
    most = int(positive.max(initial=0))
    if most > 40 or int((np.int64(1) << positive).sum()) * max(1, clauses.longest) > MOST_PARTS:
        raise ValueError(
            f"a clause with {most} positive literals becomes 2^{most} terms of a polynomial, which "
            "is too many; convert to a QUBO or an Ising problem, which use ancillas instead"
        )
    if weights.dtype != object:
        (weights,) = exact.room(weights, factor=2 << most)
    rows, sums = [], []
    for places, table in clauses.products.tables():
        negated = table % 2
        table = np.take_along_axis(table, np.argsort(negated, axis=1, kind="stable"), axis=1)
        numbers = table.shape[1] - negated.sum(axis=1)
        for number in np.unique(numbers).tolist():
            (group,) = np.nonzero(numbers == number)
            for mask in range(1 << number):
                kept = [k for k in range(number) if mask >> k & 1]
                sign = -1 if len(kept) % 2 else 1
                rows.append(table[group][:, [*kept, *range(number, table.shape[1])]] // 2)
                sums.append(weights[places[group]] * sign)
    held, values, constant = merged(*joined(rows, sums, weights.dtype), spins=False)
    return Polynomial(
        problem.num_variables, *held, values, constant, problem.labels, "binary"
    )  # fmt: skip


def clause_qubo(problem: MaxSat) -> tuple[Qubo, Reduction]:
    """Return the QUBO whose energy is the cost; a clause of k > 2 literals needs k - 2 ancillas.

    A clause is a product of bits "this literal is false", and these products are reduced to pairs
    before the bits are written as 1 - x or x: nothing is multiplied out.

    >>> qubo, reduction = clause_qubo(MaxSat(4, [[1, 2, 3, 4]], [5]))
    >>> qubo.num_variables, qubo.energy(reduction.forward([[0, 0, 0, 0], [0, 0, 1, 0]])).tolist()
    (6, [5, 0])
    """
    clauses, weights = _all_clauses(problem)
    size = problem.num_variables
    literals = Polynomial.from_flat(2 * size, clauses.products, weights, units="binary")
    quadratic, way = to_pairs(literals)
    assert isinstance(quadratic, Qubo)
    ancillas = quadratic.num_variables - 2 * size
    # Each variable of `quadratic` is constant + slope · x of the QUBO.
    x = np.append(np.arange(2 * size) // 2, size + np.arange(ancillas)).astype(np.int32)
    constant, slope = np.zeros(len(x), dtype=np.int64), np.ones(len(x), dtype=np.int64)
    constant[0 : 2 * size : 2], slope[0 : 2 * size : 2] = 1, -1
    values, singles = exact.room(
        quadratic.weights, quadratic.linear, factor=8, constant=quadratic.offset
    )
    linear = np.zeros(size + ancillas, dtype=values.dtype)
    np.add.at(linear, x, singles * slope)
    first, second = quadratic.edges[:, 0], quadratic.edges[:, 1]
    np.add.at(linear, x[first], values * (slope[first] * constant[second]))
    np.add.at(linear, x[second], values * (constant[first] * slope[second]))
    offset = quadratic.offset + exact.total(singles * constant)
    offset += exact.total(values * (constant[first] * constant[second]))
    products = values * (slope[first] * slope[second])
    same = x[first] == x[second]  # x ∨ ¬x
    np.add.at(linear, x[first][same], products[same])
    edges = np.column_stack([x[first], x[second]])[~same]
    qubo = Qubo.from_edges(
        size + ancillas, edges, products[~same], linear, offset,
        None if ancillas else problem.labels,
    )  # fmt: skip
    if not ancillas:
        return qubo, same_state(problem.space, qubo.space)

    def forward(state: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        known = way.forward(falsity(state))
        return np.concatenate([state, known[..., 2 * size :]], axis=-1)

    return qubo, Reduction(
        problem.space, qubo.space, forward, lambda state: state[..., :size],
        Fraction(1), Fraction(0), bijective=False,
    )  # fmt: skip
