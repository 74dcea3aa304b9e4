"""The exact form of any problem: integer weights on edges between spins and a ghost.

Fields are edges to the ghost. Floats are integers over a power of two, so nothing is rounded.
Weights are an int64 array if the sum of all magnitudes is below 2^61, otherwise an array of Python
integers. Sums are exact in either case, because NumPy adds objects by Python's own arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates.exact_sums import ROOM, EdgeArray, ends_of, summed
from glasshouse.certificates.products import incident_sums, of_edges
from glasshouse.problems import (
    Ising,
    Max2Sat,
    MaxSat,
    Polynomial,
    Problem,
    Qubo,
    to_ising,
    to_spins,
)
from glasshouse.problems.exact import sums_at_ends
from glasshouse.problems.expansion import expanded
from glasshouse.problems.monomials import Monomials

# The largest number of bits of all exact numbers of a problem; they take half a gigabyte.
_MOST_BITS = 2**30


@dataclass(frozen=True, eq=False)
class ExactForm:
    """The energy (or cost) as `(constant - Σ w_ab s_a s_b) / scale` over spins ±1.

    Attributes:
        num_variables: the number of spins; the ghost, always +1, is the vertex after the last spin.
        edges: (k, 2) array of vertices a < b, ascending, each pair once; fields are edges to the
            ghost.
        weights: k integers, none of them zero.
        constant: an integer.
        scale: the factor that turned the problem's own numbers into integers.
        loop_scale: the same factor for the multipliers of its certificates. The certificate of a
            MAX-2-SAT problem is that of the Ising problem whose energy is twice the cost, because
            there an edge weighs what violating it costs; so its loops scale half as much.
        monomials: used instead of edges if a problem or its certificate has products of more than
            two spins: `constant - Σ w_S Π_{i in S} s_i`.
        grain: a divisor of all differences between costs of states that satisfy the hard clauses; 0
            if these costs are equal, None if no divisor is known except by the weights.

    >>> form = ExactForm.of(Max2Sat.from_clauses(2, [[1, 2], [-1], [-2]], [3, 1, 2]))
    >>> form.edges.tolist(), form.weights.tolist(), form.constant, form.scale
    ([[0, 1], [0, 2], [1, 2]], [-3, 1, -1], 9, 4)
    """

    num_variables: int
    edges: EdgeArray
    weights: npt.NDArray[Any]
    constant: int
    scale: int = 1
    loop_scale: int = 1
    grain: int | None = None
    monomials: Monomials | None = None

    @classmethod
    def of(cls, problem: Problem) -> ExactForm:
        """Return the exact form of any problem, in which spin i is vertex i and true is +1."""
        if isinstance(problem, Max2Sat):
            return cls.of_max2sat(problem, problem.hard_weight)
        if isinstance(problem, Qubo):
            return cls.of_qubo(problem)
        if isinstance(problem, Polynomial):
            return cls.of_polynomial(problem)
        return cls.of_ising(to_ising(problem)[0])

    @classmethod
    def of_ising(cls, problem: Ising) -> ExactForm:
        """Return the exact form of an Ising problem: its numbers, scaled to integers."""
        (weights, fields, (constant,)), scale = whole(
            problem.weights, problem.fields, [problem.offset]
        )
        return cls._from(problem.edges, weights, fields, constant, scale, scale)

    @classmethod
    def of_qubo(cls, problem: Qubo) -> ExactForm:
        """Return the exact form of four times a QUBO's energy, by substituting x = (1 + s)/2."""
        (pairs, linear, (offset,)), scale = whole(problem.weights, problem.linear, [problem.offset])
        (pairs, linear) = roomy(pairs, linear, factor=8)
        fields = -2 * linear - sums_at_ends(problem.num_variables, problem.edges, pairs)
        constant = 4 * int(offset) + 2 * int(linear.sum()) + int(pairs.sum())
        return cls._from(problem.edges, -pairs, fields, constant, 4 * scale, 4 * scale)

    @classmethod
    def of_polynomial(cls, problem: Polynomial) -> ExactForm:
        """Return a polynomial's exact form; for bits, put x = (1 + s)/2 and scale by 2^degree."""
        (weights, (offset,)), scale = whole(problem.weights, [problem.offset])
        held, below, constant = problem.monomials, 1, 0
        if problem.units == "binary":
            below = 1 << problem.degree
            (weights,) = roomy(weights, factor=2 * below)
            held, weights, constant = expanded(held, weights, to_spin=True)
        (weights,) = roomy(weights, factor=1)
        scale, constant = scale * below, below * int(offset) + int(constant)
        none = np.empty((0, 2), dtype=np.int32)
        return cls(
            problem.num_variables, none, -weights, constant, scale, scale, monomials=held
        )  # fmt: skip

    def with_monomials(self) -> ExactForm:
        """Return the same form with monomials instead of edges."""
        if self.monomials is not None:
            return self
        held = of_edges(self.edges, self.num_variables)
        return replace(self, edges=self.edges[:0], monomials=held)

    @classmethod
    def of_max2sat(cls, problem: Max2Sat, hard_weight: int | float | Fraction) -> ExactForm:
        """Return the exact form of four times the cost; a hard clause costs `hard_weight`."""
        clauses, hard = problem.clauses, problem.hard
        return cls.of_clauses(problem.num_variables, clauses, problem.weights, hard, hard_weight)

    @classmethod
    def of_clauses(
        cls, size: int, clauses: Any, weights: Any, hard: Any, hard_weight: int | float | Fraction
    ) -> ExactForm:
        """Return the exact form of clauses whose weights may be Python integers of any size.

        The clause l ∨ m of weight w costs w(1-l)(1-m)/4 in spins, the unit clause l w(1-l)/2.
        """
        (soft, (penalty,)), scale = whole(weights, [hard_weight])
        (soft, penalties) = roomy(soft, packed([int(penalty)] * len(hard)), factor=8)
        weights = np.concatenate([soft, penalties])
        first, second = np.concatenate([clauses, hard]).T.astype(np.int64)
        second = np.where(second == first, 0, second)
        kept = (first != -second) | (first == 0)  # x ∨ ¬x costs nothing
        first, second, weights = first[kept], second[kept], weights[kept]
        is_pair = second != 0
        factor = np.where(is_pair, 1, np.where(first != 0, 2, 4))
        fields = np.zeros(size + 1, dtype=weights.dtype)  # index 0 is for missing literals
        for literals in (first, second):
            np.add.at(fields, np.abs(literals), weights * (factor * np.sign(literals)))
        first, second = first[is_pair], second[is_pair]
        products = -weights[is_pair] * (np.sign(first) * np.sign(second))
        ends = np.column_stack([np.abs(first) - 1, np.abs(second) - 1])
        edges, couplings = summed(ends, products, size)
        constant = int((weights * factor).sum())
        grain = 4 * gcd_of(soft)
        return cls._from(edges, couplings, fields[1:], constant, 4 * scale, 2 * scale, grain)

    @classmethod
    def _from(
        cls,
        edges: npt.NDArray[Any],
        couplings: npt.NDArray[Any],
        fields: npt.NDArray[Any],
        constant: Any,
        *others: Any,
    ) -> ExactForm:
        """Build a form from couplings and fields, which become ghost edges; drop zero weights."""
        couplings, fields = roomy(couplings, fields, factor=1)
        coupled = np.flatnonzero(couplings.astype(np.bool_))
        biased = np.flatnonzero(fields.astype(np.bool_)).astype(np.int32)
        ghosts = np.full_like(biased, len(fields))
        ends = np.concatenate([edges[coupled], np.column_stack([biased, ghosts])], dtype=np.int32)
        weights = np.concatenate([couplings[coupled], fields[biased]])
        if len(biased):
            order = np.argsort(_keys(ends, len(fields)), kind="stable")  # two ascending runs
            ends, weights = ends[order], weights[order]
        return cls(len(fields), ends, weights, int(constant), *others)

    def weights_on(self, edges: npt.NDArray[Any], kind: Any) -> npt.NDArray[Any]:
        """Return the weights on the given edges (a, b) or (b, a); 0 for a missing edge."""
        keys = _keys(self.edges, self.num_variables)
        wanted = _keys(np.column_stack(ends_of(edges)), self.num_variables)
        places = np.minimum(np.searchsorted(keys, wanted), max(0, len(keys) - 1))
        found = np.zeros(len(wanted), dtype=kind)
        if len(keys):
            there = keys[places] == wanted
            found[there] = self.weights[places[there]]
        return found

    @cached_property
    def total(self) -> int:
        """The sum of the magnitudes of all weights, Σ|w|."""
        return int(np.abs(self.weights).sum())

    @cached_property
    def step(self) -> int:
        """A divisor of all differences between values of feasible states; 0 if all are equal."""
        return self.flip_step if self.grain is None else math.lcm(self.flip_step, self.grain)

    @cached_property
    def flip_step(self) -> int:
        """A divisor of all differences between the values of states; 0 if all values are equal.

        Flipping the spin of vertex a changes the value by 2 Σ_b w_ab s_a s_b. With g, the gcd of
        all weights, that is 2 Σ_b w_ab modulo 4g, whatever the spins are. The same holds for
        monomials, with the sum over all monomials that contain the spin.
        """
        if self.monomials is not None:
            sums = incident_sums(self.num_variables, self.monomials, self.weights)
            return 2 * math.gcd(2 * gcd_of(self.weights), gcd_of(sums))
        sums = sums_at_ends(self.num_variables + 1, self.edges, self.weights)
        return 2 * math.gcd(2 * gcd_of(self.weights), gcd_of(sums))

    def value(self, state: npt.NDArray[np.int8]) -> int:
        """Return the value `constant - Σ w s s` of a state, given without the ghost."""
        if self.monomials is not None:
            held = self.monomials.products(state[np.newaxis])[0]
            return self.constant - int((self.weights * held).sum())
        spins = np.append(state, np.int8(1))
        products = spins[self.edges[:, 0]] * spins[self.edges[:, 1]]
        return self.constant - int((self.weights * products).sum())


