"""Figures of trained RBMs and of their training: monitors, weights, receptive fields, samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.boltzmann.curves import BAND, Ensemble, labels_of, monitors_of
from glasshouse.boltzmann.model import BoltzmannMachine
from glasshouse.boltzmann.modes import find_mode
from glasshouse.boltzmann.monitors import MONITORS
from glasshouse.charts import Axis, Chart, Mark, Series, plot_chart, thinned
from glasshouse.charts.style import band, new_figure, place_legend, styled
from glasshouse.extras import optional
from glasshouse.landscape import gauge
from glasshouse.problems import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Along: TypeAlias = Literal["epochs", "updates", "seconds"]
_AXES = {"epochs": "epoch", "updates": "updates", "seconds": "seconds of learning per machine"}
_LOGARITHMIC = ("kl",)  # monitors that fall by orders of magnitude
# The titles of monitors; `MONITORS` states what each of them measures.
_TITLES = {
    "kl": "KL divergence",
    "held_out": "Log-likelihood of held-out data",
    "ais": "Log-likelihood by annealed importance sampling",
    "held_out_ais": "Held-out log-likelihood by annealed importance sampling",
    "ais_error": "Error of annealed importance sampling",
    "frustration": "Frustration index",
    "proven": "Fraction of proven modes",
    "last_frustration": "Frustration index at the last mode used",
}
_NAMES = {"kl": "KL divergence (nats)", "frustration": "frustration index f at the mode"}
_MOST_POINTS = 2000  # the most machines of an ensemble in a scatter plot
_SAMPLES, _STEPS = 64, 2000  # samples in a figure, and Gibbs steps per sample


def monitor_chart(
    ensembles: Sequence[Ensemble], monitor: str, along: Along, labels: Sequence[str]
) -> Chart:
    """Return the chart of a monitor: its median and percentile band for each ensemble."""
    series = []
    for one, name in zip(ensembles, labels, strict=True):
        marks = []
        if monitor in one.curves and one.machines:
            marks.append(Mark("median", ("band", "line"), places(one, along), one.median(monitor),
                              *one.percentiles(monitor)))  # fmt: skip
        lost = f"{one.diverged:,} of {one.machines:,} diverged" if one.diverged else ""
        series.append(Series(name, marks, ", ".join(part for part in (name, lost) if part)))
    lows = [low for one in series for part in one.marks for low in part.low if math.isfinite(low)]
    meaning = MONITORS[monitor].meaning if monitor in MONITORS else monitor.replace("_", " ")
    words = (f"{meaning[0].upper()}{meaning[1:]}: the median over machines, and the band from the "
             f"{BAND[0]:g}th to the {BAND[1]:g}th percentile.")  # fmt: skip
    lost_in_all = sum(one.diverged for one in ensembles if monitor in one.curves)
    if lost_in_all:
        words += f" A machine that diverges is left out from then on: {lost_in_all:,} diverged."
    # The times of different gradients differ by orders of magnitude.
    x = Axis(_AXES[along], is_log=True) if along == "seconds" else Axis(_AXES[along], low=0)
    return Chart(
        monitor_title(monitor), words, x, monitor_axis(monitor, lows, "median"), series, "setting",
        ends=(f"{BAND[0]:g} %", f"{BAND[1]:g} %"),
    )  # fmt: skip


def draw_monitor(
    ax: Axes,
    ensembles: Sequence[Ensemble],
    monitor: str,
    *,
    along: Along = "epochs",
    labels: Sequence[str] | None = None,
) -> None:
    """Draw the median and the 30–70 percentile band of a monitor, one colour per ensemble.

    Machines that diverged are included until they diverged; the legend counts them.

    Args:
        ax: the axes to draw on.
        ensembles: the ensembles to draw; an ensemble without this monitor is left out.
        monitor: the name of the monitor.
        along: the x axis: epochs, updates, or seconds of learning without evaluations, under the
            assumption that all updates of an ensemble take equally long.
        labels: the labels of the ensembles; by default, the settings in which they differ.
    """
    names = labels_of(ensembles) if labels is None else labels
    plot_chart(monitor_chart(ensembles, monitor, along, names), ax)


def places(one: Ensemble, along: Along) -> FloatArray:
    """Return the epochs, updates or seconds of an ensemble's evaluations, as x values."""
    if along == "epochs":
        return one.epochs.astype(np.float64)
    batch = min(one.settings.batch_size or one.rows, one.rows)
    steps = np.asarray(one.epochs * math.ceil(one.rows / batch), dtype=np.float64)
    if along == "updates":
        return steps
    return np.asarray(steps * np.median(one.learning_seconds / np.maximum(one.updates, 1)))


