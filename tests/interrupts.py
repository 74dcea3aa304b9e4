"""Ctrl-C as compiled code raises it, and as a separate process handles it."""

from __future__ import annotations

import sys

from tests.children import run

from glasshouse import stopping


def compiled_ctrl_c() -> SystemError:
    """Ctrl-C while compiled code returns its result: Numba raises one or two SystemErrors."""
    inner = SystemError("a result with an exception set")
    inner.__cause__ = KeyboardInterrupt()
    outer = SystemError("a result with an exception set")
    outer.__cause__ = inner
    return outer


def is_stop_waiting() -> bool:
    """Whether a signal waits for the end of the block that the main thread is in."""
    return stopping._open is not None and bool(stopping._open.came)


def assert_heard(script: str) -> None:
    """A script that sends itself Ctrl-C must report it and end well."""
    ended = run([sys.executable, "-c", script])
    assert (ended.returncode, ended.stdout) == (0, "heard\n"), ended.stderr
