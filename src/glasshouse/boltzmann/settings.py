"""The settings of a training: every choice by name, and all of them recorded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import Field, asdict, dataclass, field, fields
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from glasshouse.boltzmann.data import LOW, Units
from glasshouse.boltzmann.kernels import enumeration, machine
from glasshouse.problems import FloatArray, validation
from glasshouse.problems.elementary import exponentials
from glasshouse.summaries import Summarised

Gradient: TypeAlias = Literal["cd", "pcd", "exact"]
Reduction: TypeAlias = Literal["mean", "sum"]
ModeUse: TypeAlias = Literal["update", "restart"]
ModeStep: TypeAlias = Literal["energy", "full"]
ModeSearch: TypeAlias = Literal["auto", "enumerate", "anneal", "prove"]
Engine: TypeAlias = Literal["lanes", "matrices", "auto"]
Precision: TypeAlias = Literal["double", "single"]
Optimizer: TypeAlias = Literal["sgd", "adam"]
Schedule: TypeAlias = Literal["linear", "exponential", "cosine"]
FirstBiases: TypeAlias = Literal["zero", "data"]

_GRADIENTS = {"cd": machine.CD, "pcd": machine.PCD, "exact": machine.EXACT}
_REALS = ("momentum", "weight_decay", "sigma", "mode_probability", "mode_slope", "mode_offset",
          "mode_seconds")  # fmt: skip
# Units of the smaller layer: their states take a few milliseconds per update.
_MOST_ENUMERATED = 16
_MOST_SUMMED = 1 << 25  # products of exact averages in compiled code, about 0.05 s
# Matrix products were faster on one computer with this many rows or chains per update, if chains
# persist or if there are this many weights.
_MANY_ROWS, _MANY_WEIGHTS = 64, 1 << 17
_LATER = {"later": True}  # a field that old stores and checkpoints do not have


@dataclass(frozen=True, repr=False)
class TrainingSettings(Summarised):
    """All that a training depends on, except for the data and the seed.

    The fields are the options of `glasshouse train run`, with the texts below as their help.

    Attributes:
        hidden: hidden units.
        epochs: passes through the data.
        units: spin for ±1, binary for 0 and 1.
        gradient: how the model's averages are estimated: cd (contrastive divergence: chains that
            start at the data), pcd (persistent chains) or exact (all states of the smaller layer,
            of at most 24 units).
        steps: steps of each chain per update: the k of CD-k.
        chains: the number of persistent chains; by default, the rows of a batch.
        batch_size: rows per update; all of them by default.
        learning_rate: one number, or two for a rate that falls linearly over the epochs; on the
            command line, separate them by a comma.
        reduction: the gradient is the mean over a batch, or the sum.
        momentum: the fraction of the last step that is added to the next, below 1.
        weight_decay: pull of the weights, not of the biases, towards zero.
        sigma: standard deviation of the first weights.
        biases: units have biases, with initial values as in `first_biases`.
        mode_probability: the highest probability that an update uses the mode: P_max of
            mode-assisted training (Manukian, Pei, Bearden and Di Ventra, 2020), where 0.1 is usual.
            0 uses none.
        mode_slope: slope, over the whole training, of the sigmoid by which that probability rises.
        mode_offset: where the sigmoid begins: P = P_max · logistic(slope · epoch/epochs + offset).
        mode_use: update uses the mode instead of the model's averages; restart starts the chains at
            the mode, which the paper describes first.
        mode_step: energy scales the learning rate of these updates by -E₀/((n+1)(m+1)), E₀ the
            mode's energy with ±1 units, as its authors do; full does not.
        mode_search: enumerate visits all states of the smaller layer, of at most 24 units; anneal
            anneals, and proves nothing; prove enumerates such layers, and for others tries to prove
            what annealing found; auto enumerates layers of at most 16 units and anneals for others.
        mode_seconds: seconds after which prove stops trying to prove a mode. The time never changes
            a training, unless the proof finds a better state than annealing did.
        engine: lanes is compiled code, with the same result on every computer; matrices uses matrix
            products of NumPy, whose last digits depend on the computer and its number of threads;
            auto takes the one that was measured to be faster for these sizes.
        precision: double or single; single needs matrices.
        optimizer: sgd, or adam, which needs matrices.
        schedule: how a learning rate of two numbers goes from the first to the last: linear,
            exponential or cosine.
        first_biases: initial visible biases: zero, or the log-odds of the data's means.
        centred: use the centred gradient: units minus their means over the data. Needs matrices.
        temperatures: how many, for parallel tempering: chains are exchanged between inverse
            temperatures 0 and 1; 1 for none. Needs matrices and pcd.

    >>> TrainingSettings(12, epochs=3, learning_rate=(0.3, 0.1)).learning_rates().tolist()
    [0.3, 0.2, 0.1]
    """

    hidden: int
    epochs: int = 1000
    units: Units = "spin"
    gradient: Gradient = "cd"
    steps: int = 1
    chains: int | None = None
    batch_size: int | None = None
    learning_rate: float | tuple[float, float] = (0.05, 0.0005)
    reduction: Reduction = "mean"
    momentum: float = 0.0
    weight_decay: float = 0.0
    sigma: float = 0.01
    biases: bool = field(default=True, metadata={"option": "--no-biases"})
    mode_probability: float = 0.0
    mode_slope: float = 20.0
    mode_offset: float = -6.0
    mode_use: ModeUse = "update"
    mode_step: ModeStep = "energy"
    mode_search: ModeSearch = "auto"
    mode_seconds: float = field(default=2.0, metadata={"option": "--mode-time-limit"})
    engine: Engine = field(default="lanes", metadata=_LATER)
    precision: Precision = field(default="double", metadata=_LATER)
    optimizer: Optimizer = field(default="sgd", metadata=_LATER)
    schedule: Schedule = field(default="linear", metadata=_LATER)
    first_biases: FirstBiases = field(default="zero", metadata=_LATER)
    centred: bool = field(default=False, metadata=_LATER)
    temperatures: int = field(default=1, metadata=_LATER)

    def __post_init__(self) -> None:
        for name, least in {"hidden": 1, "epochs": 1, "steps": 1, "temperatures": 1}.items():
            object.__setattr__(self, name, validation.count(getattr(self, name), name, least))
        for name in ("chains", "batch_size"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, validation.count(getattr(self, name), name, 1))
        words = {"units": Units, "gradient": Gradient, "reduction": Reduction,
                 "mode_use": ModeUse, "mode_step": ModeStep, "mode_search": ModeSearch,
                 "engine": Engine, "precision": Precision, "optimizer": Optimizer,
                 "schedule": Schedule, "first_biases": FirstBiases}  # fmt: skip
        for name, kind in words.items():
            if getattr(self, name) not in get_args(kind):
                raise ValueError(
                    f"{name}={getattr(self, name)!r} is not one of {', '.join(get_args(kind))}"
                )
        object.__setattr__(self, "learning_rate", _rate(self.learning_rate))
        _refuse_outside(self, "momentum", 0.0, 1.0, is_open=True)
        _refuse_outside(self, "mode_probability", 0.0, 1.0)
        for name in ("weight_decay", "sigma"):
            _refuse_outside(self, name, 0.0, math.inf, is_open=True)
        for name in ("mode_slope", "mode_offset"):
            _refuse_outside(self, name, -math.inf, math.inf, is_open=True)
        if not validation.is_real(self.mode_seconds) or not 0 < self.mode_seconds < math.inf:
            raise ValueError(f"mode_seconds={self.mode_seconds!r} is not a time above 0 in seconds")
        for name in _REALS:  # one kind of number, whatever was given: settings are compared
            object.__setattr__(self, name, float(getattr(self, name)))
        for name in ("biases", "centred"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name}={getattr(self, name)!r} is neither True nor False")
        if self.chains is not None and self.gradient != "pcd":
            raise ValueError('chains belong to gradient="pcd"; remove them')
        if self.gradient == "exact" and self.mode_use == "restart" and self.mode_probability:
            raise ValueError('gradient="exact" has no chains that mode_use="restart" could start')
        self._refuse_unfit()

    def _refuse_unfit(self) -> None:
        """Refuse settings that an engine, a gradient or an optimizer does not have."""
        needs = self._needs_matrices()
        if needs and (self.engine == "lanes" or self.gradient == "exact"):
            does = "" if self.gradient == "exact" else "; set engine='matrices'"
            raise ValueError(f"{needs} is not for engine='lanes' and gradient='exact'{does}")
        if self.engine == "matrices" and self.gradient == "exact":
            raise ValueError("gradient='exact' needs engine='lanes'")
        if self.temperatures > 1 and self.gradient != "pcd":
            raise ValueError(f"temperatures={self.temperatures} needs gradient='pcd'")
        if self.optimizer == "adam" and self.momentum:
            raise ValueError("optimizer='adam' has its own momentum; remove momentum")
        if self.schedule == "exponential" and 0.0 in np.ravel(self.learning_rate):
            raise ValueError("schedule='exponential' needs learning rates above 0")
        if self.first_biases == "data" and not self.biases:
            raise ValueError("first_biases='data' needs biases")

    def _needs_matrices(self) -> str:
        """Return the first setting that only the matrix engine supports; empty if there is none."""
        usual = {"precision": "double", "optimizer": "sgd", "centred": False, "temperatures": 1}
        return next((f"{name}={getattr(self, name)!r}" for name, value in usual.items()
                     if getattr(self, name) != value), "")  # fmt: skip

    @property
    def low(self) -> int:
        """The lower value of a unit: -1 or 0."""
        return LOW[self.units]

    def plain(self) -> dict[str, Any]:
        """Return all settings as JSON values."""
        values = asdict(self)
        if isinstance(self.learning_rate, tuple):
            values["learning_rate"] = list(self.learning_rate)
        return values

    def identity(self) -> dict[str, Any]:
        """Return the settings for stores and checkpoints, without later fields at their default.

        So what was stored before a field was added stays what it was.
        """
        usual = {one.name: one.default for one in fields(self) if "later" in one.metadata}
        return {name: value for name, value in self.plain().items()
                if name not in usual or value != usual[name]}  # fmt: skip

    @classmethod
    def stored(cls, values: Mapping[str, Any]) -> TrainingSettings:
        """Return the settings that `identity` wrote; unknown keys are ignored."""
        return cls(**{one.name: values[one.name] for one in fields(cls)
                      if "later" not in one.metadata or one.name in values})  # fmt: skip

    def learning_rates(self) -> FloatArray:
        """Return one learning rate per epoch.

        >>> rates = TrainingSettings(1, 3, learning_rate=(0.4, 0.1), schedule="exponential")
        >>> rates.learning_rates().round(6).tolist()
        [0.4, 0.2, 0.1]
        """
        if not isinstance(self.learning_rate, tuple):
            return np.full(self.epochs, self.learning_rate)
        first, last = self.learning_rate
        if self.schedule == "exponential":
            return np.geomspace(first, last, self.epochs)
        if self.schedule == "cosine":
            turns = np.cos(np.linspace(0.0, math.pi, self.epochs))
            return np.asarray(last + (first - last) * (1.0 + turns) / 2)
        return np.linspace(first, last, self.epochs)

    def engine_for(self, num_visible: int, num_data: int) -> Engine:
        """Return the engine that trains these settings: "lanes" or "matrices".

        >>> TrainingSettings(500, engine="auto", batch_size=100).engine_for(784, 1797)
        'matrices'
        """
        if self.engine != "auto":
            return self.engine
        if self.gradient == "exact":
            return "lanes"
        rows = max(min(self.batch_size or num_data, num_data), self.chains or 0)
        is_large = self.gradient == "pcd" or num_visible * self.hidden >= _MANY_WEIGHTS
        wins = rows >= _MANY_ROWS and is_large
        return "matrices" if self._needs_matrices() or wins else "lanes"

    def mode_chances(self) -> FloatArray:
        """Return the probability that an update uses the mode, one per epoch."""
        if not self.mode_probability:
            return np.zeros(self.epochs)
        epochs = np.arange(self.epochs) / self.epochs
        falling = exponentials(-(self.mode_slope * epochs + self.mode_offset).clip(-700))
        chances: FloatArray = np.round(self.mode_probability / (1.0 + falling), 12)
        return chances

    def plan(self, num_visible: int, num_data: int) -> machine.Plan:
        """Return the settings in the form of the compiled code."""
        smaller = min(num_visible, self.hidden)
        if self.gradient == "exact":
            self._refuse_large(smaller, "gradient='exact'", "use 'cd' or 'pcd'")
        if self.mode_search == "enumerate" and self.mode_probability:
            self._refuse_large(smaller, "mode_search='enumerate'", "use 'anneal'")
        return machine.Plan(
            low=self.low,
            gradient=_GRADIENTS[self.gradient],
            steps=self.steps,
            batch_size=min(self.batch_size or num_data, num_data),
            is_mean=self.reduction == "mean",
            momentum=float(self.momentum),
            weight_decay=float(self.weight_decay),
            has_biases=self.biases,
            restarts_chains=self.mode_use == "restart",
            scales_mode_step=self.mode_step == "energy",
            # The enumeration of a larger layer takes too long for compiled code without a pause.
            enumerates=enumerates(self.mode_search, smaller) and smaller <= _MOST_ENUMERATED,
            averages_apart=self.gradient == "exact"
            and (num_visible * self.hidden) << smaller > _MOST_SUMMED,
        )

    def _refuse_large(self, smaller: int, choice: str, remedy: str) -> None:
        if smaller > enumeration.MOST_VISITED:
            raise ValueError(
                f"{choice} enumerates all states of the smaller layer, which has {smaller} units, "
                f"more than {enumeration.MOST_VISITED}; {remedy}"
            )


def option_of(setting: Field[Any]) -> str:
    """Return the option of `glasshouse train run` for a field of `TrainingSettings`.

    >>> from dataclasses import fields
    >>> [option_of(one) for one in fields(TrainingSettings)][-2:]
    ['--centred', '--temperatures']
    """
    option: str = setting.metadata.get("option", f"--{setting.name.replace('_', '-')}")
    return option


def enumerates(search: ModeSearch, smaller: int) -> bool:
    """Whether a search enumerates all states of a smaller layer of `smaller` units."""
    most = {"prove": enumeration.MOST_VISITED, "auto": _MOST_ENUMERATED}.get(search, 0)
    return search == "enumerate" or smaller <= most


def _rate(value: Any) -> float | tuple[float, float]:
    """Check a learning rate, or the first and the last rate."""
    pair = value if isinstance(value, (tuple, list)) else (value,)
    is_good = 1 <= len(pair) <= 2 and all(
        validation.is_real(rate) and 0 <= rate < math.inf for rate in pair
    )
    if not is_good:
        raise ValueError(
            f"learning_rate={value!r} is neither a number of at least 0 nor a pair (first, last)"
        )
    return (float(pair[0]), float(pair[1])) if len(pair) == 2 else float(pair[0])


def _refuse_outside(
    settings: TrainingSettings, name: str, least: float, most: float, *, is_open: bool = False
) -> None:
    """Refuse a value that is not a number from `least` to `most`; `is_open` excludes `most`."""
    value = getattr(settings, name)
    if (
        not validation.is_real(value)
        or not least <= value <= most
        or not math.isfinite(value)
        or (is_open and value == most)
    ):
        range_ = f"from {least:g}" if math.isfinite(least) else "that is finite"
        end = f" to {most:g}" if math.isfinite(most) else ""
        below = ", the last excluded" if is_open and end else ""
        raise ValueError(f"{name}={value!r} is not a number {range_}{end}{below}")
