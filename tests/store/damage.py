"""A generator of damaged and hostile stores, and all that reads a store."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.store.synthetic import Fake

from glasshouse.store import Stop, Store, collect
from glasshouse.store.storefile import StoreError
from glasshouse.studies import Annealer, Task
from glasshouse.studies.analysis import fit_study, points_of
from glasshouse.studies.export import read_rows
from glasshouse.studies.merging import merge
from glasshouse.studies.study import heading_of

STUDY = """
name = "small"
figure = "density"
[stop]
instances = 12
[[family]]
method = "random_loops"
parameters = { n = 8, frustration = 0.2 }
grid = { loop_density = [0.5, 0.75] }
"""


def make_store(path: Path) -> Path:
    """A store with everything in it: hardness and shapes, several batches, a study."""
    solver = Annealer(sweeps_per_run=20, beta=(0.01, 2))
    family = {"n": 8, "frustration": 0.2, "loop_density": 0.5}
    tasks = [
        Task("random_loops", family | {"loop_density": density}, solver=solver, stop=Stop(40))
        for density in (0.5, 0.75)
    ]
    tasks.append(Task("random_loops", family, measures="shapes", stop=Stop(30)))
    collect(tasks, path)
    with Store(path, write=True) as store:
        store.note("study", STUDY)
    return path


def make_large_store(path: Path) -> Path:
    """Pretended rows on some dozen pages, so that tables are trees."""
    with Store(path, write=True) as store:
        for seed in (1, 2):
            (task,) = store.add_tasks([Fake(seed=seed)])
            rows = Fake(seed=seed).measure(0, 1)
            for first in range(0, 1500, 300):
                batch = {name: column.repeat(300) for name, column in rows.items()}
                store.add_batch(task, first, batch)
    return path


def read_all(path: Path, scratch: Path, thorough: bool = True) -> None:
    """Everything that reads a store; a StoreError ends one part, anything else is a fault."""
    with Store(path) as store:
        tasks = attempt(store.tasks) or []
        parts: list[Callable[[], object]] = [store.status, store.check]
        for task in tasks:
            parts += [
                lambda task=task: store.rows(task),
                lambda task=task: store.rows(task, ["seconds"], first=3, below=20),
                lambda task=task: store.batches(task),
                lambda task=task: store.done(task),
                lambda task=task: task.table("parameters"),
            ]
            if task.kind == "hardness":
                parts.append(lambda task=task: store.signed(task, "sweeps", "solved"))
        parts += [lambda: heading_of(store)]
        parts += [lambda kind=kind: read_rows(store, kind) for kind in store.kinds]
        for part in parts:
            attempt(part)
        if thorough:  # a plain ValueError for samples without such a statistic
            attempt(lambda: fit_study(store), ValueError)
            attempt(lambda: points_of(store, "median"), ValueError)
    if not thorough:
        return
    target = scratch / "merged.sqlite"
    attempt(lambda: merge(target, [path]))
    for left in scratch.glob("merged.sqlite*"):
        left.unlink()
    attempt(lambda: Store(path, write=True).close())


def attempt(part: Callable[[], Any], allowed: type[ValueError] = StoreError) -> Any:
    try:
        return part()
    except allowed as error:
        require_one_line(error)
        return None


def require_one_line(error: Exception) -> None:
    assert 0 < len(str(error)) < 1000
    assert "\n" not in str(error)


def change_bytes(content: bytearray, chance: random.Random) -> None:
    """One to forty bytes, often near each other, often of the values that mean something."""
    at = chance.randrange(len(content))
    for _ in range(chance.choice([1, 1, 2, 5, 40])):
        place = (at + chance.randrange(200)) % len(content) if chance.random() < 0.5 else (
            chance.randrange(len(content)))  # fmt: skip
        content[place] = chance.choice([0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)])


def truncate(content: bytearray, chance: random.Random) -> None:
    page = 4096
    end = chance.randrange(100, len(content))
    del content[end if chance.random() < 0.5 else max(page, end // page * page) :]


def swap_pages(content: bytearray, chance: random.Random) -> None:
    page = 4096
    a, b = (page * chance.randrange(len(content) // page) for _ in range(2))
    if chance.random() < 0.5:
        a = max(a, page)
        b = max(b, page)
    content[a : a + page], content[b : b + page] = (
        content[b : b + page], content[a : a + page],
    )  # fmt: skip


def repeat_page(content: bytearray, chance: random.Random) -> None:
    """One page in the place of another: trees with common branches, or circles."""
    page = 4096
    a, b = (page * chance.randrange(1, len(content) // page) for _ in range(2))
    content[a : a + page] = content[b : b + page]


def wipe(content: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(content))
    size = chance.choice([4, 100, 4096])
    content[at : at + size] = bytes([chance.choice([0, 0xFF])]) * len(content[at : at + size])


BYTES = (change_bytes, change_bytes, change_bytes, truncate, swap_pages, repeat_page, wipe)

# Values that an attacker may put into any field.
VALUES: tuple[Any, ...] = (
    None, True, 0, 1, -1, 7, 2**31, 2**62, 2**63 - 1, -(2**63), 0.5, -2.5, 1e308, float("inf"), "",
    "x", "1/0", "1/3", "1e999999", "9" * 4000, "\x1b[31m", "a\nb", "\ud7ff", b"\xff\xfe", b"",
    "tasks", "hardness; DROP TABLE tasks", "paper", [], [1], [[1, 2]], {}, {"n": 10**9},
    "complete:20000", 10**30, "x" * 5000, "[" * 100_000, "median",
)  # fmt: skip


def change_json(value: Any, chance: random.Random) -> Any:
    """A JSON value with one field changed, left out or added."""
    if isinstance(value, dict) and value and chance.random() < 0.85:
        name = chance.choice(list(value))
        rest = dict(value)
        fate = chance.random()
        if fate < 0.15:
            del rest[name]
        elif fate < 0.3:
            rest[chance.choice(["n", "graph", "loops", "x", "", "version", "instance"])] = (
                _json_value(chance)
            )
        else:
            rest[name] = change_json(value[name], chance)
        return rest
    if isinstance(value, list) and value and chance.random() < 0.7:
        at = chance.randrange(len(value))
        return [*value[:at], change_json(value[at], chance), *value[at + 1 :]]
    return _json_value(chance)


def _json_value(chance: random.Random) -> Any:
    return chance.choice([value for value in VALUES if not isinstance(value, bytes)])


def change_value(database: sqlite3.Connection, chance: random.Random) -> None:
    """Any value of any table; texts of JSON most often field by field."""
    names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE sql > ''")]
    table = chance.choice(names)
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    column = chance.choice(columns)
    keys = ["key"] if table == "meta" else ["task"] if table == "tasks" else columns[:2]
    rows = list(database.execute(f"SELECT {', '.join([*keys, column])} FROM {table}"))
    *key, old = chance.choice(rows)
    new = changed(old, chance)
    matched = " AND ".join(f"{name} IS ?" for name in keys)
    try:
        database.execute(f"UPDATE {table} SET {column} = ? WHERE {matched}", [new, *key])
        if column == "canonical" and chance.random() < 0.8:
            sign(database, *key)
    except (sqlite3.Error, UnicodeEncodeError, OverflowError):
        pass  # a store cannot contain what SQLite refuses


def changed(old: Any, chance: random.Random) -> Any:
    try:
        parsed = json.loads(old) if isinstance(old, str) else None
    except (ValueError, RecursionError):  # changed before
        parsed = None
    if isinstance(parsed, dict) and chance.random() < 0.9:
        return json.dumps(change_json(parsed, chance))
    new = chance.choice(VALUES)
    return new if not isinstance(new, (list, dict)) else json.dumps(new)


def sign(database: sqlite3.Connection, number: int) -> None:
    """Let the id of a task fit its changed description: damage would not, an attacker does."""
    import hashlib

    ((text,),) = database.execute("SELECT canonical FROM tasks WHERE task = ?", [number])
    if isinstance(text, str):
        digest = hashlib.sha256(text.encode()).hexdigest()
        database.execute("UPDATE tasks SET task_id = ? WHERE task = ?", [digest, number])


SCHEMES = (
    "CREATE VIEW extra AS SELECT * FROM tasks",
    "CREATE TABLE extra (x)",
    "CREATE INDEX extra ON tasks (kind)",
    "CREATE TRIGGER extra AFTER INSERT ON tasks BEGIN DELETE FROM batches; END",
    "CREATE TRIGGER extra AFTER UPDATE ON tasks BEGIN SELECT RAISE(ABORT, 'no'); END",
    "ALTER TABLE tasks RENAME TO jobs",
    "ALTER TABLE tasks ADD COLUMN more TEXT",
    "ALTER TABLE hardness RENAME COLUMN sweeps TO steps",
    "DROP TABLE hardness",
    "DROP TABLE meta; CREATE VIEW meta AS SELECT 'note study' AS key, 'x' AS value",
    "DROP TABLE meta; CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "DROP TABLE batches; CREATE VIEW batches AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL "
    "SELECT x + 1 FROM c) SELECT 1 AS task, x AS first, 1 AS count, 0 AS counted, 0.0 AS seconds, "
    "'1' AS version FROM c",
    "DROP TABLE hardness; CREATE VIEW hardness AS SELECT 1 AS task, 1 AS instance",
    "INSERT INTO meta VALUES ('kind tasks', '{\"columns\": [], \"counted\": null}')",
    "INSERT INTO meta VALUES ('kind x; DROP TABLE tasks', '{\"columns\": [], \"counted\": null}')",
    "INSERT INTO meta VALUES ('kind more', '{\"columns\": [], \"counted\": null}')",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'seconds REAL NOT "
    "NULL', 'seconds REAL NOT NULL CHECK (seconds > randomblob(9))') WHERE name = 'batches'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 2",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 4294967295",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = NULL",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET name = 'sqlite_master'",
    "PRAGMA writable_schema = ON; UPDATE sqlite_master SET type = 'view'",
)


def damage(path: Path, bases: list[Path], chance: random.Random) -> str:
    """Make a damaged copy of a store; returns what was done to it."""
    base = chance.choice(bases)
    if chance.random() < 0.5:
        content = bytearray(base.read_bytes())
        way = chance.choice(BYTES)
        way(content, chance)
        path.write_bytes(content)
        return way.__name__
    shutil.copy(base, path)
    database = sqlite3.connect(path, isolation_level=None)
    for _ in range(chance.choice([1, 1, 1, 3])):
        change_value(database, chance)
    database.close()
    return "change_value"


def damage_often(folder: Path, cases: int, seed: int, thorough_every: int) -> Counter[str]:
    """Damage a store, read it, and count the outcomes; only StoreErrors are caught."""
    bases = [make_store(folder / "small.sqlite"), make_large_store(folder / "large.sqlite")]
    outcomes: Counter[str] = Counter()
    for base in bases:
        read_all(base, folder)
    for case in range(cases):
        path = folder / "damaged.sqlite"
        for left in folder.glob("damaged.sqlite*"):
            left.unlink()
        way = damage(path, bases, random.Random(f"{seed} {case}"))
        begin = time.monotonic()
        try:
            read_all(path, folder, thorough=case % thorough_every == 0)
            outcomes["opened"] += 1
        except StoreError as error:
            require_one_line(error)
            outcomes["refused"] += 1
        except Exception as error:
            error.add_note(f"seed {seed}, case {case}: {way}")
            raise
        assert time.monotonic() - begin < 60, (seed, case, way)
    return outcomes


def interior(children: list[int], start: int = 0) -> bytes:
    """A page of a table's tree that leads to pages and has no rows itself."""
    page = bytearray(4096)
    cells = [child.to_bytes(4, "big") + bytes([k % 127 + 1]) for k, child in enumerate(children)]
    at = 4096
    pointers = bytearray()
    for cell in cells[:-1]:
        at -= len(cell)
        page[at : at + len(cell)] = cell
        pointers += at.to_bytes(2, "big")
    header = b"\x05\x00\x00" + (len(cells) - 1).to_bytes(2, "big") + at.to_bytes(2, "big")
    header += b"\x00" + children[-1].to_bytes(4, "big") + pointers
    page[start : start + len(header)] = header
    return bytes(page)


def endless_tree(content: bytearray, root: int, levels: int = 8) -> None:
    """Let each page of a table's tree lead 400 times to the next: 400^8 rows in some kilobytes.

    Of the schema (root 1) everything but the first branch repeats the entry of the index, the
    only one that SQLite takes twice.
    """
    page = 4096
    start = 100 if root == 1 else 0
    leaf = bytearray(content[(root - 1) * page : root * page])
    cells = int.from_bytes(leaf[start + 3 : start + 5], "big")
    leaf[: 8 + 2 * cells] = leaf[start : start + 8 + 2 * cells]
    content += leaf
    first = last = len(content) // page
    if root == 1:
        at = next(
            pointer
            for pointer in (leaf[8 + 2 * k : 10 + 2 * k] for k in range(cells))
            if b"sqlite_autoindex" in leaf[int.from_bytes(pointer, "big") :][:40]
        )
        leaf[3:5], leaf[8:10] = b"\x00\x01", at
        content += leaf
        last = len(content) // page
    for _ in range(levels):
        content += interior([last] * 400)
        last = len(content) // page
    top = interior([first] + [last] * 399, start)
    content[(root - 1) * page + start : root * page] = top[start:]
    content[28:32] = (len(content) // page).to_bytes(4, "big")
