"""Hardness: how many sweeps an annealer needs to reach the planted energy, the paper's N_tot."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from glasshouse.landscape import frustration_index
from glasshouse.planting import Planted
from glasshouse.problems import Rbm, checks
from glasshouse.studies.kernels import total_sweeps
from glasshouse.studies.kinds import Column, Columns, Kind

if TYPE_CHECKING:
    from glasshouse.studies.task import Task

HARDNESS = Kind(
    "hardness",
    (
        Column("sweeps", "integer", "sweeps of all runs to the planted energy, or until given up"),
        Column("solved", "integer", "1 where it was reached, 0 where given up (censored)"),
        Column("energy", "integer", "lowest energy reached"),
        Column("frustration", "real", "realised frustration index at the plant"),
        Column("loops", "integer", "the paper's N"),
    ),
    counted="solved",
)


@dataclass(frozen=True)
class Annealer:
    """How instances are solved: runs of simulated annealing, reset until one succeeds.

    β rises linearly within a run. Numbers depend strongly on these settings, so every figure
    states them.

    Attributes:
        sweeps_per_run: the paper's N_sweep; "paper" is its second polynomial, "paper-first" its
            first one.
        beta: first and last β in units of one over the loop weight; "paper" is 0.01 to ln n
            times min(1, n/ρ), as in the authors' code, "paper-text" times min(1, 1/ρ).
        check: "sweep" looks for success at the end of each sweep, as the paper did, "flip" after
            every flip.
        max_sweeps: an instance is given up after so many.

    >>> Annealer(sweeps_per_run=200, beta=(0.01, 4.6)).canonical()["beta"]
    ['1/100', '23/5']
    """

    sweeps_per_run: int | Literal["paper", "paper-first"] = "paper"
    beta: Any = "paper"
    check: Literal["sweep", "flip"] = "sweep"
    max_sweeps: int = 100_000_000

    def __post_init__(self) -> None:
        if self.sweeps_per_run not in ("paper", "paper-first"):
            checks.count(self.sweeps_per_run, "sweeps_per_run", 1)
        checks.count(self.max_sweeps, "max_sweeps", 1)
        if self.check not in ("sweep", "flip"):
            raise ValueError(f"check={self.check!r} is neither 'sweep' nor 'flip'")
        if self.beta not in ("paper", "paper-text"):
            object.__setattr__(self, "beta", _exact_range(self.beta))

    def canonical(self) -> dict[str, Any]:
        """The settings as plain values without floats."""
        return asdict(self) | {"beta": list(self.beta) if self.beta[0] != "p" else self.beta}

    def schedule(self, plant: Planted) -> Schedule:
        """What the settings mean for an instance."""
        n = half(plant)
        density = plant.loops.num_loops / n
        if self.beta in ("paper", "paper-text"):
            reach = (n if self.beta == "paper" else 1) / density
            scale = min(1.0, reach)
            first, last = 0.01 * scale, math.log(n) * scale
        else:
            first, last = (float(Fraction(value)) for value in self.beta)
        sweeps = self.sweeps_per_run
        if not isinstance(sweeps, int):
            f = float(Fraction(plant.recipe.parameters["frustration"]))
            sweeps = _paper_sweeps(n, f, sweeps)
        return Schedule(sweeps, first, last, self.check, self.max_sweeps)


@dataclass(frozen=True)
class Schedule:
    """An annealer's settings in numbers, for one family of instances.

    Attributes:
        sweeps_per_run: the paper's N_sweep.
        first_beta: in units of one over the loop weight.
        last_beta: likewise.
        check: where success is looked for.
        max_sweeps: when an instance is given up.
    """

    sweeps_per_run: int
    first_beta: float
    last_beta: float
    check: str
    max_sweeps: int

    def __str__(self) -> str:
        return (
            f"β {self.first_beta:.3g} to {self.last_beta:.3g}, N_sweep {self.sweeps_per_run}, "
            f"checked at every {self.check}'s end, given up after {self.max_sweeps:.3g} sweeps"
        )


def measure(task: Task, first: int, count: int) -> Columns:
    """Grow and solve instances first to first+count-1."""
    assert task.solver is not None
    rows = {column.name: np.zeros(count, dtype=column.dtype) for column in HARDNESS.measured}
    for k in range(count):
        begin = time.perf_counter()
        plant = task.grow(first + k)
        schedule = task.solver.schedule(plant)
        betas = np.linspace(schedule.first_beta, schedule.last_beta, schedule.sweeps_per_run)
        word = task.solving_seed.child(first + k).sequence().generate_state(1, np.uint32)[0]
        form = plant.ising
        sweeps, energy = total_sweeps(
            np.int64(word), form.num_spins, form.edges, form.weights.astype(np.float64),
            betas / plant.loop_weight, float(plant.energy), schedule.max_sweeps,
        )  # fmt: skip
        rows["sweeps"][k], rows["energy"][k] = sweeps, int(energy)
        rows["solved"][k] = int(energy) == plant.energy
        rows["frustration"][k] = float(frustration_index(form, plant.state))
        rows["loops"][k] = plant.loops.num_loops
        rows["seconds"][k] = time.perf_counter() - begin
    return rows


def _exact_range(value: Any) -> tuple[str, str]:
    if isinstance(value, str) or len(value) != 2:
        raise ValueError(
            f"beta={value!r} is neither 'paper', 'paper-text' nor a pair (first, last)"
        )
    first, last = (Fraction(str(part)) for part in value)
    if not 0 <= first <= last:
        raise ValueError(f"beta={value!r} must rise from at least 0")
    return str(first), str(last)


def half(plant: Planted) -> float:
    """n: visible spins, or half the vertices of a general graph."""
    problem = plant.problem
    return problem.num_visible if isinstance(problem, Rbm) else problem.num_spins / 2


def peak_density(n: float) -> float:
    """Paper's."""
    return 0.3035 + 0.2952 * math.exp(-0.0196 * n)


def _paper_sweeps(n: float, f: float, which: str) -> int:
    if which == "paper":
        size, by_f = 1.29 * n**2 - 33.1 * n + 1664, 41.4 * f**3 - 11.7 * f**2 + 1.06 * f - 0.018
    else:
        size, by_f = 0.504 * n**2 - 13.3 * n + 311, 193 * f**3 - 52.7 * f**2 + 4.73 * f - 0.102
    return max(2, math.floor(size * by_f))
