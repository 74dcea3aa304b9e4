"""The settings of a training run, their validation, and their form in stores and kernels."""

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
# Units of the smaller layer, whose 2^16 states take a few milliseconds per update.
_MOST_ENUMERATED = 16
_MOST_SUMMED = 1 << 25  # products of exact averages in compiled code, which take about 0.05 s
# With this many rows or chains per update and this many weights, matrix products were faster on one
# computer if units are ±1. Units of 0 save the compiled code half of its sums or more.
_MANY_ROWS, _MANY_WEIGHTS = 64, 1 << 17
_LATER = {"later": True}  # a field that old stores and checkpoints do not have


@dataclass(frozen=True, repr=False)
class TrainingSettings(Summarised):
    """All settings of a training run, except for its data and seed.

    Each field is an option of `glasshouse train run`, with the text below as its help.

    Attributes:
        hidden: number of hidden units.
        epochs: number of passes through the data.
        units: values of the units: spin for ±1, binary for 0 and 1.
        gradient: how the model's averages are estimated: cd (contrastive divergence: chains that
            start at the data), pcd (persistent chains) or exact (all states of the smaller layer,
            of at most 24 units).
        steps: number of Gibbs steps of each chain per update: the k of CD-k.
        chains: number of persistent chains; by default, the rows of a batch.
        batch_size: number of rows per update; by default, all rows.
        learning_rate: one number, or two for a rate that falls linearly over the epochs; on the
            command line, separate the two numbers by a comma.
        reduction: whether the gradient is the mean or the sum over a batch.
        momentum: fraction of the last step that is added to the next, below 1.
        weight_decay: strength of the pull of the weights, not of the biases, towards zero.
        sigma: standard deviation of the initial weights.
        biases: biases of the units, with initial values as in `first_biases`.
        mode_probability: highest probability that an update uses the mode: P_max of mode-assisted
            training (Manukian, Pei, Bearden and Di Ventra, 2020), usually 0.1; 0 disables it.
        mode_slope: slope, over the whole training, of the sigmoid by which this probability rises.
        mode_offset: offset of this sigmoid: P = P_max · logistic(slope · epoch/epochs + offset).
        mode_use: update uses the mode instead of the model's averages; restart starts the chains at
            the mode, which the paper describes first.
        mode_step: energy multiplies the learning rate of updates with a mode by -E₀/((n+1)(m+1)),
            where E₀ is the mode's energy in ±1 units, as the authors do; full does not.
        mode_search: enumerate enumerates all states of the smaller layer, of at most 24 units;
            anneal anneals, and proves nothing; prove enumerates layers of at most 24 units, and
            tries to prove the annealed state of larger machines; auto enumerates layers of at most
            16 units, and anneals larger machines.
        mode_seconds: time limit of prove for one mode, in seconds. The limit never changes a
            training, unless a proof finds a better state than annealing.
        engine: lanes is compiled code, with the same result on every computer; matrices uses matrix
            products of NumPy, whose last digits depend on the computer and its number of threads;
            auto chooses the engine that was faster for such sizes in measurements.
        precision: precision of the weights: double or single.
        optimizer: rule of the updates: sgd or adam; adam needs the engine matrices.
        schedule: how a learning rate of two numbers changes from the first to the last: linear,
            exponential or cosine.
        first_biases: initial visible biases: zero, or data for the log-odds of the data's means.
        centred: use the centred gradient (units minus their means over the data); needs matrices.
        temperatures: number of temperatures of parallel tempering, which exchanges chains between
            inverse temperatures 0 and 1; 1 disables it, and more need matrices and pcd.

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
            raise ValueError(f"mode_seconds={self.mode_seconds!r} must be a finite time above 0 s")
        for name in _REALS:  # all floats, because settings are compared
            object.__setattr__(self, name, float(getattr(self, name)))
        for name in ("biases", "centred"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name}={getattr(self, name)!r} must be True or False")
        if self.chains is not None and self.gradient != "pcd":
            raise ValueError(f'chains={self.chains} needs gradient="pcd"; set it, or remove chains')
        if self.gradient == "exact" and self.mode_use == "restart" and self.mode_probability:
            raise ValueError('mode_use="restart" needs chains; use gradient="cd" or gradient="pcd"')
        self._refuse_unfit()

    def _refuse_unfit(self) -> None:
        """Raise if the engine, the gradient or the optimizer does not support a setting."""
        needs = self._needs_matrices()
        if needs and (self.engine == "lanes" or self.gradient == "exact"):
            does = "; use gradient='cd'" if self.gradient == "exact" else "; set engine='matrices'"
            raise ValueError(f"engine='lanes' and gradient='exact' do not support {needs}{does}")
        if self.engine == "matrices" and self.gradient == "exact":
            raise ValueError("gradient='exact' needs engine='lanes'; set it")
        if self.temperatures > 1 and self.gradient != "pcd":
            raise ValueError(f"temperatures={self.temperatures} needs gradient='pcd'; set it")
        if self.optimizer == "adam" and self.momentum:
            raise ValueError("optimizer='adam' has its own momentum; remove momentum")
        if self.schedule == "exponential" and 0.0 in np.ravel(self.learning_rate):
            raise ValueError("schedule='exponential' needs learning rates above 0; change them")
        if self.first_biases == "data" and not self.biases:
            raise ValueError("first_biases='data' needs biases; switch them on")

    def _needs_matrices(self) -> str:
        """Return the first setting that only the matrix engine supports; empty if there is none."""
        usual = {"optimizer": "sgd", "centred": False, "temperatures": 1}
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
        """Return the settings, as JSON values, that identify a run in stores and checkpoints.

        Later fields are left out at their default, so that older stores keep their identity.
        """
        usual = {one.name: one.default for one in fields(self) if "later" in one.metadata}
        return {name: value for name, value in self.plain().items()
                if name not in usual or value != usual[name]}  # fmt: skip

    @classmethod
    def stored(cls, values: Mapping[str, Any]) -> TrainingSettings:
        """Restore settings from values that `identity` returned, and ignore unknown keys."""
        return cls(**{one.name: values[one.name] for one in fields(cls)
                      if "later" not in one.metadata or one.name in values})  # fmt: skip

    def learning_rates(self) -> FloatArray:
        """Return the learning rate of each epoch.

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
        """Return the engine for these settings and data: "lanes" or "matrices".

        >>> TrainingSettings(500, engine="auto", batch_size=100).engine_for(784, 1797)
        'matrices'
        """
        if self.engine != "auto":
            return self.engine
        if self.gradient == "exact":
            return "lanes"
        rows = max(min(self.batch_size or num_data, num_data), self.chains or 0)
        is_large = rows >= _MANY_ROWS and num_visible * self.hidden >= _MANY_WEIGHTS
        wins = is_large and self.units == "spin"
        return "matrices" if self._needs_matrices() or wins else "lanes"

    def mode_chances(self) -> FloatArray:
        """Return, for each epoch, the probability that an update uses the mode."""
        if not self.mode_probability:
            return np.zeros(self.epochs)
        epochs = np.arange(self.epochs) / self.epochs
        falling = exponentials(-(self.mode_slope * epochs + self.mode_offset).clip(-700))
        chances: FloatArray = np.round(self.mode_probability / (1.0 + falling), 12)
        return chances

    def plan(self, num_visible: int, num_data: int) -> machine.Plan:
        """Return the settings as the `Plan` that compiled code reads."""
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
            # A larger layer takes too long for compiled code, which does not pause.
            enumerates=enumerates(self.mode_search, smaller) and smaller <= _MOST_ENUMERATED,
            averages_apart=self.gradient == "exact"
            and (num_visible * self.hidden) << smaller > _MOST_SUMMED,
        )

    def _refuse_large(self, smaller: int, choice: str, remedy: str) -> None:
        if smaller > enumeration.MOST_VISITED:
            raise ValueError(
                f"{choice} enumerates all states of the smaller layer, which may have at most "
                f"{enumeration.MOST_VISITED} units, not {smaller}; {remedy}"
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
    """Return whether a search for modes enumerates a smaller layer of `smaller` units."""
    most = {"prove": enumeration.MOST_VISITED, "auto": _MOST_ENUMERATED}.get(search, 0)
    return search == "enumerate" or smaller <= most


def _rate(value: Any) -> float | tuple[float, float]:
    """Check a learning rate, or a pair of the first and the last rate, and return floats."""
    pair = value if isinstance(value, (tuple, list)) else (value,)
    is_good = 1 <= len(pair) <= 2 and all(
        validation.is_real(rate) and 0 <= rate < math.inf for rate in pair
    )
    if not is_good:
        raise ValueError(
            f"learning_rate={value!r} must be one or two finite numbers, each at least 0"
        )
    return (float(pair[0]), float(pair[1])) if len(pair) == 2 else float(pair[0])


def _refuse_outside(
    settings: TrainingSettings, name: str, least: float, most: float, *, is_open: bool = False
) -> None:
    """Raise if a setting is not in the range from `least` to `most`; `is_open` excludes `most`."""
    value = getattr(settings, name)
    if (
        not validation.is_real(value)
        or not least <= value <= most
        or not math.isfinite(value)
        or (is_open and value == most)
    ):
        end = ")" if is_open else "]"
        range_ = f"number in [{least:g}, {most:g}{end}" if math.isfinite(least) else "finite number"
        raise ValueError(f"{name}={value!r} must be a {range_}")
