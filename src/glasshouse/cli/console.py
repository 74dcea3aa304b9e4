"""Standard output and standard error: lines that arrive whole, and progress bars.

Characters that the console cannot show are replaced. A full pipe blocks the process that writes to
it. A process that must not be interrupted while it writes would then handle no signal. The
functions here wait for the reader first, while signals are still handled. Bars appear on standard
error, and only if it is a terminal.
"""

from __future__ import annotations

import codecs
import errno
import os
import select
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from glasshouse.cli.termination import current

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn

Thing = TypeVar("Thing")

# What our texts hold beyond ASCII, as one would type it there.
_TYPED = {"×": "x", "·": "*", "→": "->", "≤": "<=", "≥": ">=", "±": "+-", "–": "-", "…": "...",
          "β": "beta", "ρ": "rho", "α": "alpha", "μ": "mu", "σ": "sigma", "Σ": "Sum", "√": "sqrt",
          "•": "*", "─": "-", "│": "|"}  # fmt: skip
_PIECE = 4096  # bytes: the least PIPE_BUF, which a pipe takes whole once it takes anything
_PATIENCE = 2.0  # seconds after a signal, for a reader that is slow


class BlockedError(OSError):
    """A signal has come, and the reader of standard output does not read."""


def survive() -> None:
    """Replace characters that the console cannot show; printing them would be an error."""
    codecs.register_error("glasshouse", _replaced)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="glasshouse")


def flush() -> None:
    """Write out what was printed; a reader that went away is a BrokenPipeError on every system."""
    if sys.stdout is None:  # it was closed before we came
        return
    try:
        sys.stdout.flush()
    except OSError as error:
        hush()  # Python would try again while it shuts down, and change the exit code
        if error.errno == errno.EINVAL:  # how Windows says it
            raise BrokenPipeError from None
        raise


def hush() -> None:
    """Say nothing more on standard output, also not while Python shuts down."""
    with suppress(OSError, ValueError, AttributeError):  # not a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_read(stream: TextIO | None = None, seconds: float = _PATIENCE) -> bool:
    """Wait until standard output takes a line without blocking; False if it does not in time."""
    try:
        number = (stream or sys.stdout).fileno()
        return bool(select.select([], [number], [], seconds)[1])
    except (OSError, ValueError, AttributeError):
        return True  # the system cannot wait for it, or it is not a file


def may_write(stream: TextIO) -> bool:
    """Whether to print, even if the reader is slow; after a signal, only if it reads."""
    return not current().came or is_read(stream)


def flush_if_read() -> None:
    """Write out what was printed, or drop it if the reader does not read."""
    try:
        if is_read():
            flush()
        else:
            hush()
    except (OSError, KeyboardInterrupt):
        hush()


def write(line: str) -> None:
    """Write a short line to standard output at once; it is whole, or not there at all."""
    try:
        number = sys.stdout.fileno()
    except (OSError, ValueError, AttributeError):  # A caller has replaced standard output.
        print(line, end="", flush=True)
        return
    flush()
    rest = line.encode()
    while rest:
        try:
            rest = rest[os.write(number, rest) :]
        except BlockingIOError:  # the reader has set the pipe so
            is_read()


def write_whole(text: str) -> None:
    """Write a text of any length in pieces that do not block.

    Raises:
        BlockedError: a signal came, and the reader does not read.
    """
    while text:
        termination = current()
        if is_read(seconds=0.1):
            write(text[:_PIECE])
            text = text[_PIECE:]
        elif termination.came and time.monotonic() - termination.last > _PATIENCE:
            raise BlockedError


def _replaced(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    unknown = error.object[error.start : error.end]
    return "".join(_TYPED.get(character, "?") for character in unknown), error.end


def terminal() -> Console | None:
    """Standard error, where it is a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    return console if console.is_terminal else None


def bar(*columns: ProgressColumn, stays: bool = False) -> Progress:
    """A bar; `stays` if it is to be seen when all is done."""
    from rich.progress import Progress

    console = terminal()
    return Progress(*columns, console=console, transient=not stays, disable=console is None)


def planting(things: Iterable[Thing], total: int | None) -> Iterator[Thing]:
    """Hand on what grows, and count it."""
    with bar() as shown:
        yield from shown.track(things, total=total, description="planting")


@contextmanager
def collecting_bar() -> Iterator[Any]:
    """A bar with tasks and time left, and a function that takes a `StudyProgress`."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

    columns = (
        TextColumn("{task.fields[tasks]} tasks"), BarColumn(), MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
    )  # fmt: skip
    with bar(*columns, stays=True) as shown:
        task = shown.add_task("", total=None, tasks="", left="")

        def update(at: Any) -> None:
            rest = at.remaining_seconds
            left = "" if rest is None else f"{_duration(rest)} left"
            done = f"{at.tasks_done}/{at.tasks}"
            shown.update(task, completed=at.rows, total=at.goal, tasks=done, left=left)

        yield update


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
