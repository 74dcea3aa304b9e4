"""Additions to each catalogue: planting method, format, kernel, solver, sampler, kind, monitor.

Each addition is one file in `tests/toys`, which `CONTRIBUTING.md` shows. A catalogue needs only an
import of this file. The tests then use the additions in the ordinary ways.
"""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.boltzmann import MONITORS, train
from glasshouse.cli import main
from glasshouse.files import FORMATS, read_document
from glasshouse.planting import METHODS, Planted
from glasshouse.proofs.exact import EXACT_SOLVERS, solve_exactly
from glasshouse.races.samplers import SAMPLERS
from glasshouse.solvers.engines import KERNELS
from glasshouse.store import Stop, Store, collect
from glasshouse.studies import Task, points_of
from glasshouse.studies.quantities import KINDS

CATALOGUES = (METHODS, FORMATS, KERNELS, EXACT_SOLVERS, SAMPLERS, KINDS, MONITORS)
TOYS = ("lone_loop", "triples", "greedy", "patience", "coin", "negatives", "largest")
GUIDE = Path(__file__).parents[1] / "CONTRIBUTING.md"


@pytest.fixture(autouse=True, scope="module")
def toys():
    """Import all toys, and remove them from the catalogues at the end."""
    before = [dict(catalogue) for catalogue in CATALOGUES]
    for name in TOYS:
        import_module(f"tests.toys.{name}")
    assert {len(now) - len(then) for now, then in zip(CATALOGUES, before, strict=True)} == {1}
    yield
    for catalogue, then in zip(CATALOGUES, before, strict=True):
        catalogue.clear()
        catalogue.update(then)
    for name in TOYS:
        del sys.modules[f"tests.toys.{name}"]
    vars(gh).pop("lone_loop", None)


@pytest.mark.parametrize("name", TOYS)
def test_the_guide_shows_what_runs_here(name):
    """The guide must contain each file unchanged, and no other code."""
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert len(blocks) == len(TOYS)
    assert Path(import_module(f"tests.toys.{name}").__file__).read_text() in blocks


def test_the_guide_names_places_that_are_there():
    named = set(re.findall(r"`((?:src|tests)/[\w/]+(?:\.py)?)`", GUIDE.read_text()))
    assert len(named) >= 7
    for place in named:
        assert (GUIDE.parent / place).exists(), place


def run(*words):
    return main([str(word) for word in words])


@pytest.fixture
def instance(tmp_path):
    """Return a file with an instance that the toy method planted."""
    path = tmp_path / "x.wcnf"
    assert run("plant", "lone", "-n", 3, "-m", 4, "--strength", 2, "--seed", 5, "-o", path) == 0
    return path


class TestMethod:
    def test_it_is_offered_with_its_own_options(self, capsys):
        assert run("plant", "--help") == 0
        assert re.search(r"lone +Plant a single loop\.", capsys.readouterr().out)
        assert run("plant", "lone", "--help") == 0
        told = capsys.readouterr().out
        for words in ("--strength", "the weight of its edges", "[choices: sweet, sour]", "--loud",
                      "plant lone -n 3 --strength 2 -o", "--hidden -m"):  # fmt: skip
            assert words in told

    def test_its_files_are_checked_and_regrown(self, instance, capsys):
        plant = gh.lone_loop(3, 4, strength=2, rng=5)
        assert gh.read_planted(instance) == plant == Planted.from_recipe(plant.recipe)
        assert run("check", instance) == 0
        assert "VERIFIED" in capsys.readouterr().out

    def test_its_switches_words_and_errors(self, capsys, tmp_path):
        words = ("plant", "lone", "-n", 3, "--loud", "--taste", "sour", "--json")
        assert run(*words, "-o", tmp_path / "a.npz") == 0
        assert gh.read(tmp_path / "a.npz").recipe.parameters["loud"] is True
        assert run("plant", "lone", "-n", 3, "--strength", -1) == 2
        assert "strength -1 must be at least 1" in capsys.readouterr().err

    def test_a_suite_of_it(self, tmp_path):
        assert run("plant", "lone", "-n", 3, "--count", 2, "-o", tmp_path / "s") == 0
        assert run("check", tmp_path / "s" / "manifest.jsonl") == 0


def test_a_format_is_converted_to_and_from(instance, tmp_path, capsys):
    path, back = tmp_path / "x.toy", tmp_path / "y.wcnf"
    path.write_text(json.dumps([3, 0, [[0, 1, 2], [1, 2, -3]]]))
    assert run("convert", path, back) == 0
    assert gh.to_ising(gh.read(back))[0].weights.tolist() == [2, -3]
    assert run("convert", instance, tmp_path / "z.toy.gz") == 0
    assert gh.read(tmp_path / "z.toy.gz") == gh.to_ising(gh.read(instance))[0]
    path.write_text("[3]")
    assert run("info", path) == 2
    assert "x.toy: does not contain triples" in capsys.readouterr().err


