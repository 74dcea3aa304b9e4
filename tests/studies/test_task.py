"""Tasks and studies: one spelling, one id; wrong ones are refused when they are made."""

from __future__ import annotations

import contextlib
import json
import pickle
import subprocess
import sys
import tomllib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.studies.reference import total_sweeps

from glasshouse.store import Stop
from glasshouse.studies import Annealer, Task
from glasshouse.studies.study import _study, load_study, parse_study

FAMILY = {"n": 12, "frustration": 0.2, "loop_density": 0.5}

STUDY = """
name = "small"
title = "A small study"
figure = "density"
statistic = "median"
seed = 3

[solver]
sweeps_per_run = 30
beta = [0.01, 2.5]
max_sweeps = 5000

[stop]
instances = 12

[[family]]
method = "random_loops"
parameters = { frustration = "1/10" }
grid = { n = [8, 10], loop_density = { first = 0.2, ratio = 1.5, count = 3 } }

[[family]]
method = "structured_loops"
parameters = { n = 10, frustration = 0.23, block = 0.3, loop_density = 4 }
stop = { instances = 5, relative_error = 0.1 }
solver = { sweeps_per_run = 50 }
"""


class TestIdentity:
    @pytest.mark.parametrize(
        "other",
        [
            {"n": 12, "m": 12, "frustration": "1/5", "loop_density": "1/2"},
            {"m": 12, "n": 12, "loop_density": Fraction(1, 2), "frustration": "0.20"},
            FAMILY | {"overlap": "constructive", "weights": "equal"},  # the defaults
        ],
    )
    def test_equal_families_have_one_id(self, other):
        first, second = Task("random_loops", FAMILY), Task("random_loops", other)
        assert first.task_id == second.task_id
        assert first == second

    @pytest.mark.parametrize(
        "change",
        [
            {"seed": 1},
            {"solver": Annealer(max_sweeps=7)},
            {"parameters": FAMILY | {"m": 13}},
            {"parameters": FAMILY | {"overlap": "none"}},
            {"measures": "shapes"},
        ],
    )
    def test_whatever_changes_the_rows_changes_the_id(self, change):
        settings = {"method": "random_loops", "parameters": FAMILY}
        assert Task(**(settings | change)).task_id != Task(**settings).task_id

    def test_the_stop_rule_does_not(self):
        first, second = (Task("random_loops", FAMILY, stop=Stop(k)) for k in (5, 6))
        assert first.task_id == second.task_id
        assert first != second

    def test_the_canonical_form_is_fixed(self):
        # Golden: stores of earlier versions are found again by this very text.
        task = Task("random_loops", FAMILY, solver=Annealer(beta=(0.01, 2)), seed=5)
        assert task.canonical() == (
            '{"measures":"hardness","method":"random_loops","parameters":{"frustration":"1/5",'
            '"loop_density":"1/2","m":12,"n":12},"seed":5,"solver":{"beta":["1/100","2"],'
            '"max_sweeps":100000000,"sweeps_per_run":"paper"}}'
        )

    def test_the_id_is_the_same_in_another_process(self):
        script = (
            "from tests.studies.test_task import *; print(Task('random_loops', FAMILY).task_id)"
        )
        ran = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, cwd=Path.cwd(),
            env={"PYTHONHASHSEED": "77"},
        )  # fmt: skip
        assert ran.stdout.strip() == Task("random_loops", FAMILY).task_id, ran.stderr

    def test_a_task_comes_back_from_its_canonical_form_and_from_a_worker(self):
        task = Task("random_loops", FAMILY, solver=Annealer(beta=(0.01, 2)), stop=Stop(9), seed=5)
        assert Task.from_canonical(task.canonical(), task.stop) == task
        copy = pickle.loads(pickle.dumps(task))
        assert copy == task
        assert copy.measure(3, 2)["sweeps"].tolist() == task.measure(3, 2)["sweeps"].tolist()


