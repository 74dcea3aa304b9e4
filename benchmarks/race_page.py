"""The page of the committed race; every sentence with a number is computed from the runs."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.record import setting, table
from glasshouse.charts.style import picture_paths, save
from glasshouse.files.text.streams import replacing
from glasshouse.races.commands.results import Results
from glasshouse.races.commands.scores import (
    SolverScore,
    is_reached,
    median_reaching,
    reaching_seconds,
    reaching_times,
    score,
)
from glasshouse.races.dials import chosen_dial, settings
from glasshouse.races.figures import race_figure
from glasshouse.races.running.command import Limits

PACKAGES = ("highspy", "python-sat", "pytoulbar2", "ortools", "pyscipopt", "dwave-samplers",
            "openjij")  # fmt: skip
# One solver for each of three ways in which an instance can be hard.
NOTIONS = {"annealing": "anneal", "core-guided": "rc2", "linear programming": "prove"}
_ALL = 0.95  # the fraction from which the page states that loops are easy


def write_page(
    folder: Path, results: Mapping[str, Results], limits: Limits, workers: int,
    missing: Sequence[str], count: int | None = None,
) -> list[Path]:  # fmt: skip
    """Write README.md, runs.csv and the figures, and return their paths.

    `count` is the number of instances per family, if it differs from the number in the suites.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, one in results.items():
        written += save(race_figure(one), picture_paths(folder / f"{name}-cactus.png"))
        if dial_of(one):
            picture = race_figure(one, "reaching")
            written += save(picture, picture_paths(folder / f"{name}-dial.png"))
    text = "\n\n".join(
        [
            head(limits, workers, missing, count),
            *(part for name, one in results.items() for part in suite_part(name, one)),
            *notions_part(results),
        ]
    )
    for path, content in (
        (folder / "README.md", text + "\n"),
        (folder / "runs.csv", runs(results)),
    ):
        with replacing(path, overwrite=True) as file:
            file.write(content.encode())
        written.append(path)
    return written


def head(limits: Limits, workers: int, missing: Sequence[str], count: int | None) -> str:
    fewer = "" if count is None else f" --count {count}"
    where = setting(*PACKAGES)
    versions = ", ".join(f"{name} {version}" for name, version in where["versions"].items())
    absent = f"\n\nThese solvers were not raced: {', '.join(missing)}." if missing else ""
    return f"""# A race on proven instances

This page shows a race between third-party solvers and glasshouse on instances whose optima are
proven. The solvers `prove`, `anneal` and `temper` belong to glasshouse.

Date, computer and versions: {where["date"]}, {where["cpu"]}, {where["cores"]} cores, Python
{where["python"]}; {versions}.

Each solver had one run per instance, with a time limit of {limits.seconds:g} s. Up to {workers}
runs took place at the same time.{absent}

The instances of each suite are the files that `glasshouse suite write NAME{fewer} -o DIR` writes.
The command `python -m benchmarks.races --seconds {limits.seconds:g} --workers {workers}{fewer}` ran
the race and wrote this page. All runs are in [runs.csv](runs.csv).

The table of each suite has these columns, among others:

* *solved*: the number of runs in which the solver claimed an optimum and was right. Annealing,
  tempering and tabu search never claim an optimum; use the next two columns to compare them.
* *reached*: the number of runs that found the best known cost.
* *to the best*: the median seconds until this cost was printed.

The page [racing solvers](../races.md) explains the other columns.

Built-in solvers run in Python, so every time includes the start of Python. The start time is stated
below each table."""


def suite_part(name: str, results: Results) -> list[str]:
    scores = [score(results, solver) for solver in results.solvers]
    scores.sort(key=lambda one: (-one.solved, -one.reached, one.par2))
    rows = [row_of(results, one) for one in scores]
    starts = list(results.starts.values())
    start = (
        f"The start of a built-in solver takes {min(starts):.2g} to {max(starts):.2g} s.\n\n"
        if starts
        else ""
    )
    figures = f"![Instances solved over time in seconds]({name}-cactus.png)"
    if dial := dial_of(results):
        figures += f"\n![Seconds to the best known cost over the {dial}]({name}-dial.png)"
    return [
        f"## {name}: {len(results.instances)} instances",
        table(rows) + f"\n{start}{verdict_of(scores, len(results.instances))}",
        *([places(results, scores, dial)] if dial else []),
        figures,
    ]  # fmt: skip


