"""Standard output and standard error: complete lines, and progress bars.

Characters that the console cannot show are replaced. A full pipe blocks the process that writes to
it. A process that must not be interrupted while it writes would then handle no signal, so the
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

# ASCII replacements for the other characters in our texts.
_TYPED = {"×": "x", "·": "*", "→": "->", "≤": "<=", "≥": ">=", "±": "+-", "–": "-", "…": "...",
          "β": "beta", "ρ": "rho", "α": "alpha", "μ": "mu", "σ": "sigma", "Σ": "Sum", "√": "sqrt",
          "•": "*", "─": "-", "│": "|"}  # fmt: skip
_PIECE = 4096  # bytes: the least PIPE_BUF; a pipe accepts this many at once or none
_PATIENCE = 2.0  # seconds after a signal, for a slow reader


class BlockedError(OSError):
    """Raised if a signal has arrived, but standard output is blocked because nothing reads it."""


def survive() -> None:
    """Replace characters that the console cannot show, because printing them would fail."""
    codecs.register_error("glasshouse", _replaced)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="glasshouse")


def flush() -> None:
    """Flush standard output; if its reader has closed it, raise BrokenPipeError on every system."""
    if sys.stdout is None:  # it was closed before we started
        return
    try:
        sys.stdout.flush()
    except OSError as error:
        hush()  # Python would try again at shutdown, and change the exit code
        if error.errno == errno.EINVAL:  # Windows reports it so
            raise BrokenPipeError from None
        raise


def hush() -> None:
    """Print nothing more to standard output, even at shutdown."""
    with suppress(OSError, ValueError, AttributeError):  # not a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_read(stream: TextIO | None = None, seconds: float = _PATIENCE) -> bool:
    """Wait until standard output accepts a line without blocking; return False after a timeout."""
    try:
        number = (stream or sys.stdout).fileno()
        return bool(select.select([], [number], [], seconds)[1])
    except (OSError, ValueError, AttributeError):
        return True  # the system cannot wait for it, or it is not a file


def may_write(stream: TextIO) -> bool:
    """Return whether to print: always before a signal, but after it only if the stream is read."""
    return not current().came or is_read(stream)


def flush_if_read() -> None:
    """Flush standard output, or drop the text if nothing reads it."""
    try:
        if is_read():
            flush()
        else:
            hush()
    except (OSError, KeyboardInterrupt):
        hush()


def write(line: str) -> None:
    """Write a short line to standard output at once, completely or not at all."""
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
        except BlockingIOError:  # the reader has set the pipe to non-blocking
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
    """Return the console of standard error if it is a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    return console if console.is_terminal else None


def bar(*columns: ProgressColumn, stays: bool = False) -> Progress:
    """Return a progress bar; `stays` keeps it on screen at the end."""
    from rich.progress import Progress

    console = terminal()
    return Progress(*columns, console=console, transient=not stays, disable=console is None)


def planting(things: Iterable[Thing], total: int | None) -> Iterator[Thing]:
    """Yield plants as they are grown, and count them on a bar."""
    with bar() as shown:
        yield from shown.track(things, total=total, description="planting")


@contextmanager
def collecting_bar() -> Iterator[Any]:
    """Yield a function that shows a `StudyProgress` as a bar with tasks and remaining time."""
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
