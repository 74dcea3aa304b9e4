"""`glasshouse suite`: list and write suites."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from glasshouse.cli.console import planting
from glasshouse.cli.errors import StudyFileError
from glasshouse.cli.options import Dialect, MaybeWhole, OutputPath, command_group
from glasshouse.cli.output import show_json

if TYPE_CHECKING:
    from glasshouse.suites.suite_file import SuiteFile

suite = command_group(
    "suite",
    """Write suites of blind instances, with separate answers.

    For instance:

    ```
    glasshouse suite write smoke -o smoke
    glasshouse suite list
    ```
    """,
)


@suite.command(name="list")
def list_suites(source: str | None = None, /, *, json: bool = False) -> None:
    """Show the suites that come with glasshouse, or the families of one suite.

    For instance:

    ```
    glasshouse suite list
    glasshouse suite list smoke
    ```

    Args:
        source: the name of a suite, or a TOML file; all suites by default.
        json: print one JSON object per suite.
    """
    from glasshouse.suites.suite_file import find_suite, ready_made

    if source is not None:
        _show_families(_found(source, None, None), json)
        return
    for name in ready_made():
        _show(find_suite(name), json)
    _show_standard(json)


@suite.command
def write(
    source: str,
    /,
    *,
    output: OutputPath,
    answers: Path | None = None,
    commit: bool = False,
    count: MaybeWhole = None,
    seed: MaybeWhole = None,
    format: Annotated[tuple[str, ...], Parameter(consume_multiple=False, show_default=False)] = (),
    dialect: Dialect = "classic",
    json: bool = False,
) -> None:
    """Write a suite of blind instances to race on, with separate answers.

    DIR/instances can be published. DIR/answers contains the optima, the certificates and everything
    that grows the suite again. The same command resumes after an interruption. Nothing is
    overwritten.

    For instance:

    ```
    glasshouse suite write smoke -o smoke
    glasshouse suite write my-suite.toml -o mine --format qubo --format coo
    glasshouse suite write peak -o contest --answers secret --commit
    glasshouse check secret/manifest.jsonl --instances contest/instances
    glasshouse check contest/instances/commitment.jsonl --answers secret
    ```

    Args:
        source: the name of a suite (`glasshouse suite list`), or a TOML file.
        output: a folder for the suite.
        answers: another folder for the answers.
        commit: also write hashes that commit to the certificates without revealing them, to publish
            now; and grow from a fresh random seed, unless --seed is given.
        count: the number of instances per family and grid point, instead of the file's number.
        seed: an integer that fixes all randomness, instead of the file's.
        format: the format of further files in addition to wcnf, by its suffix; repeat it for each
            format.
        dialect: the dialect of WCNF: classic (`p wcnf` header), or that of the MaxSAT Evaluation
            2022.
        json: print one JSON object per file.
    """
    from glasshouse.suites.folder import SuiteFolder, iter_build_suite

    total = len(_found(source, count, seed)) * (1 + len(format))
    entries = iter_build_suite(
        source, output, answers=answers, is_committed=commit, count=count, seed=seed,
        formats=format, dialect=dialect,
    )  # fmt: skip
    files, open_ones = 0, 0
    for entry in planting(entries, total):
        files, open_ones = files + 1, open_ones + (entry.optimum is None)
        if json:
            show_json(entry)
    if json:
        return
    place = SuiteFolder(output, answers)
    left = f" ({open_ones} with bounds only)" if open_ones else ""
    print(f"{place.instances}: {files} blind files; their optima{left} are in {place.manifest}")
    if commit:
        print(f"{place.instances / 'commitment.jsonl'} can be published now, {place.answers} later")


def _found(source: str, count: int | None, seed: int | None) -> SuiteFile:
    """Return the suite; error messages about its file contain the file's keys, not options."""
    from glasshouse.suites.standard import standard_families
    from glasshouse.suites.suite_file import find_suite

    if count is not None and count < 1:
        raise ValueError(f"--count {count} is below 1; use at least 1")
    if source in standard_families():
        raise ValueError(
            f"{source} consists of files that glasshouse does not have; race on your copies with "
            f"`glasshouse race run --suite {source} --instances DIR`"
        )
    try:
        return find_suite(source, count=count, seed=seed)
    except ValueError as error:
        raise StudyFileError(error) from error


def _show(suite: SuiteFile, json: bool) -> None:
    if json:
        show_json({"name": suite.name, "instances": len(suite), "title": suite.title})
    else:
        print(f"{suite.name:<16}{len(suite):>4} instances  {suite.title}")


def _show_standard(json: bool) -> None:
    """Print the families of standard instances, which need the user's own files."""
    from glasshouse.suites.standard import standard_families

    title = "standard instances; race run --instances DIR names the folder of your files"
    for name, number in standard_families().items():
        if json:
            show_json({"name": name, "instances": number, "title": title})
        else:
            print(f"{name:<16}{number:>4} instances  {title}")


def _show_families(suite: SuiteFile, json: bool) -> None:
    _show(suite, json)
    if json:
        return
    for family in suite.families:
        print(f"{family.count:>16}  {family.name(0).removesuffix('#0')}")
    print(f"`glasshouse suite write {suite.name} -o DIR` writes the suite")
