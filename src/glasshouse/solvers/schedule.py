"""Schedules of inverse temperatures, their default range, and the paper's schedule.

`beta` is always in units of the problem's own energy: a flip that costs ΔE is accepted with
probability exp(-beta ΔE).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.planting import METHODS, Planted
from glasshouse.problems import FloatArray, validation
from glasshouse.problems.elementary import exponential, geometric, logarithm
from glasshouse.problems.ratio import Ratio, ratio
from glasshouse.problems.validation import MOST_BETA
from glasshouse.solvers.engine import ColouredGraph, Hypergraph
from glasshouse.solvers.kernels.sweep_order import field_scales
from glasshouse.summaries import Summarised

Schedule: TypeAlias = Literal["linear", "geometric"]
Beta: TypeAlias = Sequence[float] | npt.NDArray[Any] | None

# Sweeps are counted in 32 bits. Lists of β have at most 2^22 entries: in a longer run, β rises in
# 2^22 steps of several sweeps each, which in practice equals a smooth rise.
MOST_SWEEPS, _MOST_STEPS = 2**31 - 1, 2**22


def sweep_count(sweeps: object, name: str = "sweeps", most: int = MOST_SWEEPS) -> int:
    """Return a number of sweeps as an integer; raise unless it is between 1 and `most`."""
    number = validation.count(sweeps, name, 1)
    if number > most:
        raise ValueError(f"{name}={number} must be at most {most}, the largest number supported")
    return number


def inverse_temperatures(
    network: ColouredGraph | Hypergraph, beta: Beta, sweeps: int, schedule: Schedule
) -> FloatArray:
    """Return one β per sweep; `beta` is None (default range), a pair (first, last), or all β.

    For more than 2^22 sweeps, unless all β are given, return one for each of 2^22 equal parts.
    """
    if schedule not in ("linear", "geometric"):
        raise ValueError(f"schedule={schedule!r} must be 'linear' or 'geometric'")
    steps = min(sweeps, _MOST_STEPS)
    if beta is None:
        first, last = default_range(network)
        return geometric(first, last, steps) if sweeps > 1 else np.array([last])
    values = validation.inverse_temperatures(beta)
    if len(values) == sweeps:
        return values
    if len(values) == 2:
        first, last = values
        if schedule == "linear":
            return np.linspace(first, last, steps) if sweeps > 1 else values[1:]
        if first == 0 or last == 0:
            raise ValueError("a geometric schedule cannot start or end at 0; use a linear schedule")
        return geometric(first, last, steps) if sweeps > 1 else values[1:]
    raise ValueError(f"beta has {len(values)} numbers, but must have 2 or {sweeps} (one per sweep)")


def default_range(network: ColouredGraph | Hypergraph) -> tuple[float, float]:
    """Return the default first and last β of a schedule, derived from the problem's local fields.

    The first β is 0.7 / σ. Here σ is the typical local field of a random state: the mean over the
    spins of sqrt(Σ_j J_ij² + h_i²). The last β is ln(max(200, spins)) / (2 x). Here x is the
    smallest non-zero local field that any spin can have, at least σ_i / 24. The cheapest flip, of
    2x, is then accepted once in 200 times, or once in a sweep of a large problem.

    On random loops at the hardness peak, for frustrations from 0.05 to 0.22, this range takes at
    most 1.5 times as long as the best known range; the paper's linear range takes far longer.

    >>> from glasshouse.problems import Ising
    >>> first, last = default_range(ColouredGraph(Ising.from_edges(3, [(0, 1), (1, 2)], [4, 3])))
    >>> print(f"{first:.3f} {last:.3f}")
    0.175 2.649
    """
    typical, smallest = field_scales(network.starts, network.weights, network.problem.is_integer)
    if not math.isfinite(smallest):  # no spin has a field
        return 1.0, 1.0
    sites = int(np.count_nonzero(np.diff(network.starts)))
    cold = logarithm(max(200, sites)) / 2
    if min(typical, smallest) * MOST_BETA < max(cold, 0.7):
        raise ValueError(
            f"the smallest local field is {smallest:.3g}, which needs a β above the limit of "
            f"{MOST_BETA}; multiply all weights by a common factor"
        )
    return 0.7 / typical, cold / smallest


def rising(first: float, last: float, sweeps: int, schedule: Schedule) -> FloatArray:
    """Return β for each sweep of a run, rising from `first` to `last`."""
    space = np.linspace if schedule == "linear" else geometric
    return space(first, last, sweeps)


# The paper's schedule -------------------------------------------------------------------------


# The sweeps of a run if the paper's polynomial does not apply: the default of `anneal`.
AUTOMATIC_SWEEPS = 1000
_PAPER_KNOBS = {"frustration", "loop_density"}


def follows_paper(planted: Planted) -> bool:
    """Return whether the paper's schedule applies to a planted instance.

    It applies to sums of loops that are controlled by f or by the density, but not to squares or to
    loops with other knobs. A method that is not in the catalogue is treated like the paper's loops.
    """
    if planted.squares or not planted.loops.num_loops:
        return False
    return is_dialled_like_paper(planted.recipe.method)


def is_dialled_like_paper(name: object) -> bool:
    """Return whether a method's knobs include the paper's f or density, or are unknown."""
    method = METHODS.get(name) if isinstance(name, str) else None
    return method is None or not method.knobs or not _PAPER_KNOBS.isdisjoint(method.knobs)


def peak_density(n: int) -> float:
    """Return the loop density ρ_peak(n) at which random loops are hardest (paper, section 6.2).

    >>> round(peak_density(100), 4)
    0.3451
    """
    return 0.3035 + 0.2952 * exponential(-0.0196 * validation.count(n, "n", 1))


@dataclass(frozen=True, repr=False)
class PaperSchedule(Summarised):
    """The paper's schedule: β rises linearly from `beta[0]` to `beta[1]` in `sweeps` sweeps."""

    beta: tuple[float, float]
    sweeps: int


