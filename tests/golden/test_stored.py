"""Stored things of before are read, checked and resumed: all were written at commit bb93dd5."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest
from tests.golden.records import HERE, page_of, run

import glasshouse as gh

TRAIN = ["train", "run", "bars:4x2", "--hidden", 3]


@pytest.fixture
def old(tmp_path) -> Path:
    with tarfile.open(HERE / "stored.tar.xz") as packed:
        # The argument `filter` is missing in Python 3.11.0 to 3.11.3.
        packed.extraction_filter = getattr(tarfile, "data_filter", None)
        packed.extractall(tmp_path)
    return tmp_path


def rows_in(path: Path) -> int:
    """Return the number of rows of all tasks of a store."""
    with gh.Store(path) as store:
        return sum(task_rows(store, task) for task in store.tasks())


def task_rows(store: gh.Store, task: object) -> int:
    return max((len(column) for column in store.rows(task).values()), default=0)


def test_a_finished_study_is_read_and_has_nothing_left_to_do(old):
    before = rows_in(old / "study.sqlite")
    assert before == 12
    run("store", "check", old / "study.sqlite")
    run("store", "export", old / "study.sqlite", "-o", old / "rows.csv")
    assert len((old / "rows.csv").read_text().splitlines()) == before + 1
    run("study", "run", old / "study.toml", "-o", old / "study.sqlite")
    assert rows_in(old / "study.sqlite") == before


def test_an_interrupted_study_is_resumed(old):
    before = rows_in(old / "begun.sqlite")
    assert 0 < before < 400
    # Part of the instances that the study asks for are enough to see that rows are added.
    run("study", "run", old / "begun.toml", "-o", old / "begun.sqlite", "--scale", 0.05)
    assert before < rows_in(old / "begun.sqlite")
    run("store", "check", old / "begun.sqlite")


def test_rows_of_an_old_study_are_the_rows_of_today(old):
    run("study", "run", old / "study.toml", "-o", old / "new.sqlite")
    run("store", "merge", old / "all.sqlite", old / "study.sqlite", old / "new.sqlite")
    assert rows_in(old / "all.sqlite") == rows_in(old / "study.sqlite")


def test_old_stores_are_merged(old):
    run("store", "merge", old / "all.sqlite", old / "study.sqlite")
    assert rows_in(old / "all.sqlite") == rows_in(old / "study.sqlite")


def test_a_race_is_shown_and_gets_another_solver(old):
    before = rows_in(old / "race.sqlite")
    shown = json.loads(run("race", "show", old / "race.sqlite", "--json"))
    assert [(one["solver"], one["solved"]) for one in shown["solvers"]] == [("prove", before)]
    run("race", "run", "--suite", old / "suite", "-o", old / "race.sqlite", "--time-limit", 60,
        "--solver", "highs")  # fmt: skip
    assert rows_in(old / "race.sqlite") == 2 * before


def test_a_race_of_samplers_is_resumed_and_extended(old):
    before = rows_in(old / "samplers.sqlite")
    plants = [gh.random_loops(4, 4, frustration="1/5", loops=3, rng=seed) for seed in range(2)]
    samplers = {"anneal": gh.GlasshouseAnnealer(), "temper": gh.GlasshouseTempering()}
    found = gh.race_samplers(
        samplers, plants, reads=5, calls=3, rng=1, store=old / "samplers.sqlite", batches=()
    )
    assert not found.faults
    assert rows_in(old / "samplers.sqlite") == before // 2 * 3


def test_a_training_gets_more_machines(old):
    before = rows_in(old / "training.sqlite")
    run("train", "show", old / "training.sqlite")
    run(*TRAIN, "--epochs", 20, "--count", 3, "-o", old / "training.sqlite")
    assert rows_in(old / "training.sqlite") == before // 2 * 3


def test_a_model_is_read(old):
    run("train", "show", old / "model.npz")
    run(*TRAIN, "--epochs", 20, "-o", old / "again.npz")
    assert shown_model(old / "again.npz") == shown_model(old / "model.npz")


def shown_model(path: Path) -> str:
    """Return what is shown of a model, except for its name and the seconds of its training."""
    lines = run("train", "show", path).replace(path.name, "").splitlines()
    return "\n".join(line for line in lines if "seconds" not in line)


def test_a_checkpoint_is_continued(old):
    assert (old / "begun.checkpoint.npz").exists()
    words = [*TRAIN, "--epochs", 60, "--every", 7, "-o"]
    run(*words, old / "begun.npz")
    assert not (old / "begun.checkpoint.npz").exists()
    run(*words, old / "whole.npz")
    assert shown_model(old / "begun.npz") == shown_model(old / "whole.npz")


@pytest.mark.parametrize(
    ("name", "kind"),
    [("loops.wcnf", "loops"), ("plant.npz", "loops"), ("squares.qubo", "squares")],
)
def test_certificates_prove_the_optimum(old, name, kind):
    run("check", old / name)
    verified = gh.verify_file(old / name)
    assert verified.proven
    assert getattr(verified, kind) > 0


def test_a_tree_proves_the_optimum(old):
    run("check", old / "tree.wcnf")
    verified = gh.verify_file(old / "tree.wcnf")
    assert verified.proven
    assert verified.leaves > 1


def test_plants_are_grown_again_from_their_recipes(old):
    for name in ("loops.wcnf", "squares.qubo", "plant.npz"):
        plant = gh.read_planted(old / name)
        assert gh.Planted.from_recipe(plant.recipe).energy == plant.energy


def test_a_search_of_a_tree_is_resumed(old):
    assert (old / "open.wcnf.cert").exists()
    with pytest.raises(AssertionError, match="exit code 1"):
        run("check", old / "open.wcnf")  # A bound is not a proof.
    run("prove", old / "open.wcnf")
    run("check", old / "open.wcnf")


def test_manifests_and_commitments_are_checked(old):
    run("check", old / "manifest" / "manifest.jsonl")
    suite = old / "suite"
    run("check", suite / "answers" / "manifest.jsonl", "--instances", suite / "instances")
    run("check", suite / "instances" / "commitment.jsonl", "--answers", suite / "answers")
    assert len(gh.load_suite(suite, old).instances) == 3


def test_a_suite_grows_again_to_the_same_bytes(old):
    run("suite", "write", old / "small.toml", "-o", old / "again", "--seed", 1, "--format", "qubo")
    for path in sorted((old / "suite" / "instances").glob("*.*")):
        if path.suffix in (".wcnf", ".qubo"):
            again = old / "again" / "instances" / path.name
            assert again.read_bytes() == path.read_bytes()


def test_a_report_has_a_section_of_everything(old):
    files = ["study.sqlite", "race.sqlite", "samplers.sqlite", "training.sqlite", "model.npz",
             "begun.checkpoint.npz", "tree.wcnf", "plant.npz"]  # fmt: skip
    page = page_of(old, *files)
    assert all(f">{name}</h2>" in page for name in files)
