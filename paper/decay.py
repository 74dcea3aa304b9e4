"""Decay of frustration as loops of the classic algorithm cancel (section "Intersection")."""

from __future__ import annotations

import math

import numpy as np

from glasshouse.charts.style import PAPER_COLOUR, bars, new_figure, place_legend, ticks_at
from glasshouse.landscape import expected_frustration, expected_intersections
from glasshouse.store.store import Store, StoredTask
from glasshouse.store.storefile import StoreError
from paper.report import Claim, Reproduction

_CLOSE = 0.02  # as a fraction of the expected number


def build(store: Store) -> Reproduction:
    """Compare realised f and intersections over the number of loops with the paper's formulas."""
    data = []
    sides = (0, 0)
    for task in store.tasks():
        if task.kind != "shapes":
            continue
        n, m = sides = _sides(task)
        rows = store.rows(task)
        loops, size = int(rows["loops"][0]), len(rows["loops"])
        data.append(
            {
                "n": n, "m": m, "loops": loops, "instances": size,
                "frustration": float(rows["frustration"].mean()),
                "frustration_error": float(rows["frustration"].std(ddof=1)) / math.sqrt(size),
                "intersections": float(rows["intersections"].mean()),
                "intersections_error": float(rows["intersections"].std(ddof=1)) / math.sqrt(size),
                "expected_frustration": expected_frustration(n, m, loops),
                "expected_intersections": expected_intersections(n, m, loops),
            }
        )  # fmt: skip
    n, m = sides
    number = np.array([row["loops"] for row in data], dtype=float)
    figure, (ax, side) = new_figure(10.4, 3.9, columns=2)
    fine = np.unique(np.geomspace(number.min(), number.max(), 120).astype(int))
    for axes, name, curve in (
        (ax, "frustration", [expected_frustration(n, m, int(k)) for k in fine]),
        (side, "intersections", [expected_intersections(n, m, int(k)) / k for k in fine]),
    ):
        scale = 1.0 if name == "frustration" else 1 / number
        values = np.array([row[name] for row in data]) * scale
        errors = 1.96 * np.array([row[f"{name}_error"] for row in data]) * scale
        axes.plot(fine, curve, "--", color=PAPER_COLOUR, label="the paper's formula")
        axes.errorbar(number, values, yerr=errors, fmt="o", color="black", label="measured")
        axes.set_xscale("log")
        axes.set_xlabel("loops $N$")
        ticks_at(axes, number)
    place_legend(side, [bars("bars: 95 % intervals")])
    ax.set_ylabel("frustration index $f$")
    ax.set_title(f"Frustration of the classic algorithm, {n} × {m}")
    side.set_ylabel(r"destructive intersections per loop, $N_\times/N$")
    side.set_title("Intersections")
    claims = [
        Claim(
            f"intersections of {row['loops']} loops", f"{row['expected_intersections']:.4g}",
            f"{row['intersections']:.4g} ± {1.96 * row['intersections_error']:.2g}",
            abs(row["intersections"] - row["expected_intersections"])
            <= _CLOSE * row["expected_intersections"] + 1.96 * row["intersections_error"],
        )
        for row in data
    ]  # fmt: skip
    return Reproduction(
        "Decay of frustration", figure, claims,
        "A number agrees if it differs from the formula by at most 2 % plus the half-width of the "
        "95 % interval. The 2 % are allowed because the formula assumes independent edges.",
        f"4-loops dropped at random on {n} × {m}, signs free; {data[0]['instances']} instances per "
        "point; no solver",
        data,
    )  # fmt: skip


def _sides(task: StoredTask) -> tuple[int, int]:
    graph = task.table("parameters").get("graph")
    if not (isinstance(graph, list) and len(graph) == 2):
        raise StoreError(f"task {task.task_id[:12]} has no [n, m] as graph; use another store")
    return graph[0], graph[1]
