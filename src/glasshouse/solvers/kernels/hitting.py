"""The number of sweeps until the target is reached, for single problems and for ensembles."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.adjacency import fill_rows, sort_rows
from glasshouse.kernels.arrays import empty, zeros
from glasshouse.solvers.kernels import byte_tables
from glasshouse.solvers.kernels.block import LaneBlock, seed, spawn
from glasshouse.solvers.kernels.driver import all_hit, begin, measure, step, workspace
from glasshouse.solvers.kernels.sweep_order import colour


@compiled
def race_block(
    tables: Any, betas: Any, key: Any, index: Any, goal: Any, needed: Any, block: Any, done: Any,
    until: Any,
) -> Any:  # fmt: skip
    """Do sweeps `done` + 1 to `until` on a block of runs, and record hits but not states.

    Runs start from random states if `done` is 0. Returns `until`, or the number of all sweeps if
    the first `needed` runs have all reached the goal, so that no sweeps remain.
    """
    if done == 0:
        seed(key, index, block.generator)
        begin(tables, block)
        for lane in range(block.hits.size):
            block.hits[lane] = 0
    work = workspace(tables, block)
    for number in range(done + 1, until + 1):
        step(tables, betas[number - 1], work, block)
        measure(tables, block)
        reached = False
        for lane in range(block.hits.size):
            reached |= block.energies[lane] <= goal and block.hits[lane] == 0
        if reached:
            for lane in range(block.hits.size):
                if block.energies[lane] <= goal and block.hits[lane] == 0:
                    block.hits[lane] = number
            if all_hit(block.hits, needed):
                return betas.size
    return until


@compiled
def count_sweeps(
    hits: Any, sweeps: Any, max_sweeps: Any, totals: Any, done: Any, spent: Any
) -> Any:
    """Write the samples of N_tot that the runs of a block complete, in run order.

    A sample is the number of sweeps of all its runs, of which the last ends at its hit. A sample
    that exceeds `max_sweeps` is censored, and written as -max_sweeps. Returns the number of
    completed samples, and the sweeps spent on the next sample so far.
    """
    for lane in range(hits.size):
        if done < totals.size:
            hit = hits[lane] > 0
            spent += hits[lane] if hit else sweeps
            if spent > max_sweeps or (spent == max_sweeps and not hit):
                totals[done] = -max_sweeps
                done, spent = done + 1, 0
            elif hit:
                totals[done] = spent
                done, spent = done + 1, 0
    return done, spent


@inner
def loop_adjacency(num_spins: Any, nodes: Any, weights: Any) -> Any:
    """Return the adjacency of a sum of loops with the same weights, without the ghost's row.

    In the planted gauge, edge k of a loop has weight weights[k] and joins its nodes k and k + 1;
    node `num_spins` is the ghost. The weights of shared edges are added; sums of 0 are removed.
    """
    length = weights.size
    ends = zeros(2 * nodes.size, np.int32)
    for loop in range(nodes.shape[0]):
        for k in range(length):
            ends[2 * (loop * length + k)] = nodes[loop, k]
            ends[2 * (loop * length + k) + 1] = nodes[loop, (k + 1) % length]
    starts, neighbours, ids, is_ascending = fill_rows(num_spins + 1, ends)
    if not is_ascending:
        sort_rows(starts, ends, neighbours, ids)
    merged, values = zeros(num_spins + 1, np.int64), zeros(neighbours.size, np.int64)
    size = 0
    for i in range(num_spins):
        for k in range(starts[i], starts[i + 1]):
            if size == merged[i] or neighbours[size - 1] != neighbours[k]:
                neighbours[size], values[size] = neighbours[k], 0
                size += 1
            values[size - 1] += weights[ids[k] % length]
            last_of_pair = k + 1 == starts[i + 1] or neighbours[k + 1] != neighbours[k]
            size -= last_of_pair and values[size - 1] == 0
        merged[i + 1] = size
    return merged, neighbours[:size], values[:size]


@compiled
def race_ensemble(
    num_spins: Any, nodes: Any, weights: Any, betas: Any, max_sweeps: Any, key: Any, first: Any,
    totals: Any, stop: Any,
) -> None:  # fmt: skip
    """Use the byte kernel to sample N_tot for an ensemble of sums of loops with the same weights.

    Instance k is nodes[k]; its random numbers depend on the key and on first + k. Samples of
    instances that the byte kernel does not support stay 0. Ends early if stop[0] is set.
    """
    own_key = empty(4, np.uint64)
    generator = empty(32, np.uint64)
    energies, hits = zeros(64, np.int32), zeros(64, np.int32)
    mask = empty(64, np.uint8)
    total = 0  # cached code that calls `sum` of an array loads SciPy
    for weight in weights:
        total += weight
    for k in range(nodes.shape[0]):
        starts, neighbours, values = loop_adjacency(num_spins, nodes[k], weights)
        if not byte_tables.fits(starts, values):
            continue
        tables, order, levels = byte_tables.build(
            colour(starts, neighbours), starts, neighbours, values
        )
        if levels > 32:
            continue
        spins = empty((2 * order.size + 2) * 64, np.uint8)
        block = LaneBlock(generator, spins, energies, energies, mask, energies, hits, mask, 0)
        spawn(key, first + k, own_key)
        goal = -nodes.shape[1] * total
        index, done, spent = 0, 0, 0
        while done < totals.shape[1]:
            if stop[0] != 0:
                return
            needed = min(64, totals.shape[1] - done)
            race_block(tables, betas, own_key, index, goal, needed, block, 0, betas.size)
            done, spent = count_sweeps(hits, betas.size, max_sweeps, totals[k], done, spent)
            index += 1
