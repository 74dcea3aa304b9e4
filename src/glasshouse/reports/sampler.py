"""A race of samplers: success, residual energy over time, and the figure of times to solution.

Races of other solvers use the same figure.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from glasshouse.races.samplers.results import SamplerResults
from glasshouse.races.samplers.stored import read_sampler_results
from glasshouse.races.tts_figures import DECADES, Parameters, chosen_dial, over_dial
from glasshouse.reports.charts import Axis, series_chart
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
    versions_of,
)
from glasshouse.statistics.samples import Estimate
from glasshouse.store.store import Store

_KIND = "Race of samplers"
Times = Mapping[str, Mapping[str, Estimate]]


def sampler_section(store: Store) -> Section:
    """The section of a store that `glasshouse.race` filled."""
    results, name = read_sampler_results(store), store.path.name
    return results_section(results, name, versions_of(store), store=name)


def results_section(
    results: SamplerResults, title: str, versions: str = "", store: str = ""
) -> Section:
    """The section of a race of samplers.

    Args:
        results: all of its calls.
        title: of the section.
        versions: of glasshouse, that made the calls.
        store: the name of the file that holds them; empty for results in memory.
    """
    proven = sum(results.is_proven(name) for name in results.instances)
    lead = (
        f"{counted(len(results.solvers), 'sampler')} on "
        f"{counted(len(results.problems), 'problem')}, "
        f"{counted(len(results.calls), 'call')}. Energies were evaluated by glasshouse, call by "
        "call."
    )
    facts = [
        Fact("problems", f"{len(results.problems):,}, {proven:,} of them with an optimum that was "
             "proven when the race was run", "stated"),
        Fact("reads", f"{sum(call.reads for call in results.calls):,}"),
        Fact("faults", f"{len(results.faults):,} of {len(results.calls):,} calls"),
        Fact("seed", str(results.seed), "stated"),
        Fact("wall-clock time", seen_seconds(math.fsum(call.seconds for call in results.calls)),
             "stated"),
    ]  # fmt: skip
    if versions:
        facts.append(Fact("glasshouse", versions, "stated"))
    if not results.calls:
        return Section(title, _KIND, lead + " Nothing has run yet.", facts, [])
    parts: list[Part] = [_scores(results)]
    parts += tts_figure(results.tts_table(), results.parameters, "reads")
    parts += [*_residual(results), _problems(results), _calls(results)]
    parts.append(Listing("What makes it again, in Python, with the same samplers and suite",
                         _again(results, store)))  # fmt: skip
    return Section(title, _KIND, lead, facts, parts, result=_fastest(results))


def _fastest(results: SamplerResults) -> Fact | None:
    """The sampler with the least time to solution, where one has any."""
    times = {name: results.tts(name) for name in _complete(results)}
    finite = {name: time for name, time in times.items() if math.isfinite(time.value)}
    if not finite:
        return None
    best = min(finite, key=lambda name: finite[name].value)
    return Fact("least median TTS99:", f"{best}, {finite[best].value:.3g} s", "stated")


def _again(results: SamplerResults, store: str) -> str:
    """The call of the race, as far as its results tell it; what they do not tell is said."""
    reads: dict[str, int] = {}
    for call in results.calls:
        reads[call.solver] = max(reads.get(call.solver, 0), call.reads)
    calls = max(Counter((call.solver, call.instance) for call in results.calls).values())
    asked = [f"reads={max(reads.values())}", f"calls={calls}", f"rng={results.seed}"]
    asked += [f"store={store!r}"] if store else []
    notes = ["# A time limit, if there was one, is not kept."]
    if len(set(reads.values())) > 1:
        each = ", ".join(f"{name!r} {count}" for name, count in reads.items())
        notes.append(f"# Reads of a call differ: {each}.")
    return "\n".join([f"glasshouse.race(samplers, suite, {', '.join(asked)})", *notes])


def _scores(results: SamplerResults) -> Table:
    rows = []
    for name in _complete(results):
        success, tts = results.success(name), results.tts(name)
        told = str(tts) if math.isfinite(tts.value) else f"∞ (from {tts.low:.4g})"
        wrong = sum(call.solver == name for call in results.faults)
        rows.append([name, str(success), told, wrong])
    return Table(
        "Scores",
        [text("solver", "sampler"), number("success", "success of a read, 95 % interval"),
         number("tts", "median TTS99 in seconds, 95 % interval"), number("faults")],
        cut(rows)[0], "Success: the chance that a read reaches the target, mean over problems."
        + _left_out(results),
    )  # fmt: skip


def _complete(results: SamplerResults) -> list[str]:
    """Samplers that were called on every problem: others have no score over all of them."""
    called = {(call.solver, call.instance) for call in results.calls}
    return [name for name in results.solvers
            if all((name, instance) in called for instance in results.instances)]  # fmt: skip


def _left_out(results: SamplerResults) -> str:
    number_left = len(results.solvers) - len(_complete(results))
    if not number_left:
        return ""
    verb = "has" if number_left == 1 else "have"
    return f" {counted(number_left, 'sampler')} {verb} not been called on every problem yet."


def _residual(results: SamplerResults) -> list[Part]:
    """How much energy is left after so many seconds of reads."""
    if any(problem.num_variables == 0 for problem in results.problems):
        return []  # an old store, which does not say how many spins there are
    rows: list[list[Any]] = []
    for name in _complete(results):
        curve = results.residual(name)
        pairs = zip(curve.seconds.tolist(), curve.residual.tolist(), strict=True)
        rows += [[name, "median", at, left] for at, left in pairs if left > 0]
    if not rows:
        return []
    highest = max(row[3] for row in rows)
    rows = [row for row in rows if row[3] > highest / DECADES]
    is_proven = all(map(results.is_proven, results.instances))
    what = (
        "optimum proven before the race" if is_proven else "best known energy, in part not proven"
    )
    spec = series_chart(
        Axis("seconds", "seconds of reads", is_log=True),
        Axis("residual", "energy per spin above the target", is_log=True),
        list(dict.fromkeys(row[0] for row in rows)), {"median": ["line", "dots"]},
        {"series": "sampler", "seconds": "seconds", "residual": "energy per spin above the target"},
        rows,
    )  # fmt: skip
    return [Figure(
        "Residual energy", f"Expected energy per spin above the {what} after so many seconds of "
        "reads: the median over problems. A curve ends where less than a hundred-thousandth of the "
        "highest is left.", spec,
        Table("", [text("series", "sampler"), text("kind"), number("seconds"),
                   number("residual", "energy per spin above the target")], cut(rows)[0]),
    )]  # fmt: skip


def _problems(results: SamplerResults) -> Table:
    rows = [[one.name, one.num_variables or None, results.target(one.name),
             results.is_proven(one.name)] for one in results.problems]  # fmt: skip
    return Table("Problems", [text("instance"), number("size", "variables"),
                              number("target", "target energy"),
                              text("proven", "proven before the race")],
                 cut(rows)[0], "The target is the optimum proven before the race, or else the best "
                 "energy known or found by any sampler.")  # fmt: skip


def _calls(results: SamplerResults) -> Table:
    columns = ["solver", "instance", "number", "seconds", "reads", "reached", "best", "target",
               "proven", "seed", "fault"]  # fmt: skip
    words = {"solver", "instance", "proven", "fault"}
    rows, count = cut([row[name] for name in columns] for row in results.rows())
    note = "" if count == len(rows) else f"The first {len(rows):,} of {count:,}."
    heads = [text(name) if name in words else number(name) for name in columns]
    return Table("Calls", heads, rows, note)


def tts_figure(times: Times, parameters: Parameters, what: str) -> list[Part]:
    """TTS99 over the number that varies most; of each instance where none does.

    Args:
        times: per solver and instance.
        parameters: of the instances.
        what: is repeated until success, for the text.
    """
    dial = chosen_dial(parameters)
    rows: list[list[Any]] = []
    for solver, each in times.items():
        if dial is not None:
            points = [(at, "", time) for at, time in over_dial(each, parameters, dial)]
        else:
            ordered = sorted(each.items(), key=lambda pair: (pair[1].value, pair[1].low))
            points = [(float(k), name, time) for k, (name, time) in enumerate(ordered, 1)]
        rows += [_row(solver, *point) for point in points]
    if not rows or len(rows) > MOST_POINTS:
        return []
    axis = "place among the solver's instances, by time" if dial is None else dial.replace("_", " ")
    spec = series_chart(
        Axis("at", axis, is_whole=dial is None), Axis("tts", "TTS99 in seconds", is_log=True),
        [*times], {"interval": "interval", "measured": ["interval", "line", "points"],
                   "at least": "bound"},
        {"series": "solver", "at": axis, "told": "TTS99 in seconds"} | (
            {} if dial is not None else {"instance": "instance"}),
        rows,
    )  # fmt: skip
    over = f"over {axis}: the median over instances" if dial is not None else "of each instance"
    return [Figure(
        "Time to solution", f"Seconds of repeated {what} until the best known cost or energy is "
        f"reached with probability 0.99, {over}, with 95 % intervals. A hollow triangle is the "
        "least that it can be, where too few were solved.", spec,
        Table("", [text("series", "solver"), text("kind"), number("at", axis),
                   text("instance"), number("tts", "TTS99 (s)"), number("low"), number("high"),
                   text("told", "with interval")], cut(rows)[0]),
    )]  # fmt: skip


def _row(solver: str, at: float, instance: str, time: Estimate) -> list[Any]:
    if not math.isfinite(time.value):
        told = f"at least {time.low:.4g}"
        return [solver, "at least", at, instance, time.low, None, None, told]
    high = time.high if math.isfinite(time.high) else max(time.value, time.low)
    return [solver, "measured", at, instance, time.value, time.low, high, str(time)]
