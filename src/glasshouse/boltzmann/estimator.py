"""RBMs for scikit-learn: an estimator with `fit`, `transform`, `score_samples` and `sample`.

The estimator wraps `train`. Its class inherits from classes of scikit-learn, so this module is
imported only when it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glasshouse.boltzmann.data import Units, in_units
from glasshouse.boltzmann.importance import ImportanceEstimate, annealed_importance
from glasshouse.boltzmann.model import BoltzmannMachine
from glasshouse.boltzmann.settings import (
    Engine,
    FirstBiases,
    Gradient,
    ModeSearch,
    ModeStep,
    ModeUse,
    Optimizer,
    Precision,
    Reduction,
    Schedule,
    TrainingSettings,
)
from glasshouse.boltzmann.training import Trainer, TrainingRun
from glasshouse.extras import MissingPackageError, optional
from glasshouse.problems import FloatArray, SpinArray
from glasshouse.randomness import RngLike, Seed

_MISSING: MissingPackageError | None = None
if TYPE_CHECKING:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.base import ClassNamePrefixFeaturesOutMixin as NamesOut
    from sklearn.utils import validation
else:
    try:
        _base = optional("sklearn.base", "RestrictedBoltzmannMachine")
        validation = optional("sklearn.utils.validation", "RestrictedBoltzmannMachine")
        BaseEstimator, TransformerMixin = _base.BaseEstimator, _base.TransformerMixin
        NamesOut = _base.ClassNamePrefixFeaturesOutMixin
    except MissingPackageError as error:  # raised on use, so that help() and star imports work
        _MISSING = error
        BaseEstimator, TransformerMixin, NamesOut = (type(n, (), {}) for n in "ABC")

# Child seeds for random numbers after the training; those of the trainer are smaller.
_SAMPLES, _PARTITION, _PARTS = 100, 101, 102


class RestrictedBoltzmannMachine(NamesOut, TransformerMixin, BaseEstimator):  # type: ignore[misc]  # without types
    """An RBM as a scikit-learn transformer and density model.

    `TrainingSettings` explains most parameters; `n_hidden` and `random_state` have scikit-learn's
    names. `epochs` is the `n_iter` of scikit-learn's BernoulliRBM. `batch_size` and `learning_rate`
    have the defaults of BernoulliRBM.

    Data must be 0 and 1, or -1 and 1, unless `binarize` sets a threshold. Grey values are not
    treated as probabilities, as BernoulliRBM does, because the likelihood is defined for binary
    data only.

    Args:
        n_hidden: the number of hidden units.
        epochs: the number of passes through the data.
        binarize: a threshold: values above it become 1, all other values 0, as in scikit-learn's
            BernoulliNB; None accepts binary data only.
        units: "binary" for units 0 and 1, "spin" for ±1, whatever the data contain.
        gradient: the estimator of the gradient: "cd", "pcd" or "exact".
        steps: the number of Gibbs steps of each chain per update.
        chains: the number of persistent chains.
        batch_size: the number of rows per update; None uses all rows.
        learning_rate: a constant, or a pair (first, last).
        reduction: whether the gradient is the "mean" or the "sum" over a batch.
        momentum: the fraction of the last step that is added to the next.
        weight_decay: the pull of the weights towards zero.
        sigma: the standard deviation of the initial weights.
        biases: whether units have biases.
        mode_probability: the highest probability that an update uses the mode.
        mode_slope: the slope of the sigmoid by which this probability rises.
        mode_offset: the offset of this sigmoid.
        mode_use: the use of a mode: "update" or "restart".
        mode_step: the step of an update that uses a mode: "energy" or "full".
        mode_search: the search for a mode: "auto", "enumerate", "anneal" or "prove".
        mode_seconds: the time limit of "prove", in seconds.
        engine: the engine: "lanes", "matrices" or "auto".
        precision: the precision of the weights: "double" or "single".
        optimizer: the optimizer: "sgd" or "adam".
        schedule: the schedule of the learning rate: "linear", "exponential" or "cosine".
        first_biases: the initial visible biases: "zero" or "data".
        centred: whether to use the centred gradient.
        temperatures: the number of temperatures of parallel tempering.
        monitors: the monitors to record, by their names in `MONITORS`.
        every: the number of epochs between two records.
        random_state: an integer for reproducible results; None draws a new seed.

    Attributes:
        machine_: the trained `BoltzmannMachine`; `find_mode(machine_)` returns its mode and
            frustration, `machine_.to_instance()` a problem to solve and prove.
        components_: the weights, one row per hidden unit.
        intercept_visible_: the visible biases.
        intercept_hidden_: the hidden biases.
        history_: the values of each monitor by its name, and their epochs as "epoch".
        n_features_in_: the number of visible units.
        feature_names_in_: the names of the columns, if the data had any.

    >>> from glasshouse.boltzmann import shifting_bars
    >>> bars = shifting_bars()
    >>> rbm = RestrictedBoltzmannMachine(12, epochs=2000, batch_size=None, random_state=1).fit(bars)
    >>> rbm.transform(bars).shape, bool(rbm.score(bars) > -4.5)  # ln(1/512) = -6.2 at first
    ((9, 12), True)
    >>> rbm.score_samples(bars).shape, rbm.log_partition_[1]
    ((9,), 0.0)
    >>> rbm.sample(4, steps=10).shape, rbm.gibbs(bars, random_state=1).shape
    ((4, 9), (9, 9))
    >>> rbm.partial_fit(bars).transform(bars).shape
    (9, 12)
    """

    def __init__(
        self,
        n_hidden: int = 12,
        *,
        epochs: int = 100,
        binarize: float | None = None,
        units: Units = "binary",
        gradient: Gradient = "cd",
        steps: int = 1,
        chains: int | None = None,
        batch_size: int | None = 10,
        learning_rate: float | tuple[float, float] = 0.1,
        reduction: Reduction = "mean",
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        sigma: float = 0.01,
        biases: bool = True,
        mode_probability: float = 0.0,
        mode_slope: float = 20.0,
        mode_offset: float = -6.0,
        mode_use: ModeUse = "update",
        mode_step: ModeStep = "energy",
        mode_search: ModeSearch = "auto",
        mode_seconds: float = 2.0,
        engine: Engine = "lanes",
        precision: Precision = "double",
        optimizer: Optimizer = "sgd",
        schedule: Schedule = "linear",
        first_biases: FirstBiases = "zero",
        centred: bool = False,
        temperatures: int = 1,
        monitors: Sequence[str] = (),
        every: int = 10,
        random_state: RngLike = None,
    ) -> None:
        if _MISSING is not None:
            raise _MISSING
        given = dict(locals())
        for name in _PARAMETERS:
            setattr(self, name, given[name])

    def fit(self, X: Any, y: Any = None) -> RestrictedBoltzmannMachine:
        """Train an RBM on the rows of X."""
        seed = Seed.of(vars(self)["random_state"])
        run = Trainer(self._rows(X, reset=True), self._settings(), rng=seed).run(
            vars(self)["monitors"], vars(self)["every"]
        )
        return self._take(run, seed)

    def partial_fit(self, X: Any, y: Any = None) -> RestrictedBoltzmannMachine:
        """Train for one more epoch on the rows of X, at the first learning rate.

        The first call draws the weights. Each call starts new chains and drops the momentum.
        """
        machine = getattr(self, "machine_", None)
        rows = self._rows(X, reset=machine is None)
        seed = Seed.of(vars(self)["random_state"])
        if machine is not None:
            seed = self._seed.child(_PARTS)
        run = Trainer(rows, replace(self._settings(), epochs=1), start=machine, rng=seed).run()
        return self._take(run, seed)

    def _settings(self) -> TrainingSettings:
        parts = vars(self)
        return TrainingSettings(parts["n_hidden"], **{name: parts[name] for name in _SETTINGS})

    def _take(self, run: TrainingRun, seed: Seed) -> RestrictedBoltzmannMachine:
        self.machine_: BoltzmannMachine = run.machine
        self.components_: FloatArray = run.machine.back
        self.intercept_visible_: FloatArray = run.machine.visible_bias
        self.intercept_hidden_: FloatArray = run.machine.hidden_bias
        self.history_ = {"epoch": run.epochs, **run.history}
        self._n_features_out = run.machine.num_hidden
        self._seed = seed
        self._random = np.random.default_rng(seed.child(_SAMPLES).sequence())
        self._partition_seed = seed.child(_PARTITION)
        self._partition: ImportanceEstimate | None = None
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return each hidden unit's probability of being up, for each row of X."""
        machine = self._fitted()
        means = machine.hidden_means(self._rows(X))
        return (means - machine.low) / (1 - machine.low)

    def score_samples(self, X: Any) -> FloatArray:
        """Return the log-likelihood of each row of X, in nats.

        The values are exact if a layer has at most 24 units. Otherwise the partition function is
        estimated once by annealed importance sampling; `log_partition_` contains the estimate.
        """
        logs = self._fitted().log_weight(self._rows(X))
        return logs - self.log_partition_[0]

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of the rows of X, in nats."""
        return float(self.score_samples(X).mean())

    @property
    def log_partition_(self) -> tuple[float, float]:
        """The logarithm of Z and its standard error, which is 0 for an exact value."""
        machine = self._fitted()
        if machine.can_be_enumerated:
            return machine.log_partition, 0.0
        if self._partition is None:
            self._partition = annealed_importance(machine, rng=self._partition_seed)
        return self._partition.value, self._partition.error

    def sample(
        self, n_samples: int = 1, *, steps: int = 1000, random_state: RngLike = None
    ) -> SpinArray:
        """Draw visible states, each from its own Gibbs chain of `steps` steps.

        Args:
            n_samples: the number of samples.
            steps: the number of Gibbs steps of each chain, from a random state.
            random_state: a seed, as for the estimator; by default, its stream continues.
        """
        rng = self._next(random_state)
        return self._fitted().sample(n_samples, steps=steps, rng=rng)

    def gibbs(self, X: Any, *, random_state: RngLike = None) -> SpinArray:
        """Return the visible states after one Gibbs step from each row of X."""
        machine, rows = self._fitted(), self._rows(X)
        return machine.sample(len(rows), steps=1, start=rows, rng=self._next(random_state))

    def _next(self, random_state: RngLike) -> RngLike:
        self._fitted()
        return self._random if random_state is None else random_state

    def _fitted(self) -> BoltzmannMachine:
        validation.check_is_fitted(self, "machine_")
        return self.machine_

    def _rows(self, X: Any, *, reset: bool = False) -> SpinArray:
        """Check data rows, and convert them to the values of the machine's units."""
        if not reset:
            self._fitted()
        parts = vars(self)
        table: Any = validation.validate_data(self, X, accept_sparse="csr", reset=reset)
        rows: npt.NDArray[Any] = table if isinstance(table, np.ndarray) else table.toarray()
        threshold = parts["binarize"]
        if threshold is not None:
            return in_units(rows > threshold, parts["units"], "X")
        try:
            return in_units(rows, parts["units"], "X")
        except ValueError as fault:
            raise ValueError(f"{fault}, or set a threshold such as binarize=0.5") from None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags


_SETTINGS = [entry.name for entry in fields(TrainingSettings) if entry.name != "hidden"]
_PARAMETERS = ["n_hidden", "binarize", "monitors", "every", "random_state", *_SETTINGS]
