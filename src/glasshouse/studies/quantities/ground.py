"""Ground states of any ensemble: proven energies, numbers of ground states, energy gaps."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.landscape import low_energy_states
from glasshouse.planting import Planted
from glasshouse.problems import MaxSat, Problem, given_problem, validation
from glasshouse.proofs import prove
from glasshouse.solvers.exhaustive import lowest_levels
from glasshouse.store.row_types import Column, Kind
from glasshouse.studies.quantities.quantity import Row, one_by_one, study_kind

if TYPE_CHECKING:
    from glasshouse.studies.task import Task

GROUND = Kind(
    "ground",
    (
        Column("proven", "integer", "1 if the energy is proven to be the lowest, else 0"),
        Column("energy", "real", "the lowest energy found"),
        Column("bound", "real", "the proven lower bound of all energies"),
        Column("gap", "real", "energy minus bound; 0 if the energy is proven"),
        Column("energy_per_spin", "real", "energy divided by the number of spins"),
        Column("spins", "integer", "the number of variables"),
    ),
    counted="proven",
)
LEVELS = Kind(
    "levels",
    (
        Column("found", "integer", "1 if the first excited level was found, else 0"),
        Column("energy", "real", "the lowest energy, by enumeration"),
        Column("ground_states", "real", "states of that energy; a lower bound if not found"),
        Column("gap", "real", "from the lowest energy to the next one; 0 if not found"),
        Column("entropy_per_spin", "real", "ln(ground_states) per spin"),
    ),
    counted="found",
)
_LISTED = (1 << 10, 1 << 16)  # states to list; the second number only if all of the first are equal


@dataclass(frozen=True)
class Prover:
    """The settings with which ground states are proven.

    Attributes:
        node_limit: nodes of the search tree of an instance; the rows are the same everywhere.
        time_limit: seconds for an instance; with it, rows depend on the speed of the computer.
    """

    node_limit: int | None = None
    time_limit: int | None = None

    def __post_init__(self) -> None:
        for name in ("node_limit", "time_limit"):
            if getattr(self, name) is not None:
                validation.count(getattr(self, name), name, 1)

    def canonical(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return asdict(self)


@study_kind(GROUND, settings=Prover, value="energy_per_spin", symbol="ground-state energy per spin",
            planted=False, signed=True)  # fmt: skip
@one_by_one(GROUND)
def measure_ground(task: Task, index: int) -> Row:
    """Prove the ground state of an instance."""
    grown = task.grow(index)
    problem = given_problem(grown)
    if isinstance(grown, Planted) and isinstance(problem, MaxSat):
        verdict = grown.proven.verdict  # prove has no bounds for clauses
    else:
        proof = prove(problem, **task.solver.canonical())
        if proof.statistics.stopped == "Ctrl-C":
            raise KeyboardInterrupt
        verdict = proof.proven.verdict
    return {
        "proven": verdict.optimal,
        "energy": verdict.energy,
        "bound": verdict.lower_bound,
        "gap": 0 if verdict.optimal else verdict.energy - verdict.lower_bound,
        "energy_per_spin": float(verdict.energy) / problem.num_variables,
        "spins": problem.num_variables,
    }


@study_kind(LEVELS, value="entropy_per_spin", symbol="ground-state entropy per spin", planted=False,
            signed=True)  # fmt: skip
@one_by_one(LEVELS)
def measure_levels(task: Task, index: int) -> Row:
    """Enumerate the states of an instance (up to about 26 spins)."""
    problem = task.problem(index)
    energy, number, gap = _levels(problem)
    return {
        "found": gap is not None,
        "energy": energy,
        "ground_states": number,
        "gap": gap or 0,
        "entropy_per_spin": math.log(number) / problem.num_variables,
    }


def _levels(problem: Problem) -> tuple[Any, int, Any]:
    """Return the lowest energy, the number of its states, and the gap to the next energy."""
    found = lowest_levels(problem)
    if found is not None:
        energy, number, above = found
        return energy, number, None if above is None else above - energy
    for listed in _LISTED:
        levels = low_energy_states(problem, listed)
        if levels.gap is not None:
            break
    energy, number = levels.energies[0], len(levels.energies)
    if levels.gap is not None:
        number = int(np.count_nonzero(levels.energies < energy + levels.gap / 2))
    return energy, levels.copies * number, levels.gap
