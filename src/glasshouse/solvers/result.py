"""Solver results: the states of runs, times to solution, and statistics of replica moves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.problems import Labels, Units, exchange, naming, validation
from glasshouse.problems.validation import FloatArray, Number, SpinArray
from glasshouse.randomness import Seed
from glasshouse.statistics.intervals import binomial_interval, runs_needed, times_needed
from glasshouse.summaries import Summarised, SummaryTable

if TYPE_CHECKING:
    import dimod

Unit: TypeAlias = Literal["elapsed", "work", "sweeps"]
UNITS: tuple[Unit, ...] = ("elapsed", "work", "sweeps")
Check: TypeAlias = Literal["sweep", "flip"]
Stopped: TypeAlias = Literal["time limit", "interrupted", "interrupt function"]
State: TypeAlias = Literal["best", "last"]
_MOST_SHOWN = 40  # numbers on a line


@dataclass(frozen=True, repr=False)
class TimeToSolution(Summarised):
    """The time needed for at least one run to succeed with the required probability.

    Attributes:
        value: the estimate, or the lower bound `low` if no run succeeded.
        low: the lower end of the interval.
        high: the upper end of the interval; infinite if no run succeeded.
        success: the required probability of at least one success: 0.99 yields TTS99.
        confidence: the confidence of the interval.
        unit: "elapsed" (seconds of repeated calls), "work" (seconds of runs) or "sweeps".
        is_bound: whether no run succeeded, so that only a lower bound is known.
        is_upper_bound: whether runs were stopped, so that `value` is an upper bound. The ends `low`
            and `high` then assume that all, or none, of the unfinished runs would have succeeded.
    """

    value: float
    low: float
    high: float
    success: float
    confidence: float
    unit: Unit
    is_bound: bool
    is_upper_bound: bool = False

    def __str__(self) -> str:
        unit = {"elapsed": "s elapsed", "work": "s of work"}.get(self.unit, self.unit)
        name = f"TTS{100 * self.success:g}"
        if self.is_bound:
            return f"{name} > {self.value:.3g} {unit}"
        sign = "≤" if self.is_upper_bound else "="
        interval = f"{100 * self.confidence:g} %: {self.low:.3g} to {self.high:.3g}"
        return f"{name} {sign} {self.value:.3g} {unit} ({interval})"


@dataclass(frozen=True, eq=False, repr=False)
class Ladder(Summarised):
    """Statistics of replica moves on a ladder of temperatures, over all runs.

    Attributes:
        acceptance: the fraction of accepted exchanges between each temperature and the next colder
            temperature.
        round_trips: the mean number of trips of a ladder's replicas from the hottest to the coldest
            temperature and back.
        clusters: whether cluster moves were made, for each temperature.
        every: the sweeps between two cluster moves; 0 without cluster moves.
        seconds: the wall-clock time of the warm-up, which the time of the runs excludes.
    """

    acceptance: FloatArray
    round_trips: float
    clusters: npt.NDArray[np.bool_]
    every: int
    seconds: float

    def __str__(self) -> str:
        shown = self.acceptance
        if len(shown) > _MOST_SHOWN:
            shown = np.quantile(shown, (0, 0.5, 1))
        numbers = " ".join(f"{share:.2f}" for share in shown)
        what = "least, median, most" if len(shown) < len(self.acceptance) else "hot to cold"
        text = f"{len(self.clusters)} temperatures, exchanges accepted ({what}): {numbers}\n"
        moves = "no cluster moves"
        if self.every:
            number = int(self.clusters.sum())
            moves = f"cluster moves at {number} temperatures, sweeps between them: {self.every}"
        text += f"{self.round_trips:.3g} round trips of a ladder, {moves}, "
        return text + f"warm-up {self.seconds:.3g} s"


@dataclass(frozen=True, eq=False, repr=False)
class AnnealResult(Summarised):
    """The results of all runs of annealing or parallel tempering.

    `energies[r]` is the lowest energy of run r at the end of a sweep, and `states[r]` the state
    with this energy. All sweeps count if there is a target, otherwise the last sixteenth of them.
    With `state="last"`, only the last sweep counts. With `check="flip"`, the state at the first hit
    of the target counts as well. Energies are recomputed from the states.

    Success after a stop: a block of runs ends early if all its runs reach the target, so successes
    are overrepresented among the finished runs. Therefore all runs that were started count, and
    unfinished runs without a hit count as failures: the success probability is then a lower bound,
    the time to solution an upper bound.

    Attributes:
        energies: the best energy of each run, in the units of the given problem (the cost, for
            MAX-2-SAT).
        states: (runs, variables), int8; 0/1 for QUBO and MAX-2-SAT, otherwise ±1.
        hits: the number of the sweep in which a run first reached the target, or 0 if it did not.
        sweeps: the number of sweeps of a run that is not stopped.
        betas: the inverse temperature of each sweep, or of each `sweeps_per_beta` sweeps, or of
            each of 2^22 equal parts of a longer run; in tempering, of each replica.
        target: the target energy, or None.
        check: "sweep" if the target was tested at the end of each sweep, "flip" if it was tested
            after every flip. Never compare results of different checks.
        kernel: the name of the kernel that was used.
        seconds: the wall-clock time of the kernels in seconds, without compilation.
        complete: whether each run was finished, not stopped.
        stopped: the reason why runs were stopped, or None.
        seed: the seed that reproduces the result.
        replicas: the number of replicas of each run of tempering, at all temperatures of all its
            ladders; 1 for annealing.
        share: the fraction of the sweeps of all started runs that was done: below 1 after a stop,
            or if blocks ended early.
        labels: the problem's variable labels; None if the variables are 0, 1, 2, …
        is_spin: whether states are ±1, not 0 and 1.
        ladder: statistics of the moves of replicas in tempering; None for annealing.

    >>> import glasshouse as gh
    >>> plant = gh.random_loops(8, 8, frustration="1/5", loops=4, rng=1)
    >>> result = gh.anneal(plant, sweeps=100, runs=64, rng=1)
    >>> result.best_energy == plant.energy, result.runs, result.best_run
    (True, 64, 0)
    >>> result.best_state.shape, len(result.best_sample), result.sample(units="binary")[0]
    ((16,), 16, 1)
    >>> result.successes == round(result.success_probability * result.runs)
    True
    >>> result.success_interval()[0] < result.success_probability
    True
    >>> print(result.tts(unit="sweeps"))
    TTS99 = 100 sweeps (95 %: 100 to 160)
    >>> print(result.summary())
    best energy -36 in 64 of 64 runs of 100 sweeps
    target -36 reached in 64 of 64 runs, checked after every sweep (95 %: 0.944 to 1)
    TTS99 = ... s elapsed (...), TTS99 = ... s of work (...), TTS99 = 100 sweeps (95 %: 100 to 160)
    kernel byte lanes, ... s
    >>> print(result.account(target="the plant"))
    in 64 of 64 runs of 100 sweeps
    target the plant reached in 64 of 64 runs, checked after every sweep (95 %: 0.944 to 1)
    TTS99 = ... s elapsed (...), TTS99 = ... s of work (...), TTS99 = 100 sweeps (95 %: 100 to 160)
    kernel byte lanes, ... s
    >>> result.to_sampleset().first.energy.item() == plant.energy
    True
    """

    energies: npt.NDArray[Any]
    states: SpinArray
    hits: npt.NDArray[np.int32]
    sweeps: int
    betas: FloatArray
    target: Number | None
    check: Check
    kernel: str
    seconds: float
    complete: npt.NDArray[np.bool_]
    stopped: Stopped | None = None
    seed: Seed | None = None
    replicas: int = 1
    share: float = 1.0
    labels: Labels | None = None
    is_spin: bool = True
    ladder: Ladder | None = None

    @property
    def runs(self) -> int:
        """The number of runs, including unfinished runs."""
        return len(self.energies)

    @cached_property
    def best_run(self) -> int:
        """The index of the first run that has the lowest energy."""
        return int(np.argmin(self.energies))

    @property
    def best_energy(self) -> Any:
        """The lowest energy of all runs."""
        return self.energies[self.best_run].item()

    @property
    def best_state(self) -> SpinArray:
        """A state with the lowest energy of all runs."""
        state: SpinArray = self.states[self.best_run]
        return state

    def sample(self, run: int | None = None, *, units: Units | None = None) -> dict[Any, int]:
        """Return the state of a run, by default the best run, as a mapping from label to value.

        Args:
            run: the index of the run; None for the best one.
            units: "spin" for ±1, "binary" for 0 and 1; the problem's own by default.
        """
        chosen = self.best_run if run is None else run
        return naming.sample_of(self.states[chosen], self.labels, units)

    @property
    def best_sample(self) -> dict[Any, int]:
        """The best state as a mapping from label to value."""
        return self.sample()

    def to_sampleset(self) -> dimod.SampleSet:
        """Return all states and their energies as a dimod SampleSet."""
        return exchange.sampleset(self.states, self.energies, self.labels, self.is_spin)

    @property
    def successes(self) -> int:
        """The number of runs that reached the target."""
        self._need_target()
        return int(np.count_nonzero(self.hits))

    @property
    def success_probability(self) -> float:
        """The fraction of runs that reached the target: a lower bound if runs were stopped."""
        self._need_evidence()
        return self.successes / self.runs

    def success_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the Clopper–Pearson interval of the success probability.

        After a stop, the lower end counts unfinished runs as failures, the upper end as successes.
        """
        self._need_evidence()
        undecided = int(np.count_nonzero(~self.complete & (self.hits == 0)))
        low, high = binomial_interval(self.successes, self.runs, confidence)
        if undecided:
            high = binomial_interval(self.successes + undecided, self.runs, confidence)[1]
        return low, high

    def tts(
        self, success: float = 0.99, unit: Unit = "work", *, confidence: float = 0.95
    ) -> TimeToSolution:
        """Return the time to solution: run length · ln(1 - success) / ln(1 - success_probability).

        A run counts in full in every unit, although a block of runs ends early once all its runs
        have reached the target. So all units measure the same event. The seconds of a run are the
        wall-clock time of the kernels per sweep, over all lanes and threads, times the sweeps of a
        run. After a stop, the result is an upper bound.

        The seconds of a run depend on the number of runs that share the lanes: `race_samplers`
        measures them at several batch sizes, by repeated calls.

        Args:
            success: the required probability of at least one success: 0.99 yields TTS99.
            unit: "work" is the seconds of a run times the number of runs needed; it compares
                algorithms. "elapsed" is the time of whole calls with as many runs as this call.
                "sweeps" counts the sweeps of all replicas of a run.
            confidence: the confidence of the interval.
        """
        success = validation.share(success, "success")
        if unit not in UNITS:
            raise ValueError(f"unit={unit!r} must be one of {', '.join(UNITS)}")
        p = self.success_probability
        length = float(self.sweeps * self.replicas)
        least = 0.0
        if unit != "sweeps":
            length = self.seconds / self.runs / self.share
            least = length * self.runs if unit == "elapsed" else 0.0
        if p == 0:  # no block ended early, so the finished runs are a fair sample
            number = int(np.count_nonzero(self.complete))
            chance = binomial_interval(0, number, confidence)[1]
            bound = max(length * runs_needed(chance, success), least)
            return TimeToSolution(bound, bound, math.inf, success, confidence, unit, is_bound=True)
        value, low, high = (
            max(one, least)
            for one in times_needed(length, p, self.success_interval(confidence), success)
        )
        return TimeToSolution(
            value, low, high, success, confidence, unit, is_bound=False,
            is_upper_bound=self.stopped is not None,
        )  # fmt: skip

    def summary(self) -> str:
        """Return the best energy, the success rate and the time to solution as text."""
        return "\n".join(" ".join(row) for row in self._summary_table().rows)

    def _summary_table(self) -> SummaryTable:
        """Return the summary as a table with one row for each line of text."""
        how_often, *lines = self.account(self.target).splitlines()
        return SummaryTable(
            [("best energy", f"{self.best_energy} {how_often}"), *map(_named, lines)]
        )

    def account(self, target: object) -> str:
        """Return the best energy's frequency, the success rate and the time to solution as text.

        Args:
            target: the text for the target, because a file may state a different number.
        """
        count = int(np.count_nonzero(self.energies == self.energies[self.best_run]))
        lines = [f"in {count} of {self.runs} runs of {self.sweeps} sweeps"]
        if self.target is not None and self._has_evidence():
            low, high = self.success_interval()
            lines.append(
                f"target {target} reached in {self.successes} of {self.runs} runs, "
                f"checked after every {self.check} (95 %: {low:.3g} to {high:.3g})"
            )
            if self.stopped:
                lines.append(f"stopped: success at least {self.success_probability:.3g}")
            lines.append(", ".join(str(self.tts(unit=unit)) for unit in UNITS))
        if self.ladder is not None:
            lines.append(str(self.ladder))
        lines.append(f"kernel {self.kernel}, {self.seconds:.3g} s")
        if self.stopped:
            unfinished = self.runs - int(np.count_nonzero(self.complete))
            by = "Ctrl-C" if self.stopped == "interrupted" else f"the {self.stopped}"
            lines.append(
                f"stopped by {by}: {self.runs} runs begun, {unfinished} of them unfinished"
            )
        return "\n".join(lines)

    def __repr__(self) -> str:
        runs = "1 run" if self.runs == 1 else f"{self.runs} runs"
        return f"AnnealResult({runs}, best energy {self.best_energy}, {self.kernel})"

    def _need_target(self) -> None:
        if self.target is None:
            raise ValueError("no target was given, so success is not defined; pass a target")

    def _has_evidence(self) -> bool:
        return bool(self.complete.any() or self.hits.any())

    def _need_evidence(self) -> None:
        self._need_target()
        if not self._has_evidence():
            raise ValueError("no run finished before the solver stopped; use a longer time limit")


def _named(line: str) -> tuple[str, ...]:
    """Split a summary line into a leading name, if it has one, and the rest."""
    name, _, rest = line.partition(" ")
    return (name, rest) if name in ("target", "kernel") else (line,)
