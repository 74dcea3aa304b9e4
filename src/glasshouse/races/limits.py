"""What a solver may use: time, memory, output."""

from __future__ import annotations

import math
from dataclasses import dataclass

from glasshouse.problems import validation
from glasshouse.summaries import Summarised

MEGABYTE = 1 << 20
# Far more than a solver needs, and little enough for the machine to live on.
MOST_PROCESSES = 1000
LARGEST_FOLDER = 4096 * MEGABYTE


@dataclass(frozen=True, repr=False)
class Limits(Summarised):
    """The limits of one run; they hold for the command and all processes that it starts.

    Attributes:
        seconds: of wall-clock time. Then everything gets SIGTERM, and SIGKILL after the grace time.
        cpu_seconds: of processor time, of all processes together.
        memory: bytes of resident memory, of all processes together.
        output: bytes on standard output. A solver that prints more is stopped.
        grace: seconds between SIGTERM and SIGKILL, in which a solver may print its best model. They
            are no part of its time: what it prints then counts as of the limit. Built-in solvers
            need about 0.2, and 0.7 on busy machines.

    >>> Limits(seconds=10).memory / MEGABYTE
    4096.0
    """

    seconds: float = 60.0
    cpu_seconds: float | None = None
    memory: int = 4096 * MEGABYTE
    output: int = 64 * MEGABYTE
    grace: float = 1.0

    def __post_init__(self) -> None:
        for name in ("seconds", "cpu_seconds", "grace"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, int | float) and 0 < value < math.inf):
                raise ValueError(f"{name}={value!r} is no limit; expected seconds above 0")
        validation.count(self.memory, "memory", MEGABYTE)
        validation.count(self.output, "output", 1)