def paper_schedule(
    n: int,
    frustration: Ratio,
    loop_density: Ratio | None = None,
    *,
    unit: int = 1,
    fit: Literal["first", "second"] = "second",
) -> PaperSchedule:
    """Return the annealing schedule of the paper's experiments, as corrected by its errata.

    β rises linearly from 0.01 to ln n in units of a positive loop weight, both scaled by
    min(1, n / loop_density) as in the authors' code. N_sweep, at least 2, is a polynomial that was
    fitted to the optimal number of sweeps at the hardness peak (section 6.1, appendix J).

    Args:
        n: the number of visible spins, at least 2: β ends at ln n.
        frustration: f of the loops, from 0 to 1/4.
        loop_density: N/n; only densities above n have an effect.
        unit: the weight of a positive loop edge, `planted.loop_weight`, by which β is divided.
        fit: the polynomial: "first" was fitted at density 0.47, "second" at the hardness peak.

    >>> paper_schedule(100, 0.1)
    PaperSchedule(beta=(0.01, 4.60517), sweeps=139)
    """
    n = validation.count(n, "n", 2)
    f = float(ratio(frustration, "frustration"))
    density = None if loop_density is None else float(ratio(loop_density, "loop_density"))
    if density is not None and not density > 0:
        raise ValueError(f"loop_density={loop_density} must be above 0; pass loops / n, or omit it")
    if not 0 <= f <= 0.25:
        raise ValueError(f"frustration={frustration} must be from 0 to 1/4, as in loops of 4 edges")
    if fit not in ("first", "second"):
        raise ValueError(f"fit={fit!r} must be 'first' or 'second'")
    if fit == "first":
        size, hardness = 0.504 * n**2 - 13.3 * n + 311, 193 * f**3 - 52.7 * f**2 + 4.73 * f - 0.102
        root = 0.03113
    else:
        size = 1.29 * n**2 - 33.1 * n + 1664
        hardness = 41.4 * f**3 - 11.7 * f**2 + 1.06 * f - 0.018
        root = 0.02184
    if f < root:
        warnings.warn(
            f"frustration={f} is below {root}, so the paper's polynomial for N_sweep is negative, "
            "and 2 sweeps are used instead; pass sweeps_per_run to use more",
            stacklevel=2,
        )
    scale = 1.0 if density is None else min(1.0, n / density)
    factor = scale / validation.count(unit, "unit", 1)
    sweeps = max(2, math.floor(size * hardness))
    return PaperSchedule((0.01 * factor, logarithm(n) * factor), sweeps)
