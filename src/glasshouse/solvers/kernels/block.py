"""A block of runs side by side, one per lane, and the random streams of its lanes.

The streams of a block are a function of a key (256 bits from a SeedSequence) and of the block's
index, so the random numbers of run r do not depend on the number of runs or threads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled, inner

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class LaneBlock(NamedTuple):
    """A block of runs, one per lane; all energies exclude the problem's offset."""

    generator: npt.NDArray[np.uint64]
    spins: npt.NDArray[Any]  # in the kernel's own form
    energies: npt.NDArray[Any]  # energies of the spins
    lowest: npt.NDArray[Any]  # lowest energy at the end of any sweep so far
    states: npt.NDArray[np.uint8]  # spins of that state: row per site, byte per lane, 255 = down
    goals: npt.NDArray[Any]  # energy to reach; `never` after it was reached, or without a target
    hits: npt.NDArray[np.int32]  # number of the sweep that first reached the goal, 0 = none
    mask: npt.NDArray[np.uint8]  # scratch: 255 for the selected lanes
    never: Any  # an energy below that of any state


@inner
def mark_hits(number: Any, block: Any) -> Any:
    """Record the hits and energies of runs that reach their goals; mark these runs in the mask."""
    for lane in range(block.energies.size):
        reached = block.energies[lane] <= block.goals[lane]
        block.mask[lane] = 255 if reached else 0
        if reached:
            block.hits[lane] = number
            block.lowest[lane] = block.energies[lane]
            block.goals[lane] = block.never


@inner
def mix(word: Any) -> Any:
    """Mix the bits of a 64-bit word with the SplitMix64 finaliser, which is a bijection."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@inner
def seed(key: Any, block: Any, generator: Any) -> Any:
    """Fill the state of a generator from a key of four words and the index of a block.

    Two counters, whose starts depend on the whole key and on the block, are mixed and combined:
    streams of different blocks start 128 random bits apart.
    """
    index = np.uint64(block)
    first = mix(key[0] ^ mix(key[1] + index * GOLDEN))
    second = mix(key[2] ^ mix(key[3] ^ mix(index + GOLDEN)))
    for k in range(generator.size):
        step = np.uint64(k + 1) * GOLDEN
        generator[k] = mix(first + step) ^ mix(mix(second ^ step))


@compiled
def spawn(key: Any, index: Any, child: Any) -> None:
    """Derive the key of child `index` from all words of the parent key."""
    total = np.uint64(index) * GOLDEN
    for word in key:
        total = mix(total ^ word) + GOLDEN
    for k in range(child.size):
        child[k] = mix(mix(total + np.uint64(k) * GOLDEN) ^ key[k])
