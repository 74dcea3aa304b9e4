"""KL divergence and frustration during training (section "Connection to RBM Pre-training").

The paper specifies neither the units nor the normalisation of the gradient, and names two sizes.
Both sizes are trained, with ±1 units and means, and with 0/1 units and sums. The report states the
rules by which the claims are tested.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np

from glasshouse.boltzmann import data as data_sets
from glasshouse.boltzmann.curves import BAND, Ensemble, read_ensembles
from glasshouse.boltzmann.ensemble import TrainingTask, iter_train
from glasshouse.boltzmann.figures import draw_finals, draw_monitor
from glasshouse.boltzmann.settings import TrainingSettings
from glasshouse.charts.style import PAPER_COLOUR, band, new_figure, place_legend, plain_ticks
from glasshouse.problems.validation import FloatArray
from glasshouse.statistics.intervals import median_of
from glasshouse.store.collect import StudyProgress
from glasshouse.store.store import Store
from paper.report import Claim, Reproduction
from paper.statistics import bootstrap, rank_correlation, share

_PAPER_MACHINES, _COMPARED, _LEAST = 10_000, 1_000, 20
_PAPER_PLATEAU = 0.18
_CLOSE = 0.1  # the largest relative deviation from the plateau's height
_FLAT = 0.05  # the largest relative change over the last fifth of the epochs
_ZERO = 0.01  # the largest f that counts as zero
_RISING = 0.8  # the lowest rank correlation with the epoch
_DIP = 0.005  # the minimum depth of a dip
_POOR = 0.5  # the largest ratio of KL divergences that counts as drastically lower
_MONITORS = ("kl", "frustration", "activation")
_EVERY = 10
_CONVENTIONS = (("spin", "mean"), ("binary", "sum"))
_OTHERS: dict[str, dict[str, Any]] = {
    "PCD-1, 9 chains": {"gradient": "pcd"},
    "PCD-1, 100 chains": {"gradient": "pcd", "chains": 100},
    "exact gradient": {"gradient": "exact"},
    "CD-1 with mode": {"mode_probability": 0.1},
}


def tasks(scale: float = 1.0) -> list[TrainingTask]:
    """Return all ensembles: `scale` times 10,000 machines for CD-1, a tenth for other gradients.

    >>> [task.count for task in tasks(0.01)][:5]
    [100, 100, 100, 100, 20]
    """
    if not (math.isfinite(scale) and scale > 0):
        raise ValueError(f"scale={scale} must be above 0; 1 is the paper's number of machines")
    main = [_task(scale * _PAPER_MACHINES, units, reduction, hidden)
            for units, reduction in _CONVENTIONS for hidden in (12, 6)]  # fmt: skip
    others = [_task(scale * _COMPARED, units, reduction, hidden, **changed)
              for units, reduction in _CONVENTIONS for hidden in (12, 6)
              for changed in _OTHERS.values()]  # fmt: skip
    return main + others


def _task(count: float, units: Any, reduction: Any, hidden: int, **changed: Any) -> TrainingTask:
    settings = TrainingSettings(hidden, units=units, reduction=reduction, **changed)
    return TrainingTask(data_sets.shifting_bars(), settings, _MONITORS, _EVERY,
                        count=max(_LEAST, round(count)), name="shifting bars")  # fmt: skip


def collect(
    scale: float, store: Path, *, workers: int | None = None, executor: Executor | None = None
) -> Iterator[StudyProgress]:
    """Train all ensembles into a store, or resume, and yield the progress."""
    yield from iter_train(tasks(scale), store, workers=workers, executor=executor)


def build(store: Store) -> Reproduction:
    """Draw KL and f over epochs for both sizes and units, and test the claims about them."""
    asked = {task.task_id for task in tasks()}
    ensembles = [one for one in read_ensembles(store) if one.task_id in asked]
    main = [one for one in ensembles if _way(one) == "CD-1"]
    claims = [claim for one in main for claim in _shape(one)]
    claims += [claim for one in main for claim in _indicator(one)]
    claims += [claim for one in main for claim in _gradients(one, ensembles)]
    return Reproduction(
        "Frustration of RBMs in training", _figure(main, ensembles), claims,
        "The rules for agreement are below the table.",
        "shifting bars (5 of 9), 1000 epochs, learning rate 0.05 to 0.0005, σ = 0.01, biases; "
        f"{main[0].machines:,} machines per curve, {min(one.machines for one in ensembles):,} per "
        f"compared gradient; evaluations every {_EVERY} epochs; KL and f exact",
        [row for one in ensembles for row in _rows(one)],
        _remarks(main, ensembles),
    )  # fmt: skip


def _rules() -> str:
    return (
        f"* Zero: the median is at most {_ZERO}.\n"
        "* Rises: the 95 % intervals are disjoint, or the rank correlation with the epoch is above "
        f"{_RISING}.\n"
        f"* Plateau: the change over the last fifth of the epochs is less than {_FLAT:.0%}.\n"
        f"* Around: the value is within {_CLOSE:.0%} of the paper's value.\n"
        f"* Dip: after its minimum, the median has a dip that is at least {_DIP} deep on both "
        "sides.\n"
        "* Middle: the epoch is between a quarter and three quarters of all epochs.\n"
        "* Correlations, differences, fractions and ratios: the whole 95 % interval agrees.\n"
        f"* Drastically lower: the value is at most {_POOR} times the other value."
    )


def _way(one: Ensemble) -> str:
    """Return the name of the gradient with which an ensemble was trained."""
    usual = {"gradient": "cd", "mode_probability": 0.0, "chains": None}
    told = {name: getattr(one.settings, name) for name in usual}
    return next((name for name, changed in _OTHERS.items() if usual | changed == told), "CD-1")


def _label(one: Ensemble) -> str:
    units = {"spin": "±1", "binary": "0/1"}[one.settings.units]
    return f"{one.visible} × {one.settings.hidden}, {units}, {one.settings.reduction}"


def _shape(one: Ensemble) -> list[Claim]:
    """Test the claims about the shape of an ensemble's curve of f."""
    name, f, epochs = _label(one), one.median("frustration"), one.epochs
    first, last = (median_of(one.curve("frustration")[:, k]) for k in (0, -1))
    least = int(np.nanargmin(f))
    trend = rank_correlation(epochs[least:], f[least:]).value
    recent = f[epochs >= 0.8 * epochs[-1]]
    change = float(np.ptp(recent) / f[-1]) if f[-1] else math.inf
    claims = [
        Claim(f"{name}: f at the start", "zero", str(first), first.value <= _ZERO,
              "f does not depend on the scale of the weights"),
        Claim(f"{name}: f from start to end", "rises",
              f"{first.value:.3f} to {last.value:.3f}", last.low > first.high),
        Claim(f"{name}: f after its minimum", "clear increasing trend",
              f"from {f[least]:.3f} at epoch {epochs[least]}; rank correlation {trend:.2f}",
              trend > _RISING),
        Claim(f"{name}: f over the last fifth", "plateau", f"changes by {change:.1%}",
              change < _FLAT),
        Claim(f"{name}: f at the end", f"around {_PAPER_PLATEAU}", str(last),
              abs(last.value - _PAPER_PLATEAU) <= _CLOSE * _PAPER_PLATEAU),
    ]  # fmt: skip
    dip = deepest_dip(f[least:])
    if dip is None:
        return [
            *claims,
            Claim(f"{name}: dip of f", "a small dip", f"none after epoch {epochs[least]}", False),
        ]
    place, depth = int(epochs[least + dip[0]]), dip[1]
    return [
        *claims,
        Claim(f"{name}: dip of f", "a small dip", f"{depth:.3f} deep", True),
        Claim(f"{name}: position of the dip", "in the middle", f"epoch {place}",
              bool(0.25 <= place / epochs[-1] <= 0.75)),
    ]  # fmt: skip


