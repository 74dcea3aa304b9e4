"""Driving one kernel by hand: whole blocks, and the states they end in."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np

from glasshouse.problems import Ising
from glasshouse.problems.expansion import of_pairs
from glasshouse.solvers.engine import ColouredGraph, Engine, Hypergraph
from glasshouse.solvers.engines import KERNELS, dense_numbers
from glasshouse.solvers.kernels import driver

MAKERS = {name.removesuffix(" lanes"): kernel.make for name, kernel in KERNELS.items()}


def key_of(seed: int) -> np.ndarray:
    return np.random.SeedSequence(seed).generate_state(4, np.uint64)


def make_engine(kernel: str, problem: Ising) -> Engine | None:
    """A problem prepared for a kernel; dense kernels take any problem that fits.

    The kernel for polynomials gets the same pairs as a polynomial of degree 2.
    """
    if KERNELS.get(f"{kernel} lanes", KERNELS["scalar"]).any_degree:
        return MAKERS[kernel](Hypergraph(of_pairs(problem)))
    with patch.multiple(dense_numbers, LEAST_FILL=0, LEAST_SUM=0):
        return MAKERS[kernel](ColouredGraph(problem))


def final_states(made: Engine, problem: Ising, betas: np.ndarray, runs: int, seed: int):
    """The state of each run after its last sweep, best or not."""
    states = np.empty((-(-runs // made.lanes) * made.lanes, problem.num_variables), np.int8)
    for index in range(len(states) // made.lanes):
        block = made.new_block()
        driver.start_block(made.tables, key_of(seed), index, made.never, block)
        driver.anneal_block(made.tables, betas[:-1], 0, 10**6, made.lanes, block)
        driver.anneal_block(made.tables, betas[-1:], len(betas) - 1, 0, made.lanes, block)
        made.states(block, states[index * made.lanes : (index + 1) * made.lanes])
    return states[:runs]
