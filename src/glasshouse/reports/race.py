"""The report section on a race of commands: the solvers' scores, times and faults."""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from glasshouse.races import virtual_best
from glasshouse.races.commands.entrants import built_in_names
from glasshouse.races.commands.racing import held_race
from glasshouse.races.commands.results import Results, Run, read_results
from glasshouse.races.commands.scores import cactus, score
from glasshouse.races.figures import (
    cactus_chart,
    incumbents_chart,
    profile_chart,
    scatter_chart,
)
from glasshouse.races.running.command import MEGABYTE
from glasshouse.races.tts_figures import dial_chart
from glasshouse.reports.page import (
    Fact,
    Figure,
    Listing,
    Part,
    Section,
    Table,
    charted,
    counted,
    cut,
    number,
    seen_seconds,
    text,
    versions_of,
)
from glasshouse.statistics.samples import Estimate
from glasshouse.store.store import Store

_KIND = "Race of solvers"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]*")


def race_section(store: Store) -> Section:
    """Return the report section on a store that contains a race of commands."""
    results, rules = read_results(store), held_race(store) or {}
    there, expected = len(results.runs), max(results.expected, len(results.runs))
    lead = (
        f"{counted(len(results.entered), 'solver')} on {counted(results.num_entered, 'instance')} "
        f"of {results.suite}: {there:,} of {expected:,} runs are stored. Every answer was judged "
        "against the proof of its instance when the race was run; the store contains the verdicts."
    )
    if not there:
        facts, again = _facts(store, results, rules), _again(store.path, results, rules)
        return Section(store.path.name, _KIND, lead + " There are no runs yet.", facts, [again])
    parts: list[Part] = [_scores(results), *_charts(results)]
    parts += [_verdicts(results), *_faults(results), _runs(results)]
    parts.append(_again(store.path, results, rules))
    facts = _facts(store, results, rules)
    return Section(store.path.name, _KIND, lead, facts, parts, result=_most_solved(results))


def _most_solved(results: Results) -> Fact:
    solved = {name: len(cactus(results, name)) for name in results.solvers}
    most = max(solved.values())
    best = [name for name, count in solved.items() if count == most]
    who = best[0] if len(best) == 1 else f"{len(best)} solvers, each"
    of = f"{most:,} of {counted(results.num_entered, 'instance')}"
    return Fact("most solved:", f"{who} {of}", "stated")


def _facts(store: Store, results: Results, rules: dict[str, Any]) -> list[Fact]:
    missing = sum(results.missing.values())
    unproven = len(results.unproven)
    known = [
        Fact("suite", results.suite, "stated"),
        Fact("instances", f"{results.num_entered:,}", "stated"),
        Fact("optima", f"proven for {len(results.instances) - unproven:,} of "
             f"{counted(len(results.instances), 'instance')}, when the race was run", "stated"),
        Fact("runs", f"{len(results.runs):,}" + (f"; {missing:,} are missing; the same command "
             "resumes the race" if missing else ", all done")),
        Fact("faults", f"{len(results.faults):,} wrong, invalid or crashed runs"),
    ]  # fmt: skip
    names = {"seconds": ("time limit", "s"), "cpu_seconds": ("CPU time limit", "s"),
             "grace": ("grace", "s"),
             "memory": ("memory limit", "MB"), "seed": ("seed of the first run", ""),
             "cores": ("cores of each run", ""), "meter": ("meter", "")}  # fmt: skip
    for key, (label, unit) in names.items():
        if rules.get(key) is not None:
            value = rules[key]
            if key == "memory" and isinstance(value, int):
                value = value // MEGABYTE
            told = f"{value:g}" if isinstance(value, float) else f"{value!s:.60}"
            known.append(Fact(label, f"{told} {unit}".strip(), "stated"))
    known.append(Fact("wall-clock time", seen_seconds(sum(run.seconds for run in results.runs)),
                      "stated"))  # fmt: skip
    known.append(Fact("CPU time", seen_seconds(sum(run.cpu_seconds for run in results.runs)),
                      "stated"))  # fmt: skip
    known.append(Fact("glasshouse", versions_of(store), "stated"))
    return known


