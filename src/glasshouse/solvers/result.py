"""What a solver returns: the best state of each run, and how long success takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.planting.randomness import Seed
from glasshouse.problems.validation import FloatArray, Number, SpinArray

Unit: TypeAlias = Literal["seconds", "sweeps"]
Check: TypeAlias = Literal["sweep", "flip"]
Stopped: TypeAlias = Literal["time limit", "interrupted"]


@dataclass(frozen=True)
class TimeToSolution:
    """How long to go on until a success has been seen with the given confidence.

    Attributes:
        value: the estimate; where no run succeeded, the same lower bound as `low`.
        low: lower end of a 95 % interval; where no run succeeded, a one-sided 95 % bound.
        high: upper end; infinite where no run succeeded.
        confidence: the wanted probability of a success.
        unit: seconds or sweeps.
        is_bound: whether no run succeeded, so that only a lower bound is known.
        is_upper_bound: whether runs were stopped, so that `value` is the most it can be; `low` and
            `high` are then the ends if all, or none, of the unfinished runs had succeeded.
    """

    value: float
    low: float
    high: float
    confidence: float
    unit: Unit
    is_bound: bool
    is_upper_bound: bool = False

    def __str__(self) -> str:
        unit = "s" if self.unit == "seconds" else "sweeps"
        name = f"TTS{100 * self.confidence:g}"
        if self.is_bound:
            return f"{name} > {self.value:.3g} {unit}"
        sign = "≤" if self.is_upper_bound else "="
        return f"{name} {sign} {self.value:.3g} {unit} (95 %: {self.low:.3g} to {self.high:.3g})"


@dataclass(frozen=True, eq=False, repr=False)
class AnnealResult:
    """The runs of an annealer or of parallel tempering.

    `energies[r]` is the lowest energy that run r had at the end of a sweep, `states[r]` the state
    that had it: looked for in all sweeps if there is a target, else in the last sixteenth of them.
    With `check="flip"` the state at the first hit of the target counts as well. Energies were
    computed anew from the states.

    Success after a stop: a block of runs ends early if all its runs reach the target, so that among
    the finished runs successes are too many. All runs that were begun count therefore, unfinished
    ones without a hit as failures: the success probability is then a lower bound, the time to
    solution an upper one.

    Attributes:
        energies: best of each run, in the terms of the problem that was given (cost for
            MAX-2-SAT).
        states: (runs, variables), int8; 0/1 for QUBO and MAX-2-SAT, else ±1.
        hits: number of the sweep in which a run first reached the target, 0 = not reached.
        sweeps: sweeps that a run has if nothing stops it.
        betas: inverse temperature of each sweep (of tempering: of each replica); of runs of more
            than 2^22 sweeps, that of each of 2^22 equal parts.
        target: the energy looked for, if any.
        check: whether the target was looked for at the end of each sweep or after every flip. The
            two give different hits and success probabilities: never compare one with the other.
        kernel: the name of the kernel that was used.
        seconds: wall-clock time of the kernels, without compilation.
        complete: whether each run was carried out as planned; others were stopped.
        stopped: why runs were stopped, or None.
        seed: gives the same result again.
        replicas: temperatures that each run of tempering has at the same time, else 1.
        share: of all sweeps of the runs that were begun, those carried out: below 1 after a stop,
            or where blocks ended early.
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

    @property
    def runs(self) -> int:
        """How many runs there are, unfinished ones included."""
        return len(self.energies)

    @cached_property
    def best_run(self) -> int:
        """The run with the lowest energy, the first of equals."""
        return int(np.argmin(self.energies))

    @property
    def best_energy(self) -> Any:
        """The lowest energy of all runs."""
        return self.energies[self.best_run].item()

    @property
    def best_state(self) -> SpinArray:
        """A state that has it."""
        state: SpinArray = self.states[self.best_run]
        return state

    @property
    def successes(self) -> int:
        """Runs that reached the target."""
        self._need_target()
        return int(np.count_nonzero(self.hits))

    @property
    def success_probability(self) -> float:
        """Share of the runs that reached the target; a lower bound if runs were stopped."""
        self._need_evidence()
        return self.successes / self.runs

    def success_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Clopper–Pearson interval of the success probability.

        After a stop its lower end takes unfinished runs for failures, its upper end for successes.
        """
        self._need_evidence()
        undecided = int(np.count_nonzero(~self.complete & (self.hits == 0)))
        low, high = binomial_interval(self.successes, self.runs, level)
        if undecided:
            high = binomial_interval(self.successes + undecided, self.runs, level)[1]
        return low, high

    def tts(self, confidence: float = 0.99, unit: Unit = "seconds") -> TimeToSolution:
        """Time to solution: a run's length times the runs needed, ln(1 - c) / ln(1 - p).

        A run's length in seconds is the wall-clock time divided by the number of runs: all lanes
        and threads count as working at the same time. After a stop it is the time that a run of
        full length would have taken, and the result is an upper bound.

        Args:
            confidence: c, the probability of at least one success.
            unit: "seconds", or "sweeps" of one run.
        """
        if not 0 < confidence < 1:
            raise ValueError(f"confidence={confidence} is not between 0 and 1")
        if unit not in ("seconds", "sweeps"):
            raise ValueError(f"unit={unit!r} is neither 'seconds' nor 'sweeps'")
        success = self.success_probability
        length = float(self.sweeps * self.replicas)
        if unit == "seconds":
            length = self.seconds / self.runs / (self.share if self.stopped else 1)
        if success == 0:  # no block ended early, so that the finished runs are a fair sample
            number = int(np.count_nonzero(self.complete))
            bound = length * runs_needed(1 - 0.05 ** (1 / number), confidence)
            return TimeToSolution(bound, bound, math.inf, confidence, unit, is_bound=True)
        low, high = self.success_interval()
        return TimeToSolution(
            length * runs_needed(success, confidence),
            length * runs_needed(high, confidence),
            length * runs_needed(low, confidence),
            confidence, unit, is_bound=False, is_upper_bound=self.stopped is not None,
        )  # fmt: skip

    def summary(self) -> str:
        """Best energy, success and time to solution, for people."""
        count = int(np.count_nonzero(self.energies == self.energies[self.best_run]))
        lines = [
            f"best energy {self.best_energy} in {count} of {self.runs} runs of {self.sweeps} sweeps"
        ]
        if self.target is not None and self._has_evidence():
            low, high = self.success_interval()
            lines.append(
                f"target {self.target} reached in {self.successes} of {self.runs} runs, "
                f"looked for after every {self.check} (95 %: {low:.3g} to {high:.3g})"
            )
            if self.stopped:
                lines.append(f"stopped: success at least {self.success_probability:.3g}")
            lines.append(f"{self.tts()}, {self.tts(unit='sweeps')}")
        lines.append(f"kernel {self.kernel}, {self.seconds:.3g} s")
        if self.stopped:
            unfinished = self.runs - int(np.count_nonzero(self.complete))
            by = "Ctrl-C" if self.stopped == "interrupted" else "the time limit"
            lines.append(f"stopped by {by}: {unfinished} of {self.runs} runs unfinished")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"AnnealResult({self.runs} runs, best energy {self.best_energy}, {self.kernel})"

    def _need_target(self) -> None:
        if self.target is None:
            raise ValueError("no target was given, so that success is not defined; use target=")

    def _has_evidence(self) -> bool:
        return bool(self.complete.any() or self.hits.any())

    def _need_evidence(self) -> None:
        self._need_target()
        if not self._has_evidence():
            raise ValueError("no run was completed before the stop; give it more time")


def runs_needed(probability: float, confidence: float) -> float:
    """Runs until one succeeds with the given confidence, at least one; infinite for p = 0."""
    if probability >= confidence:
        return 1.0
    return math.log1p(-confidence) / math.log1p(-probability) if probability > 0 else math.inf


def binomial_interval(successes: int, number: int, level: float = 0.95) -> tuple[float, float]:
    """Clopper–Pearson: the probabilities that do not contradict k successes out of n.

    >>> low, high = binomial_interval(0, 100)
    >>> print(f"{low:.4f} {high:.4f}")
    0.0000 0.0362
    """
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = float(betaincinv(successes, number - successes + 1, tail)) if successes else 0.0
    failures = number - successes
    high = float(betaincinv(successes + 1, failures, 1 - tail)) if failures else 1.0
    return low, high
