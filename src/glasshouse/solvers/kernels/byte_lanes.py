"""Annealing of 64 runs at once, one byte per run, for sparse problems with few distinct fields.

The spins of a site in all 64 runs are a row of 64 bytes, 0x00 for up and 0xFF for down. Each row
is stored next to its complement. The bond of spin i over an edge is `s_i ^ row_j`: 0xFF if the edge
is unsatisfied. Here row_j is the complement if the weight is negative. The sum of the bonds' *code
weights* is a byte that determines the local field. The magnitudes of a spin's weights are its
*signature*, of which there are few. Each signature has few codes whose field opposes a flip: its
*levels*. Each level has a threshold, exp(-2βx) in 32 bits. A flip is accepted if 8 random bits are
below the first byte of the threshold. Only if the two are equal, 8 more bits decide, and so on
through all 32 bits: the probability is exact, with a quarter of the random numbers.

Sites are grouped by colour and signature. Sites of one colour share no edge, so that the order
within a colour is free, and a group is swept with one table and no branches.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import chosen_by_type, inlined, inner
from glasshouse.kernels.arrays import empty, seen_as
from glasshouse.kernels.extremes import lower
from glasshouse.kernels.vectors import (
    anywhere,
    cast,
    fill,
    item,
    load,
    spread,
    store,
    view,
)
from glasshouse.kernels.xoshiro import advance
from glasshouse.solvers.kernels.acceptance import thresholds
from glasshouse.solvers.kernels.block import mark_hits
from glasshouse.solvers.kernels.byte_tables import MOST_IN_GROUP


class Work(NamedTuple):
    """The scratch arrays of one thread: thresholds, and the tied sites of a group."""

    by_field: npt.NDArray[np.uint32]
    by_level: npt.NDArray[np.uint32]
    digits: npt.NDArray[np.uint8]  # thresholds in bytes, little-endian: the highest has index 3
    tied_sites: npt.NDArray[np.int64]
    ties: npt.NDArray[np.uint8]


@inner
def workspace(tables: Any, block: Any) -> Any:
    """Allocate the scratch arrays of one thread."""
    by_level = empty(tables.level_fields.size, np.uint32)
    return Work(
        empty(tables.fields.size, np.uint32), by_level, seen_as(by_level, np.uint8),
        empty(MOST_IN_GROUP, np.int64),
        empty(MOST_IN_GROUP * 64, np.uint8),
    )  # fmt: skip


class LaneWork(NamedTuple):
    """The scratch arrays of one thread, for lanes that have their own temperatures."""

    heights: npt.NDArray[np.uint8]  # (fields, 4, 64): thresholds, digit by digit, lane by lane
    level_rows: npt.NDArray[np.int64]  # index at which each level begins
    tied_sites: npt.NDArray[np.int64]
    ties: npt.NDArray[np.uint8]


def height(work: Any, level: Any, digit: Any) -> Any:
    """Return byte number `digit` of a level's threshold, for all lanes."""


@chosen_by_type(height, forceinline=True)
def _height(work: Any, level: Any, digit: Any) -> Any:
    def of_all(work: Any, level: Any, digit: Any) -> Any:
        return fill(item(work.digits, 4 * level + digit), 64)

    def of_each(work: Any, level: Any, digit: Any) -> Any:
        return load(work.heights, item(work.level_rows, level) + 64 * digit, 64)

    return of_each if work.instance_class is LaneWork else of_all


@inner
def step(tables: Any, beta: Any, work: Any, block: Any) -> Any:
    """Do one sweep of all runs of a block at β."""
    set_thresholds(tables, beta, work)
    sweep(tables, work, block.generator, block.spins)


@inner
def watched_step(tables: Any, beta: Any, work: Any, number: Any, block: Any) -> Any:
    """Do one sweep of all runs of a block at β, testing for the goals after every flip."""
    set_thresholds(tables, beta, work)
    watched_sweep(tables, work, number, block)


@inner
def set_thresholds(tables: Any, beta: Any, work: Any) -> Any:
    """Compute the thresholds exp(-2βx) of all levels, once for each distinct field."""
    for k in range(0, tables.fields.size, 8):
        y = load(tables.fields, k, 8) * fill(2.0 * beta, 8)
        store(work.by_field, k, thresholds(y))
    for k in range(tables.level_fields.size):
        work.by_level[k] = work.by_field[tables.level_fields[k]]


