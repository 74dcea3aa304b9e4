"""Code shared by the kernels for dense problems; in these kernels, runs store local fields.

Annealing of a dense problem takes most of its time to add up local fields, and in most sweeps runs
are so cold that spins hardly ever flip. Here each run keeps the local field of every site, and only
flips take time. Lanes are sixteen sites of one run: a single run is as fast as each of many runs.

All numbers are integer multiples of a unit, in 16 bits if these suffice, otherwise in 32 bits.
Weights that are not integers are rounded to the unit, a power of two, so that fields never drift.
The rounding error of an energy, the *excess*, is added if the energy may be the lowest energy of
its run or reach the goal.

The record of a run in `block.spins` is its fields, then its spins (0 for up, -1 for down). Sites
are in slots, whose number is a multiple of sixteen; a large field fixes spins of unused slots.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from glasshouse.compiled import chosen_by_type, inlined, inner
from glasshouse.kernels.arrays import empty, seen_as
from glasshouse.kernels.extremes import higher, lower
from glasshouse.kernels.vectors import add_lanes, cast, fill, fill_like, load, store
from glasshouse.kernels.xoshiro import advance
from glasshouse.solvers.kernels.acceptance import LN_2

# The words of a run in `block.generator`: eight streams for vectors, a stream for words, then the
# fingerprint of a state and its excess, which are random until a state is known.
SINGLE, STATE, EXCESS, WORDS = 32, 36, 37, 38
# A draw is above AHEAD half-lives with probability 2^-AHEAD.
AHEAD = 8
FARTHEST = 32  # no draw is above this many half-lives
_LONGEST = 2.0**100  # half-life, in units: practically infinite, but finite as a float32
LANE_BITS = 1 << np.arange(16, dtype=np.int32)
# Random odd numbers by which spins are multiplied in a fingerprint.
_STEP, *_LANES = (np.random.default_rng(0).integers(-(2**62), 2**62, 17) * 2 + 1).tolist()
_LANE_KEYS = np.array(_LANES, np.int64)


class Rounding(NamedTuple):
    """The energy unit of integer weights, and the remainders that rounding to this unit leaves."""

    unit: float
    most: float  # the sum of all remainders, in the problem's own energy
    couplings: npt.NDArray[np.float32]  # a row for each of the first slots, flat: each pair once
    first: int  # the slot of a row's first column
    fields: npt.NDArray[np.float64]


@inner
def scatter(tables: Any, run: Any, block: Any) -> Any:
    """Draw a run's random spins for all slots in use; spins of unused slots are up."""
    record = 2 * tables.own.size * run
    place = WORDS * run + SINGLE
    word = np.uint64(0)
    for slot in range(tables.own.size):
        block.spins[record + tables.own.size + slot] = 0
    for k in range(tables.slots.size):
        if k & 63 == 0:
            word = next_word(block.generator, place)
        down = np.int64(word & np.uint64(1))
        block.spins[record + tables.own.size + tables.slots[k]] = -down
        word >>= np.uint64(1)


@inlined
def next_word(words: Any, place: Any) -> Any:
    """Return a random word of the stream whose four words start at index `place`."""
    word, a, b, c, d = advance(words[place], words[place + 1], words[place + 2], words[place + 3])
    words[place], words[place + 1], words[place + 2], words[place + 3] = a, b, c, d
    return word


