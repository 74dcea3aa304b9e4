"""The paper's training figure, from end to end at the smallest scale."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest

from glasshouse.boltzmann.curves import read_ensembles
from glasshouse.boltzmann.ensemble import iter_train
from glasshouse.store import Store
from paper import FIGURES, iter_figure, machines, paper_study, write_figure
from paper.__main__ import main
from paper.machines import deepest_dip, tasks

pytest.importorskip("matplotlib")


def test_the_ensembles_are_the_paper_s_in_both_sizes_and_units():
    asked = tasks(1.0)
    main_ones = [task for task in asked if task.count == 10_000]
    assert [(t.settings.units, t.settings.hidden) for t in main_ones] == [
        ("spin", 12), ("spin", 6), ("binary", 12), ("binary", 6),
    ]  # fmt: skip
    for task in asked:
        assert task.data.shape == (9, 9)
        assert task.data.sum(axis=1).tolist() == [5] * 9
        assert task.settings.epochs == 1000
        assert task.settings.learning_rate == (0.05, 0.0005)
        assert task.settings.batch_size is None
    assert {task.count for task in tasks(1e-9)} == {20}
    with pytest.raises(ValueError, match="scale=0"):
        tasks(0)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """All ensembles, but with 30 epochs and six machines."""
    folder = tmp_path_factory.mktemp("paper")
    short = [replace(task, settings=replace(task.settings, epochs=30), count=6)
             for task in tasks()]  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machines, "tasks", lambda scale=1.0: short)
        *_, last = iter_figure("rbm", folder / "rbm.sqlite", scale=1.0)
        assert last.is_complete
        # A foreign task in the store is not mistaken for one of the paper's.
        other = replace(short[0], settings=replace(short[0].settings, sigma=0.5), count=1)
        list(iter_train([other], folder / "rbm.sqlite"))
        with Store(folder / "rbm.sqlite") as store:
            return folder, write_figure("rbm", store, folder), read_ensembles(store)


def test_every_claim_is_tested_for_both_sizes_and_units(built):
    folder, done, ensembles = built
    what = [claim.what for claim in done.claims]
    for words in ("f at the start", "f at the end", "dip of f", "over the last fifth",
                  "correlation of f and KL", "hidden activation", "lowest", "with mode over CD-1",
                  "machines with mode"):  # fmt: skip
        assert sum(words in line for line in what) == 4, words
    start = next(claim for claim in done.claims if "f at the start" in claim.what)
    measured = np.median(ensembles[0].curves["frustration"][:, 0])
    assert f"{measured:.4g}" in start.measured
    assert start.agrees is False
    report = (folder / "rbm.md").read_text()
    assert "ln(512/9) = 4.041" in report
    rows = list(csv.DictReader((folder / "rbm.csv").open()))
    assert len(rows) == 20 * 4
    assert {row["machines"] for row in rows} == {"6"}
    assert float(rows[3]["kl"]) == pytest.approx(np.median(ensembles[0].final("kl")), rel=1e-5)


def test_dips_are_minima_that_count():
    rising = np.linspace(0, 1, 50)
    assert deepest_dip(rising) is None
    assert deepest_dip(rising[::-1]) is None
    bent = np.where(np.arange(50) < 20, 2 * rising, rising)
    place, depth = deepest_dip(bent)
    assert place == 20
    assert depth == pytest.approx(bent[19] - bent[20])
    assert deepest_dip(rising + 0.001 * (-1.0) ** np.arange(50)) is None


def test_the_command_knows_it_and_a_study_file_is_not_asked_for(tmp_path, capsys):
    assert "rbm" in FIGURES
    with pytest.raises(ValueError, match="use iter_figure"):
        paper_study("rbm")
    assert main(["rbm", "--scale", "-1", "-o", str(tmp_path)]) == 2
    assert "scale=-1.0 must be above 0" in capsys.readouterr().err


@pytest.mark.slow
def test_at_a_hundredth_the_medians_are_those_of_the_errata(tmp_path):
    """Section 5 of the errata, to 10 % with 100 machines: final KL and f."""
    list(iter_train(tasks(0.01)[:4], tmp_path / "x.sqlite"))
    with Store(tmp_path / "x.sqlite") as store:
        ensembles = read_ensembles(store)
    expected = [(0.251, 0.193), (0.434, 0.189), (0.301, 0.213), (0.428, 0.210)]
    for one, (kl, f) in zip(ensembles, expected, strict=True):
        assert one.median("kl")[0] == pytest.approx(np.log(512 / 9), rel=0.01)
        assert one.final_median("kl").value == pytest.approx(kl, rel=0.1)
        assert one.final_median("frustration").value == pytest.approx(f, rel=0.1)
