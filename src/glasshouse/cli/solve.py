"""`glasshouse solve`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from glasshouse.cli import clock
from glasshouse.cli.claims import false_claim
from glasshouse.cli.errors import CheckFailedError, FalseClaimError
from glasshouse.cli.evaluation import Contest
from glasshouse.cli.output import measured, model_of, show, show_json
from glasshouse.cli.pipes import source
from glasshouse.cli.types import MaybeWhole, Units

if TYPE_CHECKING:
    from glasshouse.certificates import Verdict
    from glasshouse.files import Document
    from glasshouse.problems import Max2Sat, Problem
    from glasshouse.problems.measure import Measure

_HEURISTIC = ("anneal", "temper")


def _known_solver(_type: Any, tokens: Sequence[Any]) -> str:
    """One of our own, or one of the catalogues, which are not loaded before somebody solves."""
    from glasshouse.proofs.exact import EXACT_SOLVERS, OURS
    from glasshouse.races.rounds import SAMPLERS

    name: str = tokens[0].value
    known = (*OURS, *EXACT_SOLVERS, *SAMPLERS)
    if name not in known:
        raise ValueError(f"{name} is not one of {', '.join(known)}")
    return name


Solver = Annotated[str, Parameter(converter=_known_solver)]


def solve(
    file: Path,
    /,
    *,
    solver: Solver = "anneal",
    runs: MaybeWhole = None,
    sweeps: MaybeWhole = None,
    target: str | None = None,
    check: Literal["sweep", "flip"] | None = None,
    time_limit: float | None = None,
    threads: MaybeWhole = None,
    seed: MaybeWhole = None,
    format: str | None = None,
    maxsat_output: bool = False,
    units: Units = None,
    json: bool = False,
) -> int:
    """Find the best state of any problem, by annealing or by an exact solver.

    Numbers are the file's own: the cut of a .mc file, the objective of a .qubo file. Where the
    optimum is known, from the certificate beside the file or from the file itself, success
    probability and time to solution (TTS99) are measured against it. A certificate is verified
    first. What is only stated is not believed; where the answer shows that it is false, the exit
    code is 3. Ctrl-C shows the best so far of anneal, temper and prove, and ends the others.

    For instance:

    ```
    glasshouse solve inst.wcnf --runs 256
    glasshouse solve inst.wcnf --solver temper --target planted --time-limit 10
    glasshouse solve G11.mc --target 564 --check flip --threads 2
    glasshouse solve inst.wcnf --solver rc2-stratified --maxsat-output
    xzcat old.wcnf.xz | glasshouse solve - --format wcnf
    ```

    Args:
        file: any problem file.
        solver: anneal (simulated annealing), temper (parallel tempering), brute (enumeration),
            prove (the cycle LP), or somebody else's exact solver or sampler where it is installed,
            for example highs or dwave-tabu; a wrong name lists all of them. Samplers go on until
            the time limit. rc2 is PySAT's RC2 as it comes, rc2-stratified
            its RC2Stratified, far faster on weights that differ.
        runs: independent runs, 64 by default (anneal), or 16 of about 64 replicas each (temper).
        sweeps: sweeps of a run (anneal, temper), 1000 by default.
        target: the cut, objective, cost or energy to look for (anneal, temper), or the word
            planted; by default the optimum that is certified or stated.
        check: look for the target at the end of each sweep, the default, or after every flip
            (anneal).
        time_limit: seconds, after which the best so far is shown (all but brute). With
            --maxsat-output, of the whole command.
        threads: how many work at the same time (anneal, temper); the result does not depend on it.
        seed: a whole number that fixes all randomness (anneal, temper, samplers), but for what a
            time limit cuts off.
        format: the format of `-` (standard input), or of a file whose suffix does not tell it.
        maxsat_output: print o, s and v lines as in the MaxSAT Evaluation, and end with its exit
            codes: 30 optimum found, 20 unsatisfiable, 10 satisfiable, 0 unknown. The best model so
            far is given after SIGTERM and Ctrl-C, too. anneal and temper then work in rounds of
            16, 32, … sweeps, up to --sweeps; with a time limit alone, until it ends them.
        units: what the units of a matrix are (.npy, .csv, .npz of W, a, b), which does not say it:
            ±1, or 0 and 1.
        json: print one JSON object.
    """
    from glasshouse.files import read_document
    from glasshouse.problems import Max2Sat

    options: dict[str, Any] = {
        "runs": runs, "sweeps": sweeps, "target": target, "check": check, "seed": seed,
        "threads": threads, "time_limit": time_limit,
    }  # fmt: skip
    given = {name: value for name, value in options.items() if value is not None}
    _refuse_ignored(solver, given)
    document = read_document(source(file, format), format=format, units=units)
    problem = document.problem
    if maxsat_output:
        if not isinstance(problem, Max2Sat):
            raise ValueError(f"--maxsat-output is for clauses; {file} holds {problem!r}")
        if time_limit is not None:
            given["time_limit"] = clock.seconds_left(time_limit)
        contest = Contest(document, problem)
        return contest.run(lambda: _contender(solver, document, given, contest.offer))
    if isinstance(problem, Max2Sat) and not _is_satisfiable(problem):
        raise CheckFailedError(f"{file}: the hard clauses are unsatisfiable")
    certified = _certified(document)
    if solver in _HEURISTIC:
        answer = _heuristic(solver, document, certified, given)
    elif solver in _samplers():
        answer = _sampled(solver, problem, given)
    else:
        answer = _exact(solver, problem, time_limit)
        if answer["state"] is None:
            raise ValueError(f"{solver} found no state within the time limit; give it more time")
    value = document.value_of(answer.pop("state"))
    answer = measured(document.measure, value, answer["energy"]) | answer
    if isinstance(problem, Max2Sat) and problem.num_hard:
        answer["broken_hard_clauses"] = _broken(problem, answer["model"])
    lie = ""
    if not answer.get("broken_hard_clauses"):
        lie = false_claim(document, answer["energy"], answer["optimal"])
    if json:
        answer |= _known(document, certified) | {"false_claim": bool(lie)}
        answer["optimal"] |= certified is not None and answer["energy"] == certified.energy
        answer |= {"labels": problem.labels}
        answer.pop("text")
        show_json({"file": str(file), "solver": solver, **answer})
    else:
        _show(document.measure, answer, certified)
    if lie:
        raise FalseClaimError(f"{file}: this file's claim is false: {lie}")
    return 0


def _refuse_ignored(solver: str, given: dict[str, Any]) -> None:
    """Refuse an option that the solver would not look at."""
    for name in given:
        takers: tuple[str, ...] = ("anneal",) if name == "check" else _HEURISTIC
        if name == "seed":
            takers = (*takers, *_samplers())
        is_taken, who = solver in takers, f"these take it: {', '.join(takers)}"
        if name == "time_limit":
            is_taken, who = solver != "brute", "all others take it"
        if not is_taken:
            raise ValueError(f"--{name.replace('_', '-')} is not for --solver {solver}; {who}")


def _samplers() -> tuple[str, ...]:
    from glasshouse.races.rounds import SAMPLERS

    return tuple(SAMPLERS)


def _certified(document: Document) -> Verdict | None:
    """The optimum that a certificate proves; one that proves nothing is named and left alone."""
    from glasshouse.certificates import CertificateError
    from glasshouse.files import FileError
    from glasshouse.files.verification import certified_optimum

    try:
        return certified_optimum(document)
    except (CertificateError, FileError) as fault:
        print(f"glasshouse: no certified optimum: {fault}", file=sys.stderr)
        return None


def _known(document: Document, certified: Verdict | None) -> dict[str, Any]:
    """What the file and its certificate say about the optimum."""
    return {
        "stated_optimum": document.stated_value,
        "stated_energy": document.metadata.planted_cost,
        "certified_optimum": certified and document.measure.of(certified.exact_energy),
        "certified_energy": certified and certified.energy,
    }


def _show(measure: Measure, answer: dict[str, Any], certified: Verdict | None) -> None:
    """The answer for a person, the file's own number first."""
    show([(measure.name, answer[measure.name])])
    if not measure.is_energy:
        show([("energy", answer["energy"])])
    show([("model", answer["model"])])
    if answer.get("broken_hard_clauses"):
        print(f"this assignment breaks {answer['broken_hard_clauses']} hard clauses")
    elif certified is not None and measure.of(certified.exact_energy) == answer[measure.name]:
        print("this is the optimum, by the file's certificate")
    print(answer["text"])


