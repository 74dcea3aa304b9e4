"""Families without the paper's schedule: squares, and loops with their own dial."""

from __future__ import annotations

import csv
import json
import sys
from functools import partial
from importlib import import_module

import pytest
from tests.planting.examples import EXAMPLES

import glasshouse as gh
from glasshouse.cli import main
from glasshouse.planting import METHODS
from glasshouse.planting.methods import posiform, random_loops, wishart
from glasshouse.races.dials import dials
from glasshouse.solvers.engine import ColouredGraph
from glasshouse.solvers.hitting import sweeps_to_solution
from glasshouse.solvers.schedule import default_range, follows_paper
from glasshouse.store import Stop, Store, collect
from glasshouse.studies import Annealer, Task, fit_study, points_of, tune
from glasshouse.studies.analysis import series_of
from glasshouse.studies.charts import settings_text
from glasshouse.studies.export import export_rows
from glasshouse.studies.knobs import Family
from glasshouse.studies.quantities import KINDS
from glasshouse.studies.realised import Realised
from glasshouse.studies.study import parse_study
from glasshouse.suites.suite_file import parse_suite

STUDY = """
name = "dials"
figure = "alpha"
[solver]
max_sweeps = 5000
[stop]
instances = 4
[[family]]
method = "wishart"
grid = { n = [8, 12], alpha = ["1/2", 1, 2] }
"""


