"""`study`, `tune`, `draw` as they are typed."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

import glasshouse as gh
from glasshouse.cli import main

STUDY = """
name = "tiny"
figure = "density"
[stop]
instances = 12
[[family]]
method = "random_loops"
parameters = { n = 12, frustration = 0.1 }
grid = { loop_density = [0.3, 0.4, 0.5, 0.6, 0.8] }
"""

SLOW = STUDY.replace("instances = 12", "instances = 40").replace("n = 12", "n = 150")


def rows_in(path):
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            return database.execute("SELECT count(*) FROM hardness").fetchone()[0]
    except sqlite3.OperationalError:  # not written yet
        return 0


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(STUDY)
    return path


def test_run_status_plot_fit_export_check(study, tmp_path, capsys):
    store = tmp_path / "tiny.sqlite"
    assert main(["study", "run", str(study), "-o", str(store), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["new_rows"] == 60
    assert main(["study", "run", str(study), "-o", str(store), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["new_rows"] == 0
    assert main(["study", "show", str(store)]) == 0
    assert "60 of 60 instances, 5 of 5 tasks" in capsys.readouterr().out
    assert main(["study", "show", str(store), "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["tasks"][0]
    assert first["method"] == "random_loops"
    assert first["parameters"] == {"frustration": 0.1, "loop_density": 0.3, "m": 12, "n": 12}
    assert main(["study", "plot", str(store)]) == 0
    assert (tmp_path / "tiny.png").stat().st_size > 1000
    assert main(["study", "fit", str(store)]) == 0
    assert "peak" in capsys.readouterr().out
    parquet = tmp_path / "tiny.parquet"
    assert main(["store", "export", str(store), "-o", str(parquet)]) == 0
    assert main(["store", "export", str(store), "-o", str(parquet)]) == 2
    csv = tmp_path / "tiny.csv"
    for name, code in ((csv, 0), (csv, 2), (store, 2)):
        assert main(["store", "export", str(store), "-o", str(name)]) == code
    capsys.readouterr()
    assert main(["store", "export", str(store), "-o", "-"]) == 0
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == (csv.read_text(), "-: 60 rows\n")
    assert main(["store", "export", str(store), "-o", str(tmp_path / "x.txt")]) == 2
    assert main(["store", "check", str(store)]) == 0


def test_status_speaks_in_decimals(tmp_path, capsys):
    parameters = {"n": 12, "frustration": 0.1, "loop_density": "1/3"}
    with gh.Store(tmp_path / "s.sqlite", write=True) as store:
        store.add_tasks([gh.Task("random_loops", parameters)])
    assert main(["study", "show", str(tmp_path / "s.sqlite")]) == 0
    told = capsys.readouterr().out
    assert "frustration=0.1 loop_density=1/3 m=12 n=12" in told


def test_merge_two_halves(study, tmp_path, capsys):
    other = tmp_path / "other.toml"
    other.write_text(STUDY.replace("[0.3, 0.4, 0.5, 0.6, 0.8]", "[0.8, 1.0]"))
    for text, name in ((study, "a"), (other, "b")):
        main(["study", "run", str(text), "-o", str(tmp_path / f"{name}.sqlite")])
    capsys.readouterr()
    sources = [str(tmp_path / "a.sqlite"), str(tmp_path / "b.sqlite")]
    assert main(["store", "merge", str(tmp_path / "all.sqlite"), *sources]) == 0
    assert "72 new rows, 12 known, 6 tasks" in capsys.readouterr().out
    assert main(["store", "merge", str(tmp_path / "all.sqlite")]) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("figure", "figur"), "unknown keys figur"),
        (("0.3, 0.4", "-0.3, 0.4"), "loop_density=-3/10 must be above 0"),
        (("instances = 12", "instances = 0"), "instances=0 is below 1"),
        (("random_loops", "magic_loops"), "magic_loops"),
        (('name = "tiny"', "name = tiny"), "TOML"),
    ],
)
def test_a_wrong_study_is_one_line_and_makes_no_store(change, message, study, tmp_path, capsys):
    study.write_text(STUDY.replace(*change))
    assert main(["study", "run", str(study), "-o", str(tmp_path / "x.sqlite")]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert not (tmp_path / "x.sqlite").exists()


def test_a_store_belongs_to_one_study(study, tmp_path, capsys):
    store = tmp_path / "x.sqlite"
    main(["study", "run", str(study), "-o", str(store)])
    study.write_text(STUDY.replace('"tiny"', '"other"'))
    capsys.readouterr()
    assert main(["study", "run", str(study), "-o", str(store)]) == 2
    assert "holds the study 'tiny'" in capsys.readouterr().err


def test_a_plot_overwrites_nothing_unasked_and_never_its_store(study, tmp_path, capsys):
    store = tmp_path / "x.svg"  # a store may have any name
    main(["study", "run", str(study), "-o", str(store)])
    before = store.read_bytes()
    for options in ([], ["--force"]):
        assert main(["study", "plot", str(store), *options]) == 2
        assert "already exists" in capsys.readouterr().err
    assert store.read_bytes() == before
    picture = tmp_path / "picture.png"
    picture.write_text("mine")
    assert main(["study", "plot", str(store), "-o", str(tmp_path / "picture")]) == 2
    assert picture.read_text() == "mine"
    assert main(["study", "plot", str(store), "-o", str(tmp_path / "picture"), "--force"]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


KEYS = ["task_id", "instance"]


def rows_of(store):
    return gh.read_rows(store).drop("seconds").sort(KEYS)


def test_parts_are_disjoint_and_merge_to_one_run(study, tmp_path, capsys):
    run = ["study", "run", str(study), "-o"]
    assert main([*run, str(tmp_path / "whole.sqlite")]) == 0
    parts = [str(tmp_path / f"part{k}.sqlite") for k in (1, 2)]
    for k, part in enumerate(parts, 1):
        assert main([*run, part, "--part", f"{k}/2"]) == 0
    counts = [len(rows_of(part)) for part in parts]
    assert main(["store", "merge", str(tmp_path / "all.sqlite"), *parts]) == 0
    assert all(counts)
    assert sum(counts) == len(rows_of(tmp_path / "whole.sqlite"))
    assert rows_of(tmp_path / "all.sqlite").equals(rows_of(tmp_path / "whole.sqlite"))
    for wrong in ("0/2", "3/2", "1/99", "1", "a/b", "1/0"):
        assert main([*run, str(tmp_path / "x.sqlite"), "--part", wrong]) == 2
    assert not (tmp_path / "x.sqlite").exists()


def test_a_part_that_was_killed_goes_on_and_merges(tmp_path):
    study = tmp_path / "slow.toml"
    study.write_text(SLOW)
    parts = [tmp_path / f"part{k}.sqlite" for k in (1, 2)]
    words = [sys.executable, "-m", "glasshouse", "study", "run", str(study), "-o"]
    with subprocess.Popen([*words, str(parts[0]), "--part", "1/2"]) as process:
        while not rows_in(parts[0]):
            assert process.poll() is None
            time.sleep(0.05)
        process.kill()
    for k, part in enumerate(parts, 1):
        assert main(["study", "run", str(study), "-o", str(part), "--part", f"{k}/2"]) == 0
    assert main(["study", "run", str(study), "-o", str(tmp_path / "whole.sqlite")]) == 0
    assert main(["store", "merge", str(tmp_path / "all.sqlite"), *map(str, parts)]) == 0
    assert rows_of(tmp_path / "all.sqlite").equals(rows_of(tmp_path / "whole.sqlite"))


def test_rows_as_a_pandas_frame(study, tmp_path, capsys):
    pandas = pytest.importorskip("pandas")
    store = tmp_path / "s.sqlite"
    assert main(["study", "run", str(study), "-o", str(store)]) == 0
    frame, twin = gh.read_rows(store, frame="pandas"), gh.read_rows(store)
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == twin.columns
    assert frame["sweeps"].tolist() == twin["sweeps"].to_list()


def test_fits_in_json_and_another_axis(study, tmp_path, capsys):
    store = tmp_path / "s.sqlite"
    assert main(["study", "run", str(study), "-o", str(store)]) == 0
    capsys.readouterr()
    assert main(["study", "fit", str(store), "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {
        "axis", "decay", "laws", "limits", "notes", "peaks",
    }  # fmt: skip
    words = ["study", "plot", str(store), "-o", str(tmp_path / "x.png")]
    assert main([*words, "--axis", "n", "--statistic", "median"]) == 0
    assert main([*words, "--force", "--axis", "colour"]) == 2
    assert "--axis colour must be density" in capsys.readouterr().err


def test_a_file_that_is_no_store(tmp_path, study, capsys):
    alien = tmp_path / "notes.txt"
    alien.write_text("mine")
    for command in (["study", "run", str(study), "-o"], ["study", "show"], ["store", "check"]):
        assert main([*command, str(alien)]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert alien.read_text() == "mine"
    assert main(["study", "show", str(tmp_path / "none.sqlite")]) == 2


def test_tune(capsys):
    options = ["-n", "20", "--target-sweeps", "200", "--tolerance", "0.5", "--seed", "1", "--json"]
    assert main(["tune", *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["low"] < 300
    assert found["high"] > 100
    assert main(["tune", "-n", "20", "--target-sweeps", "200", "-f", "0.1"]) == 2


def test_paper_is_beside_the_library(capsys):
    assert main(["paper", "dispersion"]) == 2
    assert "use python -m paper in the repository" in capsys.readouterr().err


def test_draw(tmp_path, capsys):
    path, picture = tmp_path / "x.wcnf", tmp_path / "x.png"
    gh.write(path, gh.random_loops(10, 10, frustration="1/5", loops=6, rng=1))
    assert main(["draw", str(path), "-o", str(picture)]) == 0
    assert picture.stat().st_size > 1000
    assert main(["draw", str(path), "-o", str(picture)]) == 2
    assert main(["draw", str(path), "-o", str(tmp_path / "x.txt")]) == 2
    text = path.read_text()
    path.write_text(text.replace('"seed":1', '"seed":2'))
    capsys.readouterr()
    assert main(["draw", str(path), "-o", str(tmp_path / "z.png")]) == 2
    assert "grows a problem that differs from the problem in the file" in capsys.readouterr().err
    path.write_text(text.replace('"n":10', '"n":60000000'))
    assert main(["draw", str(path), "-o", str(tmp_path / "z.png")]) == 2
    assert "60000010 spins" in capsys.readouterr().err
    gh.write(path, gh.random_loops(10, 10, frustration="1/5", loops=6, rng=1), blind=True,
             overwrite=True)  # fmt: skip
    capsys.readouterr()
    assert main(["draw", str(path), "-o", str(tmp_path / "y.png")]) == 2
    assert "contains no plant" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["show", "fit", "plot"])
def test_a_store_of_trained_machines_is_not_a_study(command, tmp_path, capsys):
    store = str(tmp_path / "run.sqlite")
    words = ["train", "run", "bars:4x2", "--hidden", "2", "--epochs", "1", "--every", "1"]
    assert main([*words, "-o", store]) == 0
    capsys.readouterr()
    assert main(["study", command, store]) == 2
    assert "contains trained machines, not a study" in capsys.readouterr().err
