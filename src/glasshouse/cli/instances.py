"""Output of planted instances, and the output options that all `plant` commands share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import Parameter

from glasshouse.cli.console import planting
from glasshouse.cli.errors import CheckFailedError
from glasshouse.cli.options import (
    Dialect,
    Force,
    MaybeOutputPath,
    MaybeWhole,
    is_pipe,
    refuse_json,
    say,
    target,
)
from glasshouse.cli.output import show_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from glasshouse.certificates import Proven
    from glasshouse.files import Written
    from glasshouse.planting import Planted


@Parameter(name="*")
@dataclass(frozen=True)
class Output:
    """The files that instances are written to, and how much of the plant they contain.

    Attributes:
        seed: an integer that fixes all randomness; without it, every call grows another instance.
        output: the file to write; its suffix is the format. The proof is written next to it
            (.cert). `-` is standard output; messages then go to standard error. With --count, a
            folder.
        count: the number of instances; -o is then a folder, which also gets a manifest.jsonl.
        format: the format of a suite's files, by its suffix: npz, qubo, wcnf.xz, … (wcnf by
            default); or the format of `-`, or of a file without a known suffix.
        certificate: the file of the proof of one instance, even of a blind one; `-` has none
            without this option, but its comments contain the recipe.
        dialect: the dialect of WCNF: classic (`p wcnf` header), or that of the MaxSAT Evaluation
            2022.
        blind: write nothing about the plant into the files (a suite's manifest still has it).
        answers: another folder for manifest, optima and certificates of a blind suite.
        shuffle: give variables random names and clauses a random order.
        json: print one JSON object per instance.
    """

    seed: MaybeWhole = None
    output: MaybeOutputPath = None
    count: MaybeWhole = None
    format: str | None = None
    certificate: Path | None = None
    dialect: Dialect = "classic"
    blind: bool = False
    answers: Path | None = None
    shuffle: bool = False
    force: Force = False
    json: bool = False


def write_instances(grow: Callable[[Any], Planted], stem: str, output: Output) -> None:
    """Write one instance to a file (or print only its summary), or a suite to a folder."""
    from glasshouse.planting import Seed, shuffle

    _refuse_contradictions(output)
    seed = Seed.of(output.seed)
    finish = shuffle if output.shuffle else (lambda planted: planted)
    if output.count is None:
        _one(finish(grow(seed)), output)
    else:
        _suite((finish(grow(seed.child(k))) for k in range(output.count)), stem, output)


def _refuse_contradictions(output: Output) -> None:
    if output.count is not None and (output.output is None or is_pipe(output.output)):
        raise ValueError("--count needs a folder for the instances; add -o DIR")
    if output.count is not None and output.count < 1:
        raise ValueError(f"--count {output.count} is below 1; use at least 1")
    refuse_json(output.output, output.json)
    if output.answers is not None and not (output.blind and output.count is not None):
        raise ValueError("--answers needs a suite of blind files; add --count, -o DIR and --blind")
    if output.count is not None and output.certificate is not None:
        raise ValueError(
            "--certificate applies to one instance; a suite has its proofs next to its files"
        )
    if output.output is None:
        idle = {"--blind": output.blind, "--force": output.force,
                "--format": output.format, "--certificate": output.certificate,
                "--dialect": output.dialect != "classic"}  # fmt: skip
        for option, given in idle.items():
            if given:
                raise ValueError(f"{option} applies to files, but no file is written; add -o FILE")


def _one(planted: Planted, output: Output) -> None:
    from glasshouse.certificates import CertificateError
    from glasshouse.files import write
    from glasshouse.files.text.errors import printable

    summary, seed, path = planted.summary(), planted.recipe.seed.entropy, output.output
    written, cost = None, None
    if path is not None:
        written = write(
            target(path, output.format), planted, format=output.format,
            dialect=output.dialect, blind=output.blind, certificate=output.certificate,
            overwrite=output.force,
        )  # fmt: skip
        cost = written.reduction.target_energy(planted.energy)
    beside = None if written is None else written.certificate
    try:
        proven = None if path is None or beside is None else _read_back(path, beside, output.format)
        if proven is None:
            _ = planted.proven  # raises if the plant is false
    except CertificateError as lie:
        raise CheckFailedError(f"{lie}; this is a bug in glasshouse; please report it") from lie
    if proven is not None and proven.verdict.energy != cost:
        found = proven.verdict.energy
        raise CheckFailedError(f"{path}: {beside} proves {found}, but the planted energy is {cost}")
    optimum, own = _own_words(path, written, cost)
    if output.json:
        files = {"file": path, "certificate": beside, "optimum": cost, **own}
        show_json({**files, **vars(summary), "seed": seed})
        return
    how = "its certificate is" if proven is None else "proven by"
    proof = f", {how} {beside}" if beside is not None else ""
    if is_pipe(path):
        say(f"glasshouse: {optimum}{proof}; seed {seed}", path)
        return
    print(summary)
    print(f"seed {seed}")
    if path is None:
        print("nothing was written; use -o FILE to write the instance")
    else:
        print(printable(f"{path}: {optimum}{proof}"))


def _read_back(path: Path, beside: Path, format: str | None) -> Proven | None:
    """Read the written files, and return what they prove; None for pipes and write-only formats."""
    from glasshouse.files import verify_file
    from glasshouse.files.formats import format_of

    if is_pipe(path) or format_of(path, format).read is None:
        return None
    return verify_file(path, beside, format=format).proven


def _own_words(path: Path | None, written: Written | None, cost: Any) -> tuple[str, dict[str, Any]]:
    """Return the optimum as text, and JSON values if the file's measure is not the energy."""
    if written is None or is_pipe(path) or written.measure.name in ("energy", "cost"):
        return f"optimum {cost}", {}
    name, value = written.measure.name, written.measure.of(cost)
    return f"optimum {name} {value} (energy {cost})", {f"optimum_{name}": value}


def _suite(instances: Iterator[Planted], stem: str, output: Output) -> None:
    from glasshouse.suites.writing import iter_write_suite

    assert output.output is not None
    entries = iter_write_suite(
        output.output, instances, stem=stem, suffix="." + (output.format or "wcnf").lstrip("."),
        dialect=output.dialect, blind=output.blind, answers=output.answers, overwrite=output.force,
    )  # fmt: skip
    for entry in planting(entries, output.count):
        if output.json:
            show_json(entry)
    if not output.json:
        manifest = (output.answers or output.output) / "manifest.jsonl"
        print(f"{output.output}: {output.count} instances; their optima are in {manifest}")
