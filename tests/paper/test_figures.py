"""The paper's studies run from end to end at a tiny scale, and report what they find."""

from __future__ import annotations

import csv
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import paper
from glasshouse.solvers import peak_density
from glasshouse.statistics import geometric_mean
from glasshouse.store import Store, collect
from glasshouse.studies import Task, fit_study, points_of
from glasshouse.studies.study import Study
from paper import FIGURES, paper_study, reproduce, write_figure
from paper.__main__ import main
from paper.frustration import PAPER_LAWS, REFERENCE, paper_value

pytest.importorskip("matplotlib")


def thinned(study: Study, keep) -> Study:
    from dataclasses import replace

    return replace(study, tasks=tuple(task for task in study.tasks if keep(task)))


def test_every_study_is_what_the_paper_did():
    peak = paper_study("hardness-peak")
    sizes = {task.parameters["n"] for task in peak.tasks}
    assert sizes == set(range(30, 201, 10))
    coarse = sorted({Fraction(t.parameters["loop_density"]) for t in peak.tasks[:360]})
    assert float(coarse[0]) == pytest.approx(0.112)
    assert float(coarse[-1]) == pytest.approx(0.1 * 1.12**20, abs=1e-4)
    assert all(t.stop.instances == 10_000 for t in peak.tasks)
    for n in (30, 100, 200):
        zoom = [
            Fraction(t.parameters["loop_density"])
            for t in peak.tasks[360:]
            if t.parameters["n"] == n
        ]
        assert min(zoom) < peak_density(n) < max(zoom)
        assert np.allclose(np.diff([float(z) for z in zoom]), 0.005)
    scaling = paper_study("frustration")
    assert {Fraction(t.parameters["frustration"]) for t in scaling.tasks} == set(PAPER_LAWS)


@pytest.mark.slow
def test_the_structured_study_goes_to_a_thousand_loops_a_spin():
    structured = paper_study("structured")
    assert len(structured.tasks) == 9 * 80
    assert max(float(Fraction(t.parameters["loop_density"])) for t in structured.tasks) > 800


def test_the_paper_s_curves():
    assert paper_value(Fraction(1, 20), 100) == pytest.approx(0.0225 * 100**2.0259)
    assert paper_value(Fraction(6, 25), 10) == pytest.approx(5.9172 * np.exp(3.738))


@pytest.mark.parametrize("name", ["dispersion", "intersections"])
def test_a_figure_from_end_to_end(tmp_path, name):
    done = reproduce(name, tmp_path, scale=0.02)
    good, judged = done.agreeing
    assert good == judged > 0
    report = (tmp_path / f"{name}.md").read_text()
    assert f"{good} of {judged} claims agree" in report
    assert "paper says" in report
    rows = list(csv.DictReader((tmp_path / f"{name}.csv").open()))
    assert len(rows) == len(done.data)
    assert {"csv", "md", "png", "svg"} <= {p.suffix[1:] for p in tmp_path.iterdir()}


KEEP = {
    "hardness-peak": lambda t: t.parameters["n"] in (30, 40, 50, 60),
    "frustration": lambda t: (
        t.parameters["n"] <= 80 and t.parameters["frustration"] in ("1/20", "3/20")
    ),
    "structured": lambda t: (
        t.parameters.get("block") in (None, "3/10", "9/10")
        and float(Fraction(t.parameters["loop_density"])) < 2
    ),
    "excitations": lambda t: True,
}


@pytest.mark.parametrize(
    "name",
    [
        "frustration",
        "excitations",
        pytest.param("hardness-peak", marks=pytest.mark.slow),
        pytest.param("structured", marks=pytest.mark.slow),
    ],
)
def test_a_part_of_a_figure(tmp_path, name):
    study = thinned(paper_study(name, 0.0001), KEEP[name])
    collect(study.tasks, tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite") as store:
        done = write_figure(name, store, tmp_path)
        values = [point.estimate.value for point in points_of(store, study.statistic)]
    # Every task is a point, with the value of its rows, and is in the data file.
    assert len(done.data) == len(study.tasks) > 0
    if name == "frustration":
        assert sorted(row["value"] for row in done.data) == sorted(values)
    if name == "excitations":  # the gap shrinks to 2(1-α) at the largest frustration
        assert done.data[0]["gap"] > 3 * done.data[-1]["gap"] > 0
    rows = list(csv.DictReader((tmp_path / f"{name}.csv").open()))
    assert [int(row["instances"]) for row in rows] == [20] * len(study.tasks)
    # Every claim was measured, and the report counts those that agree.
    report = (tmp_path / f"{name}.md").read_text()
    assert all(claim.measured and claim.what in report for claim in done.claims)
    assert "{} of {} claims agree".format(*done.agreeing) in report
    assert 0 < done.agreeing[1] <= len(done.claims)
    assert re.search(r"\b20 (instances )?(a|per) point", done.settings)


def test_unknown_figures_are_refused(tmp_path):
    with pytest.raises(ValueError, match="not one of hardness-peak"):
        paper_study("fig7")
    with pytest.raises(ValueError, match="has no study"):
        paper_study("dispersion")


@pytest.mark.slow
@pytest.mark.parametrize(("f", "n"), list(REFERENCE), ids=lambda v: str(v))
def test_geometric_means_are_those_of_the_reference(f, n):
    # The reference has an error of 4-9 %, the measurement 2-3 %.
    density = str(round(peak_density(n), 4))
    task = Task("random_loops", {"n": n, "frustration": f, "loop_density": density}, seed=11)
    rows = task.measure(0, 2000)
    assert rows["solved"].all()
    value = geometric_mean(rows["sweeps"]).value
    assert value == pytest.approx(REFERENCE[f, n], rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "instances"), [(30, 4000), (50, 2000), (100, 1000), (200, 500)])
def test_peaks_are_where_the_paper_has_them(tmp_path, n, instances):
    study = thinned(
        paper_study("hardness-peak", instances / 10_000), lambda t: t.parameters["n"] == n
    )
    collect(study.tasks, tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite") as store:
        (peak,) = fit_study(store, study).peaks.values()
    assert not peak.at_edge
    assert peak.density.value == pytest.approx(peak_density(n), abs=0.03)


def test_every_study_has_its_file():
    place = Path(paper.__file__).parent
    for name, figure in FIGURES.items():
        is_study = figure.has_study and figure.collect is None
        assert (place / f"{name}.toml").exists() == is_study


def test_the_command_writes_a_formula(tmp_path, capsys):
    assert main(["dispersion", "-o", str(tmp_path)]) == 0
    assert "5 of 5 claims of the paper agree" in capsys.readouterr().out
    assert {p.suffix for p in tmp_path.iterdir()} >= {".png", ".svg", ".md", ".csv"}