@pytest.fixture(scope="module")
def toy():
    """A family of squares, added by importing its one file, and forgotten in the end."""
    name = "tests.toys.even_sums"
    import_module(name)
    yield METHODS["even_sums"]
    del METHODS["even_sums"], sys.modules[name]
    vars(gh).pop("even_sums", None)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A study of wishart over alpha, from the command line."""
    folder = tmp_path_factory.mktemp("dials")
    (folder / "s.toml").write_text(STUDY)
    assert main(["study", "run", str(folder / "s.toml"), "-o", str(folder / "s.sqlite")]) == 0
    return folder / "s.sqlite"


class TestExport:
    def test_the_papers_schedule_is_named_where_it_was_used_only(self, store, tmp_path):
        with Store(store) as opened:
            export_rows(opened, tmp_path / "squares.csv")
            plan = Realised.from_plain(opened.tasks()[0].realised).schedule
        with (tmp_path / "squares.csv").open() as file:
            row = next(csv.DictReader(file))
        assert (row["solver_beta"], row["solver_sweeps_per_run"]) == ("automatic", "automatic")
        assert row["realised_schedule"] == "geometric" == plan.schedule
        assert float(row["realised_last_beta"]) == plan.last_beta
        assert int(row["realised_sweeps_per_run"]) == plan.sweeps_per_run

        loops = {"n": 6, "m": 6, "frustration": "1/5", "loops": 4}
        task = Task("random_loops", loops, solver=Annealer(), seed=1, stop=Stop(instances=2))
        collect([task], tmp_path / "loops.sqlite", workers=1)
        with Store(tmp_path / "loops.sqlite") as own:
            export_rows(own, tmp_path / "loops.csv")
        with (tmp_path / "loops.csv").open() as file:
            row = next(csv.DictReader(file))
        assert (row["solver_beta"], row["solver_sweeps_per_run"]) == ("paper", "paper")
        assert row["realised_schedule"] == "linear"


class TestSchedule:
    def test_it_is_the_papers_for_the_papers_loops_only(self):
        loops = random_loops(8, 8, frustration="1/5", loops=4, rng=1)
        assert follows_paper(loops)
        for plant in (wishart(8, columns=4, rng=1), posiform(8, rng=1)):
            assert not follows_paper(plant)

    @pytest.mark.parametrize(
        "grow", [partial(wishart, 12, columns=8, rng=1), partial(posiform, 9, rng=1)]
    )
    def test_elsewhere_it_is_that_of_anneal(self, grow):
        plant = grow()
        first, last = default_range(ColouredGraph(plant.ising))
        plan = Annealer().schedule(plant)
        assert (plan.sweeps_per_run, plan.schedule) == (1000, "geometric")
        betas = plan.betas(plant.loop_weight)
        assert betas[[0, -1]] == pytest.approx([first, last])
        assert betas[500] == pytest.approx((first * last) ** 0.5, rel=0.01)
        assert "geometric" in str(plan)
        found = sweeps_to_solution(plant, samples=4, rng=1)
        assert (found.sweeps_per_run, found.schedule) == (1000, "geometric")
        assert found.beta == pytest.approx((first, last))
        assert "geometric" in found.summary()
        assert not found.censored.any()

    def test_what_is_given_is_taken(self):
        plant = wishart(12, columns=8, rng=1)
        plan = Annealer(sweeps_per_run=70, beta=(0.5, 3)).schedule(plant)
        assert (plan.sweeps_per_run, plan.first_beta, plan.last_beta) == (70, 0.5, 3)
        assert plan.schedule == "linear"
        found = sweeps_to_solution(plant, beta=(0.1, 2), rng=1)
        assert (found.sweeps_per_run, found.beta, found.schedule) == (1000, (0.1, 2), "linear")
        assert sweeps_to_solution(plant, sweeps_per_run=9, rng=1).sweeps_per_run == 9


class TestStores:
    def test_tasks_keep_their_names(self):
        """Hashes of tasks as they were before there were squares."""
        task = Task("random_loops", {"n": 100, "frustration": 0.05, "loop_density": 0.345})
        assert task.task_id[:16] == BEFORE

    def test_what_was_stored_before_is_read_and_written_alike(self):
        old = {"size": 30.0, "loops": 12,
               "schedule": {"sweeps_per_run": 22, "first_beta": 0.01, "last_beta": 3.4,
                            "max_sweeps": 1000}}  # fmt: skip
        found = Realised.from_plain(old)
        assert found.schedule.schedule == "linear"
        assert found.plain() == old

    def test_the_new_is_kept(self):
        plant = wishart(12, columns=8, rng=1)
        realised = Realised.of(plant, Annealer())
        assert (realised.size, realised.loops) == (12, 0)
        assert Realised.from_plain(json.loads(json.dumps(realised.plain()))) == realised

    @pytest.mark.parametrize(
        "wrong",
        [{"schedule": "linear"}, {"schedule": "wild"}, {"first_beta": 0}, {"last_beta": 1e-9},
         {"other": 1}],
    )  # fmt: skip
    def test_what_cannot_be_is_refused(self, wrong):
        stored = Realised.of(wishart(12, columns=8, rng=1), Annealer()).plain()
        stored["schedule"] |= wrong
        with pytest.raises(ValueError, match=r"realised|is not an object with the keys"):
            Realised.from_plain(stored)


class TestStudy:
    def test_any_parameter_is_an_axis(self, store, tmp_path):
        with Store(store) as opened:
            points = points_of(opened, "median")
            series = series_of(points, "alpha")
            assert [one.label for one in series] == ["n = 8", "n = 12"]
            assert [p.along("alpha") for p in series[0].points] == [0.5, 1, 2]
            assert [p.size for p in points][:1] == [8]
            assert "geometric, over anneal's own range," in settings_text(points)
            assert not fit_study(opened).peaks
            with pytest.raises(ValueError, match="columns cannot be the axis: wishart"):
                series_of(points, "columns")
        assert main(["study", "plot", str(store), "-o", str(tmp_path / "x.png")]) == 0
        assert main(["store", "export", str(store), "-o", str(tmp_path / "x.csv")]) == 0
        assert "alpha" in (tmp_path / "x.csv").read_text().split("\n")[0]

    def test_without_an_axis_the_dial_is_drawn_along(self, store):
        from glasshouse.studies.charts import plot_study

        study = parse_study(STUDY.replace('figure = "alpha"', ""))
        with Store(store) as opened:
            assert plot_study(opened, study=study).get_xlabel() == "alpha"

    def test_what_is_no_axis_is_refused(self):
        with pytest.raises(ValueError, match=r"figure='pie' must be one of .* or a method's"):
            parse_study(STUDY.replace('"alpha"', '"pie"'))
        with pytest.raises(ValueError, match="figure="):
            parse_study(STUDY.replace('"alpha"', "[1]"))

    def test_every_kind_measures_every_method(self, toy, tmp_path):
        for method in (toy, METHODS["wishart"], METHODS["posiform"]):
            small = {"n": 8, "alpha": 1} if method.name == "wishart" else {"n": 8}
            for kind in KINDS:
                task = Task(method.name, small, kind, stop=Stop(3))
                collect([task], tmp_path / f"{method.name}-{kind}.sqlite")
                rows = task.measure(0, 2)
                assert len(rows["seconds"]) == 2
                if kind == "shapes":
                    assert (rows["intersections"] >= 0).all()

    @pytest.mark.parametrize("example", EXAMPLES)
    def test_every_example_is_annealed(self, example):
        name, number = example.split()
        solver = Annealer(max_sweeps=2000)
        task = Task(name, METHODS[name].examples[int(number)], solver=solver)
        rows = task.measure(0, 1)
        assert rows["sweeps"][0] >= 1
        assert Realised.from_plain(json.loads(json.dumps(task.realise()))) == task.realised

    def test_a_size_that_is_the_dial(self, toy, tmp_path):
        text = STUDY.replace("alpha", "size", 1).replace("wishart", "even_sums")
        text = text.replace('n = [8, 12], alpha = ["1/2", 1, 2]', "n = [6, 8, 10]")
        collect(parse_study(text).tasks, tmp_path / "x.sqlite")
        with Store(tmp_path / "x.sqlite") as opened:
            assert [p.size for p in points_of(opened, "median")] == [6, 8, 10]


class TestTune:
    def test_a_knob_of_its_own(self):
        found = tune(16, 120, method="wishart", tolerance=0.9, rng=1)
        assert set(found.task.parameters) == {"n", "alpha"}
        assert found.is_within_tolerance

    @pytest.mark.parametrize(
        ("name", "knob"), [(name, knob) for name in METHODS for knob in METHODS[name].knobs]
    )
    def test_both_ends_of_every_knob_grow(self, name, knob):
        example = next((e for e in METHODS[name].examples if knob in e), METHODS[name].examples[0])
        usual = METHODS[name].parameters  # parameters with a default number keep it
        fixed = {k: v for k, v in example.items() if usual[k].default in (None, usual[k].empty)}
        fixed |= {"classic_loops": {"length": 4}, "tiles2d": {"p1": 0}}.get(name, {})
        fixed.pop(knob, None)
        family = Family(name, fixed, knob, Annealer(), 1)
        for end in family.bounds():
            assert end % family.step == 0
            family.task(end, 100).grow(0).verify()

    def test_whole_numbers_stay_whole(self, toy):
        assert toy.is_whole("n")
        assert not METHODS["wishart"].is_whole("alpha")
        assert METHODS["wishart"].is_whole("columns")
        found = tune(None, 40, method="even_sums", tolerance=0.9, most_instances=64, rng=1)
        assert found.setting.denominator == 1
        assert isinstance(found.task.parameters["n"], int)

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ({"n": 20, "knob": "alpha"}, "name a method that has it: wishart"),
            ({"n": None}, "pass n, or a graph"),
            ({"n": None, "method": "wishart"}, "wishart needs values for n"),
            ({"n": 20, "method": "uniform_max2sat"}, "has no knob"),
            ({"n": 20, "method": "wishart", "parameters": {"alpha": 1}}, "remove it"),
            ({"n": 20, "method": "wishart", "parameters": {"colour": 1}}, "does not take colour"),
        ],
    )
    def test_what_cannot_be_is_refused(self, arguments, words):
        with pytest.raises(ValueError, match=words):
            tune(**arguments, target_sweeps=100, rng=1)

    def test_the_command_plants_what_it_found(self, tmp_path, capsys):
        words = ["tune", "--method", "posiform", "-n", "20", "-p", "block=5", "--count", "2",
                 "--target-sweeps", "150", "--tolerance", ".9", "-o", f"{tmp_path}/x"]  # fmt: skip
        assert main(words) == 0, capsys.readouterr().err
        told = capsys.readouterr().out
        assert "glasshouse plant posiform --block 5 -n 20 --scale 0." in told
        assert len(list((tmp_path / "x").glob("*.wcnf"))) == 2
        assert main(["check", str(tmp_path / "x" / "manifest.jsonl")]) == 0

    @pytest.mark.parametrize(
        ("words", "reason"),
        [
            (["-p", "block"], "must have the form NAME=VALUE"),
            (["-p", "block=3", "-p", "block=4"], "block is given twice"),
            (["--block", "3", "-p", "block=4"], "--block is now -p block=VALUE"),
            (["-p", "scale=1/3"], "remove the option that sets it"),
            (["-p", "colour=red"], "does not take colour"),
        ],
    )
    def test_mistyped_parameters_are_one_line(self, words, reason, capsys):
        asked = ["tune", "--method", "posiform", "-n", "20", "--target-sweeps", "100"]
        assert main([*asked, *words]) == 2
        error = capsys.readouterr().err
        assert reason in error
        assert error.count("\n") == 1


def test_suites_and_their_dial_take_any_family(toy):
    suite = parse_suite("""
