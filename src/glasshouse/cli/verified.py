"""The verified checker: a program built from verified/, which `check --verified` runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from glasshouse.cli.errors import CheckFailedError
from glasshouse.cli.options import is_pipe
from glasshouse.files import FORMATS, FileError, side_car
from glasshouse.files.text.streams import format_suffix, opened, refuse_pipe, typed_name

PROGRAM = "glasshouse-verified"
VARIABLE = "GLASSHOUSE_VERIFIED"
READ = (".wcnf", ".mc", ".sparse", ".hubo")
_BUILT = Path(__file__).parents[3] / "build" / "verified" / PROGRAM


def find_program() -> str:
    """Return the path of the verified checker, or raise a ValueError with build instructions."""
    found = os.environ.get(VARIABLE) or shutil.which(PROGRAM) or (_BUILT.exists() and str(_BUILT))
    if not found:
        raise ValueError(
            f"{PROGRAM} is not installed; build it with `make verified`, then add it to PATH "
            f"or set {VARIABLE} to its path"
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
    if is_pipe(file) or (suffix in FORMATS and suffix not in READ):
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
        try:
            done = subprocess.run(
                [find_program(), *paths], capture_output=True, text=True, check=False
            )
        except OSError as cause:
            raise FileError(Path(find_program()), f"cannot be run ({cause.strerror})") from None
    line = done.stdout.strip()
    if done.returncode != 0 or not line.startswith("VERIFIED optimum "):
        reason = line or f"it ended with exit code {done.returncode}"
        raise CheckFailedError(f"{file}: the verified checker does not accept it: {reason}")
    return int(line.split()[-1])
