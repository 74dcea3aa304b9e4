"""The two ways to temper a block: ladders on lanes for the byte kernel, else a block for each β."""

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

LANES = 64  # of a row of the byte kernel


class _Tallies:
    """The moves of the replicas of all blocks, added up: integers, in whatever order they come.

    Args:
        temperatures: how many there are.
    """

    def __init__(self, temperatures: int) -> None:
        self.total = np.zeros((temperatures, 3), np.int64)
        self.blocks = 0
        self._lock = threading.Lock()  # blocks are on several threads

    def begin(self, index: int) -> None:
        """Forget everything with the first block: Ctrl-C may have all of them done anew."""
        if index == 0:
            self.total[:], self.blocks = 0, 0

    def add(self, tallies: npt.NDArray[np.int64]) -> None:
        """Count a block that has ended."""
        with self._lock:
            self.total += tallies
            self.blocks += 1


class RowTask:
    """Tempering with any kernel: a block for each temperature, a run in each lane of all."""

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
        self.tallies = _Tallies(len(betas))

    def start(self, index: int) -> Replicas:
        """Random states at all temperatures."""
        self.tallies.begin(index)
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
        return replicas

    def advance(self, work: Replicas, done: int, until: int) -> int:
        """The sweeps after `done`."""
        lanes = self.engine.lanes
        now = int(tempering.temper_block(self.engine.tables, self.betas, done, until, lanes, work))
        if now < until or until == self.length:
            self.tallies.add(work.tallies)
        return now

    def stop(self, work: Replicas, done: int) -> None:
        """Count what was done; every sweep was looked at."""
        self.tallies.add(work.tallies)

    def lowest(self, work: Replicas) -> Any:
        """The lowest energy seen."""
        return work.block.lowest.min()

    def block(self, work: Replicas) -> LaneBlock:
        """What the runs found."""
        return work.block

    def report(self, warm_up: float) -> Ladder:
        """How replicas moved, after so many seconds of warm-up."""
        return _report(self, np.zeros(len(self.betas), bool), 0, warm_up)


class LaneTask:
    """Tempering on byte lanes: a block is one run, of as many ladders as its rows hold."""

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
        self.rows, self.ladders = room_for(len(betas))
        self.row, self.engine = engine, replace(engine, lanes=1)
        self.betas, self.length, self.goal, self.key = betas, sweeps, goal, key
        self.even, self.chosen, self.every = even, chosen, every
        self.cost = engine.cost * self.rows
        self.clusters = scratch(engine, self.rows if every else 0)
        self.tallies = _Tallies(len(betas))

    def start(self, index: int) -> tuple[Ladders, Clusters]:
        """Random states on all lanes."""
        self.tallies.begin(index)
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
        return ladders, scratch_like(self.clusters)

    def advance(self, work: tuple[Ladders, Clusters], done: int, until: int) -> int:
        """The sweeps after `done`."""
        ladders, clusters = work
        now = int(
            lane_ladders.temper_ladders(
                self.row.tables, self.betas, done, until, ladders,
                clusters, self.chosen, self.every, self.even,
            )
        )  # fmt: skip
        if now < until or until == self.length:
            self.tallies.add(ladders.tallies)
        return now

    def stop(self, work: tuple[Ladders, Clusters], done: int) -> None:
        """Count what was done; every sweep was looked at."""
        self.tallies.add(work[0].tallies)

    def lowest(self, work: tuple[Ladders, Clusters]) -> Any:
        """The lowest energy seen."""
        return work[0].block.lowest.min()

    def block(self, work: tuple[Ladders, Clusters]) -> LaneBlock:
        """What the runs found."""
        return work[0].block

    def report(self, warm_up: float) -> Ladder:
        """How replicas moved, after so many seconds of warm-up."""
        return _report(self, self.chosen, self.every, warm_up)


def _report(
    task: RowTask | LaneTask, clusters: npt.NDArray[np.bool_], every: int, warm_up: float
) -> Ladder:
    """How replicas moved in all blocks together."""
    total = task.tallies.total
    acceptance = total[:-1, SWAPPED] / np.maximum(total[:-1, TRIED], 1)
    ladders = task.tallies.blocks * task.engine.lanes * task.ladders
    trips = float(total[:, TRIPS].sum() / ladders)
    return Ladder(acceptance, trips, clusters, every, warm_up)


def room_for(temperatures: int) -> tuple[int, int]:
    """Rows of lanes of a run, and the ladders that they hold: an even number."""
    rows = -(-2 * temperatures // LANES)
    return rows, rows * LANES // (2 * temperatures) * 2


def scratch(engine: Engine, rows: int) -> Clusters:
    """The graph for cluster moves and room for one thread; nearly nothing for no rows."""
    size = len(engine.order) if rows else 0
    sites, weights = plain_neighbours(engine.tables) if rows else np.zeros((2, 0), np.int32)
    return Clusters(
        engine.tables.starts, sites, weights,
        np.zeros((rows, size + 1), np.uint64), np.zeros((rows, size), np.uint64),
        np.zeros(size + 1, np.uint8), np.zeros(size + 1, np.uint8),
        np.zeros(size + 1, np.int32), np.zeros(size, np.int32), np.zeros(size, np.int64),
    )  # fmt: skip


def scratch_like(clusters: Clusters) -> Clusters:
    """The same graph with room of its own, for another thread."""
    starts, sites, weights, *room = clusters
    return Clusters(starts, sites, weights, *(np.zeros_like(array) for array in room))
