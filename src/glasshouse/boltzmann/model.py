"""A restricted Boltzmann machine (RBM) as a probabilistic model of data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from glasshouse.boltzmann.data import LOW, Units, as_units, entropy, in_units
from glasshouse.boltzmann.kernels import enumeration, sampling
from glasshouse.boltzmann.parameters import TwoLayers, by_name, detached
from glasshouse.boltzmann.slices import complete, log_partition, number_of_each, rows_of
from glasshouse.extras import optional
from glasshouse.problems import FloatArray, Rbm, SpinArray, validation
from glasshouse.problems.rbm import sklearn_arrays
from glasshouse.randomness import RngLike, Seed
from glasshouse.stopping import in_slices
from glasshouse.summaries import short


@dataclass(frozen=True, eq=False, repr=False)
class BoltzmannMachine(TwoLayers):
    """The RBM p(v, h) = exp(-E(v, h)) / Z with E(v, h) = -(v·W·h + a·v + b·h).

    Attributes:
        weights: W, one row per visible and one column per hidden unit.
        visible_bias: a; zeros by default.
        hidden_bias: b; zeros by default.
        units: "spin" for units ±1, "binary" for 0 and 1.

    >>> machine = BoltzmannMachine([[1.0, -1.0]], units="binary")
    >>> machine
    BoltzmannMachine(1 visible × 2 hidden, binary units)
    >>> round(machine.log_partition, 6)  # ln(4 + (1 + e)(1 + 1/e))
    2.206753
    >>> machine.num_visible, machine.num_hidden, machine.low, machine.can_be_enumerated
    (1, 2, 0, True)
    >>> float(machine.energy([1], [1, 0])), round(float(machine.log_weight([1])), 6)
    (-1.0, 1.626523)
    >>> machine.back.shape
    (2, 1)
    >>> machine.log_weights(np.array([[1], [0]], dtype=np.int8)).round(6)
    array([1.626523, 1.386294])
    >>> machine.hidden_means([1]).round(6), machine.visible_means([1, 1]).round(6)
    (array([0.731059, 0.268941]), array([0.5]))
    >>> data = [[0], [1], [1]]
    >>> round(machine.log_likelihood(data), 6), round(machine.kl(data), 6)
    (-0.660305, 0.023791)
    >>> machine.pseudo_log_likelihood(data).round(6)
    array([-0.820458, -0.580229, -0.580229])
    >>> machine.sample(3, steps=10, rng=1).shape
    (3, 1)
    >>> BoltzmannMachine.from_instance(machine.to_instance(), units="binary") == machine
    True
    >>> BoltzmannMachine.from_sklearn(machine.to_sklearn()).weights
    array([[ 1., -1.]])
    >>> machine.refuse_enumeration()
    >>> rows, bias, other_bias = machine.smaller_first
    >>> rows.shape, bias.shape, other_bias.shape
    ((1, 2), (1,), (2,))
    >>> biases = machine.visible_bias, machine.hidden_bias
    >>> BoltzmannMachine.unchecked(machine.weights, *biases, "binary") == machine
    True
    """

    units: Units = "spin"

    def __post_init__(self) -> None:
        if self.units not in get_args(Units):
            raise ValueError(f"units={self.units!r} is not one of {', '.join(get_args(Units))}")
        super().__post_init__()
        parts = [self.weights.reshape(-1), self.visible_bias, self.hidden_bias]
        validation.total_magnitude(parts, 0.0, "weights and biases")

    @classmethod
    def unchecked(
        cls, weights: FloatArray, visible_bias: FloatArray, hidden_bias: FloatArray, units: Units
    ) -> BoltzmannMachine:
        """Return a machine with copies of valid arrays, without checking them."""
        machine = object.__new__(cls)
        parts = {"weights": weights, "visible_bias": visible_bias, "hidden_bias": hidden_bias}
        for name, values in parts.items():
            copied = values.copy()
            copied.flags.writeable = False
            object.__setattr__(machine, name, copied)
        object.__setattr__(machine, "units", units)
        return machine

    @property
    def low(self) -> int:
        """The lower value of a unit: -1 or 0."""
        return LOW[self.units]

    @property
    def can_be_enumerated(self) -> bool:
        """Whether the smaller layer has at most 24 units, so that its states can be enumerated."""
        return bool(min(self.weights.shape) <= enumeration.MOST_VISITED)

    def energy(self, visible: npt.ArrayLike, hidden: npt.ArrayLike) -> Any:
        """Return the energy of a state of both layers, or one energy per row of states."""
        v = self._values(visible, self.num_visible, "visible").astype(np.float64)
        h = self._values(hidden, self.num_hidden, "hidden").astype(np.float64)
        total = ((v @ self.weights) * h).sum(-1) + v @ self.visible_bias + h @ self.hidden_bias
        return -total

    def hidden_means(self, visible: npt.ArrayLike) -> FloatArray:
        """Return the expected values of the hidden units, given the visible units."""
        v = self._values(visible, self.num_visible, "visible")
        means = rows_of(sampling.layer_means, v, self.weights, self.hidden_bias, self.low)
        return means.reshape(*v.shape[:-1], self.num_hidden)

    def visible_means(self, hidden: npt.ArrayLike) -> FloatArray:
        """Return the expected values of the visible units, given the hidden units."""
        h = self._values(hidden, self.num_hidden, "hidden")
        means = rows_of(sampling.layer_means, h, self.back, self.visible_bias, self.low)
        return means.reshape(*h.shape[:-1], self.num_visible)

    def log_weight(self, visible: npt.ArrayLike) -> FloatArray:
        """Return the negative free energy ln Σ_h exp(-E(v, h)) of one or more visible states."""
        v = self._values(visible, self.num_visible, "visible")
        return self.log_weights(validation.rows(v)).reshape(v.shape[:-1])

    def log_weights(self, rows: SpinArray) -> FloatArray:
        """Return `log_weight` of each row of a valid int8 table, without checking the rows."""
        return self._per_row(enumeration.log_weights_of, rows)

    def pseudo_log_likelihood(self, visible: npt.ArrayLike) -> FloatArray:
        """Return Σ_i ln p(v_i | all other visible units) of one or more visible states.

        scikit-learn's `score_samples` estimates the sum from one unit drawn at random.
        """
        v = self._values(visible, self.num_visible, "visible")
        logs = self._per_row(enumeration.pseudo_log_likelihoods, validation.rows(v))
        return logs.reshape(v.shape[:-1])

    def _per_row(self, kernel: Any, rows: SpinArray) -> FloatArray:
        return number_of_each(
            kernel, rows, self.weights, self.visible_bias, self.hidden_bias, self.low
        )

    @cached_property
    def log_partition(self) -> float:
        """The exact logarithm of Z, computed by enumerating all states of the smaller layer.

        Raises:
            ValueError: the smaller layer has more than 24 units; use `annealed_importance`.
        """
        self.refuse_enumeration()
        return log_partition(self.smaller_first, self.low)

    def log_likelihood(self, data: npt.ArrayLike) -> float:
        """Return the exact mean log-likelihood of data rows of 0 and 1, or of -1 and 1."""
        table = in_units(np.atleast_2d(np.asarray(data)), self.units)
        rows = self._values(table, self.num_visible, "data")
        return float(self.log_weights(rows).mean()) - self.log_partition

    def kl(self, data: npt.ArrayLike) -> float:
        """Return the exact Kullback-Leibler divergence from the data to the machine.

        The data are rows of 0 and 1, or of -1 and 1, whatever the machine's units.
        """
        rows = in_units(data, self.units)
        return -entropy(rows) - self.log_likelihood(rows)

    def refuse_enumeration(self) -> None:
        """Raise an error if both layers are too large for exact sums."""
        if not self.can_be_enumerated:
            raise ValueError(
                f"{self!r} is too large for exact sums, which need a layer of at most "
                f"{enumeration.MOST_VISITED} units; use annealed_importance, or replace the "
                "monitor kl with ais or held_out_ais (--monitor ais,frustration)"
            )

    @property
    def smaller_first(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The weights with the smaller layer as rows, and the biases of both layers."""
        if self.num_visible <= self.num_hidden:
            return self.weights, self.visible_bias, self.hidden_bias
        return self.back, self.hidden_bias, self.visible_bias

    def sample(
        self,
        count: int,
        *,
        steps: int = 1000,
        start: npt.ArrayLike | None = None,
        clamped: npt.ArrayLike | None = None,
        rng: RngLike = None,
    ) -> SpinArray:
        """Draw visible states from Gibbs chains, one chain per sample.

        Args:
            count: the number of samples.
            steps: the number of Gibbs steps of each chain.
            start: the initial visible states, one row per chain, for example data; by default
                random states.
            clamped: the indices of visible units that keep their values in `start`, so that the
                chains complete images, or infer labels that are separate units.
            rng: a seed, or anything that `numpy.random.default_rng` takes.

        >>> copies = BoltzmannMachine([[9.0], [9.0]])  # two visible units with equal values
        >>> copies.sample(3, steps=9, start=[[1, -1]] * 3, clamped=[0], rng=1).tolist()
        [[1, 1], [1, 1], [1, 1]]
        """
        count = validation.count(count, "count", 1)
        shape = count, self.num_visible
        stream = Seed.of(rng).streams(1)[0].copy()
        if start is None:
            states = np.empty(shape, dtype=np.int8)
            sampling.fill_states(stream, self.low, states)
        else:
            states = np.array(self._values(start, self.num_visible, "start"))
            if states.shape != shape:
                raise ValueError(f"start has shape {states.shape}; expected {shape}")
        steps = validation.count(steps, "steps")
        if clamped is not None:
            if start is None:
                raise ValueError("clamped needs the values of these units in start; pass start")
            parts = self.weights, self.visible_bias, self.hidden_bias
            return complete(states, self._places(clamped), parts, self.low, steps, Seed.of(rng))

        def run(first: int, last: int) -> None:
            sampling.run_chains(stream, self.weights, self.back, self.visible_bias,
                                self.hidden_bias, self.low, steps, states[first:last])  # fmt: skip

        in_slices(run, count)
        return states

    def _places(self, clamped: npt.ArrayLike) -> npt.NDArray[np.int64]:
        places = np.asarray(clamped)
        is_good = places.ndim == 1 and (places.dtype.kind in "iu" or places.size == 0)
        if not is_good or ((places < 0) | (places >= self.num_visible)).any():
            raise ValueError(
                f"clamped={short(clamped)} must be indices of visible units, from 0 to "
                f"{self.num_visible - 1}"
            )
        return places.astype(np.int64)

    def in_units(self, units: Units) -> BoltzmannMachine:
        """Return a machine with the same distribution in the given units.

        >>> BoltzmannMachine([[1.0]], units="binary").in_units("spin").weights.tolist()
        [[0.25]]
        """
        if units == self.units:
            return self
        rows, columns = (np.array([*map(math.fsum, w)]) for w in (self.weights, self.back))
        if units == "spin":
            return BoltzmannMachine(
                self.weights / 4, self.visible_bias / 2 + rows / 4,
                self.hidden_bias / 2 + columns / 4, units,
            )  # fmt: skip
        return BoltzmannMachine(
            4 * self.weights, 2 * self.visible_bias - 2 * rows,
            2 * self.hidden_bias - 2 * columns, units,
        )  # fmt: skip

    def to_instance(self, resolution: int | None = None) -> Rbm:
        """Return the problem whose ground state is the machine's mode.

        Args:
            resolution: multiply weights and biases of ±1 units by this number and round them to
                integers, so that energies are exact. Energies are then `resolution` times those of
                the machine, up to rounding and without its constant. By default, weights stay real
                numbers.
        """
        spins = self.in_units("spin")
        parts = [spins.weights, spins.visible_bias, spins.hidden_bias]
        if resolution is None:
            constant = 0.0
            if self.units == "binary":
                constant = -float(spins.visible_bias.sum() + spins.hidden_bias.sum()
                                  - spins.weights.sum())  # fmt: skip
            return Rbm(*parts, constant)  # type: ignore[call-arg, arg-type]
        scale = validation.count(resolution, "resolution", 1)
        if max(np.abs(part).max() for part in parts) >= 2**52 / scale:
            raise ValueError(f"resolution={scale} gives weights of 2^52 or more; use a smaller one")
        return Rbm(*(np.rint(part * scale).astype(np.int64) for part in parts))  # type: ignore[arg-type]

    @classmethod
    def from_instance(cls, problem: Rbm, units: Units = "spin") -> BoltzmannMachine:
        """Return the machine whose mode is the ground state of a bipartite problem."""
        spins = cls(problem.to_matrix().astype(np.float64),
                    problem.visible_bias.astype(np.float64),
                    problem.hidden_bias.astype(np.float64))  # fmt: skip
        return spins.in_units(units)

    @classmethod
    def from_arrays(
        cls,
        weights: npt.ArrayLike | Mapping[str, Any],
        visible_bias: npt.ArrayLike | None = None,
        hidden_bias: npt.ArrayLike | None = None,
        *,
        units: Units,
        hidden_first: bool = False,
    ) -> BoltzmannMachine:
        """Make a machine from another program's weights and biases.

        Args:
            weights: one row per visible unit; or all arrays by common names, such as a PyTorch
                state dict with W or weight_matrix, vbias and hbias.
            visible_bias: zeros by default.
            hidden_bias: zeros by default.
            units: "spin" for ±1, "binary" for 0 and 1; arrays do not show their units.
            hidden_first: whether the weights have one row per hidden unit instead.

        >>> BoltzmannMachine.from_arrays(
        ...     {"weight_matrix": [[1.0, 2.0]], "vbias": [0.0], "hbias": [0.5, 1.0]}, units="binary"
        ... )
        BoltzmannMachine(1 visible × 2 hidden, binary units)
        """
        if isinstance(weights, Mapping):
            if visible_bias is not None or hidden_bias is not None:
                raise ValueError(
                    "a mapping of weights must contain all biases; add the biases to the mapping"
                )
            weights, visible_bias, hidden_bias = by_name(weights)
        matrix = detached(weights)
        biases: dict[str, Any] = {
            "visible_bias": detached(visible_bias), "hidden_bias": detached(hidden_bias),
        }  # fmt: skip
        return cls(matrix.T if hidden_first else matrix, units=units, **biases)

    @classmethod
    def from_sklearn(cls, machine: Any) -> BoltzmannMachine:
        """Make a machine with units 0 and 1 from a fitted scikit-learn `BernoulliRBM`."""
        return cls(*sklearn_arrays(machine), units="binary")

    def to_sklearn(self) -> Any:
        """Return a fitted scikit-learn `BernoulliRBM` with the same distribution."""
        module = optional("sklearn.neural_network", "a BernoulliRBM")
        binary = self.in_units("binary")
        found = module.BernoulliRBM(n_components=self.num_hidden)
        found.components_ = binary.weights.T.copy()
        found.intercept_visible_ = binary.visible_bias.copy()
        found.intercept_hidden_ = binary.hidden_bias.copy()
        found.h_samples_ = np.zeros((found.batch_size, self.num_hidden))
        found.n_features_in_ = self.num_visible
        return found

    @cached_property
    def back(self) -> FloatArray:
        """The transpose of the weights, with one row per hidden unit."""
        return validation.read_only(self.weights.T)

    def _values(self, values: npt.ArrayLike, width: int, name: str) -> SpinArray:
        return as_units(values, width, self.units, name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BoltzmannMachine):
            return NotImplemented
        arrays = ("weights", "visible_bias", "hidden_bias")
        equal = (np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays)
        return self.units == other.units and all(equal)

    def __hash__(self) -> int:
        return hash((self.units, self.weights.tobytes()))

    def __repr__(self) -> str:
        size = f"{self.num_visible} visible × {self.num_hidden} hidden"
        return f"BoltzmannMachine({size}, {self.units} units)"