def monitor_axis(monitor: str, values: Sequence[float] = (), name: str = "") -> Axis:
    """Return the axis of a monitor, which is logarithmic for `kl`.

    Args:
        monitor: the name of the monitor.
        values: values that the axis must show; the axis is linear if one is not above 0.
        name: a title for tables; if empty, the monitor's label.
    """
    is_log = monitor in _LOGARITHMIC and all(value > 0 for value in values)
    return Axis(_NAMES.get(monitor, monitor_label(monitor)), name or monitor_label(monitor), is_log)


def monitor_title(name: str) -> str:
    """Return the title of a monitor's figure.

    >>> monitor_title("kl"), monitor_title("log_likelihood"), monitor_title("")
    ('KL divergence', 'Log likelihood', '')
    """
    plain = name.replace("_", " ")
    return _TITLES.get(name, plain[:1].upper() + plain[1:])


def monitor_label(name: str) -> str:
    """Return a monitor's name as an axis label, which also fits into a sentence.

    >>> monitor_label("kl"), monitor_label("frustration")
    ('KL divergence', 'frustration index')
    """
    title = monitor_title(name)
    return title if title[:2].isupper() else title[:1].lower() + title[1:]


def finals_chart(
    ensembles: Sequence[Ensemble], x: str, y: str, labels: Sequence[str]
) -> Chart:  # fmt: skip
    """Return a scatter plot of two monitors' final values, with one dot per machine."""
    series = []
    for one, name in zip(ensembles, labels, strict=True):
        kept = thinned(one.machines, _MOST_POINTS)
        told = {"machine": one.numbers[kept].tolist()}
        ends = Mark("", ("points",), one.final(x)[kept], one.final(y)[kept], told=told)
        series.append(Series(name, [ends]))
    titled = [
        replace(axis, title=f"final {axis.title}", is_log=False)
        for axis in (monitor_axis(x), monitor_axis(y))
    ]
    words = "One dot per machine."
    if any(one.machines > _MOST_POINTS for one in ensembles):
        words += f" At most {_MOST_POINTS:,} machines per setting are drawn, evenly spaced."
    return Chart("Final values of the machines", words, titled[0], titled[1], series, "setting")


def draw_finals(
    ax: Axes,
    ensembles: Sequence[Ensemble],
    x: str,
    y: str = "frustration",
    labels: Sequence[str] | None = None,
) -> None:
    """Draw a scatter plot of two monitors' final values, with one dot per machine."""
    names = labels_of(ensembles) if labels is None else labels
    plot_chart(finals_chart(ensembles, x, y, names), ax)


def draw_weights(ax: Axes, machine: BoltzmannMachine) -> None:
    """Draw the weight matrix in ±1 units; a blue weight favours equal values of its two units."""
    _matrix(ax, machine.in_units("spin").weights)


def draw_gauged(ax: Axes, machine: BoltzmannMachine) -> None:
    """Draw the weight matrix in the gauge of the mode, with frustrated weights in red."""
    found = find_mode(machine)
    spins = np.where(np.concatenate([found.visible, found.hidden]) == 1, 1, -1)
    _matrix(ax, gauge(machine.to_instance(), spins).to_matrix())
    name = "the mode" if found.is_proven else "the best state found"
    ax.set_title(f"gauged by {name}, $f$ = {found.frustration:.3f}")


def draw_fields(ax: Axes, machine: BoltzmannMachine, shape: tuple[int, int] | None = None) -> None:
    """Draw the receptive field of each hidden unit: its weights, as an image.

    Args:
        ax: the axes to draw on.
        machine: the machine whose weights are drawn.
        shape: the height and width of an image; by default a square.
    """
    fields = machine.weights.T
    largest = float(np.abs(fields).max()) or 1.0
    _tiles(ax, fields, shape, cmap="RdBu", vmin=-largest, vmax=largest)


