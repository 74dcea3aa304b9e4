"""Parallel tempering on byte lanes: the temperatures of a ladder lie side by side in a row.

Each lane has a temperature of its own. Replicas that exchange do so by exchanging temperatures: the
thresholds of their two lanes, a few bytes, while the spins stay where they are. A run has two
ladders, *twins*, whose replicas at the same temperature make cluster moves together. As many runs
as there is room for share the rows of lanes of one block.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled, inlined, inner
from glasshouse.kernels.xoshiro import next_word
from glasshouse.solvers.kernels.block import LaneBlock
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
from glasshouse.solvers.kernels.driver import all_hit
from glasshouse.solvers.kernels.exponential import threshold
from glasshouse.solvers.kernels.generator import seed
from glasshouse.solvers.kernels.tempering import COLD, HOT, SWAP_STREAM, SWAPPED, TRIED, TRIPS

TWINS = 2


class Ladders(NamedTuple):
    """Replicas on lanes; lane 64 w + l is lane l of row w. `block` keeps what runs found."""

    generators: npt.NDArray[np.uint64]  # (rows, words)
    spins: npt.NDArray[np.uint8]  # (rows, …)
    heights: npt.NDArray[np.uint8]  # (rows, …): as `LaneWork` has them
    level_rows: npt.NDArray[np.int64]
    energies: npt.NDArray[np.int32]  # of each lane
    places: npt.NDArray[np.int32]  # (ladders, K): the lane at each temperature
    ends: npt.NDArray[np.uint8]  # the end of the ladder that a lane was at last
    tallies: npt.NDArray[np.int64]  # (K, 3), as in `tempering`
    dice: npt.NDArray[np.uint64]  # four words: the stream of exchanges and cluster moves
    block: LaneBlock


@inner
def row_of(ladders: Any, row: Any) -> Any:
    """One row of lanes as a block of its own."""
    block = ladders.block
    energies = ladders.energies[64 * row : 64 * row + 64]
    return LaneBlock(
        ladders.generators[row], ladders.spins[row], energies, block.lowest, block.states,
        block.goals, block.hits, block.mask, block.never,
    )  # fmt: skip


@compiled
def start_ladders(tables: Any, betas: Any, key: Any, index: Any, goal: Any, ladders: Any) -> None:
    """Random spins; the lanes of a ladder in the order of their temperatures."""
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
    for run in range(block.hits.size):
        block.lowest[run] = -(block.never + 1)
        block.goals[run] = goal
        block.hits[run] = 0


@inner
def set_heights(tables: Any, beta: Any, lane: Any, ladders: Any) -> None:
    """The thresholds of a lane at β, digit by digit."""
    heights = ladders.heights[lane >> 6]
    for field in range(heights.size // 256):
        value = np.int64(threshold(2.0 * beta * tables.fields[field]))
        for digit in range(4):
            heights[256 * field + 64 * digit + (lane & 63)] = value >> (8 * digit) & 255


@compiled
def temper_ladders(
    tables: Any, betas: Any, done: Any, until: Any, needed: Any, ladders: Any,
    clusters: Any, chosen: Any, every: Any, even: Any,
) -> Any:  # fmt: skip
    """Sweeps `done` + 1 to `until` of all lanes, exchanges after each, cluster moves after some.

    `chosen` tells at which temperatures clusters are moved, after each `every` sweeps (0: never).
    Returns the number of sweeps done in all; fewer if the first `needed` runs reached their goals.
    """
    sites = np.empty(MOST_IN_GROUP, np.int64)
    ties = np.empty(MOST_IN_GROUP * 64, np.uint8)
    while done < until:
        done += 1
        for row in range(ladders.spins.shape[0]):
            work = LaneWork(ladders.heights[row], ladders.level_rows, sites, ties)
            sweep(tables, work, ladders.generators[row], ladders.spins[row])
            measure(tables, row_of(ladders, row))
        reached = note_lanes(done, ladders)
        if every and done % every == 0:
            reached |= move_clusters(done, chosen, even, ladders, clusters)
        if reached and all_hit(ladders.block.hits, needed):
            break
        exchange_lanes(betas, done % 2, ladders)
    return done


@inner
def note_lanes(number: Any, ladders: Any) -> Any:
    """Keep the best state of each run; whether goals were reached."""
    block, energies = ladders.block, ladders.energies
    width = TWINS * ladders.places.shape[1]
    reached = False
    for run in range(block.hits.size):
        best = run * width
        for lane in range(best + 1, run * width + width):
            if energies[lane] < energies[best]:
                best = lane
        if energies[best] < block.lowest[run]:
            reached |= note_energy(energies[best], number, run, block)
            spins = ladders.spins[best >> 6]
            for i in range(block.states.size // block.hits.size):
                block.states[i * block.hits.size + run] = spins[128 * i + (best & 63)]
    return reached


@inner
def note_energy(energy: Any, number: Any, run: Any, block: Any) -> Any:
    """Take account of a run's new lowest energy; whether it is the one looked for."""
    block.lowest[run] = energy
    if energy > block.goals[run]:
        return False
    block.hits[run] = number
    block.goals[run] = block.never
    return True


@inner
def exchange_lanes(betas: Any, parity: Any, ladders: Any) -> None:
    """Exchange neighbouring temperatures with probability min(1, exp(Δβ ΔE)), every other pair."""
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
    """Exchange the thresholds of two lanes."""
    mine, yours = ladders.heights[first >> 6], ladders.heights[second >> 6]
    for start in range(0, mine.size, 64):
        a, b = start + (first & 63), start + (second & 63)
        mine[a], yours[b] = yours[b], mine[a]


@inlined
def note_ends(places: Any, ladders: Any) -> None:
    """Count a round trip where a replica is back at the hot end after the cold one."""
    hottest, coldest = places[0], places[places.size - 1]
    ladders.tallies[0, TRIPS] += ladders.ends[hottest] == COLD
    ladders.ends[hottest] = HOT
    if ladders.ends[coldest] == HOT:
        ladders.ends[coldest] = COLD


@inner
def move_clusters(number: Any, chosen: Any, even: Any, ladders: Any, clusters: Any) -> Any:
    """Cluster moves of all twins at the chosen temperatures; whether goals were reached."""
    block, energies = ladders.block, ladders.energies
    reached = False
    read_spins(ladders.spins, clusters)
    for run in range(block.hits.size):
        for k in range(chosen.size):
            if not chosen[k]:
                continue
            first = ladders.places[TWINS * run, k]
            second = ladders.places[TWINS * run + 1, k]
            count, _ = find_clusters(first, second, even, clusters)
            lowest = energies[first] + best_gain(count, clusters)
            if lowest < block.lowest[run]:
                reached |= note_energy(lowest, number, run, block)
                write_best(first, count, run, clusters, block)
            gain = toss(first, second, count, ladders.dice, clusters)
            energies[first] += gain
            energies[second] -= gain
    turn_spins(ladders.spins, clusters)
    return reached
