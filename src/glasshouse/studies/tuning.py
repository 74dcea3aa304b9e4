"""Tuning: instances of a required hardness, by bisection with as few samples as possible."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from glasshouse.problems import IntArray, validation
from glasshouse.problems.ratio import ratio
from glasshouse.randomness import RngLike, Seed
from glasshouse.statistics.estimators import STATISTICS, Statistic, statistic_or_bound
from glasshouse.statistics.samples import Estimate, Sample
from glasshouse.studies.knobs import FULL_DENSITY, Family, families_of
from glasshouse.studies.quantities.hardness import Annealer, sweeps_of
from glasshouse.studies.task import Task
from glasshouse.suites.family import as_typed
from glasshouse.summaries import Summarised

if TYPE_CHECKING:
    from glasshouse.planting.graphs import GraphLike

_FIRST_SAMPLE, _AT_ONCE = 32, 8  # instances; progress is reported after 8, or an eighth of them
_THREADS = 2  # threads that solve instances on a graph
_SURE = 0.99  # least probability that a step of the bisection is right
_GIVE_UP = 3  # times the target: then it is known on which side an instance is
# When an end of the knob is probed: the factor by which limits grow, and the seconds in all.
_FIRST_LIMIT, _GROWTH, _PROBE_SECONDS = 1000, 4, 5.0
# Seconds for the first sample at a setting, estimated from a probe of this number of sweeps.
_LONGEST_SAMPLE, _ENOUGH_TO_CLOCK = 24 * 3600.0, 100_000


@dataclass(frozen=True, repr=False)
class TuningStep(Summarised):
    """One setting of the knob that was tried.

    Attributes:
        setting: the setting of the knob.
        estimate: the hardness at this setting; infinite if too many instances reached the limit.
        instances: the number of instances that were solved or stopped at the limit.
        family: the family of instances whose knob was varied.
    """

    setting: Fraction
    estimate: Estimate
    instances: int
    family: Family

    def distance(self, target: float) -> float:
        """Return |ln(measured hardness / target)|, or infinity if the hardness is infinite."""
        return distance(self.estimate, target)


class TuningProgress(NamedTuple):
    """The progress of tuning: the setting that is tried now, and the best setting so far."""

    fraction: float  # fraction of the possible steps of the bisection
    setting: Fraction  # the setting that is tried now
    instances: int  # solved at this setting
    best: TuningStep | None  # the setting nearest to the target so far


@dataclass(frozen=True, repr=False)
class Tuned(Summarised):
    """A family of instances whose hardness is the target, or as near to it as the knob allows.

    Attributes:
        task: the family and the annealer; `task.grow(k)` is its k-th instance.
        setting: the setting of the knob.
        estimate: the measured hardness, with a 95 % interval.
        target: the requested hardness.
        statistic: the statistic of the hardness.
        tolerance: the largest allowed deviation from the target, as a fraction of the target.
        steps: all settings that were tried.
        instances: the number of instances that the search took.
        sweeps: the number of sweeps that the search took.
        seconds: the seconds that the search took.
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
        """Whether the measured hardness is within the tolerance of the target."""
        return is_near(self.estimate, self.target, self.tolerance)

    def summary(self) -> str:
        """Return the result and the cost of the search as text."""
        parameters = ", ".join(
            f"{name}={as_typed(value)}" for name, value in self.task.parameters.items()
        )
        return (
            f"{self.task.method}({parameters}): {self.statistic} {self.estimate} sweeps, target "
            f"{self.target:.4g}; found in {len(self.steps)} steps, {self.instances} instances, "
            f"{self.sweeps:.3g} sweeps, {self.seconds:.1f} s"
        )


def distance(estimate: Estimate, target: float) -> float:
    """Return |ln(estimate / target)|, or infinity if the estimate is infinite."""
    return abs(math.log(estimate.value / target)) if estimate.value < math.inf else math.inf


def is_near(estimate: Estimate, target: float, tolerance: float) -> bool:
    """Return whether an estimate is within a factor of 1 + `tolerance` of the target."""
    return distance(estimate, target) <= math.log1p(tolerance)


