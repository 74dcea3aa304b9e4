"""The searches of `glasshouse solve`, which all return their answers in the same form."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from glasshouse.cli.console import bar
from glasshouse.cli.errors import false_claim
from glasshouse.cli.output import model_of

if TYPE_CHECKING:
    from glasshouse.certificates import Proven
    from glasshouse.files import Document
    from glasshouse.problems import Measure, Problem

HEURISTICS = ("anneal", "temper")  # these have runs and sweeps
MINIMISE = "minimise"  # this has a time limit


def samplers() -> tuple[str, ...]:
    """Return the names of the third-party samplers."""
    from glasshouse.races.samplers import SAMPLERS

    return tuple(SAMPLERS)


def search(
    solver: str,
    document: Document,
    certified: Proven | None,
    given: dict[str, Any],
    *,
    quiet: bool = False,
) -> dict[str, Any]:
    """Return the best state that a solver finds, its energy, and a text about the search.

    Args:
        solver: the solver's name.
        document: the file as it was read.
        certified: the optimum that its certificate proves.
        given: the given options that the solver takes.
        quiet: whether improvements are not printed.
    """
    if solver == MINIMISE:
        return _minimised(document, certified, given, None if quiet else _show_improvement)
    if solver in HEURISTICS:
        return _heuristic(solver, document, certified, dict(given))
    if solver in samplers():
        return _sampled(solver, document.problem, given)
    answer = _exact(solver, document.problem, given.get("time_limit"))
    if answer["state"] is None:
        raise ValueError(f"{solver} found no state within the time limit; use a longer limit")
    return answer


def contender(
    solver: str, document: Document, given: dict[str, Any], offer: Any
) -> tuple[Any, bool]:
    """Search for a model and offer improvements; return it (or None), and whether it is optimal."""
    from glasshouse.problems.hard_clauses import HardClausesUnsatisfiableError

    try:
        if solver == MINIMISE:
            certified = certified_by(document)
            answer = _minimised(document, certified, given, lambda *found: offer(found[-1]))
        elif solver in HEURISTICS:
            answer = _in_rounds(solver, document, given, offer)
        elif solver in samplers():
            answer = _sampled(solver, document.problem, given, offer)
        else:
            answer = _exact(solver, document.problem, given.get("time_limit"), offer)
    except HardClausesUnsatisfiableError:
        raise
    except ValueError as refusal:
        if refusal.__cause__ is not None:  # the solver failed; it did not refuse
            raise
        print(f"glasshouse: {refusal}", file=sys.stderr)
        return None, False
    state, is_optimal = answer["state"], bool(answer["optimal"])
    lie = "" if state is None else false_claim(document, answer["energy"], is_optimal)
    if lie:
        print(f"glasshouse: {document.path}: {lie}", file=sys.stderr)
    return state, is_optimal


def certified_by(document: Document) -> Proven | None:
    """Return the optimum that a certificate proves (None without one); report an invalid one."""
    from glasshouse.certificates import CertificateError
    from glasshouse.files import FileError

    try:
        proven = document.proven
    except (CertificateError, FileError) as fault:
        print(f"glasshouse: no certified optimum: {fault}", file=sys.stderr)
        return None
    return proven if proven is not None and proven.verdict.optimal else None


def _heuristic(
    solver: str, document: Document, certified: Proven | None, options: dict[str, Any]
) -> dict[str, Any]:
    """Anneal or temper, and measure the success probability if the optimum is known."""
    from glasshouse import solvers

    energy, goal = _goal(options.pop("target", None), document, certified)
    options["rng"] = options.pop("seed", None)
    run: Any = solvers.anneal if solver == "anneal" else solvers.temper
    with _progress(document.measure) as progress:
        result = run(document.problem, target=energy, **options, progress=progress)
    text = f"found {result.account(goal)}\nseed {result.seed.entropy}"
    text = _ruled_out(energy, goal, document, certified) + text
    answer = _answer(result.best_energy, result.best_state, False, text) | {
        "runs": result.runs,
        "sweeps": result.sweeps,
        "kernel": result.kernel,
        "seed": result.seed.entropy,
        "seconds": result.seconds,
        "stopped": result.stopped,
    }
    if result.ladder is not None:
        answer |= {
            "betas": result.betas.tolist(),
            "swap_acceptance": result.ladder.acceptance.tolist(),
            "round_trips": result.ladder.round_trips,
            "cluster_moves": result.ladder.clusters.tolist(),
            "sweeps_between_cluster_moves": result.ladder.every,
            "warm_up_seconds": result.ladder.seconds,
        }
    if goal is not None and result.complete.any():
        tts, elapsed = result.tts(), result.tts(unit="elapsed")
        answer |= {
            "target": goal,
            "check": result.check,
            "success_probability": result.success_probability,
            "tts99_elapsed_seconds": elapsed.value,
            "tts99_elapsed_interval": [elapsed.low, None if tts.is_bound else elapsed.high],
            "tts99_seconds": tts.value,
            "tts99_interval": [tts.low, None if tts.is_bound else tts.high],
            "tts99_sweeps": result.tts(unit="sweeps").value,
            "tts99_is_bound": tts.is_bound,
            "tts99_is_upper_bound": tts.is_upper_bound,
        }
    return answer


def _in_rounds(
    solver: str, document: Document, given: dict[str, Any], offer: Any
) -> dict[str, Any]:
    """Anneal or temper in rounds of increasing length; report the best state of each round."""
    from glasshouse import solvers
    from glasshouse.solvers.doubling import iter_rounds

    options = dict(given)
    energy, _ = _goal(options.pop("target", None), document, certified_by(document))
    options["rng"] = options.pop("seed", None)
    if "time_limit" not in options:
        options.setdefault("sweeps", 1000)
    run: Any = solvers.anneal if solver == "anneal" else solvers.temper
    best, lowest = None, None
    for result in iter_rounds(run, document.problem, target=energy, **options):
        offer(result.best_state)
        if lowest is None or result.best_energy < lowest:
            best, lowest = result.best_state, result.best_energy
    return _answer(lowest, best, False, "")


def _minimised(
    document: Document, certified: Proven | None, given: dict[str, Any], improved: Any
) -> dict[str, Any]:
    """Search until the time limit; only a proven or chosen target ends the search earlier.

    Args:
        document: the file as it was read.
        certified: the optimum that its certificate proves.
        given: the given options.
        improved: called with the measure, an improvement and its state; None makes no calls.
    """
    from glasshouse.solvers import minimise

    measure = document.measure
    energy, goal = None, None
    if certified is not None or "target" in given:
        energy, goal = _goal(given.get("target"), document, certified)
    ruled_out = _ruled_out(energy, goal, document, certified)
    if certified is not None and ruled_out:
        energy = certified.verdict.energy  # the search ends there, because no state is better
    result = minimise(
        document.problem,
        time_limit=given.get("time_limit"),
        target=energy,
        rng=given.get("seed"),
        threads=given.get("threads", 1),
        improved=improved and (lambda *found: improved(measure, *found)),
    )
    missed = f"target {goal} was not reached\n" if energy is not None and result.misses else ""
    text = f"{ruled_out or missed}{result.account()}\nseed {result.seed.entropy}"
    answer = _answer(result.energy, result.state, result.is_optimal, text) | {
        "kernel": result.kernel,
        "seed": result.seed.entropy,
        "seconds": result.seconds,
        "stopped": result.ended,
        "seconds_by_method": result.shares,
        "improvements": [
            {"seconds": seconds, measure.name: measure.of(found), "method": method}
            for seconds, found, method in result.improvements
        ],
    }
    return answer if goal is None else answer | {"target": goal}


def _ruled_out(energy: Any, goal: Any, document: Document, certified: Proven | None) -> str:
    """Return a line if the certificate proves that no state reaches the target, otherwise ""."""
    if certified is None or energy is None or energy >= certified.verdict.energy:
        return ""
    optimum = document.measure.of(certified.verdict.exact_energy)
    return f"target {goal} is out of reach: the file's certificate proves {optimum}\n"


def _show_improvement(measure: Measure, improvement: Any, state: Any) -> None:
    """Print a better value at once, with its time, on standard error."""
    value = f"{measure.name} {measure.of(improvement.energy)}"
    print(f"{improvement.seconds:8.2f} s  {value}  {improvement.method}", file=sys.stderr)


def _sampled(
    solver: str, problem: Problem, given: dict[str, Any], offer: Any = None
) -> dict[str, Any]:
    """Return the best state of a sampler's rounds, even after Ctrl-C if a round has finished."""
    from glasshouse.races.samplers import iter_sampled

    limit = given.get("time_limit")
    if limit is None and offer is None:
        raise ValueError(f"--solver {solver} runs until a time limit; add --time-limit")
    best, rounds = None, 0
    try:
        for state in iter_sampled(solver, problem, rng=given.get("seed"), time_limit=limit):
            rounds += 1
            if offer is not None:
                offer(state)
            if best is None or problem.energy(state) < problem.energy(best):
                best = state
    except KeyboardInterrupt:
        if best is None:
            raise
    text = f"{solver}: {rounds} rounds, not shown optimal"
    return _answer(None if best is None else problem.energy(best), best, False, text)