def test_an_exact_solver_solves(instance, capsys):
    problem = read_document(instance).problem
    assert solve_exactly(problem, solver="patience").energy == gh.prove(problem).energy
    assert run("solve", instance, "--solver", "patience") == 0
    assert "patience: optimal" in capsys.readouterr().out


def test_a_sampler_races(instance, capsys):
    pytest.importorskip("dimod")
    optimum = gh.prove(read_document(instance).problem).energy
    assert run("solve", instance, "--solver", "coin", "--time-limit", 1, "--json") == 0
    assert json.loads(capsys.readouterr().out)["cost"] == optimum


class TestKernel:
    def test_it_is_chosen_for_what_it_takes_and_for_nothing_else(self):
        plant = gh.lone_loop(3, 4, rng=1)
        result = gh.anneal(plant, sweeps=3, runs=20, rng=1)
        assert result.kernel == "greedy"
        assert result.best_energy == plant.energy
        assert result.energies.tolist() == [plant.problem.energy(s) for s in result.states]
        assert gh.anneal(gh.lone_loop(3, 3, rng=1), sweeps=3, runs=20, rng=1).kernel == "byte lanes"

    def test_from_the_command_line(self, instance, capsys):
        assert run("solve", instance, "--runs", 20, "--sweeps", 5, "--seed", 1, "--json") == 0
        assert json.loads(capsys.readouterr().out)["kernel"] == "greedy"


STUDY = """
name = "negatives"
figure = "density"
measures = "negatives"
[stop]
instances = 40
[[family]]
method = "random_loops"
parameters = { n = 6, frustration = 0.2 }
grid = { loop_density = [0.5, 1, 2] }
"""


class TestKind:
    def test_a_study_of_it_is_run_and_plotted(self, tmp_path, capsys):
        pytest.importorskip("matplotlib")
        (tmp_path / "s.toml").write_text(STUDY)
        store = tmp_path / "s.sqlite"
        assert run("study", "run", tmp_path / "s.toml", "-o", store) == 0
        assert run("study", "show", store) == 0
        assert "120 of 120 instances" in capsys.readouterr().out
        assert run("store", "check", store) == 0
        assert run("study", "plot", store) == 0
        assert run("store", "export", store, "-o", tmp_path / "s.csv") == 0
        assert "couplings" in (tmp_path / "s.csv").read_text().splitlines()[0]
        picture = (tmp_path / "s.svg").read_text()
        assert "negative couplings" in picture
        with Store(store) as opened:
            points = points_of(opened, "median")
        assert [point.density for point in points] == [0.5, 1, 2]
        assert points[0].estimate.value < points[2].estimate.value

    def test_it_stops_when_it_is_sure_and_workers_know_it(self, tmp_path):
        """Workers are new processes, so their tasks must name the modules to import."""
        family = {"n": 6, "frustration": "1/5", "loops": 9}
        tasks = [
            Task("lone_loop", {"n": 4}, "negatives", stop=Stop(500, relative_error=0.2)),
            Task("random_loops", family, "negatives", stop=Stop(20)),
        ]
        assert collect(tasks, tmp_path / "s.sqlite", workers=1).is_complete
        with Store(tmp_path / "s.sqlite") as opened:
            rows = [opened.rows(stored)["couplings"] for stored in opened.tasks()]
        assert 32 <= len(rows[0]) < 500
        assert np.array_equal(rows[1], tasks[1].measure(0, 20)["couplings"])


class TestMonitor:
    def test_it_is_looked_at_during_a_training(self):
        seen = train([[1, 0], [0, 1]], 2, epochs=20, monitors=("largest",), rng=1)
        assert seen.history["largest"][-1] == abs(seen.machine.weights).max()


def test_names_that_would_hide_others_are_refused():
    from glasshouse.files.formats.format import Format, register_format
    from glasshouse.planting import METHODS
    from glasshouse.planting.method import planting_method
    from glasshouse.proofs.exact import exact_solver

    for name in ("anneal", "brute"):
        with pytest.raises(ValueError, match="the name of a glasshouse solver"):
            exact_solver(name, package="x")
    for suffix in ("", "wx", ".gz", ".cert"):
        with pytest.raises(ValueError, match="is reserved or invalid"):
            register_format(Format("toy", suffix, None, None))

    def mine(n, m, *, rng=None):
        """A planting method without parameters of its own."""

    known = dict(METHODS)
    with pytest.raises(ValueError, match="'random' already exists"):
        planting_method("random", grows_on="rbm", examples=())(mine)
    assert known == METHODS
