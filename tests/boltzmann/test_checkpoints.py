"""Trainings that were stopped end as if they had not been."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import numpy as np
import pytest
from tests.children import start, until

import glasshouse as gh
from glasshouse.boltzmann import checkpoints, training
from glasshouse.boltzmann.training import Trainer
from glasshouse.files.text.errors import FileError

DATA = gh.bars_and_stripes(3)
SETTINGS = {"epochs": 60, "batch_size": 5, "momentum": 0.5, "every": 7, "rng": 3}


class StoppedError(Exception):
    pass


def same(one, other) -> bool:
    histories = all(np.array_equal(one.history[k], other.history[k]) for k in one.history)
    return bool(
        one.machine == other.machine and histories and np.array_equal(one.epochs, other.epochs)
        and (one.seed, one.updates, one.modes) == (other.seed, other.updates, other.modes)
    )  # fmt: skip


@pytest.fixture
def eager(monkeypatch):
    """A checkpoint after every epoch."""
    monkeypatch.setattr(checkpoints, "SECONDS", 0.0)
    monkeypatch.setattr(training, "_PIECE_SECONDS", 0.0)


@pytest.mark.parametrize(
    "changes",
    [{}, {"gradient": "pcd", "chains": 4}, {"mode_probability": 1.0}, {"gradient": "exact"}],
    ids=str,
)
@pytest.mark.parametrize("after", [1, 20, 41])
def test_stopped_anywhere_it_ends_the_same(changes, after, eager, monkeypatch, tmp_path):
    whole = gh.train(DATA, 4, **SETTINGS, **changes)
    path, advance, calls = tmp_path / "run.npz", Trainer.advance, []

    def stopping(self, epoch):
        calls.append(epoch)
        if len(calls) > after:
            raise StoppedError
        return advance(self, epoch)

    monkeypatch.setattr(Trainer, "advance", stopping)
    with pytest.raises(StoppedError):
        gh.train(DATA, 4, **SETTINGS, **changes, checkpoint=path)
    done = []

    def counting(self, epoch):
        done.append(epoch)
        return advance(self, epoch)

    monkeypatch.setattr(Trainer, "advance", counting)
    assert same(gh.train(DATA, 4, **SETTINGS, **changes, checkpoint=path), whole)
    assert done[0] == after + 1  # nothing was done twice
    done.clear()
    assert same(gh.train(DATA, 4, **SETTINGS, **changes, checkpoint=path), whole)
    assert not done


def test_a_checkpoint_changes_nothing(tmp_path):
    with_file = gh.train(DATA, 4, **SETTINGS, checkpoint=tmp_path / "run.npz")
    assert same(with_file, gh.train(DATA, 4, **SETTINGS))


def test_without_a_seed_it_goes_on_with_the_first_one(tmp_path):
    path = tmp_path / "run.npz"
    first = gh.train(DATA, 4, epochs=5, checkpoint=path)
    assert same(gh.train(DATA, 4, epochs=5, checkpoint=path), first)


def test_a_divergence_is_remembered(tmp_path):
    path = tmp_path / "run.npz"
    wild = {"epochs": 50, "learning_rate": 1e6, "rng": 1, "checkpoint": path}
    with pytest.warns(gh.boltzmann.DivergenceWarning):
        first = gh.train(DATA, 4, **wild)
    with pytest.warns(gh.boltzmann.DivergenceWarning):
        again = gh.train(DATA, 4, **wild)
    assert same(first, again)
    assert first.diverged_at == again.diverged_at


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learning_rate": 0.5}, r"learning_rate .* not 0.5"),
        ({"epochs": 61}, "epochs 60, not 61"),
        ({"rng": 4}, "seed"),
        ({"monitors": ["kl"]}, "monitors"),
        ({"data": DATA[:-1]}, "different data"),
        ({"hidden": 5}, "hidden 4, not 5"),
    ],
)
def test_another_training_is_refused(changes, message, tmp_path):
    path = tmp_path / "run.npz"
    given = {"data": DATA, "hidden": 4, **SETTINGS, "checkpoint": path}
    gh.train(**given)
    before = path.read_bytes()
    with pytest.raises(gh.FileError, match=message) as caught:
        gh.train(**given | changes)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before


def test_other_files_are_neither_read_nor_replaced(tmp_path):
    path = tmp_path / "run.npz"
    for content in (b"", b"my thesis"):
        path.write_bytes(content)
        with pytest.raises(gh.FileError, match="is not a checkpoint"):
            gh.train(DATA, 4, **SETTINGS, checkpoint=path)
        assert path.read_bytes() == content


def test_a_checkpoint_of_other_random_streams_is_refused(tmp_path):
    """Version 1 had no lanes: whatever it began would end as neither version does."""
    path = tmp_path / "run.npz"
    gh.train(DATA, 4, **SETTINGS, checkpoint=path)
    arrays = dict(np.load(path))
    header = str(arrays["header"])
    arrays["header"] = np.array(header.replace('"version": 2', '"version": 1'))
    assert str(arrays["header"]) != header
    np.savez(path, **arrays)
    with pytest.raises(gh.FileError, match=r"version must be 2.*choose another file"):
        gh.train(DATA, 4, **SETTINGS, checkpoint=path)


@pytest.mark.parametrize(
    ("name", "value"),
    [("order", 10**9), ("progress", -1), ("weights", np.nan), ("weights", np.zeros((2, 2)))],
)
def test_unsound_numbers_are_refused(name, value, tmp_path):
    path = tmp_path / "run.npz"
    gh.train(DATA, 4, **SETTINGS, checkpoint=path)
    arrays = dict(np.load(path))
    if np.ndim(value):
        arrays[name] = value
    else:
        arrays[name].flat[0] = value
    np.savez(path, **arrays)
    with pytest.raises(gh.FileError, match=f"array {name} is invalid|order of rows|counts are"):
        gh.train(DATA, 4, **SETTINGS, checkpoint=path)


SCRIPT = """
import sys, numpy as np, glasshouse as gh
from glasshouse.boltzmann import checkpoints
checkpoints.SECONDS = 0.05
run = gh.train(gh.bars_and_stripes(4), 16, epochs=60000, every=1000, rng=1,
               monitors=["log_likelihood"], checkpoint=sys.argv[1] if len(sys.argv) > 1 else None)