def _scores(results: Results) -> Table:
    scores, best = [score(results, name) for name in results.solvers], virtual_best(results)
    rows = [
        [one.solver, one.runs, one.solved, one.reached, one.faults, one.par2, one.anytime,
         one.par2_cpu, one.cpu_seconds, one.memory / MEGABYTE, _median(one.median),
         results.starts.get(one.solver), best.contributions[one.solver].alone,
         best.contributions[one.solver].par2]
        for one in scores
    ]  # fmt: skip
    if len(scores) > 1:
        rows.append(
            [best.name, best.instances, best.solved, None, None, best.par2, None, best.par2_cpu,
             None, None, _median(best.median), None, None, None]
        )  # fmt: skip
    return Table(
        "Scores",
        [text("solver"), number("runs"), number("solved"), number("reached", "best cost reached"),
         number("faults"), number("par2", "PAR-2 (s)"), number("anytime", "anytime score"),
         number("par2_cpu", "PAR-2 by CPU time (s)"), number("cpu", "CPU time of all runs (s)"),
         number("memory", "most memory (MB)"),
         number("median", "median seconds, 95 % interval"), number("start", "start (s)"),
         number("alone", "solved alone"), number("loss", "PAR-2 lost without it (s)")],
        cut(rows)[0],
        "Solved: the solver claimed and showed the right optimum in time. PAR-2: seconds, or twice "
        "the limit for an unsolved instance. Anytime: (1 + best cost)/(1 + found cost). Both are "
        "means over instances. The virtual best solver is the best solver of each instance; the "
        "last two columns are the instances and the PAR-2 that it would lose without the solver.",
    )  # fmt: skip


def _median(middle: Estimate) -> str:
    return str(middle) if math.isfinite(middle.value) else f"∞ (from {middle.low:.4g})"


def _charts(results: Results) -> list[Figure]:
    """Return the charts of a race, including a comparison of the two best solvers."""
    charts = [cactus_chart(results)]
    with suppress(ValueError):  # the solvers have no instance in common yet
        charts.append(profile_chart(results))
    found = incumbents_chart(results)
    charts += [found] if any(one.marks for one in found.series) else []
    charts.append(dial_chart(results))
    best = sorted(results.solvers, key=lambda name: -len(cactus(results, name)))[:2]
    with suppress(ValueError):
        if len(best) == 2:
            pair = scatter_chart(results, best[0], best[1])
            charts.append(replace(pair, text=f"The two most successful solvers. {pair.text}"))
    return [charted(chart, 380 if chart.has_diagonal else 320) for chart in charts]


def _verdicts(results: Results) -> Table:
    counts = Counter((run.solver, str(run.verdict)) for run in results.runs)
    kinds = sorted({verdict for _, verdict in counts})
    rows = [[name, *(counts[name, kind] for kind in kinds)] for name in results.solvers]
    columns = [text("solver"), *(number(f"v{k}", kind) for k, kind in enumerate(kinds))]
    return Table("Verdicts", columns, cut(rows)[0], "Runs of each solver by verdict.")


_RUN_COLUMNS = [
    text("solver"), text("instance"), number("number", "run"), text("verdict"), number("seconds"),
    number("cpu", "CPU seconds"), number("memory", "memory (MB)"), number("cost", "checked cost"),
    number("optimum", "proven optimum"), text("reason"), text("remarks"),
]  # fmt: skip


def _run_rows(runs: Iterable[Run]) -> list[list[Any]]:
    return [
        [run.solver, run.instance, run.number, str(run.verdict), run.seconds,
         run.cpu_seconds, run.memory / MEGABYTE, run.cost, run.optimum, run.reason, run.remarks]
        for run in runs
    ]  # fmt: skip