def tune(
    n: int | GraphLike | None,
    target_sweeps: float,
    *,
    knob: str | None = None,
    method: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    bounds: tuple[Any, Any] | None = None,
    statistic: Statistic = "median",
    tolerance: float = 0.15,
    solver: Annealer | None = None,
    most_instances: int = 4096,
    rng: RngLike = None,
    progress: Callable[[TuningProgress], None] | None = None,
) -> Tuned:
    """Find the instances of a given size, or on a graph, whose hardness is `target_sweeps`.

    On a graph without a knob, the density of loops is varied at a frustration whose loops have
    small weights, so that a chip of few bits can hold the instances; see `Family.on_graph`. Runs on
    a graph are no longer than a quarter of the target; `task.solver` has their length.

    Otherwise both ends of the knob are probed first; a target beyond them is refused. Then the
    knob is bisected in steps of 1/1000, or of 1 if it takes integers. At each setting instances are
    solved, twice as many each time, until it is 99 % sure on which side the target lies, or until
    the setting is good enough. An instance is stopped at three times the target. If no setting is
    within the tolerance, the nearest one is returned, and `is_within_tolerance` is False.

    Args:
        n: visible spins, and as many hidden ones; all spins for a method that counts them; or a
            graph, by name or as planting takes it. None if `parameters` give the size of a method's
            instances, or the knob is the size.
        target_sweeps: the required hardness.
        knob: the parameter to vary: "frustration" (at the peak density), or "loop_density" or
            "block" at a given frustration; by default the first knob that a method has, such as
            wishart's "alpha". On a graph, the knob and its range are chosen if this is None.
        method: the planting method; random_loops, or graph_loops on a graph, and their structured
            forms if there is a block.
        parameters: the other parameters; `loop_density` is the peak density by default.
        bounds: the easy and the hard end of the knob.
        statistic: of the hardness, "median", "geometric_mean", "quantile_95" or "paper_95".
        tolerance: the largest allowed deviation from the target, as a fraction of the target.
        solver: the annealer's settings; None uses the paper's, see `Annealer`.
        most_instances: the largest number of instances at one setting.
        rng: a seed, or anything that numpy.random.default_rng takes; `task.seed` of the result
            keeps it.
        progress: called with a `TuningProgress` every few instances.

    Raises:
        ValueError: if the target lies outside what the knob can reach.
        KeyboardInterrupt: with the best so far as its message.

    >>> found = tune(20, 200, tolerance=0.5, rng=1)
    >>> found.estimate.low < 300 and found.estimate.high > 100
    True
    """
    target = _checked_target(target_sweeps, tolerance)
    validation.count(most_instances, "most_instances", _FIRST_SAMPLE)
    if statistic not in (known := [name for name in STATISTICS if name != "mean"]):
        raise ValueError(f"statistic={statistic!r} is not one of {', '.join(known)}")
    if bounds is not None:
        bounds = (ratio(bounds[0], "bounds"), ratio(bounds[1], "bounds"))
    families = families_of(n, knob, method, parameters, solver, target, Seed.of(rng).number)
    search = _Search(families[0], bounds or families[0].bounds(), target, statistic, tolerance,
                     most_instances, progress)  # fmt: skip
    begin = time.perf_counter()
    try:
        if families[0].knob == "loop_density" and families[0].is_on_graph and bounds is None:
            search.climb(families)
        else:
            search.refuse_what_is_out_of_reach()
            search.bisect()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(search.best_so_far()) from None
    best = search.best
    assert best is not None
    return Tuned(
        best.family.task(best.setting, search.limit), best.setting, best.estimate, target,
        statistic, tolerance, tuple(search.steps), sum(step.instances for step in search.steps),
        search.sweeps, time.perf_counter() - begin,
    )  # fmt: skip


