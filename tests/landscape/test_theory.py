import math

import numpy as np
import pytest
from scipy.special import iv

from glasshouse.landscape import (
    energy_gap_variance,
    expected_frustration,
    expected_intersections,
    expected_local_minima,
    frustration_index,
    local_field_dispersion,
    local_minima,
)
from glasshouse.problems import Rbm


@pytest.mark.parametrize(
    ("rate", "value"), [(0.5, 0.0371418), (1, 0.1213945), (2, 0.3484289), (4, 0.8660130)]
)
def test_errata_intersections_an_edge(rate, value):
    n, m = 1000, 2000
    loops = round(rate * n * m / 4)
    an_edge = expected_intersections(n, m, loops) / (n * m)
    assert an_edge == pytest.approx(value, abs=5e-8)
    k = np.arange(1, 120)
    series = (k * (3 ** (-k / 2) + 3 ** (k / 2)) * iv(k, math.sqrt(3) / 2 * rate)).sum()
    assert an_edge == pytest.approx(rate / 2 - math.exp(-rate) * series / 2, abs=1e-12)


def test_intersections_tend_to_the_number_of_loops():
    assert expected_intersections(10, 10, 0) == 0
    for loops in (10**5, 10**9, 10**15):
        assert expected_intersections(10, 10, loops) == pytest.approx(loops, rel=1e-6)
    counts = [expected_intersections(20, 20, loops) / loops for loops in (1, 10, 100, 1000)]
    assert counts == sorted(counts)


def test_expected_frustration_is_that_of_dropped_loops():
    # Mean of 200 instances; its standard error is about 0.0005, so 0.005 is never missed by chance
    # (ten standard errors); the formula's own bias at this size is below 0.002.
    rng = np.random.default_rng(5)
    n, m, loops = 30, 30, 400
    found = []
    for _ in range(200):
        weights = np.zeros((n, m), dtype=np.int64)
        for _ in range(loops):
            i = rng.choice(n, 2, replace=False)
            j = rng.choice(m, 2, replace=False)
            weights[np.ix_(i, j)] += 1
            weights[i[0], j[0]] -= 2
        found.append(float(frustration_index(Rbm(weights), np.ones(n + m))))
    assert np.mean(found) == pytest.approx(expected_frustration(n, m, loops), abs=0.005)


def test_errata_expected_local_minima():
    expected = expected_local_minima(10, frustration="3/13")
    assert expected.total == pytest.approx(2.77959, abs=5e-6)
    assert expected.planted == pytest.approx(0.64351, abs=5e-6)
    assert expected.others == pytest.approx(2.77959 - 2 * 0.64351, abs=2e-5)


def test_expected_local_minima_stays_finite_when_large():
    huge = expected_local_minima(1000, frustration=0.2)
    assert huge.total == pytest.approx(2, abs=0.01)
    assert huge.planted == pytest.approx(1, abs=1e-3)


def test_errata_the_formula_misses_the_growth_of_exact_counts():
    """Alpha = 0.9: the exact mean grows with n (9.7, 51, 158 at 4, 8, 10), the formula stays."""
    rng = np.random.default_rng(1)

    def exact(n: int, samples: int) -> float:
        draws = (rng.choice([10, 10, 10, -9], (n, n)) for _ in range(samples))
        return float(np.mean([local_minima(Rbm(w)).count for w in draws]))

    # Standard errors are about 0.25 and 2.5: both bounds are more than six of them away.
    assert exact(4, 400) < 15
    assert exact(8, 200) > 30
    assert all(expected_local_minima(n, frustration="3/13").total < 2.8 for n in range(1, 60))


@pytest.mark.parametrize(("block", "value"), [(0.1, 15.14), (0.2, 12.02), (0.5, 10.28)])
def test_errata_dispersion(block, value):
    found = local_field_dispersion(1000, 1000, frustration="33/133", block=block, aligned=0.8)
    assert found == pytest.approx(value, abs=0.005)


def test_dispersion_is_that_of_sampled_fields():
    # 40,000 samples: the standard error of a standard deviation is 0.35 %; 2 % is six of them.
    rng = np.random.default_rng(2)
    n, loops, block, aligned, epsilon, samples = 100, 50, 0.2, 0.7, 0.1, 40_000
    inside = rng.hypergeometric(int(n * aligned), n - int(n * aligned), int(n * block), samples)
    up = rng.binomial(loops, inside / (n * block))
    down = rng.binomial(loops, (n * aligned - inside) / (n * (1 - block)))
    fields = 2 * up * (epsilon - 1) + 2 * down - epsilon * loops
    assert fields.mean() == pytest.approx(loops * epsilon * (2 * aligned - 1), abs=0.5)
    found = local_field_dispersion(n, loops, frustration="9/39", block=block, aligned=aligned)
    spread = found * loops * epsilon * (2 * aligned - 1)
    assert fields.std() == pytest.approx(spread, rel=0.02)


def test_dispersion_without_a_mean_is_infinite():
    assert local_field_dispersion(10, 5, frustration="1/4", block=0.5, aligned=0.8) == math.inf
    assert local_field_dispersion(10, 5, frustration="1/5", block=0.5, aligned=0.5) == math.inf


def test_energy_gap_variance_is_that_of_random_states():
    # 20,000 samples of a variance: standard error 1 %; 6 % is six of them.
    rng = np.random.default_rng(3)
    n, m, mean, deviation, samples = 6, 5, 0.5, 2.0, 20_000
    gaps = np.empty(samples)
    for k in range(samples):
        weights = rng.normal(mean, deviation, (n, m))
        v, h = rng.choice([-1, 1], n), rng.choice([-1, 1], m)
        other = v.copy()
        other[:2] *= -1  # |F| = 2m of nm pairs
        gaps[k] = v @ weights @ h - other @ weights @ h
    expected = energy_gap_variance(n, m, distance=2 / 6, mean=mean, deviation=deviation)
    assert gaps.var() == pytest.approx(expected, rel=0.06)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match=r"frustration=0.3 must be from 0 to 1/4"):
        expected_local_minima(4, frustration=0.3)
    with pytest.raises(ValueError, match="is not a finite fraction"):
        expected_local_minima(4, frustration="a lot")
    with pytest.raises(ValueError, match="block=1 must be above 0"):
        local_field_dispersion(10, 5, frustration=0.2, block=1, aligned=0.5)
    with pytest.raises(ValueError, match="aligned=2"):
        local_field_dispersion(10, 5, frustration=0.2, block=0.5, aligned=2)
    with pytest.raises(ValueError, match="distance=2"):
        energy_gap_variance(2, 2, distance=2)
    with pytest.raises(ValueError, match="deviation=-1"):
        energy_gap_variance(2, 2, distance=1, deviation=-1)
    with pytest.raises(ValueError, match="n=1 is below 2"):
        expected_intersections(1, 4, 2)
    with pytest.raises(ValueError, match="loops=0 is below 1"):
        expected_frustration(4, 4, 0)
