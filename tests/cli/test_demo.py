"""`glasshouse demo`: it ends well, shows what the commands themselves say, and leaves its files."""

import json
import sqlite3
from importlib import import_module
from pathlib import Path

import pytest

import glasshouse as gh
from glasshouse.cli import main

# The package has a function of this name.
demo = import_module("glasshouse.cli.demo")


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The folder of one whole demonstration, and all that it printed."""
    from contextlib import chdir, redirect_stdout
    from io import StringIO

    place, told = tmp_path_factory.mktemp("demo"), StringIO()
    with chdir(place), redirect_stdout(told):
        assert main(["demo"]) == 0
    return place / "glasshouse-demo", told.getvalue()


def test_it_shows_what_the_commands_say(shown):
    lines = shown[1].splitlines()
    for line in (
        "inst.wcnf: VERIFIED, 105 is the optimum cost (proven by 35 loops)",
        "forged.wcnf: the file states a cost of 104, but the least cost is 105",
        "this is the optimum, by the file's certificate",
        "VERIFIED optimum 54162",
        "inst.wcnf: wrong optimum: an o line states 104, but every assignment costs at least 105",
    ):
        assert line in lines


def test_every_stage_says_what_it_shows(shown):
    for stage in demo.STAGES:
        assert shown[1].count(stage.shows) == 2  # before it, and in the summary


def test_it_leaves_files_that_can_be_used(shown, capsys):
    folder, _ = shown
    for name in ("inst.wcnf", "dense.wcnf", "cube.mc"):
        assert main(["check", str(folder / name)]) == 0
    assert main(["check", str(folder / "forged.wcnf")]) == 1
    capsys.readouterr()
    assert main(["race", "show", str(folder / "race.sqlite"), "--json"]) == 0
    solvers = json.loads(capsys.readouterr().out)
    assert "rc2" in json.dumps(solvers)
    with sqlite3.connect(folder / "curve.sqlite") as store:
        assert store.execute("select count(*) from hardness").fetchone() == (4000,)
    page = (folder / "report.html").read_text()
    for name in ("inst.wcnf", "cube.mc", "race.sqlite", "curve.sqlite", "rbms.sqlite"):
        assert name in page


def test_the_plant_that_it_shows_is_the_one_that_it_grows(shown, tmp_path, monkeypatch):
    folder, told = shown
    words = next(line for line in told.splitlines() if line.startswith("$ glasshouse plant"))
    monkeypatch.chdir(tmp_path)
    assert main(words.split()[2:]) == 0
    assert Path("inst.wcnf").read_bytes() == (folder / "inst.wcnf").read_bytes()


def test_it_never_writes_where_something_is(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(demo, "STAGES", ())
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("keep me")
    assert main(["demo", "-o", "mine"]) == 2
    assert "mine already exists; name an empty folder" in capsys.readouterr().err
    for name in ("glasshouse-demo", "glasshouse-demo-2", "glasshouse-demo-3"):
        assert main(["demo"]) == 0
        assert Path(name).is_dir()


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    place = tmp_path / "file" / "sub"
    assert main(["demo", "-o", str(place)]) == 2
    told = capsys.readouterr().err
    assert (
        told == f"glasshouse: {place}: is not a folder, and cannot be created (Not a directory)\n"
    )


def test_the_race_runs_the_code_that_the_solved_instance_compiled(shown):
    folder, _ = shown

    def kernel(file, runs=64):
        return gh.anneal(gh.read(file), runs=runs, sweeps=1, rng=1).kernel

    raced = sorted((folder / "race").glob("*.wcnf"))
    assert len(raced) == 2
    for file in raced:
        assert kernel(file) == kernel(folder / "inst.wcnf", runs=256)
