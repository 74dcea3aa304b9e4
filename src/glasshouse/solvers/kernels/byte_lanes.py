"""Annealing 64 runs at once, one byte a run: for sparse problems with few distinct local fields.

How it works. A spin of all 64 runs is one row of 64 bytes, 0x00 for up and 0xFF for down, and every
row is stored beside its complement. The bond of spin i over an edge is then `s_i ^ row_j`, with
row_j the complement for a negative weight: 0xFF where the edge is unsatisfied. Adding up the bonds'
*code weights* gives a byte from which the local field follows. A spin is one of few kinds by the
magnitudes of its weights, its *signature*; for each there are few codes whose field opposes a flip,
the *levels*. Each has a threshold, exp(-2βx) in 32 bits. The flip is accepted where 8 random bits
are below the first byte of the threshold; where they are equal, and only there, 8 more bits decide,
and so on through all 32: exact, at a quarter of the random numbers.

Sites are grouped by colour and signature: sites of one colour share no edge, so that regrouping
them leaves the process as it is, and a group runs through one table without branching.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.solvers.kernels.block import mark_hits
from glasshouse.solvers.kernels.exponential import threshold
from glasshouse.solvers.kernels.generator import advance
from glasshouse.solvers.kernels.inner import inner
from glasshouse.solvers.kernels.vectors import (
    anywhere,
    cast,
    choose,
    fill,
    item,
    load,
    spread,
    store,
    view,
)

LANES = 64


class Work(NamedTuple):
    """Thresholds of the distinct fields and of all levels."""

    by_field: npt.NDArray[np.uint32]
    by_level: npt.NDArray[np.uint32]


@inner
def workspace(tables: Any, block: Any) -> Any:
    """Scratch arrays for one thread."""
    by_field = np.empty(tables.fields.size, np.uint32)
    return Work(by_field, np.empty(tables.level_fields.size, np.uint32))


@inner
def step(tables: Any, beta: Any, work: Any, block: Any) -> Any:
    """One sweep at β, and the energies after it."""
    set_thresholds(tables, beta, work)
    sweep(tables, work.by_level, block.generator, block.spins)
    measure(tables, block.spins, block.energies)


@inner
def watched_step(tables: Any, beta: Any, work: Any, number: Any, block: Any) -> Any:
    """One sweep at β, looking for the goals after every flip."""
    set_thresholds(tables, beta, work)
    watched_sweep(tables, work.by_level, number, block)


@inner
def set_thresholds(tables: Any, beta: Any, work: Any) -> Any:
    """exp(-2βx) of every level, in 32 bits; each distinct field is computed once."""
    for k in range(tables.fields.size):
        work.by_field[k] = threshold(2.0 * beta * tables.fields[k])
    for k in range(tables.level_fields.size):
        work.by_level[k] = work.by_field[tables.level_fields[k]]


@inner
def sweep(tables: Any, thresholds: Any, generator: Any, spins: Any) -> Any:
    """Propose every spin of a block once."""
    digits = thresholds.view(np.uint8)  # little-endian: the leading byte of level k is at 4k + 3
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
        if last_edge - edge == 2:
            # Half of all sites: two edges. The greater weight decides whether a flip is opposed,
            # the smaller one how high; equal weights oppose together or not at all.
            equal = last_level - level == 1
            low_code = fill(item(tables.edge_codes, edge + 1), 64)
            high_code = fill(item(tables.edge_codes, edge), 64)
            either = fill(np.uint8(255 * equal), 64)
            full = fill(item(digits, 4 * level + 3), 64)
            weak = fill(item(digits, 4 * last_level - 1), 64)
            while here < end:
                spin = load(spins, here, 64)
                high = spin ^ load(spins, item(tables.neighbours, place), 64)
                low = spin ^ load(spins, item(tables.neighbours, place + 1), 64)
                place += 2
                opposed = ~(high | (low & either))
                height = choose(low, weak, full)
                word, a, b, c, d = advance(a, b, c, d)
                dice = view(word, np.uint8)
                flip = ~opposed | (dice < height)
                tie = opposed & (dice == height)
                if anywhere(tie):
                    code = (high & high_code) + (low & low_code)
                    flip, a, b, c, d = settle(
                        tables, digits, level, last_level, code, flip, tie, a, b, c, d
                    )
                spin = spin ^ flip
                store(spins, here, spin)
                store(spins, here + 64, ~spin)
                here += 128
        else:
            while here < end:
                spin = load(spins, here, 64)
                code = zero
                for k in range(edge, last_edge):
                    bond = spin ^ load(spins, item(tables.neighbours, place), 64)
                    code = code + (bond & fill(item(tables.edge_codes, k), 64))
                    place += 1
                opposed, height = zero, zero
                for k in range(level, last_level):
                    match = code == fill(item(tables.level_codes, k), 64)
                    opposed = opposed | match
                    height = height | (match & fill(item(digits, 4 * k + 3), 64))
                word, a, b, c, d = advance(a, b, c, d)
                dice = view(word, np.uint8)
                flip = ~opposed | (dice < height)
                tie = opposed & (dice == height)
                if anywhere(tie):
                    flip, a, b, c, d = settle(
                        tables, digits, level, last_level, code, flip, tie, a, b, c, d
                    )
                spin = spin ^ flip
                store(spins, here, spin)
                store(spins, here + 64, ~spin)
                here += 128
    store(generator, 0, a)
    store(generator, 8, b)
    store(generator, 16, c)
    store(generator, 24, d)


@inner
def settle(
    tables: Any,
    digits: Any,
    level: Any,
    last_level: Any,
    code: Any,
    flip: Any,
    tie: Any,
    a: Any,
    b: Any,
    c: Any,
    d: Any,
) -> Any:
    """Throw further dice where the first byte was equal to the threshold's."""
    digit = 2
    while anywhere(tie) and digit >= 0:
        height = fill(np.uint8(0), 64)
        for k in range(level, last_level):
            match = code == fill(item(tables.level_codes, k), 64)
            height = height | (match & fill(item(digits, 4 * k + digit), 64))
        word, a, b, c, d = advance(a, b, c, d)
        dice = view(word, np.uint8)
        flip = flip | (tie & (dice < height))
        tie = tie & (dice == height)
        digit -= 1
    return flip, a, b, c, d


