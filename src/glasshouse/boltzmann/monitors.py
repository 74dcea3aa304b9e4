"""Monitors of a training run: one function for each quantity, kept in a catalogue."""

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
    """The last mode that the training run used, with the frustration index at that time.

    Attributes:
        visible: the visible units of the mode.
        frustration: the frustration index at the mode, for the weights at that time.
    """

    visible: SpinArray
    frustration: float


@dataclass(frozen=True, eq=False, repr=False)
class Snapshot(Summarised):
    """An RBM at one moment of its training.

    Attributes:
        machine: the machine with its current weights.
        data: the training rows, in the machine's units.
        held_out: rows that are not used for training; None if there are none.
        settings: the settings of the training.
        epoch: the number of finished epochs.
        seed: a seed for monitors that draw random numbers.
        last_mode: the last mode that the training used; None before the first.
        constants: values that monitors cache, because they are the same for the whole training.
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
        """The machine's mode, which is searched for once and shared by all monitors."""
        start = None if self.last_mode is None else self.last_mode.visible
        search, seconds = self.settings.mode_search, self.settings.mode_seconds
        return find_mode(self.machine, search=search, start=start, seconds=seconds, rng=self.seed)

    @cached_property
    def log_likelihood(self) -> float:
        """The exact mean log-likelihood of the training rows."""
        return self.mean_log_weight(self.data) - self.machine.log_partition

    @cached_property
    def importance(self) -> ImportanceEstimate:
        """The estimate of ln Z by annealed importance sampling, made once for all monitors."""
        return annealed_importance(self.machine, data=self.data, rng=self.seed.child(0))

    @property
    def unlearnt(self) -> SpinArray:
        """The held-out rows, for monitors that need them."""
        assert self.held_out is not None  # `chosen` has refused monitors that need them
        return self.held_out

    def mean_log_weight(self, rows: SpinArray) -> float:
        """Return the mean of the negative free energy over rows of visible states."""
        return float(self.machine.log_weights(rows).mean())


@dataclass(frozen=True, eq=False, repr=False)
class Monitor(Summarised):
    """A monitor: a quantity that is computed from snapshots of a training run.

    Attributes:
        look: the function that computes the quantity from a snapshot.
        meaning: the quantity as a short text, for figures and help.
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
    """Find monitors by name, and raise if one of them needs held-out rows that are missing."""
    found = {name: MONITORS.find(name, "monitor") for name in distinct(names)}
    for name, entry in found.items():
        if entry.needs_held_out and held_out is None:
            raise ValueError(f"monitor={name!r} needs held-out rows (--held-out 0.2)")
    return found


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Return monitor names without repetitions; raise if `names` is a single string."""
    if isinstance(names, str):  # otherwise its letters would be read as names
        raise ValueError(f"monitors={names!r} is one string; expected a list of names: [{names!r}]")
    return tuple(dict.fromkeys(names))


class Best:
    """The best RBM of a training run so far, for early stopping.

    Args:
        looks: the monitors; the first monitor defines the best machine.
        patience: the number of evaluations without improvement after which training stops.
    """

    def __init__(self, looks: Mapping[str, Monitor], patience: int) -> None:
        self.patience = validation.count(patience, "patience", 1)
        name = next(iter(looks), None)
        if name not in _BETTER:
            raise ValueError(
                f"with patience, monitors must start with one of {', '.join(_BETTER)}, not {name!r}"
            )
        self.sign = _BETTER[name]
        self.machine: BoltzmannMachine | None = None
        self.value, self.since = -math.inf, 0

    def is_over(self, value: float, snapshot: Snapshot) -> bool:
        """Record the value of one evaluation, and return whether training must stop."""
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
    """Return the exact Kullback-Leibler divergence from the data to the machine."""
    if "entropy" not in snapshot.constants:
        snapshot.constants["entropy"] = entropy(snapshot.data)
    return -snapshot.constants["entropy"] - snapshot.log_likelihood


