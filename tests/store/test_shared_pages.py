"""Few bytes that pose as many: shared pages, statements, and texts that NumPy would spread."""

from __future__ import annotations

import json
import sqlite3
import tracemalloc

import pytest
from tests.races.samplers.toys import Sampler, plants
from tests.store.shared_pages import store_of_shared_pages
from tests.studies.test_merging import part

import glasshouse as gh
from glasshouse.races.commands.results import read_results
from glasshouse.races.samplers.stored import read_sampler_results
from glasshouse.store import Store
from glasshouse.store.records import fitting
from glasshouse.store.storefile import StoreError


def test_rows_that_share_the_pages_of_a_text_are_refused(tmp_path):
    path = tmp_path / "race.sqlite"
    stated = store_of_shared_pages(path, 60)
    assert stated > 2 * path.stat().st_size
    with Store(path) as store:
        assert len(store.tasks()) == 60
        with pytest.raises(StoreError, match=r"damaged .*2nd reference to page"):
            read_results(store)
        with pytest.raises(StoreError, match="2nd reference to page"):
            store.rows(store.tasks()[-1], ["reason"])


def test_tasks_have_no_more_text_than_the_file():
    rows = [(k, "x" * 10) for k in range(5)]
    assert list(fitting(rows, 50, "tasks")) == rows
    with pytest.raises(ValueError, match="tasks have more text than fits into the file"):
        list(fitting(rows, 49, "tasks"))


def test_a_table_of_very_many_columns_is_refused(tmp_path):
    path = part(tmp_path / "s.sqlite", (0, 3))
    with sqlite3.connect(path) as database:
        columns = ", ".join(f"c{k} INTEGER" for k in range(1900))
        database.execute(f"CREATE TABLE other ({columns})")
    with pytest.raises(StoreError, match="damaged"):
        Store(path)


@pytest.mark.parametrize(
    "energies", [["x" * 20_000, *["y"] * 5000], [["x" * 20_000], *["y"] * 5000], {"x": 1}, [True]]
)
def test_energies_that_are_texts_take_no_room_for_each(tmp_path, energies):
    path = tmp_path / "s.sqlite"
    gh.race_samplers({"x": Sampler()}, plants()[:1], reads=2, calls=1, store=path, batches=())
    with sqlite3.connect(path) as database:
        database.execute("UPDATE sampler_race SET energies = ?", (json.dumps(energies),))
    tracemalloc.start()
    try:
        with Store(path) as store, pytest.raises(StoreError, match="not a list of numbers"):
            read_sampler_results(store)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20  # with NumPy's array of texts, 400 MB
