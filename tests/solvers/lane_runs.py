"""Driving ladders on lanes by hand: their tasks, and the states that lanes hold."""

from __future__ import annotations

import numpy as np
from tests.solvers.block_runs import key_of, make_engine

from glasshouse.problems import Ising
from glasshouse.solvers.kernels.lane_ladders import Ladders
from glasshouse.solvers.replicas import LANES, LaneTask


def lane_task(problem: Ising, betas: list[float], sweeps: int, every: int, seed: int) -> LaneTask:
    """Ladders with cluster moves at all temperatures, after each `every` sweeps."""
    made = make_engine("byte", problem)
    even = not problem.fields.any()
    chosen = np.ones(len(betas), bool)
    return LaneTask(
        made, np.array(betas), sweeps, made.never, key_of(seed), even, chosen, every
    )  # fmt: skip


def lane_states(task: LaneTask, problem: Ising, ladders: Ladders) -> np.ndarray:
    """The spins of all lanes, one per row; isolated spins are up."""
    rows = ladders.spins.reshape(task.rows, -1, 2, LANES)
    assert (rows[:, :, 0] == ~rows[:, :, 1]).all()
    sites = rows[:, :-1, 0].transpose(0, 2, 1).reshape(task.rows * LANES, -1)
    states = np.ones((len(sites), problem.num_variables), np.int8)
    states[:, task.row.order] = np.where(sites == 255, -1, 1)
    return states
