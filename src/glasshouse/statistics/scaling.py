"""Scaling laws: how hardness grows with system size, and the odds between laws.

The paper chooses a power law for small frustration and exponentials for large frustration by eye
(section "Difficulty vs. Frustration"). Here every law is fitted to the same data, and the odds
between them are computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from glasshouse.statistics.intervals import student_reach
from glasshouse.statistics.samples import Estimate
from glasshouse.summaries import Summarised, SummaryTable

Law = Literal["power", "stretched", "exponential"]
Floats = npt.NDArray[np.float64]

# In each law, the logarithm of the hardness is linear in this function of n.
LAWS: dict[Law, Callable[[Floats], Floats]] = {
    "power": np.log,
    "stretched": np.sqrt,
    "exponential": lambda n: n,
}
FORMULAS: dict[Law, str] = {
    "power": "A n^b",
    "stretched": "A exp(b √n)",
    "exponential": "A exp(b n)",
}
_PARAMETERS = 3  # A, b and the scatter


@dataclass(frozen=True, eq=False, repr=False)
class LawFit(Summarised):
    """One fitted scaling law.

    Attributes:
        law: "power", "stretched" or "exponential".
        prefactor: the prefactor A.
        exponent: the exponent b.
        scatter: the deviation of the points from the curve beyond their errors, in log space.
        log_likelihood: the log-likelihood of the data at its maximum.
        points: the number of points.
        covariance: the covariance of (ln A, b).
    """

    law: Law
    prefactor: Estimate
    exponent: Estimate
    scatter: float
    log_likelihood: float
    points: int
    covariance: Floats

    @property
    def aicc(self) -> float:
        """Akaike's information criterion, corrected for few points; smaller is better."""
        k, size = _PARAMETERS, self.points
        return 2 * k - 2 * self.log_likelihood + 2 * k * (k + 1) / (size - k - 1)

    @property
    def bic(self) -> float:
        """Schwarz's Bayesian information criterion; smaller is better."""
        return _PARAMETERS * math.log(self.points) - 2 * self.log_likelihood

    def predict(self, sizes: npt.ArrayLike) -> Floats:
        """Return the values of the fitted curve at `sizes`."""
        x = LAWS[self.law](np.asarray(sizes, dtype=np.float64))
        return np.asarray(self.prefactor.value * np.exp(self.exponent.value * x))

    def band(self, sizes: npt.ArrayLike, deviations: float = 1.0) -> tuple[Floats, Floats]:
        """Return two curves: the fit shifted down and up by `deviations` standard errors."""
        x = LAWS[self.law](np.asarray(sizes, dtype=np.float64))
        (aa, ab), (_, bb) = self.covariance
        error = np.sqrt(np.maximum(aa + 2 * x * ab + x * x * bb, 0))
        middle = self.predict(sizes)
        return middle * np.exp(-deviations * error), middle * np.exp(deviations * error)

    def __str__(self) -> str:
        return f"{FORMULAS[self.law]} with A = {self.prefactor}, b = {self.exponent}"


