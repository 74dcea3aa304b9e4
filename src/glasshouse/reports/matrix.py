"""The figure of a weight matrix, with a gauge switch and the loops of a certificate."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.certificates import Certificate, ExactForm
from glasshouse.charts.weight_matrix import loop_cells, pixels_of, shape_of
from glasshouse.landscape import gauge
from glasshouse.problems import Ising, Problem, Rbm, SpinArray
from glasshouse.reports.page import (
    MOST_POINTS,
    MOST_ROWS,
    Control,
    Figure,
    Part,
    Table,
    cut,
    number,
    text,
)

_MOST_CELLS = 256  # cells along a side
_SHOWN_LOOPS = 100  # loops that can be chosen
_LONGEST_PATH = 24  # nodes of a loop that are listed


def matrix_figure(
    problem: Rbm | Ising, state: SpinArray, what: str, certificate: Certificate | None = None
) -> Figure:
    """Return a figure of a problem's weights, as written and in the gauge of a state.

    Args:
        problem: the problem whose weights are drawn.
        state: the spins; in their gauge, red weights are frustrated.
        what: a description of the state.
        certificate: the certificate whose loops can be chosen.
    """
    turned: Any = gauge(problem, state)
    rows, columns = shape_of(problem)
    side = _MOST_CELLS
    while True:  # coarser, until the number of points fits into a page
        handed, step = pixels_of(problem, side)
        gauged, _ = pixels_of(turned, side)
        places = np.argwhere((handed != 0) | (gauged != 0))
        if len(places) <= MOST_POINTS:
            break
        side //= 2
    reach = max(float(np.abs(handed).max(initial=0)), float(np.abs(gauged).max(initial=0)), 1e-9)
    cells = [[step * i, step * j, handed[i, j], gauged[i, j]] for i, j in places.tolist()]
    is_rbm = isinstance(problem, Rbm)
    names = ("visible spin", "hidden spin") if is_rbm else ("spin i", "spin j")
    loops, options = _loops(problem, certificate, step)
    words = (
        f"Blue weights favour equal spins, red weights favour opposite spins. The switch changes "
        f"signs so that {what} is all up: red weights are then frustrated."
    )
    if options:
        words += (" A chosen loop is drawn over its cells; a box marks the one weight that the "
                  "state violates.")  # fmt: skip
    if _has_fields(problem):
        words += " Fields, which act on single spins, are not drawn."
    if step > 1:
        words += f" Weights are summed over squares of {step} × {step}."
    controls = [Control("gauged", "Gauge by the state")]
    if options:
        controls.append(Control("loop", "Loop", [(-1, "none"), *options]))
    return Figure(
        "Weight matrix", words, _specification(rows, columns, step, names, reach, has_path=is_rbm),
        Table("", [number("row", names[0]), number("column", names[1]),
                   number("weight", "weight as written"),
                   number("turned", "weight in the gauge of the state")],
              cut(cells)[0]),
        {"loops": loops}, controls,
    )  # fmt: skip


def _has_fields(problem: Rbm | Ising) -> bool:
    if isinstance(problem, Rbm):
        return bool(np.any(problem.visible_bias) or np.any(problem.hidden_bias))
    return bool(np.any(problem.fields))


def _loops(
    problem: Rbm | Ising, certificate: Certificate | None, step: int
) -> tuple[Table, list[tuple[int, str]]]:
    """Return the cells of the first loops that do not visit the ghost, and a menu of the loops."""
    rows: list[list[Any]] = []
    options: list[tuple[int, str]] = []
    visible = problem.num_visible if isinstance(problem, Rbm) else None
    for k in range(0 if certificate is None else certificate.num_loops):
        assert certificate is not None
        part = slice(certificate.starts[k], certificate.starts[k + 1])
        nodes, violated = certificate.nodes[part], certificate.negative_edges[part].tolist()
        if len(options) == _SHOWN_LOOPS or nodes.max(initial=0) >= problem.num_variables:
            continue
        if len(rows) + len(nodes) >= MOST_ROWS:
            continue  # the table of all loops contains this loop
        cells = loop_cells(nodes, visible)
        if any(row < 0 or column < 0 for row, column in cells):
            continue  # an RBM cannot have an edge of this loop
        marks = ["negative" if mark else "positive" for mark in violated]
        closed = [*zip(cells, marks, strict=True), (cells[0], marks[0])]
        rows += [[k, order, row // step * step, column // step * step, mark]
                 for order, ((row, column), mark) in enumerate(closed)]  # fmt: skip
        options.append((k, f"{k}, of {len(nodes)} spins"))
    columns = [number("loop"), number("order"), number("row"), number("column"), text("sign")]
    return Table("", columns, rows), options


def _leaves_couplings(problem: Problem, certificate: Certificate) -> bool:
    """Return whether a loop of a certificate uses a pair of spins that has no weight."""
    form, nodes = ExactForm.of(problem), certificate.nodes.astype(np.int64)
    following = np.roll(nodes, -1)
    following[certificate.starts[1:] - 1] = nodes[certificate.starts[:-1]]
    base = form.num_variables + 1  # the ghost is a vertex, too
    used = np.minimum(nodes, following) * base + np.maximum(nodes, following)
    edges = np.asarray(form.edges, dtype=np.int64).reshape(-1, 2)
    return not bool(np.isin(used, edges[:, 0] * base + edges[:, 1]).all())


def loop_table(problem: Problem, certificate: Certificate) -> list[Part]:
    """Return a table of a certificate's loops: their lengths, multipliers and spins."""
    count = certificate.num_loops
    if not count:
        return []
    rows = []
    for k in range(min(count, MOST_POINTS // 2)):
        nodes = certificate.nodes[certificate.starts[k] : certificate.starts[k + 1]].tolist()
        path = " ".join(map(str, nodes[:_LONGEST_PATH])) + " …" * (len(nodes) > _LONGEST_PATH)
        rows.append([k, len(nodes), certificate.multipliers[k], path])
    over = certificate.denominator
    shared = "" if over == 1 else f" The multipliers have the denominator {str(over)[:60]}."
    note = f" These are the first {len(rows):,} of {count:,}." if count > len(rows) else ""
    if _leaves_couplings(problem, certificate):
        note += " Loops may use uncoupled pairs; the weights of such pairs cancel in the sum."
    return [Table(
        "Loops of the certificate",
        [number("loop"), number("length"), number("multiplier", "multiplier μ"), text("spins")],
        cut(rows)[0], f"Each loop of length L proves a bound of −μ(L − 2).{shared}{note}",
    )]  # fmt: skip


def _specification(
    rows: int, columns: int, step: int, names: tuple[str, str], reach: float, *, has_path: bool
) -> dict[str, Any]:
    """Return the Vega-Lite specification of a weight matrix with a gauge switch and loops.

    Its parameters are `gauged` (0 or 1) and `loop` (a number, or -1 for no loop). Cells have the
    columns row, column, weight, turned; loops have loop, order, row, column, sign.

    Args:
        rows: the number of rows.
        columns: the number of columns.
        step: the side of a cell.
        names: the names of the spins along the rows and the columns.
        reach: the largest magnitude, which has the strongest colours.
        has_path: whether a loop is a closed path of cells, as in an RBM.
    """
    along, across = names

    def place(column: str, title: str, end: int) -> dict[str, Any]:
        # A cell is centred at its number, so that the last tick is that of the last spin.
        scale = {"domain": [-0.5, end - 0.5], "nice": False, "reverse": column == "row"}
        axis = {"title": title, "format": ",d", "tickMinStep": 1, "grid": False}
        return {"field": column, "type": "quantitative", "scale": scale, "axis": axis}

    def far(column: str) -> dict[str, Any]:
        return {"field": column}

    colour = {"field": "shown", "type": "quantitative",
              "scale": {"domain": [-reach, 0, reach], "range": ["#c0392b", "#b9b9b9", "#2f6fbb"]},
              "legend": {"title": "weight", "gradientLength": 160}}  # fmt: skip
    cells = {
        "transform": [
            {"calculate": "gauged ? datum.turned : datum.weight", "as": "shown"},
            {"calculate": "datum.row - 0.5", "as": "row_start"},
            {"calculate": "datum.column - 0.5", "as": "column_start"},
            {"calculate": f"datum.row + {step - 0.5}", "as": "row_end"},
            {"calculate": f"datum.column + {step - 0.5}", "as": "column_end"},
        ],
        "mark": {"type": "rect", "stroke": None},
        "encoding": {
            "x": place("column", across, columns) | far("column_start"), "x2": far("column_end"),
            "y": place("row", along, rows) | far("row_start"), "y2": far("row_end"),
            "color": colour,
            "tooltip": _told({"row": along, "column": across, "weight": "weight as written",
                                 "turned": "weight in the gauge of the state"}),
        },
    }  # fmt: skip
    chosen = {"filter": "datum.loop === loop"}
    middle = [
        {"calculate": f"datum.row + {(step - 1) / 2}", "as": "row_middle"},
        {"calculate": f"datum.column + {(step - 1) / 2}", "as": "column_middle"},
    ]
    at = {"x": far("column_middle") | {"type": "quantitative"},
          "y": far("row_middle") | {"type": "quantitative"}}  # fmt: skip
    path = {
        "data": {"name": "loops"}, "transform": [chosen, *middle],
        "mark": {"type": "line", "color": "var(--ink)", "strokeWidth": 2, "tooltip": None},
        "encoding": at | {"order": {"field": "order", "type": "quantitative"}},
    }  # fmt: skip
    corners = {
        "data": {"name": "loops"}, "transform": [chosen, *middle],
        "mark": {"type": "point", "filled": True, "size": 70, "stroke": "var(--ink)",
                 "strokeWidth": 1.5, "opacity": 1},
        "encoding": at | {
            "shape": {"field": "sign", "type": "nominal", "legend": None,
                      "scale": {"domain": ["positive", "negative"], "range": ["circle", "square"]}},
            "fill": {"field": "sign", "type": "nominal", "legend": None,
                     "scale": {"domain": ["positive", "negative"],
                               "range": ["#2f6fbb", "#c0392b"]}},
            "tooltip": _told({"loop": "loop", "sign": "its weight here", "row": along,
                                 "column": across}),
        },
    }  # fmt: skip
    return {
        # The page sets the height according to its width, so that cells are square.
        "width": "container", "height": 400, "usermeta": {"ratio": rows / columns},
        "data": {"name": "rows"},
        "params": [{"name": "gauged", "value": False}, {"name": "loop", "value": -1}],
        "layer": [cells, path, corners] if has_path else [cells, corners],
        "resolve": {"scale": {"color": "independent", "fill": "independent"}},
    }  # fmt: skip


def _told(columns: dict[str, str]) -> list[dict[str, str]]:
    """Return the tooltip of a mark: columns with their labels."""
    return [{"field": name, "title": label} for name, label in columns.items()]
