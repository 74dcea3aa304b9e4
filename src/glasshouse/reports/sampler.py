"""The report section on a race of samplers: success, times to solution, residual energy."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from glasshouse.races.samplers.results import SamplerResults
from glasshouse.races.samplers.stored import read_sampler_results
from glasshouse.races.tts_figures import batch_chart, dial_chart, residual_chart
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
from glasshouse.statistics.time_model import BY
from glasshouse.store.store import Store

_KIND = "Race of samplers"


def sampler_section(store: Store) -> Section:
    """Return the report section on a store that contains a race of samplers."""
    results, name = read_sampler_results(store), store.path.name
    return results_section(results, name, versions_of(store), store=name)


def results_section(
    results: SamplerResults, title: str, versions: str = "", store: str = ""
) -> Section:
    """Return the report section on the results of a race of samplers.

    Args:
        results: the results of the race.
        title: the title of the section.
        versions: the versions of glasshouse that made the calls.
        store: the name of the store; empty for results in memory.
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
    facts += [Fact("computer", _in_a_line(one), "stated") for one in results.computers[:5]]
    if not results.calls:
        return Section(title, _KIND, lead + " There are no calls yet.", facts, [])
    parts: list[Part] = [_scores(results), charted(dial_chart(results)), *_residual(results)]
    parts += [*_batches(results), _samplers(results), _problems(results), _calls(results)]
    parts.append(Listing("Python code that repeats the race with the same samplers and suite",
                         _again(results, store)))  # fmt: skip
    return Section(title, _KIND, lead, facts, parts, result=_fastest(results))


def _in_a_line(computer: Mapping[str, Any]) -> str:
    """Describe a computer in one line, from stored values that may be malformed."""
    parts = []
    for key, value in list(computer.items())[:20]:
        if isinstance(value, dict):
            value = " ".join(f"{k} {v}" for k, v in list(value.items())[:20]) or "not set"
        parts.append(f"{key}: {value}"[:200])
    return "; ".join(parts)


def _fastest(results: SamplerResults) -> Fact | None:
    """Return the sampler with the least time to solution, as a fact; None if no time is finite."""
    times = {name: results.tts(name) for name in _complete(results)}
    finite = {name: time for name, time in times.items() if math.isfinite(time.value)}
    if not finite:
        return None
    best = min(finite, key=lambda name: finite[name].value)
    return Fact("least elapsed TTS99:", f"{best}, {finite[best].value:.3g} s", "stated")


def _again(results: SamplerResults, store: str) -> str:
    """Return Python code that repeats the race, with notes on what the results do not contain."""
    reads: dict[str, list[int]] = {}
    for call in results.calls:
        if call.reads not in reads.setdefault(call.solver, []):
            reads[call.solver].append(call.reads)
    calls = max(Counter((one.solver, one.instance, one.reads) for one in results.calls).values())
    most = max(sizes[0] for sizes in reads.values())
    asked = [f"reads={most}", f"calls={calls}", f"rng={results.seed}"]
    if all(len(sizes) == 1 for sizes in reads.values()):
        asked.append("batches=()")
    asked += [f"store={store!r}"] if store else []
    notes = ["# A time limit, if there was one, is not stored."]
    if len({tuple(sorted(sizes)) for sizes in reads.values()}) > 1:
        each = ", ".join(f"{name!r} {sorted(sizes)}" for name, sizes in reads.items())
        notes.append(f"# The numbers of reads per call differ: {each}.")
    return "\n".join([f"glasshouse.race_samplers(samplers, suite, {', '.join(asked)})", *notes])


def _scores(results: SamplerResults) -> Table:
    rows = []
    for name in _complete(results):
        times = [results.tts(name, by=by) for by in BY]
        told = [str(t) if math.isfinite(t.value) else f"∞ (from {t.low:.4g})" for t in times]
        wrong = sum(call.solver == name for call in results.faults)
        rows.append([name, str(results.success(name)), *told, wrong])
    note = "Success: the probability that a read reaches the target, averaged over problems. "
    note += " ".join(results.notes(_complete(results)))
    if left := len(results.solvers) - len(rows):
        verb = "has" if left == 1 else "have"
        note += f" {counted(left, 'sampler')} {verb} not been called on every problem yet."
    return Table(
        "Scores",
        [text("solver", "sampler"), number("success", "success of a read, 95 % interval"),
         number("tts", "elapsed TTS99 in seconds, 95 % interval"),
         number("work", "TTS99 by work in seconds, 95 % interval"), number("faults")],
        cut(rows)[0], note,
    )  # fmt: skip


def _complete(results: SamplerResults) -> list[str]:
    """Return the samplers that were called on every problem; only these have overall scores."""
    called = {(call.solver, call.instance) for call in results.calls}
    return [name for name in results.solvers
            if all((name, instance) in called for instance in results.instances)]  # fmt: skip


def _residual(results: SamplerResults) -> list[Figure]:
    """Return a chart of the residual energy over time."""
    if any(problem.num_variables == 0 for problem in results.problems):
        return []  # an old store, which does not contain the number of spins
    chart = residual_chart(results, solvers=_complete(results))
    return [charted(chart)] if chart.y.is_log else []  # otherwise no energy remains


def _batches(results: SamplerResults) -> list[Figure]:
    """Return a chart of the time to solution over the batch size, on the first problem."""
    first = results.instances[0]
    called = [one for one in results.calls if one.instance == first]
    if len({call.reads for call in called}) < 2 or len(_complete(results)) < len(results.solvers):
        return []
    return [charted(batch_chart(results))]


def _samplers(results: SamplerResults) -> Table:
    """Return a table of the samplers, their clocks and parameters."""
    rows = []
    for name in results.solvers:
        one = results.samplers.get(name, {})
        parameters = json.dumps(one.get("parameters", {}), sort_keys=True)
        rows.append([name, str(one.get("what", "")), parameters[:1000], results.clocks[name]])
    return Table("Samplers", [text("solver", "sampler"), text("what", "class or function"),
                              text("parameters"), text("clock")], cut(rows)[0])  # fmt: skip


def _problems(results: SamplerResults) -> Table:
    rows = [[one.name, one.num_variables or None, results.target(one.name),
             results.is_proven(one.name)] for one in results.problems]  # fmt: skip
    return Table("Problems", [text("instance"), number("size", "variables"),
                              number("target", "target energy"),
                              text("proven", "proven before the race")],
                 cut(rows)[0], "The target is the optimum proven before the race, or the best "
                 "energy known or found by any sampler.")  # fmt: skip


def _calls(results: SamplerResults) -> Table:
    columns = ["solver", "instance", "number", "seconds", "reads", "reached", "best", "target",
               "proven", "seed", "fault"]  # fmt: skip
    words = {"solver", "instance", "proven", "fault"}
    rows, count = cut([row[name] for name in columns] for row in results.rows())
    note = "" if count == len(rows) else f"The first {len(rows):,} of {count:,} calls."
    heads = [text(name) if name in words else number(name) for name in columns]
    return Table("Calls", heads, rows, note)