def fit_law(
    sizes: npt.ArrayLike,
    values: npt.ArrayLike,
    law: Law,
    *,
    errors: npt.ArrayLike | None = None,
    confidence: float = 0.95,
) -> LawFit:
    """Fit one scaling law in log space, by maximum likelihood.

    `ln value_i` is taken as normal around the curve with variance `error_i² + scatter²`. The
    scatter is fitted too: no law is exact. With the errors of large samples alone, every law would
    be refuted and the odds between them meaningless.

    Args:
        sizes: the sizes n, at least five different ones.
        values: the hardness at each n, positive.
        law: "power" (A n^b), "stretched" (A exp(b √n)) or "exponential" (A exp(b n)).
        errors: the standard errors of `ln value`; None for 0.
        confidence: the confidence of the intervals.

    >>> n = np.array([10, 20, 40, 80, 160])
    >>> fit = fit_law(n, 3.0 * n**2, "power")
    >>> round(fit.prefactor.value, 6), round(fit.exponent.value, 6)
    (3.0, 2.0)
    """
    from scipy.optimize import minimize_scalar

    if law not in LAWS:
        raise ValueError(f"law={law!r} is not one of {', '.join(LAWS)}")
    n, logs, known = _points(sizes, values, errors)
    x = LAWS[law](n)

    def loss(log_scatter: float) -> float:
        return -_line(x, logs, known**2 + math.exp(2 * log_scatter))[2]

    spread = float(logs.std()) + 1e-9
    bounds = (math.log(spread) - 20, math.log(spread) + 2)
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-6})
    # A likelihood that grows to the edge means that the errors alone explain the scatter.
    scatter = math.exp(found.x) if loss(found.x) < loss(bounds[0]) else math.exp(bounds[0])
    point, covariance, likelihood = _line(x, logs, known**2 + scatter**2)
    # Two parameters were fitted along with the scatter, so the likelihood underestimates it.
    inflated = covariance * (len(n) / (len(n) - 2) if scatter > known.mean() else 1.0)
    reach = student_reach(len(n) - 2, confidence) * np.sqrt(np.diag(inflated))
    a, b = map(float, point)
    prefactor = Estimate(math.exp(a), math.exp(a - reach[0]), math.exp(a + reach[0]), confidence)
    exponent = Estimate(b, float(b - reach[1]), float(b + reach[1]), confidence)
    return LawFit(law, prefactor, exponent, scatter, likelihood, len(n), inflated)


@dataclass(frozen=True, repr=False)
class LawComparison(Summarised):
    """All laws fitted to the same data, best first.

    Attributes:
        fits: one fit per law, by ascending AICc.
        odds: the Akaike weights, in the order of `fits`; they add up to 1.
        bic_odds: the same weights from BIC.
    """

    fits: tuple[LawFit, ...]
    odds: tuple[float, ...]
    bic_odds: tuple[float, ...]

    @property
    def best(self) -> LawFit:
        """The fit with the smallest AICc."""
        return self.fits[0]

    def summary(self) -> str:
        """Return one line for each law, best first."""
        rows = self._summary_table().rows
        return "\n".join(f"{law:<12}{odds:>6} (BIC {bic})  {fit}" for law, odds, bic, fit in rows)

    def _summary_table(self) -> SummaryTable:
        """Return a row for each law, best first."""
        rows = [
            (fit.law, f"{share_:.1%}", f"{other:.1%}", str(fit))
            for fit, share_, other in zip(self.fits, self.odds, self.bic_odds, strict=True)
        ]
        return SummaryTable(rows, ("law", "odds", "BIC", "fit"))


def compare_laws(
    sizes: npt.ArrayLike,
    values: npt.ArrayLike,
    *,
    errors: npt.ArrayLike | None = None,
    confidence: float = 0.95,
) -> LawComparison:
    """Fit the power, stretched and exponential laws, and compute the odds between them.

    Args:
        sizes: the sizes n, at least five different ones.
        values: the hardness at each n.
        errors: the standard errors of `ln value`; None for 0.
        confidence: the confidence of the intervals.

    >>> n = np.arange(10, 60, 5)
    >>> compare_laws(n, 2 * np.exp(0.3 * n)).best.law
    'exponential'
    """
    fits = [fit_law(sizes, values, law, errors=errors, confidence=confidence) for law in LAWS]
    fits.sort(key=lambda fit: fit.aicc)
    odds = _weights([fit.aicc for fit in fits])
    return LawComparison(tuple(fits), odds, _weights([fit.bic for fit in fits]))


