"""Scores of solvers: solved instances, PAR-2, anytime score and time to solution.

Every score is first computed per instance, as a mean over its runs, and then over instances, so an
instance counts once, however many runs it has.

The end of the module computes curves of the values found over time (cost above the best known, plus
1), and scores on standard instances: gaps in their own values, and the sources of their optima.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum
from typing import Literal

import numpy as np
import numpy.typing as npt

from glasshouse.problems.ratio import ratio
from glasshouse.races.commands.results import Clock, Results, Run
from glasshouse.statistics import Estimate, TimeModel, median
from glasshouse.suites.standard import BY_CERTIFICATE, PER_COST, TRUTH_BY, VALUE
from glasshouse.summaries import Summarised

Floats = npt.NDArray[np.float64]
Score = Literal["par2", "par2_cpu", "anytime"]

_INSTANT = 1e-6  # seconds; no run counts as faster


@dataclass(frozen=True, repr=False)
class SolverScore(Summarised):
    """The scores of one solver: a row in the table of a race.

    Attributes:
        solver: the solver's name.
        runs: the number of runs.
        solved: the number of runs that claimed the optimum, showed it and were right, in time.
        reached: the number of runs with a model as good as the best known.
        faults: the number of runs that reveal a bug in the solver.
        par2: mean seconds over the instances; an unsolved instance counts twice the limit.
        anytime: the mean of (1+best)/(1+found) over the instances; 0 without a valid model.
        median: the median seconds to solve an instance, with an interval.
        par2_cpu: `par2` by CPU time; the time limit replaces a missing CPU limit.
        cpu_seconds: CPU time of all runs together.
        memory: the most bytes of memory that a run used.
    """

    solver: str
    runs: int
    solved: int
    reached: int
    faults: int
    par2: float
    anytime: float
    median: Estimate
    par2_cpu: float
    cpu_seconds: float
    memory: int


def score(results: Results, solver: str) -> SolverScore:
    """Return the scores of one solver over all its runs."""
    runs = [run for of_instance in _table(results, solver).values() for run in of_instance]
    return SolverScore(
        solver,
        len(runs),
        sum(run.solved for run in runs),
        sum(is_reached(run, results.best_known) for run in runs),
        sum(run.verdict.is_fault for run in runs),
        mean_score(results, solver, "par2"),
        mean_score(results, solver, "anytime"),
        median_seconds(results, solver),
        mean_score(results, solver, "par2_cpu"),
        fsum(run.cpu_seconds for run in runs),
        max(run.memory for run in runs),
    )


def mean_score(results: Results, solver: str, name: Score) -> float:
    """Return a solver's mean score over all instances that the solver has run on."""
    return float(np.mean(list(per_instance(results, solver, name).values())))


def penalised_seconds(run: Run, clock: Clock = "wall") -> float:
    """Return a run's time in seconds, or twice the limit if the instance was not solved."""
    return run.taken(clock) if run.solved else 2 * run.most(clock)


def anytime_score(run: Run, best: int | None) -> float:
    """Return a run's anytime score (1 + best)/(1 + found), or 0 without a valid model.

    Args:
        run: the run; `found` is the cost of its model.
        best: the least known cost of the instance.
    """
    if run.shown is None or best is None:
        return 0.0
    return float(Fraction(1 + best, 1 + run.shown))


def is_reached(run: Run, best_known: dict[str, int]) -> bool:
    """Return whether a run has a model that is at least as good as the best known model."""
    return run.shown is not None and run.shown == best_known.get(run.instance)


def per_instance(results: Results, solver: str, name: Score) -> dict[str, float]:
    """Return a solver's score on each instance: the mean over all runs on that instance."""
    values = {}
    for instance, runs in _table(results, solver).items():
        best = results.best_known.get(instance)
        if name == "anytime":
            each = [anytime_score(run, best) for run in runs]
        else:
            clock: Clock = "wall" if name == "par2" else "cpu"
            each = [penalised_seconds(run, clock) for run in runs]
        values[instance] = math.fsum(each) / len(each)
    return values


