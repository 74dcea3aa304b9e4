"""A race of commands: who solved what, how fast, and who was wrong."""

from __future__ import annotations

import math
import re
import shlex
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from glasshouse.races.commands.entrants import built_in_names
from glasshouse.races.commands.racing import held_race
from glasshouse.races.commands.results import Results, Run, read_results
from glasshouse.races.commands.scores import (
    FEW_CURVES,
    MOST_CURVES,
    cactus,
    excess_curve,
    limited_seconds,
    median_curve,
    performance_profile,
    score,
    tts_table,
)
from glasshouse.races.running.command import MEGABYTE
from glasshouse.reports.charts import Axis, Shape, scatter_chart, series_chart
from glasshouse.reports.page import (
    MOST_POINTS,
    Fact,
    Figure,
    Listing,
    Part,
    Section,
    Table,
    counted,
    cut,
    number,
    seen_seconds,
    text,
    thinned,
    versions_of,
)
from glasshouse.reports.sampler import tts_figure
from glasshouse.store.store import Store

_KIND, _SOLVER = "Race of solvers", "solver"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.+-]*")

_FEW_POINTS = 400  # of a cactus: so many can have marks of a shape of their own
_ROOM = 2.0  # unsolved instances stand at so many times the limit


def race_section(store: Store) -> Section:
    """The section of a store that holds a race of commands."""
    results, rules = read_results(store), held_race(store) or {}
    there, expected = len(results.runs), max(results.expected, len(results.runs))
    lead = (
        f"{counted(len(results.entered), 'solver')} on {counted(results.num_entered, 'instance')} "
        f"of {results.suite}: {there:,} of {expected:,} runs are there. Every answer was judged "
        "against the proof of its instance when the race was run; the store holds these verdicts."
    )
    if not there:
        facts, again = _facts(store, results, rules), _again(store.path, results, rules)
        return Section(store.path.name, _KIND, lead + " Nothing has run yet.", facts, [again])
    parts: list[Part] = [_scores(results), _cactus(results), _profile(results)]
    parts += _anytime(results)
    parts += tts_figure(tts_table(results), results.parameters, "runs")
    parts += _scatter(results)
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
        Fact("runs", f"{len(results.runs):,}" + (f"; {missing:,} are missing, and the same command "
             "goes on" if missing else ", all there")),
        Fact("faults", f"{len(results.faults):,} wrong, invalid or crashed"),
    ]  # fmt: skip
    names = {"seconds": ("time limit", "s"), "grace": ("grace", "s"),
             "memory": ("memory limit", "MB"), "seed": ("seed of the first run", ""),
             "meter": ("meter", "")}  # fmt: skip
    for key, (label, unit) in names.items():
        if key in rules:
            value = rules[key]
            if key == "memory" and isinstance(value, int):
                value = value // MEGABYTE
            told = f"{value:g}" if isinstance(value, float) else f"{value!s:.60}"
            known.append(Fact(label, f"{told} {unit}".strip(), "stated"))
    known.append(Fact("wall-clock time", seen_seconds(sum(run.seconds for run in results.runs)),
                      "stated"))  # fmt: skip
    known.append(Fact("glasshouse", versions_of(store), "stated"))
    return known


def _scores(results: Results) -> Table:
    scores = [score(results, name) for name in results.solvers]
    rows = [
        [one.solver, one.runs, one.solved, one.reached, one.faults, one.par2, one.anytime,
         str(one.median) if math.isfinite(one.median.value) else f"∞ (from {one.median.low:.4g})",
         results.starts.get(one.solver)]
        for one in scores
    ]  # fmt: skip
    return Table(
        "Scores",
        [text("solver"), number("runs"), number("solved"), number("reached", "best cost reached"),
         number("faults"), number("par2", "PAR-2 (s)"), number("anytime", "anytime score"),
         number("median", "median seconds, 95 % interval"), number("start", "start (s)")],
        cut(rows)[0],
        "Solved: the optimum was claimed, shown and right, in time. PAR-2: seconds, twice the "
        "limit where a run did not solve. Anytime: (1 + best)/(1 + found). Means over instances.",
    )  # fmt: skip


