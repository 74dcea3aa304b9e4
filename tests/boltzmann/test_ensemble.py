"""Ensembles: the same machines however they were trained, and read back as they were."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from tests.children import start, until
from tests.store.synthetic import Fake

from glasshouse.boltzmann import TrainingSettings, shifting_bars, train
from glasshouse.boltzmann.curves import Ensemble, labels_of, read_ensembles
from glasshouse.boltzmann.ensemble import MOST_VALUES, TRAINING, TrainingTask, iter_train
from glasshouse.randomness import Seed
from glasshouse.statistics.intervals import median_of
from glasshouse.store import Store, collect
from glasshouse.store.storefile import StoreError
from glasshouse.studies.merging import merge

BARS = shifting_bars(4, 2)
SETTINGS = TrainingSettings(3, epochs=35)


def task(count=6, settings=SETTINGS, **options) -> TrainingTask:
    return TrainingTask(options.pop("data", BARS), settings, count=count, **options)


def trained(tasks, path, **options):
    *_, last = iter_train(tasks, path, **options)
    assert last.is_complete
    return read(path)


def read(path) -> list[Ensemble]:
    with Store(path) as store:
        return read_ensembles(store)


def assert_same(one: Ensemble, other: Ensemble):
    assert one.task_id == other.task_id
    assert list(one.curves) == list(other.curves)
    for name in ("numbers", "epochs", "diverged_at", "updates", "modes", "modes_proven"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    for name in one.curves:
        assert np.array_equal(one.curves[name], other.curves[name], equal_nan=True)


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Ensemble:
    return trained([task()], tmp_path_factory.mktemp("ensemble") / "whole.sqlite")[0]


def test_machine_k_has_child_k_of_the_seed(whole):
    assert whole.epochs.tolist() == [0, 10, 20, 30, 35]
    for k in (0, 4):
        alone = train(BARS, 3, epochs=35, rng=Seed.of(1).child(k))
        for name in ("kl", "frustration"):
            assert whole.curves[name][k] == pytest.approx(alone.history[name], rel=1e-6)
    assert task().run(4).machine == train(BARS, 3, epochs=35, rng=Seed.of(1).child(4)).machine
    assert whole.updates.tolist() == [35] * 6
    assert (whole.seconds >= whole.learning_seconds).all()


def test_machines_do_not_depend_on_how_they_were_trained(whole, tmp_path):
    # Interrupted after the first batch, then asked for more than before, on two threads.
    path = tmp_path / "torn.sqlite"
    steps = iter_train([task(3)], path)
    list(islice(steps, 2))
    steps.close()
    assert read(path)[0].machines == 1
    with ThreadPoolExecutor(2) as executor:
        assert_same(trained([task()], path, executor=executor)[0], whole)


def test_units_of_the_data_and_their_name_are_no_part_of_a_task():
    assert task(data=2 * BARS.astype(int) - 1, name="mine").task_id == task().task_id
    changed = [task(data=BARS[::-1]), task(seed=2), task(every=5), task(monitors=["kl"]),
               task(held_out=BARS), task(settings=replace(SETTINGS, momentum=0.5))]  # fmt: skip
    assert len({one.task_id for one in [task(), *changed]}) == 7
    assert task(99).task_id == task().task_id


def test_several_settings_share_a_store_but_not_several_data(whole, tmp_path):
    path = tmp_path / "several.sqlite"
    assisted = task(settings=replace(SETTINGS, mode_probability=1.0, mode_offset=3.0))
    pair = trained([task(), assisted], path)
    assert_same(pair[0], whole)
    assert labels_of(pair) == ["mode probability 0, mode offset -6",
                               "mode probability 1, mode offset 3"]  # fmt: skip
    assert (pair[1].modes > 0).all()
    assert pair[1].modes.tolist() == pair[1].modes_proven.tolist()
    with pytest.raises(StoreError, match="trained on other data"):
        list(iter_train([task(data=shifting_bars(4, 1))], path))
    with pytest.raises(StoreError, match="trained on other data"):
        list(iter_train([task(held_out=BARS)], path))
    collect([Fake()], tmp_path / "other.sqlite")
    with pytest.raises(StoreError, match="not trained machines"):
        list(iter_train([task()], tmp_path / "other.sqlite"))
    with pytest.raises(StoreError, match="no trained machines"):
        read(tmp_path / "other.sqlite")


def test_machines_that_diverge_are_counted_and_their_curves_end_there(tmp_path):
    wild = replace(SETTINGS, learning_rate=1e4, reduction="sum", momentum=0.9)
    (one,) = trained([task(settings=wild, every=1)], tmp_path / "wild.sqlite")
    assert one.diverged == one.machines == 6
    for k, at in enumerate(one.diverged_at):
        seen = np.isfinite(one.curves["kl"][k])
        assert seen[:at].all()  # looks 0 to at-1
        assert not seen[at:].any()
    assert np.isnan(one.final("kl")).all()
    assert np.isnan(one.final_median("kl").value)
    assert np.isfinite(one.median("kl")[0])
    assert np.isnan(one.median("kl")[-1])


def test_medians_and_bands_leave_out_what_diverged(whole):
    values = np.array([[1.0, 2.0], [2.0, np.nan], [3.0, 4.0], [4.0, 6.0]])
    one = replace(whole, curves={"x": values}, diverged_at=np.array([0, 1, 0, 0]))
    assert one.median("x").tolist() == [2.5, 4.0]
    assert one.percentiles("x", [0, 100]).tolist() == [[1.0, 2.0], [4.0, 6.0]]
    assert one.diverged == 1
    with pytest.raises(ValueError, match="not one of x"):
        one.median("y")


def test_labels_state_what_a_missing_number_means(whole):
    chains, batches = (replace(SETTINGS, gradient="pcd", chains=5), replace(SETTINGS, batch_size=2))
    pair = [replace(whole, settings=one) for one in (replace(chains, chains=None), chains)]
    assert labels_of(pair) == ["chains one per row", "chains 5"]
    pair = [replace(whole, settings=one) for one in (SETTINGS, batches)]
    assert labels_of(pair) == ["batch size all", "batch size 2"]


def test_a_task_refuses_monitors_as_one_string():
    with pytest.raises(ValueError, match=r"monitors='kl' is one string; .* names: \['kl'\]"):
        task(monitors="kl")


def test_more_looks_than_a_store_keeps_are_refused_with_what_would_do():
    with pytest.raises(ValueError, match="use every=") as refused:
        task(settings=replace(SETTINGS, epochs=10**6), every=1)
    every = int(str(refused.value).split("use every=")[1].split()[0])
    fits = task(settings=replace(SETTINGS, epochs=10**6), every=every)
    assert len(fits.monitors) * (10**6 // every) <= MOST_VALUES
    with pytest.raises(ValueError, match="use every="):
        task(settings=replace(SETTINGS, epochs=10**6), every=every - 1)


def test_the_longest_curves_fit_into_a_row():
    task(settings=replace(SETTINGS, epochs=MOST_VALUES - 1), every=1, monitors=["kl"])
    rows = {column.name: np.zeros(1, column.dtype) for column in TRAINING.measured}
    rows["curves"][0] = json.dumps({"kl": [-1.234567e-100] * MOST_VALUES}, separators=(",", ":"))
    TRAINING.check(rows, 1)


def test_what_cannot_be_looked_at_is_said_before_anything_is_trained(tmp_path):
    path = tmp_path / "none.sqlite"
    large = task(data=np.eye(30), settings=TrainingSettings(30))
    with pytest.raises(ValueError, match="too large for exact sums"):
        list(iter_train([large], path))
    with pytest.raises(ValueError, match="monitor='x' is not one of"):
        list(iter_train([task(monitors=["x"])], path))
    assert not path.exists()


def test_stores_of_several_machines_merge_whatever_their_clocks_said(whole, tmp_path):
    paths = [tmp_path / "a.sqlite", tmp_path / "b.sqlite"]
    for path, count in zip(paths, (6, 4), strict=True):
        trained([task(count)], path)
    assert merge(tmp_path / "all.sqlite", paths).new_rows == 6
    assert_same(read(tmp_path / "all.sqlite")[0], whole)


HOSTILE = {
    "curves": [
        "[]", "{}", '{"kl":[1],"frustration":[1]}', '{"kl":1,"frustration":2}', "not JSON",
        '{"kl":["1","1","1","1","1"],"frustration":[1,1,1,1,1]}',
        '{"kl":[1e999,1,1,1,1],"frustration":[1,1,1,1,1]}',
        '{"kl":[true,1,1,1,1],"frustration":[1,1,1,1,1]}',
        '{"kl":[[1],1,1,1,1],"frustration":[1,1,1,1,1]}', "[" * 20_000,
        '{"kl":[1' + "0" * 400 + ',1,1,1,1],"frustration":[1,1,1,1,1]}',
    ],
    "diverged_at": [-5, 7, 10**15],
    "updates": [-1, 10**15],
    "modes": [-1, 36],
    "modes_proven": [1],
    "learning_seconds": [-1.0, float("inf")],
}  # fmt: skip


@pytest.mark.parametrize(
    ("column", "value"), [(name, value) for name, values in HOSTILE.items() for value in values]
)
def test_rows_that_cannot_be_are_a_damaged_store(tmp_path, column, value):
    path = tmp_path / "bad.sqlite"
    trained([task(2)], path)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"UPDATE training SET {column} = ? WHERE instance = 1", (value,))
    with pytest.raises(StoreError, match="damaged"):
        read(path)


def test_a_description_cannot_ask_for_memory_that_its_file_does_not_weigh(tmp_path):
    # Machines that diverged at once, with as many looks as there can be: bytes that become floats.
    long = TrainingSettings(1, epochs=MOST_VALUES - 1)
    one = TrainingTask([[0], [1]], long, monitors=["kl"], every=1, count=40_000)
    rows = {column.name: np.zeros(40_000, column.dtype) for column in TRAINING.measured}
    rows["diverged_at"][:] = 1
    rows["curves"][:] = '{"kl":[1.0]}'
    path = tmp_path / "small.sqlite"
    with Store(path, write=True) as store:
        (stored,) = store.add_tasks([one])
        store.add_batch(stored, 0, rows)
    with pytest.raises(StoreError, match="more memory than the file's size allows"):
        read(path)


def test_intervals_of_medians():
    rng = np.random.default_rng(1)
    hits = sum((e := median_of(rng.normal(size=25))).low <= 0 <= e.high for _ in range(400))
    assert 0.93 <= hits / 400 <= 0.99
    few = median_of([1.0, 2.0, 4.0])
    assert (few.value, few.low, few.high) == (2.0, -np.inf, np.inf)


SCRIPT = """
import sys
from tests.boltzmann.test_ensemble import long_task
from glasshouse.boltzmann.ensemble import iter_train
for at in iter_train([long_task()], sys.argv[1], workers=2):
    print(at.rows, flush=True)
