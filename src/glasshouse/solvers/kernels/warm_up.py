"""One annealing of one block, held for some sweeps at each β, to see what a ladder needs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.arrays import zeros64
from glasshouse.kernels.vectors import bits, load
from glasshouse.solvers.kernels.clusters import find_clusters
from glasshouse.solvers.kernels.driver import keep, measure, step, workspace

HOLD = 16  # sweeps at each β: six to settle,
SPAN = 10  # and ten, after which spins are compared with what they were
PAIRS = 16  # of lanes in which clusters are looked for


class Sightings(NamedTuple):
    """What was seen at each β."""

    energies: npt.NDArray[np.float64]  # mean of the lanes in the last ten sweeps
    kept: npt.NDArray[np.float64]  # mean overlap of a lane with itself ten sweeps before
    shared: npt.NDArray[np.float64]  # mean |overlap| of two lanes
    before: npt.NDArray[np.uint8]  # the spins ten sweeps before, as `LaneBlock.states`


@compiled
def warm_up(tables: Any, betas: Any, done: Any, until: Any, block: Any, seen: Any) -> Any:
    """Sweeps `done` + 1 to `until`, `HOLD` of them at each β."""
    work = workspace(tables, block)
    while done < until:
        stage, sweep = done // HOLD, done % HOLD + 1
        step(tables, betas[stage], work, block)
        done += 1
        if sweep > HOLD - SPAN:
            measure(tables, block)
            for lane in range(block.energies.size):
                seen.energies[stage] += block.energies[lane] / (SPAN * block.energies.size)
        if sweep in (HOLD - SPAN, HOLD):
            for lane in range(block.mask.size):
                block.mask[lane] = 255
            keep(tables, block)
            if sweep == HOLD:
                compare(stage, block.states, block.mask.size, seen)
            seen.before[:] = block.states
    return done


@inner
def compare(stage: Any, states: Any, lanes: Any, seen: Any) -> None:
    """How much lanes have kept of what they were, and how much they have in common."""
    size = states.size // lanes
    kept, shared = zeros64(lanes), zeros64(lanes)
    for here in range(0, states.size, lanes):
        for lane in range(lanes):
            kept[lane] += states[here + lane] == seen.before[here + lane]
            shared[lane] += states[here + lane] == states[here + (lane + 1) % lanes]
    for lane in range(lanes):
        seen.kept[stage] += (2 * kept[lane] - size) / (size * lanes)
        seen.shared[stage] += abs(2 * shared[lane] - size) / (size * lanes)


@compiled
def sample_clusters(states: Any, even: Any, clusters: Any) -> Any:
    """Sites in clusters, and in the largest ones, of some pairs of the lanes of one row."""
    words = clusters.words[0]
    for site in range(states.size // 64):
        words[site] = bits(load(states, 64 * site, 64))
    total, largest = 0, 0
    for lane in range(PAIRS):
        count, most = find_clusters(lane, lane + 32, even, clusters)
        total += clusters.ends[count - 1] if count else 0
        largest += most
    return total, largest
