"""Results of a race of samplers: success, times to solution, residual energy, comparisons.

Results are computed per instance first, then over instances. `statistics.time_model` defines times.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems.validation import Number
from glasshouse.races.samplers.calling import SamplerCall
from glasshouse.races.samplers.clocks import Clock, clock_name
from glasshouse.races.samplers.problems import RacedProblem, StoredProblem
from glasshouse.races.samplers.residuals import ResidualCurve, best_of, doubling, median_curve
from glasshouse.statistics.intervals import binomial_interval
from glasshouse.statistics.samples import Estimate
from glasshouse.statistics.time_model import By, TimeModel, mean_over, median_over
from glasshouse.suites.standard import TRUTH_BY
from glasshouse.summaries import Summarised, SummaryTable

Floats = npt.NDArray[np.float64]

_UNRESOLVED = 100  # an interval whose ends differ by this factor has little information


@dataclass(frozen=True, repr=False)
class SamplerComparison(Summarised):
    """A comparison of two samplers' times to solution on the same instances.

    Attributes:
        first: the name of the first sampler.
        second: the name of the second sampler.
        ratio: TTS99 of the first over that of the second: the median over instances; below 1 the
            first is faster. It is infinite or 0 on instances that only one of them solved.
        first_faster: the number of instances on which the first has the lower TTS99.
        second_faster: the number of instances on which the second has the lower TTS99.
        undecided: the number of ties, and of instances that neither solved (not in the ratio).
        by: whether TTS99 is elapsed time or work.
    """

    first: str
    second: str
    ratio: Estimate
    first_faster: int
    second_faster: int
    undecided: int
    by: By = "elapsed"

    def __str__(self) -> str:
        return (
            f"TTS99 ({self.by}) of {self.first} / {self.second}: {self.ratio}, median over "
            f"instances; {self.first} is faster on {self.first_faster}, {self.second} on "
            f"{self.second_faster}, undecided {self.undecided}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class SamplerResults(Summarised):
    """All calls of a race of samplers, and the statistics that follow from them.

    Attributes:
        suite: the name of the suite.
        problems: the instances.
        calls: all calls, in the order in which they were made.
        seed: the source of the seeds of all calls.
        confidence: the confidence of all intervals.
        samplers: the class or function (`what`) and the parameters of each sampler.
        other_clocks: clocks that replace those of the race, by sampler.
    """

    suite: str
    problems: tuple[RacedProblem | StoredProblem, ...]
    calls: tuple[SamplerCall, ...]
    seed: int
    confidence: float = 0.95
    samplers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    other_clocks: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def solvers(self) -> tuple[str, ...]:
        """The names of the samplers, in the order in which they entered."""
        return tuple(dict.fromkeys(call.solver for call in self.calls))

    @cached_property
    def instances(self) -> tuple[str, ...]:
        """The names of the instances, in the order in which they entered."""
        return tuple(problem.name for problem in self.problems)

    @property
    def parameters(self) -> dict[str, Mapping[str, Any]]:
        """The parameters of each instance, by the name of the instance."""
        return {problem.name: problem.parameters for problem in self.problems}

    @property
    def faults(self) -> list[SamplerCall]:
        """The calls that have a fault."""
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
        """Return whether the target of an instance is proven to be its least energy."""
        return self._known(instance).optimum is not None

    def target(self, instance: str) -> Number | None:
        """Return the target of an instance: the proven optimum, or else the best known energy.

        The target is None if no energy is known.
        """
        optimum = self._known(instance).optimum
        return optimum if optimum is not None else self._target.get(instance)

    def energies(self, solver: str, instance: str) -> npt.NDArray[Any]:
        """Return the sorted energies of all valid reads of a sampler on an instance."""
        return np.sort(np.concatenate([call.energies for call in self._of(solver, instance)]))

    @cached_property
    def clocks(self) -> dict[str, str]:
        """The name of the clock that times each sampler."""
        return {call.solver: call.clock for call in self.calls} | dict(self.other_clocks)

    @property
    def computers(self) -> list[Mapping[str, Any]]:
        """The computers of the calls, with package versions; empty for stores of version 0.1."""
        return list({repr(call.computer): call.computer for call in self.calls if call.computer}
                    .values())  # fmt: skip

    def by_clock(self, clock: str | Mapping[str, Clock]) -> SamplerResults:
        """Return the results of the same calls, timed by another clock.

        Args:
            clock: "wall", "cpu" or a name in `info["timing"]`, for all samplers or by sampler.
        """
        given = clock if isinstance(clock, Mapping) else dict.fromkeys(self.solvers, clock)
        named = {name: clock_name(one) for name, one in given.items()}
        for call in self.calls:
            try:
                call.seconds_by(named.get(call.solver, self.clocks[call.solver]))
            except ValueError as error:
                raise ValueError(f"{call.solver} on {call.instance}: {error}") from None
        return replace(self, other_clocks={**self.other_clocks, **named})

    def model(self, solver: str, instance: str, *, epsilon: float = 0.0) -> TimeModel:
        """Return a sampler's time model on an instance, fitted to call times and successful reads.

        Args:
            solver: a sampler's name.
            instance: a problem's name.
            epsilon: success is an energy of at most target + epsilon·|target|.
        """
        if (solver, instance, epsilon) not in self._models:
            calls, clock = self._of(solver, instance), self.clocks.get(solver, "wall")
            self._models[solver, instance, epsilon] = TimeModel.of(
                [call.reads for call in calls], [call.seconds_by(clock) for call in calls],
                [self._reached(call, epsilon) for call in calls], self.confidence,
                list(self._table).index((solver, instance)),
            )  # fmt: skip
        return self._models[solver, instance, epsilon]

    @cached_property
    def _models(self) -> dict[tuple[str, str, float], TimeModel]:
        return {}

    def success(
        self, solver: str, instance: str | None = None, *, epsilon: float = 0.0
    ) -> Estimate:
        """Return the probability that a read reaches the target, with Wilson's interval.

        Over all instances, the result is the mean; its interval resamples instances and reads.
        """
        if instance is None:
            each = [self.model(solver, name, epsilon=epsilon) for name in self.instances]
            return mean_over([one.success_draws() for one in each], self.confidence)
        calls = self._of(solver, instance)
        reads = sum(call.reads for call in calls)
        successes = sum(self._reached(call, epsilon) for call in calls)
        low, high = binomial_interval(successes, reads, self.confidence, "wilson")
        return Estimate(successes / reads, low, high, self.confidence)

    def tts(
        self, solver: str, instance: str | None = None, by: By = "elapsed", *,
        success: float = 0.99, epsilon: float = 0.0,
    ) -> Estimate:  # fmt: skip
        """Return the time after which a read has reached the target with probability `success`.

        Over all instances, the result is the median; its interval resamples instances, calls and
        reads. Unsolved instances count as longer than all others.

        Args:
            solver: a sampler's name.
            instance: a problem's name; None for all instances.
            by: "elapsed": the time of one solver on the whole computer, with its best batch size;
                "work": the time that each further read adds to a large batch, times the reads
                needed.
            success: the required probability of at least one success: 0.99 gives TTS99.
            epsilon: success is an energy of at most target + epsilon·|target|: time to ε.
        """
        if instance is not None:
            return self.model(solver, instance, epsilon=epsilon).tts(by, success)
        each = [self.model(solver, name, epsilon=epsilon) for name in self.instances]
        return median_over([one.tts_draws(by, success) for one in each], self.confidence)

    def tts_table(self, by: By = "elapsed") -> dict[str, dict[str, Estimate]]:
        """Return the TTS99 of each sampler on each instance."""
        return {
            who: {what: self.tts(who, what, by) for what in self.instances} for who in self.solvers
        }

    def residual(self, solver: str, instance: str | None = None) -> ResidualCurve:
        """Return the expected residual energy per spin, for the best of k reads, over elapsed time.

        The expectation is exact, over all choices of k of the reads that were made, for k up to
        their number. The time is that of one call of k reads, or of several calls of the largest
        batch size. Reads of faulty calls take time and find nothing. Over all instances, the result
        is the median at equal times, starting when half of the instances have a read; an instance
        without further reads keeps its last value.
        """
        if instance is not None:
            left = self._residuals(solver, instance)
            numbers = doubling(len(left))
            return ResidualCurve(self._seconds_of(solver, instance, numbers),
                                 best_of(left, numbers))  # fmt: skip
        return median_curve([self.residual(solver, name) for name in self.instances])

    def compare(self, first: str, second: str, by: By = "elapsed") -> SamplerComparison:
        """Compare two samplers instance by instance, so that each instance's hardness cancels."""
        pairs = [[self.model(who, what).tts_draws(by) for who in (first, second)]
                 for what in self.instances]  # fmt: skip
        solved = [(x, y) for x, y in pairs if math.isfinite(x[0]) or math.isfinite(y[0])]
        if not solved:
            raise ValueError(f"neither {first} nor {second} solved any instance; use more reads")
        ratios = [(x[0] / y[0], x[1] / y[1]) for x, y in solved]
        ratio = median_over(ratios, self.confidence)
        faster, slower = (sum(k * x[0] < k * y[0] for x, y in pairs) for k in (1, -1))
        undecided = len(pairs) - faster - slower
        return SamplerComparison(first, second, ratio, faster, slower, undecided, by)

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per call, as rows for `pandas.DataFrame(results.rows())`.

        `best` is the least energy of the call, None after a fault; `reached` counts its reads at
        the target.
        """
        return [self._row(call) for call in self.calls]

    def _row(self, call: SamplerCall) -> dict[str, Any]:
        return {
            "solver": call.solver, "instance": call.instance, "number": call.number,
            "seconds": call.seconds, "cpu_seconds": call.cpu_seconds,
            **{f"timing {name}": value for name, value in call.timing.items()},
            "reads": call.reads, "reached": self._reached(call),
            "best": call.energies[0].item() if len(call.energies) else None,
            "target": self.target(call.instance), "proven": self.is_proven(call.instance),
            "seed": call.seed, "fault": call.fault,
        }  # fmt: skip

    def summary(self) -> str:
        """Return a table of the samplers as text, with notes on the times and their clocks."""
        table = self._summary_table()
        rows = [table.head, *table.rows]
        widths = [max(len(row[k]) for row in rows) for k in range(len(table.head))]
        lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
                 .rstrip() for row in rows]  # fmt: skip
        return "\n".join([*table.above, *lines, *table.below])

    def _by_table(self) -> str:
        """Return a note on optima that were verified when a table was made, not before the race."""
        known = [one.parameters.get(TRUTH_BY) for one in self.problems if one.optimum is not None]
        by = Counter(str(each)[:60] for each in known if str(each).startswith("table"))
        named = [f"{number} by the {table}" for table, number in by.items()]
        return f" ({', '.join(named)})" if named else ""

    def _summary_table(self) -> SummaryTable:
        """Return the summary as a table with one row per sampler."""
        proven = sum(one.optimum is not None for one in self.problems)
        number, others = len(self.problems), len(self.problems) - proven
        about = f"{self.suite}: {number} instance{'s' * (number != 1)}"
        about += f", {proven} with an optimum proven before the race{self._by_table()}"
        if others:
            about += f", {others} with an unproven target: the best energy known or found"
        head = ("solver", "success", "TTS99 elapsed, s", "TTS99 by work, s", "residual per spin",
                "faults")  # fmt: skip
        rows = []
        for name in self.solvers:
            wrong = sum(call.solver == name for call in self.faults)
            residual = f"{self._one_read(name):.4g}"
            rows.append(
                (
                    name[:60],
                    str(self.success(name)),
                    str(self.tts(name)),
                    str(self.tts(name, by="work")),
                    residual,
                    str(wrong),
                )
            )
        faults = [f"{call.solver[:60]} on {call.instance[:60]}, call {call.number}: "
                  f"{call.fault[:100]}" for call in self._first_faults()]  # fmt: skip
        return SummaryTable(rows, head, above=[about], below=[*faults, *self.notes()])

    def notes(self, solvers: Sequence[str] | None = None) -> list[str]:
        """Return notes on the times: clocks, batch sizes, and what was not measured.

        Args:
            solvers: samplers that were called on every instance; all of them by default.
        """
        chosen = self.solvers if solvers is None else solvers
        clocks = sorted(set(self.clocks.values()))
        if len(clocks) > 1:
            clocks = [f"{name[:60]} {clock[:60]}" for name, clock in self.clocks.items()]
        notes = ["Medians over instances. Elapsed: one solver on the whole computer with its best "
                 "batch size. Work: the time of a further read, without the latency. "
                 f"Clock: {', '.join(clocks)}."]  # fmt: skip
        edge = [name for name in chosen
                if any(self.model(name, one).is_at_edge() for one in self.instances)]  # fmt: skip
        if edge:
            notes.append(f"A larger batch may be faster than any that was measured: "
                         f"{', '.join(name[:60] for name in edge)}.")  # fmt: skip
        work = {name: self.tts(name, by="work") for name in chosen}
        noisy = [name for name, at in work.items() if at.low * _UNRESOLVED < at.high < math.inf]
        if noisy:
            names = ", ".join(name[:60] for name in noisy)
            notes.append(f"The work of {names} is uncertain: the time of a further read is shorter "
                         "than the variation between calls; use larger batches.")  # fmt: skip
        return notes

    def __repr__(self) -> str:
        return (
            f"SamplerResults({len(self.solvers)} samplers, {len(self.problems)} instances, "
            f"{len(self.calls)} calls, {len(self.faults)} faults)"
        )

    def _first_faults(self) -> list[SamplerCall]:
        """Return each sampler's first fault of each kind, but at most five faults in total."""
        kinds = {(call.solver, call.fault): call for call in reversed(self.faults)}
        return list(kinds.values())[:5]

    def _one_read(self, solver: str) -> float:
        each = [self._residuals(solver, name) for name in self.instances]
        means = sorted(float(left.mean()) if len(left) else math.inf for left in each)
        return means[(len(means) - 1) // 2]

    def _known(self, instance: str) -> RacedProblem | StoredProblem:
        if instance not in self._problem:
            raise ValueError(f"{instance!r} is not an instance; use {', '.join(self.instances)}")
        return self._problem[instance]

    def _of(self, solver: str, instance: str) -> list[SamplerCall]:
        self._known(instance)
        if solver not in self.solvers:
            raise ValueError(f"{solver!r} is not a sampler; use {', '.join(self.solvers)}")
        return self._table[solver, instance]

    def _reached(self, call: SamplerCall, epsilon: float = 0.0) -> int:
        """Return the number of reads of a call that reached the target."""
        target = self.target(call.instance)
        if target is None:
            return 0
        slack = self._known(call.instance).rounding + epsilon * abs(target)
        return int(np.count_nonzero(call.energies <= target + slack))

    def _residuals(self, solver: str, instance: str) -> Floats:
        """Return the valid reads' energies above the target, per spin, in ascending order."""
        energies, target = self.energies(solver, instance), self.target(instance)
        above = np.maximum(energies - (0 if target is None else target), 0)
        return above.astype(np.float64) / max(self._known(instance).num_variables, 1)

    def _seconds_of(self, solver: str, instance: str, numbers: npt.NDArray[np.int64]) -> Floats:
        """Return the elapsed seconds that a sampler needs for each number of valid reads."""
        valid = len(self.energies(solver, instance))
        asked = sum(call.reads for call in self._of(solver, instance))
        times = self.model(solver, instance).seconds_of(numbers * (asked / max(valid, 1)))
        return np.maximum.accumulate(times)