def _cactus(results: Results) -> Figure:
    each = {name: cactus(results, name) for name in results.solvers}
    most = max(2, MOST_POINTS // max(len(each), 1))
    rows = [[name, "run", k + 1, times[k]] for name, times in each.items()
            for k in thinned(len(times), most)]  # fmt: skip
    limit = results.limit
    marks: Shape = "points" if len(rows) <= _FEW_POINTS else "dots"
    top = max(1, results.num_entered, *map(len, each.values()))
    spec = series_chart(
        Axis("solved", "instances solved", has_zero=True, is_whole=True, top=top),
        Axis("seconds", "seconds per instance, at most", is_log=True),
        [*each], {"run": ["line", marks]},
        {"series": "solver", "solved": "instances solved", "seconds": "seconds"}, rows,
        y_limit=limit,
    )  # fmt: skip
    note = _thinned_note(sum(map(len, each.values())), len(rows))
    return Figure(
        "Cactus", "How many instances each solver solves within how many seconds each; further "
        f"right and lower is better. The dotted line is the time limit.{note}", spec,
        Table("", [text("series", _SOLVER), text("kind"), number("solved", "instances solved"),
                   number("seconds")], cut(rows)[0]),
    )  # fmt: skip


def _profile(results: Results) -> Figure:
    try:
        each = performance_profile(results)
    except ValueError:  # the solvers have no instance in common yet
        each = {}
    most = max(2, MOST_POINTS // max(len(each), 1))
    rows: list[list[Any]] = []
    furthest = max((float(ratios[-1]) for ratios, _ in each.values() if len(ratios)), default=1.0)
    for name, (ratios, shares) in each.items():
        rows += [[name, "share", ratios[k], shares[k]] for k in thinned(len(ratios), most)]
        if len(ratios):
            rows.append([name, "share", 1.2 * furthest, shares[-1]])
    spec = series_chart(
        Axis("ratio", "τ: times the seconds of the fastest solver", is_log=True),
        Axis("share", "share of instances within τ", has_zero=True), [*each], {"share": "step"},
        {"series": "solver", "ratio": "τ", "share": "share of instances"}, rows,
        limits=(0, 1),
    )  # fmt: skip
    return Figure(
        "Performance profile", "The share of instances that each solver solved within τ times the "
        "seconds of the fastest one, on the instances that all of them have run on; higher is "
        "better.", spec,
        Table("", [text("series", _SOLVER), text("kind"), number("ratio", "τ"), number("share")],
              cut(rows)[0]),
    )  # fmt: skip


def _anytime(results: Results) -> list[Part]:
    """Incumbents over time: of few runs each of them, of many their median."""
    rows: list[list[Any]] = []
    shown: dict[str, int] = {}
    for name in results.solvers:
        runs = [run for run in results.runs if run.solver == name and run.incumbents]
        curves = [excess_curve(run, results.best_known.get(run.instance))
                  for run in runs[:MOST_CURVES]]  # fmt: skip
        if not curves:
            continue
        shown[name] = len(curves)
        if len(curves) >= FEW_CURVES:
            times, heights = median_curve(curves)
            places = thinned(len(times), MOST_POINTS // (2 * len(results.solvers)))
            rows += [[name, "median", times[k], heights[k], ""] for k in places]
            continue
        for k, (times_of, heights_of) in enumerate(curves):
            places = thinned(len(times_of), 200)
            rows += [[name, "run", times_of[i], heights_of[i], f"{k}"] for i in places]
    if not rows:
        return []
    spec = series_chart(
        Axis("seconds", "seconds", is_log=True), Axis("excess", "1 + cost above the best known",
                                                      is_log=True),
        [*shown], {"run": "thin", "median": "step"},
        {"series": "solver", "seconds": "seconds", "excess": "1 + cost above the best known"},
        rows,
    )  # fmt: skip
    most = max(shown.values())
    words = f"the median of up to {most} runs" if most >= FEW_CURVES else "every run"
    return [Figure(
        "Anytime: what was found by when", f"Cost above the best that is known, plus 1, over time: "
        f"{words} per solver; lower is better. These are the solvers' own o lines, which nobody "
        "checked; a run that has found nothing yet counts as worse than all others.", spec,
        Table("", [text("series", _SOLVER), text("kind"), number("seconds"),
                   number("excess", "1 + cost above the best known"), text("run")], cut(rows)[0]),
    )]  # fmt: skip


def _scatter(results: Results) -> list[Part]:
    """The two solvers that solved most, instance by instance."""
    best = sorted(results.solvers, key=lambda name: -len(cactus(results, name)))[:2]
    if len(best) < 2:
        return []
    limit = results.limit
    first, second = (limited_seconds(results, name, limit) for name in best)
    both = [name for name in first if name in second]
    edge = _ROOM * limit
    pairs = [(name, min(first[name], edge), min(second[name], edge)) for name in both]
    pairs = [pairs[k] for k in thinned(len(pairs), MOST_POINTS // 2)]
    rows = [["both", *pair] for pair in pairs]
    if not rows:
        return []
    low = min(min(x, y) for _, x, y in pairs) / 1.3
    spec = scatter_chart(
        Axis("first", f"seconds of {best[0]}", is_log=True),
        Axis("second", f"seconds of {best[1]}", is_log=True), ["both"],
        {"instance": "instance", "first": best[0], "second": best[1]}, diagonal=edge,
    )  # fmt: skip
    return [Figure(
        f"{best[0]} and {best[1]}, instance by instance",
        "The two solvers that solved most. Above the diagonal the first is faster. Instances that "
        f"one of them did not solve stand at {edge:g} seconds, twice the limit."
        + _thinned_note(len(both), len(rows)), spec,
        Table("", [text("series", "solvers"), text("instance"), number("first", best[0]),
                   number("second", best[1])], cut(rows)[0]),
        {"diagonal": Table("", [number("at")], [[low], [edge]])},
    )]  # fmt: skip


def _verdicts(results: Results) -> Table:
    counts = Counter((run.solver, str(run.verdict)) for run in results.runs)
    kinds = sorted({verdict for _, verdict in counts})
    rows = [[name, *(counts[name, kind] for kind in kinds)] for name in results.solvers]
    columns = [text("solver"), *(number(f"v{k}", kind) for k, kind in enumerate(kinds))]
    return Table("Verdicts", columns, cut(rows)[0], "Runs of each solver by what became of them.")


_RUN_COLUMNS = [
    text("solver"), text("instance"), number("number", "run"), text("verdict"), number("seconds"),
    number("cost", "cost, by us"), number("optimum", "proven optimum"), text("reason"),
    text("remarks"),
]  # fmt: skip


def _run_rows(runs: Iterable[Run]) -> list[list[Any]]:
    return [
        [run.solver, run.instance, run.number, str(run.verdict), run.seconds, run.cost, run.optimum,
         run.reason, run.remarks]
        for run in runs
    ]  # fmt: skip


def _faults(results: Results) -> list[Part]:
    if not results.faults:
        return []
    rows, count = cut(_run_rows(results.faults), 500)
    note = f"The first {len(rows)} of {count:,}." if count > len(rows) else ""
    return [Table("Faults: runs after which a solver is to be mended", _RUN_COLUMNS, rows, note)]


def _runs(results: Results) -> Table:
    rows, count = cut(_run_rows(results.runs))
    note = "Costs were evaluated by glasshouse, when the race was run."
    if count > len(rows):
        note += (
            f" These are the first {len(rows):,} of {count:,} runs; `glasshouse study export "
            "--kind race` lists them all. Scores, verdicts and figures are of all runs."
        )
    return Table("Runs", _RUN_COLUMNS, rows, note)


# What the rules of a race are called on the command line. The solvers have their own dialects.
_OPTIONS = {"seconds": "--time-limit", "grace": "--grace", "memory": "--memory", "seed": "--seed",
            "meter": "--meter", "strict": "--strict", "answers": "--answers",
            "instances": "--instances"}  # fmt: skip
_LONGEST_COMMAND = 10_000


def _again(path: Path, results: Results, rules: dict[str, Any]) -> Listing:
    """The commands of the race: one for all solvers of the same dialect and number of runs."""
    commands = [
        shlex.join(["glasshouse", "race", *solvers, "--suite", _suite(results, rules),
                    *_option_words(rules), *group, "-o", path.name])
        for group, solvers in _groups(results, rules).items()
    ]  # fmt: skip
    title = "The command that makes it again" if len(commands) == 1 else (
        "The commands that make it again")  # fmt: skip
    return Listing(title, "\n".join(commands))


def _groups(results: Results, rules: dict[str, Any]) -> dict[tuple[str, ...], list[str]]:
    """Solvers as one types them, by the options that are theirs: `--dialect` and `--repeat`."""
    groups: dict[tuple[str, ...], list[str]] = {}
    ours: dict[tuple[str, ...], list[str]] = {}
    for name, one in rules.get("solvers", {}).items():
        repeat = max(1, results.entered.get(name, 0) // max(1, results.num_entered))
        command, runs = str(one.get("command", "")), ("--repeat", str(repeat))
        if _is_built_in(name, command):
            ours.setdefault(runs, []).extend(["--solver", name])
        else:
            group = groups.setdefault(("--dialect", f"{one.get('dialect')!s:.60}", *runs), [])
            group += ["--solver", _typed(name, command)]
    for built_in, words in ours.items():  # they read their own dialect, whatever the others read
        key = next((key for key in groups if key[2:] == built_in), built_in)
        groups[key] = [*words, *groups.get(key, [])]
    return groups or {("--repeat", "1"): []}


def _suite(results: Results, rules: dict[str, Any]) -> str:
    source = rules.get("source")
    return source[:_LONGEST_COMMAND] if isinstance(source, str) and source else results.suite


def _option_words(rules: dict[str, Any]) -> list[str]:
    """The rules that a store keeps, as options; those of another type are left out."""
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


def _is_built_in(name: str, command: str) -> bool:
    """Whether a solver is ours, whatever interpreter it ran in."""
    ours = f" -m glasshouse solve {{file}} --solver {name} "
    return name in built_in_names() and ours in command.replace("'", "")


def _typed(name: str, command: str) -> str:
    """A solver as one types it; one that cannot be named is called after its program."""
    text = command[:_LONGEST_COMMAND]
    return f"{name}={text}" if _NAME.fullmatch(name) else text


def _thinned_note(count: int, kept: int) -> str:
    return f" Of {count:,} points, {kept:,} are drawn, evenly." if count > kept else ""
