"""Merging keeps everything or changes nothing: settings, suites, data, kills."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.races.samplers.toys import Sampler, plants
from tests.reports.pretended import race_store
from tests.store.synthetic import Fake
from tests.store.test_purpose import TEXT, dump, run_study, train_machines
from tests.studies.test_merging import part

import glasshouse as gh
from glasshouse.boltzmann.data import shifting_bars
from glasshouse.boltzmann.ensemble import TrainingTask, iter_train
from glasshouse.boltzmann.settings import TrainingSettings
from glasshouse.races.commands.racing import held_race
from glasshouse.races.commands.results import read_results
from glasshouse.races.samplers.stored import read_sampler_results
from glasshouse.store import Stop, Store, collect
from glasshouse.store.storefile import StoreError
from glasshouse.studies.merging import merge
from glasshouse.studies.study import heading_of, parse_study, reserve


def changed_race(path: Path, change) -> Path:
    """Change the rules that a store notes of its race."""
    with Store(path, write=True) as store:
        rules = json.loads(store.noted("race"))
        change(rules)
        store.note("race", json.dumps(rules))
    return path


def refused(tmp_path: Path, sources: list[Path]) -> str:
    """Messages of refused merges, which do not change or create the target."""
    target = tmp_path / "target.sqlite"
    shutil.copy(sources[0], target)
    before = dump(target)
    with pytest.raises(StoreError) as first:
        merge(target, sources[1:])
    assert dump(target) == before
    with pytest.raises(StoreError) as second:
        merge(tmp_path / "new.sqlite", sources)
    assert not [path for path in tmp_path.iterdir() if "new.sqlite" in path.name]
    assert str(first.value) == str(second.value)
    assert "\n" not in str(first.value)
    return str(first.value)


def test_the_rules_and_solvers_of_a_race_are_kept(tmp_path):
    first = race_store(tmp_path / "a.sqlite", names=["minisolver", "other"], instances=3)
    second = race_store(tmp_path / "b.sqlite", names=["third"], instances=3)
    changed_race(second, lambda rules: rules.update(suite="the same files elsewhere"))
    merge(tmp_path / "all.sqlite", [first, second])
    with Store(tmp_path / "all.sqlite") as store, Store(first) as before:
        held, old = held_race(store), held_race(before)
        results = read_results(store)
        assert store.check() == []
    assert results.solvers == ("minisolver", "other", "third")
    assert (len(results.runs), results.expected) == (9, 9)
    assert {name: value for name, value in held.items() if name != "solvers"} == {
        name: value for name, value in old.items() if name != "solvers"
    }
    assert list(held["solvers"]) == ["third", "minisolver", "other"]


def test_the_start_of_a_solver_may_differ_between_computers(tmp_path):
    first = race_store(tmp_path / "a.sqlite", 1, 2, left_out=2)
    second = race_store(tmp_path / "b.sqlite", 1, 2)
    changed_race(first, lambda rules: rules["solvers"]["solver-0"].update(start_seconds=0.5))
    changed_race(second, lambda rules: rules["solvers"]["solver-0"].update(start_seconds=0.7))
    merge(first, [second])
    with Store(first) as store:
        assert read_results(store).starts == {"solver-0": 0.5}
        assert not read_results(store).missing


CHANGES = {
    "another suite": (
        lambda rules: rules.update(digest="1", suite="elsewhere"),
        "holds a race on 'elsewhere', but the target is on 'pretended' with other instances",
    ),
    "another limit": (
        lambda rules: rules.update(seconds=5.0), "time_limit=5.0, but the target has time_limit=60"
    ),
    "another seed": (lambda rules: rules.update(seed=9), "seed=9, but the target has seed=1"),
    "another strictness": (
        lambda rules: rules.update(strict=True), "strict=True, but the target has strict=None"
    ),
    "another meter": (lambda rules: rules.update(meter="benchexec"), "meter='benchexec'"),
    "another program": (
        lambda rules: rules["solvers"]["solver-0"].update(fingerprint="y"),
        "but 'solver-0' is another in the target",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_races_under_other_rules_are_kept_apart(tmp_path, name):
    change, words = CHANGES[name]
    first = race_store(tmp_path / "a.sqlite", 1, 2)
    second = changed_race(race_store(tmp_path / "b.sqlite", 1, 2), change)
    said = refused(tmp_path, [first, second])
    assert words in said
    assert "b.sqlite" in said
    assert said.endswith("keep them in separate stores")


def test_races_on_other_instances_are_kept_apart_whatever_their_rules_state(tmp_path):
    first = race_store(tmp_path / "a.sqlite", 1, 2)
    second = race_store(tmp_path / "b.sqlite", 1, 3)
    assert "whose instances, or their proofs, differ" in refused(tmp_path, [first, second])


def test_samplers_are_merged_on_the_same_problems_and_seed_alone(tmp_path):
    def raced(name: str, who: str, plants, rng: int) -> Path:
        path = tmp_path / f"{name}.sqlite"
        gh.race_samplers(
            {who: Sampler()}, plants, reads=2, calls=1, rng=rng, store=path, batches=()
        )
        return path

    first, second = raced("a", "x", plants()[:2], 1), raced("b", "y", plants()[:2], 1)
    merge(tmp_path / "all.sqlite", [first, second])
    with Store(tmp_path / "all.sqlite") as store:
        found = read_sampler_results(store)
    assert (set(found.solvers), len(found.calls), found.seed) == ({"x", "y"}, 4, 1)
    again = gh.race_samplers(
        {"x": Sampler()}, plants()[:2], reads=2, calls=1, store=tmp_path / "all.sqlite", batches=()
    )
    assert again.seed == 1
    assert "whose instances, or" in refused(tmp_path, [first, raced("c", "y", plants()[2:], 1)])
    assert "seed=[2, []]" in refused(tmp_path, [first, raced("d", "y", plants()[:2], 2)])


def test_machines_that_learn_other_data_are_kept_apart(tmp_path):
    train_machines(tmp_path / "a.sqlite")
    other = TrainingTask(shifting_bars(4, 1), TrainingSettings(2, epochs=2), ["kl"])
    list(iter_train([other], tmp_path / "b.sqlite"))
    sources = [tmp_path / "a.sqlite", tmp_path / "b.sqlite"]
    assert "but those in the target learn other data" in refused(tmp_path, sources)


def test_stores_of_two_purposes_are_not_merged(tmp_path):
    run_study(tmp_path / "a.sqlite")
    race_store(tmp_path / "b.sqlite", 1, 2)
    sources = [tmp_path / "a.sqlite", tmp_path / "b.sqlite"]
    assert "b.sqlite contains a race, but the target contains a study" in refused(tmp_path, sources)
    assert "a.sqlite contains a study, but the target contains" in refused(tmp_path, sources[::-1])


def test_studies_of_two_names_are_not_merged(tmp_path):
    for name in ("tiny", "other"):
        with Store(tmp_path / f"{name}.sqlite", write=True) as store:
            reserve(store, parse_study(TEXT.replace("tiny", name)))
    sources = [tmp_path / "tiny.sqlite", tmp_path / "other.sqlite"]
    assert "holds the study 'other', not 'tiny'" in refused(tmp_path, sources)


def test_the_scale_and_the_larger_stop_rule_are_kept(tmp_path):
    study = parse_study(TEXT)
    for name, scale, number in (("a", 2.0, 20), ("b", 1.0, 10)):
        with Store(tmp_path / f"{name}.sqlite", write=True) as store:
            reserve(store, study if scale == 1 else study.scaled(scale))
        collect([Fake(stop=Stop(number))], tmp_path / f"{name}.sqlite")
    for order in ("ab", "ba"):
        merge(tmp_path / f"{order}.sqlite", [tmp_path / f"{name}.sqlite" for name in order])
        with Store(tmp_path / f"{order}.sqlite") as store:
            (task,) = store.tasks()
            assert (task.stop, task.is_finished) == (Stop(20), True)
            assert heading_of(store).scale == 2.0


def test_a_contradiction_in_the_last_source_leaves_nothing_of_the_others(tmp_path):
    first = part(tmp_path / "a.sqlite", (0, 10))
    second = part(tmp_path / "b.sqlite", (10, 20))
    third = part(tmp_path / "c.sqlite", (5, 15))
    with sqlite3.connect(third) as database:
        database.execute("UPDATE hardness SET sweeps = sweeps + 1 WHERE instance = 12")
    assert "instance 12 of task" in refused(tmp_path, [first, second, third])


def test_rows_of_an_earlier_source_are_compared_before_they_are_on_the_disk(tmp_path):
    # All of it fits into SQLite's memory, so that the file is still empty.
    first = part(tmp_path / "a.sqlite", (0, 3000))
    second = part(tmp_path / "b.sqlite", (0, 3000), (3000, 3010))
    done = merge(tmp_path / "all.sqlite", [first, second])
    assert (done.new_rows, done.known_rows) == (3010, 3000)


KILLED = """
import os, signal, sys
from glasshouse.studies.merging import merge
from glasshouse.store.store import Store

