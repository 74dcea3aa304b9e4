"""Texts in rows: what goes in comes out, and what no reader could take goes neither way."""

from __future__ import annotations

import csv
import hashlib
import json
import sqlite3
from dataclasses import dataclass

import numpy as np
import pytest

from glasshouse.store.row_types import LONGEST_TEXT, Column, Kind, Stop
from glasshouse.store.store import Store
from glasshouse.store.storefile import StoreError
from glasshouse.studies.export import export_rows, read_rows
from glasshouse.studies.merging import merge

KIND = Kind("words", (Column("said", "text", "anything"), Column("size", "integer", "its length")))
TEXTS = ["", "2361183241434822606848", 'ü\n"a",b\t€', "x" * LONGEST_TEXT]


@dataclass(frozen=True)
class Saying:
    """A task of one text per row."""

    kind = KIND
    stop = Stop(len(TEXTS))

    def canonical(self) -> str:
        return json.dumps({"measures": "words", "parameters": {"n": 3}})

    @property
    def task_id(self) -> str:
        return hashlib.sha256(self.canonical().encode()).hexdigest()

    def realise(self):
        return {}


def add(path, texts) -> None:
    with Store(path, write=True) as store:
        (task,) = store.add_tasks([Saying()])
        sizes = np.arange(len(texts))
        store.add_batch(task, 0, {"said": texts, "size": sizes, "seconds": np.zeros(len(texts))})


def said(path) -> list[str]:
    with Store(path) as store:
        (task,) = store.tasks()
        return store.rows(task)["said"].tolist()


def test_texts_come_back_as_they_were(tmp_path):
    path = tmp_path / "words.sqlite"
    add(path, TEXTS)
    assert said(path) == TEXTS
    with Store(path) as store:
        assert not store.check()
        assert read_rows(store, "words")["said"].to_list() == TEXTS
        export_rows(store, tmp_path / "words.csv", "words")
    with (tmp_path / "words.csv").open(newline="", encoding="utf-8") as file:
        assert [row["said"] for row in csv.DictReader(file)] == TEXTS
    merge(tmp_path / "all.sqlite", [path])
    assert said(tmp_path / "all.sqlite") == TEXTS
    assert merge(tmp_path / "all.sqlite", [path]).known_rows == len(TEXTS)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("a\0b", "without the character NUL"),
        ("\ud800", "UTF-8"),
        ("x" * (LONGEST_TEXT + 1), f"at most {LONGEST_TEXT} bytes"),
        ("€" * (LONGEST_TEXT // 2), f"at most {LONGEST_TEXT} bytes"),
        (7, "must be strings, not int"),
        (b"x", "must be strings, not bytes"),
        (None, "must be strings, not NoneType"),
    ],
)
def test_texts_that_cannot_be_are_not_stored(tmp_path, text, part):
    path = tmp_path / "words.sqlite"
    with pytest.raises(ValueError, match=part):
        add(path, ["good", text])
    with Store(path) as store:
        assert [one.rows for one in store.status()] == [0]


@pytest.mark.parametrize(
    ("value", "part"),
    [
        ("'a' || char(0) || 'b'", "NUL"),
        ("CAST(x'ff41' AS TEXT)", "decode"),
        ("x'41'", "differ from those"),
        ("7", None),  # SQLite makes it the text "7"
        ("printf('%.*c', 70000, 'x')", "at most"),
    ],
)
def test_texts_that_a_stranger_put_there_are_told(tmp_path, value, part):
    path = tmp_path / "words.sqlite"
    add(path, ["good", "fine"])
    with sqlite3.connect(path) as database:
        database.execute(f"UPDATE words SET said = {value} WHERE instance = 1")
    database.close()
    if part is None:
        assert said(path) == ["good", "7"]
        return
    with pytest.raises(StoreError, match=rf"damaged \(.*{part}.*restore it"):
        said(path)


def test_a_storage_that_no_store_has_is_refused(tmp_path):
    path = tmp_path / "words.sqlite"
    add(path, ["good"])
    with sqlite3.connect(path) as database:
        database.execute("UPDATE meta SET value = replace(value, '\"text\"', '\"blob\"')")
    database.close()
    with pytest.raises(StoreError, match="has the unknown type 'blob'"):
        Store(path)
