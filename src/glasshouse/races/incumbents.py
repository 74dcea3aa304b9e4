"""What runs said to have found, over time, as curves: cost above the best that is known, plus 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from glasshouse.races.results import Run
from glasshouse.races.scores import Floats

Curve = tuple[list[float], list[float]]

FEW_CURVES, MOST_CURVES = 5, 200  # from so many on there is a median; more of a solver are too many
_LEAST_SECONDS = 1e-3  # what comes before is drawn there


def excess_curve(run: Run, best: int | None) -> Curve:
    """Times and 1 + excess, up to the end of the run; a value below what is possible counts 1.

    Args:
        run: with at least one incumbent.
        best: the least cost that is known; that of the run itself when None.
    """
    least = min(value for _, value in run.incumbents) if best is None else best
    seconds = [max(at, _LEAST_SECONDS) for at, _ in run.incumbents]
    excess = [float(min(max(value - least, 0), 10**300)) + 1 for _, value in run.incumbents]
    return [*seconds, max(run.seconds, seconds[-1])], [*excess, excess[-1]]


def median_curve(curves: Sequence[Curve]) -> tuple[Floats, Floats]:
    """The median of step curves, from where half of them have begun to where the last one ends."""
    times = np.unique(np.concatenate([seconds for seconds, _ in curves]))
    heights = np.full((len(curves), len(times)), np.inf)
    for row, (seconds, excess) in zip(heights, curves, strict=True):
        place = np.searchsorted(seconds, times, side="right") - 1
        row[place >= 0] = np.asarray(excess)[place[place >= 0]]
    middle = np.sort(heights, axis=0)[(len(curves) - 1) // 2]
    return times[np.isfinite(middle)], middle[np.isfinite(middle)]
