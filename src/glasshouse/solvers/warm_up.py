"""What a ladder of temperatures has to suit, seen in one short annealing of one block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems.validation import FloatArray
from glasshouse.solvers.engine import Engine
from glasshouse.solvers.kernels import driver, warm_up
from glasshouse.solvers.kernels.block import LaneBlock
from glasshouse.solvers.kernels.clusters import Clusters
from glasshouse.solvers.kernels.warm_up import HOLD, PAIRS, Sightings

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
        self.length, self.cost = HOLD * len(betas), engine.cost
        stages = np.zeros((5, len(betas)))
        self.seen = Sightings(
            stages[0], stages[1], stages[2], np.zeros(len(engine.order) * engine.lanes, np.uint8)
        )
        self.clustered, self.largest, self.done = stages[3], stages[4], 0

    def start(self, index: int) -> LaneBlock:
        """Random states."""
        block = self.engine.new_block()
        driver.start_block(self.engine.tables, self.key, STREAM, self.engine.never, block)
        if self.clusters is not None:  # compiled here, before the clock runs
            warm_up.sample_clusters(block.states, self.even, self.clusters)
        return block

    def advance(self, work: LaneBlock, done: int, until: int) -> int:
        """The sweeps after `done`; at the end of each β clusters are looked at."""
        tables = self.engine.tables
        while True:
            stage = min(done // HOLD * HOLD + HOLD, until)
            done = int(warm_up.warm_up(tables, self.betas, done, stage, work, self.seen))
            if done and done % HOLD == 0 and self.clusters is not None:
                found = warm_up.sample_clusters(work.states, self.even, self.clusters)
                self.clustered[done // HOLD - 1], self.largest[done // HOLD - 1] = found
            if done == until:
                self.done = done
                return done

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
        stages = self.done // HOLD
        sites = max(len(self.engine.order), 1)
        return Observed(
            self.betas[:stages],
            self.seen.energies[:stages],
            (self.seen.kept - self.seen.shared)[:stages],
            self.clustered[:stages] / (PAIRS * sites),
            self.largest[:stages] / (PAIRS * sites),
        )
