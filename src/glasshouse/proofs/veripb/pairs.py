"""Variables for pairs of spins in a VeriPB proof, with lines for loops, equations and squares.

A variable v means exactly [s_i ≠ s_j]. For a pair with the ghost (0), v is the spin's own variable
x_j, negated. A pair that favours equal spins is violated if v is true, and a pair that favours
opposite spins if v is false. A loop is Σ violated ≥ 1, derived by walking it in both directions.

A second variable y = [x_i and x_j] makes v linear in the spins: v = x_i + x_j - 2y. So a sum over
pairs shows by which number all its values are divisible.

Squares cancel each other on shared pairs. So they can be added up over variables of pairs, but not
over the clauses of a file, whose relaxation literals are only an upper bound. A square is Σ
2|a_i·a_j|·violated ≥ (g²·[odd] + (Σ|a|)² - 2Σa²)/2, where g is the gcd of all a_i, and [odd] is 1
if Σa/g is odd, else 0. It is derived by contradiction: each of the 2^k states of its spins violates
the negation, and the corresponding clauses resolve to the empty clause.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations, product

from glasshouse.proofs.veripb.script import Line, Script, Terms, literal_of

# (from, to, sign): the edge favours equal (+1) or opposite (-1) spins.
Edge = tuple[int, int, int]
# The most spins of one square, without the ghost; each further spin doubles the states.
MOST_SPINS = 4
# Spins (0 is the ghost) in their order, and their coefficients.
Square = tuple[tuple[int, int], ...]


class Pairs:
    """Definitions, loops and equations of pairs, each written when it is first used.

    Spins are counted from 1, and 0 is the ghost.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self._definitions: dict[tuple[int, int], int] = {}
        self._loops: dict[tuple[Edge, ...], Line] = {}
        self._equations: dict[tuple[int, int], tuple[Line, Line]] = {}

    def definition(self, one: int, two: int) -> int:
        """Return the number of the clause with two spin literals and v (~v for equal signs)."""
        (i, positive), (j, same) = sorted([(abs(one), one > 0), (abs(two), two > 0)])
        return self._defined(i, j) + 2 * (positive != same) + (not positive)

    def _defined(self, i: int, j: int) -> int:
        """Return the number of the first of four constraints that define v = [s_i ≠ s_j]."""
        if (i, j) not in self._definitions:
            v = f"v{i}_{j}"
            numbers = [
                self.script.define({f"~{v}" if same else v: 1, x: 1, y: 1}, 1, v, 0 if same else 1)
                for same, x, y in (
                    (True, f"x{i}", f"x{j}"), (True, f"~x{i}", f"~x{j}"),
                    (False, f"x{i}", f"~x{j}"), (False, f"~x{i}", f"x{j}"),
                )
            ]  # fmt: skip
            self._definitions[i, j] = numbers[0]
        return self._definitions[i, j]

    def loop(self, edges: list[Edge]) -> Line:
        """Return the line that states that at least one edge of an odd cycle is violated.

        Args:
            edges: the edges from each vertex to the next, with an odd number of signs below 0.
        """
        turned = _from_lowest(edges)
        if turned not in self._loops:
            terms = {violated(*edge): 1 for edge in turned}
            self._loops[turned] = Line(terms, 1, lambda: self.script.pol(self._around(turned)))
        return self._loops[turned]

    def _around(self, edges: tuple[Edge, ...]) -> str:
        """Return the derivation of a loop, in which every edge forces the next spin."""
        first, path = edges[0][0], edges
        starts = [first, -first]
        if first == 0:  # from the spin that the ghost forces to the one that forces it back
            _, spin, sign = edges[0]
            starts, path = [spin * sign], edges[1:-1]
        ways = []
        for literal in starts:
            numbers = []
            for _, spin, sign in path:
                forced = spin * sign * (1 if literal > 0 else -1)
                numbers.append(self.definition(-literal, forced))
                literal = forced
            ways.append(f"{numbers[0]}" + "".join(f" {k} +" for k in numbers[1:]) + " s")
        return " ".join(ways) + (" + s" if len(ways) > 1 else "")

    def equation(self, i: int, j: int) -> tuple[Line, Line]:
        """Return the lines v ≤ x_i + x_j - 2y and v ≥ x_i + x_j - 2y of a pair, 0 < i < j."""
        if (i, j) not in self._equations:
            v, y = f"v{i}_{j}", f"y{i}_{j}"
            self._equations[i, j] = (
                Line({f"~{v}": 1, f"~{y}": 2, f"x{i}": 1, f"x{j}": 1}, 3,
                     lambda: self._write_equation(i, j)),
                Line({v: 1, y: 2, f"~x{i}": 1, f"~x{j}": 1}, 2,
                     lambda: int(self._equations[i, j][0].name) + 1),
            )  # fmt: skip
        return self._equations[i, j]

    def _write_equation(self, i: int, j: int) -> int:
        """Define y and derive both halves in order; return the number of the first half's line."""
        y, x_i, x_j, define = f"y{i}_{j}", f"x{i}", f"x{j}", self.script.define
        only_i = define({f"~{y}": 1, x_i: 1}, 1, y, 0)
        only_j = define({f"~{y}": 1, x_j: 1}, 1, y, 0)
        both = define({y: 1, f"~{x_i}": 1, f"~{x_j}": 1}, 1, y, 1)
        up, down, i_alone, j_alone = (
            self.definition(*spins) for spins in ((i, j), (-i, -j), (i, -j), (-i, j))
        )
        not_both = f"{only_i} {only_j} + {down} + s"  # y and v
        first = self.script.pol(f"{up} {only_i} 2 * + {only_j} 2 * + {not_both} 2 * + 3 d")
        # If a spin is up, y or v is true.
        self.script.pol(f"{j_alone} {both} + s {i_alone} {both} + s + {both} + {y} + 2 d")
        return first