"""


def long_task():
    return task(60, settings=replace(SETTINGS, epochs=2000))


@pytest.mark.slow
def test_a_killed_ensemble_goes_on_and_ends_the_same(tmp_path):
    killed, undisturbed = tmp_path / "killed.sqlite", tmp_path / "whole.sqlite"
    words = [sys.executable, "-c", SCRIPT, str(killed)]
    process = start(words)
    for line in process.stdout:
        if int(line) >= 2:
            break
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    until(lambda: not process.family())
    assert 2 <= read(killed)[0].machines < 60
    assert_same(trained([long_task()], killed, workers=2)[0],
                trained([long_task()], undisturbed)[0])  # fmt: skip


def test_a_run_is_had_again_from_its_seed_and_settings_are_one_kind_of_number() -> None:
    task = TrainingTask(shifting_bars(5, 2), TrainingSettings(3, epochs=9), name="x" * 300)
    run = task.run(4)
    assert train(shifting_bars(5, 2), 3, epochs=9, rng=run.seed).machine == run.machine
    assert len(task.name) == 200
    given = TrainingSettings(3, batch_size=np.int64(4), momentum=0, sigma=np.float32(0.5))
    plain = TrainingSettings(3, batch_size=4, momentum=0.0, sigma=0.5)
    ids = [TrainingTask(shifting_bars(5, 2), one).task_id for one in (given, plain)]
    assert ids[0] == ids[1]