@dataclass
class _Search:
    """A search for a target: the steps so far, and the hardness measured at each setting."""

    family: Family
    bounds: tuple[Fraction, Fraction]
    target: float
    statistic: Statistic
    tolerance: float
    most: int
    progress: Callable[[TuningProgress], None] | None
    steps: list[TuningStep] = field(default_factory=list)
    sweeps: int = 0
    probed: dict[Fraction, Estimate] = field(default_factory=dict)
    speed: float = math.inf  # sweeps per second, as far as it was clocked

    @property
    def limit(self) -> int:
        """The number of sweeps after which an instance is stopped."""
        return math.ceil(_GIVE_UP * self.target)

    @property
    def best(self) -> TuningStep | None:
        """The setting nearest to the target so far."""
        return min(self.steps, key=lambda step: step.distance(self.target), default=None)

    def best_so_far(self) -> str:
        """Return the best setting so far as text."""
        words = self.best and self._words(self.best.setting, self.best.estimate)
        return f"the best so far: {words}" if words else "no setting was measured yet"

    def climb(self, families: Sequence[Family]) -> None:
        """Try families from easy to hard at full density, but a single one from sparse to dense."""
        for self.family in families:
            before, densest = self.family.bounds()
            settings = [min(before * 2**k, densest) for k in range(10)]  # up to 512 times as dense
            for setting in [FULL_DENSITY] if len(families) > 1 else settings:
                side = self._look(setting)
                if side > 0 and setting == before:
                    break  # the sparsest instances are too hard
                if side > 0:
                    self.bounds = before, setting
                    self.bisect()
                if side >= 0:
                    return
                before = setting
        self._refuse(self._words(self.steps[-1].setting, self.steps[-1].estimate))

    def refuse_what_is_out_of_reach(self) -> None:
        """Probe both ends and the middle of the knob, to refuse an unreachable target early."""
        (easy, hard), middle = self.bounds, self._setting(Fraction(1, 2))
        for end, side in ((easy, 1), (hard, -1)):
            if self._side(self._probe(end, _PROBE_SECONDS, side)) != side:
                continue
            if self._side(self._probe(middle, _PROBE_SECONDS, side)) != side:
                continue  # hardness does not rise all the way
            self._refuse(*self._reach())
        most = _LONGEST_SAMPLE * self.speed / _FIRST_SAMPLE
        if self.target > most:
            self._refuse(
                f"this computer needs a day for {_FIRST_SAMPLE} instances of {most:.0e} sweeps",
                *self._reach(),
            )

    def _reach(self) -> list[str]:
        """Describe the hardness at both ends of the knob, measuring it quickly if it is unknown."""
        ends = ((end, self.probed.get(end) or self._probe(end, 1.0)) for end in self.bounds)
        return [self._words(*end) for end in ends]

    def _refuse(self, *reasons: str) -> NoReturn:
        raise ValueError(
            f"target_sweeps={self.target:g} is out of reach: {', '.join(reasons)}; change the "
            "size, or the parameters other than the knob"
        )

    def bisect(self) -> None:
        """Bisect between the easy and the hard end until a setting meets the target."""
        low, high = Fraction(0), Fraction(1)
        finest = self.family.step / abs(self.bounds[1] - self.bounds[0])
        levels: list[float | None] = [None, None]  # logarithms of the hardness at low and high
        while True:
            middle = low + (high - low) * self._part_of_way(*levels)
            side = self._look(self._setting(middle))
            if side == 0 or high - low <= finest:
                break
            value = self.steps[-1].estimate.value
            levels[side > 0] = math.log(value) if value < math.inf else None
            low, high = (middle, high) if side < 0 else (low, middle)
        last = self.steps[-1]
        near = 0 if self.family.step == 1 else 2 * self.family.step
        for end, wrong_side in zip(self.bounds, (1, -1), strict=True):
            if abs(last.setting - end) <= near and side == wrong_side:
                self._refuse(self._words(last.setting, last.estimate))

    def _part_of_way(self, low: float | None, high: float | None) -> Fraction:
        """Return the fraction at which to split the range from easy to hard: a half by default."""
        if low is None or high is None or not self.family.is_on_graph or high <= low:
            return Fraction(1, 2)
        part = (math.log(self.target) - low) / (high - low)
        return Fraction(round(100 * min(max(part, 0.15), 0.85)), 100)

    def _setting(self, share: Fraction) -> Fraction:
        easy, hard = self.bounds
        at = easy + share * (hard - easy)
        if self.family.is_on_graph and self.family.knob == "loop_density":
            at = easy * Fraction(float(hard / easy) ** float(share))  # ratios matter
        return round(at / self.family.step) * self.family.step

    def _look(self, setting: Fraction) -> int:
        """Measure a setting; return -1 if it is too easy, 1 if it is too hard, 0 if it is right."""
        task = self.family.task(setting, self.limit)
        sweeps, solved = np.empty(0), np.empty(0, dtype=bool)
        wanted = _FIRST_SAMPLE
        while True:
            while len(sweeps) < wanted:
                found = self._measure(task, len(sweeps), max(_AT_ONCE, wanted // 8))
                sweeps = np.concatenate([sweeps, np.abs(found)])
                solved = np.concatenate([solved, found > 0])
                self._tell(setting, len(sweeps))
                sure = self._estimate(Sample(sweeps, solved), _SURE)
                if self.family.is_on_graph and self._side(sure):
                    break
            side, estimate = self._judge(Sample(sweeps, solved), wanted >= self.most)
            if side is not None:
                self.steps.append(TuningStep(setting, estimate, len(sweeps), self.family))
                return side
            wanted = min(2 * wanted, self.most)

    def _measure(self, task: Task, first: int, count: int) -> IntArray:
        """Measure instances and return their sweeps, negative if stopped at the limit."""
        if self.family.is_on_graph:
            found = sweeps_of(task, first, count, _THREADS)
        else:
            rows = task.measure(first, count)
            found = rows["sweeps"] * np.where(rows["solved"] != 0, 1, -1)
        self.sweeps += int(np.abs(found).sum())
        return found

    def _judge(self, sample: Sample, is_last: bool) -> tuple[int | None, Estimate]:
        """Return (side of the target, estimate); the side is None if more instances are needed."""
        estimate = self._estimate(sample)
        if side := self._side(self._estimate(sample, _SURE)):
            return side, estimate
        is_right = is_near(estimate, self.target, self.tolerance)
        if is_right and estimate.relative_error <= self.tolerance:
            return 0, estimate
        if is_last:
            return (-1 if estimate.value < self.target else 1), estimate
        return None, estimate

    def _estimate(self, sample: Sample, sure: float = 0.95) -> Estimate:
        return statistic_or_bound(sample, self.statistic, sure)

    def _side(self, sure: Estimate) -> int:
        """Return -1 if instances are significantly too easy, 1 if too hard, and 0 otherwise."""
        return -1 if sure.high < self.target else int(sure.low > self.target)

    def _probe(self, setting: Fraction, seconds: float, side: int = 0) -> Estimate:
        """Estimate the hardness at a setting cheaply, with an increasing limit on the sweeps.

        Args:
            setting: the setting of the knob.
            seconds: about how long the last and longest try may take.
            side: end as soon as it is sure that the setting is not on this side of the target.
        """
        limit = _FIRST_LIMIT
        while True:
            task, began = self.family.task(setting, limit), time.perf_counter()
            found = self._measure(task, 0, _FIRST_SAMPLE)
            done, took = int(np.abs(found).sum()), time.perf_counter() - began
            if done >= _ENOUGH_TO_CLOCK:
                self.speed = done / took
            self._tell(setting, _FIRST_SAMPLE)
            self.probed[setting] = sure = self._estimate(Sample(np.abs(found), found > 0), _SURE)
            is_told = side != 0 and self._side(sure) == -side
            if is_told or math.isfinite(sure.high) or _GROWTH * took > seconds:
                return sure
            limit *= _GROWTH

    def _tell(self, setting: Fraction, instances: int) -> None:
        if self.progress is not None:
            most = math.log2(float(abs(self.bounds[1] - self.bounds[0]) / self.family.step)) + 1
            share = min(len(self.steps) / most, 1.0)
            self.progress(TuningProgress(share, setting, instances, self.best))

    def _words(self, setting: Fraction, found: Estimate) -> str:
        return f"{self.family.knob}={as_typed(setting)} has {self.statistic} {found} sweeps"


def _checked_target(target_sweeps: float, tolerance: float) -> float:
    if not (math.isfinite(target_sweeps) and target_sweeps >= 2):
        raise ValueError(f"target_sweeps={target_sweeps} must be finite and at least 2")
    if not 0 < tolerance < 1:
        raise ValueError(f"tolerance={tolerance} must be above 0 and below 1")
    return float(target_sweeps)
