"""Squares in a VeriPB proof, over the variables of pairs of spins (see `pairs`).

Squares cancel each other on pairs that they share, so they cannot be added up over the clauses of a
file, whose relaxation literals are an upper bound only; over variables of pairs they can. A square
is Σ 2|a_i·a_j|·violated ≥ (g²·[odd] + (Σ|a|)² - 2Σa²)/2, by contradiction: each of the 2^k states
of its spins breaks the opposite, and the clauses that say so resolve to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations, product

from glasshouse.proofs.veripb.pairs import Pairs, violated
from glasshouse.proofs.veripb.script import Line, Terms, literal_of

# Of one square, the ghost not counted; each spin more doubles the states that are looked at.
MOST_SPINS = 4

# Spins (0 is the ghost) in their order, and their coefficients.
Square = tuple[tuple[int, int], ...]


class SquareLines:
    """The lines of squares, each written once."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        self._lines: dict[Square, Line] = {}

    def line(self, square: Square, number: int) -> Line | None:
        """What a square says; None if literals say that themselves.

        Args:
            square: over at most 4 spins; none, if ties made it constant.
            number: what an error message calls it, from 0.
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
            self.pairs.definition(i, j)  # none can be made within a proof by contradiction
        return self.pairs.script.by_contradiction(terms, degree, self._cases(square, terms))

    def _cases(self, square: Square, terms: Terms) -> Callable[[int], str]:
        """The opposite of a square, broken by each state of its spins, and so by all."""
        spins, factor = [node for node, _ in square if node], 1 + sum(terms.values())

        def broken(opposite: int, state: dict[int, int]) -> str:
            """A clause against the state: spins that are as they are break the opposite."""
            words = [f"{opposite}"]
            for (i, a), (j, b) in combinations(square, 2):
                amount, is_violated = 2 * abs(a * b), a * b * state[i] * state[j] > 0
                if not is_violated:
                    words.append(f"{violated(i, j, -a * b)} {amount} * +")
                elif i and j:
                    clause = self.pairs.definition(-i * state[i], -j * state[j])
                    words.append(f"{clause} {amount} * +")
            # All spins, so that clauses of neighbouring states differ in one of them only.
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
