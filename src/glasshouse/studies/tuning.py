"""Tuning: instances that need so many sweeps, by bisection with as few samples as needed."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from glasshouse.problems import validation
from glasshouse.solvers import peak_density
from glasshouse.studies.kinds.hardness import Annealer
from glasshouse.studies.statistics.estimators import Statistic, statistic
from glasshouse.studies.statistics.samples import Estimate, Sample
from glasshouse.studies.task import Task

Knob = Literal["frustration", "loop_density", "block"]

# Where each knob is turned by default; hardness rises from the first to the last of these.
_BOUNDS: dict[Knob, tuple[Fraction, Fraction]] = {
    "frustration": (Fraction(1, 20), Fraction(249, 1000)),
    "loop_density": (Fraction(1, 10), Fraction(3, 10)),
    "block": (Fraction(1, 2), Fraction(1, 10)),
}
_STEP = Fraction(1, 1000)  # finer differences are lost in the scatter of instances
_FIRST_SAMPLE = 32
# A step of the bisection is taken when it is this sure.
_SURE = 0.99
# Instances are given up at this multiple of the target: enough to know on which side they are.
_GIVE_UP = 3


@dataclass(frozen=True)
class TuningStep:
    """One setting of the knob that was tried.

    Attributes:
        setting: of the knob.
        estimate: hardness there; infinite where too many instances were given up.
        instances: how many were solved or given up.
    """

    setting: Fraction
    estimate: Estimate
    instances: int


@dataclass(frozen=True)
class Tuned:
    """A family of instances of the wanted hardness.

    Attributes:
        task: the family and the annealer; `task.grow(k)` is its k-th instance.
        setting: of the knob.
        estimate: measured hardness, with a 95 % interval.
        target: what was wanted.
        steps: all settings that were tried.
        instances: how many instances that took.
        sweeps: how many sweeps.
        seconds: how long.
    """

    task: Task
    setting: Fraction
    estimate: Estimate
    target: float
    steps: tuple[TuningStep, ...]
    instances: int
    sweeps: int
    seconds: float

    def summary(self) -> str:
        """What was found and what it took."""
        parameters = ", ".join(f"{name}={value}" for name, value in self.task.parameters.items())
        return (
            f"{self.task.method}({parameters}): {self.estimate} sweeps, wanted {self.target:.4g}; "
            f"found in {len(self.steps)} steps, {self.instances} instances, {self.sweeps:.3g} "
            f"sweeps, {self.seconds:.1f} s"
        )


def tune(
    n: int,
    target_sweeps: float,
    *,
    knob: Knob = "frustration",
    method: str = "random_loops",
    parameters: Mapping[str, Any] | None = None,
    bounds: tuple[Any, Any] | None = None,
    name: Statistic = "median",
    tolerance: float = 0.15,
    solver: Annealer | None = None,
    most_instances: int = 4096,
    seed: int = 0,
) -> Tuned:
    """Find the instances of a given size whose hardness is `target_sweeps`.

    The knob is bisected in steps of 1/1000. At each setting instances are solved, twice as many
    each time, until it is 99 % sure on which side the target lies, or until the setting is good
    enough. An instance is given up at three times the target.

    Args:
        n: visible spins, and as many hidden ones.
        target_sweeps: the wanted hardness.
        knob: what to turn: "frustration" (at the paper's peak density), or "loop_density" or
            "block" at a given frustration.
        method: the planting method.
        parameters: the other parameters; `loop_density` is the peak density when left out.
        bounds: the easy and the hard end of the knob.
        name: the statistic of the hardness.
        tolerance: how far off the measured value may be, as a share of the target.
        solver: the annealer's settings; the paper's when None.
        most_instances: at one setting.
        seed: a whole number.

    Raises:
        ValueError: if the target lies outside what the knob can reach.

    >>> found = tune(20, 200, tolerance=0.5, seed=1)
    >>> found.estimate.low < 300 and found.estimate.high > 100
    True
    """
    target = _checked_target(target_sweeps, tolerance)
    validation.count(most_instances, "most_instances", _FIRST_SAMPLE)
    if knob not in _BOUNDS:
        raise ValueError(f"knob={knob!r} is not one of {', '.join(_BOUNDS)}")
    easy, hard = (Fraction(str(end)) for end in (bounds or _BOUNDS[knob]))
    limit = math.ceil(_GIVE_UP * target)
    annealer = replace(solver or Annealer(), max_sweeps=limit)
    fixed = _family(n, knob, method, parameters)
    search = _Search(method, fixed, knob, annealer, seed, target, name, tolerance, most_instances)
    low, high = Fraction(0), Fraction(1)  # along the way from the easy to the hard end
    finest = _STEP / abs(hard - easy)
    begin = time.perf_counter()
    while True:
        middle = (low + high) / 2
        setting = round((easy + middle * (hard - easy)) / _STEP) * _STEP
        task, estimate, side = search.look(setting)
        if side == 0 or high - low <= finest:
            break
        low, high = (middle, high) if side < 0 else (low, middle)
    _refuse_the_ends(search, knob, setting, side, (easy, hard), target)
    return Tuned(
        task, setting, estimate, target, tuple(search.steps),
        sum(step.instances for step in search.steps), search.sweeps, time.perf_counter() - begin,
    )  # fmt: skip


class _Search:
    """Samples of hardness at settings of a knob."""

    def __init__(
        self, method: str, fixed: Mapping[str, Any], knob: str, solver: Annealer, seed: int,
        target: float, name: Statistic, tolerance: float, most: int,
    ) -> None:  # fmt: skip
        self.method, self.fixed, self.knob = method, fixed, knob
        self.solver, self.seed = solver, seed
        self.target, self.name, self.tolerance, self.most = target, name, tolerance, most
        self.steps: list[TuningStep] = []
        self.sweeps = 0

    def look(self, setting: Fraction) -> tuple[Task, Estimate, int]:
        """The family at a setting, its hardness, and its side: -1 too easy, 1 too hard, 0 right."""
        parameters = dict(self.fixed) | {self.knob: setting}
        task = Task(self.method, parameters, solver=self.solver, seed=self.seed)
        sweeps, solved = np.empty(0), np.empty(0, dtype=bool)
        wanted = _FIRST_SAMPLE
        while True:
            rows = task.measure(len(sweeps), wanted - len(sweeps))
            sweeps = np.concatenate([sweeps, rows["sweeps"]])
            solved = np.concatenate([solved, rows["solved"] != 0])
            self.sweeps += int(rows["sweeps"].sum())
            side, estimate = self._judge(Sample(sweeps, solved), wanted >= self.most)
            if side is not None:
                self.steps.append(TuningStep(setting, estimate, len(sweeps)))
                return task, estimate, side
            wanted = min(2 * wanted, self.most)

    def _judge(self, sample: Sample, is_last: bool) -> tuple[int | None, Estimate]:
        """The side on which the target lies, or None if more instances are needed to tell."""
        if not sample.solved.any():
            limit = float(sample.values.min())
            return 1, Estimate(math.inf, limit, math.inf, 0.95)
        sure = statistic(sample, self.name, _SURE)
        estimate = statistic(sample, self.name)
        off = abs(math.log(estimate.value / self.target)) if estimate.value < math.inf else math.inf
        if sure.high < self.target:
            return -1, estimate
        if sure.low > self.target:
            return 1, estimate
        if off <= math.log1p(self.tolerance) and estimate.relative_error <= self.tolerance:
            return 0, estimate
        if is_last:
            return (-1 if estimate.value < self.target else 1), estimate
        return None, estimate


def _checked_target(target_sweeps: float, tolerance: float) -> float:
    if not (math.isfinite(target_sweeps) and target_sweeps >= 2):
        raise ValueError(f"target_sweeps={target_sweeps} must be a number of at least 2")
    if not 0 < tolerance < 1:
        raise ValueError(f"tolerance={tolerance} must lie between 0 and 1")
    return float(target_sweeps)


def _family(n: int, knob: Knob, method: str, given: Mapping[str, Any] | None) -> dict[str, Any]:
    fixed: dict[str, Any] = {"n": validation.count(n, "n", 2)} | dict(given or {})
    if knob in fixed:
        raise ValueError(f"{knob} is the knob that is tuned; leave it out of parameters")
    if knob != "loop_density" and "loops" not in fixed:
        fixed.setdefault("loop_density", str(round(peak_density(n), 4)))
    return fixed


def _refuse_the_ends(
    search: _Search, knob: str, setting: Fraction, side: int,
    bounds: tuple[Fraction, Fraction], target: float,
) -> None:  # fmt: skip
    """An end that is still on the wrong side means that the target is out of reach."""
    for end, wrong_side, words in ((bounds[0], 1, "already"), (bounds[1], -1, "only")):
        if abs(setting - end) <= 2 * _STEP and side == wrong_side:
            reached = search.steps[-1].estimate
            raise ValueError(
                f"target_sweeps={target:g} is out of reach: {knob}={float(setting):g} has "
                f"{words} {reached}; change n or bounds"
            )
