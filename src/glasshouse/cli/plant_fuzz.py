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
        most_weight: what soft weights may add up to, 2^64-2 by default.
        plain: leave out weights of 0, tautologies, empty clauses and other corners of the format.
        json: print one JSON object.
    """
    from glasshouse.files.streams import format_suffix, writing
    from glasshouse.planting import Seed
    from glasshouse.races.fuzzing import Corners, fuzz_question
    from glasshouse.races.handing_over import write_question
    from glasshouse.races.question import MOST_WEIGHT

    pipes.refuse_json(output, json)
    if not pipes.is_pipe(output) and format_suffix(output) != ".wcnf":
        raise ValueError(f"{output}: these are clauses; name a file that ends in .wcnf")
    drawn = Seed.of(seed).entropy
    most = MOST_WEIGHT if most_weight is None else most_weight
    question = fuzz_question(drawn, Corners(dialect, plain, most))
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
