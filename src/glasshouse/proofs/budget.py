"""The budget of a proof: its limits, the reason for stopping, and the bounds reported so far.

`prove` creates one budget, and every search gets this budget or a part of its time. A limit or
Ctrl-C that stops one search stops all searches. Only `Budget.hearing_ctrl_c` handles Ctrl-C in a
proof, and SIGTERM, which the command line converts to the same exception.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from glasshouse.compiled import is_ctrl_c
from glasshouse.proofs.progress import Bounds, Stopped
from glasshouse.stopping import working_time

Result = TypeVar("Result")

# The default memory limit of a tree, in bytes; as text, the certificate is about as large.
_MOST_BYTES = 4 << 30
# Seconds after the deadline within which the certificate must be complete.
_SECONDS_OF_CERTIFYING = 0.7
# The least pause between checkpoints: in seconds, and as a multiple of the last one's duration.
_BETWEEN_CHECKPOINTS, _TIMES_CHECKPOINT = 10.0, 30.0


class TimeIsUpError(Exception):
    """Raised if the deadline passes during work whose partial result is useless."""


class Budget:
    """The limits of a proof, and whether a limit or Ctrl-C has stopped the proof.

    Args:
        time_limit: the time limit in seconds, counted from now.
        target: an energy; the proof stops once no state can be below it.
        node_limit: the most nodes of a tree to bound; 1 is the root, without branching.
        memory_limit: the most bytes that the tree may take.
        progress: called with `Bounds` during the search.

    Attributes:
        whole: the budget of the whole proof; this budget may be a part of it.
        above: the budget that this part was taken from; the whole budget refers to itself.
        history: the bounds so far, each better than the one before.
        reserved: seconds that a certificate takes even without loops.

    >>> budget = Budget(60.0)
    >>> with budget.hearing_ctrl_c():
    ...     raise KeyboardInterrupt
    >>> budget.stopped, budget.part(0.5).asks_to_stop()
    ('Ctrl-C', True)
    """

    def __init__(
        self,
        time_limit: float | None = None,
        target: float | None = None,
        node_limit: int | None = None,
        memory_limit: int | None = None,
        progress: Callable[[Bounds], object] | None = None,
    ) -> None:
        self.began = working_time()
        self.whole = self.above = self
        self.target, self.progress = target, progress
        self.most_nodes = math.inf if node_limit is None else node_limit
        self.most_bytes = _MOST_BYTES if memory_limit is None else memory_limit
        self.history: list[Bounds] = []
        self.reserved = 0.0
        self._end = self.began + (math.inf if time_limit is None else time_limit)
        self._reason: Stopped | None = None

    def part(self, share: float = 1.0) -> Budget:
        """Return a part of this budget, with at most the fraction `share` of the remaining time."""
        part = Budget(share * self.left())
        part.above, part.whole = self, self.whole
        return part

    @property
    def deadline(self) -> float:
        """The time at which the budget ends, on the clock of `working_time`."""
        return self._end if self.above is self else min(self._end, self.above.deadline)

    @property
    def certify_until(self) -> float:
        """The time on the clock of `working_time` by which the certificate must be complete."""
        return self.whole.deadline + _SECONDS_OF_CERTIFYING

    @property
    def seconds(self) -> float:
        """The time since the proof began, in seconds."""
        return working_time() - self.whole.began

    def end_by(self, deadline: float) -> None:
        """Set the deadline, unless the current deadline is earlier."""
        self._end = min(self._end, deadline)

    def reserve(self, seconds: float) -> None:
        """Set an earlier deadline, so that `seconds` remain for making the certificate.

        Args:
            seconds: the time that the certificate takes; only the largest value so far counts.
        """
        self._end -= max(0.0, seconds - self.reserved)
        self.reserved = max(seconds, self.reserved)

    def left(self) -> float:
        """Return the remaining time in seconds, negative once the search must end."""
        return -math.inf if self.whole._reason else self.deadline - working_time()

    def asks_to_stop(self) -> bool:
        """Return whether the search must end now, with the results so far."""
        return self.left() < 0.0

    @property
    def stopped(self) -> Stopped | None:
        """The reason why the search must end now, or None if it may continue."""
        return self.whole._reason or ("time limit" if self.asks_to_stop() else None)

    def stop(self, reason: Stopped) -> None:
        """Stop the whole proof and record the reason, unless Ctrl-C is already recorded."""
        if self.whole._reason != "Ctrl-C":
            self.whole._reason = reason

    @contextmanager
    def hearing_ctrl_c(self) -> Iterator[None]:
        """Let Ctrl-C end the `with` block and stop the proof without an exception."""
        try:
            yield
        except (KeyboardInterrupt, SystemError) as stop:
            if not is_ctrl_c(stop):
                raise
            self.stop("Ctrl-C")

    def to_the_end(self, work: Callable[[], Result]) -> Result:
        """Call a short function that must complete; if Ctrl-C interrupts it, call it again.

        >>> Budget().to_the_end(lambda: 6 * 7)
        42
        """
        with self.hearing_ctrl_c():
            return work()
        return work()

    def check(self) -> None:
        """Raise `TimeIsUpError` if the budget asks to stop."""
        if self.asks_to_stop():
            raise TimeIsUpError

    def pieces(self, count: int, size: int) -> Iterator[tuple[int, int]]:
        """Yield the pieces (first, end) of a range; check the time before each piece.

        Args:
            count: the end of the range, which begins at 0.
            size: the length of a piece; values below 1 are treated as 1.

        >>> list(Budget().pieces(7, 3))
        [(0, 3), (3, 6), (6, 7)]
        """
        size = max(size, 1)
        for first in range(0, count, size):
            self.check()
            yield first, min(first + size, count)

    def tell(self, bounds: Bounds, held: int = 0) -> bool:
        """Report the current bounds, record them if they are better, and return whether to stop.

        Args:
            bounds: the bounds known so far.
            held: the number of bytes that the tree takes.
        """
        whole = self.whole
        last = whole.history[-1] if whole.history else None
        if last is None or bounds.lower > last.lower or bounds.upper < last.upper:
            lower = max(bounds.lower, last.lower if last else -math.inf)
            whole.history.append(replace(bounds, lower=lower))
        if whole.progress is not None:
            whole.progress(bounds)
        if whole.target is not None and bounds.lower >= whole.target:
            self.stop("target")
        elif bounds.nodes >= whole.most_nodes:
            self.stop("node limit")
        elif held >= whole.most_bytes:
            self.stop("memory limit")
        return self.asks_to_stop()


class Pause:
    """A timer that decides when the next checkpoint is due."""

    def __init__(self) -> None:
        self.until = working_time() + _BETWEEN_CHECKPOINTS
        self.began = 0.0

    @property
    def is_over(self) -> bool:
        """Whether the next checkpoint is due."""
        return working_time() > self.until

    def __enter__(self) -> None:
        self.began = working_time()

    def __exit__(self, *fault: object) -> None:
        now = working_time()
        self.until = now + max(_BETWEEN_CHECKPOINTS, _TIMES_CHECKPOINT * (now - self.began))
