"""Realised values are stored: showing a study, or reading its file, grows nothing."""

from __future__ import annotations

import json
import sqlite3

import pytest

from glasshouse.cli import main
from glasshouse.planting import METHODS, Planted
from glasshouse.store import Stop, Store, collect
from glasshouse.store.storefile import StoreError
from glasshouse.studies import Annealer, Task, fit_study, merge, points_of
from glasshouse.studies.study import parse_study, reserve, study_of

STUDY = """
name = "sizes"
figure = "size"
[solver]
max_sweeps = 5000
[stop]
instances = 8
[[family]]
method = "random_loops"
parameters = { frustration = 0.1, loop_density = 0.5 }
grid = { n = [6, 8, 10, 12, 14] }
[[family]]
method = "graph_loops"
parameters = { graph = "torus:4x4", frustration = "1/5", loop_density = 0.5 }
"""


@pytest.fixture
def store(tmp_path):
    study = parse_study(STUDY)
    path = tmp_path / "sizes.sqlite"
    with Store(path, write=True) as opened:
        reserve(opened, study)
    collect(study.tasks, path)
    return path


@pytest.fixture
def barren(monkeypatch):
    """From now on nothing grows."""

    def refuse(*arguments, **options):
        raise AssertionError("an instance was planted")

    for maker in ("of_rbm", "of_ising"):
        monkeypatch.setattr(Planted, maker, refuse)


def test_looking_at_a_study_plants_nothing(store, barren, capsys):
    pytest.importorskip("matplotlib")
    for command in ("study plot", "study fit", "study show", "store check"):
        assert main([*command.split(), str(store)]) == 0, capsys.readouterr().err
    with Store(store) as opened:
        assert len(study_of(opened).tasks) == len(points_of(opened, "median")) == 6


def test_a_study_that_goes_on_plants_nothing_to_be_checked(store, barren):
    assert collect(parse_study(STUDY).scaled(1).tasks, store).is_complete


def test_a_study_is_read_without_planting(barren):
    assert len(parse_study(STUDY).tasks) == 6
    with pytest.raises(ValueError, match="family 1: frustration=3/10 is above 1/4"):
        parse_study(STUDY.replace("frustration = 0.1", "frustration = 0.3"))


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_every_method_checks_its_arguments_without_growing_anything(method, barren):
    for example in map(method.completed, method.examples):
        method.plan(**example).check()
        for name in {"clause_density", "loops", "loop_density"} & set(example):
            with pytest.raises(ValueError, match="-1"):
                method.plan(**example | {name: -1})


def test_what_cannot_be_grown_is_said_before_anything_is_measured(tmp_path):
    crowded = {"n": 4, "m": 4, "frustration": 0.1, "loops": 5, "overlap": "none"}
    good = {"n": 4, "m": 4, "frustration": 0.1, "loops": 1}
    tasks = [Task("random_loops", family, stop=Stop(3)) for family in (good, crowded)]
    with pytest.raises(ValueError, match="no space for 5 disjoint loops"):
        collect(tasks, tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite") as opened:
        assert opened.status() == []


def test_a_store_from_before_is_read_and_completed(store):
    with Store(store) as opened:
        before = points_of(opened, "median")
    _change(store, "DELETE FROM meta WHERE key LIKE 'realised %'")
    with Store(store) as opened:
        assert all(task.realised is None for task in opened.tasks())
        assert [_plain(p) for p in points_of(opened, "median")] == [_plain(p) for p in before]
    assert collect(parse_study(STUDY).tasks, store).new_rows == 0
    with Store(store) as opened:
        assert all(task.realised is not None for task in opened.tasks())


def _plain(point):
    return point.size, point.density, point.loops, point.schedule, point.estimate


def test_a_merge_takes_it_over(store, tmp_path, barren):
    merge(tmp_path / "all.sqlite", [store])
    with Store(tmp_path / "all.sqlite") as opened:
        assert len(fit_study(opened).laws) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"size": "many"}, {"size": 0}, {"loops": 1.5}, {"loops": True}, {"schedule": None},
        {"schedule": [1, 2]}, {"more": 1}, {"size": 10**400},
    ],
)  # fmt: skip
def test_what_cannot_have_been_realised_is_refused(store, change):
    with Store(store) as opened:
        stored = opened.tasks()[0]
    text = json.dumps(stored.realised | change)
    _change(store, "UPDATE meta SET value = ? WHERE key = ?",
            (text, f"realised {stored.task_id}"))  # fmt: skip
    with Store(store) as opened, pytest.raises(StoreError) as caught:
        points_of(opened, "median")
    assert "\n" not in str(caught.value)


def test_no_json_is_damage(store):
    _change(store, "UPDATE meta SET value = '{' WHERE key LIKE 'realised %'")
    with Store(store) as opened:
        assert "realised" in opened.check()[0]


def test_a_task_keeps_what_was_realised_under_other_stop_rules(barren):
    family = {"n": 6, "frustration": 0.1, "loops": 3}
    task = Task("random_loops", family, solver=Annealer(30), stop=Stop(3))
    other = task.with_stop(Stop(7))
    assert (other.task_id, other.stop, task.stop) == (task.task_id, Stop(7), Stop(3))


def _change(path, statement, values=()):
    database = sqlite3.connect(path)
    database.execute(statement, values)
    database.commit()
    database.close()
