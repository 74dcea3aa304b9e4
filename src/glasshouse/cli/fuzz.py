"""`glasshouse fuzz`: `run` searches for wrong answers, `one` writes one instance."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

_MOST_REASONS = 3  # reasons for missing answers that are shown

fuzz = command_group(
    "fuzz",
    """Search for wrong answers of a MaxSAT solver.

    For instance:

    ```
    glasshouse fuzz run --solver "mysolver {file}" --count 10000 --workers 2
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
    strict: bool = False,
    json: bool = False,
) -> int:
    """Search for wrong answers of a MaxSAT solver, with small instances of proven optimum.

    The instances come from all planting methods, with hard clauses, large weights and the corner
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
        seed: the seed of the first instance; instance k uses seed + k.
        time_limit: seconds per run.
        shrink_time_limit: seconds for shrinking one fault.
        output: a folder for the faults, created if there are any.
        workers: the number of processes that ask the solver at the same time.
        dialect: the dialect of WCNF; by default both, or the one that the solver understands.
        most_weight: the largest weight of a soft clause, by default 2^63-1; use 1 for unweighted
            instances.
        most_total: the largest sum of all soft weights, by default 2^64-2, or 2^63-2 in classic
            files.
        beyond_rules: also use weights of 0 and weights of 2^63 or more.
        plain: leave out tautologies, empty clauses and other corner cases of the format.
        strict: count a wrong exit code alone as a fault.
        json: print one JSON object.
    """
    from glasshouse.fuzzing.drawing import Corners
    from glasshouse.fuzzing.hunting import Catch, hand_over, hunt, shrunk_fault
    from glasshouse.fuzzing.question import MOST_TOTAL
    from glasshouse.fuzzing.trial import spoken_dialect, trial_of
    from glasshouse.races.running.command import Limits

    total = MOST_TOTAL if most_total is None else most_total
    corners = Corners(dialect, plain, most_weight, total, beyond_rules)
    trial = trial_of(solver, Limits(seconds=time_limit), strict=strict)
    if output.exists() and not output.is_dir():
        raise ValueError(f"{output} is a file; expected a folder for the faults")
    if dialect is None and (spoken := spoken_dialect(trial)) in ("classic", "mse22"):
        dialect, corners = spoken, replace(corners, dialect=spoken)
        print(f"the solver understands {dialect} files only, so only these are tried; --dialect "
              "decides", file=sys.stderr)  # fmt: skip
    catch, found, is_interrupted = Catch(), [], False
    with _progress(count) as show:
        try:
            for tried in hunt(trial, count=count, seed=seed, corners=corners, workers=workers):
                catch.add(tried)
                show(catch)
        except KeyboardInterrupt:
            is_interrupted = True
        for kind, smallest in catch.smallest.items():
            # After Ctrl-C the user does not want to wait: faults are written without shrinking.
            time = 0.0 if is_interrupted else shrink_time_limit
            fault = shrunk_fault(trial, smallest, kind, catch.times[kind], corners, time)
            is_interrupted = is_interrupted or fault.is_interrupted
            found.append((fault, hand_over(fault, trial, output, corners)))
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
        question = fault.question
        size = f"{len(question.lines)} clauses" + ("" if fault.is_minimal else ", not minimal")
        print(f"\n{fault.judgement}")
        print(f"  seen {fault.times} times; smallest: {written.file} ({size})")
        proof = f"proven by {written.certificate}" if written.certificate else "by enumeration"
        print(f"  optimum {question.optimum}, {proof}")
        print(f"  {written.command}")
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


def _values(
    catch: Catch, found: list[tuple[Fault, HandedOver]], asked: int, seed: int
) -> dict[str, Any]:
    return {
        "instances": asked,
        "first_seed": seed,
        "unanswered": catch.unanswered,
        "answered": asked - catch.unanswered.total(),
        "verdicts": {str(verdict): n for verdict, n in catch.verdicts.items()},
        "faults": [
            {
                "verdict": str(fault.judgement.verdict), "reason": fault.judgement.reason,
                "times": fault.times, "seed": fault.seed, "clauses": len(fault.question.lines),
                "minimal": fault.is_minimal, "optimum": fault.question.optimum,
                "file": written.file, "certificate": written.certificate,
                "report": written.report, "command": written.command,
            }
            for fault, written in found
        ],
    }  # fmt: skip


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
        beyond_rules: also use weights of 0 and weights of 2^63 or more.
        plain: leave out tautologies, empty clauses and other corner cases of the format.
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
    question = fuzz_question(drawn, Corners(dialect, plain, most_weight, total, beyond_rules))
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
    start = "glasshouse" if is_pipe(output) else output
    say(f"{start}: optimum {question.optimum}{proof}; seed {drawn}", output)