def draw_images(
    ax: Axes, states: npt.ArrayLike, shape: tuple[int, int] | None = None
) -> None:  # fmt: skip
    """Draw each row of data or samples as an image."""
    _tiles(ax, np.asarray(states) == 1, shape, cmap="Greys", vmin=0, vmax=1)


def training_figure(
    ensembles: Sequence[Ensemble],
    monitors: Sequence[str] | None = None,
    *,
    along: Along = "epochs",
) -> Figure:
    """Return a new figure with one chart per monitor, side by side.

    Args:
        ensembles: the ensembles to draw.
        monitors: the names of the monitors; None draws all monitors of the ensembles.
        along: the x axis, as in `draw_monitor`.
    """
    known = monitors_of(ensembles)
    names = known if monitors is None else [name.strip() for name in monitors]
    for name in names:
        if name not in known:
            raise ValueError(f"monitor={name!r} is not one of {', '.join(known)}")
    if not names or not any(one.machines for one in ensembles):
        raise ValueError("no monitor has values to draw yet; train RBMs with monitors first")
    with styled():
        figure, axes = new_figure(5.2 * len(names) + 1.4, 3.8, columns=len(names))
        for ax, name in zip(np.ravel(axes), names, strict=True):
            draw_monitor(ax, ensembles, name, along=along)
        last = np.ravel(axes)[-1]
        place_legend(last, [band(f"{BAND[0]:g} to {BAND[1]:g} percentiles")])
        counts = sorted({one.machines for one in ensembles})
        many = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
        figure.suptitle(f"{ensembles[0].data}: {many} machines per setting", parse_math=False)
    return figure


def machine_figure(machine: BoltzmannMachine, shape: tuple[int, int] | None = None) -> Figure:
    """Return a new figure of an RBM: receptive fields, samples, and weights in two gauges.

    Args:
        machine: the machine to draw.
        shape: the height and width of an image; by default a square if possible, else one row.
    """
    size = machine.num_visible
    if shape is None and math.isqrt(size) ** 2 != size:
        shape = 1, size
    with styled():
        figure, axes = new_figure(9.0, 8.6, columns=2, rows=2)
        draw_fields(axes[0, 0], machine, shape)
        axes[0, 0].set_title("receptive fields of the hidden units")
        draw_images(axes[0, 1], machine.sample(_SAMPLES, steps=_STEPS, rng=1), shape)
        axes[0, 1].set_title(f"samples: {_STEPS:,} Gibbs steps from random states")
        draw_weights(axes[1, 0], machine)
        axes[1, 0].set_title("weights of ±1 units")
        draw_gauged(axes[1, 1], machine)
    return figure


def _matrix(ax: Axes, weights: npt.NDArray[Any]) -> None:
    largest = float(np.abs(weights).max()) or 1.0
    ax.imshow(weights, cmap="RdBu", vmin=-largest, vmax=largest, aspect="auto")
    ax.grid(visible=False)
    ax.set_xlabel("hidden unit")
    ax.set_ylabel("visible unit")


def _tiles(
    ax: Axes, images: npt.NDArray[Any], shape: tuple[int, int] | None, cmap: str, **options: Any
) -> None:
    """Draw several images on the same axes, as tiles that are separated by lines."""
    count, size = images.shape
    side = math.isqrt(size)
    height, width = (side, side) if shape is None else shape
    if height * width != size:
        raise ValueError(f"shape=({height}, {width}) must have {size} pixels; pass another shape")
    across = max(1, math.ceil(math.sqrt(count * height / width)))  # the sheet is about square
    down = math.ceil(count / across)
    sheet = np.full((down * (height + 1) - 1, across * (width + 1) - 1), np.nan)
    for k in range(count):
        top, left = (k // across) * (height + 1), (k % across) * (width + 1)
        sheet[top : top + height, left : left + width] = images[k].reshape(height, width)
    colours = optional("matplotlib", "a figure").colormaps[cmap].with_extremes(bad="0.8")
    ax.imshow(np.ma.masked_invalid(sheet), cmap=colours, **options)
    ax.set_axis_off()