def _points(
    sizes: npt.ArrayLike, values: npt.ArrayLike, errors: npt.ArrayLike | None
) -> tuple[Floats, Floats, Floats]:
    n, y = np.asarray(sizes, dtype=np.float64), np.asarray(values, dtype=np.float64)
    known = np.zeros(len(n)) if errors is None else np.asarray(errors, dtype=np.float64)
    if not n.shape == y.shape == known.shape or n.ndim != 1:
        raise ValueError(f"{n.size} sizes, {y.size} values, {known.size} errors; pass equally many")
    if len(np.unique(n)) < _PARAMETERS + 2:
        raise ValueError(
            f"{len(np.unique(n))} sizes are too few to distinguish laws; measure at least "
            f"{_PARAMETERS + 2}"
        )
    if not ((n > 0).all() and (y > 0).all() and np.isfinite(y).all()):
        raise ValueError("sizes and values must be positive and finite; the fit uses logarithms")
    if not (np.isfinite(known).all() and (known >= 0).all()):
        raise ValueError("errors must be finite and at least 0")
    return n, np.log(y), known


def _line(x: Floats, y: Floats, variance: Floats) -> tuple[Floats, Floats, float]:
    """Fit a weighted line: return (intercept, slope), their covariance, and the log-likelihood."""
    line, covariance = np.polyfit(x, y, 1, w=variance**-0.5, cov="unscaled")
    rest = y - np.polyval(line, x)
    likelihood = -0.5 * float((rest**2 / variance + np.log(2 * math.pi * variance)).sum())
    return line[::-1], covariance[::-1, ::-1], likelihood


def _weights(criteria: list[float]) -> tuple[float, ...]:
    relative = np.exp(-0.5 * (np.array(criteria) - min(criteria)))
    return tuple(float(w) for w in relative / relative.sum())


@dataclass(frozen=True, repr=False)
class Extrapolation(Summarised):
    """A value extrapolated to infinite size by fitting the line limit + slope / size.

    Attributes:
        limit: the value at 1/size = 0.
        slope: the change of the value with 1/size.
        chi_squared: the sum of squared deviations in units of the errors.
        degrees: points minus 2; chi_squared should be about as large.
    """

    limit: Estimate
    slope: Estimate
    chi_squared: float
    degrees: int

    def summary(self) -> str:
        """Return the limit, the slope and χ² as one line of text."""
        return (
            f"limit {self.limit.value:.6g} ({self.limit.low:.6g} to {self.limit.high:.6g}), slope "
            f"{self.slope.value:.3g} in 1/size, chi² {self.chi_squared:.3g} of {self.degrees} "
            "degrees of freedom"
        )


def extrapolate(
    sizes: npt.ArrayLike, values: npt.ArrayLike, errors: npt.ArrayLike, confidence: float = 0.95
) -> Extrapolation:
    """Extrapolate means to infinite size with a linear fit in 1/size, weighted by the errors.

    The errors are taken as they are, so the interval does not shrink if the points lie on the line
    by luck; it grows with sqrt(chi²/degrees) if they do not.

    >>> found = extrapolate([4, 8, 16], [-1.30, -1.35, -1.375], [0.01, 0.01, 0.01])
    >>> round(found.limit.value, 3), found.limit.low < -1.4 < found.limit.high
    (-1.4, True)
    """
    from scipy.special import ndtri

    x, y, error = (np.asarray(one, dtype=np.float64) for one in (sizes, values, errors))
    if (number := len(np.unique(x))) < 3:
        raise ValueError(f"{number} sizes are too few to extrapolate in 1/size; measure at least 3")
    if not ((x > 0).all() and np.isfinite(y).all() and np.isfinite(error).all()):
        raise ValueError("sizes must be positive, and values and errors must be finite")
    error = np.maximum(error, 1e-12 * max(float(np.abs(y).max()), 1e-300))
    design = np.column_stack([np.ones(len(x)), 1 / x]) / error[:, None]
    covariance = np.linalg.inv(design.T @ design)
    found = covariance @ design.T @ (y / error)
    chi_squared = float(((design @ found - y / error) ** 2).sum())
    degrees = len(x) - 2
    reach = float(ndtri((1 + confidence) / 2)) * math.sqrt(max(1.0, chi_squared / degrees))
    spread = reach * np.sqrt(np.diag(covariance))
    limit, slope = (
        Estimate(float(value), float(value - wide), float(value + wide), confidence)
        for value, wide in zip(found, spread, strict=True)
    )
    return Extrapolation(limit, slope, chi_squared, degrees)