def deepest_dip(curve: FloatArray) -> tuple[int, float] | None:
    """Return index and depth of a curve's deepest dip, or None if no dip is deep enough.

    >>> deepest_dip(np.array([0.0, 0.2, 0.1, 0.3]))
    (2, 0.1)
    """
    from scipy.signal import find_peaks

    found, told = find_peaks(-curve, prominence=_DIP)
    if not len(found):
        return None
    most = int(np.argmax(told["prominences"]))
    return int(found[most]), float(told["prominences"][most])


def _indicator(one: Ensemble) -> list[Claim]:
    """Test the claims about f as an indicator of a trained machine's quality."""
    name = _label(one)
    kl, f, sure = _finals(one)
    order = np.argsort(kl)
    quarter = max(len(order) // 4, 1)
    best, worst = f[order[:quarter]], f[order[-quarter:]]
    apart = bootstrap(lambda a, b: float(np.median(a) - np.median(b)), worst, best)
    with_kl, with_activation = rank_correlation(kl, f), rank_correlation(sure, f)
    return [
        Claim(f"{name}: f of the quarter with the highest KL minus f of that with the lowest KL",
              "below 0: f stays low where the training fails", str(apart), apart.high < 0,
              f"{np.median(worst):.3f} and {np.median(best):.3f}"),
        Claim(f"{name}: rank correlation of f and KL at the end", "negative: f is an indicator",
              str(with_kl), with_kl.high < 0),
        Claim(f"{name}: rank correlation of f and hidden activation", "not zero",
              str(with_activation), with_activation.low > 0 or with_activation.high < 0),
    ]  # fmt: skip


def _finals(one: Ensemble) -> FloatArray:
    """Return the final values of all machines that did not diverge: monitors × machines."""
    finals = np.array([one.final(monitor) for monitor in _MONITORS])
    return finals[:, np.isfinite(finals).all(axis=0)]


def _gradients(one: Ensemble, ensembles: Sequence[Ensemble]) -> list[Claim]:
    """Compare other gradients with CD-1 after equal numbers of updates."""
    alike = {_way(other): other for other in ensembles if _label(other) == _label(one)}
    kl, claims = _finals(one)[0], []
    said = {"exact gradient": "drastically lower: CD converges very poorly",
            "CD-1 with mode": "drastically lower", "PCD-1, 9 chains": "",
            "PCD-1, 100 chains": ""}  # fmt: skip
    for way, paper in said.items():
        ratio = bootstrap(lambda a, b: float(np.median(a) / np.median(b)),
                          _finals(alike[way])[0], kl)  # fmt: skip
        agrees = ratio.high <= _POOR if paper else None
        claims.append(
            Claim(f"{_label(one)}: final KL, {way} over CD-1", paper or "-", str(ratio), agrees)
        )
    trapped = float(np.percentile(kl, 75))
    above = share(_finals(alike["CD-1 with mode"])[0] > trapped)
    claims.append(
        Claim(f"{_label(one)}: machines with mode above the upper quartile of CD-1's KL",
              "below 0.25: the mode frees what is trapped", str(above), above.high < 0.25,
              f"the quartile is {trapped:.3f}")
    )  # fmt: skip
    return claims


def _figure(main: Sequence[Ensemble], ensembles: Sequence[Ensemble]) -> Any:
    figure, axes = new_figure(13.5, 10.5, columns=2, rows=3)
    labels = [_label(one) for one in main]
    for ax, monitor in zip(axes[0], ("kl", "frustration"), strict=True):
        draw_monitor(ax, main, monitor, labels=labels)
    axes[0, 0].set_title("CD-1: KL divergence")
    axes[0, 1].set_title("CD-1: frustration index")
    axes[0, 1].axhline(_PAPER_PLATEAU, color=PAPER_COLOUR, linestyle="--",
                       label=f"paper: plateau around {_PAPER_PLATEAU}")  # fmt: skip
    place_legend(axes[0, 1], [band(f"{BAND[0]:g} to {BAND[1]:g} percentiles")])
    compared = [one for one in ensembles if _label(one) == labels[0]]
    ways = [_way(one) for one in compared]
    draw_monitor(axes[1, 0], compared, "kl", along="updates", labels=ways)
    draw_monitor(axes[1, 1], compared, "kl", along="seconds", labels=ways)
    axes[1, 0].set_title(f"Gradients at equal updates: {labels[0]}")
    axes[1, 1].set_title(f"Gradients at equal time: {labels[0]}")
    place_legend(axes[1, 1])
    for ax, monitor in zip(axes[2], ("kl", "activation"), strict=True):
        draw_finals(ax, main, monitor, labels=labels)
    axes[2, 0].set_xscale("log")
    plain_ticks(axes[2, 0], "x")
    axes[2, 0].set_title("One dot per machine, CD-1")
    place_legend(axes[2, 1], markerscale=2)
    return figure


def _rows(one: Ensemble) -> list[dict[str, Any]]:
    """Return the curves of an ensemble as rows of the data file, one per evaluation."""
    bands = {name: one.percentiles(name, (50.0, *BAND)) for name in _MONITORS}
    shared = {"gradient": _way(one), "units": one.settings.units, "hidden": one.settings.hidden,
              "reduction": one.settings.reduction, "machines": one.machines,
              "diverged": one.diverged}  # fmt: skip
    rows = []
    for k, epoch in enumerate(one.epochs.tolist()):
        seen = {f"{name}{part}": f"{values[j, k]:.6g}" for name, values in bands.items()
                for j, part in enumerate(("", *(f"_{place:g}" for place in BAND)))}  # fmt: skip
        rows.append({**shared, "epoch": epoch, **seen})
    return rows


def _remarks(main: Sequence[Ensemble], ensembles: Sequence[Ensemble]) -> list[str]:
    first = [float(one.median("kl")[0]) for one in main]
    span = min(first), max(first)
    lost, trained = sum(one.diverged for one in ensembles), sum(one.machines for one in ensembles)
    modes = sum(int(one.modes.sum()) for one in ensembles)
    proven = sum(int(one.modes_proven.sum()) for one in ensembles)
    return [
        "The words in the table have these meanings:",
        _rules(),
        "The paper specifies neither the units (±1 or 0/1) nor whether the gradient is the mean or "
        "the sum over the data. The size is 9 × 12 in its caption and 9 × 6 in its text. This page "
        "shows both sizes, with two combinations: ±1 with the mean, and 0/1 with the sum. No "
        "setting was chosen to approach the paper's value of 0.18.",
        "By default, PCD uses as many persistent chains as there are data rows, which is nine "
        "here. With so few chains, PCD performs badly.",
        f"At the start, the median KL is {' to '.join(sorted({f'{one:.3f}' for one in span}))}. It "
        f"is near the KL of a uniform machine, ln(512/9) = {math.log(512 / 9):.3f}, because "
        "machines with small weights are nearly uniform.",
        f"{lost:,} of {trained:,} machines diverged. Training used {modes:,} modes, of which "
        f"{proven:,} are proven (by enumeration of all states). The probability of using the mode "
        "rises to 0.1 along the sigmoid of Manukian et al. (2020). Their runs had many more "
        "updates than the 1000 updates of this figure.",
        "Machines in the quarter with the highest final KL count as failures. Training only these "
        "machines again would not be a fair test of the mode, because regression to the mean would "
        "look like an improvement. Instead, the mode is judged by the fraction of its machines "
        "above CD-1's upper quartile.",
    ]
