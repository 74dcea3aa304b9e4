"""The promises of every target: a valid value or our own one-line error, within time and memory.

Any exception that leaves a target is a broken promise.
"""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

Result = TypeVar("Result")

# A target's function takes the input and a folder, which it may use for files of several calls. It
# returns whether the input was accepted, and raises if a promise is broken.
Run = Callable[[bytes, Path], bool]

LONGEST_MESSAGE = 1_000
MOST_SECONDS = 5.0
# The largest growth of peak memory. Inputs are far smaller, even when they are unpacked.
MOST_BYTES = 256 << 20
# The largest growth of the address space, so that no input can exhaust the computer's memory.
MOST_ADDRESSES = 1 << 30

_PROCESS = Path("/proc/self/statm")


class BrokenPromiseError(AssertionError):
    """Raised if a value or a message breaks a promise."""


class TooSlowError(BaseException):
    """Raised if an input takes too long; not an Exception, so that no reader catches it."""


class TooLargeError(BaseException):
    """Raised if an input takes too much memory; not an Exception, so that no reader catches it."""


def attempt(
    refusals: tuple[type[ValueError], ...], call: Callable[..., Result], *values: Any
) -> tuple[Result | None, ValueError | None]:
    """Return a call's result, or its error if that is an allowed error with a one-line message.

    A plain ValueError is allowed only if it is listed, and then without its subclasses, because a
    UnicodeDecodeError is not our error.
    """
    try:
        return call(*values), None
    except ValueError as refusal:
        ours = tuple(kind for kind in refusals if kind is not ValueError)
        if not isinstance(refusal, ours) and not (
            type(refusal) is ValueError and ValueError in refusals
        ):
            raise
        require_one_line(str(refusal))
        return None, refusal


def or_refused(
    refusals: tuple[type[ValueError], ...], call: Callable[..., Result], *values: Any
) -> Result | None:
    """Return a call's result, or None if it raises one of the allowed errors."""
    return attempt(refusals, call, *values)[0]


def require_one_line(message: str) -> None:
    """Raise if an error message is empty, too long, or more than one line."""
    if not message.strip() or len(message.splitlines()) > 1 or len(message) > LONGEST_MESSAGE:
        raise BrokenPromiseError(f"not one short line: {message[:200]!r} (length {len(message)})")


def require(condition: bool, otherwise: str) -> None:
    """Raise unless a condition is true, like an assert that -O does not remove."""
    if not condition:
        raise BrokenPromiseError(otherwise)


def keep_promises(run: Run, data: bytes, folder: Path) -> bool:
    """Run a target on one input, and raise if it breaks a promise."""
    before = _peak_bytes()
    with _hurried(), warnings.catch_warnings():
        warnings.filterwarnings("error", module="glasshouse")  # NumPy's warnings of overflows
        warnings.filterwarnings("ignore", category=UserWarning)  # our own warnings
        accepted = run(data, folder)
    grown = _peak_bytes() - before
    if grown > MOST_BYTES:
        raise TooLargeError(f"{len(data)} bytes took {grown >> 20} MB")
    return accepted


def limit_addresses() -> None:
    """Let allocations far beyond the current memory of this process fail with a MemoryError."""
    import resource  # not available on all systems

    if not _PROCESS.exists():
        return  # only Linux reports the memory of a process
    used = int(_PROCESS.read_text().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST_ADDRESSES, hard))


@contextmanager
def _hurried() -> Iterator[None]:
    """Raise TooSlowError in Python code that takes too long; compiled code is not interrupted."""

    def interrupt(*_: object) -> None:
        raise TooSlowError(f"took more than {MOST_SECONDS} s")

    # Virtual time, because libFuzzer uses the other alarm, and because the computer may be busy.
    previous = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)


def _peak_bytes() -> int:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10
