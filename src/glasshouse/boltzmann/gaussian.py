"""RBMs with Gaussian visible units of variance 1, and binary hidden units (0 or 1).

With visible units integrated out, the hidden units are a Boltzmann machine with pair couplings, so
exact sums and proven modes are those of a QUBO. All updates are matrix products of NumPy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from glasshouse.boltzmann.importance import ImportanceEstimate, estimate_of
from glasshouse.boltzmann.parameters import TwoLayers, floats
from glasshouse.problems import FloatArray, Qubo, validation
from glasshouse.randomness import RngLike, Seed

_MOST_ENUMERATED = 20  # hidden units, whose 2^20 states can be enumerated
_MOST_WEIGHT = 1e6  # a larger weight means that the training has diverged


@dataclass(frozen=True, eq=False, repr=False)
class GaussianMachine(TwoLayers):
    """The RBM p(v, h) = exp(-|v - a|²/2 + v·W·h + b·h) / Z with real v and binary h.

    Visible units have variance 1 given the hidden units, so each column of the data should have a
    variance of about 1 (or more). Scale the data first.

    Attributes:
        weights: W, one row per visible and one column per hidden unit.
        visible_bias: a; zeros by default.
        hidden_bias: b; zeros by default.

    >>> machine = GaussianMachine([[1.0, -1.0]])
    >>> machine, machine.num_visible, machine.num_hidden
    (GaussianMachine(1 visible × 2 hidden), 1, 2)
    >>> round(machine.log_partition, 6)  # ln sqrt(2π) + ln(2 + 2 sqrt(e))
    2.586163
    >>> machine.log_weight([[0.0]]).round(6), round(machine.log_likelihood([[0.0]]), 6)
    (array([1.386294]), -1.199868)
    >>> machine.hidden_means([[0.0]]), machine.visible_means([[1, 0]])
    (array([[0.5, 0.5]]), array([[1.]]))
    >>> machine.sample(3, steps=5, rng=1).shape, machine.importance(chains=9, rng=1).chains
    ((3, 1), 9)
    >>> machine.to_instance().num_variables
    2
    """

    def hidden_means(self, visible: npt.ArrayLike) -> FloatArray:
        """Return each hidden unit's probability of being 1, given rows of visible units."""
        rows = table(visible, self.num_visible, "visible")
        return logistic(rows @ self.weights + self.hidden_bias)

    def visible_means(self, hidden: npt.ArrayLike) -> FloatArray:
        """Return the means of the visible units, given rows of hidden units."""
        rows = table(hidden, self.num_hidden, "hidden")
        return self.visible_bias + rows @ self.weights.T

    def log_weight(self, visible: npt.ArrayLike) -> FloatArray:
        """Return the negative free energy ln Σ_h exp(-E(v, h)) of each row of visible units."""
        return self._tempered(table(visible, self.num_visible, "visible"), 1.0)

    def _tempered(self, rows: FloatArray, beta: float) -> FloatArray:
        """Return `log_weight` of the machine with weights and hidden biases multiplied by β."""
        fields = beta * (rows @ self.weights + self.hidden_bias)
        squares = ((rows - self.visible_bias) ** 2).sum(axis=1)
        return np.asarray(np.logaddexp(0.0, fields).sum(axis=1) - squares / 2)

    @property
    def log_partition(self) -> float:
        """The exact logarithm of Z, computed by enumerating the states of at most 20 hidden units.

        Raises:
            ValueError: the machine has more than 20 hidden units; use `importance`.
        """
        if self.num_hidden > _MOST_ENUMERATED:
            raise ValueError(
                f"{self!r} has more than {_MOST_ENUMERATED} hidden units, too many to enumerate; "
                "use the method `importance`"
            )
        linear, pairs = self._of_hidden()
        total, places = -math.inf, np.arange(self.num_hidden)
        for first in range(0, 1 << self.num_hidden, 1 << 14):
            codes = np.arange(first, min(first + (1 << 14), 1 << self.num_hidden))
            states = ((codes[:, None] >> places) & 1).astype(np.float64)
            logs = states @ linear + ((states @ pairs) * states).sum(axis=1) / 2
            total = np.logaddexp(total, np.logaddexp.reduce(logs))
        return float(total) + self.num_visible * math.log(2 * math.pi) / 2

    def _of_hidden(self) -> tuple[FloatArray, FloatArray]:
        """Return the hidden units' fields and couplings, with visible units integrated out."""
        return self.hidden_bias + self.visible_bias @ self.weights, self.weights.T @ self.weights

    def log_likelihood(self, data: npt.ArrayLike) -> float:
        """Return the exact mean log-density of data rows, for at most 20 hidden units."""
        return float(self.log_weight(data).mean()) - self.log_partition

    def importance(
        self, *, chains: int = 100, temperatures: int = 1000, confidence: float = 0.95,
        rng: RngLike = None,
    ) -> ImportanceEstimate:  # fmt: skip
        """Estimate ln Z by annealed importance sampling that starts from a machine without weights.

        Args:
            chains: the number of chains.
            temperatures: the number of steps of each chain.
            confidence: the level of the interval.
            rng: a seed, or anything that `numpy.random.default_rng` takes.
        """
        chains = validation.count(chains, "chains", 2)
        temperatures = validation.count(temperatures, "temperatures", 1)
        dice, logs = _dice(rng), np.zeros(chains)
        rows = self.visible_bias + dice.standard_normal((chains, self.num_visible))
        for k in range(1, temperatures + 1):
            before, beta = (k - 1) / temperatures, k / temperatures
            logs += self._tempered(rows, beta) - self._tempered(rows, before)
            hidden = drawn(dice, beta * (rows @ self.weights + self.hidden_bias))
            rows = self.visible_bias + beta * (hidden @ self.weights.T)
            rows += dice.standard_normal(rows.shape)
        first = self.num_hidden * math.log(2) + self.num_visible * math.log(2 * math.pi) / 2
        return estimate_of(logs, first, temperatures, confidence)

    def sample(
        self, count: int, *, steps: int = 1000, start: npt.ArrayLike | None = None,
        rng: RngLike = None,
    ) -> FloatArray:  # fmt: skip
        """Draw visible states from Gibbs chains, one chain per sample.

        Args:
            count: the number of chains.
            steps: the number of Gibbs steps of each chain.
            start: the initial visible states, one row per chain; by default random states.
            rng: a seed, or anything that `numpy.random.default_rng` takes.
        """
        shape = validation.count(count, "count", 1), self.num_visible
        dice = _dice(rng)
        rows = self.visible_bias + dice.standard_normal(shape)
        if start is not None:
            rows = table(start, self.num_visible, "start")
            if rows.shape != shape:
                raise ValueError(f"start has shape {rows.shape}; expected {shape}")
        for _ in range(validation.count(steps, "steps")):
            hidden = drawn(dice, rows @ self.weights + self.hidden_bias)
            rows = self.visible_bias + hidden @ self.weights.T + dice.standard_normal(shape)
        return rows

    def to_instance(self) -> Qubo:
        """Return the problem whose ground state is the most likely state of the hidden units.

        The visible units are integrated out. Their means given this state complete the most likely
        state of both layers.
        """
        linear, pairs = self._of_hidden()
        matrix = -np.triu(pairs, 1)
        np.fill_diagonal(matrix, -linear - np.diag(pairs) / 2)
        return Qubo.from_matrix(matrix)

    def __repr__(self) -> str:
        return f"GaussianMachine({self.num_visible} visible × {self.num_hidden} hidden)"


