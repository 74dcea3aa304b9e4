"""`glasshouse train` as it is typed."""

from __future__ import annotations

import csv
import functools
import json
import signal
import subprocess
import sys

import numpy as np
import pytest
from tests.children import start, until

from glasshouse.boltzmann.settings import TrainingSettings
from glasshouse.cli import main, train

SMALL = ["train", "run", "bars:4x2", "--hidden", "3", "--epochs", "30"]


def typed(*words: object) -> list[str]:
    return [*SMALL, *map(str, words)]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("train") / "run.sqlite"
    assert main(typed("--count", 8, "-o", path)) == 0
    assert main(typed("--count", 8, "--gradient", "exact", "-o", path)) == 0
    return path


def fails(capsys, *words: object, code: int = 2) -> str:
    capsys.readouterr()
    assert main([*map(str, words)]) == code
    message = capsys.readouterr().err
    assert message.startswith("glasshouse: ")
    assert message.count("\n") == 1
    return message


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ([], {}),
        (["--no-biases", "--mode-time-limit", "3"], {"biases": False, "mode_seconds": 3.0}),
        (["--learning-rate", "0.1"], {"learning_rate": 0.1}),
        (["--learning-rate", "0.3,0.1", "--chains", "4", "--gradient", "pcd"],
         {"learning_rate": (0.3, 0.1), "chains": 4, "gradient": "pcd"}),
    ],
)  # fmt: skip
def test_options_are_the_fields_of_the_settings(words, changed, monkeypatch):
    seen = []

    @functools.wraps(train._run)
    def fake(data, settings, **given):
        seen.append((data, settings))

    monkeypatch.setattr(train, "_run", fake)
    assert main(["train", "run", "bars", "--hidden", "3", "-o", "x.sqlite", *words]) == 0
    assert seen == [("bars", TrainingSettings(3, **changed))]


