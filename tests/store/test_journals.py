"""Untrusted journals: SQLite would play them back, and delete any file that they name."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from glasshouse.cli import main
from glasshouse.store import Store
from glasshouse.store.storefile import StoreError

_MAGIC = bytes.fromhex("d9d505f920a163d7")


def hot_journal(pages: int, victim: Path | None = None) -> bytes:
    """A rollback journal without pages; with a victim, one that names a file to delete."""
    header = _MAGIC + struct.pack(">5I", 0, 1, pages, 512, 4096)
    journal = header.ljust(512, b"\0")
    if victim is None:
        return journal
    name = str(victim).encode()
    lock_page = (1 << 30) // 4096 + 1
    tail = struct.pack(">I", lock_page) + name + struct.pack(">2I", len(name), sum(name)) + _MAGIC
    return journal + tail


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "s.sqlite"
    Store(path, write=True).close()
    return path


@pytest.mark.parametrize("through_link", [False, True])
@pytest.mark.parametrize("command", ["study show", "store check", "study plot", "study fit"])
def test_a_hot_journal_is_refused_and_changes_nothing(
    store, tmp_path, capsys, command, through_link
):
    victim = tmp_path / "precious.txt"
    victim.write_text("mine")
    before = store.read_bytes()
    name = store
    if through_link:
        name = tmp_path / "link.sqlite"
        name.symlink_to(store)
    for journal in (hot_journal(1), hot_journal(6, victim)):
        store.with_name("s.sqlite-journal").write_bytes(journal)
        assert main([*command.split(), str(name)]) == 2
        assert "rollback journal" in capsys.readouterr().err
        with pytest.raises(StoreError, match="rollback journal"):
            Store(name, write=True)
        assert victim.read_text() == "mine"
        assert store.read_bytes() == before
    store.with_name("s.sqlite-journal").unlink()
    Store(name).close()
