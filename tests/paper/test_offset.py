"""The offset to the paper's curves: twice the sweeps, and the statistics of deviations."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from glasshouse.store import Store, collect
from paper import paper_study, write_figure
from paper.offset import Deviation, spread, trend

pytest.importorskip("matplotlib")


def deviations(law) -> list[Deviation]:
    return [
        Deviation(Fraction(f, 100), n, law(f / 100, n), None)
        for f in (5, 10, 20)
        for n in (30, 60, 120)
    ]


def test_both_settings_have_the_same_families_and_twice_the_sweeps():
    tasks = paper_study("offset").tasks
    printed, doubled = tasks[: len(tasks) // 2], tasks[len(tasks) // 2 :]
    assert len(printed) == len(paper_study("frustration").tasks)
    for one, other in zip(printed, doubled, strict=True):
        assert one.parameters == other.parameters
        assert one.seed == other.seed
        assert one.stop == other.stop
        assert other.schedule.sweeps_per_run == 2 * one.schedule.sweeps_per_run


def test_spread_is_a_geometric_mean():
    mean, rms = spread(deviations(lambda f, n: math.log(0.8)))
    assert mean == pytest.approx(-0.2)
    assert rms == pytest.approx(-math.log(0.8))


@pytest.mark.parametrize("slope", [0.0, 0.7, -1.2])
def test_trends_are_found(slope):
    along_f = deviations(lambda f, n: 0.1 + slope * f)
    along_n = deviations(lambda f, n: 3 * f + slope * math.log(n))
    assert trend(along_f, "frustration")[0] == pytest.approx(slope)
    assert trend(along_n, "size")[0] == pytest.approx(slope)


def test_the_error_of_a_trend_covers_noise():
    """95 % intervals: of 200, fewer than 175 cover with a probability below 10^-6."""
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(200):
        noisy = [one._replace(log=one.log + 0.05 * rng.normal())
                 for one in deviations(lambda f, n: 0.5 * f)]  # fmt: skip
        slope, error = trend(noisy, "frustration")
        covered += abs(slope - 0.5) < 2.36 * error  # Student's t with 7 degrees of freedom
    assert covered >= 175


def test_a_part_of_the_figure(tmp_path):
    study = paper_study("offset", scale=0.005)
    small = {"1/20", "1/5"}
    tasks = [
        t for t in study.tasks if t.parameters["frustration"] in small and t.realised.size < 45
    ]
    store = tmp_path / "offset.sqlite"
    collect(tasks, store)
    with Store(store) as opened:
        done = write_figure("offset", opened, tmp_path)
    what = [claim.what for claim in done.claims]
    assert what[0] == "N_sweep as printed, f = 0.05: mean deviation"
    assert what[-1] == "twice the printed N_sweep, all f: mean deviation"
    settings = {row["setting"] for row in done.data}
    assert settings == {"paper", "paper-doubled"}
    assert "It does not establish" in (tmp_path / "offset.md").read_text()
