"""Every problem as spins: the Ising form that the landscape is measured on."""

from __future__ import annotations

import numpy.typing as npt

from glasshouse.problems import Ising, validation
from glasshouse.problems.convert import Given, to_ising
from glasshouse.problems.validation import SpinArray


def ising_form(problem: Given) -> Ising:
    """The problem as an Ising problem, one spin per variable, in the same order."""
    return to_ising(problem)[0]


def at_state(problem: Given, state: npt.ArrayLike) -> tuple[Ising, SpinArray]:
    """The Ising form and one state of it, given in the problem's own values (±1 or 0/1)."""
    form, reduction = to_ising(problem)
    return form, one_state(reduction.forward(state), form.num_variables)


def one_state(state: npt.ArrayLike, num_spins: int, name: str = "state") -> SpinArray:
    """A single state of ±1 spins, not a batch."""
    spins = validation.states(state, num_spins, (-1, 1), name)
    if spins.ndim != 1:
        raise ValueError(f"{name} has shape {spins.shape}, but one state is needed, not a batch")
    return spins
