"""Run lengths are optimised where the optimum is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from glasshouse.statistics import Estimate, Sample
from glasshouse.studies import Task
from paper.sweep_schedule import Optimum, fit_schedule, optimal_sweeps, optimise_schedule


def pretended(task: Task, instances: int) -> Sample:
    """A hardness whose optimum is 3n sweeps times (1 + 10 f), with a parabola in log space."""
    n, f = task.parameters["n"], float(task.grow(0).summary().frustration)
    best = 3 * n * (1 + 10 * f)
    density = task.grow(0).loops.num_loops / n
    level = 5 + np.log(task.schedule.sweeps_per_run / best) ** 2
    level -= 2 * np.log(density / (0.3 + 0.3 * np.exp(-0.02 * n))) ** 2
    rng = np.random.default_rng(task.schedule.sweeps_per_run)
    return Sample.of(np.exp(level + 0.2 * rng.standard_normal(instances)) + 1)


class TestRunLength:
    def test_a_known_optimum_is_found(self):
        found = optimal_sweeps(40, 0.1, 0.5, instances=2000, start=20, rng=0, measure=pretended)
        assert found.sweeps_per_run == pytest.approx(3 * 40 * 2, rel=0.15)
        assert min(found.tries, key=lambda t: t[1])[0] == pytest.approx(240, rel=0.5)

    def test_a_real_family_has_an_optimum_inside(self):
        found = optimal_sweeps(30, 0.15, 0.47, instances=150, start=20, rng=0)
        lengths = [length for length, _ in found.tries]
        assert min(lengths) < found.sweeps_per_run < max(lengths)

    def test_a_product_of_polynomials_is_recovered(self):
        optima = [
            Optimum(n, f, 0.4, (0.5 * n**2 - 13 * n + 311) * (1 + 20 * f**2 + 90 * f**3),
                    Estimate(1.0, 1.0, 1.0, 0.95), ())
            for n in (30, 40, 50, 60, 70, 80) for f in (0.05, 0.075, 0.1, 0.125, 0.15, 0.175)
        ]  # fmt: skip
        fit = fit_schedule(optima)
        assert fit.scatter < 1e-4
        for o in optima:
            assert fit.sweeps_per_run(o.size, o.frustration) == pytest.approx(
                o.sweeps_per_run, abs=1
            )
        with pytest.raises(ValueError, match="too few"):
            fit_schedule(optima[:5])

    def test_both_iterations_of_the_paper(self):
        done = optimise_schedule((30, 40, 50, 60), (0.05, 0.1, 0.15, 0.2), instances=1000,
                                 rng=0, measure=pretended)  # fmt: skip
        # The pretended optimum does not depend on the density: both iterations find it.
        for schedule in (done.first, done.second):
            assert schedule.sweeps_per_run(50, 0.1) == pytest.approx(300, rel=0.15)
        assert float(done.peak.predict(40)) == pytest.approx(0.3 + 0.3 * math.exp(-0.8), rel=0.1)
