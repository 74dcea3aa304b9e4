"""The script that draws charts: Vega, Vega-Lite and Vega-Embed, from the vl-convert wheel.

The wheel does not contain the script as a file: it makes the text in V8, which reserves about 100
GB of address space and ends the whole process if a limit (`ulimit -v`) forbids that. So V8 is
started in its own process, and the page gets tables instead of charts if that fails.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import cache

from glasshouse.extras import optional

_FETCH = "import sys, vl_convert; sys.stdout.buffer.write(vl_convert.javascript_bundle().encode())"
_PATIENCE = 600.0  # seconds; three are usual
_LONGEST_REASON = 200


def library() -> str:
    """Return the script that draws charts; it depends only on the version of vl-convert.

    Raises:
        MissingPackageError: vl-convert is not installed.
        OSError: the script cannot be fetched.
    """
    optional("vl_convert", "a report page")
    bundle = _fetched()
    if "</script" in bundle.lower() or "<!--" in bundle:
        raise ValueError(
            "the charts' script cannot be put into a page; use another version of vl-convert-python"
        )
    return bundle


@cache
def _fetched() -> str:
    places = os.pathsep.join(filter(None, sys.path))
    try:
        run = subprocess.run(
            [sys.executable, "-c", _FETCH], stdin=subprocess.DEVNULL, capture_output=True,
            env=os.environ | {"PYTHONPATH": places}, timeout=_PATIENCE, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise OSError(_failure(f"gave no answer within {_PATIENCE:g} s")) from None
    if run.returncode:
        raise OSError(_failure(_end(run.returncode, run.stderr)))
    return run.stdout.decode()


def _failure(what: str) -> str:
    return (
        f"the process that fetches the script of the charts {what}; V8 needs about 100 GB of "
        "address space; use `ulimit -v unlimited`"
    )


def _end(code: int, errors: bytes) -> str:
    """Return how the process that fetches the script ended, as text for an error message."""
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    reason = lines[-1][:_LONGEST_REASON] if lines else "no reason given"
    return f"failed ({reason})"