class TestMeasure:
    @pytest.mark.parametrize("measures", ["hardness", "shapes", "excitations"])
    def test_a_row_depends_on_its_index_only(self, measures):
        task = Task("random_loops", FAMILY | {"n": 8}, measures)
        whole, parts = (
            task.measure(0, 6),
            [task.measure(0, 1), task.measure(1, 3), task.measure(4, 2)],
        )
        for column in task.kind.columns:
            joined = np.concatenate([part[column.name] for part in parts])
            assert np.array_equal(whole[column.name], joined)
        task.kind.check(whole, 6)

    def test_hardness_rows_reach_the_planted_energy_or_say_that_they_do_not(self):
        task = Task("random_loops", FAMILY, solver=Annealer(sweeps_per_run=20, max_sweeps=40))
        rows = task.measure(0, 40)
        planted = np.array([task.grow(k).energy for k in range(40)])
        assert set(rows["solved"]) == {0, 1}
        assert np.array_equal(rows["energy"][rows["solved"] == 1], planted[rows["solved"] == 1])
        assert (rows["energy"] >= planted).all()
        assert ((rows["sweeps"] == 40) | (rows["solved"] == 1)).all()
        assert (rows["frustration"] == 0.2).all()
        assert (rows["loops"] == 6).all()

    @pytest.mark.parametrize("batched", [True, False])
    def test_the_pipeline_agrees_with_a_plain_annealer(self, batched):
        # Geometric means of 400 samples each, sigma about 1: 4 standard errors are 0.28.
        family = {"n": 20, "frustration": 0.15, "loop_density": 0.5}
        if not batched:
            family |= {"block": "1/2"}
        method = "random_loops" if batched else "structured_loops"
        task = Task(method, family, solver=Annealer(sweeps_per_run=30))
        plain = []
        for k in range(400):
            plant = task.grow(k)
            betas = task.schedule.betas(plant.loop_weight)
            form = plant.ising
            plain.append(total_sweeps(k, form.num_variables, form.edges, form.weights.astype(float),
                                      betas, float(plant.energy), 10**6)[0])  # fmt: skip
        rows = task.measure(0, 400)
        assert rows["solved"].all()
        logs, others = np.log(rows["sweeps"]), np.log(plain)
        error = np.sqrt((logs.var() + others.var()) / 400)
        assert abs(logs.mean() - others.mean()) < 4 * error

    def test_solver_settings_are_compared_on_the_same_instances(self):
        first = Task("random_loops", FAMILY, solver=Annealer(sweeps_per_run=20))
        second = Task("random_loops", FAMILY, solver=Annealer(sweeps_per_run=40))
        assert first.grow(5) == second.grow(5)
        assert first.solving_seed != second.solving_seed
        assert Task("random_loops", FAMILY | {"m": 13}).planting_seed != first.planting_seed

    def test_excitations_of_one_loop(self):
        # One loop of f = 1/5 weighs (4, 4, 4, -3): the next state is 2(4-3) up, half a loop weight.
        family = {"n": 2, "frustration": "1/5", "loops": 1}
        rows = Task("random_loops", family, "excitations").measure(0, 3)
        assert rows["gap"].tolist() == [0.5] * 3
        assert rows["found"].tolist() == [1] * 3
        assert rows["ground_states"].tolist() == [1] * 3

    def test_shapes_count_what_cancels(self):
        family = {"graph": [6, 6], "length": 4, "loop_density": 5}
        rows = Task("classic_loops", family, "shapes").measure(0, 20)
        # f = (1 - N/(2N - N×))/2 for loops of weights ±1.
        n, crossed = rows["loops"], rows["intersections"]
        assert rows["frustration"] == pytest.approx((1 - n / (2 * n - crossed)) / 2)
        assert (crossed > 0).any()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "random"}, "or one of random_loops"),
        ({"parameters": FAMILY | {"density": 3}}, "does not take density"),
        ({"parameters": FAMILY | {"rng": 3}}, "does not take rng"),
        ({"parameters": FAMILY | {"loop_density": -1}}, "must be above 0"),
        ({"parameters": FAMILY | {"frustration": 0.3}}, "above 1/4"),
        ({"parameters": {"n": 12, "loop_density": 1}}, "needs values for frustration"),
        ({"parameters": FAMILY | {"loop_density": {}}}, "must be a number, a string"),
        ({"measures": "speed"}, "not one of excitations, ground"),
        ({"measures": "shapes", "solver": Annealer()}, "uses no solver"),
        ({"seed": -1}, "seed=-1 is below 0"),
        ({"seed": None}, "seed=None is not an integer"),
        ({"seed": [1, 2]}, "not an integer"),
    ],
)
def test_wrong_tasks_are_refused_when_made(settings, words):
    with pytest.raises(ValueError, match=words):
        Task(**({"method": "random_loops", "parameters": FAMILY} | settings))


@pytest.mark.parametrize(
    "settings",
    [
        {"sweeps_per_run": 0},
        {"sweeps_per_run": "best"},
        {"max_sweeps": 0},
        {"beta": "slow"},
        {"beta": [2, 1]},
        {"beta": [1]},
        {"beta": [-1, 2]},
    ],
)
def test_wrong_annealers_are_refused(settings):
    with pytest.raises(ValueError, match=f"^{next(iter(settings))}="):
        Annealer(**settings)