def median_seconds(results: Results, solver: str, confidence: float = 0.95) -> Estimate:
    """Return a solver's median solving time: half of the instances are solved within it.

    The median run on each instance counts. The result is infinite if fewer than half are solved.
    """
    seconds, solved = solving_times(results, solver)
    return median(seconds, solved=solved, confidence=confidence)


def solving_times(
    results: Results, solver: str, clock: Clock = "wall"
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the median run's time on each instance, and whether that run solved the instance."""
    found = []
    for runs in _table(results, solver).values():
        ordered = sorted(runs, key=lambda run: (not run.solved, run.taken(clock)))
        middle = ordered[(len(ordered) - 1) // 2]
        seconds = middle.taken(clock) if middle.solved else middle.most(clock)
        found.append((max(seconds, _INSTANT), middle.solved))
    each, solved = zip(*found, strict=True)
    return np.array(each), np.array(solved)


def solving_seconds(results: Results, solver: str, clock: Clock = "wall") -> dict[str, float]:
    """Return the median run's time on each instance, or infinity for an unsolved instance."""
    seconds, solved = solving_times(results, solver, clock)
    shown = np.where(solved, seconds, math.inf).tolist()
    return dict(zip(_table(results, solver), shown, strict=True))


def reaching_seconds(run: Run, best_known: dict[str, int]) -> float | None:
    """Return the seconds until a run printed the best known cost; None if its model is worse."""
    if not is_reached(run, best_known):
        return None
    best = best_known[run.instance]
    when = next((seconds for seconds, value in run.incumbents if value <= best), run.seconds)
    return min(when, run.limit)


def reaching_times(results: Results, solver: str) -> dict[str, tuple[float, bool]]:
    """Return, by instance, the median time to the best known cost and whether it was reached.

    A run that did not reach the best known cost counts as the limit.
    """
    found = {}
    for instance, runs in _table(results, solver).items():
        times = [(reaching_seconds(run, results.best_known), run.limit) for run in runs]
        each = sorted((at is None, limit if at is None else at) for at, limit in times)
        is_late, seconds = each[(len(each) - 1) // 2]
        found[instance] = max(seconds, _INSTANT), not is_late
    return found


def median_reaching(
    results: Results, solver: str, instances: Collection[str] | None = None
) -> Estimate:
    """Return the time within which a solver reaches the best known cost on half the instances.

    Args:
        results: the race.
        solver: the name of the solver.
        instances: only these instances; None uses all.
    """
    times = reaching_times(results, solver)
    chosen = [at for name, at in times.items() if instances is None or name in instances]
    if not chosen:
        raise ValueError(f"{solver} has no runs on these instances; choose instances with runs")
    seconds, reached = zip(*chosen, strict=True)
    return median(np.array(seconds), solved=np.array(reached))


def tts99(results: Results, solver: str, instance: str, confidence: float = 0.95) -> Estimate:
    """Return the time in which repeated runs reach the best known cost with probability 0.99.

    This is the elapsed time of calls of one read each, as races of samplers compute it. A run takes
    the mean of all runs on the instance. The interval includes the noise of the clock.
    """
    runs = _table(results, solver).get(instance)
    if not runs:
        raise ValueError(f"{solver} has no runs on {instance}; choose an instance with runs")
    seconds = [max(min(run.seconds, run.limit), _INSTANT) for run in runs]
    reached = [is_reached(run, results.best_known) for run in runs]
    return TimeModel.of([1] * len(runs), seconds, reached, confidence).tts()


def tts_table(results: Results) -> dict[str, dict[str, Estimate]]:
    """Return `tts99` for every solver and every instance that the solver has run on."""
    return {
        solver: {instance: tts99(results, solver, instance) for instance in instances}
        for solver, instances in results.by_solver.items()
    }


def cactus(results: Results, solver: str, clock: Clock = "wall") -> Floats:
    """Return a solver's times on the instances that it solved, in ascending order."""
    seconds, solved = solving_times(results, solver, clock)
    return np.sort(seconds[solved])


def performance_profile(
    results: Results, solvers: Sequence[str] | None = None, clock: Clock = "wall"
) -> dict[str, tuple[Floats, Floats]]:
    """Return each solver's time ratios τ to the fastest solver, and the fraction solved within τ.

    This is the profile of Dolan and Moré, over the instances on which all chosen solvers have run,
    including instances that no solver solved.
    """
    names = list(results.solvers if solvers is None else solvers)
    times = {name: solving_seconds(results, name, clock) for name in names}
    common = [i for i in results.instances if all(i in times[name] for name in names)]
    if not common:
        raise ValueError("the solvers have no instance in common yet; race all of them first")
    table = np.array([[times[name][instance] for instance in common] for name in names])
    fastest = table.min(axis=0)
    profiles = {}
    for name, row in zip(names, table, strict=True):
        there = np.isfinite(row)
        ratios = np.sort(row[there] / fastest[there])
        profiles[name] = ratios, np.arange(1, len(ratios) + 1) / len(common)
    return profiles


def _table(results: Results, solver: str) -> dict[str, list[Run]]:
    if solver not in results.by_solver:
        known = ", ".join(results.solvers) or "none"
        raise ValueError(f"the race has no runs of {solver!r}; the solvers with runs are {known}")
    return results.by_solver[solver]


Curve = tuple[list[float], list[float]]

FEW_CURVES, MOST_CURVES = 5, 200  # the fewest for a median, and the most per solver
_LEAST_SECONDS = 1e-3  # seconds; earlier points are drawn here


def excess_curve(run: Run, best: int | None) -> Curve:
    """Return a run's step curve: times, and 1 plus the excess over the best known cost.

    Args:
        run: a run with at least one incumbent.
        best: the least known cost, as which lower values count; None uses the run's least value.
    """
    least = min(value for _, value in run.incumbents) if best is None else best
    seconds = [max(at, _LEAST_SECONDS) for at, _ in run.incumbents]
    excess = [float(min(max(value - least, 0), 10**300)) + 1 for _, value in run.incumbents]
    return [*seconds, max(run.seconds, seconds[-1])], [*excess, excess[-1]]


def median_curve(curves: Sequence[Curve]) -> tuple[Floats, Floats]:
    """Return the median of step curves; it begins when half of the curves have begun."""
    times = np.unique(np.concatenate([seconds for seconds, _ in curves]))
    heights = np.full((len(curves), len(times)), np.inf)
    for row, (seconds, excess) in zip(heights, curves, strict=True):
        place = np.searchsorted(seconds, times, side="right") - 1
        row[place >= 0] = np.asarray(excess)[place[place >= 0]]
    middle = np.sort(heights, axis=0)[(len(curves) - 1) // 2]
    return times[np.isfinite(middle)], middle[np.isfinite(middle)]


def relative_gap(run: Run) -> float | None:
    """Return the gap between a run's value and the best known value, relative to the latter.

    The gap is below 0 if the run found a better value. It is None without a valid model, and for
    instances that are not standard ones. A store from an untrusted source may contain any text in
    place of a number.
    """
    if run.shown is None or run.best is None or VALUE not in run.parameters:
        return None
    try:
        size = max(abs(ratio(str(run.parameters[VALUE]), VALUE)), Fraction(1))
        step = ratio(str(run.parameters[PER_COST]), PER_COST)
        return float(abs(step) * (run.shown - run.best) / size)
    except (ValueError, KeyError, OverflowError):
        return None


def mean_gap(results: Results, solver: str) -> tuple[float, int] | None:
    """Return a solver's mean gap and the number of runs with a gap, or None if no run has one."""
    runs = (run for run in results.runs if run.solver == solver)
    gaps = [gap for run in runs if (gap := relative_gap(run)) is not None]
    return (fsum(gaps) / len(gaps), len(gaps)) if gaps else None


def truths(results: Results) -> dict[str, int]:
    """Count the instances of standard libraries by the source of their optima and bounds."""
    by_name = {run.instance: run.parameters.get(TRUTH_BY) for run in results.runs}
    return dict(Counter(by for by in by_name.values() if isinstance(by, str)))


def trusted(results: Results) -> str:
    """Return a note on the sources of optima and bounds; empty without standard instances."""
    parts = []
    for by, number in truths(results).items():
        if by == BY_CERTIFICATE:
            parts.append(f"{number} by certificates, verified when the race was started")
        else:
            parts.append(f"{number} by the {by[:60]}, verified when the table was made")
    return f"optima and bounds: {'; '.join(parts)}" if parts else ""
