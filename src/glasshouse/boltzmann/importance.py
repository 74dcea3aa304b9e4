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
from glasshouse.problems import FloatArray, validation
from glasshouse.randomness import RngLike, Seed
from glasshouse.statistics.samples import Estimate
from glasshouse.stopping import in_slices


@dataclass(frozen=True, repr=False)
class ImportanceEstimate(Estimate):
    """An estimate of ln Z.

    Its expectation is never above the truth, and chains that miss a part of the states do not know
    it. If `effective_chains` is below about ten, value and error are not reliable. Even if it
    is high, they may be wrong: chains that all miss the same states agree. So it is with
    large weights (of size 20, say): the error can be 0 although the value is off by many nats.

    Attributes:
        error: standard error; the bias of the logarithm is included.
        effective_chains: the number of chains of equal weight that would be as informative,
            (Σw)²/Σw².
    """

    error: float
    effective_chains: float

    def __str__(self) -> str:
        return f"{self.value:.6g} ± {self.error:.2g}, {self.effective_chains:.3g} effective chains"


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
    temperatures = validation.count(temperatures, "temperatures", 1)
    width = NormalDist().inv_cdf((1 + validation.share(confidence, "confidence")) / 2)
    logs, low = np.empty(chains), machine.low
    if data is None:
        scale = 2.0 if machine.units == "binary" else 1.0
        base = scale * machine.in_units("spin").visible_bias  # hidden units are halfway
    else:
        rows = validation.rows(as_units(data, machine.num_visible, machine.units, "data"))
        base = log_odds(rows, machine.units)
    streams, states = Seed.of(rng).streams(chains), np.empty((chains, machine.num_visible), np.int8)

    def step(first: int, last: int) -> None:
        importance.log_importance(
            streams, machine.weights, machine.back, base, machine.visible_bias, machine.hidden_bias,
            low, temperatures, first, last, states, logs,
        )  # fmt: skip

    in_slices(step, temperatures)
    log_base = machine.num_hidden * math.log(2) + float(np.logaddexp(base, low * base).sum())
    value, error, effective = log_mean(logs)
    value += log_base
    return ImportanceEstimate(
        value, value - width * error, value + width * error, confidence, error, effective
    )


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
