"""Steepest descent from given states to local minima."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.kernels.adjacency import adjacency
from glasshouse.problems import Ising, Labels, Sampled, SpinArray, validation
from glasshouse.solvers.kernels import descent
from glasshouse.solvers.spin_form import Solvable, SpinForm
from glasshouse.summaries import Summarised


@dataclass(frozen=True, eq=False, repr=False)
class Descent(Sampled, Summarised):
    """The results of steepest descent: local minima and their energies.

    Attributes:
        energies: the energies of the local minima, in the units of the given problem.
        states: the local minima, one per row, in the problem's own values.
        flips: the number of flips of each descent.
        labels: the problem's variable labels; None if the variables are 0, 1, 2, …
    """

    energies: npt.NDArray[Any]
    states: SpinArray
    flips: npt.NDArray[np.int64]
    labels: Labels | None = None

    def summary(self) -> str:
        """Return the number and the energy range of the local minima as one line of text."""
        low, high = self.energies.min(), self.energies.max()
        return f"{len(self.flips)} local minima, energies {low} to {high}"

    def __repr__(self) -> str:
        return f"Descent({self.summary()})"


def descend(problem: Solvable, states: npt.ArrayLike) -> Descent:
    """Turn each state into a local minimum: keep flipping the spin that lowers the energy most.

    Args:
        problem: any problem, a plant, or a dimod model.
        states: one state or a batch (last axis = variables), in the problem's own values.

    >>> from glasshouse.problems import Ising
    >>> chain = Ising.from_edges(3, [(0, 1), (1, 2)], [2, 1], fields=[1, 0, 0])
    >>> descend(chain, [-1, 1, -1]).states
    array([[1, 1, 1]], dtype=int8)
    """
    form = SpinForm(problem)
    own = np.asarray(states)
    if own.ndim == 0 or (own.size == 0 and form.ising.num_variables):
        raise ValueError(f"states has shape {own.shape}, but must contain at least one state")
    form.energy(own)  # raises if a state is invalid
    spins = validation.rows(form.reduction.forward(own)).copy()
    flips = np.zeros(len(spins), dtype=np.int64)
    descent.descend(*_rows(form.ising), form.ising.is_integer, spins, flips)
    lowered = form.own_states(spins)
    return Descent(form.energy(lowered), lowered, flips, form.problem.labels)


def _rows(problem: Ising) -> tuple[npt.NDArray[Any], ...]:
    """Return the coupling graph in compressed sparse rows, with its weights and the fields."""
    starts, neighbours, ids = adjacency(problem.num_variables, problem.edges)
    return starts, neighbours, problem.weights[ids], problem.fields
