"""Statistics against simulation and against independent formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.statistics.estimators import (
    geometric_mean,
    lognormality,
    median,
    quantile,
    statistic,
    survival,
)
from glasshouse.statistics.intervals import binomial_interval, median_of
from glasshouse.statistics.lognormal import fit_lognormal
from glasshouse.statistics.samples import Estimate, Sample

sweeps = st.lists(st.integers(1, 10_000), min_size=1, max_size=40)


def censored_sample(rng: np.random.Generator, size: int, limit: float) -> Sample:
    drawn = np.exp(rng.normal(5.0, 1.2, size))
    return Sample(np.minimum(drawn, limit), drawn <= limit)


def negative_log_likelihood(sample: Sample, mu: float, sigma: float) -> float:
    from scipy.stats import norm

    z = (np.log(sample.values) - mu) / sigma
    terms = np.where(sample.solved, norm.logpdf(z) - math.log(sigma), norm.logsf(z))
    return -float(terms.sum())


class TestLogNormal:
    @given(st.lists(st.integers(1, 10_000), min_size=2, max_size=40))
    def test_without_censoring_it_is_the_paper_s_estimator(self, values):
        fit = fit_lognormal(values)
        logs = np.log(values)
        assert fit.mu == pytest.approx(logs.mean())
        assert fit.sigma == pytest.approx(logs.std(ddof=1))
        assert fit.paper_95().value == pytest.approx(math.exp(fit.mu + 2 * fit.sigma))
        assert fit.paper_5().value == pytest.approx(math.exp(fit.mu - 2 * fit.sigma))

    def test_the_true_95th_percentile_is_below_the_paper_s(self):
        fit = fit_lognormal([10, 20, 40, 80])
        assert fit.quantile(0.95).value == pytest.approx(math.exp(fit.mu + 1.6448536 * fit.sigma))
        assert fit.quantile(0.97724987).value == pytest.approx(fit.paper_95().value)

    @given(st.integers(0, 50), st.floats(0.2, 0.95))
    def test_censored_fit_is_the_maximum_of_the_likelihood(self, seed, kept):
        rng = np.random.default_rng(seed)
        sample = censored_sample(rng, 60, math.exp(5.0 + 1.2 * (2 * kept - 1)))
        if sample.solved.sum() < 2 or sample.solved.all():
            return
        fit = fit_lognormal(sample.values, solved=sample.solved)
        best = negative_log_likelihood(sample, fit.mu, fit.sigma)
        for mu_step, sigma_factor in [(1e-2, 1), (-1e-2, 1), (0, 1.01), (0, 0.99)]:
            other = negative_log_likelihood(sample, fit.mu + mu_step, fit.sigma * sigma_factor)
            assert best <= other + 1e-9

    def test_censored_fit_recovers_the_truth_where_dropping_does_not(self):
        # 20 samples of 4000 with 31 % censored; the mean of mu has an error of 0.005.
        rng = np.random.default_rng(7)
        found = []
        for _ in range(20):
            sample = censored_sample(rng, 4000, math.exp(5.6))
            found.append(fit_lognormal(sample.values, solved=sample.solved))
        assert np.mean([fit.mu for fit in found]) == pytest.approx(5.0, abs=0.025)
        assert np.mean([fit.sigma for fit in found]) == pytest.approx(1.2, abs=0.025)
        assert np.log(sample.values[sample.solved]).mean() < 4.7

    def test_intervals_hold_the_truth_as_often_as_they_say(self):
        # 300 intervals of 90 %: outside 255..285 with probability below 1 in 250.
        rng = np.random.default_rng(3)
        hits = 0
        for _ in range(300):
            sample = censored_sample(rng, 200, math.exp(6.0))
            estimate = geometric_mean(sample.values, solved=sample.solved, confidence=0.9)
            hits += estimate.low <= math.exp(5.0) <= estimate.high
        assert 255 <= hits <= 285

    def test_one_value_has_no_error(self):
        estimate = fit_lognormal([7]).geometric_mean()
        assert estimate.value == pytest.approx(7)
        assert (estimate.low, estimate.high) == (0.0, math.inf)

    def test_nothing_solved_is_refused(self):
        with pytest.raises(ValueError, match="none of the 2 instances was solved"):
            fit_lognormal([5, 5], solved=[False, False])

    def test_one_solved_and_many_censored_stays_finite(self):
        fit = fit_lognormal([10] + [100] * 9, solved=[True] + [False] * 9)
        assert math.isfinite(fit.mu)
        assert fit.mu > math.log(10)


class TestQuantile:
    @given(sweeps, st.floats(0.01, 0.99))
    def test_it_is_numpy_s_inverted_cdf(self, values, q):
        assert quantile(values, q).value == np.quantile(values, q, method="inverted_cdf")

    @given(sweeps)
    def test_censoring_above_the_median_does_not_move_it(self, values):
        ordered = sorted(values)
        limit = ordered[(3 * len(values)) // 4]
        solved = [value <= limit for value in values]
        if not all(solved):
            cut = [min(value, limit) for value in values]
            assert median(cut, solved=solved).value == median(values).value

    def test_the_exact_bootstrap_agrees_with_resampling(self):
        rng = np.random.default_rng(5)
        values = np.exp(rng.normal(3, 1, 101))
        drawn = rng.choice(values, (20_000, 101))
        resampled = np.quantile(drawn, 0.7, axis=1, method="inverted_cdf")
        low, high = np.quantile(resampled, [0.05, 0.95], method="inverted_cdf")
        estimate = quantile(values, 0.7, confidence=0.9)
        order = np.sort(values)
        for found, expected in [(estimate.low, low), (estimate.high, high)]:
            ranks = np.searchsorted(order, [found, expected])
            assert abs(int(ranks[0]) - int(ranks[1])) <= 1

    def test_a_quantile_among_the_censored_is_a_lower_bound(self):
        estimate = quantile([5] * 10, 0.5, solved=[False] * 10)
        assert estimate.value == math.inf
        assert estimate.low == 5
        assert estimate.relative_error == math.inf
        assert str(estimate) == "above 5"

    def test_giving_up_below_solved_values_is_refused(self):
        with pytest.raises(ValueError, match="use survival"):
            quantile([5, 10], 0.5, solved=[False, True])

    @pytest.mark.parametrize("q", [0, 1, -1, math.nan])
    def test_q_outside_is_refused(self, q):
        with pytest.raises(ValueError, match="above 0 and below 1"):
            quantile([1, 2], q)

    @pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
    def test_intervals_have_the_ranks_of_scipy_stats(self, confidence):
        from scipy.stats import beta, quantile_test

        tails = np.array([(1 - confidence) / 2, (1 + confidence) / 2])
        for size in range(1, 120):
            values = np.arange(1.0, size + 1)
            low, high = quantile_test(values, p=0.5).confidence_interval(confidence)
            found = median_of(values[::-1], confidence)
            expected = (-math.inf, math.inf) if math.isnan(low) else (low, high)
            assert (found.low, found.high) == expected
            for rank in {(size + 9) // 10, (size + 1) // 2, (9 * size) // 10} - {0, size}:
                found = quantile(values, rank / size, confidence=confidence)
                ends = np.ceil(size * beta.ppf(tails, rank, size - rank + 1)).clip(1)
                assert [found.low, found.high] == ends.tolist()


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("number", [1, 2, 64, 10_000_000])
def test_exact_intervals_of_all_or_no_runs_are_those_of_scipy_stats(number, confidence):
    from scipy.stats import binomtest

    for successes in (0, number):
        expected = binomtest(successes, number).proportion_ci(confidence, "exact")
        found = binomial_interval(successes, number, confidence)
        assert found == pytest.approx(tuple(expected), rel=1e-9)


class TestSurvival:
    @given(sweeps)
    def test_without_censoring_it_counts_what_is_larger(self, values):
        curve = survival(values)
        for at, unsolved in zip(curve.sweeps, curve.unsolved, strict=True):
            assert unsolved == pytest.approx(np.mean(np.array(values) > at))

    def test_a_textbook_curve(self):
        # Times 1 2+ 3 4+ 5: 4/5, then 4/5·2/3, then 0.
        curve = survival([1, 2, 3, 4, 5], solved=[True, False, True, False, True])
        assert curve.unsolved == pytest.approx([4 / 5, 8 / 15, 0])
        assert curve.quantile(0.4) == 3
        assert (curve.low <= curve.unsolved).all()
        assert (curve.unsolved <= curve.high).all()

    @pytest.mark.filterwarnings("ignore:The confidence interval is undefined")
    def test_it_agrees_with_scipy(self):
        from scipy.stats import CensoredData, ecdf

        rng = np.random.default_rng(4)
        values = rng.integers(1, 30, 60).astype(float)
        solved = rng.random(60) < 0.6
        solved[values == values.max()] = False  # the curve must never touch 0
        curve = survival(values, solved=solved, confidence=0.9)
        other = ecdf(CensoredData.right_censored(values, ~solved)).sf
        bounds = other.confidence_interval(0.9, method="log-log")
        at = np.searchsorted(other.quantiles, curve.sweeps)
        assert curve.unsolved == pytest.approx(other.probabilities[at])
        assert curve.low == pytest.approx(bounds.low.probabilities[at])
        assert curve.high == pytest.approx(bounds.high.probabilities[at])

    def test_all_censored_has_no_steps(self):
        curve = survival([3, 3], solved=[False, False])
        assert len(curve.sweeps) == 0
        assert curve.quantile(0.1) == math.inf


class TestLogNormality:
    def test_false_alarms_are_as_rare_as_stated(self):
        # 100 checks at 10 %: more than 19 false alarms have a probability below 1 in 500.
        rng = np.random.default_rng(11)
        alarms = [lognormality(np.exp(rng.normal(4, 1, 50)), resamples=49).p_value <= 0.1
                  for _ in range(100)]  # fmt: skip
        assert 1 <= sum(alarms) <= 19

    def test_censored_log_normals_pass_and_others_do_not(self):
        rng = np.random.default_rng(12)
        sample = censored_sample(rng, 200, math.exp(6.0))
        fits = lognormality(sample.values, solved=sample.solved, resamples=99)
        assert fits.p_value > 0.05
        bent = rng.uniform(1, 2, 400)
        cut = lognormality(np.minimum(bent, 1.8), solved=bent <= 1.8, resamples=99)
        assert cut.p_value == 0.01

    def test_equal_values_are_refused(self):
        with pytest.raises(ValueError, match="all values are equal"):
            lognormality([4, 4, 4])


class TestStatisticByName:
    def test_every_name(self):
        sample = Sample.of([10, 20, 30, 40, 1000])
        assert statistic(sample, "median").value == 30
        assert statistic(sample, "quantile_95").value == 1000
        fit = fit_lognormal(sample.values)
        assert statistic(sample, "paper_95") == fit.paper_95()
        assert statistic(sample, "geometric_mean") == fit.geometric_mean()

    def test_an_unknown_name_is_refused(self):
        with pytest.raises(ValueError, match="not one of"):
            statistic(Sample.of([1]), "mode")


@pytest.mark.parametrize(
    ("values", "solved", "words"),
    [
        ([], None, "empty sample"),
        ([1, 0], None, "positive"),
        ([1, math.nan], None, "positive"),
        ([1, 2], [True], "solved has 1 entries"),
    ],
)
def test_bad_samples_are_refused(values, solved, words):
    with pytest.raises(ValueError, match=words):
        Sample.of(values, solved)


def test_relative_error_is_half_the_width():
    assert Estimate(10.0, 8.0, 13.0, 0.95).relative_error == 0.25
