"""VeriPB proofs of frustrated cores: the clauses of each tree are resolved to one constraint.

The constraint of a core states that the charges of its relaxed clauses add up to at least the
core's cost. If each leaf has one clause, a tree is a resolution proof: the saturated sum of two
halves is a clause again. If leaves split the cost between several clauses, the constraint of a
branch is derived by contradiction from the constraints of its halves.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from glasshouse.certificates import Certificate
from glasshouse.problems import Max2Sat, MaxSat
from glasshouse.proofs.veripb.script import Script, Terms, literal_of, negated


class ClauseSheet:
    """The clauses of a file, numbered as in certificates (soft clauses first) and as in VeriPB.

    Attributes:
        clauses: the literals of each clause.
        constraints: the number of each clause's constraint, or 0 if it has none: VeriPB converts a
            soft unit clause of a WCNF file to an objective's term, and an empty one to a constant.
        num_constraints: the number of constraints.
        unit: the gcd of all weights.
    """

    def __init__(self, problem: Max2Sat | MaxSat, form: str) -> None:
        if not problem.is_integer:
            raise ValueError("VeriPB needs integer weights, not floats; use `glasshouse check`")
        soft, hard = (_lists(problem, which) for which in ("clauses", "hard"))
        self.clauses, self.num_soft, self.form = [*soft, *hard], len(soft), form
        self.weights: list[int] = problem.weights.tolist()
        self.num_variables, self.unit = problem.num_variables, math.gcd(*self.weights)
        has_number = [form == "opb" or len(clause) > 1 for clause in soft]
        # Hard clauses come first in a WCNF file, and last in an OPB file.
        first = 0 if form == "opb" else len(hard)
        self.constraints, number = [], first
        for has in has_number:
            number += has
            self.constraints.append(number if has else 0)
        start = number if form == "opb" else 0
        self.constraints += range(start + 1, start + len(hard) + 1)
        self.num_constraints = len(hard) + sum(has_number)

    def relaxations(self, clause: int) -> list[str]:
        """Return the literals of the objective that are true if a soft clause is violated.

        An empty clause of a WCNF file has two literals, one of which is true.
        """
        if self.form == "opb":
            return [f"x{self.num_variables + clause + 1}"]
        literals = self.clauses[clause]
        if len(literals) < 2:
            return [literal_of(-literals[0])] if literals else ["x1", "~x1"]
        return [f"~_b{clause + 1 + len(self.clauses) - self.num_soft}"]

    def assignment(self, bits: list[int]) -> str:
        """Return an assignment as text: the state, and the relaxation variables that it implies."""
        words = [f"x{v}" if bit else f"~x{v}" for v, bit in enumerate(bits, 1)]
        for k, clause in enumerate(self.clauses[: self.num_soft]):
            holds = any(bits[abs(x) - 1] == (x > 0) for x in clause)
            if self.constraints[k]:
                relaxed = self.relaxations(k)[0]
                words.append(negated(relaxed) if holds else relaxed)
        return " ".join(words)


def _lists(problem: Max2Sat | MaxSat, which: str) -> list[list[int]]:
    if isinstance(problem, MaxSat):
        return (problem.soft if which == "clauses" else problem.hard).lists()
    return [[x for x in row if x] for row in getattr(problem, which).tolist()]


class _Half(NamedTuple):
    """The constraint derived for a subtree: the literals of its path, its charges, and its line.

    `words` is the line in reverse Polish notation or its number; empty for a soft unit clause
    that has no constraint.
    """

    path: frozenset[int]
    charges: Terms
    words: str


def add_up_cores(sheet: ClauseSheet, certificate: Certificate, script: Script) -> None:
    """Write a line for each core, then the sum of these lines divided by the denominator.

    Division rounds up coefficients and the right-hand side to multiples of the weights' gcd. No
    coefficient exceeds the weight, so the result implies objective ≥ bound.
    """
    cores, total = certificate.cores, list[str]()
    starts = cores.starts.tolist()
    for k, cost in enumerate(cores.costs.tolist()):
        tokens = cores.tokens[starts[k] : starts[k + 1]].tolist()
        root = _Tree(sheet, cost, 0 not in tokens, script).root(tokens)
        if root.words:  # otherwise the objective alone implies the cost, of x or not x
            times = cost if 0 not in tokens else 1
            total.append(f"{root.words} {times} *" + " +" * bool(total))
    divisor = certificate.denominator * sheet.unit
    rounding = [f"{divisor} d {sheet.unit} *"] if divisor > 1 else []
    script.pol(" ".join([*total, *rounding]) if total else "x1")


class _Tree:
    """The derivation of one core, subtree by subtree."""

    def __init__(self, sheet: ClauseSheet, cost: int, is_plain: bool, script: Script) -> None:
        self.sheet, self.cost, self.is_plain, self.script = sheet, cost, is_plain, script

    def root(self, tokens: list[int]) -> _Half:
        """Derive the constraint of a core from the tokens of its verified tree."""
        waiting: list[tuple[int, _Half | None]] = []  # branches, and their first halves
        place = 0
        while True:
            token, place = tokens[place], place + 1
            if token > 0:
                waiting.append((token, None))
                continue
            if token:
                half = self._leaf([(-token, self.cost)])
            else:
                end = place + 1 + 2 * tokens[place]
                numbers = iter(tokens[place + 1 : end])
                half, place = self._leaf(list(zip(numbers, numbers, strict=True))), end
            while waiting and waiting[-1][1] is not None:
                variable, first = waiting.pop()
                assert first is not None
                half = self._joined(variable, first, half)
            if not waiting:
                if self.is_plain and half.words:
                    return half._replace(words=str(self.script.pol(half.words)))
                return half
            waiting[-1] = waiting[-1][0], half

    def _leaf(self, paid: list[tuple[int, int]]) -> _Half:
        if self.is_plain:
            return _Half(
                frozenset(self.sheet.clauses[paid[0][0] - 1]), {}, self._clause(paid[0][0])
            )
        charges, sums, words = Terms(), dict[int, int](), ""
        for number, amount in paid:
            for x in set(self.sheet.clauses[number - 1]):
                sums[x] = sums.get(x, 0) + amount
            if number <= self.sheet.num_soft:
                for literal in self.sheet.relaxations(number - 1):
                    charges[literal] = charges.get(literal, 0) + amount
            if clause := self._clause(number):
                words += f"{clause} {amount} * " + "+ " * bool(words)
        path, cost = frozenset(sums), self.cost

        def refuted(opposite: int) -> str:
            added = f"{words}{opposite}" + " +" * bool(words)
            # A literal of several clauses may have more than the cost, but it is false.
            for x in sorted(x for x in path if sums[x] > cost):
                others = [f"{literal_of(y)} {cost} * +" for y in sorted(path - {x})]
                others += [f"{literal} {amount} * +" for literal, amount in charges.items()]
                added += f" {opposite} {' '.join(others)} {cost} d {sums[x] - cost} * +"
            return added

        terms = _constraint(path, cost, charges)
        line = self.script.by_contradiction(terms, cost, refuted)
        return _Half(path, charges, str(line))

    def _clause(self, number: int) -> str:
        """Return the text that refers to a clause's constraint; empty if the clause has none."""
        literals, constraint = self.sheet.clauses[number - 1], self.sheet.constraints[number - 1]
        saturated = " s" * (len(set(literals)) < len(literals))
        return f"{constraint}{saturated}" if constraint else ""

    def _joined(self, variable: int, first: _Half, second: _Half) -> _Half:
        """Combine the two halves of a branch, whose variable is false in the first half."""
        if variable not in first.path:
            return first
        if -variable not in second.path:
            return second
        path = (first.path - {variable}) | (second.path - {-variable})
        if self.is_plain:
            both = first.words and second.words  # a unit clause's literal is relaxed already
            words = f"{first.words} {second.words} + s" if both else first.words + second.words
            return _Half(path, {}, words)
        keys = {**first.charges, **second.charges}
        charges = {x: max(first.charges.get(x, 0), second.charges.get(x, 0)) for x in keys}
        line = self.script.by_contradiction(
            _constraint(path, self.cost, charges), self.cost,
            lambda opposite: " ".join(
                [self._forced(half, path, charges, opposite) for half in (first, second)] + ["+"]
            ),
        )  # fmt: skip
        return _Half(path, charges, str(line))

    def _forced(self, half: _Half, path: frozenset[int], charges: Terms, opposite: int) -> str:
        """Return text that derives the literal forced by a half and the violated branch."""
        words = [half.words]
        words += [f"{literal_of(x)} {self.cost} * +" for x in sorted(path - half.path)]
        spare = {x: charge - half.charges.get(x, 0) for x, charge in charges.items()}
        words += [f"{literal} {amount} * +" for literal, amount in spare.items() if amount]
        return " ".join([*words, f"{opposite} + {self.cost} d"])


def _constraint(path: frozenset[int], cost: int, charges: Terms) -> Terms:
    """Return the coefficients of the path's literals and of the relaxed clauses.

    A soft unit clause is relaxed by its negated literal, so both literals may occur.
    """
    terms = {literal_of(x): cost for x in sorted(path)}
    for literal, amount in charges.items():
        terms[literal] = terms.get(literal, 0) + amount
    return terms
