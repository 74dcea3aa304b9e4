"""Stores of several computers, merged and exported as one table."""

from __future__ import annotations

import io
import sqlite3
import sys
from pathlib import Path

import pytest
from tests.store.synthetic import Fake, table

from glasshouse.store import Stop, Store, collect
from glasshouse.store.storefile import StoreError
from glasshouse.studies import Annealer, Task
from glasshouse.studies.export import export_rows, read_rows
from glasshouse.studies.merging import merge
from glasshouse.version import __version__


def part(path: Path, *ranges: tuple[int, int], seed: int = 1) -> Path:
    with Store(path, write=True) as store:
        (task,) = store.add_tasks([Fake(seed=seed)])
        for first, end in ranges:
            store.add_batch(task, first, Fake(seed=seed).measure(first, end - first))
    return path


def test_parts_make_a_whole(tmp_path):
    first = part(tmp_path / "a.sqlite", (0, 10), (20, 30))
    second = part(tmp_path / "b.sqlite", (5, 25), (30, 35))
    third = part(tmp_path / "c.sqlite", (0, 7), seed=2)
    done = merge(tmp_path / "all.sqlite", [first, second, third])
    assert (done.new_rows, done.known_rows, done.tasks) == (42, 10, 2)
    found = table(tmp_path / "all.sqlite")
    assert found[Fake().task_id]["sweeps"] == Fake().measure(0, 35)["sweeps"].tolist()
    with Store(tmp_path / "all.sqlite") as store:
        assert [status.rows for status in store.status()] == [35, 7]
    again = merge(tmp_path / "all.sqlite", [second])
    assert (again.new_rows, again.known_rows) == (0, 25)


def test_a_merged_study_goes_on_where_it_was(tmp_path):
    merge(tmp_path / "all.sqlite", [part(tmp_path / "a.sqlite", (10, 20))])
    end = collect([Fake(stop=Stop(30))], tmp_path / "all.sqlite")
    assert (end.rows, end.new_rows) == (30, 20)


def test_a_contradiction_is_refused_and_nothing_is_added(tmp_path):
    first = part(tmp_path / "a.sqlite", (0, 10))
    second = part(tmp_path / "b.sqlite", (0, 20))
    database = sqlite3.connect(second, isolation_level=None)
    database.execute("UPDATE hardness SET sweeps = sweeps + 1 WHERE instance = 7")
    database.close()
    with pytest.raises(StoreError, match="instance 7"):
        merge(first, [second])
    with Store(first) as store:
        assert store.status()[0].rows == 10


def test_wrong_sources_make_no_target(tmp_path):
    (tmp_path / "text").write_text("hello")
    with pytest.raises(StoreError, match="not a glasshouse store"):
        merge(tmp_path / "new.sqlite", [tmp_path / "text"])
    with pytest.raises(FileNotFoundError, match="no such store"):
        merge(tmp_path / "new.sqlite", [tmp_path / "missing"])
    assert not (tmp_path / "new.sqlite").exists()
    mine = part(tmp_path / "a.sqlite", (0, 3))
    with pytest.raises(ValueError, match="into itself"):
        merge(mine, [mine])


def test_csv_holds_the_table_of_parquet(tmp_path):
    polars = pytest.importorskip("polars")
    solver = Annealer(sweeps_per_run=20, beta=(0.01, 2))
    common = {"n": 6, "frustration": 0.2}
    tasks = [
        Task("random_loops", common | density, solver=solver, stop=Stop(5), seed=4)
        for density in ({"loop_density": "1/3"}, {"loops": 3})
    ]
    collect(tasks, tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite") as store:
        assert export_rows(store, tmp_path / "s.csv") == 10
        stream = io.BytesIO()
        assert export_rows(store, stream) == 10
        with pytest.raises(ValueError, match="exists"):
            export_rows(store, tmp_path / "s.csv")
        wanted = read_rows(store)
    assert stream.getvalue() == (tmp_path / "s.csv").read_bytes()
    frame = polars.read_csv(tmp_path / "s.csv", schema_overrides=wanted.schema)
    assert frame.equals(wanted)


def test_csv_needs_no_polars(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with Store(part(tmp_path / "s.sqlite", (0, 3))) as store:
        assert export_rows(store, tmp_path / "s.csv") == 3
    assert len((tmp_path / "s.csv").read_text().splitlines()) == 4


def test_parquet_holds_what_was_asked_beside_what_was_measured(tmp_path):
    polars = pytest.importorskip("polars")
    solver = Annealer(sweeps_per_run=20, beta=(0.01, 2))
    tasks = [
        Task("random_loops", {"n": n, "frustration": 0.2, "loop_density": 0.5}, solver=solver,
             stop=Stop(5), seed=4)
        for n in (6, 8)
    ]  # fmt: skip
    collect(tasks, tmp_path / "s.sqlite")
    with Store(tmp_path / "s.sqlite") as store:
        assert export_rows(store, tmp_path / "s.parquet") == 10
        frame = polars.read_parquet(tmp_path / "s.parquet")
        assert frame.equals(read_rows(store))
        expected = store.rows(store.tasks()[1])["sweeps"].tolist()
        with pytest.raises(ValueError, match="no races rows; it has hardness"):
            read_rows(store, "races")
    assert frame.filter(polars.col("n") == 8)["sweeps"].to_list() == expected
    assert frame["version"].unique().to_list() == [__version__]
    assert frame["requested_frustration"].unique().to_list() == [0.2]
    assert frame["solver_sweeps_per_run"].unique().to_list() == [20]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s.parquet", "s.sqlite"]