def violated(i: int, j: int, sign: int) -> str:
    """Return the literal that is true if a pair is violated; a sign above 0 favours equal spins."""
    i, j = min(i, j), max(i, j)
    if i == 0:
        return f"~x{j}" if sign > 0 else f"x{j}"
    return f"v{i}_{j}" if sign > 0 else f"~v{i}_{j}"


def pair_of(variable: str) -> tuple[int, int] | None:
    """Return the pair of spins that a variable stands for, or None for other variables.

    >>> pair_of("v2_11"), pair_of("x3"), pair_of("goal")
    ((2, 11), (0, 3), None)
    """
    if variable.startswith("x"):
        return 0, int(variable[1:])
    if not variable.startswith("v"):
        return None
    i, j = map(int, variable[1:].split("_"))
    return i, j


def _from_lowest(edges: list[Edge]) -> tuple[Edge, ...]:
    """Rotate a cycle to start at its lowest vertex, towards that vertex's lower neighbour."""
    place = min(range(len(edges)), key=lambda k: edges[k][0])
    turned = [*edges[place:], *edges[:place]]
    if turned[0][1] > turned[-1][0]:
        turned = [(b, a, sign) for a, b, sign in reversed(turned)]
    return tuple(turned)


class SquareLines:
    """The lines of squares, each written when it is first used."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        self._lines: dict[Square, Line] = {}

    def line(self, square: Square, number: int) -> Line | None:
        """Return the line of a square, or None if the literals imply it.

        Args:
            square: a square over at most 4 spins; empty if ties made it constant.
            number: the number of the square in error messages, from 0.
        """
        degree = _least_violation([a for _, a in square]) if square else 0
        if degree <= 0:
            return None
        if square not in self._lines:
            _refuse_many(number, sum(node > 0 for node, _ in square))
            terms = {violated(i, j, -a * b): 2 * abs(a * b)
                     for (i, a), (j, b) in combinations(square, 2)}  # fmt: skip
            self._lines[square] = Line(terms, degree, lambda: self._write(square, terms, degree))
        return self._lines[square]

    def _write(self, square: Square, terms: Terms, degree: int) -> int:
        for (i, _), (j, _) in combinations([pair for pair in square if pair[0]], 2):
            self.pairs.definition(i, j)  # not possible within a proof by contradiction
        return self.pairs.script.by_contradiction(terms, degree, self._cases(square, terms))

    def _cases(self, square: Square, terms: Terms) -> Callable[[int], str]:
        """Return a function that derives a contradiction from the negated line of a square."""
        spins, factor = [node for node, _ in square if node], 1 + sum(terms.values())

        def broken(opposite: int, state: dict[int, int]) -> str:
            """Return a clause that excludes a state which violates the negation of a square."""
            words = [f"{opposite}"]
            for (i, a), (j, b) in combinations(square, 2):
                amount, is_violated = 2 * abs(a * b), a * b * state[i] * state[j] > 0
                if not is_violated:
                    words.append(f"{violated(i, j, -a * b)} {amount} * +")
                elif i and j:
                    clause = self.pairs.definition(-i * state[i], -j * state[j])
                    words.append(f"{clause} {amount} * +")
            # All spins, so that clauses of neighbouring states differ in only one of them.
            words += [f"{literal_of(-i * state[i])} +" for i in spins]
            return " ".join(words) + f" {factor} d"

        def resolved(opposite: int) -> str:
            states = product((1, -1), repeat=len(spins))
            level = [broken(opposite, {0: 1} | dict(zip(spins, s, strict=True))) for s in states]
            while len(level) > 1:
                level = [f"{a} {b} + s" for a, b in zip(level[::2], level[1::2], strict=True)]
            return level[0]

        return resolved


def _least_violation(a: list[int]) -> int:
    """Return the least weight of violated pairs in a square; the pair (i, j) weighs 2|a_i·a_j|."""
    divisor = math.gcd(*a)
    is_odd = sum(a) // divisor % 2
    return (divisor**2 * is_odd + sum(map(abs, a)) ** 2 - 2 * sum(x * x for x in a)) // 2


def _refuse_many(number: int, spins: int) -> None:
    if spins > MOST_SPINS:
        raise ValueError(
            f"square {number + 1} has {spins} spins, but in VeriPB proofs it may have at most "
            f"{MOST_SPINS}; check the certificate with `glasshouse check` instead"
        )
