"""What every target promises: a good value, or one of our own errors in one line; soon, and small.

A broken promise is whatever exception leaves a target, with the input that did it.
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

# A target's function: the input, and a folder that it may fill and find filled again. It returns
# whether the input was taken for good; what breaks a promise, it raises.
Run = Callable[[bytes, Path], bool]

LONGEST_MESSAGE = 1_000
MOST_SECONDS = 5.0
# Peak memory above what the process had before. Inputs are far smaller, and unpack to less.
MOST_BYTES = 256 << 20
# Beyond this an allocation fails: no input may take the machine down, whatever it finds.
MOST_ADDRESSES = 1 << 30

_PROCESS = Path("/proc/self/statm")


class BrokenPromiseError(AssertionError):
    """A value or a message that is not what was promised."""


class TooSlowError(BaseException):
    """An input that took too long; no Exception, so that no reader can take it for a bad file."""


class TooLargeError(BaseException):
    """An input that took too much memory."""


def attempt(
    refusals: tuple[type[ValueError], ...], call: Callable[..., Result], *values: Any
) -> tuple[Result | None, ValueError | None]:
    """What a call returns, or how it refuses: with one of our errors, and in one line.

    A plain ValueError counts only where it is listed, and then without its heirs: a
    UnicodeDecodeError is not ours.
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
    """What a call returns; None if it refuses as it should."""
    return attempt(refusals, call, *values)[0]


def require_one_line(message: str) -> None:
    """Refuse a message that is empty, endless, or more than a line."""
    if not message.strip() or len(message.splitlines()) > 1 or len(message) > LONGEST_MESSAGE:
        raise BrokenPromiseError(f"not one line: {message[:200]!r} ({len(message)} characters)")


def require(condition: bool, otherwise: str) -> None:
    """Refuse a value that is not what was promised (an assert that -O does not drop)."""
    if not condition:
        raise BrokenPromiseError(otherwise)


def keep_promises(run: Run, data: bytes, folder: Path) -> bool:
    """Run a target on one input; whatever is raised is a broken promise."""
    before = _peak_bytes()
    with _hurried(), warnings.catch_warnings():
        warnings.filterwarnings("error", module="glasshouse")  # NumPy's, of overflows
        warnings.filterwarnings("ignore", category=UserWarning)  # our own are meant
        accepted = run(data, folder)
    grown = _peak_bytes() - before
    if grown > MOST_BYTES:
        raise TooLargeError(f"{len(data)} bytes took {grown >> 20} MB")
    return accepted


def limit_addresses() -> None:
    """From now on an allocation far beyond what this process has fails with a MemoryError."""
    import resource  # not everywhere, and nowhere else needed

    if not _PROCESS.exists():
        return  # only Linux tells what a process has
    used = int(_PROCESS.read_text().split()[0]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST_ADDRESSES, hard))


@contextmanager
def _hurried() -> Iterator[None]:
    """Interrupt what computes for too long (compiled code is not: the caller must end that)."""

    def interrupt(*_: object) -> None:
        raise TooSlowError(f"took more than {MOST_SECONDS} s")

    # Virtual time: libFuzzer has the other alarm, and a busy machine is not the input's fault.
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
