"""Parallel-tempering jobs: one for ladders on byte lanes, and one for all other kernels."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems import FloatArray
from glasshouse.solvers.engine import Engine
from glasshouse.solvers.kernels import lane_ladders, tempering
from glasshouse.solvers.kernels.block import LaneBlock
from glasshouse.solvers.kernels.clusters import Clusters, plain_neighbours
from glasshouse.solvers.kernels.lane_ladders import Ladders
from glasshouse.solvers.kernels.tempering import SWAPPED, TRIED, TRIPS, Replicas
from glasshouse.solvers.result import Ladder

LANES = 64  # lanes in a row of the byte kernel


class TemperTask:
    """The base class of tempering jobs, which count replica moves over all blocks.

    The work of a block is a tuple. Its first entry counts the block's moves and contains the block.
    """

    def __init__(
        self,
        engine: Engine,
        betas: FloatArray,
        sweeps: int,
        goal: Any,
        key: npt.NDArray[np.uint64],
    ) -> None:
        self.engine, self.betas, self.length = engine, betas, sweeps
        self.goal, self.key = goal, key
        self.cost, self.ladders = engine.cost * len(betas), 1
        self.chosen, self.every = np.zeros(len(betas), bool), 0  # cluster moves
        self._total, self._blocks = np.zeros((len(betas), 3), np.int64), 0
        self._lock = threading.Lock()  # several threads work on blocks

    def start(self, index: int) -> Any:
        """Start block `index` from random states at all temperatures, and return its state."""
        if index == 0:  # after Ctrl-C, all blocks may be repeated
            self._total[:], self._blocks = 0, 0
        return self._new_work(index)

    def advance(self, work: Any, done: int, until: int) -> int:
        """Do sweeps `done` + 1 to `until`; stop early if all runs reach the target."""
        now = int(self._temper(work, done, until))
        if now < until or until == self.length:
            self.stop(work, now)
        return now

    def stop(self, work: Any, done: int) -> None:
        """Add a block's counts of replica moves to the totals."""
        with self._lock:
            self._total += work[0].tallies
            self._blocks += 1

    def lowest(self, work: Any) -> Any:
        """Return the lowest energy of a block so far."""
        return work[0].block.lowest.min()

    def block(self, work: Any) -> LaneBlock:
        """Return the block of runs that contains the results."""
        block: LaneBlock = work[0].block
        return block

    def report(self, warm_up: float) -> Ladder:
        """Return statistics of the replica moves in all blocks."""
        acceptance = self._total[:-1, SWAPPED] / np.maximum(self._total[:-1, TRIED], 1)
        ladders = self._blocks * self.engine.lanes * self.ladders
        trips = float(self._total[:, TRIPS].sum() / ladders)
        return Ladder(acceptance, trips, self.chosen, self.every, warm_up)

    def _new_work(self, index: int) -> Any:
        raise NotImplementedError

    def _temper(self, work: Any, done: int, until: int) -> int:
        raise NotImplementedError


class RowTask(TemperTask):
    """Tempering with any kernel: one block per temperature, one run per lane."""

    def _new_work(self, index: int) -> tuple[Replicas]:
        block, number = self.engine.new_block(), len(self.betas)
        replicas = Replicas(
            np.empty((number, len(block.generator)), np.uint64),
            np.empty((number, len(block.spins)), block.spins.dtype),
            np.empty((number, len(block.energies)), block.energies.dtype),
            np.zeros((number, len(block.energies)), np.uint8),
            np.zeros((number, 3), np.int64),
            np.empty(4, np.uint64),
            block,
        )
        tempering.start_replicas(self.engine.tables, self.key, index, self.goal, replicas)
        return (replicas,)

    def _temper(self, work: tuple[Replicas], done: int, until: int) -> Any:
        tables, lanes = self.engine.tables, self.engine.lanes
        return tempering.temper_block(tables, self.betas, done, until, lanes, *work)


class LaneTask(TemperTask):
    """Tempering on byte lanes: one run per block, with as many ladders as fit into its rows."""

    def __init__(
        self,
        engine: Engine,
        betas: FloatArray,
        sweeps: int,
        goal: Any,
        key: npt.NDArray[np.uint64],
        even: bool,
        chosen: npt.NDArray[np.bool_],
        every: int,
    ) -> None:
        super().__init__(replace(engine, lanes=1), betas, sweeps, goal, key)
        self.rows, self.ladders = room_for(len(betas))
        self.row, self.even, self.chosen, self.every = engine, even, chosen, every
        self.cost = engine.cost * self.rows
        self.clusters = scratch(engine, self.rows if every else 0)

    def _new_work(self, index: int) -> tuple[Ladders, Clusters]:
        rows, row, tables, number = self.rows, self.row, self.row.tables, len(self.betas)
        fields = int(tables.level_fields.max(initial=-1)) + 1
        ladders = Ladders(
            np.zeros((rows, 4 * LANES // 8), np.uint64),
            np.zeros((rows, row.rows * LANES), np.uint8),
            np.zeros((rows, 4 * LANES * fields), np.uint8),
            4 * LANES * tables.level_fields.astype(np.int64),
            np.zeros(LANES * rows, np.int32),
            np.zeros((self.ladders, number), np.int32),
            np.zeros(LANES * rows, np.uint8),
            np.zeros((number, 3), np.int64),
            np.zeros(4, np.uint64),
            self.engine.new_block(),
        )
        lane_ladders.start_ladders(tables, self.betas, self.key, index, self.goal, ladders)
        # The graph is shared, but each thread needs its own buffers.
        starts, sites, weights, *space = self.clusters
        return ladders, Clusters(starts, sites, weights, *map(np.zeros_like, space))

    def _temper(self, work: tuple[Ladders, Clusters], done: int, until: int) -> Any:
        return lane_ladders.temper_ladders(
            self.row.tables, self.betas, done, until, *work, self.chosen, self.every, self.even
        )


def room_for(temperatures: int) -> tuple[int, int]:
    """Return the rows of lanes that a run needs, and how many ladders (an even number) fit."""
    rows = -(-2 * temperatures // LANES)
    return rows, rows * LANES // (2 * temperatures) * 2


def scratch(engine: Engine, rows: int) -> Clusters:
    """Return the graph and the buffers for the cluster moves of one thread."""
    size = len(engine.order) if rows else 0
    sites, weights = plain_neighbours(engine.tables) if rows else np.zeros((2, 0), np.int32)
    return Clusters(
        engine.tables.starts, sites, weights,
        np.zeros((rows, size + 1), np.uint64), np.zeros((rows, size), np.uint64),
        np.zeros(size + 1, np.uint8), np.zeros(size + 1, np.uint8),
        np.zeros(size + 1, np.int32), np.zeros(size, np.int32), np.zeros(size, np.int64),
    )  # fmt: skip
