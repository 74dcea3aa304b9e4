"""`glasshouse solve`: find the best state of a problem."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from glasshouse.cli import clock
from glasshouse.cli.errors import CheckFailedError, FalseClaimError, false_claim
from glasshouse.cli.evaluation import Contest
from glasshouse.cli.options import MaybeWhole, SourceFormat, Units, source
from glasshouse.cli.output import measured, show, show_json, standard_line, standard_values
from glasshouse.cli.searches import HEURISTICS, MINIMISE, certified_by, contender, samplers, search

if TYPE_CHECKING:
    from glasshouse.certificates import Proven
    from glasshouse.files import Document
    from glasshouse.problems import Max2Sat, MaxSat, Measure


def _known_solver(_type: Any, tokens: Sequence[Any]) -> str:
    """Parse the name of a solver; the catalogues of solvers are loaded only when needed."""
    from glasshouse.proofs.exact import EXACT_SOLVERS, OURS
    from glasshouse.races.samplers import SAMPLERS

    name: str = tokens[0].value
    known = (*OURS, *EXACT_SOLVERS, *SAMPLERS)
    if name not in known:
        raise ValueError(f"{name} is not one of {', '.join(known)}")
    return name


# Options of single runs: with one of them, annealing is used even with a time limit.
_OF_RUNS = ("runs", "sweeps", "check")

Solver = Annotated[str | None, Parameter(converter=_known_solver)]


def solve(
    file: Path,
    /,
    *,
    solver: Solver = None,
    runs: MaybeWhole = None,
    sweeps: MaybeWhole = None,
    target: str | None = None,
    check: Literal["sweep", "flip"] | None = None,
    time_limit: float | None = None,
    threads: MaybeWhole = None,
    seed: MaybeWhole = None,
    format: SourceFormat = None,
    maxsat_output: bool = False,
    units: Units = None,
    json: bool = False,
) -> int:
    """Find the best state of any problem.

    Anneals by default; --solver chooses another heuristic or an exact solver.

    With a time limit and no solver, the whole time is used: annealing, refining and tempering share
        it according to what they find. Each better value is printed with its time on standard
        error.

    Numbers are the file's own: the cut of a .mc file, the objective of a .qubo file. If the optimum
    is known, from the certificate next to the file or from the file itself, success probability and
    time to solution (TTS99) are measured against it. A certificate is verified first. An optimum
    that is only stated is not trusted; if the answer shows that it is false, the exit code is 3.
    Ctrl-C shows the best state so far of anneal, temper, minimise and prove; it ends other solvers.

    For instance:

    ```
    glasshouse solve G11.mc --time-limit 30
    glasshouse solve inst.wcnf --runs 256
    glasshouse solve inst.wcnf --solver temper --target planted --time-limit 10
    glasshouse solve G11.mc --target 564 --check flip --threads 2
    glasshouse solve inst.wcnf --solver rc2-stratified --maxsat-output
    xzcat old.wcnf.xz | glasshouse solve - --format wcnf
    ```

    Args:
        file: any problem file.
        solver: anneal (simulated annealing, the default without a time limit), temper (parallel
            tempering), minimise (both, and recombined populations of states; the default with a
            time limit unless --runs, --sweeps or --check is given), brute (enumeration), prove (the
            cycle LP), or an installed third-party solver or sampler, for example highs or
            dwave-tabu; an unknown name prints the list. Samplers continue until the time limit. rc2
            is PySAT's RC2 with default options, rc2-stratified its RC2Stratified, far faster on
            weights that differ.
        runs: independent runs, 64 by default (anneal), or 16 of about 64 replicas each (temper).
        sweeps: sweeps per run (anneal, temper), 1000 by default.
        target: the cut, objective, cost or energy to search for (anneal, temper, minimise), or the
            word planted; by default the optimum that is certified or, except for minimise, stated.
            minimise ends as soon as it has reached the target.
        check: test for the target at the end of each sweep, the default, or after every flip
            (anneal).
        time_limit: seconds, after which the best state so far is shown (all except brute). anneal
            and temper end with their runs, if that is sooner. minimise uses all of the time, unless
            it reaches the target, or satisfies every coupling and field. Compilation does not
            count. With --maxsat-output, everything counts: the limit is the wall time of the whole
            process, from its start to its end.
        threads: the number of threads (anneal, temper, minimise). The result of anneal and temper
            does not depend on it.
        seed: an integer that fixes all randomness (anneal, temper, minimise, samplers), except for
            what a time limit cuts off. The clock decides when the methods of minimise take turns.
        maxsat_output: print o, s and v lines as in the MaxSAT Evaluation, and end with its exit
            codes: 30 optimum found, 20 unsatisfiable, 10 satisfiable, 0 unknown. The best model so
            far is also printed after SIGTERM and Ctrl-C, or s UNKNOWN if there is none. anneal and
            temper then work in rounds of 16, 32, … sweeps, up to --sweeps; with only a time limit,
            until it ends them.
        json: print one JSON object.
    """
    from glasshouse.files import read_document
    from glasshouse.problems import Max2Sat, MaxSat
    from glasshouse.problems.hard_clauses import HardClausesUnsatisfiableError

    options: dict[str, Any] = {
        "runs": runs, "sweeps": sweeps, "target": target, "check": check, "seed": seed,
        "threads": threads, "time_limit": time_limit,
    }  # fmt: skip
    given = {name: value for name, value in options.items() if value is not None}
    if solver is None:
        is_minimising = "time_limit" in given and not any(name in given for name in _OF_RUNS)
        solver = MINIMISE if is_minimising else "anneal"
    _refuse_ignored(solver, given)
    if solver == MINIMISE and not (maxsat_output or "time_limit" in given or "target" in given):
        raise ValueError("--solver minimise runs until a time limit; add --time-limit")
    if maxsat_output:
        clock.end_in_time(time_limit)
    document = read_document(source(file, format), format=format, units=units)
    problem = document.problem
    if maxsat_output:
        return _contest(solver, document, given)
    if isinstance(problem, Max2Sat) and problem.num_hard and not _is_satisfiable(problem):
        raise CheckFailedError(f"{file}: the hard clauses are unsatisfiable")
    certified = certified_by(document)
    try:
        answer = search(solver, document, certified, given, quiet=json)
    except HardClausesUnsatisfiableError:
        raise CheckFailedError(f"{file}: the hard clauses are unsatisfiable") from None
    value = document.value_of(answer.pop("state"))
    answer = measured(document.measure, value, answer["energy"]) | answer
    if isinstance(problem, (Max2Sat, MaxSat)) and problem.num_hard:
        answer["broken_hard_clauses"] = _broken(problem, answer["model"])
    lie = ""
    if not answer.get("broken_hard_clauses"):
        lie = false_claim(document, answer["energy"], answer["optimal"])
    if json:
        answer |= _known(document, certified) | {"false_claim": bool(lie)}
        answer["optimal"] |= certified is not None and answer["energy"] == certified.verdict.energy
        answer |= {"labels": problem.labels, **standard_values(document)}
        answer.pop("text")
        show_json({"file": str(file), "solver": solver, **answer})
    else:
        _show(document.measure, answer, certified)
        for line in standard_line(document):
            print(line)
    if lie:
        raise FalseClaimError(f"{file}: {lie}")
    return 0


def _contest(solver: str, document: Document, given: dict[str, Any]) -> int:
    """Answer by the rules of the MaxSAT Evaluation."""
    from glasshouse.problems import Max2Sat, MaxSat

    problem = document.problem
    if not isinstance(problem, (Max2Sat, MaxSat)):
        raise ValueError(f"--maxsat-output needs clauses, but {document.path} has {problem!r}")
    contest = Contest(document, problem)

    def compete() -> tuple[Any, bool]:
        with clock.search(given.get("time_limit")) as left:
            rest = {} if left is None else {"time_limit": left}
            return contender(solver, document, given | rest, contest.offer)

    return contest.run(compete)


def _refuse_ignored(solver: str, given: dict[str, Any]) -> None:
    """Refuse an option that the solver would ignore."""
    for name in given:
        takers: tuple[str, ...] = ("anneal",) if name == "check" else HEURISTICS
        if name not in _OF_RUNS:
            takers = (*takers, MINIMISE)
        if name == "seed":
            takers = (*takers, *samplers())
        is_taken, who = solver in takers, f"use it with {', '.join(takers)}"
        if name == "time_limit":
            is_taken, who = solver != "brute", "use it with any other solver"
        if not is_taken:
            raise ValueError(f"--{name.replace('_', '-')} is invalid for --solver {solver}; {who}")


def _known(document: Document, certified: Proven | None) -> dict[str, Any]:
    """Return what the file and its certificate state about the optimum."""
    return {
        "stated_optimum": document.stated_value,
        "stated_energy": document.stated.cost,
        "certified_optimum": certified and document.measure.of(certified.verdict.exact_energy),
        "certified_energy": certified and certified.verdict.energy,
    }


def _show(measure: Measure, answer: dict[str, Any], certified: Proven | None) -> None:
    """Print the answer, the value in the file's measure first."""
    show([(measure.name, answer[measure.name])])
    if not measure.is_energy:
        show([("energy", answer["energy"])])
    show([("model", answer["model"])])
    if answer.get("broken_hard_clauses"):
        print(f"the assignment violates {answer['broken_hard_clauses']} hard clauses")
    elif certified and measure.of(certified.verdict.exact_energy) == answer[measure.name]:
        print("this is the optimum, by the file's certificate")
    print(answer["text"])


def _is_satisfiable(problem: Max2Sat) -> bool:
    """Whether an assignment satisfies all hard clauses."""
    from glasshouse.problems.hard_clauses import HardClausesUnsatisfiableError, satisfy

    try:
        satisfy(problem.num_variables, problem.hard)
    except HardClausesUnsatisfiableError:
        return False
    return True


def _broken(problem: Max2Sat | MaxSat, model: str) -> int:
    import numpy as np

    return int(problem.broken(np.frombuffer(model.encode(), dtype=np.uint8) - 48))
