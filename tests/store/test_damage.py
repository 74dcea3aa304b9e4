"""Damaged stores, and stores made to harm: one clear line, no crash, no hang, no gigabytes."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from tests.store.damage import SCHEMES, damage_often, endless_tree, make_store, read_all
from tests.store.synthetic import Fake, table

from glasshouse.cli import main
from glasshouse.reports.writing import file_section
from glasshouse.store import Store
from glasshouse.store.storefile import StoreError
from glasshouse.studies.merging import merge
from glasshouse.studies.study import study_of


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    return make_store(tmp_path_factory.mktemp("whole") / "s.sqlite")


@pytest.fixture
def copy(whole, tmp_path) -> Path:
    return Path(shutil.copy(whole, tmp_path / "s.sqlite"))


def change(path: Path, *statements: str) -> Path:
    database = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        database.executescript(statement)
    database.close()
    return path


def test_random_damage_is_one_line_or_none(tmp_path):
    outcomes = damage_often(tmp_path, 200, seed=1, thorough_every=10)
    assert outcomes["refused"] >= 20
    assert outcomes["opened"] >= 20


SCRIPT = """
import resource
from pathlib import Path
from tests.store.damage import damage_often
print(damage_often(Path({folder!r}), {cases}, seed={seed}, thorough_every=2))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_much_random_damage_in_bounded_memory(tmp_path, seed):
    script = SCRIPT.format(folder=str(tmp_path), cases=1500, seed=seed)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path.cwd()), *sys.path])}
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout.split()[-1]) < 1024  # megabytes


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("write", [False, True])
def test_a_foreign_schema_is_refused(copy, tmp_path, scheme, write):
    change(copy, scheme)
    if not scheme.endswith("rootpage = 2"):
        with pytest.raises(StoreError, match="damaged"):
            Store(copy, write=write)
        return
    read_all(copy, tmp_path)  # each table is `meta`: the rows are what is wrong
    with Store(copy) as store:
        assert store.check() != []
        with pytest.raises(StoreError, match="damaged"):
            store.tasks()


@pytest.mark.parametrize("root", [1, 3])
@pytest.mark.parametrize("levels", [0, 1, 2, 5, 12])
def test_a_tree_without_end_is_left_soon(copy, tmp_path, root, levels):
    content = bytearray(copy.read_bytes())
    endless_tree(content, root, levels)
    copy.write_bytes(content)
    if root == 1:
        with pytest.raises(StoreError, match="damaged"):
            Store(copy)
        return
    with Store(copy) as store:
        with pytest.raises(StoreError, match="damaged"):
            store.tasks()
        with pytest.raises(StoreError, match="damaged"):
            store.status()
        assert store.check() != []


@pytest.mark.parametrize(
    ("statement", "part"),
    [
        ("UPDATE batches SET count = 1000000000000, counted = 0", "two batches of a task overlap"),
        (
            "DELETE FROM batches WHERE first > 0; UPDATE batches SET count = 9e15",
            "more than the file",
        ),
        (
            "UPDATE batches SET count = 9223372036854775807, counted = 0 WHERE first > 0",
            "instances",
        ),
        ("UPDATE batches SET first = -5 WHERE first = 0", "instances from index -5"),
        ("UPDATE batches SET counted = -1", "cannot count -1"),
        ("UPDATE batches SET seconds = 1e999", "seconds must be finite and >= 0, not inf"),
        ("UPDATE batches SET seconds = 'long'", "seconds must be finite and >= 0, not 'long'"),
        ("UPDATE batches SET version = x'00'", "version"),
        ("UPDATE batches SET count = 'many'", "numbers"),
        ("UPDATE hardness SET sweeps = 'many' WHERE instance = 3", "differ from those"),
        ("UPDATE hardness SET sweeps = 2.5 WHERE instance = 3", "differ from those"),
        ("UPDATE hardness SET instance = -1 WHERE instance = 3", "differ from those"),
        ("UPDATE hardness SET solved = 2 WHERE instance = 3", "must contain only 0 and 1"),
        ("UPDATE hardness SET seconds = -1.0 WHERE instance = 3", "seconds"),
        ("UPDATE tasks SET canonical = '{}'", "is not the SHA-256 of its description"),
        ("UPDATE tasks SET task_id = 'x' || task", "is not the SHA-256 of its description"),
        ("UPDATE tasks SET kind = 'races'", "unknown kind"),
        ("UPDATE tasks SET finished = 7", "finished"),
        ("UPDATE tasks SET stop = '{}'", "does not state how many instances"),
        ("UPDATE tasks SET stop = '[1]'", "not a JSON object"),
        ("UPDATE tasks SET stop = '{\"instances\": 1e3}'", "wrong 'instances': 1000.0"),
        ("UPDATE tasks SET stop = '{\"instances\": NaN}'", "NaN"),
        ('UPDATE tasks SET stop = \'{"instances": 5, "patience": 1}\'', "patience"),
        ("UPDATE tasks SET stop = '{\"instances\": 99999999999999999999}'", "2\\^63"),
        (f"UPDATE tasks SET stop = '{'[' * 100_000}'", "deeply"),
    ],
)
def test_a_wrong_value_is_told(copy, statement, part):
    change(copy, statement)
    with pytest.raises(StoreError, match=rf"damaged \(.*{part}.*restore it"):
        read_rows(copy)


def read_rows(path: Path) -> None:
    with Store(path) as store:
        store.status()
        for task in store.tasks():
            store.rows(task)


