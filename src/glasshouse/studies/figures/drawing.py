"""Pictures of one instance: its weight matrix before and after gauging, or its graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glasshouse.landscape import gauge
from glasshouse.planting import Planted, block_size
from glasshouse.problems import Ising, Rbm
from glasshouse.studies.figures.curves import new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Larger matrices are averaged to this many pixels, larger graphs are not drawn.
_MOST_PIXELS = 1000
_MOST_NODES = 2500
_MOST_ON_CIRCLE = 60
_SHOWN_LOOPS = 3
_LOOP_COLOURS = ("#1b9e77", "#7570b3", "#e6ab02")


def draw(plant: Planted) -> Figure:
    """Draw an instance: an RBM as its weight matrices, an Ising problem as its graph.

    Args:
        plant: any planted instance.

    Returns:
        A figure; `figures.save` writes it.
    """
    with styled():
        if isinstance(plant.problem, Rbm):
            figure, axes = new_figure(8.4, 4.4, columns=2)
            draw_weights(axes[0], plant, gauged=False)
            draw_weights(axes[1], plant, gauged=True)
        else:
            figure, ax = new_figure(5.2, 5.2)
            draw_graph(ax, plant)
        figure.suptitle(_caption(plant), fontsize=9)
    return figure


def draw_weights(ax: Axes, plant: Planted, *, gauged: bool, loops: int = _SHOWN_LOOPS) -> None:
    """Draw the weight matrix of an RBM, with its blocks and a few loops when gauged.

    Red is negative, blue positive. In the planted gauge the ground state is all up and what is
    red is frustrated; the dashed lines bound the block that structured loops put it into.

    Args:
        ax: where to draw.
        plant: an RBM instance.
        gauged: in the planted gauge, instead of as it is handed out.
        loops: how many loops to draw over the gauged matrix.
    """
    if not isinstance(plant.problem, Rbm):
        raise ValueError("only an Rbm has a weight matrix; use draw_graph")
    problem: Any = gauge(plant.problem, plant.state) if gauged else plant.problem
    matrix = _pixels(problem.matrix)
    reach = max(float(np.abs(matrix).max()), 1e-9)
    image = ax.imshow(
        np.ma.masked_equal(matrix, 0), cmap="RdBu", vmin=-reach, vmax=reach,
        interpolation="nearest", extent=(-0.5, problem.num_hidden - 0.5,
                                         problem.num_visible - 0.5, -0.5),
    )  # fmt: skip
    ax.figure.colorbar(image, ax=ax, shrink=0.75, label="weight")
    ax.grid(visible=False)
    ax.set_xlabel("hidden spin j")
    ax.set_ylabel("visible spin i")
    ax.set_title("in the planted gauge" if gauged else "as it is handed out")
    if gauged:
        _draw_block(ax, plant)
        _draw_loops(ax, plant, loops)


def _pixels(weights: Any) -> npt.NDArray[np.float64]:
    """The matrix, averaged over squares where it is too large for a picture."""
    n, m = weights.shape
    step = -(-max(n, m) // _MOST_PIXELS)
    if step == 1:
        return np.asarray(weights.toarray() if hasattr(weights, "toarray") else weights, float)
    from scipy.sparse import coo_array

    entries = coo_array(weights)
    rows, columns = entries.coords
    pixels = np.zeros((-(-n // step), -(-m // step)))
    np.add.at(pixels, (rows // step, columns // step), entries.data)
    return pixels


def _draw_block(ax: Axes, plant: Planted) -> None:
    """The lines between the blocks B1 to B4 of a structured instance."""
    asked = plant.recipe.parameters
    if plant.recipe.method != "structured_loops":
        return
    rows, columns = block_size(asked["n"], asked["m"], asked["block"], asked["block_rule"])
    ax.axhline(rows - 0.5, color="black", linestyle="--", linewidth=0.9)
    ax.axvline(columns - 0.5, color="black", linestyle="--", linewidth=0.9)
    ax.text(0.0, rows - 1.0, "B1", fontsize=8, va="bottom", ha="left", weight="bold")


def _draw_loops(ax: Axes, plant: Planted, most: int) -> None:
    """A loop of an RBM is a closed path of cells: along a row, along a column, and back."""
    n = plant.problem.num_visible  # type: ignore[union-attr]
    shown = [k for k in range(plant.loops.num_loops) if plant.loops[k].nodes.max() < sum_of(plant)]
    for k, colour in zip(shown[:most], _LOOP_COLOURS, strict=False):
        nodes = [int(node) for node in plant.loops[k].nodes]
        cells = []
        for a, b in zip(nodes, nodes[1:] + nodes[:1], strict=True):
            cells.append((max(a, b) - n, min(a, b)))
        x, y = zip(*(cells + cells[:1]), strict=True)
        ax.plot(x, y, "-", color=colour, linewidth=1.4)
        ax.plot(x[:-2], y[:-2], "o", color=colour, markersize=4)
        ax.plot(x[-2], y[-2], "s", color=colour, markeredgecolor="black", markersize=6)


def sum_of(plant: Planted) -> int:
    """Spins of an instance; a loop through more than these visits a ghost."""
    return int(plant.problem.num_variables)


def draw_graph(ax: Axes, plant: Planted) -> None:
    """Draw the graph of an Ising instance, edges coloured by whether the plant satisfies them.

    Lattices are drawn as lattices, everything else by a force-directed layout.

    Args:
        ax: where to draw.
        plant: an instance of at most 2500 spins.
    """
    from matplotlib.collections import LineCollection

    problem = plant.ising
    if problem.num_variables > _MOST_NODES:
        raise ValueError(
            f"a picture of {problem.num_variables} spins shows nothing; draw at most {_MOST_NODES}"
        )
    places, wrapped = _layout(plant, problem)
    satisfied = np.asarray(gauge(problem, plant.state).weights) > 0
    widths = 0.6 + 2.4 * np.abs(problem.weights) / max(float(np.abs(problem.weights).max()), 1e-9)
    for mark, colour, label in ((True, "#3b6fb6", "satisfied"), (False, "#c0392b", "frustrated")):
        chosen = (satisfied == mark) & ~wrapped
        lines = places[problem.edges[chosen]]
        collection = LineCollection(
            list(lines), colors=colour, linewidths=widths[chosen], label=label
        )
        ax.add_collection(collection)
        _draw_stubs(ax, places, problem, (satisfied == mark) & wrapped, colour)
    up = plant.state > 0
    size = max(6.0, 2000 / max(problem.num_variables, 20))
    for mark, face in ((True, "black"), (False, "white")):
        x, y = places[up == mark].T
        ax.scatter(
            x, y, s=size, c=face, edgecolors="black", linewidths=0.7, zorder=3,
            label="spin up" if mark else "spin down",
        )  # fmt: skip
    ax.set_aspect("equal")
    ax.axis("off")
    ax.margins(0.05)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=4)


def _draw_stubs(
    ax: Axes, places: npt.NDArray[np.float64], problem: Ising, chosen: Any, colour: str
) -> None:
    """Edges around a torus: half an edge at either end, pointing outwards."""
    for i, j in problem.edges[chosen]:
        way = np.sign(places[i] - places[j]) * (np.abs(places[i] - places[j]) > 1.5)
        for node, direction in ((i, way), (j, -way)):
            x, y = np.stack([places[node], places[node] + 0.45 * direction]).T
            ax.plot(x, y, color=colour, linewidth=1.0, linestyle=":")


def _layout(plant: Planted, problem: Ising) -> tuple[npt.NDArray[np.float64], Any]:
    """Places of the nodes, and which edges go around the back of a torus."""
    name = str(plant.recipe.parameters.get("graph", ""))
    head, _, shape = name.partition(":")
    sides = shape.split(" ")[0].split("x")
    is_flat = head in ("lattice", "torus") and len(sides) == 2 and all(s.isdigit() for s in sides)
    if is_flat and int(sides[0]) * int(sides[1]) == problem.num_variables:
        rows, columns = np.divmod(np.arange(problem.num_variables), int(sides[1]))
        places = np.column_stack([columns, -rows]).astype(float)
        ends = places[problem.edges]
        return places, np.abs(ends[:, 0] - ends[:, 1]).sum(axis=1) > 1.5
    return _free_layout(problem), np.zeros(problem.num_edges, dtype=bool)


def _free_layout(problem: Ising) -> npt.NDArray[np.float64]:
    """A circle for a few nodes; else by forces, with the isolated nodes in rows below."""
    import networkx

    if problem.num_variables <= _MOST_ON_CIRCLE:
        angles = np.pi / 2 - 2 * np.pi * np.arange(problem.num_variables) / max(
            problem.num_variables, 1
        )
        return np.column_stack([np.cos(angles), np.sin(angles)])
    graph = networkx.Graph(problem.edges.tolist())
    found = networkx.spring_layout(graph, seed=1)
    alone = [k for k in range(problem.num_variables) if k not in found]
    for order, node in enumerate(alone):
        row, column = divmod(order, 40)
        found[node] = np.array([-1 + column / 19.5, -1.15 - 0.08 * row])
    return np.array([found[k] for k in range(problem.num_variables)])


def _caption(plant: Planted) -> str:
    found = plant.summary()
    return (
        f"{found.method.replace('_', ' ')}: {found.size}, {found.loops} loops, "
        f"f = {float(found.frustration):.4g}, ground energy {found.energy}"
    )
