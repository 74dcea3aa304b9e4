"""`glasshouse plant fuzz`: one instance of `glasshouse fuzz`, for those who have a fuzzer."""

from __future__ import annotations

from glasshouse.cli import pipes
from glasshouse.cli.output import show_json
from glasshouse.cli.types import Dialect, Force, MaybeWhole, OutputPath


def plant_fuzz(
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
    """Write one small instance that hunts for wrong answers of MaxSAT solvers.

    It is the instance of `glasshouse fuzz` with the same seed and options.

    For instance:

    ```
    glasshouse plant fuzz --seed 7 -o -
    glasshouse plant fuzz --plain -o fuzz.wcnf
    ```

    Args:
        output: the .wcnf file to write; the proof goes beside it (.cert). `-` is standard output,
            with all that is said on standard error.
        seed: a whole number that fixes all randomness; without it every call grows another one.
        dialect: how to write WCNF; drawn by default.
        most_weight: the largest weight of a soft clause, by default 2^63-1; 1 asks for an
            unweighted instance.
        most_total: the largest sum of all soft weights, by default 2^64-2, or 2^63-2 in classic
            files.
        beyond_rules: use weights of 0 and weights of 2^63 or more, too.
        plain: leave out tautologies, empty clauses and other corners of the format.
        json: print one JSON object.
    """
    from glasshouse.files.text.streams import format_suffix, writing
    from glasshouse.fuzzing.drawing import Corners, fuzz_question
    from glasshouse.fuzzing.hunting import write_question
    from glasshouse.fuzzing.question import MOST_TOTAL
    from glasshouse.planting import Seed

    pipes.refuse_json(output, json)
    if not pipes.is_pipe(output) and format_suffix(output) != ".wcnf":
        raise ValueError(f"{output}: these are clauses; name a file that ends in .wcnf")
    drawn = Seed.of(seed).entropy
    total = MOST_TOTAL if most_total is None else most_total
    question = fuzz_question(drawn, Corners(dialect, plain, most_weight, total, beyond_rules))
    beside = None
    if pipes.is_pipe(output):
        with writing(pipes.target(output, "wcnf"), "wcnf") as file:
            file.write(question.text)
    else:
        beside = write_question(output, question, overwrite=force)
    if json:
        files = {"file": output, "certificate": beside}
        show_json({**files, "optimum": question.optimum, "seed": drawn})
        return
    proof = f", proven by {beside}" if beside is not None else ""
    start = "glasshouse" if pipes.is_pipe(output) else output
    pipes.say(f"{start}: optimum {question.optimum}{proof}; seed {drawn}", output)
