"""Parallel tempering with any kernel: one block of lanes for each temperature of a ladder.

All lanes of a block have one temperature, so that any kernel can be used. Lanes of neighbouring
temperatures exchange their spins.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import chosen_by_type, compiled, inner
from glasshouse.kernels.xoshiro import next_word
from glasshouse.solvers.kernels.acceptance import threshold
from glasshouse.solvers.kernels.block import LaneBlock, seed
from glasshouse.solvers.kernels.driver import all_hit, begin, measure, note, step, workspace
from glasshouse.solvers.kernels.kernel import functions_of

SWAP_STREAM = 1 << 40  # a stream index that no replica uses
# Columns of the tallies, which have one row per temperature: exchanges with the next temperature,
# tried and accepted, and round trips that ended at this temperature.
TRIED, SWAPPED, TRIPS = range(3)
HOT, COLD = 1, 2  # the ends of a ladder


class Replicas(NamedTuple):
    """The replicas of a block of runs at each temperature, and the results of the runs."""

    generators: npt.NDArray[np.uint64]  # (K, words)
    spins: npt.NDArray[Any]  # (K, …)
    energies: npt.NDArray[Any]  # (K, lanes)
    ends: npt.NDArray[np.uint8]  # (K, lanes): the end of the ladder that a replica visited last
    tallies: npt.NDArray[np.int64]  # (K, 3)
    swaps: npt.NDArray[np.uint64]  # four words: the stream that decides exchanges
    block: LaneBlock


@inner
def replica(replicas: Any, k: Any) -> Any:
    """Return the replicas at temperature k as a block that records the results of the runs."""
    block = replicas.block
    return LaneBlock(
        replicas.generators[k], replicas.spins[k], replicas.energies[k], block.lowest,
        block.states, block.goals, block.hits, block.mask, block.never,
    )  # fmt: skip


@compiled
def start_replicas(tables: Any, key: Any, index: Any, goal: Any, replicas: Any) -> None:
    """Draw random spins for the replicas at every temperature."""
    number = replicas.spins.shape[0]
    for k in range(number):
        seed(key, index * number + k, replicas.generators[k])
        begin(tables, replica(replicas, k))
    seed(key, SWAP_STREAM + index, replicas.swaps)
    block = replicas.block
    for lane in range(block.hits.size):
        block.lowest[lane] = -(block.never + 1)
        block.goals[lane] = goal
        block.hits[lane] = 0


@compiled
def temper_block(tables: Any, betas: Any, done: Any, until: Any, needed: Any, replicas: Any) -> Any:
    """Do sweeps `done` + 1 to `until` at all temperatures, with exchanges after each sweep.

    Returns `until`, or the sweep after which the first `needed` runs have all reached their goals.
    """
    work = workspace(tables, replicas.block)
    while done < until:
        done += 1
        reached = False
        for k in range(betas.size):
            block = replica(replicas, k)
            step(tables, betas[k], work, block)
            measure(tables, block)
            reached |= note(tables, done, block)
        if reached and all_hit(replicas.block.hits, needed):
            break
        for k in range(done % 2, betas.size - 1, 2):
            exchange(tables, betas[k + 1] - betas[k], k, replicas)
        note_ends(replicas.ends, replicas.tallies)
    return done


@inner
def exchange(tables: Any, gap: Any, k: Any, replicas: Any) -> None:
    """Exchange the spins at temperatures k and k + 1, with probability min(1, exp(Δβ ΔE))."""
    first, second = replicas.energies[k], replicas.energies[k + 1]
    mine, yours = replicas.ends[k], replicas.ends[k + 1]
    mask = replicas.block.mask
    some = 0
    for lane in range(mask.size):
        gain = gap * (np.float64(second[lane]) - np.float64(first[lane]))
        dice = next_word(replicas.swaps) >> np.uint64(32)
        swap = gain >= 0 or dice < threshold(-gain)
        mask[lane] = 255 if swap else 0
        some += swap
        if swap:
            first[lane], second[lane] = second[lane], first[lane]
            mine[lane], yours[lane] = yours[lane], mine[lane]
    replicas.tallies[k, TRIED] += mask.size
    replicas.tallies[k, SWAPPED] += some
    if some:
        swap_lanes(tables, replicas.spins[k], replicas.spins[k + 1], mask)


@inner
def swap_rows(first: Any, second: Any, mask: Any) -> None:
    """Exchange the values of the marked lanes between two arrays, row by row."""
    for start in range(0, first.size, mask.size):
        for lane in range(mask.size):
            mine, yours = first[start + lane], second[start + lane]
            first[start + lane] = yours if mask[lane] else mine
            second[start + lane] = mine if mask[lane] else yours


def swap_lanes(tables: Any, first: Any, second: Any, mask: Any) -> Any:
    """Exchange the spins of the marked lanes between two temperatures."""


@chosen_by_type(swap_lanes)
def _swap_lanes(tables: Any, first: Any, second: Any, mask: Any) -> Any:
    # In some kernels, runs are stored one after another.
    swap_them = getattr(functions_of(tables.instance_class), "swap_records", swap_rows)

    def swap(tables: Any, first: Any, second: Any, mask: Any) -> Any:
        swap_them(first, second, mask)

    return swap


@inner
def note_ends(ends: Any, tallies: Any) -> None:
    """Count a round trip for each lane whose hottest replica has come from the cold end."""
    hottest, coldest = ends[0], ends[ends.shape[0] - 1]
    for lane in range(hottest.size):
        tallies[0, TRIPS] += hottest[lane] == COLD
        hottest[lane] = HOT
        if coldest[lane] == HOT:
            coldest[lane] = COLD
