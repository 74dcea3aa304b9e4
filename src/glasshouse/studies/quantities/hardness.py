"""Hardness: the sweeps an annealer needs to reach the planted energy, the paper's N_tot."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from glasshouse.landscape import frustration_index
from glasshouse.planting import Planted, random_loops_ensemble
from glasshouse.problems import FloatArray, IntArray, MaxSat, validation
from glasshouse.problems.ratio import ratio
from glasshouse.solvers import anneal, paper_schedule
from glasshouse.solvers.annealing import key_of
from glasshouse.solvers.hitting import own_range, race, race_plant, typical_field
from glasshouse.solvers.schedule import (
    AUTOMATIC_SWEEPS,
    Schedule,
    follows_paper,
    rising,
)
from glasshouse.store.row_types import Column, Columns, Kind
from glasshouse.studies.quantities.quantity import Row, one_by_one, study_kind
from glasshouse.waiting import cancel_all, result_of, submit

if TYPE_CHECKING:
    from glasshouse.studies.task import Task

HARDNESS = Kind(
    "hardness",
    (
        Column("sweeps", "integer", "sweeps of all runs to the planted energy, or until given up"),
        Column("solved", "integer", "1 where it was reached, 0 where given up (censored)"),
        Column("energy", "integer", "the planted energy; where given up, the best of 64 more runs"),
        Column("frustration", "real", "realised frustration index at the plant"),
        Column("loops", "integer", "the paper's N"),
    ),
    counted="solved",
)
# The parameters of `random_loops_ensemble`; other families grow one instance at a time.
_BATCHED = {"n", "m", "frustration", "loop_density", "loops"}
_EXTRA_RUNS = 64


@dataclass(frozen=True)
class Annealer:
    """The settings of the solver: runs of simulated annealing, restarted until one succeeds.

    β rises linearly within a run, and success is tested at the end of each sweep, as in the
    paper. Numbers depend strongly on these settings, so every figure states them.

    The paper's schedule is for its loops. If a family has squares, or a knob other than f and
    density, "paper" means runs of 1000 sweeps over the range that `anneal` finds for the first
    instance, in which β rises geometrically; figures and stores state this.

    Attributes:
        sweeps_per_run: the paper's N_sweep; "paper" is its second polynomial, "paper-first" its
            first one, "paper-doubled" twice the second (see docs/paper/offset.md).
        beta: first and last β in units of one over the loop weight; "paper" is 0.01 to ln n
            times min(1, n/ρ), as in the authors' code, "paper-text" times min(1, 1/ρ).
        max_sweeps: the sweeps after which an instance is censored.
        unit: the unit of a `beta` in numbers. "loop weight" is one over the loop weight; "field" is
            one over the typical local field of the first instance, which means the same for every
            family and size, including those without loops.

    >>> Annealer(sweeps_per_run=200, beta=(0.01, 4.6)).canonical()["beta"]
    ['1/100', '23/5']
    """

    sweeps_per_run: int | Literal["paper", "paper-first", "paper-doubled"] = "paper"
    beta: Any = "paper"
    max_sweeps: int = 100_000_000
    unit: Literal["loop weight", "field"] = "loop weight"

    def __post_init__(self) -> None:
        if self.sweeps_per_run not in ("paper", "paper-first", "paper-doubled"):
            validation.count(self.sweeps_per_run, "sweeps_per_run", 1)
        validation.count(self.max_sweeps, "max_sweeps", 1)
        if not isinstance(self.beta, str) or self.beta not in ("paper", "paper-text"):
            object.__setattr__(self, "beta", _exact_range(self.beta))
        if self.unit not in ("loop weight", "field"):
            raise ValueError(f"unit={self.unit!r:.60} must be 'loop weight' or 'field'")
        if self.unit == "field" and isinstance(self.beta, str):
            raise ValueError(f"unit='field' requires a numeric beta, not {self.beta!r}")

    def canonical(self) -> dict[str, Any]:
        """Return the settings as plain values, β as exact fractions; omit the default unit."""
        values = asdict(self) | {"beta": self.beta if isinstance(self.beta, str) else [*self.beta]}
        if self.unit == "loop weight":
            del values["unit"]
        return values

    def _range(self, plant: Planted) -> tuple[float, float]:
        """Return the first and the last β as numbers, in units of 1/loop weight."""
        first, last = (float(Fraction(value)) for value in self.beta)
        if self.unit == "loop weight":
            return first, last
        factor = plant.loop_weight / typical_field(plant)
        return first * factor, last * factor

    def schedule(self, plant: Planted) -> RunPlan:
        """Return the annealer's settings as numbers, for the family of an instance."""
        if not follows_paper(plant):
            return self._automatic(plant)
        n, number = float(plant.half), plant.loops.num_loops
        if self.beta == "paper":
            first, last = paper_schedule(int(n), "1/10", number / n).beta
        elif self.beta == "paper-text":
            first, last = paper_schedule(int(n), "1/10").beta
            first, last = (value * min(1.0, n / number) for value in (first, last))
        else:
            first, last = self._range(plant)
        if isinstance(self.sweeps_per_run, int):
            sweeps = self.sweeps_per_run
        else:
            fit: Literal["first", "second"] = (
                "first" if self.sweeps_per_run == "paper-first" else "second"
            )
            f = min(plant.loops.frustration, Fraction(1, 4))
            sweeps = paper_schedule(int(n), f, fit=fit).sweeps
            if self.sweeps_per_run == "paper-doubled":
                sweeps *= 2
        return RunPlan(sweeps, first, last, self.max_sweeps)

    def _automatic(self, plant: Planted) -> RunPlan:
        """Return the settings as numbers if the paper's schedule does not apply to the family."""
        sweeps = self.sweeps_per_run if isinstance(self.sweeps_per_run, int) else AUTOMATIC_SWEEPS
        if not isinstance(self.beta, str):
            return RunPlan(sweeps, *self._range(plant), self.max_sweeps)
        first, last = own_range(plant)
        unit = plant.loop_weight
        return RunPlan(sweeps, unit * first, unit * last, self.max_sweeps, "geometric")


