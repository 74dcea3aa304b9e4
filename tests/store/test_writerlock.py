"""One writer per store, even while it is created, and no stored row is ever lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.store.rivals import ROWS, rivals
from tests.store.synthetic import Fake, table

from glasshouse.store import schema, storefile
from glasshouse.store.store import Store
from glasshouse.store.storefile import StoreError


def fill(path: Path, seed: int) -> None:
    with Store(path, write=True) as store:
        (task,) = store.add_tasks([Fake(seed=seed)])
        store.add_batch(task, 0, Fake(seed=seed).measure(0, ROWS))


def rows_of(path: Path) -> dict[str, list[int]]:
    return {task_id: rows["instance"] for task_id, rows in table(path).items()}


def race_often(folder: Path, count: int, rounds: int, seed: int) -> tuple[int, int]:
    """Rounds of a race for a new store each; how many won, and how many were refused."""
    chance = random.Random(seed)
    won = refused = 0
    with rivals(count) as race:
        for number in range(rounds):
            path = folder / f"{number}.sqlite"
            told = race(path, chance, longest=0.02)
            winners = [k for k, text in enumerate(told) if text == "done"]
            assert winners
            expected = {Fake(seed=k).task_id: list(range(ROWS)) for k in winners}
            assert rows_of(path) == expected
            for text in told:
                if text != "done":
                    assert "is being written by another process" in text
                    assert "\n" not in text
            assert [p.name for p in folder.iterdir()] == [path.name]
            path.unlink()
            won, refused = won + len(winners), refused + count - len(winners)
    return won, refused


@pytest.mark.parametrize(
    ("count", "rounds"),
    [
        (2, 30),
        pytest.param(2, 200, marks=pytest.mark.slow),
        pytest.param(4, 300, marks=pytest.mark.slow),
    ],
)
def test_processes_that_create_a_store_at_once_lose_nothing(tmp_path, count, rounds):
    won, refused = race_often(tmp_path, count, rounds, seed=count)
    assert won + refused == count * rounds
    assert refused >= rounds / 20  # otherwise they did not meet


def test_a_store_that_appears_before_the_lock_is_taken_is_kept(tmp_path, monkeypatch):
    """Two processes find no store; the second gets the lock when the first is done."""
    path = tmp_path / "s.sqlite"
    lock = storefile._lock

    def late(handle: int) -> bool:
        monkeypatch.setattr(storefile, "_lock", lock)
        fill(path, seed=1)
        return lock(handle)

    monkeypatch.setattr(storefile, "_lock", late)
    fill(path, seed=2)
    assert set(rows_of(path)) == {Fake(seed=1).task_id, Fake(seed=2).task_id}


def test_a_lock_on_a_file_that_was_removed_is_none(tmp_path, monkeypatch):
    """A holds the lock; B opens its file; A removes it and goes; C comes; B locks what it has."""
    path = tmp_path / "s.sqlite"
    lock = storefile._lock
    first = Store(path, write=True)
    others = []

    def late(handle: int) -> bool:
        monkeypatch.setattr(storefile, "_lock", lock)
        first.close()
        others.append(Store(path, write=True))
        return lock(handle)

    monkeypatch.setattr(storefile, "_lock", late)
    with pytest.raises(StoreError, match="another process"):
        Store(path, write=True)
    others[0].close()
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_to_a_store_has_the_same_writer(tmp_path):
    link = tmp_path / "link.sqlite"
    fill(tmp_path / "s.sqlite", seed=1)
    link.symlink_to(tmp_path / "s.sqlite")
    with (
        Store(tmp_path / "s.sqlite", write=True),
        pytest.raises(StoreError, match="another process"),
    ):
        Store(link, write=True)
    fill(link, seed=2)
    assert link.is_symlink()
    assert len(rows_of(tmp_path / "s.sqlite")) == 2


def test_a_link_to_nothing_makes_the_store_where_it_leads(tmp_path):
    link = tmp_path / "link.sqlite"
    link.symlink_to(tmp_path / "s.sqlite")
    fill(link, seed=1)
    assert link.is_symlink()
    assert len(rows_of(tmp_path / "s.sqlite")) == 1


def test_what_is_in_a_file_of_that_name_stays(tmp_path):
    mine = tmp_path / "s.sqlite.writer"
    mine.write_text("about a writer")
    fill(tmp_path / "s.sqlite", seed=1)
    assert mine.read_text() == "about a writer"


@pytest.mark.parametrize("has_links", [True, False])
def test_creating_never_replaces_what_has_content(tmp_path, monkeypatch, has_links):
    if not has_links:
        monkeypatch.setattr(storefile.os, "link", lambda *_: (_ for _ in ()).throw(OSError("none")))
    path = tmp_path / "s.sqlite"
    fill(path, seed=1)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="just created"):
        storefile.create(path, schema.TABLES.values())
    assert path.read_bytes() == before
    empty = tmp_path / "empty.sqlite"
    empty.touch()
    fill(empty, seed=1)
    assert rows_of(empty) == rows_of(path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["empty.sqlite", "s.sqlite"]
