"""The virtual best solver, and instance-by-instance comparisons of two solvers.

If a solver has several runs on an instance, the median run counts, as in all figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np

from glasshouse.problems.validation import share
from glasshouse.races.commands.results import Clock, Results
from glasshouse.races.commands.scores import Floats, Score, per_instance, solving_seconds
from glasshouse.statistics import Estimate, median
from glasshouse.statistics.intervals import bootstrap_of_mean
from glasshouse.summaries import Summarised

CLOCKS: tuple[Clock, ...] = get_args(Clock)
_PAR2: dict[Clock, Score] = {"wall": "par2", "cpu": "par2_cpu"}
_NAMES: dict[Clock, str] = {"wall": "wall-clock time", "cpu": "CPU time"}


@dataclass(frozen=True, repr=False)
class Contribution(Summarised):
    """A solver's contribution: how much worse the virtual best solver is without this solver.

    Attributes:
        alone: the number of instances that no other solver solved.
        par2: seconds by which the PAR-2 grows, over instances that other solvers have run on.
        par2_cpu: the same growth by CPU time.
    """

    alone: int
    par2: float
    par2_cpu: float


@dataclass(frozen=True, repr=False)
class VirtualBest(Summarised):
    """Scores of the virtual best solver, which is as good as the best solver on each instance.

    Attributes:
        instances: the number of instances.
        solved: instances whose optimum at least one solver claimed, showed and got right, in time.
        par2: mean seconds over the instances; an unsolved instance counts twice the limit.
        par2_cpu: the same mean by CPU time.
        median: the median seconds to solve an instance, with an interval.
        contributions: the contribution of each solver, by the solver's name.
    """

    instances: int
    solved: int
    par2: float
    par2_cpu: float
    median: Estimate
    contributions: Mapping[str, Contribution]

    name: ClassVar[str] = "virtual best"  # no solver has this name, because of the space


def virtual_best(results: Results) -> VirtualBest:
    """Return the scores of the virtual best solver and the contribution of each solver.

    >>> from glasshouse.races.commands.results import Run
    >>> from glasshouse.races.judging.clauses import RunVerdict
    >>> times = {"mine": (1.0, 8.0), "theirs": (4.0, 2.0)}
    >>> runs = [Run(who, f"file {k}", 0, True, RunVerdict.OPTIMAL, "", at, limit=10.0)
    ...         for who, each in times.items() for k, at in enumerate(each)]
    >>> best = virtual_best(Results("two files", tuple(runs)))
    >>> best.par2, best.contributions["mine"].par2
    (1.5, 1.5)
    """
    seconds = {name: solving_seconds(results, name) for name in results.solvers}
    par2 = [
        {name: per_instance(results, name, score) for name in results.solvers}
        for score in _PAR2.values()
    ]
    best = np.array(list(_best(seconds.values()).values()))
    solved = np.isfinite(best)
    contributions = {}
    for name in results.solvers:
        alone = [math.isinf(other) > math.isinf(ours) for other, ours in _without(seconds, name)]
        losses = [[other - ours for other, ours in _without(table, name)] for table in par2]
        means = [math.fsum(each) / max(len(each), 1) for each in losses]
        contributions[name] = Contribution(sum(alone), *means)
    wall, cpu = (float(np.mean(list(_best(table.values()).values()))) for table in par2)
    middle = median(np.where(solved, best, results.limit), solved=solved)
    count = int(np.count_nonzero(solved))
    return VirtualBest(len(best), count, wall, cpu, middle, contributions)


def virtual_cactus(results: Results, clock: Clock = "wall") -> Floats:
    """Return the virtual best solver's times on its solved instances, in ascending order."""
    best = _best(solving_seconds(results, name, clock) for name in results.solvers)
    return np.sort([at for at in best.values() if math.isfinite(at)])


