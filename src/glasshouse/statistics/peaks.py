"""The hardness peak: the loop density of the hardest instances, and its dependence on n."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glasshouse.problems.validation import share
from glasshouse.statistics.intervals import student_reach
from glasshouse.statistics.samples import Estimate
from glasshouse.summaries import Summarised

Floats = npt.NDArray[np.float64]

_RESAMPLES = 400
_DEGREE = 3  # a skewed hill: a parabola would be biased to the flatter side


@dataclass(frozen=True, repr=False)
class Peak(Summarised):
    """The maximum of the hardness as a function of the loop density.

    Attributes:
        density: the location, with its interval.
        height: the fitted hardness at the peak.
        points: the number of measured points in the local fit.
        at_edge: whether the maximum is at an end of the measured range; then it is not a peak.
    """

    density: Estimate
    height: float
    points: int
    at_edge: bool


def hardness_peak(
    densities: npt.ArrayLike,
    values: npt.ArrayLike,
    *,
    errors: npt.ArrayLike,
    window: float = 0.5,
    confidence: float = 0.95,
) -> Peak:
    """Locate the hardness peak (section "Hardness Peak"), with an interval.

    A cubic in the logarithm of the density is fitted to the logarithm of the hardness, around the
    highest point and weighted by the errors; its maximum is the peak. The interval is a parametric
    bootstrap of the whole procedure, including the choice of the window.

    Args:
        densities: the loop densities, positive; they may repeat.
        values: the hardness at each density.
        errors: the standard errors of `ln value`, positive.
        window: the fit uses points within this distance in ln density of the highest point.
        confidence: the confidence of the interval.

    >>> x = np.linspace(0.2, 0.9, 40)
    >>> y = 100 * np.exp(-((np.log(x / 0.45)) ** 2))
    >>> round(hardness_peak(x, y, errors=np.full(40, 0.01)).density.value, 2)
    0.45
    """
    x, y, sigma = _checked(densities, values, errors)
    location, height, used, at_edge = _locate(x, y, sigma, window)
    rng = np.random.default_rng(0)  # a fixed seed makes the interval reproducible
    tries = [_locate(x, y + sigma * rng.standard_normal(len(y)), sigma, window)[0]
             for _ in range(_RESAMPLES)]  # fmt: skip
    tail = (1 - share(confidence, "confidence")) / 2
    low, high = np.exp(np.quantile(tries, [tail, 1 - tail]))
    return Peak(
        Estimate(math.exp(location), float(low), float(high), confidence),
        math.exp(height), used, at_edge,
    )  # fmt: skip


def _checked(
    densities: npt.ArrayLike, values: npt.ArrayLike, errors: npt.ArrayLike
) -> tuple[Floats, Floats, Floats]:
    arrays = [np.asarray(a, dtype=np.float64) for a in (densities, values, errors)]
    if len({array.shape for array in arrays}) != 1 or arrays[0].ndim != 1:
        sizes = ", ".join(str(array.size) for array in arrays)
        raise ValueError(f"densities, values and errors have different sizes: {sizes}")
    for name, array in zip(("densities", "values", "errors"), arrays, strict=True):
        if not (np.isfinite(array).all() and (array > 0).all()):
            raise ValueError(f"{name} must all be positive and finite")
    if len(np.unique(arrays[0])) < _DEGREE + 2:
        raise ValueError(
            f"{len(np.unique(arrays[0]))} densities are too few to locate a peak; measure at least "
            f"{_DEGREE + 2}"
        )
    x, y, sigma = arrays
    return np.log(x), np.log(y), sigma


def _locate(
    x: Floats, y: Floats, sigma: Floats, window: float
) -> tuple[float, float, int, bool]:  # fmt: skip
    """Return a cubic fit's peak: ln density, ln height, number of points, whether at an edge."""
    centre = x[np.argmax(smoothed(x, y, sigma, x))]
    near = np.abs(x - centre) <= window
    while len(np.unique(x[near])) < _DEGREE + 2:
        window *= 1.5
        near = np.abs(x - centre) <= window
    shifted = x[near] - centre
    cubic = np.polynomial.Polynomial.fit(shifted, y[near], _DEGREE, w=1 / sigma[near])
    grid = np.linspace(shifted.min(), shifted.max(), 2001)
    heights = cubic(grid)
    # The cubic is trusted only in the middle of its window: near the ends it may rise again.
    inside = np.abs(grid) <= window / 2
    place = int(np.flatnonzero(inside)[np.argmax(heights[inside])])
    location = float(centre + grid[place])
    span = x.max() - x.min()
    at_edge = min(location - x.min(), x.max() - location) < 0.02 * span
    return location, float(heights[place]), int(near.sum()), bool(at_edge)


