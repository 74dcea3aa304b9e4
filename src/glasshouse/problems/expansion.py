"""Conversion of polynomials: from spins to bits and back, and from any degree to pairs.

All conversions are exact. From bits to spins, weights become fractions over powers of two, which
one factor clears. With the best values of its ancillas, a reduction to pairs has the same energy.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems import exact, pairs
from glasshouse.problems.ising import Ising
from glasshouse.problems.monomials import Monomials, merged
from glasshouse.problems.naming import Units
from glasshouse.problems.polynomial import Polynomial
from glasshouse.problems.qubo import Qubo
from glasshouse.problems.reduction import Reduction, StateMap, same_state, to_bits, to_spins

# A monomial of degree d becomes 2^d terms in other units. The limit is half a gigabyte of terms.
MOST_PARTS = 1 << 24

# Wider products of bits are halved before they give up one factor at a time, because the terms of
# the second way grow with the square of the width.
_WIDE = 32

Flat = tuple[Monomials, Any]


def in_units(problem: Polynomial, units: Units) -> tuple[Polynomial, Reduction]:
    """Convert a polynomial to the given units, spins or bits, by x = (1 + s)/2.

    >>> cubic = Polynomial.from_terms(3, {(0, 1, 2): 1}, units="binary")
    >>> spins, reduction = in_units(cubic, "spin")
    >>> spins.terms(), spins.offset, reduction.identity
    ({(0,): 1, (1,): 1, (2,): 1, (0, 1): 1, (0, 2): 1, (1, 2): 1, (0, 1, 2): 1}, 1, \
'E_target = 8·E_source')
    """
    if units not in ("spin", "binary"):
        raise ValueError(f"units={units!r} is neither 'spin' nor 'binary'")
    if units == problem.units:
        return problem, same_state(problem.space, problem.space)
    degree, to_spin = problem.degree, units == "spin"
    (weights,) = exact.room(problem.weights, factor=4 << min(degree, 62), constant=problem.offset)
    below = 1 << degree if to_spin else 1
    held, values, constant = expanded(problem.monomials, weights, to_spin=to_spin)
    offset = below * problem.offset + constant
    (values, offset), scale = exact.cleared(below, values, offset)
    new = Polynomial(
        problem.num_variables, *held, values, _number(offset), problem.labels, units
    )  # fmt: skip
    ways = (to_spins, to_bits) if to_spin else (to_bits, to_spins)
    return new, Reduction(problem.space, new.space, *ways, scale)


def expanded(given: Monomials, weights: Any, *, to_spin: bool) -> tuple[Monomials, Any, Any]:
    """Convert monomials from bits to spins (all weights times 2^degree), or from spins to bits.

    Args:
        given: the monomials.
        weights: their weights; Python integers if sums could overflow.
        to_spin: from bits to spins, by x = (1 + s)/2; else the other way.

    Returns:
        Monomials, weights and constant.
    """
    degree = int(given.degrees.max(initial=0))
    parts = sum(int(n) << d for d, n in enumerate(np.bincount(given.degrees)) if n)
    if parts * max(1, degree) > MOST_PARTS:
        raise ValueError(
            f"a term of degree {degree} becomes 2^{degree} terms in other units, and the total "
            "exceeds the limit; keep the units, or reduce to pairs first"
        )
    rows, sums = [], []
    for places, table in given.tables():
        width = table.shape[1]
        for mask in range(1 << width):
            kept = [k for k in range(width) if mask >> k & 1]
            factor = 1 << (degree - width)
            if not to_spin:
                factor = (-1) ** (width - len(kept)) << len(kept)
            rows.append(table[:, kept])
            sums.append(weights[places] * factor)
    return merged(*joined(rows, sums, weights.dtype), spins=to_spin)


def to_pairs(problem: Polynomial) -> tuple[Ising | Qubo, Reduction]:
    """Convert a polynomial to an Ising problem (of spins) or a QUBO (of bits), with ancillas.

    Spins: a product of four or more is cut in two, w·A·B = |w| + min over t of -|w|·t·(A - σB) with
    the sign σ of w; one of three has its own ancilla a, by 2(1 - s1·s2·s3) = min over a of
    (s1 + s2 + s3 - 1 - 2a)². Bits: -|w|·x1⋯xk is the least |w|·y·(k - 1 - Σ x), and a positive
    product gives up one factor at a time by x1·P = P - (1 - x1)·P. A wide positive product first
    replaces its factors two by two, x1·x2·P = min over y of y·P + x1·x2 - 2(x1 + x2)·y + 3y, so its
    terms stay proportional to its width. No weight needs to be larger than others to hold ancillas
    in place.

    >>> ising, reduction = to_pairs(Polynomial.from_terms(3, {(0, 1, 2): -1}))
    >>> ising.num_variables, reduction.forward([1, -1, -1]), ising.energy([1, -1, -1, -1])
    (4, array([ 1, -1, -1, -1], dtype=int8), -1)
    """
    rounds = _Rounds(problem)
    degree = problem.degree
    if problem.units == "spin":
        while degree > 3:
            degree = rounds.cut_in_two()
        if degree == 3:
            rounds.bind_triples()
    else:
        while rounds.pair_up():
            pass
        while degree > 2:
            degree = rounds.give_up_one()
    quadratic, forward = rounds.problem(), rounds.forward
    size = problem.num_variables
    if quadratic.num_variables == size:
        return quadratic, same_state(problem.space, quadratic.space)
    return quadratic, Reduction(
        problem.space, quadratic.space, forward, lambda state: state[..., :size],
        Fraction(1), Fraction(0), bijective=False,
    )  # fmt: skip


class _Rounds:
    """The state of a reduction to pairs: the current terms, and the rules that set the ancillas."""

    def __init__(self, problem: Polynomial) -> None:
        self.given, self.size = problem, problem.num_variables
        (weights,) = exact.room(
            problem.weights, factor=8 * (problem.degree + 1), constant=problem.offset
        )
        self.terms: Flat = (problem.monomials, weights)
        self.offset: Any = problem.offset
        self.answers: list[StateMap] = []

    def problem(self) -> Ising | Qubo:
        """Return the quadratic problem, once no term has more than two variables."""
        held, weights = self.terms
        labels = self.given.labels if self.size == self.given.num_variables else None
        singles, couplings = np.zeros(self.size, dtype=weights.dtype), weights[:0]
        ends = np.empty((0, 2), dtype=np.int32)
        for places, table in held.tables():
            if table.shape[1] == 1:
                singles[table[:, 0]] = weights[places]
            else:
                ends, couplings = table, weights[places]
        if self.given.units == "spin":
            return Ising(self.size, ends, -couplings, -singles, self.offset, labels)
        return Qubo(self.size, ends, couplings, singles, self.offset, labels)

    def forward(self, state: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        """Return a state extended by the best values of all ancillas."""
        for answer in self.answers:
            state = np.concatenate([state, answer(state)], axis=-1)
        return state

    def cut_in_two(self) -> int:
        """Split each spin term of at least four variables in two; return the new largest degree."""
        rows, sums = self._start(4)
        halves = []
        for places, table in self._above(4):
            weights, width = self.terms[1][places], table.shape[1]
            ancillas = self._ancillas(len(places))
            first, second = table[:, : width // 2], table[:, width // 2 :]
            rows += [np.column_stack([half, ancillas]) for half in (first, second)]
            sums += [-np.abs(weights), weights]
            self.offset += exact.total(np.abs(weights))
            halves.append(first)
        self._answer(halves, lambda values: values.prod(axis=-1, dtype=np.int8))
        return self._end(rows, sums)

    def bind_triples(self) -> None:
        """Replace each spin term of three variables by terms of at most two, with an ancilla."""
        rows, sums = self._start(3)
        ((places, table),) = self._above(3)
        weights = self.terms[1][places]
        # -|w|·s1·s2·s3 with s1 turned where w > 0: |w|/2·(S - 1 - 2a)² - |w|.
        sizes, turn = np.abs(weights), np.where(weights > 0, -1, 1)
        ancillas, turned = self._ancillas(len(places)), turn.astype(np.int8)
        rows += [table[:, [0, 1]], table[:, [0, 2]], table[:, [1, 2]], ancillas[:, np.newaxis]]
        sums += [sizes * turn, sizes * turn, sizes, 2 * sizes]
        for k, sign in enumerate((turn, 1, 1)):
            rows += [table[:, [k]], np.column_stack([table[:, k], ancillas])]
            sums += [-sizes * sign, -2 * sizes * sign]
        self.offset += 3 * exact.total(sizes)

        def majority(values: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
            return to_spins(turned * values[..., 0] + values[..., 1] + values[..., 2])

        self._answer([table], majority)
        self._end(rows, sums)

    def pair_up(self) -> bool:
        """Replace pairs of factors of wide positive terms by ancillas; False if no term is wide.

        An ancilla that is not the product of its pair costs at least the weight of the term, which
        is the most that the term can gain by it.
        """
        held, all_weights = self.terms
        is_wide = (held.degrees > _WIDE) & (all_weights > 0)
        if not is_wide.any():
            return False
        kept = np.flatnonzero(~is_wide)
        stay = held.chosen(kept)
        rows, sums = self._tables(stay, all_weights[kept])
        wide = np.flatnonzero(is_wide)
        for places, table in held.chosen(wide).tables():
            weights, width = all_weights[wide[places]], table.shape[1]
            pairs_of_bits = table[:, : width - width % 2].reshape(-1, 2)
            new = self._ancillas(len(pairs_of_bits))[:, np.newaxis]
            each = np.repeat(weights, width // 2)
            rows += [np.hstack([new.reshape(len(table), -1), table[:, width - width % 2 :]])]
            rows += [pairs_of_bits, new, *(np.hstack([pairs_of_bits[:, [k]], new]) for k in (0, 1))]
            sums += [weights, each, 3 * each, -2 * each, -2 * each]
            self._answer([pairs_of_bits], _all_true(False))
        self._end(rows, sums)
        return True

    def give_up_one(self) -> int:
        """Remove a factor from positive bit terms of degree > 2; reduce negative terms to pairs."""
        rows, sums = self._start(3)
        for places, table in self._above(3):
            all_weights, width = self.terms[1][places], table.shape[1]
            for is_positive in (True, False):
                part = np.flatnonzero((all_weights > 0) == is_positive)
                weights, sizes = all_weights[part], np.abs(all_weights[part])
                ancillas, bits = self._ancillas(len(part)), table[part]
                # |w|·y·(k - 1 - Σ l), the first literal negated where w > 0.
                rows.append(ancillas[:, np.newaxis])
                sums.append(sizes * (width - 1 - is_positive))
                for k in range(width):
                    rows.append(np.column_stack([bits[:, k], ancillas]))
                    sums.append(sizes if is_positive and k == 0 else -sizes)
                if is_positive:
                    rows.append(bits[:, 1:])
                    sums.append(weights)
                self._answer([bits], _all_true(is_positive))
        return self._end(rows, sums)

    def _start(self, least: int) -> tuple[list[Any], list[Any]]:
        """Return the terms of a degree below `least`, which stay unchanged."""
        held, weights = self.terms
        below = np.flatnonzero(held.degrees < least)
        return self._tables(held.chosen(below), weights[below])

    @staticmethod
    def _tables(held: Monomials, weights: Any) -> tuple[list[Any], list[Any]]:
        """Return monomials as one table per degree, and the weights for each table."""
        found = list(held.tables())
        return [table for _, table in found], [weights[places] for places, _ in found]

    def _above(self, least: int) -> list[tuple[npt.NDArray[Any], npt.NDArray[np.int32]]]:
        return [pair for pair in self.terms[0].tables() if pair[1].shape[1] >= least]

    def _ancillas(self, number: int) -> npt.NDArray[np.int32]:
        """Add `number` ancillas after all other variables, and return their indices."""
        self.size += number
        return np.arange(self.size - number, self.size, dtype=np.int32)

    def _answer(self, tables: list[Any], rule: StateMap) -> None:
        """Record the rule that sets the newest ancillas from the variables in the given tables."""
        for table in tables:
            self.answers.append(partial(_applied, rule, table))

    def _end(self, rows: list[Any], sums: list[Any]) -> int:
        flat = joined(rows, sums, self.terms[1].dtype)
        held, weights, constant = merged(*flat, spins=self.given.units == "spin")
        self.terms, self.offset = (held, weights), self.offset + constant
        return int(held.degrees.max(initial=0))


def _applied(rule: StateMap, table: npt.NDArray[Any], state: npt.NDArray[np.int8]) -> Any:
    return rule(state[..., table])


def _all_true(first_negated: bool) -> StateMap:
    """Return a rule that sets an ancilla to a product of bits; the first bit may be negated."""

    def rule(values: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        first = 1 - values[..., 0] if first_negated else values[..., 0]
        answer: npt.NDArray[np.int8] = first * values[..., 1:].prod(axis=-1, dtype=np.int8)
        return answer

    return rule


def of_pairs(problem: Ising | Qubo) -> Polynomial:
    """Return an Ising problem or a QUBO as a polynomial with the same states and energies."""
    singles = pairs.single_terms(problem)
    sign = -1 if problem.space.low < 0 else 1
    held = np.flatnonzero(singles).astype(np.int32)
    kept = np.flatnonzero(problem.weights)
    rows = [held[:, np.newaxis], problem.edges[kept]]
    flat, weights = joined(rows, [singles[held], problem.weights[kept]], problem.weights.dtype)
    return Polynomial(
        problem.num_variables, *flat, sign * weights, problem.offset, problem.labels,
        "spin" if sign < 0 else "binary",
    )  # fmt: skip


def joined(rows: list[Any], sums: list[Any], kind: Any) -> Flat:
    """Concatenate tables of monomials and their weights."""
    lengths = [np.full(len(table), table.shape[1], dtype=np.int64) for table in rows]
    starts = np.concatenate([[0], np.cumsum(np.concatenate([np.empty(0, np.int64), *lengths]))])
    flat = np.concatenate([np.empty(0, np.int32), *(table.reshape(-1) for table in rows)])
    weights = np.concatenate([np.empty(0, dtype=kind), *sums])
    return Monomials(flat.astype(np.int32), starts.astype(np.int64)), weights


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