@inner
def sweep(tables: Any, work: Any, generator: Any, spins: Any) -> None:
    """Propose one flip for each spin of a block.

    If dice and threshold are equal in any lane, which happens at every fifth site, the lane is
    skipped and the site is listed. After the group, such lanes get more dice. Sites of a group
    share no edge, so that the delay changes nothing, and no branch can be mispredicted.
    """
    zero = fill(np.uint8(0), 64)
    a, b = load(generator, 0, 8), load(generator, 8, 8)
    c, d = load(generator, 16, 8), load(generator, 24, 8)
    for g in range(tables.groups.shape[0]):
        kind = tables.groups[g, 2]
        edge, last_edge = tables.signatures[kind, 0], tables.signatures[kind + 1, 0]
        level, last_level = tables.signatures[kind, 1], tables.signatures[kind + 1, 1]
        here = np.int64(tables.groups[g, 0]) * 128
        end = np.int64(tables.groups[g, 1]) * 128
        place = item(tables.starts, tables.groups[g, 0])
        tied = 0
        if last_edge - edge == 2:
            # Most sites have two edges. The greater weight decides whether a flip is opposed, the
            # smaller one how strongly; equal weights oppose together or not at all.
            either = fill(np.uint8(255 * (last_level - level == 1)), 64)
            full = height(work, level, 3)
            change = full ^ height(work, last_level - 1, 3)
            while here < end:
                spin = load(spins, here, 64)
                high = spin ^ load(spins, item(tables.neighbours, place), 64)
                low = spin ^ load(spins, item(tables.neighbours, place + 1), 64)
                opposed = ~(high | (low & either))
                limit = full ^ (low & change)
                word, a, b, c, d = advance(a, b, c, d)
                tied += propose(spins, here, spin, opposed, limit, word, work, tied)
                here += 128
                place += 2
        else:
            while here < end:
                spin = load(spins, here, 64)
                code, opposed, limit = zero, zero, zero
                for k in range(edge, last_edge):
                    bond = spin ^ load(spins, item(tables.neighbours, place), 64)
                    code = code + (bond & fill(item(tables.edge_codes, k), 64))
                    place += 1
                for k in range(level, last_level):
                    match = code == fill(item(tables.level_codes, k), 64)
                    opposed = opposed | match
                    limit = limit | (match & height(work, k, 3))
                word, a, b, c, d = advance(a, b, c, d)
                tied += propose(spins, here, spin, opposed, limit, word, work, tied)
                here += 128
        for t in range(tied):
            a, b, c, d = throw_again(tables, work, spins, kind, t, a, b, c, d)
    store(generator, 0, a)
    store(generator, 8, b)
    store(generator, 16, c)
    store(generator, 24, d)


@inlined
def propose(
    spins: Any, here: Any, spin: Any, opposed: Any, limit: Any, word: Any, work: Any, tied: Any
) -> Any:
    """Flip the lanes whose flips are unopposed or accepted; return whether any lane is tied."""
    dice = view(word, np.uint8)
    tie = opposed & (dice == limit)
    store(work.ties, 64 * tied, tie)
    work.tied_sites[tied] = here
    spin = spin ^ (~opposed | (dice < limit))
    store(spins, here, spin)
    store(spins, here + 64, ~spin)
    return anywhere(tie)


@inner
def throw_again(
    tables: Any, work: Any, spins: Any, kind: Any, t: Any, a: Any, b: Any, c: Any, d: Any
) -> Any:  # fmt: skip
    """Draw more random numbers to decide the tied lanes of the t-th tied site."""
    level, last_level = tables.signatures[kind, 1], tables.signatures[kind + 1, 1]
    zero = fill(np.uint8(0), 64)
    here = work.tied_sites[t]
    tie = load(work.ties, 64 * t, 64)
    spin = load(spins, here, 64)
    place = item(tables.starts, here >> 7)
    code, flip = zero, zero
    for k in range(tables.signatures[kind, 0], tables.signatures[kind + 1, 0]):
        bond = spin ^ load(spins, item(tables.neighbours, place), 64)
        code = code + (bond & fill(item(tables.edge_codes, k), 64))
        place += 1
    digit = 2
    while anywhere(tie) and digit >= 0:
        limit = zero
        for k in range(level, last_level):
            match = code == fill(item(tables.level_codes, k), 64)
            limit = limit | (match & height(work, k, digit))
        word, a, b, c, d = advance(a, b, c, d)
        dice = view(word, np.uint8)
        flip = flip | (tie & (dice < limit))
        tie = tie & (dice == limit)
        digit -= 1
    store(spins, here, spin ^ flip)
    store(spins, here + 64, ~(spin ^ flip))
    return a, b, c, d


