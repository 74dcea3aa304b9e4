"""Parallel tempering on byte lanes, with one lane for each temperature of a ladder.

Each lane has its own temperature. Replicas exchange their temperatures: the thresholds of their two
lanes, which are a few bytes. The spins stay in their lanes. A run has as many ladders as fill a row
of lanes, but at least two ladders, on as many rows as these need. At each temperature, replicas of
one half of the ladders make cluster moves with replicas of the other half.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled, inlined, inner
from glasshouse.kernels.arrays import empty
from glasshouse.kernels.xoshiro import next_word
from glasshouse.solvers.kernels.acceptance import threshold
from glasshouse.solvers.kernels.block import LaneBlock, seed
from glasshouse.solvers.kernels.byte_lanes import LaneWork, begin, measure, sweep
from glasshouse.solvers.kernels.byte_tables import MOST_IN_GROUP
from glasshouse.solvers.kernels.clusters import (
    best_gain,
    find_clusters,
    read_spins,
    toss,
    turn_spins,
    write_best,
)
from glasshouse.solvers.kernels.tempering import COLD, HOT, SWAP_STREAM, SWAPPED, TRIED, TRIPS


class Ladders(NamedTuple):
    """The replicas of a run, one per lane; lane 64·w + l is lane l of row w."""

    generators: npt.NDArray[np.uint64]  # (rows, words)
    spins: npt.NDArray[np.uint8]  # (rows, …)
    heights: npt.NDArray[np.uint8]  # (rows, …): as in `LaneWork`
    level_rows: npt.NDArray[np.int64]
    energies: npt.NDArray[np.int32]  # energy of each lane
    places: npt.NDArray[np.int32]  # (ladders, K): the lane at each temperature
    ends: npt.NDArray[np.uint8]  # the end of the ladder that a lane visited last
    tallies: npt.NDArray[np.int64]  # (K, 3), as in `tempering`
    dice: npt.NDArray[np.uint64]  # four words: the stream of exchanges and cluster moves
    block: LaneBlock


@inner
def row_of(ladders: Any, row: Any) -> Any:
    """Return one row of lanes as a block of 64 runs."""
    block = ladders.block
    energies = ladders.energies[64 * row : 64 * row + 64]
    return LaneBlock(
        ladders.generators[row], ladders.spins[row], energies, block.lowest, block.states,
        block.goals, block.hits, block.mask, block.never,
    )  # fmt: skip


@compiled
def start_ladders(tables: Any, betas: Any, key: Any, index: Any, goal: Any, ladders: Any) -> None:
    """Draw random spins, and assign the temperatures of each ladder to its lanes in order."""
    rows, steps, block = ladders.spins.shape[0], betas.size, ladders.block
    for row in range(rows):
        seed(key, index * rows + row, ladders.generators[row])
        begin(tables, row_of(ladders, row))
    seed(key, SWAP_STREAM + index, ladders.dice)
    for lane in range(64 * rows):
        used = lane < ladders.places.size
        set_heights(tables, betas[lane % steps if used else 0], lane, ladders)
        if used:
            ladders.places[lane // steps, lane % steps] = lane
    block.lowest[0], block.goals[0], block.hits[0] = -(block.never + 1), goal, 0


@inner
def set_heights(tables: Any, beta: Any, lane: Any, ladders: Any) -> None:
    """Set the thresholds of one lane at β, byte by byte."""
    heights = ladders.heights[lane >> 6]
    for field in range(heights.size // 256):
        value = np.int64(threshold(2.0 * beta * tables.fields[field]))
        for digit in range(4):
            heights[256 * field + 64 * digit + (lane & 63)] = value >> (8 * digit) & 255


@compiled
def temper_ladders(
    tables: Any, betas: Any, done: Any, until: Any, ladders: Any,
    clusters: Any, chosen: Any, every: Any, even: Any,
) -> Any:  # fmt: skip
    """Do sweeps `done` + 1 to `until` of all lanes, with exchanges and cluster moves.

    Exchanges follow each sweep. `chosen` marks the temperatures of cluster moves, which follow each
    `every` sweeps (0 means never). Returns `until`, or the sweep in which the goal was reached.
    """
    sites = empty(MOST_IN_GROUP, np.int64)
    ties = empty(MOST_IN_GROUP * 64, np.uint8)
    while done < until:
        done += 1
        for row in range(ladders.spins.shape[0]):
            work = LaneWork(ladders.heights[row], ladders.level_rows, sites, ties)
            sweep(tables, work, ladders.generators[row], ladders.spins[row])
            measure(tables, row_of(ladders, row))
        reached = note_lanes(done, ladders)
        if every and done % every == 0:
            reached |= move_clusters(done, chosen, even, done // every, ladders, clusters)
        if reached:
            break
        exchange_lanes(betas, done % 2, ladders)
    return done


@inner
def note_lanes(number: Any, ladders: Any) -> Any:
    """Record the best state in any lane if it is a new best; return whether it reaches the goal."""
    block, energies = ladders.block, ladders.energies
    best = 0
    for lane in range(ladders.places.size):
        if energies[lane] < energies[best]:
            best = lane
    if energies[best] >= block.lowest[0]:
        return False
    spins = ladders.spins[best >> 6]
    for i in range(block.states.size):
        block.states[i] = spins[128 * i + (best & 63)]
    return note_energy(energies[best], number, block)


@inner
def note_energy(energy: Any, number: Any, block: Any) -> Any:
    """Record a new lowest energy, and return whether it reaches the goal."""
    block.lowest[0] = energy
    if energy > block.goals[0]:
        return False
    block.hits[0] = number
    block.goals[0] = block.never
    return True


@inner
def exchange_lanes(betas: Any, parity: Any, ladders: Any) -> None:
    """Swap replicas at every other pair of adjacent β, with probability min(1, exp(Δβ ΔE))."""
    energies, tallies, steps = ladders.energies, ladders.tallies, betas.size
    for ladder in range(ladders.places.shape[0]):
        places = ladders.places[ladder]
        for k in range(parity, steps - 1, 2):
            first, second = places[k], places[k + 1]
            difference = np.float64(energies[second]) - np.float64(energies[first])
            gain = (betas[k + 1] - betas[k]) * difference
            dice = next_word(ladders.dice) >> np.uint64(32)
            tallies[k, TRIED] += 1
            if gain >= 0 or dice < threshold(-gain):
                tallies[k, SWAPPED] += 1
                places[k], places[k + 1] = second, first
                swap_heights(first, second, ladders)
        note_ends(places, ladders)


@inner
def swap_heights(first: Any, second: Any, ladders: Any) -> None:
    """Exchange the thresholds, and thereby the temperatures, of two lanes."""
    mine, yours = ladders.heights[first >> 6], ladders.heights[second >> 6]
    for start in range(0, mine.size, 64):
        a, b = start + (first & 63), start + (second & 63)
        mine[a], yours[b] = yours[b], mine[a]


@inlined
def note_ends(places: Any, ladders: Any) -> None:
    """Count a round trip if the hottest replica of a ladder has come from the cold end."""
    hottest, coldest = places[0], places[places.size - 1]
    ladders.tallies[0, TRIPS] += ladders.ends[hottest] == COLD
    ladders.ends[hottest] = HOT
    if ladders.ends[coldest] == HOT:
        ladders.ends[coldest] = COLD


@inner
def move_clusters(
    number: Any, chosen: Any, even: Any, turn: Any, ladders: Any, clusters: Any
) -> Any:
    """Make cluster moves at the chosen temperatures, and return whether the goal was reached.

    Ladders of the first half are paired with ladders of the second half, in turn.
    """
    block, energies, half = ladders.block, ladders.energies, ladders.places.shape[0] // 2
    reached = False
    read_spins(ladders.spins, clusters)
    for ladder in range(half):
        for k in range(chosen.size):
            if not chosen[k]:
                continue
            first = ladders.places[ladder, k]
            second = ladders.places[half + (ladder + turn) % half, k]
            count, _ = find_clusters(first, second, even, clusters)
            lowest = energies[first] + best_gain(count, clusters)
            if lowest < block.lowest[0]:
                reached |= note_energy(lowest, number, block)
                write_best(first, count, clusters, block.states)
            gain = toss(first, second, count, ladders.dice, clusters)
            energies[first] += gain
            energies[second] -= gain
    turn_spins(ladders.spins, clusters)
    return reached
