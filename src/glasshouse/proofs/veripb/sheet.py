"""A problem's file as VeriPB reads it: numbered constraints, and an objective over literals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Literal, TypeAlias

from glasshouse.problems import Max2Sat
from glasshouse.proofs.veripb.pairs import Pairs, violated
from glasshouse.proofs.veripb.script import Line, Terms, literal_of, negated

Form: TypeAlias = Literal["wcnf", "opb"]


class Sheet:
    """The constraints and relaxation literals of a problem's file.

    Attributes:
        edges: for each pair of variables, the index of the clause that contains each literal.
        units: the unit clause of each variable.
        constraints: the number, from 1, of each clause's constraint.
        num_constraints: the number of constraints.
        unit: the gcd of all weights.
    """

    def __init__(self, problem: Max2Sat, form: Form) -> None:
        self.problem, self.form = problem, form
        self.clauses: list[list[int]] = problem.clauses.tolist()
        self.weights: list[int] = problem.weights.tolist()
        self.unit = math.gcd(*self.weights)
        self.edges, self.units = _paired(problem)
        # VeriPB converts a soft unit clause of a WCNF file to a term of the objective.
        counted = [form == "opb" or second != 0 for _, second in self.clauses]
        self.constraints = list(accumulate(counted, initial=0))[1:]
        self.num_constraints = sum(counted)

    def walk(self, cycle: list[int]) -> list[list[int]] | None:
        """Return the clauses that refute a cycle, one list for each value of its first variable.

        A cycle through the ghost (variable 0, always true and first) needs only one direction: from
        the value that its first field favours to the value that its last field opposes. Returns
        None if the cycle is not an odd cycle of the file.
        """
        if 0 not in cycle:
            ways = [self._follow([*cycle, cycle[0]], start) for start in (cycle[0], -cycle[0])]
            found = [way for way in ways if way is not None]
            if len(found) < 2 or found[0][1] != -cycle[0]:
                return None
            return [clauses for clauses, _ in found]
        start, end = (self.units.get(variable, -1) for variable in (cycle[1], cycle[-1]))
        if start < 0 or end < 0:
            return None
        way = self._follow(cycle[1:], self.clauses[start][0])
        if way is None or way[1] != -self.clauses[end][0]:
            return None
        return [[start, *way[0], end]]

    def _follow(self, path: list[int], literal: int) -> tuple[list[int], int] | None:
        """Return a path's clauses, each of which forces the next literal, and the final literal."""
        clauses = []
        for a, b in pairwise(path):
            at = self.edges.get((min(a, b), max(a, b)))
            if at is None:
                return None
            clauses.append(at[-literal])
            literal = b if at.get(b) == clauses[-1] else -b
        return clauses, literal

    def sum_of(self, ways: list[list[int]]) -> str:
        """Return the sum of a cycle's clauses as text, saturated after each direction."""
        words = []
        for clauses in ways:
            # A unit clause that is not a constraint already has its literal in the objective.
            has_number = [self.form == "opb" or self.clauses[k][1] != 0 for k in clauses]
            ids = [self.constraints[k] for k, has in zip(clauses, has_number, strict=True) if has]
            words.append(f"{ids[0]} " + "".join(f"{k} + " for k in ids[1:]) + "s")
        return " ".join(words) + " +" * (len(ways) - 1)

    def objective(self) -> Terms:
        """Return the objective: the weight of each literal that relaxes a clause."""
        return {self._relaxation(k): weight for k, weight in enumerate(self.weights) if weight}

    def exchanges(self, pairs: Pairs) -> Iterator[tuple[int, Line]]:
        """Yield each pair's and field's weight, and the line by which a violation relaxes a clause.

        A soft unit clause of a WCNF file already has its literal in the objective.
        """
        for (a, b), at in self.edges.items():
            # The pair favours opposite spins if the clause with a contains b, and equal ones if -b.
            other = b if at[a] == at.get(b) else -b
            terms = {negated(violated(a, b, -1 if other > 0 else 1)): 1}
            terms |= {self._relaxation(k): 1 for k in (at[a], at[-a])}
            ways = ((x, y, self.constraints[at[x]]) for x, y in ((a, other), (-a, -other)))

            def write(ways: tuple[tuple[int, int, int], ...] = tuple(ways)) -> int:
                words = [f"{pairs.definition(x, -y)} {clause} + s" for x, y, clause in ways]
                return pairs.script.pol(" ".join(words) + " + s")

            if self.weights[at[a]]:
                yield self.weights[at[a]], Line(terms, 1, write)
        for clause in self.units.values() if self.form == "opb" else ():
            if not self.weights[clause]:
                continue
            terms = {literal_of(self.clauses[clause][0]): 1, self._relaxation(clause): 1}
            yield self.weights[clause], Line.given(terms, 1, self.constraints[clause])

    def assignment(self, bits: list[int]) -> str:
        """Return an assignment as text: the state, and the relaxation variables that it implies."""
        words = [f"x{v}" if bit else f"~x{v}" for v, bit in enumerate(bits, 1)]
        for k, clause in enumerate(self.clauses):
            holds = any(x and bits[abs(x) - 1] == (x > 0) for x in clause)
            if self.form == "opb" or clause[1]:
                words.append(negated(self._relaxation(k)) if holds else self._relaxation(k))
        return " ".join(words)

    def _relaxation(self, clause: int) -> str:
        """Return the literal of the objective that is true if a clause is violated."""
        if self.form == "opb":
            return f"x{self.problem.num_variables + clause + 1}"
        first, second = self.clauses[clause]
        return f"~_b{clause + 1}" if second else literal_of(-first)


def _paired(problem: Max2Sat) -> tuple[dict[tuple[int, int], dict[int, int]], dict[int, int]]:
    """Return the clauses of each edge and field; raise unless each edge has two clauses."""
    only = "VeriPB needs two soft clauses of integer weight per edge; use `glasshouse check`"
    if problem.num_hard or not problem.is_integer:
        what = "hard clauses" if problem.num_hard else "float weights"
        raise ValueError(f"the problem has {what}, but {only}")
    edges: dict[tuple[int, int], dict[int, int]] = {}
    units: dict[int, int] = {}
    for k, (one, two) in enumerate(problem.clauses.tolist()):
        a, b = sorted((abs(one), abs(two)))
        at = units if a == 0 else edges.setdefault((a, b), {})
        keys = {b} if a == 0 else {one, two}
        if a == b or keys & at.keys():
            raise ValueError(f"clause {k + 1} ({one} {two}) is empty or repeated, but {only}")
        at.update(dict.fromkeys(keys, k))
    for (a, b), at in edges.items():
        if len(at) < 4 or len({int(problem.weights[k]) for k in at.values()}) > 1:
            raise ValueError(f"variables {a} and {b} must have two clauses of equal weight; {only}")
    return edges, units
