"""The commands on a page, read again by the command line itself: no option that matters is lost."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.races.standard import made_library
from tests.store.test_purpose import TEXT

from glasshouse.cli import add_options, app, main
from glasshouse.planting.methods import random_loops
from glasshouse.reports.page import Listing
from glasshouse.reports.writing import file_section
from glasshouse.suites import standard
from glasshouse.suites.writing import write_suite

add_options()
BROKEN = Path(__file__).parents[1] / "races" / "broken_solver.py"
# How a command runs and what it prints, but not what it makes.
NOT_SETTINGS = {"workers", "dask", "json", "force", "batch_time_limit", "part"}


def shown(path: Path) -> list[list[str]]:
    """The words of the commands that repeat the work of a store, as its page shows them."""
    parts = [part for part in file_section(path).parts
             if isinstance(part, Listing) and "repeat" in part.title]  # fmt: skip
    assert len(parts) == 1
    lines = [shlex.split(line) for line in parts[0].text.splitlines()]
    assert all(line[0] == "glasshouse" for line in lines)
    return [line[1:] for line in lines]


def settings(words: list[str]) -> dict[str, Any]:
    """The arguments that the command line parses, defaults included."""
    _, bound, _ = app.parse_args(words, exit_on_error=False, print_error=False)
    bound.apply_defaults()
    found = {name: value for name, value in bound.arguments.items() if name not in NOT_SETTINGS}
    for name in ("output", "file", "answers", "instances"):
        if found.get(name) is not None:
            found[name] = Path(found[name]).name
    for name in ("data", "suite"):
        if name in found:
            found[name] = Path(found[name]).name
    if "solver" in found:  # quotes that a shell does not need make no difference
        found["solver"] = [shlex.split(solver) for solver in found["solver"]]
    return found


def options(command: str) -> set[str]:
    """The options of a command that matter."""
    arguments = app[command]["run"].assemble_argument_collection()
    named = {argument.names[0] for argument in arguments if argument.names[0].startswith("--")}
    return {name.removeprefix("--").replace("-", "_") for name in named} - NOT_SETTINGS


def given(words: list[str]) -> set[str]:
    """The options of a command, under the names of their parameters."""
    short = {"-o": "--output"}
    named = [short.get(word, word) for word in words if word.startswith("-")]
    return {word.removeprefix("--").replace("-", "_") for word in named if not word[1:2].isdigit()}


TRAININGS = [
    "bars:6x2 --hidden 2 --epochs 3 --held-out 0.25 --units binary --gradient pcd "
    "--steps 2 --chains 4 --batch-size 3 --learning-rate 0.1,0.01 --reduction sum --momentum 0.1 "
    "--weight-decay 0.001 --sigma 0.02 --no-biases --monitor pseudo_likelihood,activation "
    "--every 2 --seed 0 --count 2",
    "stripes:2 --hidden 2 --epochs 2 --learning-rate 0.1 --mode-probability 0.1 "
    "--mode-slope 10 --mode-offset -3 --mode-use restart --mode-step full "
    "--mode-search enumerate --mode-time-limit 1.5",
    "digits:5 --hidden 2 --epochs 1 --batch-size 100 --monitor activation",
    "mine.csv --hidden 2 --epochs 1 --held-out 0.5",
    "bars --hidden 2 --epochs 1",
    "bars:6x2 --hidden 2 --epochs 2 --engine matrices --precision single --optimizer adam "
    "--schedule cosine --first-biases data --centred",
    "bars:6x2 --hidden 2 --epochs 2 --engine matrices --gradient pcd --chains 4 --temperatures 2",
]


@pytest.mark.parametrize("typed", TRAININGS)
def test_the_command_of_a_training_has_all_its_options(typed, tmp_path, monkeypatch):
    if typed.startswith("digits"):
        pytest.importorskip("sklearn")
    monkeypatch.chdir(tmp_path)
    np.savetxt("mine.csv", np.eye(4, dtype=int), fmt="%d", delimiter=",")
    words = ["train", "run", *shlex.split(typed), "-o", "run.sqlite"]
    assert main(words) == 0
    (again,) = shown(tmp_path / "run.sqlite")
    assert settings(again) == settings(words)
    # Without the options of the data it would be refused, or be another training.
    assert main(again) == 0
    assert len(shown(tmp_path / "run.sqlite")) == 1


def test_every_option_of_a_training_is_tried_above():
    tried = {name for typed in TRAININGS for name in given(typed.split())} | {"output"}
    assert tried == options("train")


@pytest.fixture(scope="module")
def instances(tmp_path_factory):
    folder = tmp_path_factory.mktemp("instances")
    plants = [random_loops(3, 3, frustration="1/5", loops=3, rng=seed) for seed in range(2)]
    write_suite(folder / "tiny", plants)
    (folder / "blind").mkdir()
    for file in (folder / "tiny").glob("*.wcnf"):
        (folder / "blind" / file.name).write_bytes(file.read_bytes())
    return folder


SOLVER = f"good={sys.executable} -S {BROKEN} 'none' {{file}}"
RACES = [
    "--suite blind --answers tiny --time-limit 31.5 --grace 2 --memory-limit 1024 --seed 0 "
    "--runs 2 --dialect classic --strict --meter process-group --cpu-limit 20 --cores 1",
    "--suite tiny --dialect classic --meter process-group",
    "--suite toys --instances files --dialect classic --meter process-group",
]


@pytest.mark.parametrize("typed", RACES)
def test_the_command_of_a_race_has_all_its_options(typed, instances, tmp_path, monkeypatch):
    toys = made_library(tmp_path)
    monkeypatch.setattr(standard, "instances", lambda: toys.instances)
    monkeypatch.chdir(tmp_path if "toys" in typed else instances)
    store = tmp_path / "race.sqlite"
    words = ["race", "run", "--solver", SOLVER, *shlex.split(typed), "-o", str(store)]
    assert main(words) == 0
    (again,) = shown(store)
    assert settings(again) == settings(words)


def test_every_option_of_a_race_is_tried_above():
    tried = {name for typed in RACES for name in given(typed.split())} | {"solver", "output"}
    of_samplers = {"sampler", "reads", "clock"}  # these pages show a call in Python
    assert tried == options("race") - of_samplers


def test_solvers_of_two_dialects_need_two_commands(instances, tmp_path, monkeypatch):
    monkeypatch.chdir(instances)
    store = tmp_path / "race.sqlite"
    shared = ["--suite", "tiny", "--meter", "process-group", "--time-limit", "20"]
    other = SOLVER.replace("good=", "other=")
    first = ["race", "run", "--solver", SOLVER, "--dialect", "classic", *shared, "-o", str(store)]
    second = ["race", "run", "--solver", other, "--dialect", "mse22", *shared, "-o", str(store)]
    for words in (first, second):
        assert main(words) in (0, 1)
    assert [settings(one) for one in shown(store)] == [settings(first), settings(second)]


STUDIES = ["tiny.toml", "tiny.toml --scale 0.5"]


@pytest.mark.parametrize("typed", STUDIES)
def test_the_command_of_a_study_has_all_its_options(typed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(TEXT)
    words = ["study", "run", *shlex.split(typed), "-o", "study.sqlite"]
    assert main(words) == 0
    (again,) = shown(tmp_path / "study.sqlite")
    assert settings(again) == settings(words)


def test_every_option_of_a_study_is_tried_above():
    tried = {name for typed in STUDIES for name in given(typed.split())} | {"output"}
    assert tried == options("study")
