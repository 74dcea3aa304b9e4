"""`glasshouse fuzz`: find wrong answers (`run`), shrink a file (`shrink`), write a file (`one`)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from glasshouse.cli.console import bar
from glasshouse.cli.options import (
    Dialect,
    Force,
    MaybeWhole,
    OutputPath,
    Whole,
    command_group,
    is_pipe,
    refuse_json,
    say,
    target,
)
from glasshouse.cli.output import show_json

if TYPE_CHECKING:
    from glasshouse.fuzzing.hunting import Catch, Fault, HandedOver

Clauses = Literal["pairs", "long"] | None

_MOST_REASONS = 3  # why there was no answer, that are shown

fuzz = command_group(
    "fuzz",
    """Search for wrong answers of a MaxSAT solver.

    For instance:

    ```
    glasshouse fuzz run --solver "mysolver {file}" --count 10000 --workers 2
    glasshouse fuzz shrink failing.wcnf --solver "mysolver {file}"
    glasshouse fuzz one --seed 7 -o fuzz.wcnf
    ```
    """,
)


@fuzz.command
def run(
    *,
    solver: str,
    count: Whole = 1000,
    seed: Whole = 1,
    time_limit: float = 10.0,
    shrink_time_limit: float = 60.0,
    output: OutputPath = Path("faults"),
    workers: Whole = 1,
    dialect: Dialect | None = None,
    most_weight: MaybeWhole = None,
    most_total: MaybeWhole = None,
    beyond_rules: bool = False,
    plain: bool = False,
    clauses: Clauses = None,
    strict: bool = False,
    json: bool = False,
) -> int:
    """Search for a MaxSAT solver's wrong answers, using small instances with proven optima.

    Half of the instances have clauses of at most two literals, from all planting methods, with a
    certificate. The others have clauses of any length, hard clauses that may be unsatisfiable, and
    few enough variables that all assignments are enumerated. Both have large weights and corner
    cases of the format, within the rules of the MaxSAT Evaluation. Each kind of fault is shown
    once, on the smallest instance that can be found, with its proof. Exit code 1 if there are
    faults, or if no instance was answered; else 0.

    For instance:

    ```
    glasshouse fuzz run --solver "mysolver --seed {seed} {file}" --count 10000 --workers 2
    glasshouse fuzz run --solver "mysolver {file}" --most-weight 1
    glasshouse fuzz run --solver rc2 --count 2000
    ```

    Args:
        solver: a command, in which {file}, {seed} and {seconds} are replaced (without {file}, the
            file comes last); or one of rc2, rc2-stratified, rc2-stratified-edge, toulbar2, cpsat,
            scip, highs, dwave-tree.
        count: the number of instances.
        seed: the seed of the first instance, or of the first two; later instances have the next
            seeds.
        time_limit: seconds of a run.
        shrink_time_limit: seconds of shrinking one fault.
        output: a folder for the faults; created if there is a fault.
        workers: the number of processes that ask the solver at the same time.
        dialect: the dialect of WCNF; by default both, or the one that the solver understands.
        most_weight: the largest weight of a soft clause, by default 2^63-1; 1 asks for unweighted
            instances.
        most_total: the largest sum of all soft weights, by default 2^64-2, or 2^63-2 in classic
            files.
        beyond_rules: use weights of 0 and weights of 2^63 or more, too.
        plain: leave out tautologies, empty clauses and other corner cases of the format.
        clauses: pairs: only clauses of at most two literals; long: only clauses of any length; by
            default, each seed gives one instance of each kind.
        strict: count a wrong exit code alone as a fault.
        json: print one JSON object.
    """
    from glasshouse.fuzzing.drawing import Corners
    from glasshouse.fuzzing.hunting import Catch, hand_over, hunt, shrunk_fault
    from glasshouse.fuzzing.question import MOST_TOTAL
    from glasshouse.fuzzing.trial import spoken_dialect, trial_of
    from glasshouse.races.running.command import Limits

    total = MOST_TOTAL if most_total is None else most_total
    corners = Corners(dialect, plain, most_weight, total, beyond_rules, clauses)
    trial = trial_of(solver, Limits(seconds=time_limit), strict=strict)
    if output.exists() and not output.is_dir():
        raise ValueError(f"{output} is a file; expected a folder for the faults")
    if dialect is None and (spoken := spoken_dialect(trial)) in ("classic", "mse22"):
        dialect, corners = spoken, replace(corners, dialect=spoken)
        print(f"the solver understands {dialect} files only, so only these are tried; --dialect "
              "overrides this", file=sys.stderr)  # fmt: skip
    catch, found, is_interrupted = Catch(), [], False
    with _progress(count) as show:
        try:
            for tried in hunt(trial, count=count, seed=seed, corners=corners, workers=workers):
                catch.add(tried)
                show(catch)
        except KeyboardInterrupt:
            is_interrupted = True
        for kind, smallest in catch.smallest.items():
            # After Ctrl-C, faults are written without shrinking, so that the user does not wait.
            time = 0.0 if is_interrupted else shrink_time_limit
            drawn = smallest.corners
            fault = shrunk_fault(trial, smallest, kind, catch.times[kind], drawn, time)
            is_interrupted = is_interrupted or fault.is_interrupted
            found.append((fault, hand_over(fault, trial, output, drawn)))
    asked = sum(catch.verdicts.values())
    if json:
        show_json(_values(catch, found, asked, seed))
    else:
        _show(catch, found, asked)
    if is_interrupted:
        raise KeyboardInterrupt(f"{asked} of {count} instances were tried")
    return 1 if found or catch.is_unanswered else 0


def _show(catch: Catch, found: list[tuple[Fault, HandedOver]], asked: int) -> None:
    verdicts = ", ".join(f"{n} {verdict}" for verdict, n in catch.verdicts.most_common())
    print(f"{asked} instance{'s' * (asked != 1)}: {verdicts or 'none tried'}")
    for fault, written in found:
        _show_fault(fault, written, f"seen {fault.times} times; smallest")
    if catch.unanswered:
        print()
    for reason, times in catch.unanswered.most_common(_MOST_REASONS):
        print(f"not answered, {times} times: {reason}")
    if catch.is_unanswered and asked:
        print("no instance was answered, so nothing was tested; check the command, or whether the "
              "solver prints an s line")  # fmt: skip
    elif catch.is_hardly_answered:
        print("most instances got no answer; --dialect, --plain and --most-weight choose files "
              "that more solvers read")  # fmt: skip


def _show_fault(fault: Fault, written: HandedOver, what: str) -> None:
    question = fault.question
    size = f"{len(question.lines)} clauses" + ("" if fault.is_minimal else ", not minimal")
    proof = ", by enumeration" if question.is_decided else ""
    if written.certificate:
        proof = f", proven by {written.certificate}"
    print(f"\n{fault.judgement}")
    print(f"  {what}: {written.file} ({size})")
    print(f"  {question.says}{proof}")
    print(f"  {written.command}")


def _values(
    catch: Catch, found: list[tuple[Fault, HandedOver]], asked: int, seed: int
) -> dict[str, Any]:
    return {
        "instances": asked,
        "first_seed": seed,
        "unanswered": catch.unanswered,
        "answered": asked - catch.unanswered.total(),
        "verdicts": {str(verdict): n for verdict, n in catch.verdicts.items()},
        "faults": [_fault_values(fault, written) for fault, written in found],
    }


def _fault_values(fault: Fault, written: HandedOver) -> dict[str, Any]:
    return {
        "verdict": str(fault.judgement.verdict), "reason": fault.judgement.reason,
        "times": fault.times, "seed": fault.seed, "clauses": len(fault.question.lines),
        "minimal": fault.is_minimal, "optimum": fault.question.optimum,
        "file": written.file, "certificate": written.certificate,
        "report": written.report, "command": written.command,
    }  # fmt: skip


@fuzz.command
def shrink(
    file: Path,
    /,
    *,
    solver: str,
    time_limit: float = 10.0,
    shrink_time_limit: float = 60.0,
    output: OutputPath = Path("faults"),
    strict: bool = False,
    json: bool = False,
) -> int:
    """Shrink a file on which a solver fails, as long as the failure stays the same.

    Clauses and literals are left out and weights lowered, as long as the fault stays the same. To
    find a wrong optimum, the right one is needed: from the certificate next to the file, from all
    assignments of up to 24 variables, or, for clauses of two literals, from a proof. Crashes,
    invalid models and malformed output need no optimum. Exit code 1 if there is a fault; else 0.

    For instance:

    ```
    glasshouse fuzz shrink failing.wcnf --solver "mysolver {file}"
    glasshouse fuzz shrink failing.wcnf.xz --solver "mysolver {file}" --shrink-time-limit 600
    ```

    Args:
        file: a .wcnf or .cnf file, also compressed; it is not changed.
        solver: as for `glasshouse fuzz run`.
        time_limit: seconds of a run.
        shrink_time_limit: seconds of shrinking.
        output: a folder for the fault; created if there is a fault.
        strict: count a wrong exit code alone as a fault.
        json: print one JSON object.
    """
    from glasshouse.fuzzing.drawing import DEFAULT
    from glasshouse.fuzzing.hunting import hand_over, shrunk_file
    from glasshouse.fuzzing.trial import trial_of
    from glasshouse.races.running.command import Limits

    if output.exists() and not output.is_dir():
        raise ValueError(f"{output} is a file; expected a folder for the fault")
    trial = trial_of(solver, Limits(seconds=time_limit), strict=strict)
    fault, judgement = shrunk_file(trial, file, shrink_time_limit)
    if fault is None:
        values: dict[str, Any] = {"verdict": str(judgement.verdict), "reason": judgement.reason}
        show_json({"file": file, "fault": None, **values}) if json else print(
            f"{file}: no fault to shrink: {judgement}"
        )
        return 0
    written = hand_over(fault, trial, output, DEFAULT)
    if json:
        show_json({"file": file, "fault": _fault_values(fault, written)})
    else:
        _show_fault(fault, written, "smallest")
    if fault.is_interrupted:
        raise KeyboardInterrupt("shrinking was stopped before its end")
    return 1


@contextmanager
def _progress(count: int) -> Iterator[Any]:
    """Yield a function that updates a bar with the number of faults."""
    with bar() as shown:
        task = shown.add_task("asking", total=count)

        def show(catch: Catch) -> None:
            faults = sum(catch.times.values())
            text = f"asking, {faults} fault{'s' * (faults != 1)}" if faults else "asking"
            done = sum(catch.verdicts.values())
            shown.update(task, completed=done, description=text if done < count else "shrinking")

        yield show


@fuzz.command
def one(
    *,
    output: OutputPath,
    seed: MaybeWhole = None,
    dialect: Dialect | None = None,
    most_weight: MaybeWhole = None,
    most_total: MaybeWhole = None,
    beyond_rules: bool = False,
    plain: bool = False,
    clauses: Clauses = None,
    force: Force = False,
    json: bool = False,
) -> None:
    """Write one small instance that tests MaxSAT solvers for wrong answers.

    It is the instance of `glasshouse fuzz run` with the same seed and options.

    For instance:

    ```
    glasshouse fuzz one --seed 7 -o -
    glasshouse fuzz one --plain -o fuzz.wcnf
    ```

    Args:
        output: the .wcnf file to write; the proof is written next to it (.cert). `-` is standard
            output; messages then go to standard error.
        seed: an integer that fixes all randomness; without it, every call draws another instance.
        dialect: the dialect of WCNF; by default drawn at random.
        most_weight: the largest weight of a soft clause, by default 2^63-1; use 1 for unweighted
            instances.
        most_total: the largest sum of all soft weights, by default 2^64-2, or 2^63-2 in classic
            files.
        beyond_rules: use weights of 0 and weights of 2^63 or more, too.
        plain: leave out tautologies, empty clauses and other corner cases of the format.
        clauses: pairs (the default): clauses of at most two literals, with a proof; long: clauses
            of any length, without a proof.
        json: print one JSON object.
    """
    from glasshouse.files.text.streams import format_suffix, writing
    from glasshouse.fuzzing.drawing import Corners, fuzz_question
    from glasshouse.fuzzing.hunting import write_question
    from glasshouse.fuzzing.question import MOST_TOTAL
    from glasshouse.planting import Seed

    refuse_json(output, json)
    if not is_pipe(output) and format_suffix(output) != ".wcnf":
        raise ValueError(f"{output}: the instance has clauses; name a file that ends in .wcnf")
    drawn = Seed.of(seed).entropy
    total = MOST_TOTAL if most_total is None else most_total
    corners = Corners(dialect, plain, most_weight, total, beyond_rules, clauses or "pairs")
    question = fuzz_question(drawn, corners)
    beside = None
    if is_pipe(output):
        with writing(target(output, "wcnf"), "wcnf") as file:
            file.write(question.text)
    else:
        beside = write_question(output, question, overwrite=force)
    if json:
        files = {"file": output, "certificate": beside}
        show_json({**files, "optimum": question.optimum, "seed": drawn})
        return
    proof = f", proven by {beside}" if beside is not None else ""
    if question.certificate is None:
        proof = ", by enumeration"
    start = "glasshouse" if is_pipe(output) else output
    say(f"{start}: {question.says}{proof}; seed {drawn}", output)
