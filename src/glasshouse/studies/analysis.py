"""Results of studies: one point per task, series of points along an axis, and fits to series."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.planting import METHODS
from glasshouse.statistics.estimators import Statistic, standard_log_error, statistic_or_bound
from glasshouse.statistics.intervals import student_reach
from glasshouse.statistics.peaks import DecayFit, Peak, fit_decay, hardness_peak, smoothed
from glasshouse.statistics.samples import Estimate, Sample
from glasshouse.statistics.scaling import Extrapolation, LawComparison, compare_laws, extrapolate
from glasshouse.store.store import Store, StoredTask
from glasshouse.studies.ensembles import ENSEMBLES
from glasshouse.studies.quantities import KINDS
from glasshouse.studies.quantities.hardness import RunPlan
from glasshouse.studies.quantities.thermal import Thermal
from glasshouse.studies.study import Study, heading_of, is_axis
from glasshouse.studies.task import Task, task_of
from glasshouse.suites.grammar import is_own
from glasshouse.summaries import Summarised

Floats = npt.NDArray[np.float64]

# The axes of figures, and the parameters that change along each of them. Any other parameter of a
# planting method that is a number makes an axis too.
AXES = {
    "density": {"loop_density", "loops"},
    "size": {"n", "m", "L", "loop_density", "loops"},
    "frustration": {"frustration"},
}


SIZES = ("size", "n", "L")  # axes of laws and limits
_MANY = 15  # points along an axis from which their average is shown


@dataclass(frozen=True, repr=False)
class Point(Summarised):
    """A point in a figure: one measured task, with a statistic of its instances.

    Attributes:
        task: the measured task.
        size: n, visible spins or half the vertices; all spins of families with other knobs.
        density: the requested loop density; N/n if no density was requested.
        loops: the paper's N, which is the density times n, rounded up.
        estimate: the statistic with its interval; infinite if only a lower bound is known.
        log_error: standard error of its logarithm; see `standard_log_error`.
        samples: the number of instances.
        censored: the number of instances that were stopped at the limit.
        schedule: the annealer's settings in numbers; None if nothing is solved.
    """

    task: Task
    size: float
    density: float
    loops: int
    estimate: Estimate
    log_error: float
    samples: int
    censored: int
    schedule: RunPlan | None

    @property
    def standard_error(self) -> float:
        """The standard error of the statistic, from its interval."""
        reach = student_reach(max(self.samples - 1, 1), self.estimate.confidence)
        return (self.estimate.high - self.estimate.low) / (2 * reach)

    def along(self, axis: str) -> float:
        """Return the point's position along an axis: "density", "size", or a parameter."""
        if axis == "density":
            return self.density
        if axis == "size":
            return self.size
        asked = self.task.parameters.get(axis)
        if axis == "beta" and isinstance(self.task.solver, Thermal):
            asked = self.task.solver.beta[0]
        if asked is None:
            raise ValueError(f"{axis} cannot be the axis: {self.task.method} has no value for it")
        try:
            return float(Fraction(asked))
        except (TypeError, ValueError):
            raise ValueError(f"{axis}={asked!r} is not a number, so it cannot be an axis") from None


@dataclass(frozen=True, repr=False)
class Series(Summarised):
    """Points that differ only in their position along one axis, sorted by this position.

    Attributes:
        label: the parameters that distinguish this series from the others.
        axis: "density", "size", or a parameter such as "frustration".
        points: ascending along the axis.
    """

    label: str
    axis: str
    points: tuple[Point, ...]

    @property
    def measured(self) -> tuple[Point, ...]:
        """The points with a finite statistic; at all others, only a lower bound is known."""
        return tuple(p for p in self.points if math.isfinite(p.estimate.value))

    def arrays(self) -> tuple[Floats, Floats, Floats]:
        """Return the measured points' positions, values and errors (of the values' logarithms)."""
        points = self.measured
        return (
            np.array([p.along(self.axis) for p in points]),
            np.array([p.estimate.value for p in points]),
            np.array([p.log_error for p in points]),
        )

    def intervals(self) -> tuple[Floats, Floats]:
        """Return the measured points' values and standard errors (of the values themselves)."""
        points = self.measured
        return (
            np.array([p.estimate.value for p in points]),
            np.array([p.standard_error for p in points]),
        )


def averaged(one: Series) -> tuple[Floats, Floats]:
    """Return positions, evenly spaced on a log axis, and the average of the points near each."""
    x, y, errors = one.arrays()
    logs = np.log(x)
    at = np.linspace(logs.min(), logs.max(), 80)
    width = max(0.07, 1.2 * float(np.median(np.diff(np.unique(logs)))))
    return np.exp(at), np.exp(smoothed(logs, np.log(y), errors, at, width))


def is_cloud(one: Series) -> bool:
    """Return whether a series has enough points for figures to show their average, too."""
    return len(one.measured) >= _MANY