def exact_energy(problem: Problem, state: npt.ArrayLike) -> Fraction:
    """Return the energy (or cost) of one state of a problem as an exact fraction."""
    if problem.is_integer:
        return Fraction(int(problem.energy(state)))
    if isinstance(problem, MaxSat):
        weights = np.array([Fraction(weight) for weight in problem.weights.tolist()], dtype=object)
        soft = problem.soft.falsified(np.asarray(state, dtype=np.int8), weights).item()
        return Fraction(soft + problem.broken(state) * Fraction(problem.hard_weight))
    form = ExactForm.of(problem)
    return Fraction(form.value(to_spins(np.asarray(state))), form.scale)


def whole(*groups: Any) -> tuple[list[npt.NDArray[Any]], int]:
    """Multiply numbers by the least factor that makes them integers; return integers and factor.

    >>> (first, second), factor = whole([0.75, 2], [Fraction(1, 3)])
    >>> first.tolist(), second.tolist(), factor
    ([9, 24], [4], 12)
    """
    arrays = [np.asarray(group) for group in groups]
    if all(array.dtype.kind == "i" for array in arrays):
        return arrays, 1
    _refuse_wide(arrays)
    ratios = [_ratios(array) for array in arrays]
    factor = math.lcm(1, *{below for _, below in ratios})
    return [packed(_times(factor // below, numbers)) for numbers, below in ratios], factor


def _times(factor: int, numbers: list[int]) -> list[int]:
    """Multiply integers by a factor, which is 1 for most problems."""
    return numbers if factor == 1 else [factor * number for number in numbers]


def _ratios(array: npt.NDArray[Any]) -> tuple[list[int], int]:
    """Return the integer numerators of numbers, and their least common denominator."""
    if array.dtype == np.float64 and np.isfinite(array).all():
        return _binary_ratios(array)
    ratios = [x.as_integer_ratio() for x in array.tolist()]
    factor = math.lcm(1, *{below for _, below in ratios})
    return [n * (factor // below) for n, below in ratios], factor


def _binary_ratios(array: npt.NDArray[np.float64]) -> tuple[list[int], int]:
    """Return the integer numerators of floats over a common power of two, and that power."""
    mantissas, exponents = np.frexp(array)
    numerators = np.ldexp(mantissas, 53).astype(np.int64)  # exact: a mantissa has 53 bits
    zeros = np.frexp((numerators & -numerators).astype(np.float64))[1] - 1  # trailing zero bits
    zeros[numerators == 0] = 0
    shifts = exponents - 53 + zeros
    shifts[numerators == 0] = 0
    below = max(0, -int(shifts.min(initial=0)))
    odd, left = (numerators >> zeros).tolist(), (shifts + below).tolist()
    return [n << places for n, places in zip(odd, left, strict=True)], 1 << below


def _refuse_wide(arrays: list[npt.NDArray[Any]]) -> None:
    """Raise if floats would take gigabytes as integers over a common power of two."""
    floats = np.concatenate([np.abs(a[a != 0]) for a in arrays if a.dtype.kind == "f"] or [[]])
    if not len(floats):
        return
    exponents = np.frexp([floats.min(), floats.max()])[1]
    bits = int(exponents[1]) - int(exponents[0]) + 53
    if bits * len(floats) > _MOST_BITS:
        raise ValueError(
            f"{len(floats)} weights from {floats.min():g} to {floats.max():g} would take "
            f"{bits} bits each as exact integers; drop the smallest weights, or round all weights"
        )


def packed(numbers: Iterable[int]) -> npt.NDArray[Any]:
    """Return an array: int64 if the magnitudes add up to less than 2^61, else Python integers."""
    values = list(numbers)
    fits = sum(map(abs, values)) < ROOM
    array = np.empty(len(values), dtype=np.int64 if fits else object)
    array[:] = values
    return array


def roomy(*arrays: npt.NDArray[Any], factor: int) -> list[npt.NDArray[Any]]:
    """Return int64 arrays if `factor` times their sum cannot overflow, else Python integers."""
    if all(array.dtype == np.int64 for array in arrays):
        # The rounding of float sums is far less than the distance between 2^61 and 2^63.
        magnitude = sum(float(np.abs(array).sum(dtype=np.float64)) for array in arrays)
        if magnitude * factor < ROOM:
            return list(arrays)
    return [array.astype(object) for array in arrays]


def gcd_of(numbers: npt.NDArray[Any]) -> int:
    """Return the greatest common divisor; 0 if there are no nonzero numbers."""
    if numbers.dtype == object:
        return math.gcd(*numbers.tolist())
    return int(np.gcd.reduce(numbers)) if len(numbers) else 0


def _keys(edges: npt.NDArray[Any], ghost: int) -> npt.NDArray[np.int64]:
    """Return one integer per edge; they sort in the order of the edges, with ends below 2^31."""
    keys: npt.NDArray[np.int64] = edges[:, 0].astype(np.int64) * (ghost + 1) + edges[:, 1]
    return keys
