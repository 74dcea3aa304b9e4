"""What a race of samplers tells: success, time to solution, residual energy, who is faster.

All of it is computed per instance first, and then over instances: an instance counts once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems.validation import Number
from glasshouse.races.samplers.calling import SamplerCall
from glasshouse.races.samplers.problems import RacedProblem, StoredProblem
from glasshouse.statistics.estimators import median_tts, quantile_of_ordered, time_to_solution
from glasshouse.statistics.intervals import binomial_interval, bootstrap_of_mean
from glasshouse.statistics.samples import Estimate
from glasshouse.suites.standard import TRUTH_BY
from glasshouse.summaries import Summarised, SummaryTable

Floats = npt.NDArray[np.float64]

_INSTANT = 1e-9  # seconds per read; nothing is faster
_TIMES = 48  # points of a curve over all instances


@dataclass(frozen=True, eq=False, repr=False)
class ResidualCurve(Summarised):
    """How much energy per spin is left above the target after so many seconds of reads.

    Attributes:
        seconds: ascending.
        residual: expected for the best of all reads until then, per spin.
    """

    seconds: Floats
    residual: Floats


@dataclass(frozen=True, repr=False)
class SamplerComparison(Summarised):
    """Two samplers on the same instances.

    Attributes:
        first: a sampler.
        second: another one.
        ratio: TTS99 of the first over that of the second: the median over instances; below 1 the
            first is faster. It is infinite or 0 on instances that only one of them solved.
        first_faster: instances with the lower TTS99 for the first.
        second_faster: and for the second.
        undecided: instances that neither solved, which are not in the ratio, and ties.
    """

    first: str
    second: str
    ratio: Estimate
    first_faster: int
    second_faster: int
    undecided: int

    def __str__(self) -> str:
        return (
            f"TTS99 of {self.first} / {self.second}: {self.ratio}, median over instances; "
            f"{self.first} is faster on {self.first_faster}, {self.second} on "
            f"{self.second_faster}, undecided {self.undecided}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class SamplerResults(Summarised):
    """All calls of a race of samplers.

    Attributes:
        suite: the name of what was raced on.
        problems: the instances.
        calls: all of them, in the order in which they were made.
        seed: what the seeds of all calls came from.
        confidence: of all intervals.
    """

    suite: str
    problems: tuple[RacedProblem | StoredProblem, ...]
    calls: tuple[SamplerCall, ...]
    seed: int
    confidence: float = 0.95

    @cached_property
    def solvers(self) -> tuple[str, ...]:
        """Their names, in the order in which they came."""
        return tuple(dict.fromkeys(call.solver for call in self.calls))

    @cached_property
    def instances(self) -> tuple[str, ...]:
        """Their names, in the order in which they came."""
        return tuple(problem.name for problem in self.problems)

    @property
    def parameters(self) -> dict[str, Mapping[str, Any]]:
        """What each instance was grown from."""
        return {problem.name: problem.parameters for problem in self.problems}

    @property
    def faults(self) -> list[SamplerCall]:
        """Calls with something wrong."""
        return [call for call in self.calls if call.fault]

    @cached_property
    def _problem(self) -> dict[str, RacedProblem | StoredProblem]:
        return {problem.name: problem for problem in self.problems}

    @cached_property
    def _table(self) -> dict[tuple[str, str], list[SamplerCall]]:
        table: dict[tuple[str, str], list[SamplerCall]] = {}
        for call in self.calls:
            table.setdefault((call.solver, call.instance), []).append(call)
        return table

    @cached_property
    def _target(self) -> dict[str, Number]:
        known = {one.name: [one.optimum, one.best] for one in self.problems}
        for call in self.calls:
            if len(call.energies):
                known[call.instance].append(call.energies[0].item())
        listed = {name: [e for e in each if e is not None] for name, each in known.items()}
        return {name: min(each) for name, each in listed.items() if each}

    def is_proven(self, instance: str) -> bool:
        """Whether the target of an instance is proven to be its least energy."""
        return self._known(instance).optimum is not None

    def target(self, instance: str) -> Number | None:
        """The proven optimum; else the best energy that it came with or that anybody found.

        None where neither is there.
        """
        optimum = self._known(instance).optimum
        return optimum if optimum is not None else self._target.get(instance)

    def energies(self, solver: str, instance: str) -> npt.NDArray[Any]:
        """Of all valid reads, ascending."""
        return np.sort(np.concatenate([call.energies for call in self._of(solver, instance)]))

    def seconds_per_read(self, solver: str, instance: str) -> float:
        """Wall-clock time of all calls, divided by their reads."""
        calls = self._of(solver, instance)
        seconds = math.fsum(call.seconds for call in calls)
        return max(seconds / sum(call.reads for call in calls), _INSTANT)

    def success(self, solver: str, instance: str | None = None) -> Estimate:
        """The probability that a read reaches the target, with Wilson's interval.

        Over all instances it is the mean of theirs, with a bootstrap interval.
        """
        if instance is None:
            each = np.array([self.success(solver, name).value for name in self.instances])
            low, high = bootstrap_of_mean(each, self.confidence)
            return Estimate(float(each.mean()), low, high, self.confidence)
        successes, reads = self._successes(solver, instance)
        low, high = binomial_interval(successes, reads, self.confidence, "wilson")
        return Estimate(successes / reads, low, high, self.confidence)

    def tts(
        self, solver: str, instance: str | None = None, *, success: float = 0.99
    ) -> Estimate:  # fmt: skip
        """Seconds until a read has reached the target with probability `success`.

        Over all instances it is the median of theirs with a bootstrap interval; instances that
        were never solved count as longer than all others.
        """
        if instance is None:
            each = [self.tts(solver, name, success=success) for name in self.instances]
            return median_tts(each, self.confidence)
        successes, reads = self._successes(solver, instance)
        return time_to_solution(
            successes, reads, self.seconds_per_read(solver, instance), success=success,
            confidence=self.confidence,
        )  # fmt: skip

    def tts_table(self) -> dict[str, dict[str, Estimate]]:
        """TTS99 per solver and instance."""
        return {who: {what: self.tts(who, what) for what in self.instances} for who in self.solvers}

    def residual(self, solver: str, instance: str | None = None) -> ResidualCurve:
        """Expected residual energy per spin of the best of k reads, at k times a read's seconds.

        The expectation is that over all choices of k of the reads that were made, exactly, for k
        up to their number. Reads of calls at fault cost their time and find nothing. Over all
        instances it is the median of theirs at equal times, from where half of them have a read;
        an instance whose reads are used up stays where it is.
        """
        if instance is not None:
            left, seconds = self._residuals(solver, instance)
            numbers = _doubling(len(left))
            return ResidualCurve(seconds * numbers.astype(np.float64), best_of(left, numbers))
        each = [self._residuals(solver, name) for name in self.instances]
        each = [(left, seconds) for left, seconds in each if len(left)]
        if 2 * len(each) < len(self.instances):
            return ResidualCurve(np.empty(0), np.empty(0))
        first = min(seconds for _, seconds in each)
        last = max(len(left) * seconds for left, seconds in each)
        times: Floats = np.geomspace(first, last, _TIMES, dtype=np.float64)
        heights = np.full((len(self.instances), _TIMES), math.inf)
        for row, (left, seconds) in zip(heights, each, strict=False):
            numbers = np.minimum(times * (1 + 1e-9) // seconds, len(left)).astype(np.int64)
            row[numbers > 0] = best_of(left, numbers[numbers > 0])
        middle = np.sort(heights, axis=0)[(len(heights) - 1) // 2]
        has_begun = np.isfinite(middle)
        return ResidualCurve(times[has_begun], middle[has_begun])

    def compare(self, first: str, second: str) -> SamplerComparison:
        """Two samplers, instance by instance: what is hard for both does not blur it."""
        pairs = [[self.tts(who, what).value for who in (first, second)] for what in self.instances]
        ratios = [x / y for x, y in pairs if math.isfinite(x) or math.isfinite(y)]
        if not ratios:
            raise ValueError(f"neither {first} nor {second} solved any instance")
        ordered = np.sort(np.array(ratios))
        ratio = Estimate(*quantile_of_ordered(ordered, 0.5, self.confidence), self.confidence)
        faster, slower = sum(x < y for x, y in pairs), sum(x > y for x, y in pairs)
        undecided = len(pairs) - faster - slower
        return SamplerComparison(first, second, ratio, faster, slower, undecided)

    def rows(self) -> list[dict[str, Any]]:
        """A row per call, for tables: `pandas.DataFrame(results.rows())`.

        `best` is the least energy of the call, None after a fault; `reached` counts its reads at
        the target.
        """
        return [self._row(call) for call in self.calls]

    def _row(self, call: SamplerCall) -> dict[str, Any]:
        problem, target = self._problem[call.instance], self.target(call.instance)
        reached = 0 if target is None else np.sum(call.energies <= target + problem.rounding)
        return {
            "solver": call.solver, "instance": call.instance, "number": call.number,
            "seconds": call.seconds, "reads": call.reads, "reached": int(reached),
            "best": call.energies[0].item() if len(call.energies) else None,
            "target": target, "proven": self.is_proven(call.instance), "seed": call.seed,
            "fault": call.fault,
        }  # fmt: skip

    def summary(self) -> str:
        """A table of the samplers, and what the numbers stand on."""
        table = self._summary_table()
        width = max([6, *(len(name) for name, *_ in table.rows)])
        lines = [
            f"{name:<{width}}  {success:<27}  {tts:<36}  {residual:>17}  {faults:>6}"
            for name, success, tts, residual, faults in [table.head, *table.rows]
        ]
        return "\n".join([*table.above, *lines, *table.below])

    def _by_table(self) -> str:
        """What was not verified when the race began, but when the table of a version was made."""
        known = [one.parameters.get(TRUTH_BY) for one in self.problems if one.optimum is not None]
        by = Counter(str(each)[:60] for each in known if str(each).startswith("table"))
        named = [f"{number} by the {table}" for table, number in by.items()]
        return f" ({', '.join(named)})" if named else ""

    def _summary_table(self) -> SummaryTable:
        """A row for each sampler."""
        proven = sum(one.optimum is not None for one in self.problems)
        number, others = len(self.problems), len(self.problems) - proven
        about = f"{self.suite}: {number} instance{'s' * (number != 1)}"
        about += f", {proven} with an optimum proven before the race{self._by_table()}"
        if others:
            about += f", {others} against the best energy known or found by anybody: not proven"
        head = ("solver", "success", "median TTS99 in seconds", "residual per spin", "faults")
        rows = []
        for name in self.solvers:
            wrong = sum(call.solver == name for call in self.faults)
            residual = f"{self._one_read(name):.4g}"
            rows.append(
                (name[:60], str(self.success(name)), str(self.tts(name)), residual, str(wrong))
            )
        faults = [f"{call.solver[:60]} on {call.instance[:60]}, call {call.number}: "
                  f"{call.fault[:100]}" for call in self._first_faults()]  # fmt: skip
        note = ("Residual: of one read, the median over instances. Times: wall-clock times of "
                "calls divided by reads, after one call on two spins.")  # fmt: skip
        return SummaryTable(rows, head, above=[about], below=[*faults, note])

    def __repr__(self) -> str:
        return (
            f"SamplerResults({len(self.solvers)} samplers, {len(self.problems)} instances, "
            f"{len(self.calls)} calls, {len(self.faults)} faults)"
        )

    def _first_faults(self) -> list[SamplerCall]:
        """One fault of each sampler and kind, as words."""
        return list({(call.solver, call.fault): call for call in reversed(self.faults)}.values())[
            :5
        ]

    def _one_read(self, solver: str) -> float:
        each = [self._residuals(solver, name)[0] for name in self.instances]
        means = sorted(float(left.mean()) if len(left) else math.inf for left in each)
        return means[(len(means) - 1) // 2]

    def _known(self, instance: str) -> RacedProblem | StoredProblem:
        if instance not in self._problem:
            raise ValueError(f"no instance {instance!r}; there are {', '.join(self.instances)}")
        return self._problem[instance]

    def _of(self, solver: str, instance: str) -> list[SamplerCall]:
        self._known(instance)
        if solver not in self.solvers:
            raise ValueError(f"no sampler {solver!r}; there are {', '.join(self.solvers)}")
        return self._table[solver, instance]

    def _successes(self, solver: str, instance: str) -> tuple[int, int]:
        """Reads that reached the target, and all of them."""
        energies, target = self.energies(solver, instance), self.target(instance)
        reads = sum(call.reads for call in self._of(solver, instance))
        if target is None:
            return 0, reads
        return int(np.count_nonzero(energies <= target + self._known(instance).rounding)), reads

    def _residuals(self, solver: str, instance: str) -> tuple[Floats, float]:
        """Energies per spin above the target, ascending, and the seconds that each took."""
        energies, target = self.energies(solver, instance), self.target(instance)
        calls = self._of(solver, instance)
        seconds = math.fsum(call.seconds for call in calls) / max(len(energies), 1)
        above = np.maximum(energies - (0 if target is None else target), 0)
        size = max(self._known(instance).num_variables, 1)
        return above.astype(np.float64) / size, max(seconds, _INSTANT)


def best_of(values: npt.ArrayLike, numbers: npt.ArrayLike) -> Floats:
    """The expected least of k values, drawn without replacement, for each k of `numbers`.

    The chance that the least one is not among the first i, ascending, is C(n-i, k)/C(n, k): a
    product of i factors, so that nothing is drawn and nothing overflows.

    >>> best_of([1.0, 2.0, 6.0], [1, 2, 3])
    array([3.        , 1.33333333, 1.        ])
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    size, places = len(ordered), np.arange(len(ordered))
    steps = np.diff(ordered, prepend=0.0)
    found = []
    for k in np.asarray(numbers).tolist():
        if not 1 <= k <= size:
            raise ValueError(f"the best of {k} out of {size} values is not defined")
        chances = np.cumprod(np.maximum(size - places - k, 0) / (size - places))
        found.append(ordered[0] + float(steps[1:] @ chances[:-1]))
    return np.array(found)


def _doubling(most: int) -> npt.NDArray[np.int64]:
    """1, 2, 4, … and `most`."""
    return np.unique([*(2**j for j in range(most.bit_length())), most][: None if most else 0])