def _faults(results: Results) -> list[Part]:
    if not results.faults:
        return []
    rows, count = cut(_run_rows(results.faults), 500)
    note = f"The first {len(rows)} of {count:,} faults." if count > len(rows) else ""
    return [Table("Faults: runs that reveal a bug in the solver", _RUN_COLUMNS, rows, note)]


def _runs(results: Results) -> Table:
    rows, count = cut(_run_rows(results.runs))
    note = "Costs were evaluated by glasshouse, when the race was run."
    if count > len(rows):
        note += (
            f" These are the first {len(rows):,} of {count:,} runs; `glasshouse store export` "
            "lists them all. Scores, verdicts and figures cover all runs."
        )
    return Table("Runs", _RUN_COLUMNS, rows, note)


# The options for the rules of a race. The solvers have their own dialects.
_OPTIONS = {"seconds": "--time-limit", "cpu_seconds": "--cpu-limit", "cores": "--cores",
            "grace": "--grace", "memory": "--memory-limit", "seed": "--seed",
            "meter": "--meter", "strict": "--strict", "answers": "--answers",
            "instances": "--instances"}  # fmt: skip
_LONGEST_COMMAND = 10_000


def _again(path: Path, results: Results, rules: dict[str, Any]) -> Listing:
    """Return commands that repeat the race: one for each pair of dialect and number of runs."""
    commands = [
        shlex.join(["glasshouse", "race", "run", *solvers, "--suite", _suite(results, rules),
                    *_option_words(rules), *group, "-o", path.name])
        for group, solvers in _groups(results, rules).items()
    ]  # fmt: skip
    title = "The command that repeats the race" if len(commands) == 1 else (
        "The commands that repeat the race")  # fmt: skip
    return Listing(title, "\n".join(commands))


def _groups(results: Results, rules: dict[str, Any]) -> dict[tuple[str, ...], list[str]]:
    """Group the `--solver` options by the `--dialect` and `--runs` of their command line."""
    groups: dict[tuple[str, ...], list[str]] = {}
    ours: dict[tuple[str, ...], list[str]] = {}
    for name, one in rules.get("solvers", {}).items():
        repeat = max(1, results.entered.get(name, 0) // max(1, results.num_entered))
        command, runs = str(one.get("command", "")), ("--runs", str(repeat)) * (repeat > 1)
        ours_too = f" -m glasshouse solve {{file}} --solver {name} "  # in any interpreter
        if name in built_in_names() and ours_too in command.replace("'", ""):
            ours.setdefault(runs, []).extend(["--solver", name])
        else:
            group = groups.setdefault(("--dialect", f"{one.get('dialect')!s:.60}", *runs), [])
            group += ["--solver", _typed(name, command)]
    for built_in, words in ours.items():  # built-in solvers read their own dialect
        key = next((key for key in groups if key[2:] == built_in), built_in)
        groups[key] = [*words, *groups.get(key, [])]
    return groups or {(): []}


def _suite(results: Results, rules: dict[str, Any]) -> str:
    source = rules.get("source")
    return source[:_LONGEST_COMMAND] if isinstance(source, str) and source else results.suite


def _option_words(rules: dict[str, Any]) -> list[str]:
    """Return the rules of a race as command-line options, except for malformed values."""
    words: list[str] = []
    for key, option in _OPTIONS.items():
        value = rules.get(key)
        if value is None or value is False or value == "":
            continue
        if value is True:
            words.append(option)
        elif isinstance(value, (str, int, float)):
            if key == "memory" and isinstance(value, int):
                value //= MEGABYTE
            words += [option, str(value)[:_LONGEST_COMMAND]]
    return words


def _typed(name: str, command: str) -> str:
    """Return the value of `--solver` for a command, with the solver's name if the name is valid."""
    text = command[:_LONGEST_COMMAND]
    return f"{name}={text}" if _NAME.fullmatch(name) else text