def row_of(results: Results, one: SolverScore) -> dict[str, object]:
    return {
        "solver": one.solver, "solved": one.solved, "reached": one.reached, "faults": one.faults,
        "PAR-2": one.par2, "anytime": f"{one.anytime:.3f}", "median seconds": str(one.median),
        "to the best": str(median_reaching(results, one.solver)),
    }  # fmt: skip


def verdict_of(scores: Sequence[SolverScore], number: int) -> str:
    """Return a list that names the best solvers and the faulty solvers."""
    most, furthest = max(one.solved for one in scores), max(one.reached for one in scores)
    best = [one for one in scores if one.solved == most]
    fastest = min(best, key=lambda one: one.par2)
    lines = ["No solver solved an instance."]
    if most:
        lines = [f"Solved the largest number of instances ({most} of {number}): {named(best)}."]
        which = "Lowest PAR-2 among these solvers" if len(best) > 1 else "PAR-2 of this solver"
        lines.append(f"{which}: {fastest.par2:.3g} s (`{fastest.solver}`).")
    reached = named([one for one in scores if one.reached == furthest])
    lines.append("Reached the best known cost on the largest number of instances "
                 f"({furthest} of {number}): {reached}.")  # fmt: skip
    if none := [one for one in scores if not one.solved and not one.reached]:
        lines.append(f"Neither solved an instance nor reached the best known cost: {named(none)}.")
    if wrong := [one for one in scores if one.faults]:
        lines.append(f"Had a fault in at least one run: {named(wrong)}.")
    return "\n".join(f"* {line}" for line in lines)


def places(results: Results, scores: Sequence[SolverScore], dial: str) -> str:
    """Return a table by dial: instances that each solver reached, and the fastest solver."""
    rows = []
    for value, instances in settings(results.parameters, dial).items():
        there = set(instances)
        reached = {one.solver: sum(at for i, (_, at) in reaching_times(results, one.solver).items()
                                   if i in there) for one in scores}  # fmt: skip
        most = max(reached.values())
        first = min((s for s in reached if reached[s] == most),
                    key=lambda s: median_reaching(results, s, there).value)  # fmt: skip
        rows.append({
            dial: f"{float(value):g}", "instances": len(there),
            "first at the best": f"{first}, {median_reaching(results, first, there)} s",
            "reached by": ", ".join(
                f"{solver} {number}" for solver, number in reached.items() if number
            ),
        })  # fmt: skip
    return ("This table shows which solvers reached the best known cost, for each value of "
            f"{dial}:\n\n" + table(rows))  # fmt: skip


def notions_part(results: Mapping[str, Results]) -> list[str]:
    """Return a table of instances that are hard for annealing, core-guided solvers, or LPs."""
    rows = []
    for name, one in results.items():
        for group, instances in groups_of(one):
            row: dict[str, object] = {"suite": name, "instances": group, "number": len(instances)}
            for notion, solver in NOTIONS.items():
                known = solver in one.by_solver
                row[f"{notion}: {solver}"] = (
                    str(median_reaching(one, solver, instances)) if known else "not raced"
                )
            rows.append(row)
    return [
        "## Three kinds of hard",
        "An instance can be hard for annealing, for core-guided solvers, or for linear programs. "
        "In the next table, one solver represents each of these three kinds. The table shows the "
        "median seconds until this solver found the best known cost, with 95 % intervals:\n\n"
        + table(rows)
        + "\n"
        + correlations(results),
        lp_easy(results),
    ]


def groups_of(results: Results) -> list[tuple[str, list[str]]]:
    """Group instances by the number that varies, otherwise by their graph."""
    known = results.parameters
    if dial := dial_of(results):
        return [(f"{dial} {float(value):g}", there)
                for value, there in settings(known, dial).items()]  # fmt: skip
    groups: dict[str, list[str]] = {}
    for instance, asked in known.items():
        groups.setdefault(str(asked.get("graph", "all")), []).append(instance)
    return list(groups.items())