@monitor("log_likelihood", "mean log-likelihood of the data, exact, in nats")
def log_likelihood(snapshot: Snapshot) -> float:
    """Return the exact mean log-likelihood of the training rows."""
    return snapshot.log_likelihood


@monitor("held_out", "mean log-likelihood of held-out data, exact, in nats", needs_held_out=True)
def held_out(snapshot: Snapshot) -> float:
    """Return the exact mean log-likelihood of the held-out rows."""
    return snapshot.mean_log_weight(snapshot.unlearnt) - snapshot.machine.log_partition


@monitor("ais", "mean log-likelihood of the data, by annealed importance sampling, in nats")
def ais(snapshot: Snapshot) -> float:
    """Return the mean log-likelihood of the training rows, with ln Z estimated by sampling."""
    return snapshot.mean_log_weight(snapshot.data) - snapshot.importance.value


@monitor("ais_error", "standard error of ais and held_out_ais, in nats")
def ais_error(snapshot: Snapshot) -> float:
    """Return the standard error of ln Z in the monitors `ais` and `held_out_ais`."""
    return snapshot.importance.error


@monitor("ais_chains", "effective chains of ais, out of 100; below about 10, ais is unreliable")
def ais_chains(snapshot: Snapshot) -> float:
    """Return the effective number of chains behind the monitors `ais` and `held_out_ais`."""
    return snapshot.importance.effective_chains


@monitor(
    "held_out_ais",
    "mean log-likelihood of held-out data, by annealed importance sampling, in nats",
    needs_held_out=True,
)
def held_out_ais(snapshot: Snapshot) -> float:
    """Return the mean log-likelihood of the held-out rows, with ln Z estimated by sampling."""
    return snapshot.mean_log_weight(snapshot.unlearnt) - snapshot.importance.value


@monitor("pseudo_likelihood", "mean pseudo-log-likelihood of the data, in nats")
def pseudo_likelihood(snapshot: Snapshot) -> float:
    """Return the pseudo-log-likelihood, summed over visible units, averaged over training rows."""
    return float(snapshot.machine.pseudo_log_likelihood(snapshot.data).mean())


@monitor("reconstruction", "mean squared error, 0 to 1, of data reconstructed from hidden means")
def reconstruction(snapshot: Snapshot) -> float:
    """Return the mean squared error of the data reconstructed from mean hidden units.

    Errors are those of units 0 and 1, so the machine's units do not change them.
    """
    machine = snapshot.machine
    hidden = machine.hidden_means(snapshot.data)
    seen = rows_of(mean_field, hidden, machine.back, machine.visible_bias, machine.low)
    return float((((seen - snapshot.data) / (1 - machine.low)) ** 2).mean())


@monitor("activation", "certainty of hidden units, given the data: 0 undecided, 1 certain")
def activation(snapshot: Snapshot) -> float:
    """Return the mean of |<h>| in ±1 units, over data rows and hidden units."""
    machine = snapshot.machine
    means = machine.hidden_means(snapshot.data)
    return float(abs(means if machine.low == -1 else 2 * means - 1).mean())


@monitor("frustration", "frustration index at the mode")
def frustration(snapshot: Snapshot) -> float:
    """Return the frustration index of the RBM in ±1 units, biases included, at its mode."""
    return snapshot.mode.frustration


@monitor("proven", "1 if the mode is proven, 0 if it is only the best state found")
def proven(snapshot: Snapshot) -> float:
    """Return 1 if the mode behind `frustration` is proven, 0 if it is only the best state found."""
    return float(snapshot.mode.is_proven)


@monitor("last_frustration", "frustration index at the last mode used, with weights at that time")
def last_frustration(snapshot: Snapshot) -> float:
    """Return the frustration index at the last mode of the run, or NaN before the first mode."""
    return math.nan if snapshot.last_mode is None else snapshot.last_mode.frustration