def _exact(
    solver: str, problem: Problem, time_limit: float | None, offer: Any = None
) -> dict[str, Any]:
    """Return the optimum by enumeration, by proof, or by a third-party solver."""
    if solver == "brute":
        from glasshouse.solvers import brute_force

        found = brute_force(problem, keep=1)
        text = f"{found.count} states have it, by enumeration"
        return _answer(found.energy, found.states[0], True, text)
    if solver == "prove":
        from glasshouse.proofs import prove

        proof = prove(problem, time_limit=time_limit, incumbent=offer)
        text = "\n".join(f"{name:<18}{value}" for name, value in proof.work_rows().items())
        how = "optimal, proven" if proof.optimal else "not shown optimal"
        return _answer(proof.energy, proof.state, proof.optimal, f"{how}\n{text}")
    from glasshouse.proofs import solve_exactly

    result = solve_exactly(problem, solver=solver, time_limit=time_limit, incumbent=offer)
    optimal = "optimal" if result.optimal else "not shown optimal within the time limit"
    text = f"{solver}: {optimal}, {result.seconds:.3g} s"
    return _answer(result.energy, result.state, result.optimal, text)


def _answer(energy: Any, state: Any, optimal: bool, text: str) -> dict[str, Any]:
    model = None if state is None else model_of(state)
    values = {"energy": energy, "state": state, "model": model}
    return values | {"optimal": optimal, "text": text}


def _goal(text: str | None, document: Document, certified: Proven | None) -> tuple[Any, Any]:
    """Return the target energy and its text in the file's measure; (None, None) if none is set."""
    from glasshouse.files.text.number_rows import parse_number

    if text is None or text == "planted":
        if certified is not None:
            return certified.verdict.energy, document.measure.of(certified.verdict.exact_energy)
        if text and document.stated_value is None:
            raise ValueError(
                f"{document.path} states no planted {document.measure.name} and has no certificate "
                "of its optimum; use a number for --target, or remove it"
            )
        return document.stated.cost, document.stated_value
    number = parse_number(text.encode())
    if number is None:
        raise ValueError(f"--target {text} is neither a number nor 'planted'")
    return document.measure.energy_of(number), number


@contextmanager
def _progress(measure: Measure) -> Iterator[Any]:
    """Yield a function that shows the best value on a bar; None if there is no terminal."""
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("best {task.fields[best]}"), BarColumn(), TimeRemainingColumn())
    with bar(*columns) as shown:
        task = shown.add_task("solving", total=1.0, best="–")

        def report(state: Any) -> None:
            best = "–" if state.best is None else measure.of(state.best)
            shown.update(task, completed=state.fraction, best=best)

        yield None if shown.disable else report
