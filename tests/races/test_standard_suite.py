"""Suites of standard instances, on a library that the test makes itself."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.races.standard import made_library

import glasshouse as gh
from glasshouse.certificates import CertificateError
from glasshouse.cli import main
from glasshouse.files import read_document, write_certificate
from glasshouse.races.commands.results import Results, Run
from glasshouse.races.commands.scores import relative_gap, trusted
from glasshouse.races.judging.clauses import RunVerdict
from glasshouse.suites import standard
from glasshouse.suites.loading import load_suite

BROKEN = Path(__file__).parent / "broken_solver.py"


@pytest.fixture
def library(tmp_path, monkeypatch):
    made = made_library(tmp_path)
    monkeypatch.setattr(standard, "instances", lambda: made.instances)
    return made


def loaded(library, tmp_path, **options):
    return load_suite("toys", tmp_path / "cache", instances=library.folder, **options)


def least_cost(path):
    return int(gh.brute_force(gh.read(path)).energy)


def test_files_are_recognised_by_content_and_the_truth_is_the_tables(library, tmp_path):
    suite = loaded(library, tmp_path)
    assert [one.name for one in suite.instances] == ["T1", "T2"]
    assert (suite.name, suite.files, suite.missing) == ("toys", "files", ())
    first, second = suite.instances
    assert first.known.optimum == least_cost(first.path)
    assert second.known.optimum is None
    assert second.known.bound < second.known.best == least_cost(second.path)
    assert first.parameters["truth_by"] == "table of glasshouse 0.1.0"
    assert "planted" not in first.path.read_text()


def test_any_copy_gives_the_same_clauses(library, tmp_path):
    suite = loaded(library, tmp_path)
    path = library.folder / "some-0.mc"
    problem = gh.read(path)
    path.unlink()
    order = list(reversed(range(problem.num_edges)))
    gh.write(
        library.folder / "renamed.coo.gz",
        gh.Ising.from_edges(8, problem.edges[order], 7 * problem.weights[order]),
    )
    (library.folder / "README.md").write_text("nothing to solve here")
    assert loaded(library, tmp_path).digest == suite.digest


def test_another_weight_is_another_instance(library, tmp_path):
    problem = gh.read(library.folder / "some-0.mc")
    weights = problem.weights.copy()
    weights[0] += 3
    changed = gh.Ising.from_edges(8, problem.edges, weights)
    gh.write(library.folder / "some-0.mc", changed, overwrite=True)
    suite = loaded(library, tmp_path)
    assert [one.name for one in suite.instances] == ["T2"]
    assert suite.missing == ("T1",)


def test_certificates_are_verified_where_they_are_at_hand(library, tmp_path):
    suite = loaded(library, tmp_path, answers=library.certificates)
    assert [one.parameters["truth_by"] for one in suite.instances] == ["certificate"] * 2
    assert suite.instances[1].known.optimum == least_cost(suite.instances[1].path)
    assert suite.answers == "certificates"


def test_a_certificate_of_another_instance_is_refused(library, tmp_path):
    other = gh.Certificate(np.ones(7, np.int8), [], [0], [])
    write_certificate(library.certificates / "T1.cert.xz", other, overwrite=True)
    with pytest.raises(CertificateError, match=r"T1\.cert\.xz does not certify"):
        loaded(library, tmp_path, answers=library.certificates)


def test_a_certificate_that_proves_less_leaves_the_table(library, tmp_path):
    """A weaker certificate is next to the file, for example of a search that was stopped early."""
    weak = gh.Certificate(np.ones(8, np.int8), [], [0], [])
    write_certificate(library.folder / "some-0.mc.cert", weak)
    first = loaded(library, tmp_path).instances[0]
    assert first.parameters["truth_by"] == "table of glasshouse 0.1.0"
    assert first.known.optimum == least_cost(first.path)


@pytest.mark.parametrize(
    ("family", "folder", "message"),
    [
        ("toys", "nowhere", "nowhere is not a folder"),
        ("toys", "certificates", "certificates contains none of the 2 instances of toys"),
        ("peak", "files", "peak is not a family of standard instances"),
        ("toys", None, "toys needs the files of its instances"),
    ],
)
def test_what_cannot_be_raced_on_is_told_in_one_line(library, tmp_path, family, folder, message):
    place = None if folder is None else tmp_path / folder
    with pytest.raises(ValueError, match=message) as told:
        load_suite(family, tmp_path / "cache", instances=place)
    assert "\n" not in str(told.value)


def test_samplers_get_models(library, tmp_path):
    def lowest(bqm):
        import dimod

        return dimod.ExactSolver().sample(bqm).lowest()

    found = gh.race_samplers({"exact": lowest}, loaded(library, tmp_path), calls=1, batches=())
    assert not found.faults
    assert (found.is_proven("T1"), found.is_proven("T2")) == (True, False)
    assert found.success("exact").value == 1
    assert (
        "1 with an optimum proven before the race (1 by the table of glasshouse 0.1.0)"
        in found.summary()
    )


def test_a_race_judges_by_the_table_and_says_so(library, tmp_path, capsys):
    (library.folder / "some-1.mc").unlink()
    solvers = [f"{name}={sys.executable} -S {BROKEN} '{defect}' {{file}}"
               for name, defect in (("good", "none"), ("bad", "off by one"))]  # fmt: skip
    store = tmp_path / "race.sqlite"
    words = ["race", "run", "--suite", "toys:graphs", "--instances", str(library.folder), "-o",
             str(store), "--dialect", "classic"]  # fmt: skip
    words += [word for solver in solvers for word in ("--solver", solver)]
    assert main(words) == 1
    told = capsys.readouterr()
    assert "1 of the 2 instances of toys:graphs are not in files and are left out: T2" in told.err
    assert "bad on T1.wcnf: wrong optimum" in told.out
    assert "of runs with a valid model: good 0.000% (1 runs)" in told.out
    by = "optima and bounds: 1 by the table of glasshouse 0.1.0, verified when the table was made"
    assert by in told.out
    assert main(["race", "show", str(store), "--json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert shown["truths"] == {"table of glasshouse 0.1.0": 1}
    assert [one["mean_gap"] for one in shown["solvers"]] == [0.0, None]
    assert main(["report", str(store), "-o", str(tmp_path / "report.html")]) == 0
    assert "--instances files" in (tmp_path / "report.html").read_text()


def test_gaps_are_in_the_instances_own_values(library, tmp_path):
    one, value = loaded(library, tmp_path).instances[0], library.instances[0].value
    problem, clauses = gh.read(library.folder / "some-0.mc"), gh.read(one.path)
    document = read_document(library.folder / "some-0.mc")
    bits = np.array([1, 0, 0, 1, 0, 0, 0, 1])
    cut = document.value_of(problem.space.from_bits(bits))
    found = RunVerdict.FOUND
    shown = Run("s", "T1", 0, False, found, "", 1.0, 10.0, int(clauses.cost(bits)),
                best=one.known.best, parameters=one.parameters)  # fmt: skip
    assert relative_gap(shown) == pytest.approx((value - cut) / value)
    for bad in ({"known_value": "x"}, {"known_value": "1e999999999"}, {"value_per_cost": "1/0"}):
        assert relative_gap(replace(shown, parameters={**one.parameters, **bad})) is None
    assert relative_gap(replace(shown, parameters={})) is None
    assert relative_gap(replace(shown, cost=None)) is None


def test_other_suites_say_nothing_of_trust():
    assert trusted(Results("peak", ())) == ""


def test_lists_of_suites_name_the_families(library, capsys):
    assert main(["suite", "list"]) == 0
    assert "toys:graphs        2 instances  standard instances" in capsys.readouterr().out
    assert main(["suite", "list", "toys"]) == 2
    assert "race run --suite toys --instances DIR" in capsys.readouterr().err
