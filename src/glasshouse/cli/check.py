"""`glasshouse check`: verify what files and manifests state."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from glasshouse.cli.errors import CheckFailedError
from glasshouse.cli.options import SourceFormat, Units, source
from glasshouse.cli.output import measured, show_json

if TYPE_CHECKING:
    from glasshouse.files import Verification

CHECKER = Path(__file__).parents[1] / "certificates" / "checker.py"


def check(
    *files: Path,
    certificate: Path | None = None,
    units: Units = None,
    folder: Annotated[Path | None, Parameter(name="--instances")] = None,
    answers: Path | None = None,
    format: SourceFormat = None,
    recipe: bool = False,
    verified: bool = False,
    print_checker: bool = False,
    json: bool = False,
) -> None:
    """Verify the optima that files state.

    Nothing that made the files is trusted. A file is checked against the certificate next to it
    (FILE.cert), or its own loops and squares (.npz). A manifest.jsonl is checked line by line. A
    commitment.jsonl is checked against the answers that were published later. Numbers are the
    file's own: the cut of a .mc file, the objective of a .qubo file. Ends with exit code 1 if a
    statement is false or has no proof.

    For instance:

    ```
    glasshouse check inst.wcnf
    glasshouse check inst.wcnf --certificate other.cert
    glasshouse check inst.wcnf --recipe
    glasshouse check inst.wcnf --verified
    glasshouse check suite/manifest.jsonl
    glasshouse check answers/manifest.jsonl --instances suite
    glasshouse check instances/commitment.jsonl --answers answers
    glasshouse check --print-checker > checker.py && python3 checker.py inst.wcnf inst.wcnf.cert
    ```

    Args:
        files: problem files or manifests.
        certificate: the certificate of a single file, if it is not next to the file.
        folder: the folder of the instances that a manifest lists, if it is not the manifest's own.
        answers: the folder of published answers, for a commitment.jsonl.
        recipe: also grow the recipe that a file states, and compare the result with the file. This
            proves the optimum of a file that has no certificate.
        verified: also run the checker that is proven correct in Coq, on .wcnf, .mc, .sparse and
            .hubo files. `make verified` builds it.
        print_checker: print a checker for .wcnf, .mc, .sparse and .hubo files that needs only
            Python, without glasshouse.
        json: print one JSON object per file.
    """
    if print_checker:
        print(CHECKER.read_text(encoding="utf-8"), end="")
        return
    if not files:
        raise ValueError("no FILE to check; name at least one")
    if certificate is not None and len(files) != 1:
        raise ValueError(f"--certificate applies to one file, but {len(files)} files were given")
    for file in files:
        if (file.name == "commitment.jsonl") != (answers is not None):
            raise ValueError(f"{file}: only a commitment.jsonl needs --answers; add or remove it")
        if verified and file.suffix.lower() == ".jsonl":
            raise ValueError(f"--verified applies to problem files, not to {file}")
        if answers is not None:
            _check_commitment(file, answers, json)
        elif file.suffix.lower() == ".jsonl":
            if certificate is not None:
                raise ValueError("--certificate applies to an instance, not to a manifest")
            _check_suite(file, folder, json)
        elif folder is not None:
            raise ValueError(f"--instances applies to a manifest.jsonl, not to {file}")
        else:
            options = {"format": format, "units": units, "recipe": recipe}
            _check_file(file, certificate, json, verified, **options)


def _check_file(
    file: Path, certificate: Path | None, json: bool, verified: bool, **options: Any
) -> None:
    from glasshouse.certificates import CertificateError
    from glasshouse.files import verify_file
    from glasshouse.files.text.errors import printable

    try:
        result = verify_file(source(file, options["format"]), certificate, **options)
    except CertificateError as lie:
        if json:
            show_json({"file": file, "proven": False, "reason": str(lie)})
        raise CheckFailedError(lie) from lie
    also = ""
    if verified and result.proven is not None:
        also = _verified(file, certificate, options["format"], result)
    if json:
        values: dict[str, Any] = {"proven": result.proven is not None, "loops": result.loops,
                                  "squares": result.squares, "leaves": result.leaves}  # fmt: skip
        values |= {"recipe": "grows it"} if options["recipe"] else {}
        values |= {"verified": True} if also else {}
        show_json({"file": file, **measured(result.measure, result.value, result.cost), **values})
    if result.proven is None:
        raise CheckFailedError(f"{file}: {result.summary()}; `glasshouse prove` may find a proof")
    if not json:
        grown = "; its recipe grows it" if options["recipe"] else ""
        print(f"{printable(str(file))}: VERIFIED, {result.summary()}{grown}{also}")


def _verified(
    file: Path, certificate: Path | None, format: str | None, result: Verification
) -> str:
    from glasshouse.cli.verified import run_verified

    found = run_verified(file, certificate, format)
    if found != result.value:
        raise CheckFailedError(f"{file}: the verified checker proves {found}, not {result.value}")
    return "; the verified checker agrees"


def _check_commitment(commitment: Path, answers: Path, json: bool) -> None:
    from glasshouse.files import FileError
    from glasshouse.files.text.errors import printable
    from glasshouse.suites.commitment import iter_check_commitment

    opened, proven = 0, 0
    try:
        for one in iter_check_commitment(commitment, answers):
            opened, proven = opened + 1, proven + (one.bound == one.best)
            if json:
                show_json(one._asdict())
    except FileError as lie:
        raise CheckFailedError(lie) from lie
    if not json:
        bounds = f" ({opened - proven} prove bounds only)" if proven < opened else ""
        name = printable(str(commitment))
        print(f"{name}: VERIFIED, {opened} certificates match their commitments{bounds}")


def _check_suite(manifest: Path, folder: Path | None, json: bool) -> None:
    from glasshouse.files.text.errors import MissingFileError, printable
    from glasshouse.suites import iter_check_suite
    from glasshouse.suites.manifest import read_manifest

    for _ in read_manifest(manifest):  # an unreadable manifest is wrong input, not a false claim
        pass
    lines, gaps = 0, 0
    try:
        for entry in iter_check_suite(manifest, files=folder):
            lines, gaps = lines + 1, gaps + (entry.optimum is None)
            if json:
                known: dict[str, Any] = {
                    "optimum": entry.optimum, "proven": entry.optimum is not None
                }  # fmt: skip
                if entry.optimum is None:
                    known |= {"bound": entry.bound, "best": entry.best}
                if entry.measure is not None:
                    known |= {"measure": entry.measure, entry.measure: entry.measured}
                show_json({"file": entry.file, **known})
    except MissingFileError as missing:
        where = (
            "" if folder is not None else "; use --instances DIR for the folder of the instances"
        )
        raise ValueError(f"{missing}{where}") from missing
    except ValueError as lie:
        raise CheckFailedError(lie) from lie
    if not json:
        bounds = f" ({gaps} with the bounds listed)" if gaps else ""
        name = printable(str(manifest))
        print(f"{name}: VERIFIED, {lines} instances with the optima listed{bounds}")
