"""What a ladder of temperatures has to suit, seen in one short annealing of one block."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems.validation import FloatArray
from glasshouse.solvers.engine import Engine
from glasshouse.solvers.kernels import driver
from glasshouse.solvers.kernels.block import LaneBlock
from glasshouse.solvers.kernels.clusters import PAIRS, Clusters, sample_clusters

# Sweeps at each β after which there is a look: first to settle, then for spins to be compared with.
_LOOKS = (6, 11, 16)
_HOLD = _LOOKS[-1]
STREAM = 1 << 41  # an index that no block of runs has


@dataclass(frozen=True)
class Observed:
    """A problem at rising β.

    Attributes:
        betas: as many as were reached.
        energies: mean energies.
        memory: overlap of a replica with itself ten sweeps before, beyond what any two have.
        clustered: share of the sites that cluster moves of two replicas would turn over or not.
        largest: share of the sites in the largest of those clusters.
    """

    betas: FloatArray
    energies: FloatArray
    memory: FloatArray
    clustered: FloatArray
    largest: FloatArray


class WarmUp:
    """The warm-up as the crew does it: a sweep a step."""

    def __init__(
        self,
        engine: Engine,
        betas: FloatArray,
        key: npt.NDArray[np.uint64],
        clusters: Clusters | None,
        even: bool,
    ) -> None:
        self.engine, self.betas, self.key = engine, betas, key
        self.clusters, self.even = clusters, even
        self.length, self.cost = _HOLD * len(betas), engine.cost
        self.before = np.empty(0, np.uint8)
        self.energies, self.memory, self.clustered, self.largest = np.zeros((4, len(betas)))
        self.done = 0

    def start(self, index: int) -> LaneBlock:
        """Random states."""
        block = self.engine.new_block()
        driver.start_block(self.engine.tables, self.key, STREAM, self.engine.never, block)
        for sweep in _LOOKS:  # for nothing: whatever has to be compiled is, before the clock runs
            self._look(0, sweep, block)
        return block

    def advance(self, work: LaneBlock, done: int, until: int) -> int:
        """The sweeps after `done`, with a look now and then."""
        tables, lanes = self.engine.tables, self.engine.lanes
        while True:
            stage, sweep = divmod(done, _HOLD)
            number = min(next(look for look in _LOOKS if look > sweep) - sweep, until - done)
            betas = np.full(number, self.betas[min(stage, len(self.betas) - 1)])
            driver.anneal_block(tables, betas, 0, number, lanes, work)
            done += number
            if number and sweep + number in _LOOKS:
                self._look(stage, sweep + number, work)
            if done == until:
                self.done = done
                return done

    def _look(self, stage: int, sweep: int, block: LaneBlock) -> None:
        """Note energies after so many sweeps at a β; at last, what has changed in between."""
        block.lowest[:] = -(block.never + 1)  # so that the spins as they are are kept
        driver.look_at_block(self.engine.tables, 0, block)
        if sweep == _LOOKS[0]:
            self.energies[stage], self.before = 0, block.states.copy()
        mean = math.fsum(block.energies.tolist()) / len(block.energies)
        self.energies[stage] += mean / len(_LOOKS)
        if sweep < _HOLD:
            return
        lanes = block.states.reshape(-1, self.engine.lanes)
        same = lanes == self.before.reshape(lanes.shape)
        alike = (lanes == np.roll(lanes, 1, axis=1)).sum(axis=0)  # each lane beside the next one
        size = max(len(lanes), 1)
        # With its sign: without fields, lanes that share a valley, up to a flip of all spins, would
        # else count as lanes that have forgotten where they were.
        between = max(0.0, (2 * alike - len(lanes)).sum() / max(lanes.size, 1))
        self.memory[stage] = 2 * same.sum() / max(lanes.size, 1) - 1 - between
        if self.clusters is not None:
            found = sample_clusters(block.states, self.even, self.clusters)
            self.clustered[stage], self.largest[stage] = np.array(found) / (PAIRS * size)

    def stop(self, work: LaneBlock, done: int) -> None:
        """Nothing to do: β that were not reached are left out."""

    def lowest(self, work: LaneBlock) -> Any:
        """Of no interest."""
        return work.energies.min()

    def block(self, work: LaneBlock) -> LaneBlock:
        """The block itself."""
        return work

    def observed(self) -> Observed:
        """What was seen, at the β that were held to the end."""
        stages = slice(self.done // _HOLD)
        return Observed(
            self.betas[stages], self.energies[stages], self.memory[stages],
            self.clustered[stages], self.largest[stages],
        )  # fmt: skip
