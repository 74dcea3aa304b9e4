"""The record of a search by several methods: the best state so far, and the reason to end."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.problems import Number, SpinArray
from glasshouse.solvers.engine import Engine, signs
from glasshouse.solvers.spin_form import SpinForm

Method: TypeAlias = Literal["anneal", "refine", "temper"]
# "bound": no state can be better, because every coupling and every field is satisfied.
Ended: TypeAlias = Literal["target", "bound", "time limit", "interrupted"]


class Improvement(NamedTuple):
    """A new best state: when it was found, its energy, and the method that found it."""

    seconds: float
    energy: Number
    method: Method


class Record:
    """A record of a problem's best state so far; several threads may offer states to it.

    Args:
        form: the problem.
        engine: the engine that defines the order of the sites in states.
        target: the energy at which the search ends, or None.
        time_limit: the time limit in seconds; infinite means no limit.
        clock: a function that returns seconds.
    """

    def __init__(
        self,
        form: SpinForm,
        engine: Engine,
        target: Number | None,
        time_limit: float,
        clock: Callable[[], float],
    ) -> None:
        self.form, self.engine, self.target = form, engine, target
        self.clock, self.began = clock, clock()
        self.deadline = self.began + time_limit
        self.lowest: Any = math.inf  # in the kernels' form, without the offset
        self.energy: Any = None
        self.state: SpinArray | None = None
        self.improvements: list[Improvement] = []
        self.ended: Ended | None = None
        self.changed = threading.Event()
        self._lock = threading.Lock()
        ising = form.ising
        self._bound = form.own_energy(-ising.total_weight) if ising.is_integer else -math.inf

    def offer(self, method: Method, energy: Any, state: npt.NDArray[np.uint8]) -> None:
        """Store a state if its energy is lower than that of all earlier states.

        Args:
            method: the method that found the state.
            energy: the energy of the state in the kernels' form.
            state: the spins in the order of the sites: 0 is up, 255 is down.
        """
        if self.state is not None and not energy < self.lowest:
            return
        spins = np.ones((1, self.form.ising.num_variables), np.int8)
        spins[0, self.engine.order] = signs(state)
        own = self.form.own_states(spins)
        exact = self.form.energy(own)[0].item()
        with self._lock:
            # Kernels may round energies; the record computes them from the states.
            if self.state is not None and not exact < self.energy:
                return
            self.lowest, self.energy, self.state = energy, exact, own[0]
            self.improvements.append(Improvement(self.clock() - self.began, exact, method))
            if self.target is not None and exact <= self.target:
                self.end("target")
            elif exact <= self._bound:
                self.end("bound")
        self.changed.set()

    def latest(self) -> tuple[Improvement, SpinArray]:
        """Return the last improvement, and its state, which is the best state so far."""
        with self._lock:
            assert self.state is not None
            return self.improvements[-1], self.state

    def end(self, why: Ended) -> None:
        """End the search for the reason `why`, unless it has already ended."""
        if self.ended is None:
            self.ended = why
        self.changed.set()

    def is_over(self) -> bool:
        """Return whether the search has ended or reached its time limit."""
        if self.ended is None and self.clock() >= self.deadline:
            self.end("time limit")
        return self.ended is not None

    def seconds_left(self) -> float:
        """Return the seconds until the time limit."""
        return max(self.deadline - self.clock(), 0.0)
