"""`glasshouse solve`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from glasshouse.cli.claims import false_claim
from glasshouse.cli.errors import CheckFailedError, FalseClaimError
from glasshouse.cli.output import model_of, show, show_json
from glasshouse.cli.pipes import source
from glasshouse.cli.types import MaybeWhole, Units, Whole

if TYPE_CHECKING:
    from glasshouse.files import Document
    from glasshouse.problems import Max2Sat, Problem

Solver = Literal["anneal", "temper", "brute", "prove", "rc2", "toulbar2", "scip", "highs"]


def solve(
    file: Path,
    /,
    *,
    solver: Solver = "anneal",
    runs: Whole = 64,
    sweeps: Whole = 1000,
    target: str | None = None,
    check: Literal["sweep", "flip"] = "sweep",
    time_limit: float | None = None,
    threads: Whole = 1,
    seed: MaybeWhole = None,
    format: str | None = None,
    maxsat_output: bool = False,
    units: Units = None,
    json: bool = False,
) -> None:
    """Find a state of low energy, or the optimum by an exact solver.

    Where the file states a planted cost, success probability and time to solution (TTS99) are
    measured against it; what is stated is not believed, and where the answer shows that it is
    false, the exit code is 3. Ctrl-C shows the best so far.

    For instance:

    ```
    glasshouse solve inst.wcnf --runs 256
    glasshouse solve inst.wcnf --solver temper --target planted --time-limit 10
    glasshouse solve spins.coo --target -420 --check flip --threads 2
    glasshouse solve inst.wcnf --solver rc2 --maxsat-output
    xzcat old.wcnf.xz | glasshouse solve - --format wcnf
    ```

    Args:
        file: any problem file.
        solver: simulated annealing, parallel tempering, all states one by one, the cycle LP, or
            somebody else's exact solver where it is installed.
        runs: independent runs (anneal, temper).
        sweeps: sweeps of a run (anneal, temper).
        target: an energy or cost to look for, or the word planted; the stated one by default.
        check: look for the target at the end of each sweep, or after every flip.
        time_limit: seconds, after which the best so far is shown.
        threads: how many work at the same time; the result does not depend on it.
        seed: a whole number that fixes all randomness.
        format: the format of `-` (standard input), or of a file whose suffix does not tell it.
        maxsat_output: print o, s and v lines as in the MaxSAT Evaluation.
        units: what the units of a matrix are (.npy, .csv, .npz of W, a, b), which does not say it:
            ±1, or 0 and 1.
        json: print one JSON object.
    """
    from glasshouse.files import read_document
    from glasshouse.problems import Max2Sat

    document = read_document(source(file, format), format=format, units=units)
    if maxsat_output and not isinstance(document.problem, Max2Sat):
        raise ValueError(f"--maxsat-output is for clauses; {file} holds {document.problem!r}")
    goal = _target(target, document, file)
    if isinstance(document.problem, Max2Sat) and not _is_satisfiable(document.problem):
        if maxsat_output:
            print("s UNSATISFIABLE")
        raise CheckFailedError(f"{file}: the hard clauses are unsatisfiable")
    if solver in ("anneal", "temper"):
        options = {
            "runs": runs, "sweeps": sweeps, "target": goal, "check": check, "rng": seed,
            "threads": threads, "time_limit": time_limit,
        }  # fmt: skip
        answer = _heuristic(solver, document.problem, options)
    else:
        answer = _exact(solver, document.problem, time_limit)
    if isinstance(document.problem, Max2Sat) and document.problem.num_hard:
        answer["broken_hard_clauses"] = _broken(document.problem, answer["model"])
    lie = ""
    if not answer.get("broken_hard_clauses"):
        lie = false_claim(document, answer["energy"], answer["optimal"])
    if maxsat_output:
        _show_maxsat(answer)
    elif json:
        answer |= {"stated_optimum": document.metadata.planted_cost, "false_claim": bool(lie)}
        answer |= {"labels": document.problem.labels}
        answer.pop("text")
        show_json({"file": str(file), "solver": solver, **answer})
    else:
        name = "cost" if isinstance(document.problem, Max2Sat) else "energy"
        show([(name, answer["energy"]), ("model", answer["model"])])
        if answer.get("broken_hard_clauses"):
            print(f"this assignment breaks {answer['broken_hard_clauses']} hard clauses")
        print(answer["text"])
    if lie:
        raise FalseClaimError(f"{file}: this file's claim is false: {lie}")


def _target(text: str | None, document: Document, file: Path) -> Any:
    """The energy to look for: as given, as stated in the file, or none."""
    from glasshouse.files.notes import parse_number

    stated = document.metadata.planted_cost
    if text is None or (text == "planted" and stated is not None):
        return stated
    if text == "planted":
        raise ValueError(f"{file} states no planted cost; give --target an energy, or leave it out")
    number = parse_number(text.encode())
    if number is None:
        raise ValueError(f"--target {text} is neither a number nor the word planted")
    return number


def _heuristic(solver: str, problem: Problem, options: dict[str, Any]) -> dict[str, Any]:
    from glasshouse import solvers

    run: Any = solvers.anneal
    if solver == "temper":
        run = solvers.temper
        if options.pop("check") == "flip":
            raise ValueError("--check flip is for annealing; tempering looks at the end of sweeps")
    with _progress() as progress:
        result = run(problem, **options, progress=progress)
    answer = _answer(result.best_energy, result.best_state, False, result.summary()) | {
        "runs": result.runs,
        "sweeps": result.sweeps,
        "kernel": result.kernel,
        "seconds": result.seconds,
        "stopped": result.stopped,
    }
    if options["target"] is not None and result.complete.any():
        tts = result.tts()
        answer |= {
            "target": options["target"],
            "check": result.check,
            "success_probability": result.success_probability,
            "tts99_seconds": tts.value,
            "tts99_interval": [tts.low, None if tts.is_bound else tts.high],
            "tts99_is_bound": tts.is_bound,
            "tts99_is_upper_bound": tts.is_upper_bound,
        }
    return answer


def _exact(solver: Solver, problem: Problem, time_limit: float | None) -> dict[str, Any]:
    """The optimum by enumeration, by proof, or by somebody else's solver."""
    if solver == "brute":
        from glasshouse.solvers import brute_force

        if time_limit is not None:
            raise ValueError("--time-limit is not for --solver brute, which looks at every state")
        found = brute_force(problem, keep=1)
        return _answer(found.energy, found.states[0], True, found.summary())
    if solver == "prove":
        from glasshouse.proofs import prove

        proof = prove(problem, time_limit=time_limit)
        return _answer(proof.energy, proof.state, proof.optimal, proof.summary())
    from glasshouse.proofs.oracles import solve_exactly

    result = solve_exactly(problem, solver=solver, time_limit=time_limit)  # type: ignore[arg-type]
    if result.state is None:
        raise ValueError(f"{solver} found no state within the time limit; give it more time")
    optimal = "optimal" if result.optimal else "not shown optimal within the time limit"
    text = f"{solver}: {optimal}, {result.seconds:.3g} s"
    return _answer(result.energy, result.state, result.optimal, text)


def _answer(energy: Any, state: Any, optimal: bool, text: str) -> dict[str, Any]:
    return {"energy": energy, "model": model_of(state), "optimal": optimal, "text": text}


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


def _show_maxsat(answer: dict[str, Any]) -> None:
    """Result lines of the MaxSAT Evaluation: only an exact solver claims the optimum."""
    if answer.get("broken_hard_clauses"):
        print("s UNKNOWN")
        return
    print(f"o {answer['energy']}")
    print("s OPTIMUM FOUND" if answer["optimal"] else "s SATISFIABLE")
    print(f"v {answer['model']}")


@contextmanager
def _progress() -> Iterator[Any]:
    """A bar with the best energy so far, where there is a terminal to see it."""
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
            best = "–" if state.best is None else state.best
            bar.update(task, completed=state.fraction, best=best)

        yield report
