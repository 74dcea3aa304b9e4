"""Tuning hits its target, and run lengths are optimised where the optimum is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from glasshouse.studies import Annealer
from glasshouse.studies.statistics.estimators import median
from glasshouse.studies.statistics.samples import Estimate, Sample
from glasshouse.studies.sweep_schedule import (
    Optimum,
    fit_schedule,
    optimal_sweeps,
    optimise_schedule,
)
from glasshouse.studies.task import Task
from glasshouse.studies.tuning import tune


class TestTune:
    def test_the_found_family_has_the_wanted_hardness(self):
        found = tune(24, 300, tolerance=0.2, seed=1)
        assert 0.05 < found.setting < 0.25
        assert found.instances == sum(step.instances for step in found.steps)
        # Measured again with other instances; the two medians scatter by about 10 % each.
        again = Task(
            found.task.method, dict(found.task.parameters), solver=found.task.solver, seed=9
        )
        rows = again.measure(0, 600)
        value = median(rows["sweeps"], solved=rows["solved"] != 0).value
        assert abs(math.log(value / 300)) < 0.45
        assert "wanted 300" in found.summary()

    def test_another_knob(self):
        found = tune(30, 12, knob="loop_density", parameters={"frustration": "1/10"},
                     bounds=(0.1, 0.5), tolerance=0.3, seed=2)  # fmt: skip
        assert found.task.parameters["frustration"] == "1/10"
        assert 0.1 < found.setting < 0.5

    def test_a_target_out_of_reach_is_refused(self):
        with pytest.raises(ValueError, match="out of reach"):
            tune(10, 10**6, solver=Annealer(50), seed=1)
        with pytest.raises(ValueError, match="out of reach"):
            tune(30, 3, seed=1)

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ({"target_sweeps": 0}, "target_sweeps=0"),
            ({"target_sweeps": math.inf}, "target_sweeps=inf"),
            ({"tolerance": 0}, "tolerance=0"),
            ({"knob": "n"}, "not one of"),
            ({"parameters": {"frustration": 0.1}}, "leave it out"),
            ({"n": 1}, "n=1"),
        ],
    )
    def test_wrong_calls_are_refused(self, arguments, words):
        with pytest.raises(ValueError, match=words):
            tune(**({"n": 20, "target_sweeps": 100} | arguments))


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
        found = optimal_sweeps(40, 0.1, 0.5, instances=2000, start=20, measure=pretended)
        assert found.sweeps_per_run == pytest.approx(3 * 40 * 2, rel=0.15)
        assert min(found.tries, key=lambda t: t[1])[0] == pytest.approx(240, rel=0.5)

    def test_a_real_family_has_an_optimum_inside(self):
        found = optimal_sweeps(30, 0.15, 0.47, instances=150, start=20)
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
                                 measure=pretended)  # fmt: skip
        # The pretended optimum does not depend on the density: both iterations find it.
        for schedule in (done.first, done.second):
            assert schedule.sweeps_per_run(50, 0.1) == pytest.approx(300, rel=0.15)
        assert float(done.peak.predict(40)) == pytest.approx(0.3 + 0.3 * math.exp(-0.8), rel=0.1)