@inner
def watched_sweep(tables: Any, work: Any, number: Any, block: Any) -> None:
    """Do the same sweep as `sweep`, but test for the goals after every flip."""
    spins, generator = block.spins, block.generator
    zero = fill(np.uint8(0), 64)
    a, b = load(generator, 0, 8), load(generator, 8, 8)
    c, d = load(generator, 16, 8), load(generator, 24, 8)
    energy, goal = load(block.energies, 0, 64), load(block.goals, 0, 64)
    for g in range(tables.groups.shape[0]):
        kind = tables.groups[g, 2]
        edge, last_edge = tables.signatures[kind, 0], tables.signatures[kind + 1, 0]
        level, last_level = tables.signatures[kind, 1], tables.signatures[kind + 1, 1]
        first, last = tables.groups[g, 0], tables.groups[g, 1]
        tied, visit = 0, 0
        # First every site of the group, then the listed ones again, as above.
        while visit < last - first + tied:
            again = visit >= last - first
            here = np.int64(first + visit) * 128
            if again:
                here = work.tied_sites[visit - (last - first)]
            spin = load(spins, here, 64)
            place = item(tables.starts, here >> 7)
            code, field = zero, fill(np.int16(0), 64)
            for k in range(edge, last_edge):
                bond = spin ^ load(spins, item(tables.neighbours, place), 64)
                code = code + (bond & fill(item(tables.edge_codes, k), 64))
                weight = fill(item(tables.edge_weights, k), 64)
                unsatisfied = spread(bond, np.int16) & weight
                field = field + weight - unsatisfied - unsatisfied
                place += 1
            digit, flip, tie = 3, zero, ~zero
            if again:
                digit, tie = 2, load(work.ties, 64 * (visit - (last - first)), 64)
            while digit == 3 or (again and anywhere(tie) and digit >= 0):
                opposed, limit = zero, zero
                for k in range(level, last_level):
                    match = code == fill(item(tables.level_codes, k), 64)
                    opposed = opposed | match
                    limit = limit | (match & height(work, k, digit))
                word, a, b, c, d = advance(a, b, c, d)
                dice = view(word, np.uint8)
                flip = flip | (tie & (~opposed | (dice < limit)))
                tie = tie & opposed & (dice == limit)
                digit -= 1
            if not again:
                store(work.ties, 64 * tied, tie)
                work.tied_sites[tied] = here
                tied += anywhere(tie)
            store(spins, here, spin ^ flip)
            store(spins, here + 64, ~(spin ^ flip))
            energy = energy + (cast(spread(flip, np.int16) & field, np.int32) << 1)
            if anywhere(energy <= goal):
                store(block.energies, 0, energy)
                mark_hits(number, block)
                keep(tables, block)
                goal = load(block.goals, 0, 64)
            visit += 1
    store(block.energies, 0, energy)
    store(generator, 0, a)
    store(generator, 8, b)
    store(generator, 16, c)
    store(generator, 24, d)


@inner
def keep(tables: Any, block: Any) -> Any:
    """For each run that the mask marks, copy its spins to `block.states`."""
    chosen = load(block.mask, 0, 64)
    for here in range(0, block.states.size, 64):
        old = load(block.states, here, 64)
        store(block.states, here, old ^ ((old ^ load(block.spins, 2 * here, 64)) & chosen))


@inner
def begin(tables: Any, block: Any) -> Any:
    """Draw random spins for all sites of a block except for the ghost, which is up."""
    generator, spins = block.generator, block.spins
    a, b = load(generator, 0, 8), load(generator, 8, 8)
    c, d = load(generator, 16, 8), load(generator, 24, 8)
    half = fill(np.uint8(128), 64)
    last = spins.size - 128
    for here in range(0, last, 128):
        word, a, b, c, d = advance(a, b, c, d)
        spin = view(word, np.uint8) < half
        store(spins, here, spin)
        store(spins, here + 64, ~spin)
    store(spins, last, fill(np.uint8(0), 64))
    store(spins, last + 64, fill(np.uint8(255), 64))
    store(generator, 0, a)
    store(generator, 8, b)
    store(generator, 16, c)
    store(generator, 24, d)


@inner
def measure(tables: Any, block: Any) -> Any:
    """Compute the energy of each run: twice its unsatisfied weight, minus the total weight."""
    spins = block.spins
    total = fill(np.int32(0), 64)
    everything = np.int32(0)
    for run in range(tables.bond_runs.shape[0]):
        weight = tables.bond_runs[run, 2]
        end = tables.bond_runs[run, 1]
        start = tables.bond_runs[run, 0]
        everything += np.int32(end - start) * weight
        while start < end:
            stop = lower(end, start + 255)  # as many as a byte can count
            count = fill(np.uint8(0), 64)
            for k in range(start, stop):
                first = load(spins, item(tables.bonds, 2 * k), 64)
                count = count - (first ^ load(spins, item(tables.bonds, 2 * k + 1), 64))
            total = total + cast(count, np.int32) * fill(np.int32(2 * weight), 64)
            start = stop
    store(block.energies, 0, total - fill(np.int32(everything), 64))
