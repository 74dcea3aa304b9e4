"""Optimisation of the number of sweeps per run, which automates the paper's appendix J."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.randomness import RngLike, Seed
from glasshouse.statistics.estimators import Statistic, log_error, statistic
from glasshouse.statistics.peaks import DecayFit, fit_decay, hardness_peak
from glasshouse.statistics.samples import Estimate, Sample
from glasshouse.studies.quantities.hardness import Annealer
from glasshouse.studies.task import Task
from glasshouse.summaries import Summarised

Floats = npt.NDArray[np.float64]

_FACTOR = 1.6  # the ratio of consecutive run lengths
_MOST_TRIES = 24
FIRST_DENSITY = 0.47  # the paper's first guess of the peak
# The paper's densities for the peak, thinned: 0.1·1.12^k.
_DENSITIES = tuple(round(0.1 * 1.12**k, 4) for k in range(6, 20))


@dataclass(frozen=True, repr=False)
class Optimum(Summarised):
    """The best run length of a family of instances.

    Attributes:
        size: n.
        frustration: f.
        loop_density: the loop density of the instances.
        sweeps_per_run: the minimum of a parabola through the nearest tries, in log space.
        hardness: the statistic at the nearest try.
        tries: (run length, statistic) of all tries.
    """

    size: int
    frustration: float
    loop_density: float
    sweeps_per_run: float
    hardness: Estimate
    tries: tuple[tuple[int, float], ...]


@dataclass(frozen=True, eq=False, repr=False)
class SweepSchedule(Summarised):
    """N_sweep(n, f) as a product of two polynomials, fitted to optima.

    Attributes:
        by_size: coefficients in n, constant first; scaled so that the f part has the paper's form.
        by_frustration: coefficients in f, constant first.
        optima: the optima that were fitted.
        scatter: typical relative distance of the optima from the fit.
    """

    by_size: tuple[float, ...]
    by_frustration: tuple[float, ...]
    optima: tuple[Optimum, ...]
    scatter: float

    def sweeps_per_run(self, n: float, frustration: float) -> int:
        """Return the run length max(2, ⌊polynomial⌋), as in the paper."""
        size = np.polynomial.polynomial.polyval(n, self.by_size)
        other = np.polynomial.polynomial.polyval(frustration, self.by_frustration)
        return max(2, math.floor(float(size * other)))

    def __str__(self) -> str:
        n_part = " + ".join(f"{c:.4g} n^{k}" for k, c in enumerate(self.by_size))
        f_part = " + ".join(f"{c:.4g} f^{k}" for k, c in enumerate(self.by_frustration))
        return f"({n_part}) ({f_part}), optima off by {self.scatter:.0%}"


def optimal_sweeps(
    n: int,
    frustration: Any,
    loop_density: Any,
    *,
    name: Statistic = "paper_95",
    instances: int = 1000,
    start: int = 100,
    rng: RngLike = None,
    measure: Callable[[Task, int], Sample] | None = None,
) -> Optimum:
    """Find the run length that minimises the statistic of N_tot for one family.

    Each length needs its own runs: the temperature of a sweep depends on the length of its run, so
    a long run contains no information on shorter runs. All lengths use the same instances. Lengths
    change by a factor of 1.6 from the start, upwards and downwards, until the statistic has risen
    on both sides. A parabola in log space through the points around the minimum gives the optimum.

    Args:
        n: the number of visible spins, and of hidden spins.
        frustration: f.
        loop_density: N/n.
        name: the statistic to minimise; the paper uses "paper_95".
        instances: the number of instances for each length.
        start: the first length.
        rng: a seed, or anything that numpy.random.default_rng takes.
        measure: a function that measures a task's first instances; None measures in this process.

    >>> found = optimal_sweeps(10, 0.1, 0.6, instances=50, start=10, rng=1)
    >>> 2 <= found.sweeps_per_run < 100
    True
    """
    look, seed = measure or measure_here, Seed.of(rng).number
    family = {"n": n, "frustration": frustration, "loop_density": loop_density}
    found: dict[int, Estimate] = {}

    def height(step: int) -> float:
        sweeps = max(2, round(start * _FACTOR**step))
        if sweeps not in found:
            task = Task("random_loops", family, solver=Annealer(sweeps), seed=seed)
            found[sweeps] = statistic(look(task, instances), name)
        return found[sweeps].value

    low, high = 0, 0
    while len(found) < _MOST_TRIES:
        heights = {step: height(step) for step in range(low, high + 1)}
        best = min(heights, key=lambda step: heights[step])
        # Two points on each side of the lowest are needed, because one alone may be luck.
        can_shrink = round(start * _FACTOR**low) > 2
        if best > high - 2:
            high += 1
        elif best < low + 2 and can_shrink:
            low -= 1
        else:
            break
    lengths = np.array(sorted(found))
    logs = np.log([found[length].value for length in lengths])
    optimum = _vertex(np.log(lengths), logs)
    nearest = int(lengths[np.argmin(np.abs(np.log(lengths) - optimum))])
    tries = tuple((int(length), found[int(length)].value) for length in lengths)
    return Optimum(
        n, float(frustration), float(loop_density), math.exp(optimum), found[nearest], tries
    )


def measure_here(task: Task, instances: int) -> Sample:
    """Measure the first `instances` instances of a task in this process."""
    rows = task.measure(0, instances)
    return Sample.of(rows["sweeps"], rows["solved"] != 0)


def _vertex(x: Floats, y: Floats) -> float:
    """Return the x of the minimum of a parabola through the points around the lowest point."""
    best = int(np.argmin(y))
    near = slice(max(0, best - 2), best + 3)
    if len(x[near]) < 3:
        return float(x[best])
    curve = np.polynomial.Polynomial.fit(x[near], y[near], 2).convert()
    _, slope, bend = (*curve.coef, 0.0, 0.0, 0.0)[:3]
    if bend <= 0:
        return float(x[best])
    return float(np.clip(-slope / (2 * bend), x[near][0], x[near][-1]))


def fit_schedule(
    optima: Iterable[Optimum], size_degree: int = 2, f_degree: int = 3
) -> SweepSchedule:
    """Fit a product of a polynomial in n and one in f to optimal run lengths.

    Relative deviations are minimised, so short runs count as much as long runs.

    Args:
        optima: the optima, at least one more than there are independent coefficients.
        size_degree: the degree of the polynomial in n; 2 in the paper.
        f_degree: the degree of the polynomial in f; 3 in the paper.
    """
    from scipy.optimize import least_squares

    known = tuple(optima)
    free = size_degree + f_degree + 1  # a factor can be moved from one polynomial to the other
    if len(known) <= free:
        raise ValueError(f"{len(known)} optima are too few for {free} coefficients; measure more")
    n = np.array([o.size for o in known], dtype=np.float64)
    f = np.array([o.frustration for o in known])
    wanted = np.array([o.sweeps_per_run for o in known])
    n_unit, f_unit = float(n.max()), float(f.max())
    evaluate = np.polynomial.polynomial.polyval

    def deviations(c: Floats) -> Floats:
        product = evaluate(n / n_unit, c[: size_degree + 1]) * evaluate(
            f / f_unit, np.concatenate([[1.0], c[size_degree + 1 :]])
        )
        return np.asarray(product / wanted - 1)

    start = np.zeros(free)
    start[0] = float(wanted.mean())
    found = least_squares(deviations, start, x_scale="jac", max_nfev=5000)
    by_size = found.x[: size_degree + 1] / n_unit ** np.arange(size_degree + 1)
    tail = np.concatenate([[1.0], found.x[size_degree + 1 :]])
    by_f = tail / f_unit ** np.arange(f_degree + 1)
    scatter = float(np.sqrt((found.fun**2).sum() / (len(known) - free)))
    return SweepSchedule(tuple(map(float, by_size)), tuple(map(float, by_f)), known, scatter)


@dataclass(frozen=True, eq=False, repr=False)
class TwoIterations(Summarised):
    """The results of the paper's whole procedure.

    Attributes:
        first: the schedule at density 0.47.
        peak: the peak density over the size, measured with the first schedule.
        second: the schedule at the measured peaks.
    """

    first: SweepSchedule
    peak: DecayFit
    second: SweepSchedule


def optimise_schedule(
    sizes: Iterable[int] = (30, 40, 50, 60, 70, 80),
    frustrations: Iterable[float] = (0.05, 0.075, 0.1, 0.125, 0.15, 0.175),
    *,
    instances: int = 1000,
    rng: RngLike = None,
    measure: Callable[[Task, int], Sample] | None = None,
) -> TwoIterations:
    """Optimise run lengths as in the paper: at one density, then at the measured hardness peaks.

    Args:
        sizes: the sizes n, at least four.
        frustrations: the frustrations f, at least four.
        instances: the number of instances per family and run length (10,000 in the paper).
        rng: a seed, or anything that numpy.random.default_rng takes.
        measure: a function that measures a task's first instances; None measures in this process.
    """
    sizes, frustrations = sorted(sizes), sorted(frustrations)
    seed = Seed.of(rng).number  # the same instances for all families
    options: dict[str, Any] = {"instances": instances, "rng": seed, "measure": measure}
    first = fit_schedule(
        optimal_sweeps(n, f, FIRST_DENSITY, **options) for n in sizes for f in frustrations
    )
    peak = _peaks(first, sizes, frustrations[0], **options)
    density = {n: round(float(peak.predict(n)), 4) for n in sizes}
    second = fit_schedule(
        optimal_sweeps(n, f, density[n], start=first.sweeps_per_run(n, f), **options)
        for n in sizes
        for f in frustrations
    )
    return TwoIterations(first, peak, second)


def _peaks(
    schedule: SweepSchedule, sizes: list[int], f: float, *, instances: int, rng: int,
    measure: Callable[[Task, int], Sample] | None,
) -> DecayFit:  # fmt: skip
    """Measure the decay of the peak density with the size, at one frustration."""
    look = measure or measure_here
    places, errors = [], []
    for n in sizes:
        solver = Annealer(schedule.sweeps_per_run(n, f))
        realised, values = [], []
        for density in _DENSITIES:
            family = {"n": n, "frustration": f, "loop_density": density}
            task = Task("random_loops", family, solver=solver, seed=rng)
            values.append(statistic(look(task, instances), "paper_95"))
            realised.append(math.ceil(density * n) / n)
        logs = [log_error(value) for value in values]
        peak = hardness_peak(realised, [v.value for v in values], errors=logs)
        places.append(peak.density.value)
        errors.append(max((peak.density.high - peak.density.low) / 3.92, 1e-3))
    return fit_decay(sizes, places, errors=errors)
