"""The result tables of a race, as text and as JSON values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from glasshouse.races.commands.comparison import SolverComparison, VirtualBest, virtual_best
from glasshouse.races.commands.race_task import NOT_RUN
from glasshouse.races.commands.results import Results
from glasshouse.races.commands.scores import SolverScore, mean_gap, score, trusted
from glasshouse.races.running.command import MEGABYTE
from glasshouse.statistics.samples import Estimate

_HEAD = ("solver", "solved", "reached", "faults", "PAR-2", "anytime", "median seconds")
_MORE = ("solver", "CPU PAR-2", "CPU seconds", "most memory", "solved alone", "PAR-2 lost without")


def score_lines(results: Results) -> list[str]:
    """Return two tables with the best solver first: scores, and resources with contributions."""
    if not results.runs:
        return []
    best = virtual_best(results)
    ordered = sorted(_scores(results), key=lambda one: (-one.solved, one.par2))
    rows = [
        (one.solver, f"{one.solved}/{one.runs}", f"{one.reached}", f"{one.faults}",
         f"{one.par2:.3g}", f"{one.anytime:.3f}", f"{one.median}")
        for one in ordered
    ]  # fmt: skip
    more = [_more(one, best) for one in ordered]
    if len(ordered) > 1:
        solved = f"{best.solved}/{best.instances}"
        rows.append((best.name, solved, "", "", f"{best.par2:.3g}", "", f"{best.median}"))
        more.append((best.name, f"{best.par2_cpu:.3g}", "", "", "", ""))
    return [*_aligned([_HEAD, *rows]), "", *_aligned([_MORE, *more])]


def note_lines(results: Results) -> list[str]:
    """Return notes on a race: missing runs, gaps, start-up times, and the sources of optima."""
    lines = [
        f"{name}: {number} of its {results.entered[name]} runs are missing; resume the race"
        for name, number in results.missing.items()
    ]
    gaps = {name: mean_gap(results, name) for name in results.solvers}
    shown = [f"{name} {gap[0]:.3%} ({gap[1]} runs)" for name, gap in gaps.items() if gap]
    if shown:
        lines.append("mean gap to the best known value, of runs with a valid model: "
                     f"{', '.join(shown)}")  # fmt: skip
    for name, seconds in results.starts.items():
        if seconds < results.limit:
            told = f"each run includes {seconds:.2g} s for the start of Python, measured once"
        else:
            told = "the start of Python takes longer than the time limit; raise the limit"
        lines.append(f"{name}: {told}")
    for name in results.solvers:
        why = [run.reason for run in results.runs
               if run.solver == name and run.reason.startswith(NOT_RUN)]  # fmt: skip
        lines += [f"{name}: {len(why)} of its runs were {why[0]}"] if why else []
    lines += [line] if (line := trusted(results)) else []
    if unproven := len(results.unproven):
        lines.append(f"no optimum is proven for {unproven} of {len(results.instances)} instances: "
                     "claims there stay undecided, and 'reached' is the best that any solver found"
                     )  # fmt: skip
    return lines


def _more(one: SolverScore, best: VirtualBest) -> tuple[str, ...]:
    share = best.contributions[one.solver]
    return (one.solver, f"{one.par2_cpu:.3g}", f"{one.cpu_seconds:.4g}",
            f"{one.memory / MEGABYTE:.0f} MB", f"{share.alone}", f"{share.par2:.3g}")  # fmt: skip


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align a table's columns: names and median times to the left, other columns to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(
        f"{cell:<{width}}" if k == 0 or rows[0][k] == _HEAD[-1] else f"{cell:>{width}}"
        for k, (cell, width) in enumerate(zip(row, widths, strict=True))
    ).rstrip() for row in rows]  # fmt: skip


def _scores(results: Results) -> list[SolverScore]:
    return [score(results, name) for name in results.solvers]


def score_values(results: Results) -> dict[str, Any]:
    """Return JSON values with the scores of all solvers and of the virtual best solver."""
    if not results.runs:
        return {"solvers": [], "virtual_best": None}
    best = virtual_best(results)
    shares = best.contributions
    return {
        "solvers": [
            _scored(results, one) | {"contribution": asdict(shares[one.solver])}
            for one in _scores(results)
        ],
        "virtual_best": {
            "instances": best.instances, "solved": best.solved, "par2": best.par2,
            "par2_cpu": best.par2_cpu, "median_seconds": finite_ends(best.median),
        },
    }  # fmt: skip


def _scored(results: Results, one: SolverScore) -> dict[str, Any]:
    gap = mean_gap(results, one.solver)
    return vars(one) | {
        "median": str(one.median),
        "median_seconds": finite_ends(one.median),
        "mean_gap": None if gap is None else gap[0],
        "verdicts": Counter(str(run.verdict) for run in results.runs if run.solver == one.solver),
    }


def comparison_values(found: SolverComparison) -> dict[str, Any]:
    """Convert a comparison of two solvers to JSON values; infinity becomes None."""
    times = {clock: vars(one) | {"ratio": finite_ends(one.ratio),
                                 "difference": finite_ends(one.difference)}
             for clock, one in found.by.items()}  # fmt: skip
    return vars(found) | {"by": times}


def finite_ends(estimate: Estimate | None) -> dict[str, float | None] | None:
    """Convert an estimate and its interval to JSON values; infinity becomes None."""
    if estimate is None:
        return None
    return {name: end if math.isfinite(end) else None for name, end in asdict(estimate).items()}