def test_show(store, capsys):
    assert main(["train", "show", str(store)]) == 0
    first, head, *lines = capsys.readouterr().out.splitlines()
    assert first == "bars: 4 rows of 4 units"
    assert head.split()[:3] == ["setting", "machines", "diverged"]
    assert [line.split()[:3] for line in lines] == [["cd", "8/8", "0"], ["exact", "8/8", "0"]]
    assert main(["train", "show", str(store), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["ensembles"]
    assert [one["settings"]["gradient"] for one in told] == ["cd", "exact"]
    value, low, high = told[0]["final_medians"]["kl"]
    assert low <= value <= high


def test_export(store, tmp_path, capsys):
    path = tmp_path / "final.csv"
    assert main(["store", "export", str(store), "-o", str(path)]) == 0
    rows = list(csv.DictReader(path.open()))
    assert [row["machine"] for row in rows] == [*map(str, range(8))] * 2
    assert {row["epoch"] for row in rows} == {"30"}
    assert "final.csv" in fails(capsys, "store", "export", store, "-o", path)
    curves = tmp_path / "curves.csv"
    assert main(["store", "export", str(store), "-o", str(curves), "--as", "curves"]) == 0
    seen = list(csv.DictReader(curves.open()))
    assert len(seen) == 2 * 8 * 4
    assert seen[3]["kl"] == rows[0]["kl"]
    assert (
        main(["store", "export", str(store), "-o", str(tmp_path / "raw.csv"), "--rows", "training"])
        == 0
    )
    raw = list(csv.DictReader((tmp_path / "raw.csv").open()))
    assert json.loads(raw[0]["curves"])["kl"][-1] == float(rows[0]["kl"])


def test_plot(store, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "x.png"
    assert main(["train", "plot", str(store), "-o", str(picture)]) == 0
    assert picture.stat().st_size > 1000
    assert "x.png" in fails(capsys, "train", "plot", store, "-o", picture)
    words = ["--monitor", "kl", "--along", "seconds", "--force", "-o", str(picture)]
    assert main(["train", "plot", str(store), *words]) == 0
    assert "'klx' is not one of kl" in fails(capsys, "train", "plot", store, "--monitor", "klx",
                                             "-o", tmp_path / "y.png")  # fmt: skip


def test_draw(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    model, picture = tmp_path / "model.npz", tmp_path / "model.png"
    assert main(typed("-o", model)) == 0
    capsys.readouterr()
    words = ["draw", str(model), "-o"]
    assert main([*words, str(picture), "--image-width", "2"]) == 0
    assert capsys.readouterr().out == f"{picture}\n"
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert "already exists" in fails(capsys, *words, picture)
    assert "--image-width 3 does not divide the 4 visible units" in fails(
        capsys, *words, tmp_path / "x.png", "--image-width", 3
    )
    assert "not a figure" in fails(capsys, *words, model, "--force")
    (tmp_path / "no.npz").write_bytes(b"no model")
    assert "no.npz" in fails(capsys, "draw", tmp_path / "no.npz", "-o", tmp_path / "x.png")
    assert not (tmp_path / "x.png").exists()


def test_more_machines_join_those_that_are_there(tmp_path, capsys):
    path = tmp_path / "more.sqlite"
    assert main(typed("--count", 2, "-o", path, "--json")) == 0
    assert main(typed("--count", 4, "-o", path, "--json")) == 0
    first, second = (json.loads(line)["ensembles"] for line in capsys.readouterr().out.splitlines())
    assert (first[0]["machines"], second[0]["machines"], len(second)) == (2, 4, 1)


def test_one_machine_into_a_model_file_is_the_first_of_an_ensemble(store, tmp_path, capsys):
    path = tmp_path / "model.npz"
    assert main(typed("-o", path, "--json")) == 0
    told = json.loads(capsys.readouterr().out)
    with np.load(path) as model:
        assert model["weights"].shape == (4, 3)
        assert {"visible_bias", "hidden_bias"} <= set(model.files)
    assert main(["store", "export", str(store), "-o", "-"]) == 0
    row = next(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert float(row["kl"]) == pytest.approx(told["kl"], rel=1e-6)
    assert [file.name for file in tmp_path.iterdir()] == ["model.npz"]
    assert "model.npz" in fails(capsys, *typed("-o", path))
    assert main(typed("-o", path, "--force")) == 0
    assert "can hold only one RBM" in fails(capsys, *typed("-o", path, "--count", 2))


STOPPED = """
import sys
from glasshouse.boltzmann import checkpoints
from glasshouse.cli import main
checkpoints.SECONDS = 0.05
sys.exit(main())
"""


def without_seconds(path):
    """All that a file of a machine holds, except for the time that its training took."""
    with np.load(path) as file:
        arrays = dict(file)
    training = json.loads(str(arrays.pop("training")))
    assert training.pop("learning_seconds") > 0
    return {name: array.tobytes() for name, array in arrays.items()}, training


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]
)
def test_a_machine_that_was_stopped_goes_on_and_is_the_same(number, code, tmp_path):
    whole, model = tmp_path / "whole.npz", tmp_path / "model.npz"
    kept = tmp_path / "model.checkpoint.npz"
    words = ["train", "run", "stripes", "--hidden", "16", "--epochs", "50000", "--every", "1000",
             "--monitor", "log_likelihood", "-o"]  # fmt: skip
    command = [sys.executable, "-c", STOPPED, *words]
    told = "" if code < 0 else f"; the same command resumes from {kept}\n"
    for _ in range(2):
        seen = kept.stat().st_mtime_ns if kept.exists() else 0
        process = start([*command, str(model)])
        until(lambda old=seen: kept.exists() and kept.stat().st_mtime_ns != old, process)
        process.send_signal(number)
        said = process.heard()[1]
        assert process.returncode == code, said
        assert said.endswith(told)
        assert not model.exists()
    for path in (model, whole):
        subprocess.run([*command, str(path)], check=True)
    assert without_seconds(model) == without_seconds(whole)
    assert not kept.exists()


def test_divergence_is_counted_and_said(tmp_path, capsys):
    wild = ["--learning-rate", "1e4", "--reduction", "sum", "--momentum", "0.9"]
    path = tmp_path / "wild.sqlite"
    assert main(typed(*wild, "--count", 3, "-o", path)) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    assert "3/3" in line
    assert line.split("3/3")[1].split()[:3] == ["3", "-", "-"]
    model = tmp_path / "wild.npz"
    message = fails(capsys, *typed(*wild, "-o", model), code=1)
    assert "diverged in epoch" in message
    assert np.isfinite(np.load(model)["weights"]).all()


def test_data_from_a_file_and_held_out_rows(tmp_path, capsys):
    file = tmp_path / "mine.csv"
    np.savetxt(file, np.random.default_rng(1).integers(2, size=(20, 4)), "%d", ",")
    path = tmp_path / "mine.sqlite"
    words = ["train", "run", file, "--hidden", 2, "--epochs", 5, "-o", path, "--held-out", 0.25]
    assert main([*map(str, words)]) == 0
    assert capsys.readouterr().out.startswith("mine.csv: 15 rows of 4 units\n")
    assert "trained on other data" in fails(capsys, *words[:-1], 0.5)


BAD = {
    "bras": (["train", "run", "bras", "--hidden", "3"], "neither one of bars, stripes, digits"),
    "side": (typed("--side", 3), "--side is now a part of the name, such as stripes:4"),
    "sizes": (["train", "run", "bars:9", "--hidden", "2"], "have the form bars:WIDTHxLENGTH, such"),
    "hidden": (["train", "run", "bars", "--hidden", "0"], "--hidden 0 is below 1"),
    "monitor": (typed("--monitor", "kl,klx"), "'klx' is not one of kl"),
    "rate": (typed("--learning-rate", "fast"), "--learning-rate fast is neither"),
    "nan": (typed("--learning-rate", "nan"), "must be one or two finite numbers"),
    "rates": (typed("--learning-rate", "1,2,3"), "FIRST,LAST"),
    "many": (typed("--every", "0"), "--every 0 is below 1"),
    "both": (typed("--workers", 1, "--dask", "x"), "cannot be combined"),
    "held": (typed("--held-out", 2), "held-out 2"),
    "length": (["train", "run", "bars:9x9", "--hidden", "2"],
               "length=9 must be from 1 to"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_words_are_one_line_and_leave_nothing(tmp_path, capsys, name):
    words, message = BAD[name]
    path = tmp_path / "bad.sqlite"
    assert message in fails(capsys, *words, "-o", path)
    assert not path.exists()


def test_a_store_of_something_else_is_left_alone(tmp_path, capsys):
    path = tmp_path / "mine.sqlite"
    path.write_text("mine")
    fails(capsys, *typed("-o", path))
    fails(capsys, "train", "show", path)
    assert path.read_text() == "mine"
    assert "no such store" in fails(capsys, "train", "plot", tmp_path / "none.sqlite")


def test_outputs_that_would_destroy_an_input_are_refused(tmp_path, capsys):
    store, data = tmp_path / "v.sqlite", tmp_path / "d.npz"
    np.savez(data, data=np.eye(4, dtype=np.int8))
    assert (
        main(["train", "run", str(data), "--hidden", "2", "--epochs", "5", "-o", str(store)]) == 0
    )
    before = store.read_bytes(), data.read_bytes()
    for words in (
        ["store", "export", store, "-o", store, "--force"],
        ["train", "run", data, "--hidden", "2", "-o", data, "--force"],
        ["train", "run", data, "--hidden", "2", "-o", tmp_path / "m.txt"],
        ["train", "run", data, "--hidden", "2", "-o", tmp_path / "m.npz", "--workers", "2"],
    ):
        assert main([str(word) for word in words]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert (store.read_bytes(), data.read_bytes()) == before


def test_a_model_tells_how_it_was_trained(tmp_path, capsys):
    path = str(tmp_path / "m.npz")
    words = "train run bars --hidden 3 --epochs 20 --monitor kl,last_frustration --json -o"
    assert main([*words.split(), path]) == 0
    assert json.loads(capsys.readouterr().out)["last_frustration"] is None
    assert main(["train", "show", path, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["training"]
    assert (told["settings"]["epochs"], told["modes"], len(told["history"]["kl"])) == (20, 0, 3)
    assert main(["train", "show", path]) == 0
    assert "seed: 1" in capsys.readouterr().out
    assert main(["info", path]) == 0


def test_diverged_machines_are_told(tmp_path, capsys):
    words = "train run bars --hidden 3 --epochs 50 --learning-rate 1e6 --count 3 -o"
    assert main([*words.split(), str(tmp_path / "d.sqlite")]) == 0
    assert "RBMs diverged" in capsys.readouterr().err


@pytest.mark.parametrize(
    "notes",
    [
        {"history": {"kl": 5}},
        {"history": 3, "\x1b[2J": "\x1b]0;x\x07"},
        {"settings": [1], "visible": "a lie"},
    ],
)
def test_what_a_model_says_of_itself_does_no_harm(notes, tmp_path, capsys):
    arrays = {"weights": np.ones((2, 2)), "visible_bias": np.zeros(2), "hidden_bias": np.zeros(2)}
    texts = {"units": np.array("spin"), "training": np.array(json.dumps(notes))}
    np.savez(tmp_path / "m.npz", **arrays, **texts)
    assert main(["train", "show", str(tmp_path / "m.npz")]) == 0
    assert "\x1b" not in capsys.readouterr().out
    assert main(["train", "show", str(tmp_path / "m.npz"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["visible"] == 2
