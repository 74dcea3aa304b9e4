"""Log-normal fits with censoring, by maximum likelihood."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glasshouse.problems.validation import share
from glasshouse.statistics.intervals import student_reach
from glasshouse.statistics.samples import Estimate, Sample
from glasshouse.summaries import Summarised


@dataclass(frozen=True, repr=False)
class LogNormal(Summarised):
    """A log-normal fit: the mean and standard deviation of ln N_tot, and their errors.

    Attributes:
        mu: the mean of the natural logarithm.
        sigma: the standard deviation of the natural logarithm.
        mu_error: the standard error of mu.
        sigma_error: the standard error of sigma.
        covariance: the covariance of mu and sigma.
        samples: the number of values, including censored ones.
        censored: the number of values that are only lower bounds.
    """

    mu: float
    sigma: float
    mu_error: float
    sigma_error: float
    covariance: float
    samples: int
    censored: int

    def geometric_mean(self, confidence: float = 0.95) -> Estimate:
        """Return exp(μ), the geometric mean, which is also the median of a log-normal."""
        return self._estimate(0.0, confidence)

    def quantile(self, q: float, confidence: float = 0.95) -> Estimate:
        """Return the q-quantile exp(μ + z_q σ) of the fit; for the 95th percentile, z_q = 1.645."""
        from scipy.special import ndtri

        return self._estimate(float(ndtri(share(q, "q"))), confidence)

    def paper_95(self, confidence: float = 0.95) -> Estimate:
        """Return the paper's "95th percentile" exp(μ+2σ), which is the 97.7th percentile."""
        return self._estimate(2.0, confidence)

    def paper_5(self, confidence: float = 0.95) -> Estimate:
        """Return the paper's "5th percentile" exp(μ-2σ), which is the 2.3rd percentile."""
        return self._estimate(-2.0, confidence)

    def _estimate(self, z: float, confidence: float) -> Estimate:
        """Return exp(μ + zσ) with an interval that is symmetric in its logarithm."""
        variance = self.mu_error**2 + 2 * z * self.covariance + (z * self.sigma_error) ** 2
        error = math.sqrt(max(variance, 0.0))
        solved = self.samples - self.censored
        if solved < 2:
            reach = math.inf
        else:  # Student's law, because sigma is estimated, too
            reach = student_reach(solved - 1, confidence) * error
        centre = self.mu + z * self.sigma
        return Estimate(_exp(centre), _exp(centre - reach), _exp(centre + reach), confidence)


def fit_lognormal(values: npt.ArrayLike, *, solved: npt.ArrayLike | None = None) -> LogNormal:
    """Fit a log-normal to a sample that may be censored.

    Without censored values these are the paper's estimators (appendix "Optimal Sweep Schedule"):
    the mean of the logarithms, and their standard deviation with k-1. With censored values the
    likelihood is maximised; a censored value contributes the probability of exceeding it.

    Args:
        values: the sweeps of each instance, positive.
        solved: a mask of the values that are not censored; None if all are solved.

    Raises:
        ValueError: nothing was solved, so the sample has only lower bounds.

    >>> fit = fit_lognormal([1, 10, 100])
    >>> round(fit.mu, 4), round(fit.sigma, 4)
    (2.3026, 2.3026)
    >>> censored = fit_lognormal([1, 10, 100], solved=[True, True, False])
    >>> censored.mu > fit.mu
    True
    """
    sample = Sample.of(values, solved)
    if not sample.solved.any():
        raise ValueError(
            f"none of the {sample.size} instances was solved, so only a lower bound is known; "
            "increase max_sweeps"
        )
    logs = np.log(sample.values[sample.solved])
    if sample.solved.all():
        return _uncensored(logs)
    return _censored(logs, np.log(sample.values[~sample.solved]))


def _uncensored(logs: npt.NDArray[np.float64]) -> LogNormal:
    size = len(logs)
    mu = float(logs.mean())
    if size == 1:
        return LogNormal(mu, 0.0, math.inf, math.inf, 0.0, 1, 0)
    sigma = float(logs.std(ddof=1))
    sigma_error = sigma / math.sqrt(2 * (size - 1))
    return LogNormal(mu, sigma, sigma / math.sqrt(size), sigma_error, 0.0, size, 0)


def _censored(logs: npt.NDArray[np.float64], limits: npt.NDArray[np.float64]) -> LogNormal:
    """Maximise the likelihood over Olsen's parameters μ/σ and 1/σ, in which it is concave.

    The solved values enter by three sums and the censored ones by their distinct limits, so the
    cost of a step hardly depends on the size of the sample.
    """
    from scipy.optimize import minimize
    from scipy.special import log_ndtr

    cuts, counts = np.unique(limits, return_counts=True)
    size, centre = len(logs), float(logs.mean())
    spread = float(((logs - centre) ** 2).sum())
    cuts = cuts - centre  # from here on, all logarithms are relative to their mean

    def loss(point: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        delta, log_gamma = point
        gamma = math.exp(log_gamma)
        z = gamma * cuts - delta
        beyond = log_ndtr(-z)
        hazard = np.exp(-0.5 * z * z - beyond) / math.sqrt(2 * math.pi)
        value = -size * log_gamma + 0.5 * (gamma**2 * spread + size * delta**2)
        value -= float((counts * beyond).sum())
        by_delta = size * delta - float((counts * hazard).sum())
        by_gamma = -size / gamma + gamma * spread + float((counts * hazard * cuts).sum())
        return value, np.array([by_delta, by_gamma * gamma])

    deviation = math.sqrt(spread / size) or 0.1 * max(float(cuts.max()), 1e-3)
    bounds = [(None, None), (-10.0, 10.0)]  # prevents a divergence with a single solved value
    start = np.array([0.0, -math.log(deviation)])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, tol=1e-12)
    delta, sigma = float(found.x[0]), math.exp(-float(found.x[1]))
    covariance = _covariance(delta, sigma, size, spread, cuts, counts)
    errors = np.sqrt(np.diag(covariance))
    return LogNormal(
        mu=centre + delta * sigma,
        sigma=sigma,
        mu_error=float(errors[0]),
        sigma_error=float(errors[1]),
        covariance=float(covariance[0, 1]),
        samples=size + len(limits),
        censored=len(limits),
    )


def _covariance(
    delta: float,
    sigma: float,
    size: int,
    spread: float,
    cuts: npt.NDArray[np.float64],
    counts: npt.NDArray[np.int64],
) -> npt.NDArray[np.float64]:
    """Return the covariance of (μ, σ): the inverse of the observed information at the maximum."""
    from scipy.special import log_ndtr

    z = cuts / sigma - delta
    hazard = np.exp(-0.5 * z * z - log_ndtr(-z)) / math.sqrt(2 * math.pi)
    bend = counts * hazard * (hazard - z)
    # Second derivatives of the loss by (δ, γ), γ = 1/σ, then by the chain rule to (μ, σ).
    information = np.array(
        [
            [size + bend.sum(), -(bend * cuts).sum()],
            [-(bend * cuts).sum(), size * sigma**2 + spread + (bend * cuts**2).sum()],
        ]
    )
    turn = np.array([[1 / sigma, -delta / sigma], [0.0, -1 / sigma**2]])
    if np.linalg.cond(information) > 1e12:
        return np.full((2, 2), math.inf)
    return np.asarray(np.linalg.inv(turn.T @ information @ turn))


def _exp(value: float) -> float:
    """Return the exponential, or infinity if it would overflow."""
    return math.exp(value) if value < 709 else math.inf
