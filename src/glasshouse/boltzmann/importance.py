"""Annealed importance sampling: the partition function of machines too large for exact sums."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from glasshouse.boltzmann.data import as_units, log_odds
from glasshouse.boltzmann.kernels import importance
from glasshouse.boltzmann.model import BoltzmannMachine
from glasshouse.problems import FloatArray, SpinArray, validation
from glasshouse.randomness import RngLike, Seed
from glasshouse.statistics.samples import Estimate
from glasshouse.stopping import in_slices


@dataclass(frozen=True, repr=False)
class ImportanceEstimate(Estimate):
    """An estimate of ln Z.

    The expectation of `annealed_importance` is never above ln Z, and that of `reverse_importance`
    never below, if its first states are samples of the machine. Chains that all miss the same
    states agree, so a small error does not exclude a large bias: with large weights (of size 20,
    say) an error of 0 can come with a value that is off by many nats. Values of both directions
    that differ by more than their errors show such a bias. If `effective_chains` is below about
    ten, neither value nor error can be relied on.

    Attributes:
        error: standard error; the bias of the logarithm is included.
        effective_chains: the number of chains of equal weight that would be as informative,
            (Σw)²/Σw².
        chains: the number of chains.
        temperatures: the number of steps of each chain.
    """

    error: float
    effective_chains: float
    chains: int
    temperatures: int

    def __str__(self) -> str:
        effective = f"{self.effective_chains:.3g} effective chains of {self.chains}"
        return f"{self.value:.6g} ± {self.error:.2g}, {effective}"


def annealed_importance(
    machine: BoltzmannMachine,
    *,
    data: npt.ArrayLike | None = None,
    chains: int = 100,
    temperatures: int = 1000,
    confidence: float = 0.95,
    rng: RngLike = None,
) -> ImportanceEstimate:
    """Estimate ln Z by annealed importance sampling (Neal 2001; Salakhutdinov and Murray 2008).

    Chains start at a machine without weights, whose Z is known, and go to the machine itself in
    many small steps, with one Gibbs step at each temperature.

    Args:
        machine: any one; up to 24 units in a layer `log_partition` is exact.
        data: visible states that the first machine's biases are fitted to: the nearer it is, the
            smaller the error. Without any it has the machine's own biases.
        chains: how many; the error falls with their root.
        temperatures: how many steps; the spread of the chains' weights falls with their number.
        confidence: the confidence level of the interval.
        rng: a seed, or whatever `numpy.random.default_rng` takes. Chain c is the same whatever
            their number.

    >>> machine = BoltzmannMachine([[1.0, -1.0], [0.5, 2.0]])
    >>> found = annealed_importance(machine, rng=1)
    >>> abs(found.value - machine.log_partition) < 3 * found.error < 0.1
    True
    """
    chains = validation.count(chains, "chains", 2)
    states = np.empty((chains, machine.num_visible), np.int8)
    return _estimate(machine, data, states, temperatures, confidence, Seed.of(rng))


def reverse_importance(
    machine: BoltzmannMachine,
    start: npt.ArrayLike,
    *,
    data: npt.ArrayLike | None = None,
    temperatures: int = 1000,
    confidence: float = 0.95,
    rng: RngLike = None,
) -> ImportanceEstimate:
    """Estimate ln Z by chains from samples of the machine to a machine without weights.

    These are the chains of `annealed_importance` in reverse (Burda, Grosse and Salakhutdinov,
    2015). Their estimates err upwards, so the two together bracket ln Z. If the samples miss a part
    of the states, this is lost: nothing here can notice it.

    Args:
        machine: the machine.
        start: visible states that are samples of the machine, one per chain, at least two: those of
            long Gibbs chains (`machine.sample`) or of tempering (`glasshouse.sample`).
        data: as for `annealed_importance`.
        temperatures: the number of steps of each chain.
        confidence: of the interval.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> machine = BoltzmannMachine([[1.0, -1.0], [0.5, 2.0]])
    >>> found = reverse_importance(machine, machine.sample(100, steps=100, rng=2), rng=1)
    >>> abs(found.value - machine.log_partition) < 3 * found.error < 0.1
    True
    """
    states = validation.rows(as_units(start, machine.num_visible, machine.units, "start")).copy()
    if len(states) < 2:
        raise ValueError(f"start has {len(states)} rows; expected a sample for each of 2 chains")
    return _estimate(machine, data, states, temperatures, confidence, Seed.of(rng), is_reverse=True)


def _estimate(
    machine: BoltzmannMachine, data: npt.ArrayLike | None, states: SpinArray, temperatures: int,
    confidence: float, seed: Seed, *, is_reverse: bool = False,
) -> ImportanceEstimate:  # fmt: skip
    """Return the estimate of one chain per state; in reverse, chains start at these states."""
    temperatures = validation.count(temperatures, "temperatures", 1)
    validation.share(confidence, "confidence")  # before the work
    chains, low = len(states), machine.low
    if data is None:
        scale = 2.0 if machine.units == "binary" else 1.0
        base = scale * machine.in_units("spin").visible_bias  # hidden units are halfway
    else:
        rows = validation.rows(as_units(data, machine.num_visible, machine.units, "data"))
        base = log_odds(rows, machine.units)
    streams, logs = seed.streams(chains), np.empty(chains)

    def step(first: int, last: int) -> None:
        importance.log_importance(
            streams, machine.weights, machine.back, base, machine.visible_bias, machine.hidden_bias,
            low, temperatures, is_reverse, first, last, states, logs,
        )  # fmt: skip

    in_slices(step, temperatures)
    log_base = machine.num_hidden * math.log(2) + float(np.logaddexp(base, low * base).sum())
    return estimate_of(logs, log_base, temperatures, confidence, is_reverse=is_reverse)


def estimate_of(
    logs: FloatArray, log_base: float, temperatures: int, confidence: float, *,
    is_reverse: bool = False,
) -> ImportanceEstimate:  # fmt: skip
    """Return the estimate that the logarithms of the chains' weights give.

    Args:
        logs: one per chain.
        log_base: ln Z of the machine without weights.
        temperatures: steps of each chain.
        confidence: of the interval.
        is_reverse: whether the chains went to the machine without weights.
    """
    width = NormalDist().inv_cdf((1 + validation.share(confidence, "confidence")) / 2)
    ratio, error, effective = log_mean(logs)
    value = log_base - ratio if is_reverse else ratio + log_base
    return ImportanceEstimate(
        value, value - width * error, value + width * error, confidence, error, effective,
        len(logs), temperatures,
    )  # fmt: skip


def log_mean(logs: FloatArray) -> tuple[float, float, float]:
    """Return the log of the mean of weights given as logs, its error and effective sample size.

    The error is the jackknife's: its standard error and its bias, root of the sum of squares. It
    grows without limit as one weight outgrows all others, which that of a linear expansion does
    not: that one never says more than 1.
    """
    top, count = logs.max(), len(logs)
    weights = np.exp(logs - top)
    total = weights.sum()
    value = math.log(total / count)
    # In the sum without one weight, the others are added up before a large one drowns them.
    rest = total - weights
    largest = int(logs.argmax())
    others = np.delete(logs, largest)
    rest[largest] = 1.0
    without = np.log(rest / (count - 1))
    second = others.max()
    without[largest] = second - top + math.log(np.exp(others - second).sum() / (count - 1))
    bias = (count - 1) * (without.mean() - value)
    variance = (count - 1) * without.var()
    effective = total**2 / (weights**2).sum()
    return float(top + value), float(math.hypot(bias, math.sqrt(variance))), float(effective)
