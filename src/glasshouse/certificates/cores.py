"""Frustrated cores: decision trees over clauses; each proves a cost that all assignments pay.

An inner node of a tree branches on a variable. A leaf lists soft clauses that its path falsifies,
with amounts that add up to at least the core's cost, or one hard clause that its path falsifies.
Every assignment reaches one leaf, so it pays at least the core's cost. A core charges each soft
clause the largest amount among its leaves. Cores whose charges fit into the weights of all clauses
are paid for separately, so their costs add up to a lower bound.

A tree is a row of integers in prefix order. A branch is a variable v > 0, followed by the subtree
in which v is false and the subtree in which v is true. A leaf is -k if clause k pays the whole
cost, or 0 c k1 a1 … kc ac if c clauses k1 < k2 < … pay these amounts. Variables and clauses count
from 1, soft clauses first.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates.core_kernels import FAULTS, FINE, check_cores
from glasshouse.certificates.exact_form import gcd_of, whole
from glasshouse.certificates.exact_sums import ROOM, positive_numbers
from glasshouse.problems import IntArray, Max2Sat, MaxSat, validation
from glasshouse.summaries import Summarised


@dataclass(frozen=True, eq=False, repr=False)
class Cores(Summarised):
    """Frustrated cores: their decision trees, concatenated, and their costs.

    Attributes:
        tokens: the rows of all trees, concatenated.
        starts: the index at which each row begins, and the end of the last row.
        costs: the least cost of each core, above 0, in units of 1/denominator.

    >>> cores = Cores.of([(1, [1, -1, -2]), (2, [2, -3, 3, -4, 0, 1, 5, 2])])
    >>> cores, cores.num_cores, cores.num_leaves
    (Cores(2 cores, 5 leaves), 2, 5)
    """

    tokens: IntArray
    starts: IntArray
    costs: IntArray

    def __post_init__(self) -> None:
        tokens, starts = np.asarray(self.tokens), np.asarray(self.starts)
        if any(a.dtype != np.int64 or a.ndim != 1 for a in (tokens, starts)):
            raise ValueError("the tokens and starts of cores must be flat arrays of int64")
        is_split = len(starts) and starts[0] == 0 and starts[-1] == len(tokens)
        if not is_split or (starts[1:] < starts[:-1]).any():
            raise ValueError("core starts must not decrease, from 0 to the number of tokens")
        costs = positive_numbers(self.costs, len(starts) - 1, "core")
        if costs.dtype != np.int64:
            raise ValueError("the cost of a core must be below 2^63; use a smaller denominator")
        for name, value in (("tokens", tokens), ("starts", starts), ("costs", costs)):
            object.__setattr__(self, name, validation.read_only(value))

    @classmethod
    def of(cls, rows: list[tuple[int, list[int]]]) -> Cores:
        """Build cores from pairs (cost of a core, tokens of its tree)."""
        flat = [token for _, tokens in rows for token in tokens]
        starts = np.cumsum([0, *(len(tokens) for _, tokens in rows)], dtype=np.int64)
        costs = np.array([cost for cost, _ in rows], dtype=np.int64)
        return cls(np.array(flat, dtype=np.int64), starts, costs)

    @property
    def num_cores(self) -> int:
        """The number of cores."""
        return len(self.costs)

    @property
    def num_leaves(self) -> int:
        """The number of leaves in the trees of all cores."""
        return self.num_cores + int(self.is_branch.sum())

    @property
    def is_branch(self) -> npt.NDArray[np.bool_]:
        """The mask of the tokens that are branches on a variable."""
        branches = self.tokens > 0
        for start, stop in self._lists():
            branches[start:stop] = False
        return branches

    @property
    def is_clause(self) -> npt.NDArray[np.bool_]:
        """The mask of the tokens that name a clause, including the negative tokens of leaves."""
        named = self.tokens < 0
        for start, stop in self._lists():
            named[start:stop] = False
            named[start + 2 : stop : 2] = True
        return named

    def _lists(self) -> list[tuple[int, int]]:
        """Return the token range (first, end) of each leaf that lists clauses and their amounts."""
        found, after = [], 0
        for place in np.flatnonzero(self.tokens == 0).tolist():
            if place >= after:
                count = int(self.tokens[place + 1]) if place + 1 < len(self.tokens) else 0
                after = min(place + 2 + 2 * max(0, count), len(self.tokens))
                found.append((place, after))
        return found

    def renamed(self, variables: npt.NDArray[Any], clauses: npt.NDArray[Any]) -> Cores:
        """Return the cores for a problem whose variables and clauses were renumbered.

        Args:
            variables: the new index of each variable, from 0.
            clauses: the new index of each clause, from 0, soft clauses first.
        """
        tokens, is_branch = self.tokens.copy(), self.is_branch
        tokens[is_branch] = np.asarray(variables)[tokens[is_branch] - 1] + 1
        named = self.is_clause
        old = tokens[named]
        tokens[named] = np.sign(old) * (np.asarray(clauses)[np.abs(old) - 1] + 1)
        for start, stop in self._lists():  # clauses of a leaf are in ascending order
            order = np.argsort(tokens[start + 2 : stop : 2], kind="stable")
            for first in (2, 3):
                tokens[start + first : stop : 2] = tokens[start + first : stop : 2][order]
        return Cores(tokens, self.starts, self.costs)

    def __bool__(self) -> bool:
        return self.num_cores > 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cores):
            return NotImplemented
        pairs = zip(self._key(), other._key(), strict=True)
        return all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    def __hash__(self) -> int:
        return hash((self.tokens.tobytes(), self.costs.tobytes()))

    def _key(self) -> tuple[IntArray, IntArray, IntArray]:
        return self.tokens, self.starts, self.costs

    def __repr__(self) -> str:
        return f"Cores({self.num_cores} cores, {self.num_leaves} leaves)"


NO_CORES = Cores.of([])


def clause_rows(problem: Max2Sat | MaxSat) -> tuple[npt.NDArray[np.int32], IntArray]:
    """Return the literals of all clauses, soft clauses first, and the start of each clause.

    Short clauses of a MAX-2-SAT problem are padded with the literal 0.

    >>> clause_rows(Max2Sat.from_clauses(2, [[1, 2]], [1], hard=[[-1]]))
    (array([ 1,  2, -1,  0], dtype=int32), array([0, 2, 4]))
    """
    if isinstance(problem, Max2Sat):
        rows = np.concatenate([problem.clauses, problem.hard])
        return rows.reshape(-1), 2 * np.arange(len(rows) + 1)
    literals = np.concatenate([problem.literals, problem.hard_literals])
    ends = problem.hard_starts[1:] + problem.starts[-1]
    return literals, np.concatenate([problem.starts, ends])


def bound_of_cores(
    problem: Max2Sat | MaxSat, cores: Cores, denominator: int
) -> tuple[Fraction, Fraction]:
    """Check cores; return their lower bound, and a divisor of all differences between costs.

    Raises:
        ValueError: a core is false.

    >>> problem = Max2Sat.from_clauses(1, [[1], [-1]], [2, 3])
    >>> bound_of_cores(problem, Cores.of([(2, [1, -1, -2])]), 1)
    (Fraction(2, 1), Fraction(1, 1))
    """
    (weights,), scale = whole(problem.weights)
    literals, starts = clause_rows(problem)
    room = [int(w) * denominator // scale for w in weights.tolist()]
    values = np.zeros(problem.num_variables + 1, dtype=np.int8)
    trees = cores.tokens, cores.starts, cores.costs
    if sum(room) < ROOM:
        left = np.array(room, dtype=np.int64)
        fault, core, place = check_cores(literals, starts, left, values, *trees)
    else:
        left = np.array(room, dtype=object)
        exact = (array.tolist() for array in trees)
        fault, core, place = check_cores.py_func(literals, starts, left, values, *exact)
    if fault != FINE:
        raise ValueError(f"core {core + 1} at token {place + 1} of its tree: {FAULTS[fault]}")
    bound = sum(cores.costs.tolist())
    return Fraction(bound, denominator), Fraction(gcd_of(weights), scale)
