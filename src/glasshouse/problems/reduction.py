"""Reductions: maps of states between two problems, and the relation between their energies."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.problems import validation
from glasshouse.summaries import Summarised

StateMap: TypeAlias = Callable[[npt.NDArray[np.int8]], npt.NDArray[np.int8]]
Exact: TypeAlias = Fraction | float


class Space(NamedTuple):
    """A problem's state space: the kind of problem, its size, and the lower value of a variable."""

    kind: str
    size: int
    low: int

    def check(self, state: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """Check one state or a batch (last axis = variables); raise if size or values are wrong."""
        return validation.states(
            state, self.size, (self.low, 1), f"the state of the {self.kind} form"
        )

    def from_bits(self, bits: npt.NDArray[Any]) -> npt.NDArray[np.int8]:
        """Convert a state of 0 and 1, as stored in files, to the values of this space."""
        ones = bits.astype(np.int8, copy=False)
        return ones if self.low == 0 else 2 * ones - np.int8(1)

    def from_spins(self, spins: npt.NDArray[Any]) -> npt.NDArray[np.int8]:
        """Convert a state of ±1 to the values of this space."""
        return spins.astype(np.int8, copy=False) if self.low < 0 else to_bits(spins)

    def __str__(self) -> str:
        return self.kind


def to_bits(state: npt.NDArray[Any]) -> npt.NDArray[np.int8]:
    """Convert a state of bits or spins to bits 0 and 1."""
    return (state > 0).astype(np.int8)


def to_spins(state: npt.NDArray[Any]) -> npt.NDArray[np.int8]:
    """Convert a state of bits or spins to spins ±1."""
    return np.where(state > 0, np.int8(1), np.int8(-1))


def spins(kind: str, size: int) -> Space:
    """Return the space of ±1 states."""
    return Space(kind, size, -1)


def bits(kind: str, size: int) -> Space:
    """Return the space of 0/1 states."""
    return Space(kind, size, 0)


@dataclass(frozen=True, repr=False)
class Reduction(Summarised):
    """A map from a source problem to a target problem: `E_target = factor · E_source + shift`.

    The identity holds for every source state s and its image `forward(s)`. `back` undoes `forward`.
    Some target states are not an image (the copies of a doubled variable differ, a free ghost spin
    is not aligned). For these, `back` returns a source state that costs at most what the identity
    states, so optima map to optima. States with a *fixed* ghost at -1 are meaningless.

    Attributes:
        source: the states of the original problem.
        target: the states of the new problem.
        factor: exact; above 1 if halves were scaled to integers.
        shift: exact for integer problems; a rounded sum for floats.
        bijective: whether every target state is the image of a source state.

    >>> from glasshouse.problems import Ising
    >>> from glasshouse.problems.convert import to_max2sat
    >>> ising = Ising.from_edges(2, [(0, 1)], [3])
    >>> clauses, reduction = to_max2sat(ising)
    >>> print(reduction)
    Ising → MAX-2-SAT: E_target = 1/2·E_source + 3/2
    >>> reduction.source_energy(clauses.cost([1, 0])), reduction.back([1, 0])
    (3, array([ 1, -1], dtype=int8))
    >>> reduction.forward([1, -1]), reduction.target_energy(3)
    (array([1, 0], dtype=int8), 3)
    >>> reduction.identity
    'E_target = 1/2·E_source + 3/2'
    >>> from glasshouse.problems.convert import to_qubo
    >>> _, further = to_qubo(clauses)
    >>> reduction.then(further).identity
    'E_target = 1/2·E_source + 3/2'
    """

    source: Space
    target: Space
    forward_map: StateMap
    back_map: StateMap
    factor: Fraction = Fraction(1)
    shift: Exact = Fraction(0)
    bijective: bool = True

    def forward(self, state: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """Return the image of one source state, or of a batch (last axis = variables)."""
        return self.forward_map(self.source.check(state))

    def back(self, state: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """Return the source state of one target state, or of a batch (last axis = variables)."""
        return self.back_map(self.target.check(state))

    def target_energy(self, energy: Any) -> Any:
        """Return the target energy of a state, given its source energy."""
        return self._plain(_exact(energy) * self.factor + Fraction(self.shift), energy)

    def source_energy(self, energy: Any) -> Any:
        """Return the source energy of a state, given its target energy."""
        return self._plain((_exact(energy) - Fraction(self.shift)) / self.factor, energy)

    def _plain(self, exact: Any, given: Any) -> Any:
        """Convert fractions to floats if the input was float, otherwise to integers if possible."""
        is_float = isinstance(self.shift, float) or np.asarray(given).dtype.kind == "f"
        if not isinstance(exact, np.ndarray):
            return nearest_float(exact) if is_float else _as_integer(exact)
        if is_float:
            plain = np.array([nearest_float(e) for e in exact.reshape(-1)], dtype=np.float64)
        else:
            plain = np.empty(exact.size, dtype=object)
            plain[:] = [_as_integer(e) for e in exact.reshape(-1)]
            if all(isinstance(e, int) and abs(e) <= validation.INT64_MAX for e in plain):
                plain = plain.astype(np.int64)
        return plain.reshape(exact.shape)

    def then(self, following: Reduction) -> Reduction:
        """Return this reduction followed by another one."""
        return Reduction(
            self.source,
            following.target,
            lambda state: following.forward_map(self.forward_map(state)),
            lambda state: self.back_map(following.back_map(state)),
            self.factor * following.factor,
            _combined(self.shift, following.factor, following.shift),
            self.bijective and following.bijective,
        )

    @property
    def identity(self) -> str:
        """The relation between the energies as text: "E_target = …"."""
        factor = "" if self.factor == 1 else f"{self.factor}·"
        sign = "-" if self.shift < 0 else "+"
        shift = f" {sign} {abs(self.shift)}" if self.shift else ""
        return f"E_target = {factor}E_source{shift}"

    def __str__(self) -> str:
        return f"{self.source} → {self.target}: {self.identity}"

    def __repr__(self) -> str:
        return f"Reduction({self})"


def same_state(source: Space, target: Space, factor: Fraction = Fraction(1)) -> Reduction:
    """Return a reduction that leaves states unchanged."""
    return Reduction(source, target, lambda state: state, lambda state: state, factor)


def _exact(energy: Any) -> Any:
    """Convert a number, or each element of an array, to a Fraction, to avoid rounding twice."""
    array = np.asarray(energy)
    if array.ndim == 0:
        return Fraction(energy if isinstance(energy, (int, float, Fraction)) else array.item())
    exact = np.empty(array.size, dtype=object)
    exact[:] = [Fraction(e) for e in array.reshape(-1).tolist()]
    return exact.reshape(array.shape)


def _combined(shift: Exact, factor: Fraction, further: Exact) -> Exact:
    """Return factor · shift + further, as a float if a shift is a float and nothing underflows."""
    exact = Fraction(shift) * factor + Fraction(further)
    if isinstance(shift, Fraction) and isinstance(further, Fraction):
        return exact
    rounded = nearest_float(exact)
    return rounded if abs(rounded) >= sys.float_info.min or rounded == exact else exact


def _as_integer(exact: Fraction) -> Fraction | int:
    """Return an integral Fraction as an int, any other Fraction unchanged."""
    return int(exact) if exact.denominator == 1 else exact


def nearest_float(exact: Fraction) -> float:
    """Return the float nearest to a fraction; infinite if it exceeds the largest float."""
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
