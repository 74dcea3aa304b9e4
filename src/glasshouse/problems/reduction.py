"""What a reduction leaves behind: the ways of a state forth and back, and the energy identity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.problems import checks

StateMap: TypeAlias = Callable[[npt.NDArray[np.int8]], npt.NDArray[np.int8]]
Exact: TypeAlias = Fraction | float


class Space(NamedTuple):
    """The states of a problem: its kind (for people), its size, and the lower of its two values."""

    kind: str
    size: int
    low: int

    def check(self, state: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """One state or a batch (last axis = variables), refused if it is of another problem."""
        return checks.states(state, self.size, (self.low, 1), f"the state of the {self.kind} form")

    def __str__(self) -> str:
        return self.kind


def spins(kind: str, size: int) -> Space:
    """States of ±1."""
    return Space(kind, size, -1)


def bits(kind: str, size: int) -> Space:
    """States of 0 and 1."""
    return Space(kind, size, 0)


@dataclass(frozen=True)
class Reduction:
    """From a source problem to a target problem: `E_target = factor · E_source + shift`.

    The identity holds for every source state s and its image `forward(s)`. `back` undoes `forward`;
    where a target has states that are no image (a doubled variable torn in two, a free ghost spin
    out of line), it returns a source state that costs at most what the identity says. So optima
    map to optima. Only *fixed* ghosts are exempt: with them at -1 a state means nothing.

    Attributes:
        source: the states of the problem reduced.
        target: the states of the problem it became.
        factor: exact; larger than 1 where halves were scaled to integers.
        shift: exact for integer problems.
        bijective: whether every target state is the image of a source state.

    >>> from glasshouse.problems import Ising
    >>> from glasshouse.problems.convert import to_max2sat
    >>> ising = Ising.from_edges(2, [(0, 1)], [3])
    >>> clauses, reduction = to_max2sat(ising)
    >>> print(reduction)
    Ising → MAX-2-SAT: E_target = 1/2·E_source + 3/2
    >>> reduction.source_energy(clauses.cost([1, 0])), reduction.back([1, 0])
    (3, array([ 1, -1], dtype=int8))
    """

    source: Space
    target: Space
    forward_map: StateMap
    back_map: StateMap
    factor: Fraction = Fraction(1)
    shift: Exact = Fraction(0)
    bijective: bool = True

    def forward(self, state: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """Image of one source state, or of a batch (last axis = variables)."""
        return self.forward_map(self.source.check(state))

    def back(self, state: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """Source state of one target state, or of a batch (last axis = variables)."""
        return self.back_map(self.target.check(state))

    def target_energy(self, energy: Any) -> Any:
        """Target energy of a state whose source energy is known."""
        return _plain(_exact(energy) * self.factor + self.shift)

    def source_energy(self, energy: Any) -> Any:
        """Source energy of a state whose target energy is known."""
        return _plain((_exact(energy) - self.shift) / self.factor)

    def then(self, following: Reduction) -> Reduction:
        """This reduction followed by another one."""
        return Reduction(
            self.source,
            following.target,
            lambda state: following.forward_map(self.forward_map(state)),
            lambda state: self.back_map(following.back_map(state)),
            self.factor * following.factor,
            self.shift * following.factor + following.shift,
            self.bijective and following.bijective,
        )

    @property
    def identity(self) -> str:
        """The energy identity, for people."""
        factor = "" if self.factor == 1 else f"{self.factor}·"
        sign = "-" if self.shift < 0 else "+"
        shift = f" {sign} {abs(self.shift)}" if self.shift else ""
        return f"E_target = {factor}E_source{shift}"

    def __str__(self) -> str:
        return f"{self.source} → {self.target}: {self.identity}"


def same_state(source: Space, target: Space, factor: Fraction = Fraction(1)) -> Reduction:
    """A reduction that leaves states as they are."""
    return Reduction(source, target, lambda state: state, lambda state: state, factor)


def _exact(energy: Any) -> Any:
    """Integers as Fractions, so that no division loses anything; arrays element by element."""
    array = np.asarray(energy)
    if array.dtype.kind in "iu":
        exact = np.array([Fraction(int(e)) for e in array.reshape(-1)], dtype=object)
        return exact.reshape(array.shape) if array.ndim else exact[0]
    return energy


def _plain(energy: Any) -> Any:
    """Whole Fractions back to int (or int64 arrays)."""
    if isinstance(energy, np.ndarray) and energy.dtype == object:
        plain = [_plain(e) for e in energy.reshape(-1)]
        return np.array(plain).reshape(energy.shape)
    if isinstance(energy, Fraction) and energy.denominator == 1:
        return int(energy)
    return energy
