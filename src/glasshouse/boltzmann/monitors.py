"""Monitors of a training: one function for each quantity, kept in a catalogue."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from glasshouse.boltzmann.data import entropy
from glasshouse.boltzmann.importance import ImportanceEstimate, annealed_importance
from glasshouse.boltzmann.kernels.sampling import mean_field
from glasshouse.boltzmann.model import BoltzmannMachine
from glasshouse.boltzmann.modes import Mode, find_mode
from glasshouse.boltzmann.settings import TrainingSettings
from glasshouse.boltzmann.slices import rows_of
from glasshouse.catalogue import Catalogue
from glasshouse.problems import SpinArray, validation
from glasshouse.randomness import Seed
from glasshouse.summaries import Summarised

Look: TypeAlias = Callable[["Snapshot"], float]


@dataclass(frozen=True)
class LastMode:
    """The mode that the training last used, of the weights at that time.

    Attributes:
        visible: its visible units.
        frustration: the frustration index there and then.
    """

    visible: SpinArray
    frustration: float


@dataclass(frozen=True, eq=False, repr=False)
class Snapshot(Summarised):
    """A machine at one moment of its training.

    Attributes:
        machine: with the weights of this moment.
        data: what it learns, in its own units.
        held_out: data that it does not learn; None without any.
        settings: the settings of the training.
        epoch: how many epochs are over.
        seed: for monitors that draw random numbers.
        last_mode: what the training used last; None before any.
        constants: what monitors keep because it is the same at every moment of a training.
    """

    machine: BoltzmannMachine
    data: SpinArray
    held_out: SpinArray | None
    settings: TrainingSettings
    epoch: int
    seed: Seed
    last_mode: LastMode | None = None
    constants: dict[str, float] = field(default_factory=dict)

    @cached_property
    def mode(self) -> Mode:
        """The mode, which all monitors share; the search for it starts at the last mode."""
        start = None if self.last_mode is None else self.last_mode.visible
        search, seconds = self.settings.mode_search, self.settings.mode_seconds
        return find_mode(self.machine, search=search, start=start, seconds=seconds, rng=self.seed)

    @cached_property
    def log_likelihood(self) -> float:
        """The exact mean log-likelihood of the data."""
        return self.mean_log_weight(self.data) - self.machine.log_partition

    @cached_property
    def importance(self) -> ImportanceEstimate:
        """The estimate of ln Z by annealed importance sampling, made once for all monitors."""
        return annealed_importance(self.machine, data=self.data, rng=self.seed.child(0))

    @property
    def unlearnt(self) -> SpinArray:
        """The held-out data."""
        assert self.held_out is not None  # `chosen` has refused monitors that need them
        return self.held_out

    def mean_log_weight(self, rows: SpinArray) -> float:
        """Return minus the mean free energy of data."""
        return float(self.machine.log_weights(rows).mean())


@dataclass(frozen=True, eq=False, repr=False)
class Monitor(Summarised):
    """One quantity to monitor.

    Attributes:
        look: a number from a snapshot.
        meaning: in a few words, for figures and help.
        needs_held_out: whether the monitor needs held-out data.
    """

    look: Look
    meaning: str
    needs_held_out: bool = False


MONITORS = Catalogue[Monitor]("monitor")


def monitor(name: str, meaning: str, *, needs_held_out: bool = False) -> Callable[[Look], Look]:
    """Add a function to the catalogue of monitors."""

    def add(look: Look) -> Look:
        MONITORS.add(name, Monitor(look, meaning, needs_held_out))
        return look

    return add


def chosen(names: Iterable[str], held_out: SpinArray | None) -> dict[str, Monitor]:
    """Return monitors by their names; refuse those whose data are missing."""
    if isinstance(names, str):  # otherwise its letters would be read as names
        raise ValueError(f"monitors={names!r} is one string; expected a list of names: [{names!r}]")
    found = {name: MONITORS.find(name, "monitor") for name in names}
    for name, entry in found.items():
        if entry.needs_held_out and held_out is None:
            raise ValueError(f"monitor={name!r} needs held_out, data that are not learnt")
    return found


class Best:
    """The machine at which a monitor was best, and how long ago that was.

    Args:
        looks: the monitors; the first one counts.
        patience: looks without anything better, after which it is over.
    """

    def __init__(self, looks: Mapping[str, Monitor], patience: int) -> None:
        self.patience = validation.count(patience, "patience", 1)
        name = next(iter(looks), None)
        if name not in _BETTER:
            raise ValueError(
                f"patience needs a quality monitor in first place, not {name!r}; expected one of "
                f"{', '.join(_BETTER)}"
            )
        self.sign = _BETTER[name]
        self.machine: BoltzmannMachine | None = None
        self.value, self.since = -math.inf, 0

    def is_over(self, value: float, snapshot: Snapshot) -> bool:
        """Record the value of one evaluation; return whether patience has ended."""
        if self.sign * value > self.value:
            self.value, self.machine, self.since = self.sign * value, snapshot.machine, 0
        else:
            self.since += 1
        return self.since >= self.patience


# Monitors of a machine's quality: 1 if more is better, -1 if less is better.
_BETTER = {"held_out": 1, "held_out_ais": 1, "log_likelihood": 1, "ais": 1, "pseudo_likelihood": 1,
           "kl": -1, "reconstruction": -1}  # fmt: skip


@monitor("kl", "Kullback-Leibler divergence from data to model, exact, in nats")
def kl(snapshot: Snapshot) -> float:
    """Return the exact divergence; for machines with a layer of at most 24 units."""
    if "entropy" not in snapshot.constants:
        snapshot.constants["entropy"] = entropy(snapshot.data)
    return -snapshot.constants["entropy"] - snapshot.log_likelihood


@monitor("log_likelihood", "mean log-likelihood of the data, exact, in nats")
def log_likelihood(snapshot: Snapshot) -> float:
    """Return the exact log-likelihood; for machines with a layer of at most 24 units."""
    return snapshot.log_likelihood


@monitor("held_out", "mean log-likelihood of held-out data, exact, in nats", needs_held_out=True)
def held_out(snapshot: Snapshot) -> float:
    """Return the exact held-out log-likelihood; needs a layer of at most 24 units."""
    return snapshot.mean_log_weight(snapshot.unlearnt) - snapshot.machine.log_partition


@monitor("ais", "mean log-likelihood of the data, by annealed importance sampling, in nats")
def ais(snapshot: Snapshot) -> float:
    """Return the estimated log-likelihood, for machines of any size; see `ais_error`."""
    return snapshot.mean_log_weight(snapshot.data) - snapshot.importance.value


@monitor("ais_error", "standard error of ais and held_out_ais, in nats")
def ais_error(snapshot: Snapshot) -> float:
    """Return the standard error of ln Z, which all importance-sampled monitors share."""
    return snapshot.importance.error


@monitor("ais_chains", "effective chains of ais, of 100; below about ten, ais is unreliable")
def ais_chains(snapshot: Snapshot) -> float:
    """Return the effective number of chains of all importance-sampled monitors."""
    return snapshot.importance.effective_chains


@monitor(
    "held_out_ais",
    "mean log-likelihood of held-out data, by annealed importance sampling, in nats",
    needs_held_out=True,
)
def held_out_ais(snapshot: Snapshot) -> float:
    """Return the estimated held-out log-likelihood, for any size; see `ais_error`."""
    return snapshot.mean_log_weight(snapshot.unlearnt) - snapshot.importance.value


@monitor("pseudo_likelihood", "mean pseudo-log-likelihood of the data, in nats")
def pseudo_likelihood(snapshot: Snapshot) -> float:
    """Return the mean over all units; its expectation is that of scikit-learn's `score_samples`."""
    return float(snapshot.machine.pseudo_log_likelihood(snapshot.data).mean())