@inner
def watched_sweep(tables: Any, thresholds: Any, number: Any, block: Any) -> Any:
    """The same sweep with the same random numbers, following the energy from flip to flip."""
    spins, generator = block.spins, block.generator
    digits = thresholds.view(np.uint8)
    a, b = load(generator, 0, 8), load(generator, 8, 8)
    c, d = load(generator, 16, 8), load(generator, 24, 8)
    energy, goal = load(block.energies, 0, 64), load(block.goals, 0, 64)
    for g in range(tables.groups.shape[0]):
        kind = tables.groups[g, 2]
        edge, last_edge = tables.signatures[kind, 0], tables.signatures[kind + 1, 0]
        level, last_level = tables.signatures[kind, 1], tables.signatures[kind + 1, 1]
        place = item(tables.starts, tables.groups[g, 0])
        for site in range(tables.groups[g, 0], tables.groups[g, 1]):
            here = np.int64(site) * 128
            spin = load(spins, here, 64)
            code, field = fill(np.uint8(0), 64), fill(np.int16(0), 64)
            for k in range(edge, last_edge):
                bond = spin ^ load(spins, item(tables.neighbours, place), 64)
                code = code + (bond & fill(item(tables.edge_codes, k), 64))
                weight = fill(item(tables.edge_weights, k), 64)
                unsatisfied = spread(bond, np.int16) & weight
                field = field + weight - unsatisfied - unsatisfied
                place += 1
            opposed, height = fill(np.uint8(0), 64), fill(np.uint8(0), 64)
            for k in range(level, last_level):
                match = code == fill(item(tables.level_codes, k), 64)
                opposed = opposed | match
                height = height | (match & fill(item(digits, 4 * k + 3), 64))
            word, a, b, c, d = advance(a, b, c, d)
            dice = view(word, np.uint8)
            flip = ~opposed | (dice < height)
            tie = opposed & (dice == height)
            if anywhere(tie):
                flip, a, b, c, d = settle(
                    tables, digits, level, last_level, code, flip, tie, a, b, c, d
                )
            spin = spin ^ flip
            store(spins, here, spin)
            store(spins, here + 64, ~spin)
            energy = energy + (cast(spread(flip, np.int16) & field, np.int32) << 1)
            if anywhere(energy <= goal):
                store(block.energies, 0, energy)
                mark_hits(number, block)
                keep(tables, block)
                goal = load(block.goals, 0, 64)
    store(block.energies, 0, energy)
    store(generator, 0, a)
    store(generator, 8, b)
    store(generator, 16, c)
    store(generator, 24, d)


@inner
def keep(tables: Any, block: Any) -> Any:
    """Copy the spins of the runs in the mask to `block.states`."""
    chosen = load(block.mask, 0, 64)
    for here in range(0, block.states.size, 64):
        old = load(block.states, here, 64)
        store(block.states, here, old ^ ((old ^ load(block.spins, 2 * here, 64)) & chosen))


@inner
def begin(tables: Any, block: Any) -> Any:
    """Random spins for all sites of a block, and their energies; the ghost, the last, is up."""
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
    measure(tables, spins, block.energies)


@inner
def measure(tables: Any, spins: Any, energies: Any) -> Any:
    """Energy of each run: minus all weights, plus twice the unsatisfied ones."""
    total = fill(np.int32(0), 64)
    everything = np.int32(0)
    for run in range(tables.bond_runs.shape[0]):
        weight = tables.bond_runs[run, 2]
        end = tables.bond_runs[run, 1]
        start = tables.bond_runs[run, 0]
        everything += np.int32(end - start) * weight
        while start < end:
            stop = min(end, start + 255)  # as many as a byte can count
            count = fill(np.uint8(0), 64)
            for k in range(start, stop):
                first = load(spins, item(tables.bonds, 2 * k), 64)
                count = count - (first ^ load(spins, item(tables.bonds, 2 * k + 1), 64))
            total = total + cast(count, np.int32) * fill(np.int32(2 * weight), 64)
            start = stop
    store(energies, 0, total - fill(np.int32(everything), 64))
