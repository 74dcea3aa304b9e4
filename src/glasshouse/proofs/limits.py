"""When to stop a proof, and when to keep what there is of it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from glasshouse.stopping import working_time

# What a tree may hold unless it is told otherwise; the certificate is about as large as text.
_MOST_BYTES = 4 << 30
# Seconds between two checkpoints, and how many times longer than the last one took.
_BETWEEN_CHECKPOINTS, _TIMES_CHECKPOINT = 10.0, 30.0


class TimeIsUpError(Exception):
    """The deadline has passed in the middle of work of which a part is of no use."""


class Clock:
    """A deadline, for work that reads the time between two of its steps.

    Args:
        deadline: on the clock of `working_time`.

    >>> Clock().check()
    >>> Clock().seconds_left
    inf
    """

    def __init__(self, deadline: float = math.inf) -> None:
        self.deadline = deadline

    @property
    def seconds_left(self) -> float:
        """Seconds until the deadline, below 0 after it."""
        return self.deadline - working_time()

    def check(self) -> None:
        """Raise `TimeIsUpError` after the deadline."""
        if self.seconds_left < 0.0:
            raise TimeIsUpError

    def pieces(self, count: int, size: int) -> Iterator[tuple[int, int]]:
        """Where pieces of a range begin and end, the time being checked before each of them.

        Args:
            count: the end of the range, which begins at 0.
            size: of a piece; at least 1 in any case.

        >>> list(Clock().pieces(7, 3))
        [(0, 3), (3, 6), (6, 7)]
        """
        size = max(size, 1)
        for first in range(0, count, size):
            self.check()
            yield first, min(first + size, count)


class Limits:
    """When to stop.

    Args:
        time_limit: seconds from now.
        target: an energy; stop once no state can be below it.
        node_limit: nodes of a tree; 1 is the root, without branching.
        memory_limit: bytes of what the tree holds.
    """

    def __init__(
        self,
        time_limit: float | None,
        target: float | None,
        node_limit: int | None,
        memory_limit: int | None = None,
    ) -> None:
        self.began = working_time()
        self.deadline = self.began + (math.inf if time_limit is None else time_limit)
        self.reserved = 0.0
        self.target = target
        self.most_nodes = math.inf if node_limit is None else node_limit
        self.most_bytes = _MOST_BYTES if memory_limit is None else memory_limit

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return working_time() - self.began

    @property
    def left(self) -> float:
        """Seconds until the time is up."""
        return self.deadline - working_time()

    def reserve(self, seconds: float) -> None:
        """Let the search end so much earlier that its certificate is ready in time.

        Args:
            seconds: how long the certificate takes; less than was reserved before changes nothing.
        """
        self.deadline -= max(0.0, seconds - self.reserved)
        self.reserved = max(seconds, self.reserved)


class Pause:
    """Time between two checkpoints: many times longer than the last one took."""

    def __init__(self) -> None:
        self.until = working_time() + _BETWEEN_CHECKPOINTS
        self.began = 0.0

    @property
    def is_over(self) -> bool:
        """Whether it is time for another one."""
        return working_time() > self.until

    def __enter__(self) -> None:
        self.began = working_time()

    def __exit__(self, *fault: object) -> None:
        now = working_time()
        self.until = now + max(_BETWEEN_CHECKPOINTS, _TIMES_CHECKPOINT * (now - self.began))
