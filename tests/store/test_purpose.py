"""One store, one purpose: whatever opens a store for another one is refused and changes nothing."""

from __future__ import annotations

import itertools
import json
import sqlite3
import sys
from pathlib import Path

import pytest
from tests.races.samplers.toys import Sampler, plants
from tests.reports.pretended import race_store
from tests.store.synthetic import Fake

import glasshouse as gh
from glasshouse.boltzmann.data import shifting_bars
from glasshouse.boltzmann.ensemble import TrainingTask, iter_train
from glasshouse.boltzmann.settings import TrainingSettings
from glasshouse.races.commands.entrants import entrants_of
from glasshouse.races.commands.racing import Race, iter_race
from glasshouse.races.running.command import Limits
from glasshouse.store import Store, collect, purpose
from glasshouse.store.storefile import StoreError
from glasshouse.studies.study import parse_study, reserve
from glasshouse.suites import write_suite
from glasshouse.suites.loading import load_suite

TEXT = """
name = "tiny"
[[family]]
method = "random_loops"
parameters = { frustration = "1/5", loops = 4, n = 6 }
"""


def run_study(path: Path) -> None:
    study = parse_study(TEXT)
    with Store(path, write=True) as store:
        reserve(store, study)
    collect([Fake()], path)


def collect_tasks(path: Path) -> None:
    collect([Fake()], path)


def race_solvers(path: Path) -> None:
    folder = path.parent / "instances"
    if not folder.exists():
        write_suite(folder, plants()[:1])
    limits = Limits(seconds=10)
    entrants = entrants_of([f"mine={sys.executable} {{file}}"], limits, "classic")
    list(iter_race(Race(entrants, load_suite(folder, path.parent), limits), path))


def race_samplers(path: Path, batches=()) -> None:
    gh.race_samplers({"x": Sampler()}, plants()[:1], reads=2, calls=1, store=path, batches=())


def train_machines(path: Path) -> None:
    data = shifting_bars(4, 2)
    list(iter_train([TrainingTask(data, TrainingSettings(2, epochs=2), ["kl"])], path))


OPENERS = {
    "study": run_study,
    "tasks": collect_tasks,
    "race": race_solvers,
    "sampler race": race_samplers,
    "training": train_machines,
}


def only_noted(key: str, value: object):
    def make(path: Path) -> None:
        with Store(path, write=True) as store:
            store.note(key, value if isinstance(value, str) else json.dumps(value))

    return make


# Stores with rows, and stores that were claimed by a run that was killed before its first row.
HOLDERS = {
    "study": run_study,
    "tasks": collect_tasks,
    "race": lambda path: race_store(path, 1, 2),
    "sampler race": race_samplers,
    "training": train_machines,
    "claimed study": only_noted("study", TEXT),
    "claimed race": only_noted("race", {"suite": "x", "solvers": {}}),
    "claimed sampler race": only_noted("sampler race", {"seed": [1, []]}),
}
PURPOSES = {"tasks": "study"}


def meaning(name: str) -> str:
    name = name.removeprefix("claimed ")
    return PURPOSES.get(name, name)


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    """The bytes of a store of each kind."""
    folder = tmp_path_factory.mktemp("held")
    for number, make in enumerate(HOLDERS.values()):
        make(folder / f"{number}.sqlite")
    return {name: (folder / f"{k}.sqlite").read_bytes() for k, name in enumerate(HOLDERS)}


def dump(path: Path) -> list[str]:
    with sqlite3.connect(path) as database:
        return list(database.iterdump())


@pytest.mark.parametrize(
    ("holder", "opener"),
    [pair for pair in itertools.product(HOLDERS, OPENERS) if meaning(pair[0]) != meaning(pair[1])],
)
def test_a_store_of_another_purpose_is_refused_and_nothing_changes(held, tmp_path, holder, opener):
    path = tmp_path / "store.sqlite"
    path.write_bytes(held[holder])
    before = dump(path)
    with pytest.raises(StoreError) as refused:
        OPENERS[opener](path)
    words = {one.note: one.words for one in purpose.PURPOSES}
    there, asked = words[meaning(holder)], words[meaning(opener)]
    assert str(refused.value) == f"{path} holds {there}, not {asked}; use another store"
    assert dump(path) == before


@pytest.mark.parametrize("name", OPENERS)
def test_the_same_purpose_goes_on(tmp_path, name):
    for _ in range(2):
        OPENERS[name](tmp_path / "store.sqlite")
    with Store(tmp_path / "store.sqlite") as store:
        assert [one.note for one in store.purposes] == [meaning(name)]
        assert store.check() == []


def test_a_store_with_two_purposes_is_not_extended(held, tmp_path):
    path = tmp_path / "store.sqlite"
    path.write_bytes(held["race"])
    with Store(path, write=True) as store:
        store.note("study", TEXT)
    for opener in OPENERS.values():
        with pytest.raises(StoreError, match=r"holds a race and a study, not .*; use another"):
            opener(path)


def test_a_race_without_its_rules_is_not_taken_for_a_new_one(held, tmp_path):
    path = tmp_path / "store.sqlite"
    path.write_bytes(held["race"])
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM meta WHERE key = 'note race'")
    with pytest.raises(StoreError, match="contains runs of a race, but not its rules"):
        race_solvers(path)


def test_a_kind_whose_table_could_not_be_made_is_made_by_the_next_try(tmp_path):
    def add_and_fail(store: Store) -> None:
        with store.transaction():
            store.add_tasks([Fake()])
            raise KeyError("something else went wrong")

    with Store(tmp_path / "store.sqlite", write=True) as store:
        with pytest.raises(KeyError):
            add_and_fail(store)
        assert not store.kinds
        assert not store.tasks()
        (task,) = store.add_tasks([Fake()])
        store.add_batch(task, 0, Fake().measure(0, 3))
        assert store.check() == []
