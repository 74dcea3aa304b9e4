"""The committed race's driver, from runs to the page."""

from __future__ import annotations

import csv

import pytest
from tests.races.commands.test_scores import run
from tests.races.test_figures import pretended

from benchmarks import race_page, races
from glasshouse.races.commands.results import Results
from glasshouse.races.judging.clauses import RunVerdict
from glasshouse.races.running.command import Limits
from glasshouse.suites.folder import iter_build_suite

pytest.importorskip("matplotlib")


def test_the_page_is_made_from_the_runs(tmp_path):
    late = RunVerdict.TIME_OUT
    dial = ["1/10", "1/10", "1/5", 0.2]
    easy = [run("prove", f"i{k}", 1.0 + k, frustration=dial[k]) for k in range(4)]
    easy += [run("rc2", f"i{k}", 4.0 - k / 2, frustration=dial[k]) for k in range(4)]
    easy += [run("anneal", f"i{k}", 10.0, RunVerdict.FOUND, 9 + k, frustration=dial[k])
             for k in range(4)]  # fmt: skip
    hard = [run("prove", f"i{k}", 10.0, late, None, frustration=dial[k]) for k in range(4)]
    for number, (runs, said) in enumerate(
        (
            (easy, "**Frustrated loops are easy for linear programs.**"),
            (hard, "solved 0 of 4 on `peak`"),
        )
    ):
        folder = tmp_path / str(number)
        results = {"peak": Results("peak", tuple(runs)), "dialled": pretended(5)}
        race_page.write_page(folder, results, Limits(seconds=10), 1, ["clasp"], 3)
        page = (folder / "README.md").read_text()
        assert "the files that `glasshouse suite write NAME --count 3 -o DIR` writes" in page
        assert said in page
        assert "These solvers were not raced: clasp" in page
        assert ("loops are easy" in page) == (number == 0)
        with (folder / "runs.csv").open() as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == len(runs) + 15
        assert (folder / "peak-dial.png").stat().st_size > 5000
    page = (tmp_path / "0" / "README.md").read_text()
    assert (
        "* Solved the largest number of instances (4 of 4): `prove` and `rc2`.\n* Lowest PAR-2"
        in page
    )
    assert "| anneal | 0 | 1 | 0 | 20 |" in page


def test_the_field_leaves_out_what_is_not_installed(monkeypatch):
    monkeypatch.setattr(races, "version_of", lambda name: None)
    monkeypatch.setattr(races.shutil, "which", lambda name: None)
    entrants, missing = races.field(Limits(seconds=10))
    assert [one.name for one in entrants] == ["prove", "anneal", "temper"]
    assert set(missing) == {*races.BUILT_IN, "clasp", "z3"} - {"prove", "anneal", "temper"}


@pytest.mark.parametrize("name", ["peak", "structured", "dialled"])
def test_the_suites_still_grow_what_was_raced(name, tmp_path):
    raced = races.ROOT / "docs" / "races"
    assert "`glasshouse suite write NAME --count 1 -o DIR`" in (raced / "README.md").read_text()
    with (raced / "runs.csv").open() as file:
        optima = {row["file"]: int(row["optimum"]) for row in csv.DictReader(file)
                  if row["suite"] == name}  # fmt: skip
    grown = iter_build_suite(name, tmp_path, count=1)
    assert {one.file: one.optimum for one in grown} == optima
