"""The clock of a command: the time since it started, and how slow this computer is.

Time limits of commands count from the start of the process. Much of the time before a search is
spent on the start of Python and on imports.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

# Seconds of processor time: to print an answer and end Python; and the longest step of LLVM that
# was observed.
_FAREWELL, _LONGEST_STEP = 0.2, 1.1
_SHARE_OF_SEARCH = 0.1  # fraction of a time limit for the search, even if the start took longer
_LAST_WORDS = 0.1  # seconds in which a solver that ends in time prints its answer

_began = time.monotonic()


def start(process: bool = False) -> None:
    """Start the clock of a command.

    Args:
        process: whether the process was started for this command; then the time since its start
            counts.
    """
    global _began
    _began = time.monotonic() - (sum(_worked()) if process else 0.0)


def seconds_left(time_limit: float | None) -> float | None:
    """Return the seconds left for a search under the command's time limit; None sets no limit."""
    from glasshouse.problems import validation

    limit = validation.time_limit(time_limit)
    if limit is None:
        return None
    left = limit - (time.monotonic() - _began) - _FAREWELL * _slowness()
    return max(left, _SHARE_OF_SEARCH * limit)


def end_in_time(time_limit: float | None) -> None:
    """Interrupt the command with a `TimeIsOverError`, early enough that it can still answer."""
    from glasshouse.cli.termination import current

    left = seconds_left(time_limit)
    if left is not None:
        current().limit(left + _LAST_WORDS)


@contextmanager
def search(time_limit: float | None) -> Iterator[float | None]:
    """Yield the seconds left for compilation and search under the command's time limit.

    A step of LLVM cannot be interrupted, so compilation ends earlier than the search, by the time
    that the longest step takes.
    """
    from glasshouse.stopping import compilation_limited

    left = seconds_left(time_limit)
    if left is None:
        yield None
        return
    with compilation_limited(left - _LONGEST_STEP * _slowness()):
        yield left


def _slowness() -> float:
    """Return the ratio of elapsed time to processor time, which other processes increase."""
    ran, waited = _worked()
    return (ran + waited) / ran if ran else 1.0


def _worked() -> tuple[float, float]:
    """Return how many seconds the main thread has run, and how many it has waited for a core.

    Linux counts both, from the start of the process. On other systems the second is 0.
    """
    try:
        # pathlib is slow to load, and signals are not handled yet
        with open("/proc/self/schedstat", encoding="ascii") as counts:  # noqa: PTH123
            ran, waited, _ = map(int, counts.read().split())
    except (OSError, ValueError):
        ran, waited = 0, 0
    return (ran * 1e-9, waited * 1e-9) if ran else (time.process_time(), 0.0)
