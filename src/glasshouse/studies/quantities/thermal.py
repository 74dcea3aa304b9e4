"""Thermal averages for any ensemble: energy, specific heat and overlaps at given temperatures."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.files.text.plain_json import canonical_json
from glasshouse.planting import Seed
from glasshouse.problems import validation
from glasshouse.problems.ratio import ratio
from glasshouse.solvers import sample
from glasshouse.store.row_types import Column, Kind
from glasshouse.studies.quantities.quantity import Row, one_by_one, study_kind
from glasshouse.suites.family import words_of

if TYPE_CHECKING:
    from glasshouse.studies.task import Task

THERMAL = Kind(
    "thermal",
    (
        Column("equilibrated", "integer", "1 if the samples pass the tests of equilibrium, else 0"),
        Column("energy_per_spin", "real", "mean energy divided by the number of spins"),
        Column("specific_heat", "real", "β² times the variance of the energy, per spin"),
        Column("q2", "real", "mean of q², the squared overlap of two replicas"),
        Column("q4", "real", "mean of q⁴"),
        Column("binder", "real", "(3 - q4/q2²)/2 of this instance"),
        Column("autocorrelation", "real", "integrated autocorrelation time, in sweeps"),
        Column("overlaps", "text", "how often each q from -1 to 1 occurs, a JSON list"),
    ),
    counted="equilibrated",
)
_MOST_LISTED = 4096  # variables; more overlaps than these would not fit into a text of a row


@dataclass(frozen=True)
class Thermal:
    """The settings of thermal averages.

    Attributes:
        beta: one inverse temperature or several; a study makes one task of each.
        sweeps: sweeps of every replica; the first half is not sampled.
        runs: independent runs for each instance.
        draws: states of each chain.
        ladder: all inverse temperatures of the study; one tempering run samples them all.
    """

    beta: Any = ("1",)
    sweeps: int = 2000
    runs: int = 8
    draws: int = 200
    ladder: Any = ()

    def __post_init__(self) -> None:
        for name, least in (("sweeps", 2), ("runs", 2), ("draws", 1)):
            validation.count(getattr(self, name), name, least)
        object.__setattr__(self, "beta", _exact(self.beta, "beta"))
        object.__setattr__(self, "ladder", _exact(self.ladder or self.beta, "ladder"))

    def each(self) -> list[Thermal]:
        """Return one settings object per temperature; all of them share one tempering run."""
        return [replace(self, beta=(one,), ladder=self.beta) for one in self.beta]

    def canonical(self) -> dict[str, Any]:
        """Return the settings as plain values, with β as exact fractions."""
        return {
            "beta": self.beta[0] if len(self.beta) == 1 else list(self.beta),
            "sweeps": self.sweeps, "runs": self.runs, "draws": self.draws,
            "ladder": list(self.ladder),
        }  # fmt: skip


def _exact(values: Any, name: str) -> tuple[str, ...]:
    listed = values if isinstance(values, (list, tuple)) else [values]
    numbers = sorted({ratio(value, name) for value in listed})
    if not numbers or numbers[0] < 0 or len(numbers) > 256:
        raise ValueError(f"{name}={values!r:.60} must contain 1 to 256 numbers, all at least 0")
    return tuple(str(number) for number in numbers)


@study_kind(THERMAL, settings=Thermal, value="energy_per_spin", symbol="energy per spin",
            planted=False, signed=True)  # fmt: skip
@one_by_one(THERMAL)
def measure(task: Task, index: int) -> Row:
    """Sample an instance at the temperature of the task."""
    place = task.solver.ladder.index(task.solver.beta[0])
    row: Row = _sampled(_Sampling(task, index))[place]
    return row


class _Sampling:
    """The cache key of an instance's samples; all temperatures of a study share it."""

    def __init__(self, task: Task, index: int) -> None:
        self.task, self.index = task, index
        shared = task.solver.canonical() | {"beta": None}
        self.key = canonical_json(task.family() | {"seed": task.seed, "solver": shared})

    def __hash__(self) -> int:
        return hash((self.key, self.index))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Sampling) and (self.key, self.index) == (other.key, other.index)


@lru_cache(maxsize=1024)
def _sampled(asked: _Sampling) -> list[dict[str, Any]]:
    """Return one row per temperature; the rows are cached for the other temperatures' tasks."""
    task, settings = asked.task, asked.task.solver
    problem = task.problem(asked.index)
    found = sample(
        problem, [float(Fraction(one)) for one in settings.ladder], sweeps=settings.sweeps,
        runs=settings.runs, draws=settings.draws,
        rng=Seed(task.seed, (*words_of(asked.key), 1, asked.index)),
    )  # fmt: skip
    size = problem.num_variables
    counts = found.overlap_counts() if size <= _MOST_LISTED else np.zeros((len(found.betas), 0))
    energies, heats = found.energy(), found.specific_heat()
    times, is_equal = found.autocorrelation, found.equilibrated
    rows = []
    for k in range(len(found.betas)):
        q2, q4 = (float((found.overlaps[k] ** power).mean()) for power in (2, 4))
        rows.append({
            "equilibrated": int(is_equal[k]), "energy_per_spin": energies[k].value / size,
            "specific_heat": heats[k].value, "q2": q2, "q4": q4,
            "binder": (3 - q4 / q2**2) / 2 if q2 else 0.0, "autocorrelation": times[k],
            "overlaps": json.dumps(counts[k].astype(int).tolist(), separators=(",", ":")),
        })  # fmt: skip
    return rows
