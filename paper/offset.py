"""Offset of our points to the paper's fitted curves, with N_sweep as printed and doubled."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from glasshouse.charts.style import PAPER_COLOUR, looks, new_figure, place_legend
from glasshouse.store.store import Store
from glasshouse.studies.analysis import Point, points_of
from glasshouse.studies.charts import settings_text
from paper.frustration import PAPER_LAWS, frustration_of, paper_value
from paper.report import Claim, Reproduction, point_row

# The solver's settings in the order of the study, and their names in the report.
SETTINGS = {"paper": "N_sweep as printed", "paper-doubled": "twice the printed N_sweep"}
# The largest mean deviation that counts as zero.
_CLOSE = 0.05


class Deviation(NamedTuple):
    """The deviation of a point from the paper's fitted curve.

    Attributes:
        frustration: f.
        size: n.
        log: ln(measured / fitted).
        point: the measured point.
    """

    frustration: Fraction
    size: float
    log: float
    point: Point


def build(store: Store) -> Reproduction:
    """Draw deviations from the paper's fits over n, for eight frustrations and two run lengths."""
    points = points_of(store, "geometric_mean")
    found = {setting: _deviations(points, setting) for setting in SETTINGS}
    figure, panels = new_figure(10.4, 4.2, columns=2)
    for ax, (setting, deviations) in zip(panels, found.items(), strict=True):
        _draw(ax, deviations)
        ax.set_title(SETTINGS[setting])
    panels[0].set_ylabel("measured geometric mean / the paper's fit")
    place_legend(panels[1])
    claims = [claim for setting in SETTINGS for claim in _claims(setting, found[setting])]
    return Reproduction(
        "The offset to the paper's curves", figure, claims,
        "A claim agrees if the mean deviation from the paper's fitted curve is below 5 %.",
        settings_text(points),
        [_row(setting, one) for setting in SETTINGS for one in found[setting]],
        _remarks(found),
    )  # fmt: skip


def spread(deviations: Iterable[Deviation]) -> tuple[float, float]:
    """Return the mean relative deviation, and the root mean square of the log ratio."""
    logs = np.array([one.log for one in deviations])
    return math.expm1(float(logs.mean())), float(np.sqrt((logs**2).mean()))


def trend(deviations: Sequence[Deviation], along: str) -> tuple[float, float]:
    """Return the least-squares slope of the log ratio over f or ln n, and its standard error.

    Along ln n, each f has its own level.
    """
    logs = np.array([one.log for one in deviations])
    names = [one.frustration for one in deviations]
    if along == "frustration":
        x = np.array([float(name) for name in names])
        columns = [np.ones(len(x)), x - x.mean()]
    else:
        x = np.log([one.size for one in deviations])
        levels = [np.array([name == other for name in names], float) for other in sorted({*names})]
        columns = [*levels, x - x.mean()]
    matrix = np.stack(columns, axis=1)
    solution, *_ = np.linalg.lstsq(matrix, logs, rcond=None)
    left = logs - matrix @ solution
    variance = (left**2).sum() / max(len(logs) - len(columns), 1)
    covariance = variance * np.linalg.pinv(matrix.T @ matrix)
    return float(solution[-1]), math.sqrt(covariance[-1, -1])


def _deviations(points: Iterable[Point], setting: str) -> list[Deviation]:
    found = []
    for point in points:
        f = frustration_of(point)
        solver = point.task.solver
        if f in PAPER_LAWS and solver is not None and solver.sweeps_per_run == setting:
            ratio = point.estimate.value / paper_value(f, point.size)
            found.append(Deviation(f, point.size, math.log(ratio), point))
    return found


def _draw(ax: Any, deviations: Sequence[Deviation]) -> None:
    ax.axhline(1.0, color=PAPER_COLOUR, linestyle="--", linewidth=0.8)
    names = sorted({one.frustration for one in deviations})
    for name, look in zip(names, looks(len(names)), strict=True):
        own = [one for one in deviations if one.frustration == name]
        values = np.exp([one.log for one in own])
        low, high = (
            [getattr(one.point.estimate, side) / paper_value(name, one.size) for one in own]
            for side in ("low", "high")
        )
        ax.errorbar([one.size for one in own], values, yerr=[values - low, high - values],
                    fmt=f"{look.marker}-", color=look.colour,
                    label=f"f = {float(name):g}")  # fmt: skip
    ax.set_xscale("log")
    ax.set_xlabel("size $n$")
    ax.set_ylim(0.5, 1.5)


def _claims(setting: str, deviations: Sequence[Deviation]) -> list[Claim]:
    claims = []
    for name in [*sorted({one.frustration for one in deviations}), None]:
        own = [one for one in deviations if name in (None, one.frustration)]
        mean, rms = spread(own)
        what = "all f" if name is None else f"f = {float(name):g}"
        claims.append(
            Claim(
                f"{SETTINGS[setting]}, {what}: mean deviation", "0", f"{mean:+.1%}",
                abs(mean) <= _CLOSE, f"{len(own)} sizes, rms of the log ratio {rms:.2f}",
            )
        )  # fmt: skip
    return claims


def _row(setting: str, one: Deviation) -> dict[str, object]:
    return {
        "setting": setting,
        **point_row(one.point),
        "paper_fit": paper_value(one.frustration, one.size),
        "deviation_from_paper": math.expm1(one.log),
    }


def _remarks(found: dict[str, list[Deviation]]) -> tuple[str, ...]:
    trends = []
    for setting, deviations in found.items():
        of_f, of_n = trend(deviations, "frustration"), trend(deviations, "size")
        trends.append(
            f"* {SETTINGS[setting]}: {of_f[0]:+.2f} ± {of_f[1]:.2f} per unit of f, "
            f"{of_n[0]:+.3f} ± {of_n[1]:.3f} per unit of ln n"
        )
    return (
        "The logarithm of the ratio has these trends (least squares, with standard errors):",
        "\n".join(trends),
        "The measurement establishes which of the two settings is nearer to the curves, on average "
        "and for each f. It does not establish whether the authors used this setting.",
        "The paper's text and appendix state the printed numbers, and the authors' raw data for "
        "this figure are not available. A different cause with the same effect cannot be excluded. "
        "The authors' raw data for structured loops, whose N_sweep is known, agree with the "
        "printed N_sweep.",
    )  # fmt: skip
