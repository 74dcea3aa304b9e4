"""Scores on standard instances: gaps in their own values, and what the verdicts rest on."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import fsum

from glasshouse.problems.ratio import ratio
from glasshouse.races.results import Results, Run
from glasshouse.suites.standard import BY_CERTIFICATE, PER_COST, TRUTH_BY, VALUE


def relative_gap(run: Run) -> float | None:
    """Return the distance of a run's own value from the best known one, as a fraction of that.

    Below 0 if the run found a better value. None without a valid model, and for runs on other than
    standard instances. Stores may come from untrusted sources: any text may be in place of a
    number.
    """
    if run.shown is None or run.best is None or VALUE not in run.parameters:
        return None
    try:
        size = max(abs(ratio(str(run.parameters[VALUE]), VALUE)), Fraction(1))
        step = ratio(str(run.parameters[PER_COST]), PER_COST)
        return float(abs(step) * (run.shown - run.best) / size)
    except (ValueError, KeyError, OverflowError):
        return None


def mean_gap(results: Results, solver: str) -> tuple[float, int] | None:
    """Return the mean gap of a solver's runs that have one, and their number; None without any."""
    runs = (run for run in results.runs if run.solver == solver)
    gaps = [gap for run in runs if (gap := relative_gap(run)) is not None]
    return (fsum(gaps) / len(gaps), len(gaps)) if gaps else None


def truths(results: Results) -> dict[str, int]:
    """Return what the optima and bounds of standard instances come from, with their numbers."""
    by_name = {run.instance: run.parameters.get(TRUTH_BY) for run in results.runs}
    return dict(Counter(by for by in by_name.values() if isinstance(by, str)))


def trusted(results: Results) -> str:
    """Return what the judge trusted, in one line; empty for suites that are proven when loaded."""
    parts = []
    for by, number in truths(results).items():
        if by == BY_CERTIFICATE:
            parts.append(f"{number} by certificates, verified when the race was started")
        else:
            parts.append(f"{number} by the {by[:60]}, verified when the table was made")
    return f"optima and bounds: {'; '.join(parts)}" if parts else ""
