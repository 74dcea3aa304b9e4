"""Scaling laws and peaks recovered from synthetic data."""

from __future__ import annotations

import numpy as np
import pytest

from glasshouse.statistics.peaks import fit_decay, hardness_peak
from glasshouse.statistics.scaling import LAWS, compare_laws, fit_law

# The paper's own fits (caption of its frustration figure, corrected) over the sizes it could use.
PAPER = {
    "power": (0.0225, 2.0259, np.arange(30, 201, 10)),
    "stretched": (6.2343, 0.7227, np.arange(20, 101, 10)),
    "exponential": (13.3808, 0.2564, np.arange(10, 41, 5)),
}


def noisy(law: str, seed: int, error: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    prefactor, exponent, sizes = PAPER[law]
    rng = np.random.default_rng(seed)
    logs = np.log(prefactor) + exponent * LAWS[law](sizes.astype(float))
    return sizes, np.exp(logs + error * rng.standard_normal(len(sizes))), np.full(len(sizes), error)


@pytest.mark.parametrize("law", list(LAWS))
def test_the_right_law_wins(law):
    for seed in range(5):
        sizes, values, errors = noisy(law, seed, 0.03)
        found = compare_laws(sizes, values, errors=errors)
        assert found.best.law == law
        assert found.odds[0] > 0.9
        assert sum(found.odds) == pytest.approx(1)
        assert sum(found.bic_odds) == pytest.approx(1)


@pytest.mark.parametrize("law", list(LAWS))
@pytest.mark.parametrize("known", [True, False])
def test_intervals_hold_the_truth_as_often_as_they_say(law, known):
    # 200 intervals of 90 %: fewer than 168 or more than 193 have a probability below 1 in 200.
    prefactor, exponent, _ = PAPER[law]
    hits = np.zeros(2)
    for seed in range(200):
        sizes, values, errors = noisy(law, seed, 0.1)
        fit = fit_law(sizes, values, law, errors=errors if known else None, confidence=0.9)
        hits += [
            fit.prefactor.low <= prefactor <= fit.prefactor.high,
            fit.exponent.low <= exponent <= fit.exponent.high,
        ]
    # With known errors and a fitted scatter the intervals are somewhat too wide, never too narrow.
    assert (hits >= 168).all()
    assert known or (hits <= 193).all()


def test_more_scatter_than_the_errors_say_is_found():
    sizes, values, errors = noisy("power", 1, 0.2)
    fit = fit_law(sizes, values, "power", errors=errors / 20)
    assert 0.1 < fit.scatter < 0.4
    assert fit_law(sizes, values, "power", errors=errors * 3).scatter < 1e-3


def test_the_band_is_centred_on_the_curve_and_narrowest_inside():
    fit = fit_law(*noisy("power", 2, 0.1)[:2], "power")
    low, high = fit.band([30, 80, 200, 1000])
    assert np.sqrt(low * high) == pytest.approx(fit.predict([30, 80, 200, 1000]))
    width = np.log(high / low)
    assert width[1] < width[0] < width[3]


@pytest.mark.parametrize(
    ("sizes", "values", "words"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 4], "too few"),
        ([1, 2, 3, 4, 5], [1, 2, 3, 4], "pass equally many"),
        ([1, 2, 3, 4, 5], [1, 2, 3, 4, 0], "positive"),
        ([1, 2, 3, 4, 5], [1, 2, 3, 4, np.inf], "finite"),
    ],
)
def test_bad_points_are_refused(sizes, values, words):
    with pytest.raises(ValueError, match=words):
        compare_laws(sizes, values)


def hill(rng: np.random.Generator, error: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A skewed hill over the paper's densities, with its maximum at exp(-0.8) = 0.449."""
    x = np.log(0.1) + np.log(1.12) * np.arange(1, 21) + 0.8
    heights = 6.0 - 1.5 * x**2 - 0.4 * x**3
    values = np.exp(heights + error * rng.standard_normal(len(x)))
    return np.exp(x - 0.8), values, np.full(len(x), error)


def test_the_peak_interval_holds_the_truth_as_often_as_it_says():
    # 25 intervals of 90 %: fewer than 18 have a probability below 1 in 100.
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(25):
        densities, values, errors = hill(rng, 0.05)
        peak = hardness_peak(densities, values, errors=errors, confidence=0.9)
        hits += peak.density.low <= np.exp(-0.8) <= peak.density.high
        assert not peak.at_edge
    assert hits >= 18


def test_a_rising_curve_has_its_peak_at_the_edge():
    densities = np.geomspace(0.1, 1, 20)
    assert hardness_peak(densities, densities**2, errors=np.full(20, 0.01)).at_edge


def test_too_few_densities_are_refused():
    with pytest.raises(ValueError, match="too few to locate a peak"):
        hardness_peak([1, 2, 3], [1, 2, 1], errors=[1, 1, 1])


def test_the_decay_is_recovered_from_noisy_peaks():
    rng = np.random.default_rng(2)
    n = np.arange(30, 201, 10)
    truth = 0.3035 + 0.2952 * np.exp(-0.0196 * n)
    fit = fit_decay(n, truth + 0.005 * rng.standard_normal(len(n)), errors=np.full(len(n), 0.005))
    for estimate, expected in [(fit.plateau, 0.3035), (fit.amplitude, 0.2952), (fit.rate, 0.0196)]:
        assert estimate.low < expected < estimate.high
    assert np.abs(fit.predict(n) - truth).max() < 0.01