class TestStudy:
    def test_a_grid_is_all_combinations(self):
        study = parse_study(STUDY)
        assert len(study.tasks) == 7
        assert [task.parameters["loop_density"] for task in study.tasks[:3]] == [
            "1/5",
            "3/10",
            "9/20",
        ]
        assert {task.seed for task in study.tasks} == {3}
        assert study.tasks[0].stop == Stop(12)
        # The statistic that is shown decides when it is precise enough.
        assert study.tasks[-1].stop == Stop(5, relative_error=0.1, statistic="median")
        assert study.tasks[-1].solver == Annealer(50, (0.01, 2.5), max_sweeps=5000)
        assert json.loads(study.tasks[0].canonical())["solver"]["sweeps_per_run"] == 30

    def test_scale_changes_the_instances_only(self):
        study = parse_study(STUDY)
        larger = study.scaled(10)
        assert [t.stop.instances for t in larger.tasks] == [120] * 6 + [50]
        assert [t.task_id for t in larger.tasks] == [t.task_id for t in study.tasks]
        assert [t.stop.instances for t in study.scaled(0.001).tasks] == [12] * 6 + [5]

    def test_peak_density_follows_n(self):
        text = STUDY.replace("{ first = 0.2, ratio = 1.5, count = 3 }", '["peak"]')
        values = [Fraction(t.parameters["loop_density"]) for t in parse_study(text).tasks[:2]]
        assert values[0] == Fraction("0.5559")
        assert values[1] < values[0]

    @pytest.mark.parametrize(
        ("old", "new", "words"),
        [
            ('name = "small"', 'nam = "small"', "unknown keys nam"),
            ('name = "small"', "", "name=None"),
            ("instances = 12", "instance = 12", "stop has unknown keys instance"),
            ("max_sweeps = 5000", "sweeps = 5000", "solver has unknown keys sweeps"),
            ("ratio = 1.5", "factor = 1.5", "is not a range"),
            ("first = 0.2", "first = -0.2", "family 1: loop_density=-1/5 must be above 0"),
            ("block = 0.3", "blok = 0.3", "family 2: structured_loops does not take blok"),
            ("grid = { n = [8, 10]", "grid = { n = []", "grid.n is empty"),
            ("grid = { n", "grid = { frustration = [0.1], n", "remove one entry"),
            ('figure = "density"', 'figure = "pie"', "figure='pie' must be one of density"),
            ('statistic = "median"', 'statistic = "mode"', "statistic='mode' is not one of"),
            ("seed = 3", "seed = ", "not TOML"),
            ("[[family]]", "[[families]]", "unknown keys families"),
            ("seed = 3", "seed = -3", "seed=-3 is below 0"),
            ("seed = 3", 'seed = 3\nmeasures = ["hardness"]', "measures=.*not one of"),
            ("instances = 12", 'instances = 12\nconfidence = "high"', "confidence=high must be"),
            ("beta = [0.01, 2.5]", "beta = 3", "beta=3 must be"),
            ("beta = [0.01, 2.5]", 'beta = ["hot", "cold"]', "must be 'paper'"),
            ("n = 10, ", 'n = "ten", ', "family 2: n='ten' is not an integer"),
            (
                "n = 10, frustration = 0.23, block = 0.3, loop_density = 4",
                'loop_density = "peak"',
                "family 2: .*needs n",
            ),
            ("frustration = 0.23", "frustration = nan", "must be a number, a string"),
        ],
    )
    def test_mistakes_are_one_clear_line(self, tmp_path, old, new, words):
        path = tmp_path / "bad.toml"
        path.write_text(STUDY.replace(old, new))
        with pytest.raises(ValueError, match=words) as caught:
            load_study(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_a_missing_file_is_an_os_error(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            load_study(tmp_path / "no.toml")


def places(value, path=()):
    """All places in nested tables, the tables themselves included."""
    yield path
    if isinstance(value, (dict, list)):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*path, key))


SIMPLE = st.one_of(st.text(max_size=4), st.integers(-3, 10**20), st.floats(), st.booleans())
ANYTHING = st.one_of(
    SIMPLE,
    st.lists(SIMPLE, max_size=3),
    st.dictionaries(st.sampled_from(["first", "last", "step", "ratio", "count", "n"]), SIMPLE),
)
PLACES = [path for path in places(tomllib.loads(STUDY)) if path]


@settings(max_examples=300)
@given(st.sampled_from(PLACES), ANYTHING)
def test_any_value_anywhere_is_taken_or_refused_with_a_value_error(path, value):
    values = tomllib.loads(STUDY)
    table = values
    for key in path[:-1]:
        table = table[key]
    table[path[-1]] = value
    if value == 10**20 or (isinstance(value, int) and value > 20 and path[-1] != "seed"):
        table[path[-1]] = 20  # how long large instances take is not the question here
    with contextlib.suppress(ValueError):
        _study(values, "")
