"""Annealed importance sampling: the partition function of RBMs too large for exact sums."""

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
    """An estimate of ln Z by annealed importance sampling.

    The expectation of `annealed_importance` is never above ln Z. The expectation of
    `reverse_importance` is never below ln Z, if its first states are samples of the machine. If all
    chains miss the same states, a small error does not exclude a bias of many nats, for example
    with weights of size 20. Values of both directions that differ by more than their errors show
    such a bias. If `effective_chains` is below about ten, neither value nor error is reliable.

    Attributes:
        error: the standard error, including the bias of the logarithm.
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

    Chains start at a machine without weights, whose Z is known, and reach the machine itself in
    many small steps of the temperature, with one Gibbs step at each temperature.

    Args:
        machine: the machine; if a layer has at most 24 units, `log_partition` is exact instead.
        data: visible states to which the biases of the first machine are fitted: the better the
            fit, the smaller the error. By default, the biases of `machine` are used.
        chains: the number of chains; the error is inversely proportional to its square root.
        temperatures: the number of steps of each chain; more steps reduce the spread of weights.
        confidence: the confidence level of the interval.
        rng: a seed, or anything that `numpy.random.default_rng` takes. Chain c does not depend on
            the number of chains.

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
    """Estimate ln Z by annealed importance sampling in reverse, from samples of the machine.

    The chains are those of `annealed_importance` in reverse (Burda, Grosse and Salakhutdinov,
    2015). Their estimates err upwards, so both functions together bracket ln Z. This does not hold
    if the samples miss some of the states; no check can detect such a gap.

    Args:
        machine: the machine.
        start: visible states that are samples of the machine, one per chain, at least two: from
            long Gibbs chains (`machine.sample`) or from tempering (`glasshouse.sample`).
        data: as for `annealed_importance`.
        temperatures: the number of steps of each chain.
        confidence: the confidence level of the interval.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> machine = BoltzmannMachine([[1.0, -1.0], [0.5, 2.0]])
    >>> found = reverse_importance(machine, machine.sample(100, steps=100, rng=2), rng=1)
    >>> abs(found.value - machine.log_partition) < 3 * found.error < 0.1
    True
    """
    states = validation.rows(as_units(start, machine.num_visible, machine.units, "start")).copy()
    if len(states) < 2:
        raise ValueError(f"start has {len(states)} rows; expected at least 2, one per chain")
    return _estimate(machine, data, states, temperatures, confidence, Seed.of(rng), is_reverse=True)


def _estimate(
    machine: BoltzmannMachine, data: npt.ArrayLike | None, states: SpinArray, temperatures: int,
    confidence: float, seed: Seed, *, is_reverse: bool = False,
) -> ImportanceEstimate:  # fmt: skip
    """Run one chain per state, and return the estimate of ln Z."""
    temperatures = validation.count(temperatures, "temperatures", 1)
    validation.share(confidence, "confidence")  # before the chains, which take time
    chains, low = len(states), machine.low
    if data is None:
        scale = 2.0 if machine.units == "binary" else 1.0
        base = scale * machine.in_units("spin").visible_bias  # hidden units at their midpoint
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
    """Return the estimate of ln Z from the logarithms of the chains' weights.

    Args:
        logs: the logarithms, one per chain.
        log_base: ln Z of the machine without weights.
        temperatures: the number of steps of each chain.
        confidence: the confidence level of the interval.
        is_reverse: whether the chains ended at the machine without weights.
    """
    width = NormalDist().inv_cdf((1 + validation.share(confidence, "confidence")) / 2)
    ratio, error, effective = log_mean(logs)
    value = log_base - ratio if is_reverse else ratio + log_base
    return ImportanceEstimate(
        value, value - width * error, value + width * error, confidence, error, effective,
        len(logs), temperatures,
    )  # fmt: skip


def log_mean(logs: FloatArray) -> tuple[float, float, float]:
    """Return the logarithm of the mean weight, its error, and the effective number of weights.

    The error is the root of the sum of squares of the jackknife's standard error and bias. It
    grows without limit as one weight outgrows all others. The error of a linear expansion would
    not: it never exceeds 1.
    """
    top, count = logs.max(), len(logs)
    weights = np.exp(logs - top)
    total = weights.sum()
    value = math.log(total / count)
    # Without the largest weight, the others are added directly: a difference would lose digits.
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