name = "x"
[[family]]
method = "wishart"
parameters = { n = 8 }
grid = { alpha = ["1/2", 1] }
[[family]]
method = "even_sums"
parameters = { n = 8 }
shuffle = true
""")
    assert len(suite) == 3
    tables = {str(k): family.parameters for k, family in enumerate(suite.families[:2])}
    assert dials(tables) == ["alpha"]
    many = {"a": {"zeal": 1, "alpha": 1}, "b": {"zeal": 2, "alpha": "1/2"}}
    assert dials(many) == ["alpha", "zeal"]
    assert dials({k: {"aa": v["zeal"], "scale": v["alpha"]} for k, v in many.items()})[0] == "scale"


def test_a_family_of_squares_is_one_file_and_one_line(toy, tmp_path, capsys):
    """Planted, proven, written, checked, shuffled and solved like all others."""
    path = tmp_path / "x.npz"
    assert (
        main(["plant", "even", "-n", "8", "--strength", "3", "--seed", "2", "-o", str(path)]) == 0
    )
    plant = gh.read_planted(path)
    assert plant == toy.function(8, strength=3, rng=2)
    plant.verify()
    gh.shuffle(plant).verify()
    assert str(plant.summary().ground_states).startswith("2 (")
    assert main(["check", str(path)]) == 0
    assert main(["solve", str(path)]) == 0
    assert "VERIFIED" in capsys.readouterr().out


BEFORE = "a514aa543f0752fe"
