"""Figures of one instance: its weight matrix before and after gauging, or its graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glasshouse.charts.layouts import MOST_BY_FORCES, Layout, couplings_of, layout_of
from glasshouse.charts.style import mark, new_figure, place_legend, styled
from glasshouse.charts.weight_matrix import loop_cells, pixels_of, shape_of
from glasshouse.landscape import gauge
from glasshouse.planting import Planted, block_size
from glasshouse.problems import Ising, MaxSat, Polynomial, Rbm, SpinArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]

# Larger matrices are summed to this many cells, which can still be seen one by one.
_MOST_CELLS = 250
_SHOWN_LOOPS = 3
_LOOP_COLOURS = ("#117733", "#7b3fa0", "#e08214")
_SATISFIED, _FRUSTRATED, _FREE = "#3b6fb6", "#c0392b", "0.7"
# A matrix longer than this many times its width is stretched to be visible.
_LONGEST_SHAPE = 4.0
_NAMED_NODES = 100  # labels of more nodes would be illegible
_SMALLEST_NAMED = 8.0  # points across a node that can hold its label


def draw(plant: Planted) -> Figure:
    """Draw an instance: an RBM as its weight matrices, any other problem as its graph.

    Chips (Chimera, Pegasus, Zephyr) are drawn in their own layout, with broken qubits. A graph
    of too many spins for a figure is drawn as its matrix of couplings.

    Args:
        plant: any planted instance.

    Returns:
        A figure; `style.save` writes it.
    """
    layout = None if isinstance(plant.problem, Rbm) else layout_of(plant)
    with styled():
        if layout is None:
            rows, columns = shape_of(_with_pairs(plant))
            height = 1.4 + 2.9 * min(max(rows / columns, 1 / _LONGEST_SHAPE), 1.6)
            figure, axes = new_figure(9.0, height, columns=2)
            draw_weights(axes[0], plant, gauged=False)
            draw_weights(axes[1], plant, gauged=True)
            handles = axes[1].get_legend_handles_labels()[0]
            if handles:
                figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        else:
            side = min(5.2 + len(layout.places) / 800, 10.0)
            figure, ax = new_figure(side, side)
            draw_graph(ax, plant, layout)
        figure.suptitle(_caption(plant), fontsize=9)
    return figure


def draw_weights(ax: Axes, plant: Planted, *, gauged: bool, loops: int = _SHOWN_LOOPS) -> None:
    """Draw the weight matrix of an instance, with blocks and loops if it is gauged.

    Red is negative, blue positive. In the planted gauge the ground state is all up, and red is
    frustrated; the dashed lines bound the block that structured loops put it into. Biases appear
    above and to the right of the matrix. Blocks and loops have labels for a legend.

    Args:
        ax: the axes to draw on.
        plant: an RBM; for other problems the symmetric matrix of couplings is drawn.
        gauged: whether to draw the planted gauge instead of the published weights.
        loops: the number of loops to draw over the gauged matrix of an RBM.
    """
    from matplotlib.ticker import MaxNLocator

    problem: Any = plant.problem
    problem = gauge(problem, plant.state) if gauged else problem
    rows, columns = shape_of(problem)
    matrix, step = pixels_of(problem, _MOST_CELLS)
    reach = max(float(np.abs(matrix).max()), 1e-9)
    colours: Any = {"cmap": "RdBu", "vmin": -reach, "vmax": reach, "interpolation": "nearest"}
    is_long = not 1 / _LONGEST_SHAPE <= rows / columns <= _LONGEST_SHAPE
    image = ax.imshow(
        np.ma.masked_equal(matrix, 0), aspect="auto" if is_long else "equal",
        extent=(-0.5, columns - 0.5, rows - 0.5, -0.5), **colours,
    )  # fmt: skip
    has_biases = _draw_biases(ax, problem, step, colours)
    # In the axes' own coordinates, so that the scale is as high as the drawn matrix.
    scale = ax.inset_axes((1.1 if has_biases else 1.03, 0.0, 0.045, 1.0))
    summed = "" if step == 1 else rf", summed over ${step} \times {step}$"
    ax.figure.colorbar(image, cax=scale, label=f"weight{summed}")
    ax.grid(visible=False)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(6, integer=True))
    is_rbm = isinstance(problem, Rbm)
    ax.set_xlabel("hidden spin $j$" if is_rbm else "spin $j$")
    ax.set_ylabel("visible spin $i$" if is_rbm else "spin $i$")
    title = "in the planted gauge" if gauged else "as published"
    ax.set_title(title, pad=16 if has_biases else 6)
    if gauged and is_rbm:
        _draw_block(ax, plant)
        _draw_loops(ax, plant, loops)


def _draw_biases(ax: Axes, problem: Any, step: int, colours: dict[str, Any]) -> bool:
    """Draw biases as strips above and next to the matrix; return whether there are any."""
    if isinstance(problem, Rbm):
        beside, above = problem.visible_bias, problem.hidden_bias
    else:
        beside = above = problem.fields
    if not (np.any(beside) or np.any(above)):
        return False
    boxes = {"above": (0.0, 1.02, 1.0, 0.035), "beside": (1.02, 0.0, 0.035, 1.0)}
    for name, values in (("above", above), ("beside", beside)):
        strip = ax.inset_axes(boxes[name])
        sums = np.add.reduceat(np.asarray(values, float), np.arange(0, len(values), step))
        line = np.ma.masked_equal(sums[None, :] if name == "above" else sums[:, None], 0)
        strip.imshow(line, aspect="auto", **colours)
        strip.set_xticks([])
        strip.set_yticks([])
        for spine in strip.spines.values():
            spine.set_visible(True)
    ax.annotate("biases", (1.0, 1.07), xycoords="axes fraction", fontsize=7, ha="right")
    return True


def _draw_block(ax: Axes, plant: Planted) -> None:
    """Draw the lines that separate the blocks B1 to B4 of a structured instance."""
    asked = plant.recipe.parameters
    if plant.recipe.method != "structured_loops":
        return
    rows, columns = block_size(asked["n"], asked["m"], asked["block"], asked["block_rule"])
    line: Any = {"color": "black", "linestyle": "--", "linewidth": 0.9}
    ax.axhline(rows - 0.5, label="block $B_1$, upper left", **line)
    ax.axvline(columns - 0.5, **line)


def _with_pairs(plant: Planted) -> Rbm | Ising:
    """Return a plant's problem as an RBM or an Ising problem; refuse clauses and products."""
    if isinstance(plant.problem, (MaxSat, Polynomial)):
        raise ValueError(
            f"{plant.problem.num_variables} variables are too many to draw: clauses and products "
            f"are drawn as a graph of at most {MOST_BY_FORCES} variables"
        )
    return plant.problem if isinstance(plant.problem, Rbm) else plant.ising