@dataclass(frozen=True)
class RunPlan:
    """An annealer's settings as numbers, for one family of instances.

    Attributes:
        sweeps_per_run: the paper's N_sweep.
        first_beta: the first β of a run, in units of 1/loop weight.
        last_beta: the last β of a run, in the same units.
        max_sweeps: the number of sweeps after which an instance is stopped.
        schedule: how β rises, "linear", or "geometric" over the range that `anneal` finds.
    """

    sweeps_per_run: int
    first_beta: float
    last_beta: float
    max_sweeps: int
    schedule: Schedule = "linear"

    def betas(self, loop_weight: int) -> npt.NDArray[np.float64]:
        """Return one β for each sweep of a run, in inverse units of the problem's own energy."""
        first, last = self.first_beta / loop_weight, self.last_beta / loop_weight
        return rising(first, last, self.sweeps_per_run, self.schedule)

    def __str__(self) -> str:
        return (
            f"β {self.schedule} from {self.first_beta:.3g} to {self.last_beta:.3g}, "
            f"N_sweep {self.sweeps_per_run}, given up after {self.max_sweeps:.3g} sweeps"
        )


def frustration_of(plant: Planted) -> float:
    """Return the frustration index at the plant; of clauses, the share of weight falsified."""
    if isinstance(plant.problem, MaxSat):
        return plant.energy / max(1, int(plant.problem.total_weight))
    return float(frustration_index(plant.form, plant.state))


def warm_up(task: Task, index: int) -> None:
    """Load or compile all code that measuring needs, by a run of one sweep on one instance."""
    usual = task.schedule
    _measure(task, index, 1, replace(usual, sweeps_per_run=1, max_sweeps=1))


@study_kind(HARDNESS, warm_up=warm_up, settings=Annealer, value="sweeps", symbol="N_tot (sweeps)")
def measure(task: Task, first: int, count: int) -> Columns:
    """Grow and solve instances `first` to `first + count - 1`."""
    return _measure(task, first, count, task.schedule)


def _measure(task: Task, first: int, count: int, schedule: RunPlan) -> Columns:
    if task.method == "random_loops" and set(task.parameters) <= _BATCHED:
        return _measure_ensemble(task, first, count, schedule)
    return one_by_one(HARDNESS)(partial(_measure_one, schedule))(task, first, count)


