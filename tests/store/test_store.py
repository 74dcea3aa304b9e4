"""Stores: rows are read back as written, and other files are not touched."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.children import run
from tests.store.synthetic import KIND, Fake
from tests.test_installation import unprivileged

from glasshouse.files.text.errors import FileError, MissingFileError
from glasshouse.store.ranges import Ranges
from glasshouse.store.row_types import Column, Kind, Stop
from glasshouse.store.store import Store
from glasshouse.store.storefile import APPLICATION_ID, SCHEMA_VERSION, StoreError

spans = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 10)).map(lambda p: (p[0], p[0] + p[1]))
)


def filled(path: Path, rows: int = 10) -> Path:
    with Store(path, write=True) as store:
        (task,) = store.add_tasks([Fake()])
        store.add_batch(task, 0, Fake().measure(0, rows))
    return path


class TestRanges:
    @given(spans, st.integers(0, 40))
    def test_they_are_the_sets_they_stand_for(self, parts, end):
        there = {k for low, high in parts for k in range(low, high)}
        found = Ranges.union(parts)
        assert {k for low, high in found for k in range(low, high)} == there
        assert len(found) == len(there)
        assert all(a[1] < b[0] for a, b in zip(found.parts, found.parts[1:], strict=False))
        missing = {k for low, high in found.missing(end) for k in range(low, high)}
        assert missing == set(range(end)) - there
        assert found.prefix == next(k for k in range(50) if k not in there)


class TestRows:
    def test_rows_come_back_exactly_and_in_order(self, tmp_path):
        with Store(tmp_path / "s.sqlite", write=True) as store:
            (task,) = store.add_tasks([Fake()])
            store.add_batch(task, 5, Fake().measure(5, 5))
            store.add_batch(task, 0, Fake().measure(0, 5))
            rows = store.rows(task)
            expected = Fake().measure(0, 10)
            assert rows["instance"].tolist() == list(range(10))
            for name, column in expected.items():
                assert rows[name].dtype == column.dtype
                assert rows[name].tolist() == column.tolist()
            assert store.rows(task, ["sweeps"], below=3)["sweeps"].tolist() == (
                expected["sweeps"][:3].tolist()
            )
            assert store.done(task) == Ranges(((0, 10),))

    def test_signed_numbers_are_the_rows(self, tmp_path):
        with Store(tmp_path / "s.sqlite", write=True) as store:
            (task,) = store.add_tasks([Fake(limit=60)])
            assert store.signed(task, "sweeps", "solved").size == 0
            rows = Fake(limit=60).measure(0, 50)
            store.add_batch(task, 0, rows)
            found = store.signed(task, "sweeps", "solved")
            with pytest.raises(ValueError, match="must be integer columns"):
                store.signed(task, "seconds", "solved")
        expected = np.where(rows["solved"] == 1, rows["sweeps"], -rows["sweeps"])
        assert sorted(found) == sorted(expected)
        assert (found < 0).any()

    def test_status_counts(self, tmp_path):
        path = filled(tmp_path / "s.sqlite")
        with Store(path) as store:
            (status,) = store.status()
        assert (status.rows, status.counted) == (10, 10)
        assert status.seconds == pytest.approx(1e-4)
        assert status.task.stop == Stop(50)
        assert len(status.versions) == 1

    def test_the_newest_stop_rule_is_kept(self, tmp_path):
        path = filled(tmp_path / "s.sqlite")
        with Store(path, write=True) as store:
            store.add_tasks([Fake(stop=Stop(99))])
            assert [task.stop for task in store.tasks()] == [Stop(99)]

    def test_rows_of_the_wrong_shape_are_refused(self, tmp_path):
        with Store(tmp_path / "s.sqlite", write=True) as store:
            (task,) = store.add_tasks([Fake()])
            rows = dict(Fake().measure(0, 5))
            with pytest.raises(ValueError, match="has shape"):
                store.add_batch(task, 0, rows | {"sweeps": rows["sweeps"][:4]})
            with pytest.raises(ValueError, match="columns must be"):
                store.add_batch(task, 0, rows | {"other": rows["sweeps"]})
            with pytest.raises(TypeError):
                store.add_batch(task, 0, rows | {"sweeps": rows["sweeps"] + 0.5})
            assert store.rows(task)["instance"].size == 0

    def test_the_same_instance_twice_is_refused_and_changes_nothing(self, tmp_path):
        path = filled(tmp_path / "s.sqlite")
        with Store(path, write=True) as store:
            (task,) = store.tasks()
            with pytest.raises(StoreError, match="UNIQUE"):
                store.add_batch(task, 8, Fake().measure(8, 5))
            assert store.done(task) == Ranges(((0, 10),))
            assert store.check() == []

    def test_a_kind_with_other_columns_is_refused(self, tmp_path):
        class Other(Fake):
            @property
            def kind(self) -> Kind:
                return Kind("hardness", (Column("steps", "integer", ""),))

        with (
            Store(filled(tmp_path / "s.sqlite"), write=True) as store,
            pytest.raises(StoreError, match="do not have this version's columns"),
        ):
            store.add_tasks([Other()])

    def test_notes(self, tmp_path):
        with Store(tmp_path / "s.sqlite", write=True) as store:
            assert store.noted("study") is None
            store.note("study", "a")
            store.note("study", "b")
            assert store.noted("study") == "b"

    @pytest.mark.parametrize(
        ("name", "column"), [("tasks", "x"), ("a b", "x"), ("ok", "seconds"), ("ok", "x;")]
    )
    def test_names_that_sql_could_not_take_are_refused(self, name, column):
        with pytest.raises(ValueError, match="cannot name"):
            Kind(name, (Column(column, "integer", ""),))


class TestFiles:
    def test_reading_what_is_not_there_makes_nothing(self, tmp_path):
        with pytest.raises(MissingFileError, match="no such store"):
            Store(tmp_path / "s.sqlite")
        assert list(tmp_path.iterdir()) == []

    def test_a_closed_store_is_closed_and_not_damaged(self, tmp_path):
        with Store(tmp_path / "s.sqlite", write=True) as store:
            assert store.summary() == f"{tmp_path / 's.sqlite'}: 0 instances, 0 of 0 tasks done"
        with pytest.raises(StoreError, match="is closed; open it again"):
            store.status()

    @pytest.mark.parametrize("content", [b"hello", b"x" * 5000])
    @pytest.mark.parametrize("write", [False, True])
    def test_a_file_that_is_no_store_is_left_alone(self, tmp_path, content, write):
        path = tmp_path / "notes.txt"
        path.write_bytes(content)
        with pytest.raises(StoreError, match="not a glasshouse store"):
            Store(path, write=write)
        assert path.read_bytes() == content
        assert list(tmp_path.iterdir()) == [path]

    @pytest.mark.parametrize("write", [False, True])
    def test_a_database_of_another_program_is_left_alone(self, tmp_path, write):
        path = tmp_path / "other.sqlite"
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE tasks (x)")
        database.close()
        before = path.read_bytes()
        with pytest.raises(StoreError, match="another program"):
            Store(path, write=write)
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]

    @pytest.mark.parametrize("write", [False, True])
    def test_a_store_of_a_newer_version_is_left_alone(self, tmp_path, write):
        path = filled(tmp_path / "s.sqlite")
        database = sqlite3.connect(path, isolation_level=None)
        database.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
        database.close()
        before = path.read_bytes()
        with pytest.raises(StoreError, match="newer glasshouse"):
            Store(path, write=write)
        assert path.read_bytes() == before

    def test_two_writers_are_refused_and_readers_are_welcome(self, tmp_path):
        path = filled(tmp_path / "s.sqlite")
        with Store(path, write=True) as store:
            with pytest.raises(StoreError, match="another process"):
                Store(path, write=True)
            (task,) = store.tasks()
            store.add_batch(task, 10, Fake().measure(10, 5))
            with Store(path) as reader:
                assert reader.status()[0].rows == 15
                with pytest.raises(StoreError, match="only for reading"):
                    reader.note("a", "b")
        assert list(tmp_path.iterdir()) == [path]

    def test_the_header_names_the_program(self, tmp_path):
        header = filled(tmp_path / "s.sqlite").read_bytes()[:100]
        assert int.from_bytes(header[68:72], "big") == APPLICATION_ID

    def test_a_full_disk_loses_only_the_batch(self, tmp_path):
        path = filled(tmp_path / "s.sqlite")
        with Store(path, write=True) as store:
            (task,) = store.tasks()
            pages = store._database.execute("PRAGMA page_count").fetchone()[0]
            store._database.execute(f"PRAGMA max_page_count = {pages + 2}")
            with pytest.raises(OSError, match=r"full.*safe"):
                store.add_batch(task, 10, Fake().measure(10, 5000))
            assert store.status()[0].rows == 10
            assert store.check() == []
            store._database.execute("PRAGMA max_page_count = 1000000")
            store.add_batch(task, 10, Fake().measure(10, 5000))
        with Store(path) as store:
            assert store.status()[0].rows == 5010

    def test_a_file_size_limit_of_the_system_is_one_clear_line(self, tmp_path):
        script = f"""