def fitted_law(one: Series, law: LawComparison) -> tuple[Floats, Floats, Floats, Floats]:
    """Return sizes, the best law's values at these sizes, and its band of two standard errors."""
    x = np.geomspace(one.points[0].size, one.points[-1].size, 60)
    return x, law.best.predict(x), *law.best.band(x, 2.0)


def telling_axis(points: Sequence[Point]) -> str:
    """Return the default axis of a study: density for loops, else β or a varied knob, else size."""
    if all(point.loops for point in points):
        return "density"
    if any(p.task.method not in METHODS for p in points):
        is_thermal = (
            len({p.along("beta") for p in points if isinstance(p.task.solver, Thermal)}) > 1
        )
        return "beta" if is_thermal else "size"
    shared = set.intersection(*(set(METHODS[p.task.method].knobs) for p in points))
    varied = (
        name
        for name in sorted(shared)
        if len({p.task.parameters.get(name) for p in points} - {None}) > 1
    )
    return next(varied, "size")


def points_of(
    store: Store, name: Statistic, confidence: float = 0.95, value: str | None = None
) -> list[Point]:
    """Return a point for each measured task of the first quantity in the store with statistics.

    Args:
        store: an open store.
        name: the statistic.
        confidence: the confidence level of the intervals.
        value: the column that statistics are about; by default that of the quantity.
    """
    measured = [stored for stored in store.tasks() if len(store.done(stored))]
    there = [stored.kind for stored in measured]
    own = (stored.kind for stored in measured if is_own(stored.description.get("measures")))
    kinds = [kind for kind in KINDS if KINDS[kind].value and kind in there] or [*own]
    return [
        _point(store, stored, name, confidence, value)
        for stored in measured
        if stored.kind in kinds[:1]
    ]


def sample_of(store: Store, stored: StoredTask, value: str | None = None) -> Sample:
    """Return the values of a task for statistics: the sweeps, and which instances were solved.

    Args:
        store: an open store.
        stored: the task.
        value: the column to use instead of the quantity's own.
    """
    quantity = task_of(stored).quantity.about(value)
    if not quantity.is_counted:
        return quantity.sample(store.rows(stored, quantity.sampled))
    signed = store.signed(stored, *quantity.sampled)
    return Sample.of(np.abs(signed), signed > 0)


def _point(
    store: Store, stored: StoredTask, name: Statistic, confidence: float, value: str | None
) -> Point:
    task = task_of(stored)
    realised = task.realised
    sample = sample_of(store, stored, value)
    estimate = statistic_or_bound(sample, name, confidence)
    asked = task.parameters.get("loop_density")
    density = realised.loops / realised.size if asked is None else float(Fraction(asked))
    return Point(
        task, realised.size, density, realised.loops, estimate,
        standard_log_error(sample, name, estimate), sample.size, sample.censored, realised.schedule,
    )  # fmt: skip


def series_of(points: Iterable[Point], axis: str) -> list[Series]:
    """Group points into series along an axis, labelled by the parameters that differ."""
    if not is_axis(axis):
        raise ValueError(f"axis={axis!r} must be one of {', '.join(AXES)} or a method's parameter")
    groups: dict[tuple[Any, ...], list[Point]] = {}
    for point in points:
        groups.setdefault(_identity(point, axis), []).append(point)
    changing = _changing([dict(key) for key in groups])
    series = []
    for key, members in groups.items():
        given = dict(key)
        named = {name: given.get(name, _usual(given["method"], name)) for name in sorted(changing)}
        named = {name: value for name, value in named.items() if value is not None}
        members.sort(key=lambda point: point.along(axis))
        series.append(Series(_label(named), axis, tuple(members)))
    return series


def _identity(point: Point, axis: str) -> tuple[Any, ...]:
    """Return everything that identifies a point, except for its position on the axis."""
    task = point.task
    kept: dict[str, Any] = {"method": task.method}
    kept |= {k: v for k, v in task.parameters.items() if k not in AXES.get(axis, {axis})}
    if axis != "size" and kept.get("m") == kept.get("n"):
        kept.pop("m", None)
    if task.solver is not None:
        settings = task.solver.canonical()
        if axis == "beta":
            settings.pop("beta", None)
        kept |= {f"solver {k}": str(v) for k, v in settings.items()}
    kept["seed"] = task.seed
    return tuple(sorted((name, _hashable(value)) for name, value in kept.items()))


def _usual(method: str, name: str) -> Any:
    """Return the default value of an ensemble's parameter, or None if it has no default."""
    if method not in ENSEMBLES or name not in ENSEMBLES[method].parameters:
        return None
    usual = ENSEMBLES[method].parameters[name].default
    return None if usual is inspect.Parameter.empty else usual


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _changing(groups: list[Mapping[str, Any]]) -> set[str]:
    names = {name for group in groups for name in group}
    return {name for name in names if len({group.get(name) for group in groups}) > 1}


_SYMBOLS = {"frustration": "f", "block": "d", "method": "", "sweeps_per_run": "N_sweep"}


