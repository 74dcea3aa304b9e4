"""When to stop a proof, and when to keep what there is of it."""

from __future__ import annotations

import math
import time

# What a tree may hold unless it is told otherwise; the certificate is about as large as text.
_MOST_BYTES = 4 << 30
# Seconds between two checkpoints, and how many times longer than the last one took.
_BETWEEN_CHECKPOINTS, _TIMES_CHECKPOINT = 10.0, 30.0


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
        self.began = time.monotonic()
        self.deadline = self.began + (math.inf if time_limit is None else time_limit)
        self.target = target
        self.most_nodes = math.inf if node_limit is None else node_limit
        self.most_bytes = _MOST_BYTES if memory_limit is None else memory_limit

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self.began

    @property
    def left(self) -> float:
        """Seconds until the time is up."""
        return self.deadline - time.monotonic()


class Pause:
    """Time between two checkpoints: many times longer than the last one took."""

    def __init__(self) -> None:
        self.until = time.monotonic() + _BETWEEN_CHECKPOINTS
        self.began = 0.0

    @property
    def is_over(self) -> bool:
        """Whether it is time for another one."""
        return time.monotonic() > self.until

    def __enter__(self) -> None:
        self.began = time.monotonic()

    def __exit__(self, *fault: object) -> None:
        now = time.monotonic()
        self.until = now + max(_BETWEEN_CHECKPOINTS, _TIMES_CHECKPOINT * (now - self.began))