name, left = sys.argv[1], int(sys.argv[2])
original = getattr(Store, name)

def dying(self, *arguments, **keywords):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(self, *arguments, **keywords)

setattr(Store, name, dying)
merge(sys.argv[3], sys.argv[4:])
"""


@pytest.mark.parametrize(
    ("method", "calls"),
    [("note", 0), ("import_tasks", 0), ("add_batch", 0), ("add_batch", 2), ("mark_finished", 0),
     ("import_tasks", 1), ("add_batch", 3), ("mark_finished", 1), ("close", 3)],
)  # fmt: skip
@pytest.mark.parametrize("is_new", [False, True])
def test_a_merge_that_is_killed_leaves_the_target_as_it_was(tmp_path, method, calls, is_new):
    sources = []
    for name, ranges in (
        ("a", ((0, 300), (400, 500))),
        ("b", ((200, 250), (500, 900), (950, 980))),
    ):
        path = part(tmp_path / f"{name}.sqlite", *ranges)
        with Store(path, write=True) as store:
            reserve(store, replace(parse_study(TEXT), scale=2.0))
        sources.append(path)
    target = tmp_path / "all.sqlite"
    if not is_new:
        part(target, (0, 5))
    before = None if is_new else dump(target)
    words = [sys.executable, "-c", KILLED, method, str(calls), str(target), *map(str, sources)]
    ended = subprocess.run(words, capture_output=True, timeout=300)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    if is_new:
        assert not target.exists()
    else:
        with Store(target) as store:
            assert store.check() == []
        assert dump(target) == before
    done = merge(target, sources)
    assert done.new_rows == 830 - (0 if is_new else 5)
    with Store(target) as store:
        assert store.check() == []
        assert heading_of(store).scale == 2.0
