"""Conversion of any problem to an Ising problem, and of the results back to the problem."""

from __future__ import annotations

import math
import sys
from contextlib import suppress
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.problems import Ising, MaxSat, Polynomial, Problem, Reduction, validation
from glasshouse.problems.convert import Given, given_problem, to_ising, to_polynomial
from glasshouse.problems.validation import FloatArray, Number, SpinArray
from glasshouse.solvers.engine import exact_unit, float_for
from glasshouse.solvers.kernels.sweep_order import energies_of
from glasshouse.solvers.schedule import Beta

Solvable: TypeAlias = Given
# A target energy; "planted" for that of the plant, if there is one; or None.
Target: TypeAlias = Number | Literal["planted"] | None

_WORTH_COMPILING = 1 << 18  # edges above which compiled code saves time

_MOST_MEMBERS = 1 << 27  # members of all monomials, counted once for each of their spins


def _fits_tables(problem: Polynomial) -> bool:
    """Return whether a polynomial's kernel tables take at most a few gigabytes."""
    return sum(int(degree) ** 2 for degree in problem.monomials.degrees) <= _MOST_MEMBERS


def _has_products(problem: Problem) -> bool:
    """Return whether a problem has terms or clauses of at least three variables."""
    if isinstance(problem, Polynomial):
        return problem.degree > 2
    return isinstance(problem, MaxSat) and problem.longest > 2


class SpinForm:
    """The Ising form of a problem, with conversions of energies, β and states.

    Args:
        problem: any problem.
        any_degree: whether terms and clauses of at least three variables may become monomials of a
            polynomial of spins. `ising` is then a polynomial, unless its sums are not exact in
            floats or it has too many monomials. Otherwise they become pairs with ancillas.
    """

    def __init__(self, problem: Solvable, *, any_degree: bool = False) -> None:
        self.planted_energy: Number | None = getattr(problem, "energy", None)
        if callable(self.planted_energy):  # the method of a problem, not the energy of a plant
            self.planted_energy = None
        self.problem: Problem = given_problem(problem)
        self.ising: Any
        self.reduction: Reduction
        if any_degree and _has_products(self.problem):
            with suppress(ValueError):
                self.ising, self.reduction = to_polynomial(self.problem, "spin")
                if float_for(self.ising) is not None and _fits_tables(self.ising):
                    return
        self.ising, self.reduction = to_ising(self.problem)

    def wanted(self, target: Target) -> Number | None:
        """Return the planted energy if the target is "planted", otherwise the target unchanged."""
        if isinstance(target, str):
            if target != "planted":
                raise ValueError(f"target={target!r} must be an energy, 'planted' or None")
            return self.planted_energy
        return target

    def target(self, energy: Number | None) -> Any:
        """Convert a target energy of the problem to the Ising form."""
        energy = validation.target(energy)
        if energy is None:
            return None
        if isinstance(energy, int) and abs(energy) > sys.float_info.max:
            return math.inf if energy > 0 else -math.inf
        if isinstance(energy, float) and math.isinf(energy):
            return energy
        return self.reduction.target_energy(energy)

    def confirmed_hits(
        self, hits: npt.NDArray[np.int32], energies: Any, target: Number | None, sweeps: int
    ) -> npt.NDArray[np.int32]:
        """Return the hits that are consistent with the recomputed energies of the states.

        Kernels may round energies. A hit counts only if its state reaches the target up to the
        rounding of a sum. A state that does so without a hit counts as a hit in the last sweep.
        """
        if target is None or self.ising.is_integer:
            return hits
        limit = min(max(target, -sys.float_info.max), sys.float_info.max)
        reached = energies <= limit
        if exact_unit(self.ising) is None:
            terms = self.ising.num_edges + self.ising.num_variables + 1
            scale = float(self.ising.total_weight + abs(self.ising.offset))
            rounding = (4 + math.sqrt(terms)) * np.finfo(np.float64).eps * scale
            reached = energies <= limit + rounding / abs(float(self.reduction.factor))
        confirmed = np.where(reached, np.where(hits > 0, hits, sweeps), 0)
        return confirmed.astype(np.int32)

    def beta(self, beta: Beta) -> FloatArray | None:
        """Convert inverse temperatures of the problem to the Ising form."""
        if beta is None:
            return None
        return validation.inverse_temperatures(beta) / float(self.reduction.factor)

    def own_betas(self, betas: FloatArray) -> FloatArray:
        """Convert inverse temperatures of the Ising form to inverse temperatures of the problem."""
        return betas * float(self.reduction.factor)

    def own_states(self, states: SpinArray) -> SpinArray:
        """Convert states of the Ising form to states of the problem."""
        return self.reduction.back(states)

    def own_energy(self, energy: float) -> Any:
        """Convert a kernel's energy, which excludes the offset, to an energy of the problem."""
        exact = int(energy) if self.ising.is_integer else energy
        return self.reduction.source_energy(exact + self.ising.offset)

    def energy(self, states: SpinArray) -> Any:
        """Return the energies, or costs, of states of the problem."""
        return self.problem.energy(states)

    def energies_of_runs(self, states: SpinArray) -> Any:
        """Return the energies of many states of the problem, by compiled code if it saves time."""
        work = len(states) * self.ising.num_edges
        is_ising = isinstance(self.ising, Ising) and not isinstance(self.problem, Polynomial)
        if work < _WORTH_COMPILING or self.problem.space.low == 0 or not is_ising:
            return self.energy(states)
        ising = self.ising
        energies = np.empty(len(states), ising.weights.dtype)
        columns = np.ascontiguousarray(states.T)
        energies_of(ising.edges, ising.weights, ising.fields, columns, energies)
        return energies + ising.offset