def _goal(text: str | None, document: Document, certified: Verdict | None) -> tuple[Any, Any]:
    """The energy to look for, and its name in the file's own words; None twice for none."""
    from glasshouse.files.notes import parse_number

    if text is None or text == "planted":
        if certified is not None:
            return certified.energy, document.measure.of(certified.exact_energy)
        if text and document.stated_value is None:
            raise ValueError(
                f"{document.path} states no planted {document.measure.name} and has no certificate "
                "of one; give --target a number, or leave it out"
            )
        return document.metadata.planted_cost, document.stated_value
    number = parse_number(text.encode())
    if number is None:
        raise ValueError(f"--target {text} is neither a number nor the word planted")
    return document.measure.energy_of(number), number


def _heuristic(
    solver: str, document: Document, certified: Verdict | None, options: dict[str, Any]
) -> dict[str, Any]:
    from glasshouse import solvers

    energy, goal = _goal(options.pop("target", None), document, certified)
    options["rng"] = options.pop("seed", None)
    run: Any = solvers.anneal if solver == "anneal" else solvers.temper
    with _progress(document.measure) as progress:
        result = run(document.problem, target=energy, **options, progress=progress)
    text = f"found {result.account(goal)}"
    answer = _answer(result.best_energy, result.best_state, False, text) | {
        "runs": result.runs,
        "sweeps": result.sweeps,
        "kernel": result.kernel,
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
        tts = result.tts()
        answer |= {
            "target": goal,
            "check": result.check,
            "success_probability": result.success_probability,
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
    """Annealing or tempering with more and more sweeps, each round's best offered."""
    from glasshouse import solvers
    from glasshouse.solvers.rounds import iter_rounds

    options = dict(given)
    energy, _ = _goal(options.pop("target", None), document, _certified(document))
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


def _sampled(
    solver: str, problem: Problem, given: dict[str, Any], offer: Any = None
) -> dict[str, Any]:
    """The best of a sampler's rounds; also after Ctrl-C, if there was one."""
    from glasshouse.races.rounds import iter_sampled

    limit = given.get("time_limit")
    if limit is None and offer is None:
        raise ValueError(f"--solver {solver} goes on until a time limit; give --time-limit")
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
    """The optimum by enumeration, by proof, or by somebody else's solver."""
    if solver == "brute":
        from glasshouse.solvers import brute_force

        found = brute_force(problem, keep=1)
        text = f"{found.count} states have it, by enumeration"
        return _answer(found.energy, found.states[0], True, text)
    if solver == "prove":
        from glasshouse.proofs import prove

        proof = prove(problem, time_limit=time_limit)
        text = "\n".join(f"{name:<18}{value}" for name, value in proof.work_rows().items())
        how = "optimal, proven" if proof.optimal else "not shown optimal"
        return _answer(proof.energy, proof.state, proof.optimal, f"{how}\n{text}")
    from glasshouse.proofs import solve_exactly

    result = solve_exactly(problem, solver=solver, time_limit=time_limit, incumbent=offer)
    optimal = "optimal" if result.optimal else "not shown optimal within the time limit"
    text = f"{solver}: {optimal}, {result.seconds:.3g} s"
    return _answer(result.energy, result.state, result.optimal, text)


def _contender(
    solver: str, document: Document, given: dict[str, Any], offer: Any
) -> tuple[Any, bool]:
    """A model, None where none was found, and whether it is optimal; better ones are offered."""
    try:
        if solver in _HEURISTIC:
            answer = _in_rounds(solver, document, given, offer)
        elif solver in _samplers():
            answer = _sampled(solver, document.problem, given, offer)
        else:
            answer = _exact(solver, document.problem, given.get("time_limit"), offer)
    except ValueError as refusal:
        if refusal.__cause__ is not None:  # it did not refuse, it failed
            raise
        print(f"glasshouse: {refusal}", file=sys.stderr)
        return None, False
    state, is_optimal = answer["state"], bool(answer["optimal"])
    lie = "" if state is None else false_claim(document, answer["energy"], is_optimal)
    if lie:
        print(f"glasshouse: {document.path}: this file's claim is false: {lie}", file=sys.stderr)
    return state, is_optimal


def _answer(energy: Any, state: Any, optimal: bool, text: str) -> dict[str, Any]:
    model = None if state is None else model_of(state)
    values = {"energy": energy, "state": state, "model": model}
    return values | {"optimal": optimal, "text": text}


def _is_satisfiable(problem: Max2Sat) -> bool:
    """Whether some assignment satisfies all hard clauses."""
    from glasshouse.proofs import HardClausesUnsatisfiableError
    from glasshouse.proofs.two_sat import satisfy

    try:
        satisfy(problem.num_variables, problem.hard)
    except HardClausesUnsatisfiableError:
        return False
    return True


def _broken(problem: Max2Sat, model: str) -> int:
    import numpy as np

    return int(problem.broken(np.frombuffer(model.encode(), dtype=np.uint8) - 48))


@contextmanager
def _progress(measure: Measure) -> Iterator[Any]:
    """A bar with the best number so far, where there is a terminal to see it."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (TextColumn("best {task.fields[best]}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("solving", total=1.0, best="–")

        def report(state: Any) -> None:
            best = "–" if state.best is None else measure.of(state.best)
            bar.update(task, completed=state.fraction, best=best)

        yield report
