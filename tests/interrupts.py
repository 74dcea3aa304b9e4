"""Tools for tests of Ctrl-C, in compiled code and in separate processes."""

from __future__ import annotations

import sys

from tests.children import run

from glasshouse import stopping


def compiled_ctrl_c() -> SystemError:
    """Return the nested SystemErrors that Numba raises for Ctrl-C while compiled code returns."""
    inner = SystemError("a result with an exception set")
    inner.__cause__ = KeyboardInterrupt()
    outer = SystemError("a result with an exception set")
    outer.__cause__ = inner
    return outer


def is_stop_waiting() -> bool:
    """Return whether a signal waits for the end of the main thread's current block."""
    return stopping._open is not None and bool(stopping._open.came)


def assert_heard(script: str) -> None:
    """Assert that a script that sends itself Ctrl-C reports the signal and ends normally."""
    ended = run([sys.executable, "-c", script])
    assert (ended.returncode, ended.stdout) == (0, "heard\n"), ended.stderr
