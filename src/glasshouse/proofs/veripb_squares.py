"""VeriPB proofs of certificates with squares, over one new variable for each pair of spins.

Squares cancel each other on pairs that they share, so they cannot be added up over the clauses of a
file, whose relaxation literals are an upper bound only. Here a variable v stands for [s_i ≠ s_j],
exactly. Of a pair with the ghost it is the spin itself. A pair that wants to be equal is violated
where v is true, one that wants to differ where v is false. Then

* a loop is Σ violated ≥ 1, by going round it in both directions;
* a square is Σ 2|a_i·a_j|·violated ≥ (g²·[odd] + (Σ|a|)² - 2Σa²)/2, by contradiction: each of the
  2^k states of its spins breaks the opposite, and the clauses that say so resolve to nothing;
* their sum is compared with the file: of each pair no more than the file's own weight is exchanged
  for the relaxation literals of its clauses, and what is left is given away.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations, pairwise, product
from typing import Any

from glasshouse.certificates import Certificate

# Of one square, the ghost not counted; each spin more doubles the states that are looked at.
MOST_SPINS = 4

# A literal is "x3", "~x3", "v1_2" or "~v1_2"; terms are coefficients of literals.
Terms = dict[str, int]


class Script:
    """Lines of a proof in one of two dialects, and the numbers of their constraints."""

    def __init__(self, num_constraints: int, version: str) -> None:
        self.is_new, self.last = version == "3.0", num_constraints
        self.lines: list[str] = [self._ended(f"f {num_constraints}")]

    def pol(self, words: str) -> int:
        """A line in reverse Polish notation; the number of what it derives."""
        return self._add(self._ended(f"pol {words}"))

    def define(self, terms: Terms, variable: str, value: int) -> int:
        """A constraint that setting a new variable satisfies."""
        mark = ":" if self.is_new else ";"
        return self._add(self._ended(f"red {_spelled(terms, 1)} {mark} {variable} -> {value}"))

    def by_contradiction(self, terms: Terms, degree: int, words: Any) -> int:
        """A constraint whose opposite, of the number that `words` gets, leads to nothing."""
        rule, mark = ("pbc", ": subproof") if self.is_new else ("red", "; ; begin")
        self.lines.append(f"{rule} {_spelled(terms, degree)} {mark}\n")
        self.last += 1
        self.pol(words(self.last))
        return self._add("qed pbc : -1 ;\n" if self.is_new else "end -1\n")

    def conclude(self, lower: int, upper: int, assignment: str) -> None:
        """The last line derived is the lower bound, the assignment the upper one."""
        ends = [
            "output NONE",
            f"conclusion BOUNDS {lower} : {self.last} {upper} : {assignment}",
            "end pseudo-Boolean proof",
        ]
        self.lines += map(self._ended, ends)

    def _add(self, line: str) -> int:
        self.lines.append(line)
        self.last += 1
        return self.last

    def _ended(self, line: str) -> str:
        return line + (" ;\n" if self.is_new else "\n")


class Parts:
    """Loops and squares of a certificate as lines of a proof, and their sum.

    Attributes:
        degree: what the sum is at least.
        terms: its coefficients, for each variable that of the variable itself; where it is below
            zero, the literal ~variable has the coefficient's magnitude.
        sums: the sum in reverse Polish notation.
    """

    def __init__(self, script: Script, certificate: Certificate) -> None:
        self.script, self.certificate = script, certificate
        self.degree, self.terms = 0, defaultdict[str, int](int)
        self.sums: list[str] = []
        self._definitions: dict[tuple[int, int], int] = {}
        for multiplier, cycle in loops_of(certificate):
            line = script.pol(self._around(cycle))
            self._count(line, multiplier, {self.violated(*edge): 1 for edge in cycle}, 1)
        for number, (multiplier, square) in enumerate(squares_of(certificate)):
            terms = {self.violated(i, j, -a * b): 2 * abs(a * b)
                     for (i, a), (j, b) in combinations(square, 2)}  # fmt: skip
            degree = _least_violation([a for _, a in square])
            if degree > 0:  # others say nothing that literals do not say themselves
                spins = [node for node, _ in square if node]
                _refuse_many(number, len(spins))
                words = self._cases(square, terms)
                self._count(
                    script.by_contradiction(terms, degree, words), multiplier, terms, degree
                )

    def definition(self, one: int, two: int) -> int:
        """The constraint that holds two literals of spins, and with them v, or ~v if both agree."""
        (i, positive), (j, same) = sorted([(abs(one), one > 0), (abs(two), two > 0)])
        return self._defined(i, j) + 2 * (positive != same) + (not positive)

    def _defined(self, i: int, j: int) -> int:
        """The first of four constraints that make v = [s_i ≠ s_j]."""
        if (i, j) not in self._definitions:
            v = f"v{i}_{j}"
            numbers = [
                self.script.define({f"~{v}" if same else v: 1, x: 1, y: 1}, v, 0 if same else 1)
                for same, x, y in (
                    (True, f"x{i}", f"x{j}"), (True, f"~x{i}", f"~x{j}"),
                    (False, f"x{i}", f"~x{j}"), (False, f"~x{i}", f"x{j}"),
                )
            ]  # fmt: skip
            self._definitions[i, j] = numbers[0]
        return self._definitions[i, j]

    def violated(self, i: int, j: int, sign: int) -> str:
        """The literal that says that a pair, which wants to be equal if sign > 0, is violated."""
        i, j = min(i, j), max(i, j)
        if i == 0:
            return f"~x{j}" if sign > 0 else f"x{j}"
        self._defined(i, j)
        return f"v{i}_{j}" if sign > 0 else f"~v{i}_{j}"

    def _around(self, cycle: list[tuple[int, int, int]]) -> str:
        """A loop: every edge forces the next spin, so that the first would contradict itself."""
        first, path = cycle[0][0], cycle
        starts = [first, -first]
        if first == 0:  # from the spin that the ghost forces to the one that forces it back
            _, spin, sign = cycle[0]
            starts, path = [spin * sign], cycle[1:-1]
        ways = []
        for literal in starts:
            numbers = []
            for _, spin, sign in path:
                forced = spin * sign * (1 if literal > 0 else -1)
                numbers.append(self.definition(-literal, forced))
                literal = forced
            ways.append(f"{numbers[0]}" + "".join(f" {k} +" for k in numbers[1:]) + " s")
        return " ".join(ways) + (" + s" if len(ways) > 1 else "")

    def _cases(self, square: list[tuple[int, int]], terms: Terms) -> Any:
        """The opposite of a square, broken by each state of its spins, and so by all."""
        spins, factor = [node for node, _ in square if node], 1 + sum(terms.values())

        def broken(opposite: int, state: dict[int, int]) -> str:
            """A clause against the state: spins that are as they are break the opposite."""
            words = [f"{opposite}"]
            for (i, a), (j, b) in combinations(square, 2):
                amount, is_violated = 2 * abs(a * b), a * b * state[i] * state[j] > 0
                if not is_violated:
                    words.append(f"{self.violated(i, j, -a * b)} {amount} * +")
                elif i and j:
                    clause = self.definition(-i * state[i], -j * state[j])
                    words.append(f"{clause} {amount} * +")
            # All spins, so that clauses of neighbouring states differ in one of them only.
            words += [f"{_literal(-i * state[i])} +" for i in spins]
            return " ".join(words) + f" {factor} d"

        def resolved(opposite: int) -> str:
            states = product((1, -1), repeat=len(spins))
            level = [broken(opposite, {0: 1} | dict(zip(spins, s, strict=True))) for s in states]
            while len(level) > 1:
                level = [f"{a} {b} + s" for a, b in zip(level[::2], level[1::2], strict=True)]
            return level[0]

        return resolved

    def _count(self, line: int, multiplier: int, terms: Terms, degree: int) -> None:
        self.sums.append(f"{line} {multiplier} *" + (" +" if self.sums else ""))
        self.degree += multiplier * degree
        for literal, amount in terms.items():
            if literal.startswith("~"):
                self.degree -= multiplier * amount
                amount = -amount
            self.terms[literal.removeprefix("~")] += multiplier * amount


def loops_of(certificate: Certificate) -> Iterator[tuple[int, list[tuple[int, int, int]]]]:
    """Multiplier and edges (from, to, sign) of each loop; variables from 1, the ghost 0 first."""
    starts, ghost = certificate.starts.tolist(), len(certificate.state)
    nodes = [0 if node == ghost else node + 1 for node in certificate.nodes.tolist()]
    spins, marks = [1, *certificate.state.tolist()], certificate.negative_edges.tolist()
    multipliers = certificate.multipliers.tolist()
    for multiplier, (first, end) in zip(multipliers, pairwise(starts), strict=True):
        cycle = nodes[first:end]
        edges = [
            (a, b, spins[a] * spins[b] * (-1 if mark else 1))
            for a, b, mark in zip(cycle, cycle[1:] + cycle[:1], marks[first:end], strict=True)
        ]
        turn = cycle.index(0) if 0 in cycle else 0
        yield multiplier, edges[turn:] + edges[:turn]


def squares_of(certificate: Certificate) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Multiplier and (variable, coefficient) of each square; variables from 1, the ghost 0."""
    squares, ghost = certificate.squares, len(certificate.state)
    nodes = [0 if node == ghost else node + 1 for node in squares.nodes.tolist()]
    pairs = list(zip(nodes, squares.coefficients.tolist(), strict=True))
    starts, multipliers = squares.starts.tolist(), squares.multipliers.tolist()
    for multiplier, (first, end) in zip(multipliers, pairwise(starts), strict=True):
        yield multiplier, sorted(pairs[first:end])


def _least_violation(a: list[int]) -> int:
    """What Σ 2|a_i·a_j|·violated is at least: half of g²·[odd] + (Σ|a|)² - 2Σa², which is even."""
    divisor = math.gcd(*a)
    is_odd = sum(a) // divisor % 2
    return (divisor**2 * is_odd + sum(map(abs, a)) ** 2 - 2 * sum(x * x for x in a)) // 2


def _refuse_many(number: int, spins: int) -> None:
    if spins > MOST_SPINS:
        raise ValueError(
            f"square {number + 1} is over {spins} spins, but a VeriPB proof is written of squares "
            f"over at most {MOST_SPINS}; check the certificate with `glasshouse check` instead"
        )


def negated(literal: str) -> str:
    """The opposite literal."""
    return literal.removeprefix("~") if literal.startswith("~") else f"~{literal}"


def _literal(variable: int) -> str:
    return f"x{variable}" if variable > 0 else f"~x{-variable}"


def _spelled(terms: Terms, degree: int) -> str:
    return " ".join(f"{amount} {literal}" for literal, amount in terms.items()) + f" >= {degree}"