import resource
from tests.store.synthetic import Fake
from glasshouse.store import Stop, collect
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    collect([Fake(stop=Stop(50_000))], {str(tmp_path / "s.sqlite")!r})
except OSError as error:
    print("refused:", error)
"""
        ran = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, cwd=Path.cwd()
        )
        assert ran.stderr == ""
        assert "refused:" in ran.stdout
        assert "safe" in ran.stdout
        with Store(tmp_path / "s.sqlite") as store:
            assert store.check() == []
            assert store.status()[0].rows > 0

    def test_a_folder_that_cannot_be_written(self, tmp_path):
        folder = tmp_path / "locked"
        folder.mkdir()
        filled(folder / "s.sqlite")
        folder.chmod(0o555)
        script = f"""
from glasshouse.store.store import Store
with Store({str(folder / "s.sqlite")!r}) as store:
    print("read", store.status()[0].rows)
for name in ("s.sqlite", "new.sqlite"):
    try:
        Store({str(folder)!r} + "/" + name, write=True)
    except OSError as error:
        print("refused:", error)
"""
        before = (folder / "s.sqlite").read_bytes()
        ran = run([*unprivileged(), sys.executable, "-c", script])
        folder.chmod(0o755)
        assert ran.stderr == ""
        lines = ran.stdout.splitlines()
        assert lines[0] == "read 10"
        assert len(lines) == 3
        assert all(
            line.startswith("refused:") and "cannot be written" in line for line in lines[1:]
        )
        assert (folder / "s.sqlite").read_bytes() == before
        assert [p.name for p in folder.iterdir()] == ["s.sqlite"]


class TestCheck:
    def test_a_missing_row_is_found(self, tmp_path):
        path = filled(tmp_path / "s.sqlite")
        database = sqlite3.connect(path, isolation_level=None)
        database.execute("DELETE FROM hardness WHERE instance = 3")
        database.close()
        with Store(path) as store:
            faults = store.check()
        assert len(faults) == 2
        assert "10 rows, but the store has 9" in faults[0]
        assert "incomplete" in faults[1]

    def test_a_torn_page_is_found(self, tmp_path):
        path = filled(tmp_path / "s.sqlite", 2000)
        content = bytearray(path.read_bytes())
        content[-3000:-1000] = b"\xff" * 2000
        path.write_bytes(bytes(content))
        with Store(path) as store:
            assert store.check() != []


def test_the_pretended_task_is_a_function_of_the_index():
    whole = Fake().measure(0, 20)
    part = Fake().measure(12, 3)
    assert np.array_equal(whole["sweeps"][12:15], part["sweeps"])
    assert KIND.counted == "solved"


def test_a_copy_has_the_rows_of_the_write_ahead_log(tmp_path):
    path, copy = tmp_path / "store.sqlite", tmp_path / "copy.sqlite"
    task = Fake(stop=Stop(30))
    with Store(path, write=True) as writer:
        (stored,) = writer.add_tasks([task])
        writer.add_batch(stored, 0, task.measure(0, 30))
        with Store(path) as reader:
            reader.copy_to(copy)
            with pytest.raises(FileError, match="already exists"):
                reader.copy_to(copy)
            with pytest.raises(FileError, match="already exists"):
                reader.copy_to(path, overwrite=True)
        writer.add_batch(stored, 30, task.measure(30, 5))
        writer.copy_to(copy, overwrite=True)
    with Store(copy) as copied:
        assert [one.rows for one in copied.status()] == [35]
        assert copied.check() == []
    assert not [*tmp_path.glob(".*.part")]
