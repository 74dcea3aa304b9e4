"""Bars that show how far a command is, on standard error, where there is a terminal to see them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn

Thing = TypeVar("Thing")


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