def _best(tables: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Merge maps from instances to values, and keep the smallest value of each instance."""
    found: dict[str, float] = {}
    for table in tables:
        found |= {one: min(value, found.get(one, value)) for one, value in table.items()}
    return found


def _without(
    tables: Mapping[str, Mapping[str, float]], name: str
) -> list[tuple[float, float]]:  # fmt: skip
    """Return, for each instance, the best value of the other solvers and the best value of all."""
    best = _best(tables.values())
    others = _best(table for other, table in tables.items() if other != name)
    return [(value, best[one]) for one, value in others.items()]


@dataclass(frozen=True, repr=False)
class TimeComparison(Summarised):
    """An instance-by-instance comparison of two solvers' times, measured by one clock.

    Attributes:
        ratio: the seconds of the first over those of the second: the geometric mean over the
            instances that both solved, with a bootstrap interval over these instances. Below 1 the
            first is faster. None if there is no such instance.
        difference: the PAR-2 of the first minus that of the second; see `difference`.
        first_faster: the number of instances that the first solves faster, or that only it solves.
        second_faster: the number of instances that the second solves faster, or that only it does.
        sign_p: the p-value of the sign test of these two numbers.
        wilcoxon_p: the p-value of Wilcoxon's signed-rank test of the logarithms of the ratios; an
            instance that only one of them solved has the highest rank.
    """

    ratio: Estimate | None
    difference: Estimate
    first_faster: int
    second_faster: int
    sign_p: float
    wilcoxon_p: float


@dataclass(frozen=True, repr=False)
class SolverComparison(Summarised):
    """A comparison of two solvers on the instances that both have run on.

    Attributes:
        first: the name of the first solver.
        second: the name of the second solver.
        both: the number of instances that both solved.
        first_only: the number of instances that only the first solver solved.
        second_only: the number of instances that only the second solver solved.
        neither: the number of instances that neither solver solved.
        by: the comparison of times by each clock, "wall" and "cpu".
    """

    first: str
    second: str
    both: int
    first_only: int
    second_only: int
    neither: int
    by: Mapping[Clock, TimeComparison]

    def summary(self) -> str:
        """Return the comparison as text: solved instances, then the times by each clock."""
        one, two = self.first, self.second
        number = self.both + self.first_only + self.second_only + self.neither
        lines = [
            f"{number} instance{'s' * (number != 1)} that {one} and {two} have run on: both solved "
            f"{self.both}, only {one} {self.first_only}, only {two} {self.second_only}, neither "
            f"{self.neither}"
        ]
        for clock, times in self.by.items():
            ratio = "no instance that both solved" if times.ratio is None else (
                f"{times.ratio}, geometric mean over the {self.both} that both solved")  # fmt: skip
            lines += [
                f"{_NAMES[clock]} of {one} / {two}: {ratio}",
                f"  {one} is faster on {times.first_faster}, {two} on {times.second_faster}: sign "
                f"test p = {times.sign_p:.2g}, Wilcoxon p = {times.wilcoxon_p:.2g}",
                f"  PAR-2 of {one} − {two}: {times.difference} s",
            ]
        return "\n".join(lines)


def compare_solvers(
    results: Results, first: str, second: str, confidence: float = 0.95
) -> SolverComparison:
    """Compare two solvers instance by instance, by wall-clock time and by CPU time.

    Args:
        results: the results of a race.
        first: the first solver.
        second: the second solver.
        confidence: the confidence of all intervals.

    Raises:
        ValueError: a solver has no runs, or the two have no instance in common.

    >>> from glasshouse.races.commands.results import Run
    >>> from glasshouse.races.judging.clauses import RunVerdict
    >>> times = {"mine": (1.0, 8.0), "theirs": (4.0, 2.0)}
    >>> runs = [Run(who, f"file {k}", 0, True, RunVerdict.OPTIMAL, "", at, limit=10.0)
    ...         for who, each in times.items() for k, at in enumerate(each)]
    >>> found = compare_solvers(Results("two files", tuple(runs)), "mine", "theirs")
    >>> found.both, found.by["wall"].first_faster, found.by["wall"].second_faster
    (2, 1, 1)
    """
    if first == second:
        raise ValueError(f"{first!r} cannot be compared with itself; choose two different solvers")
    by = {clock: _times(results, first, second, clock, confidence) for clock in CLOCKS}
    pairs = _pairs(results, first, second, "wall")
    one, two = np.isfinite(pairs)
    counts = [np.count_nonzero(which) for which in (one & two, one & ~two, two & ~one)]
    both, first_only, second_only = map(int, counts)
    neither = len(one) - both - first_only - second_only
    return SolverComparison(first, second, both, first_only, second_only, neither, by)


def difference(
    results: Results, first: str, second: str, name: Score = "par2", confidence: float = 0.95
) -> Estimate:
    """Return the first solver's mean score minus the second's, with a paired bootstrap interval.

    The bootstrap draws instances that both solvers have run on, each with both of its scores, so an
    instance that is hard for both does not blur the difference.
    """
    share(confidence, "confidence")
    mine, theirs = _common(*(per_instance(results, solver, name) for solver in (first, second)),
                           names=(first, second))  # fmt: skip
    low, high = bootstrap_of_mean(mine - theirs, confidence)
    return Estimate(float((mine - theirs).mean()), low, high, confidence)


def _times(
    results: Results, first: str, second: str, clock: Clock, confidence: float
) -> TimeComparison:
    from scipy.stats import binomtest, wilcoxon

    gap = difference(results, first, second, _PAR2[clock], confidence)
    one, two = np.log(_pairs(results, first, second, clock))
    both = np.isfinite(one) & np.isfinite(two)
    ratio = None
    if both.any():
        logs = one[both] - two[both]
        low, high = bootstrap_of_mean(logs, confidence) if len(logs) > 1 else (-math.inf, math.inf)
        value, low, high = np.exp([logs.mean(), low, high]).tolist()
        ratio = Estimate(value, low, high, confidence)
    is_decided = one != two
    faster, slower = int(np.sum(one < two)), int(np.sum(one > two))
    sign_p = wilcoxon_p = 1.0
    if faster + slower:
        sign_p = float(binomtest(faster, faster + slower).pvalue)
        wilcoxon_p = float(wilcoxon(one[is_decided] - two[is_decided]).pvalue)
    return TimeComparison(ratio, gap, faster, slower, sign_p, wilcoxon_p)


def _pairs(results: Results, first: str, second: str, clock: Clock) -> Floats:
    """Return two solvers' times on their common instances; unsolved instances count as infinite."""
    tables = [solving_seconds(results, solver, clock) for solver in (first, second)]
    return np.array(_common(*tables, names=(first, second)))


def _common(
    mine: Mapping[str, float], theirs: Mapping[str, float], *, names: tuple[str, str]
) -> tuple[Floats, Floats]:
    """Return two arrays with each solver's values on the instances that both have run on."""
    both = [instance for instance in mine if instance in theirs]
    if not both:
        raise ValueError(f"{names[0]} and {names[1]} have no instance in common; race both on "
                         "the same suite")  # fmt: skip
    return np.array([mine[one] for one in both]), np.array([theirs[one] for one in both])