def smoothed(x: Floats, y: Floats, sigma: Floats, at: Floats, width: float = 0.12) -> Floats:
    """Average y around the positions `at`, so that one lucky point is not mistaken for the peak.

    Args:
        x: the positions at which y was measured.
        y: the measured values.
        sigma: the standard errors of y.
        at: the positions of the averages.
        width: the width of the Gaussian kernel.
    """
    weight = np.exp(-0.5 * ((at[:, None] - x) / width) ** 2) / sigma**2
    return np.asarray((weight @ y) / weight.sum(axis=1))


@dataclass(frozen=True, eq=False, repr=False)
class DecayFit(Summarised):
    """The paper's fit of the peak density: `plateau + amplitude · exp(-rate · n)`.

    Attributes:
        plateau: the density of large systems; 0.3035 in the paper.
        amplitude: the excess at n = 0; 0.2952 in the paper.
        rate: the decay rate; 0.0196 in the paper.
    """

    plateau: Estimate
    amplitude: Estimate
    rate: Estimate

    def predict(self, sizes: npt.ArrayLike) -> Floats:
        """Return the values of the fitted curve at `sizes`."""
        n = np.asarray(sizes, dtype=np.float64)
        return np.asarray(self.plateau.value + self.amplitude.value * np.exp(-self.rate.value * n))

    def __str__(self) -> str:
        return f"({self.plateau}) + ({self.amplitude}) exp(-({self.rate}) n)"


def fit_decay(
    sizes: npt.ArrayLike, densities: npt.ArrayLike, *, errors: npt.ArrayLike,
    confidence: float = 0.95,
) -> DecayFit:  # fmt: skip
    """Fit the decay of the peak density with system size (paper, equation in section 6.2).

    Args:
        sizes: at least four sizes n.
        densities: the peak density at each n.
        errors: the standard errors of the densities.
        confidence: the confidence of the intervals.

    >>> n = np.arange(30, 201, 10)
    >>> fit = fit_decay(n, 0.3035 + 0.2952 * np.exp(-0.0196 * n), errors=np.full(18, 0.01))
    >>> round(fit.plateau.value, 4), round(fit.amplitude.value, 4), round(fit.rate.value, 4)
    (0.3035, 0.2952, 0.0196)
    """
    from scipy.optimize import curve_fit

    n, y, sigma = (np.asarray(a, dtype=np.float64) for a in (sizes, densities, errors))
    if not n.shape == y.shape == sigma.shape or len(n) < 4:
        raise ValueError("a decay fit needs at least 4 sizes, each with a density and an error")
    start = [y[np.argmax(n)], max(np.ptp(y), 1e-3), 1 / n.mean()]

    def curve(at: Floats, plateau: float, amplitude: float, rate: float) -> Floats:
        return np.asarray(plateau + amplitude * np.exp(-rate * at))

    try:
        # Errors serve as relative weights here, because a fit of three parameters is never exact.
        point, covariance = curve_fit(curve, n, y, start, sigma, maxfev=20_000)
    except RuntimeError:
        raise ValueError(
            "the fit of a + b·exp(-c·n) to the densities failed; measure more sizes"
        ) from None
    deviations = student_reach(max(len(n) - 3, 1), confidence) * np.sqrt(np.diag(covariance))
    estimates = [
        Estimate(float(v), float(v - d), float(v + d), confidence)
        for v, d in zip(point, deviations, strict=True)
    ]
    return DecayFit(*estimates)