def _measure_ensemble(task: Task, first: int, count: int, schedule: RunPlan) -> Columns:
    """Measure random loops: all instances at once, in compiled code."""
    begin = time.perf_counter()
    many = random_loops_ensemble(
        count=count, first=first, rng=task.planting_seed, **task.parameters
    )
    weights = np.array([many.positive] * 3 + [many.negative], dtype=np.int64)
    totals, _ = race(
        many.states.shape[1], many.nodes, weights, schedule.betas(many.positive),
        schedule.max_sweeps, 1, key_of(task.solving_seed), first=first,
    )  # fmt: skip
    rows = {column.name: np.zeros(count, dtype=column.dtype) for column in HARDNESS.measured}
    rows["sweeps"][:], rows["solved"][:] = np.abs(totals[:, 0]), totals[:, 0] > 0
    rows["energy"][:], rows["loops"][:] = many.energy, many.nodes.shape[1]
    rows["frustration"][:] = float(many.frustration)
    for k in np.flatnonzero(totals[:, 0] < 0):
        rows["energy"][k] = _best_energy(task, many[int(k)], first + int(k), schedule)
    rows["seconds"][:] = (time.perf_counter() - begin) / count
    return rows


def _measure_one(schedule: RunPlan, task: Task, index: int) -> Row:
    """Measure any family: grow an instance, prepare it for the kernel that suits it, solve it."""
    plant = task.grow(index)
    key = key_of(task.solving_seed.child(index))
    betas = schedule.betas(plant.loop_weight)
    total = race_plant(plant, betas, schedule.max_sweeps, 1, key)[0]
    is_solved = total > 0
    return {
        "sweeps": abs(total),
        "solved": is_solved,
        "energy": plant.energy if is_solved else _best_energy(task, plant, index, schedule),
        "frustration": frustration_of(plant),
        "loops": plant.loops.num_loops,
    }


def sweeps_of(task: Task, first: int, count: int, threads: int) -> IntArray:
    """Return the sweeps of instances `first` to `first + count - 1`, negative if censored.

    Instances grow in the caller's thread, and several are solved at the same time. One sweep in the
    caller's thread compiles all code before: Ctrl-C cannot interrupt compilation in another thread.
    """
    schedule, stop = task.schedule, threading.Event()

    def solve(plant: Planted, index: int, betas: FloatArray, most: int) -> int:
        key = key_of(task.solving_seed.child(index))
        return int(race_plant(plant, betas, most, 1, key, stop.is_set)[0])

    with ThreadPoolExecutor(threads) as pool:
        solved = list[Future[int]]()
        try:
            for index in range(first, first + count):
                plant = task.grow(index)
                betas = schedule.betas(plant.loop_weight)
                solve(plant, index, betas[:1], 1)
                solved.append(submit(pool, solve, plant, index, betas, schedule.max_sweeps))
            return np.array([result_of(one) for one in solved], dtype=np.int64)
        except BaseException:
            stop.set()
            cancel_all(solved)
            raise


def _best_energy(task: Task, plant: Planted, index: int, schedule: RunPlan) -> int:
    """Return the lowest energy in a few more runs on an instance that was stopped at the limit."""
    betas = schedule.betas(plant.loop_weight)
    found = anneal(
        plant.problem if isinstance(plant.problem, MaxSat) else plant.form,
        sweeps=schedule.sweeps_per_run, runs=_EXTRA_RUNS, beta=betas,
        rng=task.solving_seed.child(index).child(1),
    )  # fmt: skip
    if found.stopped is not None:  # Ctrl-C is for the whole study, not for these runs
        raise KeyboardInterrupt
    return int(found.best_energy)


def _exact_range(value: Any) -> tuple[str, str]:
    try:
        if not isinstance(value, (list, tuple, np.ndarray)):
            raise TypeError("beta must be a list, a tuple or an array")
        first, last = (ratio(part, "beta") for part in value)
        validation.inverse_temperatures([float(first), float(last)])
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"beta={value!r:.60} must be 'paper', 'paper-text' or a pair (first, last)"
        ) from None
    if first > last:
        raise ValueError(f"beta={value!r:.60} must not decrease from first to last")
    return str(first), str(last)