@inlined
def few(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return sixteen bits, each set with probability 2^-8, and the next state of the stream."""
    word, a, b, c, d = advance(a, b, c, d)
    other, a, b, c, d = advance(a, b, c, d)
    word &= other
    word &= word >> np.uint64(32)
    word &= word >> np.uint64(16)
    return np.int64(word & np.uint64(0xFFFF)), a, b, c, d


@inlined
def half_life(beta: Any, unit: Any) -> Any:
    """Return the increase in the opposing field, in integer units, that halves a flip rate."""
    rate = 2.0 * beta * unit
    return lower(LN_2 / rate, _LONGEST) if rate > 0 else _LONGEST


@inlined
def energy_in_units(tables: Any, run: Any, block: Any) -> Any:
    """Return the energy -½ Σ spin · (local field + own field) of a run, in integer units."""
    size = tables.own.size
    record = 2 * size * run
    total = fill(np.int64(0), 16)
    for slot in range(0, size, 16):
        spin = cast(load(block.spins, record + size + slot, 16), np.int64)
        field = cast(load(block.spins, record + slot, 16), np.int64)
        field = field + cast(load(tables.own, slot, 16), np.int64)
        total = total + (field ^ spin) - spin
    return -(add_lanes(total) >> 1)


@inner
def excess(tables: Any, run: Any, block: Any) -> Any:
    """Return the rounding error in a run's energy, in integer units."""
    rounding, size = tables.rounding, tables.own.size
    spins = 2 * size * run + size
    sums = empty(16, np.float32)
    width = size - rounding.first
    total = 0.0
    for i in range(size):
        field = rounding.fields[i]
        if i * width < rounding.couplings.size:
            row = fill(np.float32(0), 16)
            for j in range(0, width, 16):
                down = cast(load(block.spins, spins + rounding.first + j, 16), np.float32)
                weight = load(rounding.couplings, i * width + j, 16)
                row = row + (weight + (down + down) * weight)
            store(sums, 0, row)
            for k in range(16):
                field += np.float64(sums[k])
        total -= field if block.spins[spins + i] == 0 else -field
    return total


@inner
def fingerprint(tables: Any, run: Any, block: Any) -> Any:
    """Return a 64-bit hash of the state of a run."""
    size = tables.own.size
    spins = 2 * size * run + size
    total = fill(np.int64(0), 16)
    for slot in range(0, size, 16):
        spin = cast(load(block.spins, spins + slot, 16), np.int64)
        total = total * fill_like(total, _STEP) + spin
    return add_lanes(total * load(_LANE_KEYS, 0, 16))


def exact_energy(tables: Any, run: Any, energy: Any, block: Any) -> Any:
    """Convert a run's energy from the kernel's integer units to the problem's energy."""


@chosen_by_type(exact_energy)
def _exact_energy(tables: Any, run: Any, energy: Any, block: Any) -> Any:
    # Integers of 16 bits are used only if nothing is rounded.
    narrow = block.types[block.fields.index("spins")].dtype == types.int16
    return _without_excess if narrow else _with_excess


def _without_excess(tables: Any, run: Any, energy: Any, block: Any) -> Any:
    return energy * tables.rounding.unit


def _with_excess(tables: Any, run: Any, energy: Any, block: Any) -> Any:
    """Return a run's energy plus its excess; the excess of the run's last state is cached."""
    place = WORDS * run
    states, excesses = seen_as(block.generator, np.int64), seen_as(block.generator, np.float64)
    state = fingerprint(tables, run, block)
    if states[place + STATE] != state:
        states[place + STATE] = state
        excesses[place + EXCESS] = excess(tables, run, block)
    return (energy + excesses[place + EXCESS]) * tables.rounding.unit


@inner
def measure_fields(tables: Any, block: Any) -> None:
    """Compute the energies of all runs, and correct the rounding errors of possible results."""
    rounding = tables.rounding
    for run in range(block.energies.size):
        energy = energy_in_units(tables, run, block)
        about = energy * rounding.unit
        counts = about - rounding.most <= higher(block.lowest[run], block.goals[run])
        if rounding.most > 0 and counts:
            about = exact_energy(tables, run, energy, block)
        block.energies[run] = about


@inner
def keep(tables: Any, block: Any) -> None:
    """For each run that the mask marks, copy its spins to `block.states`, one byte per spin."""
    runs, size = block.mask.size, tables.own.size
    for run in range(runs):
        if block.mask[run]:
            spins = 2 * size * run + size
            for k in range(tables.slots.size):
                block.states[k * runs + run] = 255 if block.spins[spins + tables.slots[k]] else 0


@inner
def goal_in_units(tables: Any, run: Any, block: Any) -> Any:
    """Return the highest energy, in integer units, at which a run may have reached its goal."""
    units = (block.goals[run] + tables.rounding.most) / tables.rounding.unit
    return np.int64(np.floor(lower(higher(units, -(2.0**62)), 2.0**62)))


@inner
def note_hit(tables: Any, number: Any, run: Any, energy: Any, block: Any) -> Any:
    """Record a hit if a run has reached its goal, and return whether it has."""
    exact = energy * tables.rounding.unit
    if tables.rounding.most > 0:
        exact = exact_energy(tables, run, energy, block)
    if exact > block.goals[run]:
        return False
    block.hits[run] = number
    block.lowest[run] = exact
    block.goals[run] = block.never
    for other in range(block.mask.size):
        block.mask[other] = 255 if other == run else 0
    keep(tables, block)
    return True


@inner
def swap_records(first: Any, second: Any, mask: Any) -> None:
    """In the spin arrays of two blocks, exchange the parts that belong to the masked runs."""
    length = first.size // mask.size
    for run in range(mask.size):
        if mask[run]:
            for k in range(run * length, (run + 1) * length):
                first[k], second[k] = second[k], first[k]
