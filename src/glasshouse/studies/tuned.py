"""What tuning finds, and what it tells on the way."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from glasshouse.studies.statistics.estimators import Statistic
from glasshouse.studies.statistics.samples import Estimate
from glasshouse.studies.task import Task
from glasshouse.suites.family import as_typed
from glasshouse.summaries import Summarised


@dataclass(frozen=True, repr=False)
class TuningStep(Summarised):
    """One setting of the knob that was tried.

    Attributes:
        setting: of the knob.
        estimate: hardness there; infinite where too many instances were given up.
        instances: how many were solved or given up.
    """

    setting: Fraction
    estimate: Estimate
    instances: int

    def distance(self, target: float) -> float:
        """How far the hardness is from a target, as the logarithm of their ratio."""
        return distance(self.estimate, target)


class TuningProgress(NamedTuple):
    """How far tuning is."""

    fraction: float  # of the steps that a bisection can take
    setting: Fraction  # that is tried now
    instances: int  # solved at this setting
    best: TuningStep | None  # the setting nearest to the target so far


@dataclass(frozen=True, repr=False)
class Tuned(Summarised):
    """A family of instances of the wanted hardness, or as near to it as the knob can be set.

    Attributes:
        task: the family and the annealer; `task.grow(k)` is its k-th instance.
        setting: of the knob.
        estimate: measured hardness, with a 95 % interval.
        target: what was wanted.
        statistic: of the hardness.
        tolerance: how far off the measured value may be, as a share of the target.
        steps: all settings that were tried.
        instances: how many instances that took.
        sweeps: how many sweeps.
        seconds: how long.
    """

    task: Task
    setting: Fraction
    estimate: Estimate
    target: float
    statistic: Statistic
    tolerance: float
    steps: tuple[TuningStep, ...]
    instances: int
    sweeps: int
    seconds: float

    @property
    def is_within_tolerance(self) -> bool:
        """Whether the measured hardness is as near to the target as was asked for."""
        return is_near(self.estimate, self.target, self.tolerance)

    def summary(self) -> str:
        """What was found and what it took."""
        parameters = ", ".join(
            f"{name}={as_typed(value)}" for name, value in self.task.parameters.items()
        )
        return (
            f"{self.task.method}({parameters}): {self.statistic} {self.estimate} sweeps, wanted "
            f"{self.target:.4g}; found in {len(self.steps)} steps, {self.instances} instances, "
            f"{self.sweeps:.3g} sweeps, {self.seconds:.1f} s"
        )


def distance(estimate: Estimate, target: float) -> float:
    """The logarithm of how far an estimate is off; infinite where it has no value."""
    return abs(math.log(estimate.value / target)) if estimate.value < math.inf else math.inf


def is_near(estimate: Estimate, target: float, tolerance: float) -> bool:
    """Whether an estimate is off by no more than a share of the target."""
    return distance(estimate, target) <= math.log1p(tolerance)
