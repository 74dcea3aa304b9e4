"""Tuning hits its target."""

from __future__ import annotations

import math
import signal
import threading
import time
from dataclasses import replace
from fractions import Fraction

import pytest

from glasshouse.statistics.estimators import median
from glasshouse.statistics.estimators import statistic as statistic_of
from glasshouse.statistics.samples import Sample
from glasshouse.studies import Annealer, tuning
from glasshouse.studies.quantities import hardness
from glasshouse.studies.task import Task
from glasshouse.studies.tuning import tune


class TestTune:
    def test_the_found_family_has_the_wanted_hardness(self):
        found = tune(24, 300, tolerance=0.2, rng=1)
        assert 0.05 < found.setting < 0.25
        assert found.instances == sum(step.instances for step in found.steps)
        # Measured again with other instances; the two medians scatter by about 10 % each.
        again = Task(
            found.task.method, dict(found.task.parameters), solver=found.task.solver, seed=9
        )
        rows = again.measure(0, 600)
        value = median(rows["sweeps"], solved=rows["solved"] != 0).value
        assert abs(math.log(value / 300)) < 0.45
        assert "target 300" in found.summary()

    def test_another_knob(self):
        found = tune(30, 12, knob="loop_density", parameters={"frustration": "1/10"},
                     bounds=(0.1, 0.5), tolerance=0.3, rng=2)  # fmt: skip
        assert found.task.parameters["frustration"] == "1/10"
        assert Fraction(found.task.parameters["loop_density"]) == found.setting
        assert abs(math.log(found.estimate.value / 12)) <= math.log(1.3)

    def test_a_target_out_of_reach_is_refused(self):
        with pytest.raises(
            ValueError, match=r"out of reach: frustration=0.05 has median \d+ .*249"
        ):
            tune(10, 10**6, solver=Annealer(50), rng=1)
        with pytest.raises(ValueError, match="out of reach"):
            tune(30, 3, rng=1)

    def test_what_would_take_years_is_refused_within_seconds(self):
        """The hard end of n = 40 is beyond a cheap look, but 1e12 sweeps are beyond any."""
        begin = time.process_time()
        with pytest.raises(ValueError, match=r"out of reach: this computer needs .* above \d"):
            tune(40, 1e12, rng=1)
        assert time.process_time() - begin < 60

    def test_an_end_that_only_the_search_finds_wrong_is_refused_too(self, monkeypatch):
        monkeypatch.setattr(tuning, "_PROBE_SECONDS", 0)
        monkeypatch.setattr(tuning, "_FIRST_LIMIT", 1)
        with pytest.raises(ValueError, match=r"out of reach: frustration=0.24\d has"):
            tune(10, 10**5, rng=1)

    def test_a_graph(self):
        found = tune("torus:6x6", 30, parameters={"length": 4}, tolerance=0.5, rng=1)
        assert found.task.method == "graph_loops"
        assert found.task.parameters["graph"] == "torus:6x6"
        assert found.is_within_tolerance
        triangles = tune("complete:12", 6, tolerance=0.9, parameters={"length": 3}, rng=1)
        assert triangles.task.grow(0).problem.num_variables == 12

    @pytest.mark.parametrize("statistic", ["median", "geometric_mean", "quantile_95", "paper_95"])
    def test_every_statistic(self, statistic):
        found = tune(16, 150, statistic=statistic, tolerance=0.6, rng=1)
        rows = found.task.measure(0, found.steps[-1].instances)
        sample = Sample(rows["sweeps"].astype(float), rows["solved"] != 0)
        assert found.estimate == statistic_of(sample, statistic)
        assert f": {statistic} " in found.summary()

    def test_the_nearest_setting_is_returned_where_none_is_right(self):
        found = tune(20, 301, tolerance=1e-4, most_instances=32, rng=0)
        assert not found.is_within_tolerance
        assert found.estimate in [step.estimate for step in found.steps]
        assert all(found.steps[k].distance(301) >= abs(math.log(found.estimate.value / 301))
                   for k in range(len(found.steps)))  # fmt: skip

    def test_progress_and_interruption(self):
        told = []

        def interrupt(at):
            told.append(at)
            if at.best is not None:
                raise KeyboardInterrupt

        with pytest.raises(
            KeyboardInterrupt, match=r"the best so far: frustration=0\.\d+ has median"
        ):
            tune(20, 200, tolerance=0.001, rng=1, progress=interrupt)
        shares = [at.fraction for at in told]
        assert shares == sorted(shares)
        assert 0 <= shares[0] <= shares[-1] <= 1

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ({"target_sweeps": 0}, "target_sweeps=0"),
            ({"target_sweeps": math.inf}, "target_sweeps=inf"),
            ({"tolerance": 0}, "tolerance=0"),
            ({"knob": "n"}, "not one of"),
            ({"statistic": "mean"}, "not one of"),
            ({"parameters": {"frustration": 0.1}}, "remove it"),
            ({"n": 1}, "n=1"),
        ],
    )
    def test_wrong_calls_are_refused(self, arguments, words):
        with pytest.raises(ValueError, match=words):
            tune(**({"n": 20, "target_sweeps": 100} | arguments))


class TestChips:
    def test_the_knob_and_its_range_are_chosen(self):
        found = tune("chimera:3 without 3,17,0-4", 100, tolerance=0.5, rng=1)
        assert found.is_within_tolerance
        assert found.task.solver.sweeps_per_run == 25
        parameters = found.task.parameters
        assert parameters["length"] == 4
        assert Fraction(parameters["loop_density"]) == found.setting <= Fraction(1, 2)
        # The loops have small weights, so that few bits hold an instance.
        assert max(abs(found.task.grow(0).problem.weights)) <= 64

    def test_a_given_frustration_turns_the_density_and_the_other_way_round(self):
        found = tune("chimera:3", 60, tolerance=0.6, rng=1,
                     parameters={"frustration": "1/6", "length": 4})  # fmt: skip
        assert {step.family.knob for step in found.steps} == {"loop_density"}
        found = tune("chimera:3", 60, tolerance=0.6, rng=1,
                     parameters={"loop_density": "1/2", "length": 4})  # fmt: skip
        assert {step.family.knob for step in found.steps} == {"frustration"}

    def test_what_no_density_reaches_is_refused(self):
        with pytest.raises(ValueError, match="out of reach: loop_density=8 has median"):
            tune("torus:4x4", 10**4, parameters={"frustration": "1/7", "length": 4}, rng=1)
        with pytest.raises(ValueError, match="has no cycles of length"):
            tune([(k, (k + 1) % 17) for k in range(17)], 100)

    def test_a_stop_ends_the_threads_that_solve(self):
        """An interrupt while instances of more than 1e9 sweeps are being solved."""
        parameters = {
            "graph": "chimera:8",
            "frustration": "6/25",
            "length": 4,
            "loop_density": "1/2",
        }
        task = Task("graph_loops", parameters, solver=Annealer(max_sweeps=10**12))
        hardness.sweeps_of(replace(task, solver=Annealer(1, max_sweeps=1)), 0, 1, 2)
        before = threading.active_count()
        interrupter = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
        interrupter.start()
        with pytest.raises(KeyboardInterrupt):
            hardness.sweeps_of(task, 0, 2, 2)
        interrupter.join()
        assert threading.active_count() <= before
