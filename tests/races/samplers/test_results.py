"""Results of sampler calls: best of k, fractions, times, comparisons."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.races.samplers.toys import Sampler, dimod, plants

import glasshouse as gh
from glasshouse.races import SamplerResults
from glasshouse.races.samplers.residuals import best_of
from glasshouse.statistics.estimators import time_to_solution


def test_best_of_k_against_all_choices():
    rng = np.random.default_rng(4)
    for size in (1, 2, 5, 8):
        values = rng.integers(-3, 4, size).astype(float)
        for k in range(1, size + 1):
            choices = [min(chosen) for chosen in itertools.combinations(values, k)]
            assert best_of(values, [k])[0] == pytest.approx(np.mean(choices), abs=1e-12)
        with pytest.raises(ValueError, match="cannot be computed"):
            best_of(values, [size + 1])
    many = rng.normal(size=20_000)
    assert best_of(many, [1, 20_000]) == pytest.approx([many.mean(), many.min()])


def small_race(**options) -> SamplerResults:
    return gh.race_samplers(
        {"x": Sampler(), "y": Sampler()}, plants(), reads=6, calls=4, rng=1, **options, batches=()
    )


def test_statistics_by_hand():
    found = small_race(confidence=0.9)
    name = found.instances[1]
    calls = [c for c in found.calls if (c.solver, c.instance) == ("x", name)]
    energies = np.concatenate([call.energies for call in calls])
    target = plants()[1].energy
    seconds = sum(call.seconds for call in calls) / 24
    hits = int((energies == target).sum())
    assert found.success("x", name).value == hits / 24
    expected = time_to_solution(hits, 24, seconds, confidence=0.9).value
    assert found.tts("x", name, "work").value == pytest.approx(expected)
    assert found.tts("x", name).value == pytest.approx(max(expected, 6 * seconds))
    assert found.tts("x", name).low >= min(call.seconds for call in calls)
    curve = found.residual("x", name)
    left = (energies - target) / 12
    assert curve.seconds == pytest.approx(seconds * np.array([6, 6, 6, 8, 16, 24]))
    assert curve.residual[[0, -1]] == pytest.approx([left.mean(), left.min()])
    assert (np.diff(curve.residual) <= 1e-12).all()
    firsts = sorted(found.residual("x", one).residual[0] for one in found.instances)
    assert found._one_read("x") == pytest.approx(firsts[1])


def test_rows_are_a_table_of_the_calls():
    found = gh.race_samplers(
        {"x": Sampler(), "bad": lambda bqm: None}, plants()[:2], reads=6, calls=2, rng=1, batches=()
    )
    rows = found.rows()
    assert [(row["solver"], row["fault"]) for row in rows] == [
        (call.solver, call.fault) for call in found.calls
    ]
    for name in found.instances:
        mine = [row for row in rows if (row["solver"], row["instance"]) == ("x", name)]
        share = sum(row["reached"] for row in mine) / sum(row["reads"] for row in mine)
        assert share == found.success("x", name).value
        assert min(row["best"] for row in mine) == found.energies("x", name).min()
        assert all(row["proven"] and row["target"] == found.target(name) for row in mine)
    assert {row["best"] for row in rows if row["solver"] == "bad"} == {None}
    pandas = pytest.importorskip("pandas")
    assert len(pandas.DataFrame(rows)) == len(found.calls)


def test_a_median_curve_is_the_median_of_curves():
    found = small_race()
    whole = found.residual("x")
    assert np.isfinite(whole.residual).all()  # nothing is drawn before half have a read
    assert (np.diff(whole.residual) <= 1e-12).all()
    lasts = sorted(found.residual("x", one).residual[-1] for one in found.instances)
    assert whole.residual[-1] == pytest.approx(lasts[1])


def test_unsolved_instances_count_as_longest():
    def only_first(bqm, num_reads):
        every = dimod.ExactSolver().sample(bqm).record.sample
        energies = bqm.energies((every, list(bqm.variables)))
        is_first = bqm == plants()[0].problem.to_bqm()
        state = every[np.argmin(energies) if is_first else np.argmax(energies)]
        return dimod.SampleSet.from_samples_bqm(([state] * num_reads, list(bqm.variables)), bqm)

    found = gh.race_samplers(
        {"one": only_first, "x": dimod.ExactSolver()}, plants()[:3], reads=2, calls=2, batches=()
    )
    assert np.isinf(found.tts("one").value)
    assert 0 < found.tts("one").low < np.inf
    duel = found.compare("one", "x")
    assert duel.first_faster + duel.second_faster == 3
    assert np.isinf(duel.ratio.value)
    assert found.compare("x", "one").ratio.value == 0
    with pytest.raises(ValueError, match="'y' is not a sampler"):
        found.tts("y")
    with pytest.raises(ValueError, match="'y' is not an instance"):
        found.tts("x", "y")
