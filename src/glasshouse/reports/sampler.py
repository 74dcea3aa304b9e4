"""A race of samplers: success, times to solution, and residual energy over time."""

from __future__ import annotations

import math
from collections import Counter

from glasshouse.races.figures import dial_chart, residual_chart
from glasshouse.races.samplers.results import SamplerResults
from glasshouse.races.samplers.stored import read_sampler_results
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
from glasshouse.store.store import Store

_KIND = "Race of samplers"


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
    parts: list[Part] = [_scores(results), charted(dial_chart(results)), *_residual(results)]
    parts += [_problems(results), _calls(results)]
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
    note = "Success: the chance that a read reaches the target, mean over problems."
    if left := len(results.solvers) - len(rows):
        verb = "has" if left == 1 else "have"
        note += f" {counted(left, 'sampler')} {verb} not been called on every problem yet."
    return Table(
        "Scores",
        [text("solver", "sampler"), number("success", "success of a read, 95 % interval"),
         number("tts", "median TTS99 in seconds, 95 % interval"), number("faults")],
        cut(rows)[0], note,
    )  # fmt: skip


def _complete(results: SamplerResults) -> list[str]:
    """Samplers that were called on every problem: others have no score over all of them."""
    called = {(call.solver, call.instance) for call in results.calls}
    return [name for name in results.solvers
            if all((name, instance) in called for instance in results.instances)]  # fmt: skip


def _residual(results: SamplerResults) -> list[Figure]:
    """How much energy is left after so many seconds of reads."""
    if any(problem.num_variables == 0 for problem in results.problems):
        return []  # an old store, which does not say how many spins there are
    chart = residual_chart(results, solvers=_complete(results))
    return [charted(chart)] if chart.y.is_log else []  # else nothing is left


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
