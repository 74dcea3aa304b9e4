"""Consoles as they are: output that survives one without UTF-8, or that nobody reads any more."""

from __future__ import annotations

import codecs
import errno
import os
import sys

# What our texts hold beyond ASCII, as one would type it there.
_TYPED = {"×": "x", "·": "*", "→": "->", "≤": "<=", "≥": ">=", "±": "+-", "–": "-", "…": "...",
          "β": "beta", "ρ": "rho", "α": "alpha", "μ": "mu", "σ": "sigma", "Σ": "Sum", "√": "sqrt",
          "•": "*", "─": "-", "│": "|"}  # fmt: skip


def survive() -> None:
    """Replace characters that the console cannot show; printing them would be an error."""
    codecs.register_error("glasshouse", _replaced)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="glasshouse")


def flush() -> None:
    """Write out what was printed; a reader that went away is a BrokenPipeError on every system."""
    try:
        sys.stdout.flush()
    except OSError as error:
        hush()  # Python would try again while it shuts down, and change the exit code
        if error.errno == errno.EINVAL:  # how Windows says it
            raise BrokenPipeError from None
        raise


def hush() -> None:
    """Say nothing more on standard output, also not while Python shuts down."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _replaced(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    unknown = error.object[error.start : error.end]
    return "".join(_TYPED.get(character, "?") for character in unknown), error.end