def _draw_loops(ax: Axes, plant: Planted, most: int) -> None:
    """Draw loops of an RBM as closed paths of matrix cells, along rows and columns."""
    n, size = shape_of(_with_pairs(plant))[0], plant.problem.num_variables
    # A loop through a bias visits a ghost, which does not have a cell.
    inside = (k for k in range(plant.loops.num_loops) if plant.loops[k].nodes.max() < size)
    edge: Any = {"linestyle": "none", "marker": "s", "markeredgecolor": "black", "markersize": 6}
    shown = list(zip(inside, _LOOP_COLOURS[:most], strict=False))
    for k, colour in shown:
        cells = [(column, row) for row, column in loop_cells(plant.loops[k].nodes, n)]
        x, y = zip(*(cells + cells[:1]), strict=True)
        ax.plot(x, y, "-", color=colour, linewidth=1.4, label=f"loop {k}")
        ax.plot(x[:-2], y[:-2], "o", color=colour, markersize=4)
        ax.plot(x[-2], y[-2], color=colour, **edge)
    if shown:
        ax.plot([], [], color="white", label="a loop's negative weight", **edge)


def draw_graph(ax: Axes, plant: Planted, layout: Layout | None = None) -> None:
    """Draw the graph of an instance, with colours for satisfied and frustrated edges.

    Lattices and chips are drawn in their own layout, all other graphs by a force-directed layout.
    The variables of a clause or product are joined in pairs.

    Args:
        ax: the axes to draw on.
        plant: an instance of at most 20,000 spins, or 2500 if it needs a force-directed layout.
        layout: the positions of the spins; None to choose them.
    """
    size = plant.problem.num_variables
    layout = layout_of(plant) if layout is None else layout
    if layout is None:
        raise ValueError(f"a graph with {size} spins is too large to draw; use draw_weights")
    across = _points_across(ax, layout)
    gauged = couplings_of(plant)
    noun = {MaxSat: "clause", Polynomial: "product"}.get(type(plant.problem), "coupling")
    handles = _draw_edges(ax, layout, gauged, across, noun)
    handles += _draw_fields(ax, layout, gauged, across)
    handles += _draw_nodes(ax, layout, gauged, plant.state, across)
    if len(layout.dead):
        cross: Any = {"marker": "x", "markeredgecolor": "black", "linestyle": "none"}
        ax.plot(*layout.dead.T, markersize=max(across, 3.0), **cross)
        graph = str(plant.recipe.parameters.get("graph"))
        is_chip = graph.startswith(("chimera", "pegasus", "zephyr"))
        handles.append(mark("dead qubit" if is_chip else "missing node", **cross))
    if size <= _NAMED_NODES and across >= _SMALLEST_NAMED:
        for spin, (place, name) in enumerate(zip(layout.places, layout.labels, strict=True)):
            ax.annotate(
                str(name), place, ha="center", va="center", zorder=4,
                fontsize=across / (0.9 + 0.55 * len(str(name))),
                color="white" if plant.state[spin] > 0 else "black", clip_on=True,
            )  # fmt: skip
    ax.set_aspect("equal")
    ax.axis("off")
    ax.margins(0.05)
    columns = len(handles) if len(handles) <= 4 else -(-len(handles) // 2)
    place_legend(ax, handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=columns)


def _draw_nodes(
    ax: Axes, layout: Layout, form: Ising, state: SpinArray, across: float
) -> list[Any]:
    """Draw spins as circles, with free spins in grey, and return legend handles."""
    is_free = np.asarray(form.fields) == 0
    is_free[np.unique(form.edges)] = False
    is_up = np.asarray(state) > 0
    kinds = (
        (is_up & ~is_free, "black", "black", "spin up"),
        (~is_up & ~is_free, "white", "black", "spin down"),
        (is_up & is_free, _FREE, _FREE, "free spin, up"),
        (~is_up & is_free, "white", _FREE, "free spin, down"),
    )
    handles = []
    for chosen, face, line, label in kinds:
        if chosen.any():
            look: Any = {"marker": "o", "markerfacecolor": face, "markeredgecolor": line,
                         "markeredgewidth": min(0.7, across / 8)}  # fmt: skip
            x, y = layout.places[chosen].T
            ax.plot(x, y, linestyle="none", markersize=across, zorder=3, **look)
            handles.append(mark(label, markersize=6, **look | {"markeredgewidth": 0.7}))
    return handles


def _points_across(ax: Axes, layout: Layout) -> float:
    """Return the diameter of a node in points, based on the distance between nodes."""
    from scipy.spatial import KDTree

    everywhere = np.concatenate([layout.places, layout.dead])
    if len(everywhere) < 2:
        return 14.0
    extent = max(float(np.ptp(everywhere, axis=0).max()), 1e-9)
    nearest = float(np.median(KDTree(everywhere).query(everywhere, k=2)[0][:, 1]))
    figure: Any = ax.figure
    points = 72 * min(figure.get_figwidth(), figure.get_figheight()) * 0.8
    across = 0.55 * nearest / extent * points
    return float(np.clip(across if across > _SMALLEST_NAMED else 0.75 * across, 0.8, 14.0))


def _draw_edges(ax: Axes, layout: Layout, gauged: Ising, across: float, noun: str) -> list[Any]:
    """Draw couplings as lines, or as stubs at both ends if they wrap around a torus."""
    from matplotlib.collections import LineCollection

    strength = np.abs(gauged.weights) / max(float(np.abs(gauged.weights).max(initial=0)), 1e-9)
    widths = (0.25 + 0.75 * strength) * np.clip(0.3 * across, 0.6, 3.0)
    handles = []
    kinds = ((True, _SATISFIED, f"{noun}, satisfied"), (False, _FRUSTRATED, "… frustrated"))
    for is_satisfied, colour, label in kinds:
        chosen = (np.asarray(gauged.weights) > 0) == is_satisfied
        flat = chosen & ~layout.wrapped
        lines = layout.places[gauged.edges[flat]]
        ax.add_collection(LineCollection(list(lines), colors=colour, linewidths=widths[flat]))
        stubs = _stubs(layout.places, gauged.edges[chosen & layout.wrapped])
        ax.add_collection(LineCollection(list(stubs), colors=colour, linewidths=1.0,
                                         linestyles=":"))  # fmt: skip
        if chosen.any():
            handles.append(mark(label, colour, linestyle="-", linewidth=2.0))
    if layout.wrapped.any():
        handles.append(mark("… around the torus", linestyle=":"))
    return handles


def _stubs(places: Floats, edges: Any) -> Floats:
    """Return the stubs of edges that wrap around a torus: two short outward lines for each edge."""
    ways = places[edges[:, 0]] - places[edges[:, 1]]
    ways = 0.45 * np.sign(ways) * (np.abs(ways) > 1.5)
    ends = [(edges[:, 0], ways), (edges[:, 1], -ways)]
    return np.concatenate(
        [np.stack([places[node], places[node] + way], axis=1) for node, way in ends]
    )


def _draw_fields(ax: Axes, layout: Layout, gauged: Ising, across: float) -> list[Any]:
    """Draw biases as rings around their spins, with thick rings for strong biases."""
    fields = np.asarray(gauged.fields, dtype=np.float64)
    most = max(float(np.abs(fields).max(initial=0)), 1e-9)
    handles = []
    kinds = ((1, _SATISFIED, "bias, satisfied"), (-1, _FRUSTRATED, "bias, frustrated"))
    for sign, colour, label in kinds:
        chosen = np.sign(fields) == sign
        if chosen.any():
            x, y = layout.places[chosen].T
            widths = (0.3 + 0.7 * np.abs(fields[chosen]) / most) * max(0.25 * across, 0.4)
            ax.scatter(x, y, s=(1.5 * across) ** 2, facecolors="none", edgecolors=colour,
                       linewidths=widths, zorder=2.5)  # fmt: skip
            handles.append(mark(label, colour, marker="o", markerfacecolor="none", markersize=8,
                                markeredgewidth=2.0))  # fmt: skip
    return handles


def _caption(plant: Planted) -> str:
    found = plant.summary()
    return (
        f"{found.method.replace('_', ' ')}: {found.size}, {plant.parts}, "
        rf"$f = {float(found.frustration):.4g}$, ground energy ${found.energy}$"
    )