@monitor("reconstruction", "mean squared error of data reconstructed from hidden means, of 0 to 1")
def reconstruction(snapshot: Snapshot) -> float:
    """Return the reconstruction error of the data from mean hidden units, without sampling.

    Errors are those of units 0 and 1, whatever the machine's: the same machine has the same error.
    """
    machine = snapshot.machine
    hidden = machine.hidden_means(snapshot.data)
    seen = rows_of(mean_field, hidden, machine.back, machine.visible_bias, machine.low)
    return float((((seen - snapshot.data) / (1 - machine.low)) ** 2).mean())


@monitor("activation", "how sure hidden units are, given the data: 0 undecided, 1 certain")
def activation(snapshot: Snapshot) -> float:
    """Return the mean |<h>| of ±1 units over data and units; for binary units, |2<h> - 1|."""
    machine = snapshot.machine
    means = machine.hidden_means(snapshot.data)
    return float(abs(means if machine.low == -1 else 2 * means - 1).mean())


@monitor("frustration", "frustration index at the mode")
def frustration(snapshot: Snapshot) -> float:
    """Return the index of the machine in ±1 units, with biases; `proven` states its status."""
    return snapshot.mode.frustration


@monitor("proven", "1 where the mode is proven, 0 where it is the best found")
def proven(snapshot: Snapshot) -> float:
    """Return 1 if the mode behind `frustration` is proven, 0 if it is only the best found."""
    return float(snapshot.mode.is_proven)


@monitor("last_frustration", "frustration index at the mode that training last used, then")
def last_frustration(snapshot: Snapshot) -> float:
    """Return the frustration of the last mode: free, but a few updates old; NaN at first."""
    return math.nan if snapshot.last_mode is None else snapshot.last_mode.frustration