print(run.machine.weights.tobytes().hex()[:2000], run.history["log_likelihood"].tolist())
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_process_goes_on(number, tmp_path):
    path = tmp_path / "run.npz"
    command = [sys.executable, "-c", SCRIPT]
    whole = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for _ in range(3):
        seen = path.stat().st_mtime_ns if path.exists() else 0
        process = start([*command, str(path)])
        until(lambda old=seen: path.exists() and path.stat().st_mtime_ns != old, process)
        process.send_signal(number)
        process.heard()
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == whole
    assert [entry.name for entry in tmp_path.iterdir() if "part" not in entry.name] == ["run.npz"]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("weights", lambda a: a * 1e300),
        ("back", lambda a: a + 1.0),
        ("stream", lambda a: a * 0),
        ("progress", lambda a: np.where(np.arange(len(a)) == 3, 2**62, a)),  # modes
        ("progress", lambda a: np.where(np.arange(len(a)) == 1, 2**62, a)),  # the batch
        ("mode_visible", lambda a: a * 0),
        ("seen", lambda a: a[:1]),
    ],
)
def test_forged_checkpoints_are_refused_in_one_line(name, change, tmp_path):
    path = tmp_path / "run.npz"
    gh.train(DATA, 4, **SETTINGS, checkpoint=path)
    with np.load(path) as held:
        arrays = dict(held)
    arrays[name] = change(arrays[name])
    np.savez(path, **arrays)
    with pytest.raises(FileError, match="delete it"):
        gh.train(DATA, 4, **SETTINGS, checkpoint=path)


@pytest.mark.parametrize("key", ["modes_proven", "has_diverged", "identity"])
def test_forged_headers_are_refused_in_one_line(key, tmp_path):
    path = tmp_path / "run.npz"
    gh.train(DATA, 4, **SETTINGS, checkpoint=path)
    with np.load(path) as held:
        arrays = dict(held)
    header = json.loads(str(arrays["header"]))
    del header[key]
    np.savez(path, **(arrays | {"header": np.array(json.dumps(header))}))
    with pytest.raises(FileError, match="delete it"):
        gh.train(DATA, 4, **(SETTINGS | {"rng": None}), checkpoint=path)


def test_ctrl_c_keeps_what_was_done(tmp_path, monkeypatch):
    """A checkpoint is written even if the next one is not due."""
    path, calls = tmp_path / "run.npz", []

    def pressed(self, epoch):
        if calls:
            raise KeyboardInterrupt
        calls.append(epoch)
        return advance(self, epoch)

    advance = Trainer.advance
    whole = gh.train(DATA, 4, **SETTINGS)
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "advance", pressed)
        with pytest.raises(KeyboardInterrupt):
            gh.train(DATA, 4, **SETTINGS, checkpoint=path)
    assert path.exists()
    assert same(gh.train(DATA, 4, **SETTINGS, checkpoint=path), whole)
