"""The verified checker: a program that is built from verified/ and run by `check --verified`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from glasshouse.cli.errors import CheckFailedError
from glasshouse.cli.options import is_pipe
from glasshouse.files import FORMATS, FileError, side_car
from glasshouse.files.reading import format_by_content
from glasshouse.files.text.streams import format_suffix, opened, refuse_pipe, typed_name
from glasshouse.pool import starting

PROGRAM = "glasshouse-verified"
VARIABLE = "GLASSHOUSE_VERIFIED"
READ = (".wcnf", ".mc", ".sparse", ".hubo")
_MOST_ANSWERED = 2000  # bytes that are read of an answer
_BUILT = Path(__file__).parents[3] / "build" / "verified" / PROGRAM


def find_program() -> str:
    """Return the path of the verified checker, or raise a ValueError with build instructions."""
    found = os.environ.get(VARIABLE) or shutil.which(PROGRAM) or (_BUILT.exists() and str(_BUILT))
    if not found:
        raise ValueError(
            f"{PROGRAM} is not installed; install Debian's coq, ocaml-findlib and "
            "libzarith-ocaml-dev, build it with `make verified` in the repository, then add it to "
            f"PATH or set {VARIABLE} to its path"
        )
    return found


def run_verified(file: Path, certificate: Path | None, format: str | None) -> int:
    """Return the optimum that the verified checker proves, or raise a CheckFailedError.

    The program reads plain files in four formats, so it gets unpacked copies.

    Args:
        file: the problem file.
        certificate: the path of its certificate; None for the one next to it.
        format: the name of the file's format; None if the suffix gives it.
    """
    suffix = format_suffix(typed_name(file, format))
    if suffix not in FORMATS and not is_pipe(file):
        suffix = format_by_content(file).suffix
    if is_pipe(file) or suffix not in READ:
        raise ValueError(
            f"{file}: the verified checker reads {', '.join(READ)} files; create one of them with "
            "`glasshouse convert`"
        )
    refuse_pipe(file)
    beside = side_car(file) if certificate is None else certificate
    with tempfile.TemporaryDirectory(prefix="glasshouse-") as folder:
        paths = [Path(folder, f"problem{suffix}"), Path(folder, "proof.cert")]
        for path, original in zip(paths, (file, beside), strict=True):
            with opened(original) as source:
                path.write_bytes(source.read_all())
        said, code = _answer(find_program(), paths)
    found = re.fullmatch(rb"VERIFIED optimum (-?[0-9]{1,40})\n", said)
    if code != 0 or found is None:
        reason = said.decode("ascii", "backslashreplace").strip().partition("\n")[0]
        reason = reason[:200] if reason and code in (0, 1, 2) else f"it ended with exit code {code}"
        raise CheckFailedError(f"{file}: the verified checker rejects this file: {reason}")
    return int(found[1])


def _answer(program: str, paths: list[Path]) -> tuple[bytes, int]:
    """Return what the program prints, errors included, and its exit code.

    A program that prints too much is killed, and so is one that still runs when Ctrl-C is pressed.
    """
    process = None
    try:
        with starting():
            process = subprocess.Popen(
                [program, *paths],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        assert process.stdout is not None
        said = process.stdout.read(_MOST_ANSWERED)
        if len(said) < _MOST_ANSWERED:
            process.wait()
    except OSError as cause:
        raise FileError(Path(program), f"cannot be run ({cause.strerror})") from None
    finally:
        if process is not None and process.stdout is not None:
            process.kill()
            process.wait()
            process.stdout.close()
    return said, process.returncode
