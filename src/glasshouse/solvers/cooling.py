"""Annealing in small steps: populations of states that are cooled, heated and recombined.

A step is a chunk of a few milliseconds, after which the caller may stop or do something else.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.problems import FloatArray
from glasshouse.problems.elementary import geometric
from glasshouse.solvers.crew import CHUNK_SECONDS, steps_at_once
from glasshouse.solvers.engines import Ready
from glasshouse.solvers.kernels import driver, sweep_order
from glasshouse.solvers.kernels.block import LaneBlock
from glasshouse.solvers.kernels.recombination import Sites, recombine
from glasshouse.solvers.schedule import default_range

MOST_SWEEPS = 1 << 20  # of one cooling, whose inverse temperatures are all held at once
# The coldest β in units of the hottest one. Normal weights have very weak local fields, and their
# coldest β comes in the last sweeps: on the way there nearly all spins are frozen.
_RANGE = 40
_COLD = 16  # energies are measured in the last sweeps: one sixteenth of them


class Population(NamedTuple):
    """States in the order of the sites, one per row, and their energies without the offset."""

    states: npt.NDArray[np.uint8]  # 0 is up, 255 is down
    energies: npt.NDArray[Any]

    @property
    def best(self) -> tuple[Any, npt.NDArray[np.uint8]]:
        """The lowest energy, and a state that has it."""
        best = int(np.argmin(self.energies))
        return self.energies[best], self.states[best]


Steps: TypeAlias = Generator[None, None, None]
Cooled: TypeAlias = Generator[None, None, Population]


class Cooler:
    """Cools populations of one problem; block after block, each with its own random stream.

    Args:
        ready: the problem's graph and engines.
        key: four random words, from which all streams come.
        clock: returns seconds; the speed of sweeps is measured by it.
    """

    def __init__(
        self, ready: Ready, key: npt.NDArray[np.uint64], clock: Callable[[], float]
    ) -> None:
        self.kernel, self.engine = ready.engine()
        self.key, self.clock, self.streams = key, clock, 0
        self.hot, self.last = default_range(ready.graph)
        self.cold = min(self.last, _RANGE * self.hot)
        self.block: LaneBlock = self.engine.new_block()
        chunk = steps_at_once(self.engine.cost)
        self.chunk = chunk
        self.seconds_per_sweep = CHUNK_SECONDS / chunk  # until it has been measured
        self.even = not ready.graph.problem.fields.any()
        self.ready = ready
        self._sites: Sites | None = None

    @property
    def can_start_from_states(self) -> bool:
        """Whether populations can be heated again."""
        return self.engine.spread is not None

    @property
    def sites(self) -> Sites:
        """The graph that states are recombined on; made when it is first needed."""
        if self._sites is None:
            graph, order = self.ready.graph, self.engine.order
            starts, neighbours, weights = sweep_order.arrange(
                order, graph.starts, graph.neighbours, graph.weights
            )
            marks, members = np.zeros(len(order) + 1, np.uint8), np.zeros(len(order), np.int32)
            self._sites = Sites(starts, neighbours, weights, marks, members)
        return self._sites

    def cool(self, beta: float, sweeps: int, size: int, start: Population | None = None) -> Cooled:
        """Anneal a population from β to the coldest β, step by step.

        Args:
            beta: the first inverse temperature.
            sweeps: sweeps of every state, at most `MOST_SWEEPS`.
            size: states of the population, rounded up to whole blocks; one block if it is 0.
            start: the states to start from; random states if None.
        """
        engine, lanes = self.engine, self.engine.lanes
        blocks = max(-(-size // lanes), 1)
        states = np.empty((blocks * lanes, len(engine.order)), np.uint8)
        energies = np.empty(blocks * lanes, self.ready.graph.weights.dtype)
        betas = self.schedule(beta, sweeps)
        for rows in (slice(k * lanes, (k + 1) * lanes) for k in range(blocks)):
            driver.start_block(engine.tables, self.key, self.streams, engine.never, self.block)
            self.streams += 1
            if start is not None:
                engine.load(self.block, start.states[rows], start.energies[rows])
            yield from self._sweep(betas)
            states[rows] = self.block.states.reshape(-1, lanes).T
            energies[rows] = self.block.lowest
        return Population(states, energies)

    def schedule(self, beta: float, sweeps: int) -> FloatArray:
        """One β for each sweep, rising to the coldest one."""
        cold = max(sweeps // _COLD, 1) if self.last > self.cold else 0
        ends = geometric(self.cold, self.last, cold) if cold > 1 else np.array([self.last])[:cold]
        most = sweeps - cold
        begin = geometric(beta, self.cold, most) if most > 1 else np.array([self.cold])[:most]
        return np.concatenate([begin, ends])

    def _sweep(self, betas: FloatArray) -> Steps:
        """One sweep of the block at each β."""
        sweeps, lanes, block = len(betas), self.engine.lanes, self.block
        blind, done = sweeps - max(sweeps // _COLD, 1), 0
        while done < sweeps:
            until, began = min(done + self.chunk, sweeps), self.clock()
            driver.anneal_block(
                self.engine.tables, betas[done:until], done, blind, lanes, block
            )  # fmt: skip
            took = (self.clock() - began) / (until - done)
            self.seconds_per_sweep += (took - self.seconds_per_sweep) / 4
            done = until
            yield

    def seen_so_far(self) -> Population:
        """The states of the block as they are, for a search that is stopped."""
        driver.look_at_block(self.engine.tables, 0, self.block)
        lanes = self.engine.lanes
        states = np.ascontiguousarray(self.block.states.reshape(-1, lanes).T)
        return Population(states, self.block.lowest.astype(self.ready.graph.weights.dtype))

    def recombine(self, people: Population, partners: Any) -> Steps:
        """Give each state what is better in its partner, a step for each of them.

        Args:
            people: the states, which are changed in place.
            partners: a state for each of them.
        """
        for k in range(len(people.states)):
            change = recombine(people.states[k], partners[k], self.even, self.sites)
            people.energies[k : k + 1] += change  # as an array: integers wrap around and back
            yield
