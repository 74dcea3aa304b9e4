"""`glasshouse library`: the standard instances of the field, and what is proven about them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from glasshouse.cli.errors import CheckFailedError
from glasshouse.cli.options import Force, SourceFormat, Units, command_group, say, source, target
from glasshouse.cli.output import show_json, standard_values

if TYPE_CHECKING:
    from glasshouse.library import Instance, Recognition
    from glasshouse.problems.measure import Measure

library = command_group(
    "library",
    """List the standard instances of the field, or recognise one.

    For instance:

    ```
    glasshouse library
    glasshouse library --family biqmac:rudy --open
    glasshouse library --csv instances.csv
    glasshouse library check G62.txt
    ```
    """,
)


@library.default
def list_instances(
    *,
    family: str | None = None,
    proven: bool = False,
    open_only: Annotated[bool, Parameter(name="--open")] = False,
    csv: Path | None = None,
    force: Force = False,
    json: bool = False,
) -> None:
    """List the standard instances of the field, or recognise one.

    Each row has the best value that glasshouse found and a bound that no value passes. An instance
    is proven if both are equal, and then its certificate was accepted by the stand-alone checker.
    --json and --csv also contain the SHA-256 of the instance and of its certificate.

    Args:
        family: only instances of this family, such as gset, dimacs, biqmac or biqmac:rudy.
        proven: only instances whose optimum is proven.
        open_only: only instances whose optimum is not proven.
        csv: write the rows to a CSV file, or to standard output for `-`.
        json: print one JSON object per instance.
    """
    from glasshouse.files.text.streams import writing
    from glasshouse.library.table import instances, rows_of

    if proven and open_only:
        raise ValueError("--proven and --open cannot be combined; use one of them")
    if csv is not None and json:
        raise ValueError("--csv and --json print the same rows; use one of them")
    known = {k.family for k in instances()}
    if family is not None and not any(k.is_of(family) for k in instances()):
        raise ValueError(
            f"--family {family} has no instances; use one of {', '.join(sorted(known))}"
        )
    chosen = [
        k for k in instances()
        if (family is None or k.is_of(family)) and (not proven or k.proven)
        and not (open_only and k.proven)
    ]  # fmt: skip
    if csv is not None:
        with writing(target(csv, "csv"), "csv", overwrite=force) as file:
            file.write(rows_of(chosen).encode())
        say(f"{csv}: {len(chosen)} instances", csv)
        return
    for k in chosen:
        if json:
            show_json(_values(k))
        else:
            print(_row(k))
    if not json:
        number = sum(k.proven for k in chosen)
        print(f"{len(chosen)} instances, {number} of them proven")


@library.command
def check(
    file: Path, /, *, format: SourceFormat = None, units: Units = None, json: bool = False
) -> None:
    """Recognise a standard instance by its content, and print what is known about its optimum.

    Neither the name of the file, nor its format, nor the order of its terms matters. The numbering
    of the variables does. Ends with exit code 1 if the file is not one of the standard instances.

    For instance:

    ```
    glasshouse library check G62.txt
    glasshouse library check be100.1.sparse --json
    ```

    Args:
        file: any problem file.
        json: print one JSON object.
    """
    from glasshouse.files import read_document
    from glasshouse.library import instances, recognise

    document = read_document(source(file, format), format=format, units=units)
    found = recognise(document.problem)
    if json:
        whole = None if found is None else _values(found.instance)
        show_json({"file": file, **standard_values(document), "instance": whole})
    if found is None:
        raise CheckFailedError(
            f"{file}: this is not one of the {len(instances())} standard instances"
        )
    if not json:
        print(_known(found, document.measure))


def _known(found: Recognition, measure: Measure) -> str:
    """Return one line with the value, bound and certificate of an instance."""
    k = found.instance
    best = f"the {k.sense} is {k.value}, proven {k.date}" if k.proven else (
        f"the {k.sense} found is {k.value}; no value passes {k.bound}, proven {k.date}"
    )  # fmt: skip
    own = found.value_in(measure)
    in_file = "" if own == k.value else f"; in this file, {measure.name} {own}"
    return f"{k.name}: {best}{in_file}; certificate {k.certificate} ({k.size} bytes)"


def _row(k: Instance) -> str:
    verdict = "proven" if k.proven else f"bound {k.bound}"
    best = f"{k.sense} {k.value}"
    return f"{k.name:<18}{k.family:<16}{k.variables:>6}{k.edges:>7}  {best:<28}{verdict}"


def _values(k: Instance) -> dict[str, object]:
    """Return the columns of the table, except for those that only recognition needs."""
    values = {name: value for name, value in vars(k).items() if name != "scale"}
    return values | {"proven": k.proven}