def train_gaussian(
    data: npt.ArrayLike,
    hidden: int,
    *,
    epochs: int = 100,
    gradient: Literal["cd", "pcd"] = "cd",
    steps: int = 1,
    chains: int = 100,
    batch_size: int = 100,
    learning_rate: float = 0.01,
    sigma: float = 0.01,
    rng: RngLike = None,
) -> GaussianMachine:
    """Train a `GaussianMachine` on rows of real numbers.

    Args:
        data: one row per example; scale its columns first, so that their variances are about 1.
        hidden: the number of hidden units.
        epochs: the number of passes through the data.
        gradient: "cd" (chains start at the data) or "pcd" (persistent chains).
        steps: the number of Gibbs steps of each chain per update.
        chains: the number of persistent chains.
        batch_size: the number of rows per update.
        learning_rate: the factor of the mean gradient over a batch.
        sigma: standard deviation of the first weights; visible biases start at the data's means.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> rows = np.random.default_rng(1).normal([-3, 3], 1, (200, 2))
    >>> machine = train_gaussian(rows, 2, epochs=20, rng=1)
    >>> bool(machine.log_likelihood(rows) > -3.0)  # of the distribution itself: -2.84
    True
    """
    rows = table(data, None, "data")
    if gradient not in ("cd", "pcd"):
        raise ValueError(f"gradient={gradient!r:.60} is not one of cd, pcd")
    counts = {"hidden": hidden, "steps": steps, "chains": chains, "batch_size": batch_size}
    for name, value in counts.items():
        validation.count(value, name, 1)
    for name, number in (("learning_rate", learning_rate), ("sigma", sigma)):
        if not validation.is_real(number) or not 0 <= number < math.inf:
            raise ValueError(f"{name}={number!r:.60} must be finite and at least 0")
    dice = _dice(rng)
    weights = sigma * dice.standard_normal((rows.shape[1], hidden))
    visible_bias, hidden_bias = rows.mean(axis=0), np.zeros(hidden)
    kept = rows[dice.integers(0, len(rows), chains)]
    for epoch in range(1, validation.count(epochs, "epochs") + 1):
        order = dice.permutation(len(rows))
        for first in range(0, len(rows), batch_size):
            batch = rows[order[first : first + batch_size]]
            seen = kept if gradient == "pcd" else batch
            for _ in range(steps):
                units = drawn(dice, seen @ weights + hidden_bias)
                seen = visible_bias + units @ weights.T
                seen += dice.standard_normal(seen.shape)
            if gradient == "pcd":
                kept = seen
            up, down = (logistic(part @ weights + hidden_bias) for part in (batch, seen))
            weights += learning_rate * (batch.T @ up / len(batch) - seen.T @ down / len(seen))
            visible_bias += learning_rate * (batch.mean(axis=0) - seen.mean(axis=0))
            hidden_bias += learning_rate * (up.mean(axis=0) - down.mean(axis=0))
        if not max(abs(part).max() for part in (weights, visible_bias, hidden_bias)) < _MOST_WEIGHT:
            raise ValueError(
                f"weights grew beyond {_MOST_WEIGHT:g} in epoch {epoch}; use a smaller "
                "learning_rate, or scale the data to a variance of 1"
            )
    return GaussianMachine(weights, visible_bias, hidden_bias)


def table(values: npt.ArrayLike, width: int | None, name: str) -> FloatArray:
    """Check that rows form a table of finite numbers, and return them as floats."""
    rows = floats(values, name)
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(f"{name} has shape {rows.shape}; expected a non-empty table of rows")
    if width is not None and rows.shape[1] != width:
        raise ValueError(f"{name} has {rows.shape[1]} columns; expected {width}, one per unit")
    return rows


def logistic(fields: FloatArray) -> FloatArray:
    """Return 1/(1 + exp(-x)) without overflow."""
    return np.asarray(0.5 * (1.0 + np.tanh(fields / 2)))


def drawn(dice: np.random.Generator, fields: FloatArray) -> FloatArray:
    """Draw binary units; `fields` are the log-odds that a unit is 1."""
    return (dice.random(fields.shape) < logistic(fields)).astype(np.float64)


def _dice(rng: Any) -> np.random.Generator:
    return np.random.default_rng(Seed.of(rng).sequence())