def test_a_study_that_no_one_could_read_is_told(copy, tmp_path):
    change(copy, f"UPDATE meta SET value = 'a = {'[' * 100_000}' WHERE key = 'note study'")
    for command in (["plot"], ["fit"]):
        assert main(["study", *command, str(copy)]) == 2
    with pytest.raises(StoreError, match="nested too deeply"):
        merge(tmp_path / "all.sqlite", [copy])
    assert not (tmp_path / "all.sqlite").exists()


@pytest.mark.parametrize("bomb", ["a" + 5000 * ".a" + " = 1", "[" + 5000 * "a." + "a]"])
def test_a_bomb_in_place_of_a_study_goes_off_nowhere(copy, tmp_path, bomb, capsys):
    change(copy, f"UPDATE meta SET value = '{bomb}' WHERE key = 'note study'")
    tracemalloc.start()
    try:
        for command in (["plot"], ["fit"]):
            assert main(["study", *command, str(copy)]) == 2
        with pytest.raises(StoreError, match="has a key of 5001 parts"):
            merge(tmp_path / "all.sqlite", [copy])
        with Store(copy) as store, pytest.raises(ValueError, match="has a key of 5001 parts"):
            study_of(store)
        with pytest.raises(ValueError, match="has a key of 5001 parts"):
            file_section(copy)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 32 << 20  # without the bound, 200 MB
    assert capsys.readouterr().err.count("has a key of 5001 parts; use at most 16") == 2


@pytest.mark.parametrize("parameters", ['{"n": 1000000000}', '{"graph": "complete:20000"}', "7"])
def test_what_would_fill_the_memory_is_not_grown(copy, parameters, capsys):
    from tests.store.damage import sign

    database = sqlite3.connect(copy, isolation_level=None)
    database.execute(
        "UPDATE tasks SET canonical = "
        "json_set(canonical, '$.parameters', json(?), '$.seed', task)", [parameters]
    )  # fmt: skip
    for (number,) in list(database.execute("SELECT task FROM tasks")):
        sign(database, number)
    database.close()
    for command in ("plot", "fit"):
        assert main(["study", command, str(copy)]) == 2
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("cut", [50, 99, 100, 3000, 5000, 20_000])
def test_a_truncated_store_is_one_line_on_the_command_line(copy, tmp_path, capsys, cut):
    copy.write_bytes(copy.read_bytes()[:cut])
    study = tmp_path / "x.toml"
    study.write_text('name = "small"\n[[family]]\nmethod = "random_loops"\n'
                     "parameters = { n = 8, frustration = 0.2, loop_density = 0.5 }\n")  # fmt: skip
    for command in (
        ["study", "show", str(copy)], ["study", "plot", str(copy)], ["study", "fit", str(copy)],
        ["store", "check", str(copy)],
        ["store", "export", str(copy), "-o", str(tmp_path / "x.parquet")],
        ["store", "merge", str(tmp_path / "all.sqlite"), str(copy)],
        ["study", "run", str(study), "-o", str(copy)],
    ):  # fmt: skip
        assert main(command) in (1, 2)
        told = capsys.readouterr()
        assert told.err.count("\n") == 1
        assert "restore" in told.err or "not a glasshouse store" in told.err or "check" in command


def test_texts_that_a_store_would_refuse_are_not_written(tmp_path):
    with Store(tmp_path / "s.sqlite", write=True) as store:
        with pytest.raises(ValueError, match="characters"):
            store.note("study", "x" * 2**21)
        (task,) = store.add_tasks([Fake()])
        rows = Fake().measure(0, 3)
        with pytest.raises(ValueError, match="seconds"):
            store.add_batch(task, 0, rows | {"seconds": rows["seconds"] * float("nan")})
        with pytest.raises(ValueError, match="only 0 and 1"):
            store.add_batch(task, 0, rows | {"solved": rows["solved"] * 2})


def test_control_codes_do_not_reach_the_terminal(copy, capsys):
    from tests.store.damage import sign

    database = sqlite3.connect(copy, isolation_level=None)
    query = "UPDATE tasks SET finished = 0, canonical = json_set(canonical, '$.method', ?)"
    database.execute(query, ["\x1b[31mred"])
    for (number,) in list(database.execute("SELECT task FROM tasks")):
        sign(database, number)
    database.close()
    assert main(["study", "show", str(copy)]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_a_pipe_is_no_store(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for write in (False, True):
        with pytest.raises(StoreError, match="not a file"):
            Store(tmp_path / "pipe", write=write)
    with pytest.raises(StoreError, match="not a file"):
        Store(tmp_path)


def test_what_is_whole_stays_so_whatever_sqlite_did_to_it(copy):
    before = table(copy)
    change(copy, "VACUUM", "PRAGMA journal_mode = DELETE", "REINDEX", "PRAGMA page_size = 1024",
           "VACUUM")  # fmt: skip
    assert table(copy) == before
    with Store(copy, write=True) as store:
        store.note("more", "of it")
    assert table(copy) == before


def test_a_reader_sees_kinds_that_a_writer_adds_later(tmp_path):
    path = tmp_path / "s.sqlite"
    Store(path, write=True).close()
    with Store(path) as reader:
        with Store(path, write=True) as writer:
            writer.add_tasks([Fake()])
        (task,) = reader.tasks()
        assert reader.rows(task)["sweeps"].size == 0
