"""Figures show what was measured: the numbers behind the marks, on a caller's axes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from glasshouse.boltzmann import BoltzmannMachine, TrainingSettings, find_mode, shifting_bars
from glasshouse.boltzmann.curves import read_ensembles
from glasshouse.boltzmann.ensemble import TrainingTask, iter_train
from glasshouse.boltzmann.figures import (
    draw_fields,
    draw_finals,
    draw_gauged,
    draw_images,
    draw_monitor,
    draw_weights,
    machine_figure,
    places,
    training_figure,
)
from glasshouse.charts.style import new_figure
from glasshouse.store import Store

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    path = tmp_path_factory.mktemp("figures") / "pair.sqlite"
    settings = TrainingSettings(3, epochs=40, batch_size=2)
    tasks = [TrainingTask(shifting_bars(5, 2), replace(settings, units=units), count=5)
             for units in ("spin", "binary")]  # fmt: skip
    list(iter_train(tasks, path))
    with Store(path) as store:
        return read_ensembles(store)


@pytest.fixture
def ax():
    return new_figure()[1]


@pytest.fixture(scope="module")
def machine():
    rng = np.random.default_rng(1)
    return BoltzmannMachine(rng.normal(size=(4, 3)), rng.normal(size=4), rng.normal(size=3),
                            "binary")  # fmt: skip


def test_curves_are_the_medians(pair, ax):
    draw_monitor(ax, pair, "kl")
    for line, one in zip(ax.lines, pair, strict=True):
        assert line.get_xdata().tolist() == [0, 10, 20, 30, 40]
        assert np.array_equal(line.get_ydata(), np.median(one.curves["kl"], axis=0))
    assert [line.get_label() for line in ax.lines] == ["spin", "binary"]


def test_equal_updates_and_equal_time(pair):
    assert places(pair[0], "updates").tolist() == [0, 30, 60, 90, 120]  # 5 rows: 3 batches
    assert pair[0].updates.tolist() == [120] * 5
    seconds = places(pair[0], "seconds")
    assert seconds[-1] == pytest.approx(np.median(pair[0].learning_seconds))


def test_divergence_stands_in_the_legend(pair, ax):
    lost = replace(pair[0], diverged_at=np.array([0, 3, 0, 0, 0]))
    draw_monitor(ax, [lost], "kl")
    assert ax.lines[0].get_label() == "1 of 5 diverged"


def test_one_dot_per_machine(pair, ax):
    draw_finals(ax, pair, "kl")
    assert ax.lines[1].get_xdata().tolist() == pair[1].final("kl").tolist()
    assert ax.lines[1].get_ydata().tolist() == pair[1].final("frustration").tolist()


def test_what_is_negative_after_gauging_is_frustrated(machine, ax):
    mode = find_mode(machine)
    draw_gauged(ax, machine)
    shown = np.asarray(ax.images[0].get_array())
    spins = machine.in_units("spin")
    v, h = (np.where(part == 1, 1, -1) for part in (mode.visible, mode.hidden))
    assert np.allclose(shown, spins.weights * v[:, None] * h)
    terms = [shown, v * spins.visible_bias, h * spins.hidden_bias]
    bad = sum(float(-part[part < 0].sum()) for part in terms)
    assert bad / sum(float(np.abs(part).sum()) for part in terms) == pytest.approx(mode.frustration)
    assert f"{mode.frustration:.3f}" in ax.get_title()
    draw_weights(ax, machine)
    assert np.allclose(ax.images[1].get_array(), spins.weights)


def test_fields_and_samples_are_tiles_in_reading_order(machine, ax):
    draw_fields(ax, machine)  # 3 fields of 2 × 2: two across, two down
    sheet = np.asarray(ax.images[0].get_array().filled(np.nan))
    assert sheet.shape == (5, 5)
    assert np.array_equal(sheet[:2, 3:], machine.weights[:, 1].reshape(2, 2))
    assert np.isnan(sheet[2]).all()
    draw_images(ax, [[1, -1, -1, 1, 1, 1]], shape=(2, 3))
    assert ax.images[1].get_array().filled(9).tolist() == [[1, 0, 0], [1, 1, 1]]
    with pytest.raises(ValueError, match="must have 6 pixels"):
        draw_images(ax, [[1, -1, -1, 1, 1, 1]])


def test_tiles_of_any_shape_fill_about_a_square(ax):
    draw_images(ax, np.ones((16, 9)), shape=(1, 9))
    height, width = ax.images[0].get_array().shape
    assert (height, width) == (15, 19)  # eight down, two across


@pytest.mark.parametrize(("visible", "shape"), [(9, None), (6, None), (6, (2, 3))])
def test_a_machine_has_a_figure_of_its_own(visible, shape):
    machine = BoltzmannMachine(np.random.default_rng(1).normal(size=(visible, 4)))
    figure = machine_figure(machine, shape)
    assert [ax.get_title().split()[0] for ax in figure.axes] == [
        "receptive", "samples:", "weights", "gauged",
    ]  # fmt: skip
    shown = [np.ma.count(ax.images[0].get_array()) for ax in figure.axes]
    assert shown == [4 * visible, 64 * visible, 4 * visible, 4 * visible]


def test_a_figure_of_its_own(pair):
    figure = training_figure(pair)
    assert [ax.get_ylabel().split()[0] for ax in figure.axes] == ["KL", "frustration"]
    with pytest.raises(ValueError, match="'x' is not one of kl, frustration"):
        training_figure(pair, ["x"])
