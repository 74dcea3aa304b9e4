"""Pictures of RBMs that learn, on a caller's axes: monitors, weights, fields, samples, finals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.boltzmann.curves import BAND, Ensemble, labels_of, monitors_of
from glasshouse.boltzmann.model import BoltzmannMachine
from glasshouse.boltzmann.modes import Mode, find_mode
from glasshouse.charts.style import band, looks, new_figure, place_legend, plain_ticks, styled
from glasshouse.extras import optional
from glasshouse.landscape import gauge
from glasshouse.problems.validation import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Along: TypeAlias = Literal["epochs", "updates", "seconds"]
_AXES = {"epochs": "epoch", "updates": "updates", "seconds": "seconds of learning per machine"}
_NAMES = {"kl": "KL divergence (nats)", "frustration": "frustration index $f$ at the mode"}
_MOST_POINTS = 2000  # of an ensemble, in a scatter plot
_SAMPLES, _STEPS = 64, 2000  # of a machine that is drawn


def draw_monitor(
    ax: Axes,
    ensembles: Sequence[Ensemble],
    monitor: str,
    *,
    along: Along = "epochs",
    labels: Sequence[str] | None = None,
) -> None:
    """Median and 30–70 percentile band of a monitor, one colour per ensemble.

    Machines that diverged take part up to there; the legend counts them.

    Args:
        ax: where to draw.
        ensembles: those without this monitor are left out.
        monitor: its name.
        along: epochs, updates, or seconds of learning (looks not counted), as if all updates of a
            machine took equally long.
        labels: of the ensembles; what tells them apart when left out.
    """
    names = labels_of(ensembles) if labels is None else labels
    for one, name, look in zip(ensembles, names, looks(len(ensembles)), strict=True):
        if monitor not in one.curves or not one.machines:
            continue
        x = places(one, along)
        lost = f"{one.diverged:,} of {one.machines:,} diverged" if one.diverged else ""
        label = ", ".join(part for part in (name, lost) if part)
        ax.plot(x, one.median(monitor), color=look.colour, label=label or None)
        ax.fill_between(x, *one.percentiles(monitor), color=look.colour, alpha=0.2, linewidth=0)
    if monitor == "kl":
        ax.set_yscale("log")
        plain_ticks(ax, "y")
    if along == "seconds":  # gradients differ by orders of magnitude
        ax.set_xscale("log")
    else:
        ax.set_xlim(left=0)
    ax.set_xlabel(_AXES[along])
    ax.set_ylabel(axis_name(monitor))


def places(one: Ensemble, along: Along) -> FloatArray:
    """Where on the x axis an ensemble was looked at."""
    if along == "epochs":
        return one.epochs.astype(np.float64)
    batch = min(one.settings.batch_size or one.rows, one.rows)
    steps = np.asarray(one.epochs * math.ceil(one.rows / batch), dtype=np.float64)
    if along == "updates":
        return steps
    return np.asarray(steps * np.median(one.learning_seconds / np.maximum(one.updates, 1)))


def axis_name(monitor: str) -> str:
    """A monitor beside an axis."""
    return _NAMES.get(monitor, monitor.replace("_", " "))


def draw_finals(
    ax: Axes,
    ensembles: Sequence[Ensemble],
    x: str,
    y: str = "frustration",
    labels: Sequence[str] | None = None,
) -> None:
    """One dot per machine: a monitor at the end of the training over another one."""
    names = labels_of(ensembles) if labels is None else labels
    for one, name, look in zip(ensembles, names, looks(len(ensembles)), strict=True):
        ax.plot(one.final(x)[:_MOST_POINTS], one.final(y)[:_MOST_POINTS], linestyle="none",
                marker="o", markersize=2, markeredgewidth=0, alpha=0.5, color=look.colour,
                label=name or None, rasterized=one.machines > 200)  # fmt: skip
    ax.set_xlabel(f"final {axis_name(x)}")
    ax.set_ylabel(f"final {axis_name(y)}")


def draw_weights(ax: Axes, machine: BoltzmannMachine) -> None:
    """The weights of ±1 units, one row per visible unit: blue pulls together, red apart."""
    _matrix(ax, machine.in_units("spin").weights)


def draw_gauged(ax: Axes, machine: BoltzmannMachine, mode: Mode | None = None) -> None:
    """The same, gauged by the mode: what is red is frustrated there.

    Args:
        ax: where to draw.
        machine: whose weights.
        mode: its mode; found when left out.
    """
    found = find_mode(machine) if mode is None else mode
    spins = np.where(np.concatenate([found.visible, found.hidden]) == 1, 1, -1)
    _matrix(ax, gauge(machine.to_instance(), spins).to_matrix())
    name = "the mode" if found.is_proven else "the best state found"
    ax.set_title(f"gauged by {name}, $f$ = {found.frustration:.3f}")


def draw_fields(ax: Axes, machine: BoltzmannMachine, shape: tuple[int, int] | None = None) -> None:
    """The receptive field of every hidden unit: its weights, as an image.

    Args:
        ax: where to draw.
        machine: whose weights.
        shape: of an image; a square when left out.
    """
    fields = machine.weights.T
    largest = float(np.abs(fields).max()) or 1.0
    _tiles(ax, fields, shape, cmap="RdBu", vmin=-largest, vmax=largest)


def draw_images(
    ax: Axes, states: npt.ArrayLike, shape: tuple[int, int] | None = None
) -> None:  # fmt: skip
    """Data or samples as images, one per row, in the order of reading."""
    _tiles(ax, np.asarray(states) == 1, shape, cmap="Greys", vmin=0, vmax=1)


def training_figure(
    ensembles: Sequence[Ensemble],
    monitors: Sequence[str] | None = None,
    *,
    along: Along = "epochs",
) -> Figure:
    """A figure of its own: all monitors side by side.

    Args:
        ensembles: what to draw.
        monitors: which; all that any of them has when None.
        along: the x axis, as in `draw_monitor`.
    """
    known = monitors_of(ensembles)
    names = known if monitors is None else [name.strip() for name in monitors]
    for name in names:
        if name not in known:
            raise ValueError(f"monitor={name!r} is not one of {', '.join(known)}")
    if not names or not any(one.machines for one in ensembles):
        raise ValueError("there is nothing to draw yet; train with monitors first")
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
    """A figure of its own: fields, samples from random states, weights as they are and gauged.

    Args:
        machine: a trained one.
        shape: of an image; when left out a square where the visible units make one, else one row.
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
    """Many images on one pair of axes, with a line between them."""
    count, size = images.shape
    side = math.isqrt(size)
    height, width = (side, side) if shape is None else shape
    if height * width != size:
        raise ValueError(f"shape=({height}, {width}) has not {size} pixels; say the shape")
    across = max(1, math.ceil(math.sqrt(count * height / width)))  # about a square in all
    down = math.ceil(count / across)
    sheet = np.full((down * (height + 1) - 1, across * (width + 1) - 1), np.nan)
    for k in range(count):
        top, left = (k // across) * (height + 1), (k % across) * (width + 1)
        sheet[top : top + height, left : left + width] = images[k].reshape(height, width)
    colours = optional("matplotlib", "a figure").colormaps[cmap].with_extremes(bad="0.8")
    ax.imshow(np.ma.masked_invalid(sheet), cmap=colours, **options)
    ax.set_axis_off()