def _label(values: Mapping[str, Any]) -> str:
    """Return a short label for a series, such as "n = 30, f = 0.05"."""
    parts = []
    for name, value in values.items():
        name = name.removeprefix("solver ")
        if name == "method":
            if "block" not in values:
                parts.append(value.removesuffix("_loops").replace("_", " "))
            continue
        text = f"{float(Fraction(value)):g}" if _is_fraction(value) else str(value)
        parts.append(f"{_SYMBOLS.get(name, name.replace('_', ' '))} = {text}")
    return ", ".join(parts)


def _is_fraction(value: Any) -> bool:
    return isinstance(value, str) and value.replace("/", "").isdigit()


@dataclass(frozen=True, repr=False)
class StudyFits(Summarised):
    """The fits to the series of a study.

    Attributes:
        laws: for sizes: the scaling laws of each series, with odds.
        peaks: for densities and other parameters: the peak of each series.
        decay: the decay of the peak density with the size, from four sizes on.
        notes: remarks on series that were too short or not solved.
        limits: for means over sizes: the value in the limit of infinite size.
        axis: what the series were fitted along.
    """

    laws: Mapping[str, LawComparison]
    peaks: Mapping[str, Peak]
    decay: DecayFit | None
    notes: tuple[str, ...]
    limits: Mapping[str, Extrapolation] = field(default_factory=dict)
    axis: str = "density"

    @property
    def is_empty(self) -> bool:
        """Whether nothing could be fitted."""
        return not (self.laws or self.peaks or self.limits)

    def summary(self) -> str:
        """Return all fits as text."""
        lines = []
        for label, comparison in self.laws.items():
            lines += [label or "all", *(f"  {line}" for line in comparison.summary().splitlines())]
        for label, limit in self.limits.items():
            lines.append(f"{label or 'all'}: {limit.summary()}")
        for label, peak in self.peaks.items():
            edge = "  (at the edge of what was measured)" if peak.at_edge else ""
            lines.append(f"{label or 'all'}: peak at {self.axis} {peak.density}{edge}")
        if self.decay is not None:
            lines.append(f"peak density: {self.decay}")
        return "\n".join([*lines, *self.notes])


def fit_study(store: Store, study: Study | None = None) -> StudyFits:
    """Fit a study's main result: laws or limits in the size, or peaks in any other parameter.

    Positive quantities have scaling laws over sizes. Means have a limit: an extrapolation in 1/L.

    Args:
        store: an open store.
        study: how to show the store; by default, the study for which it was collected.
    """
    study = heading_of(store) if study is None else study
    if not is_axis(study.figure):
        return StudyFits({}, {}, None, (f"a study with figure={study.figure!r} has no fit",))
    points = points_of(store, study.statistic, value=study.value)
    return fit_series(series_of(points, study.figure))


def fit_series(series: Iterable[Series]) -> StudyFits:
    """Fit scaling laws or limits to series over sizes, and peaks to series over other axes."""
    laws: dict[str, LawComparison] = {}
    peaks: dict[str, Peak] = {}
    limits: dict[str, Extrapolation] = {}
    notes, sizes, axis = [], [], "density"
    for one in series:
        axis, label = one.axis, one.label or "all"
        x, y, errors = one.arrays()
        if len(x) < len(one.points):
            notes.append(f"{label}: {len(one.points) - len(x)} points are only lower bounds")
        elif unsure := sum(p.censored for p in one.points):
            notes.append(
                f"{label}: {unsure} rows that are not solved, proven or equilibrated are used, too"
            )
        if one.axis in SIZES and not _has_logs(y, errors):
            try:
                limits[one.label] = extrapolate(x, *one.intervals())
            except ValueError as error:
                notes.append(f"{label}: {error}")
        elif len(np.unique(x)) < 5:
            notes.append(f"{label}: {len(x)} points are too few for a fit")
        elif (x <= 0).any() or not _has_logs(y, errors):
            notes.append(f"{label}: a peak along {one.axis} needs positive values")
        elif one.axis in SIZES:
            laws[one.label] = compare_laws(x, y, errors=errors)
        else:
            peaks[one.label] = hardness_peak(x, y, errors=errors)
            sizes.append(one.points[0].size)
    decay = _decay(sizes, list(peaks.values())) if axis == "density" else None
    return StudyFits(laws, peaks, decay, tuple(notes), limits, axis)


def _has_logs(values: Floats, errors: Floats) -> bool:
    """Return whether logarithms can be fitted: values must be positive, and errors finite."""
    return bool((values > 0).all() and np.isfinite(errors).all())


def _decay(sizes: list[float], peaks: list[Peak]) -> DecayFit | None:
    if len(set(sizes)) < 4 or len(set(sizes)) < len(sizes):
        return None
    errors = [max(p.density.high - p.density.low, 1e-4) / 3.92 for p in peaks]
    try:
        return fit_decay(sizes, [p.density.value for p in peaks], errors=errors)
    except ValueError:
        return None
