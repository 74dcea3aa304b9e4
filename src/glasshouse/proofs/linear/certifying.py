"""Time for certificates: how long the loops of an LP take to become one, and how many can.

Floats become a certificate in Python's integers, loop by loop: rounded, lifted to the whole graph,
walked along and verified. A search that stops at its deadline would still have seconds of that to
do for large graphs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.parts import Cycles
from glasshouse.stopping import working_time

_SAMPLE = 500  # loops to round for a measurement
# The time until a certificate is verified and written, in units of the time that rounding takes:
# for a graph as it is, and for one that was contracted, whose loops must be lifted.
_TIMES_ROUNDING, _TIMES_ROUNDING_LIFTED = 5.0, 8.0
# Seconds for the certificate after Ctrl-C. Systems that send SIGTERM wait a little longer.
_AFTER_CTRL_C = 3.0


class Certifying:
    """The pace of making a certificate, and the time at which it must be ready.

    Args:
        until: on the clock of `working_time`.
        is_lifted: whether loops are those of a contracted graph.
        reserved: seconds that a certificate takes even without loops.
    """

    def __init__(
        self, until: float = math.inf, is_lifted: bool = False, reserved: float = 0.0
    ) -> None:
        self.until, self.is_lifted, self.reserved = until, is_lifted, reserved
        self.pace = 0.0  # seconds for each edge of a loop

    def measure(self, cycles: Cycles, rounding: Callable[[Cycles], object]) -> None:
        """Find the pace, once, by rounding some of many loops.

        Args:
            cycles: the loops.
            rounding: rounds the first of them.
        """
        if self.pace or math.isinf(self.until) or len(cycles) <= _SAMPLE:
            return
        began = working_time()
        rounding(cycles[:_SAMPLE])
        edges = sum(map(len, cycles[:_SAMPLE]))
        times = _TIMES_ROUNDING_LIFTED if self.is_lifted else _TIMES_ROUNDING
        self.pace = times * (working_time() - began) / edges

    def hurry(self) -> None:
        """Take no longer than a process may that was asked to end."""
        self.until = min(self.until, working_time() + _AFTER_CTRL_C - self.reserved)

    def latest_start(self, cycles: Cycles) -> float:
        """When to begin with the certificate of some loops, at the latest."""
        return self.until - self.pace * sum(map(len, cycles)) if self.pace else self.until

    def affordable(self, duals: npt.NDArray[np.float64], cycles: Cycles) -> npt.NDArray[Any]:
        """The places of the loops that there is time for, in their order: the heaviest of them."""
        every = np.arange(len(cycles))
        if not self.pace:
            return every
        order = np.argsort(-duals, kind="stable")
        edges = np.cumsum(np.array([len(cycle) for cycle in cycles])[order])
        seconds = max(self.until - working_time(), 0.0)
        count = int(np.searchsorted(edges, seconds / self.pace, side="right"))
        return every if count == len(every) else np.sort(order[:count])