def correlations(results: Mapping[str, Results]) -> str:
    """Return a table of rank correlations: are instances hard for one solver hard for another?"""
    from scipy.stats import spearmanr

    rows = []
    for name, one in results.items():
        row: dict[str, object] = {"suite": name}
        for (first, a), (second, b) in itertools.combinations(NOTIONS.items(), 2):
            if a not in one.by_solver or b not in one.by_solver:
                continue
            mine, theirs = reaching_times(one, a), reaching_times(one, b)
            both = [i for i in mine if i in theirs]
            pairs = np.array([(mine[i][0], theirs[i][0]) for i in both])
            is_flat = len(pairs) < 3 or (np.ptp(pairs, axis=0) == 0).any()
            row[f"{first} and {second}"] = (
                "–" if is_flat else f"{spearmanr(pairs[:, 0], pairs[:, 1]).statistic:.2f}"
            )
        rows.append(row)
    return ("For each suite and each pair of these solvers, the next table shows Spearman's rank "
            "correlation between their times. A correlation of 1 means that the same instances are "
            "hard for both solvers; a correlation of 0 means that their times are unrelated. If a "
            "run did not reach the best known cost, the time limit counts as its time.\n\n"
            + table(rows))  # fmt: skip


def lp_easy(results: Mapping[str, Results]) -> str:
    """Return a paragraph on planted loops and linear programs."""
    planted = {name: one for name, one in results.items()
               if "prove" in one.by_solver and is_planted(one)}  # fmt: skip
    lines = []
    if planted:
        each = {name: score(one, "prove") for name, one in planted.items()}
        solved, number = (sum(getattr(s, key) for s in each.values()) for key in ("solved", "runs"))
        shares = ", ".join(f"{s.solved} of {s.runs} on `{name}`" for name, s in each.items())
        if solved >= _ALL * number:
            lines.append("**Frustrated loops are easy for linear programs.** Planted loops are "
                         "their own proof of optimality, and a linear program over cycles finds "
                         "this proof. The solver `prove` uses this program. It solved almost all "
                         "planted instances, including those that are hard for annealing: "
                         f"{shares}.")  # fmt: skip
        else:
            lines.append("Within the limit, `prove` (a linear program over cycles) solved "
                         f"{shares}. Planted loops always have such a proof. The instances "
                         "without a proof need more time.")  # fmt: skip
    for name, one in results.items():
        if name not in planted and "prove" in one.by_solver:
            told = score(one, "prove")
            lines.append(f"On the suite `{name}`, which is not planted, `prove` solved "
                         f"{told.solved} of {told.runs}.")  # fmt: skip
    lines.append("So frustrated loops alone do not make instances that are hard for linear "
                 "programs.")  # fmt: skip
    return " ".join(lines)


def is_planted(results: Results) -> bool:
    """Return whether all instances are planted loops with a requested frustration."""
    return all("frustration" in asked for asked in results.parameters.values())


def dial_of(results: Results) -> str | None:
    """Return the name of the number that varies in a suite, or None."""
    return chosen_dial(results.parameters)


def named(scores: Sequence[SolverScore]) -> str:
    """Return the names of the solvers, with "and" before the last name."""
    names = [f"`{one.solver}`" for one in scores]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def runs(results: Mapping[str, Results]) -> str:
    """Return all runs as CSV, one line per run."""
    file = io.StringIO()
    sheet = csv.writer(file, lineterminator="\n")
    sheet.writerow(("suite", "file", "solver", "verdict", "solved", "reached", "cost", "optimum",
                    "best", "seconds", "reaching_seconds", "limit"))  # fmt: skip
    for name, one in results.items():
        for run in one.runs:
            when = reaching_seconds(run, one.best_known)
            best = one.best_known.get(run.instance)
            sheet.writerow((
                name, run.file, run.solver, run.verdict, int(run.solved),
                int(is_reached(run, one.best_known)), run.cost, run.optimum, best,
                f"{run.seconds:.4f}", "" if when is None else f"{when:.4f}", run.limit,
            ))  # fmt: skip
    return file.getvalue()
