"""The byte kernel's tables: the spins' lists of |weights|, their possible fields, and the edges.

All functions are compiled and take time linear in the number of edges: for ensembles, tables are
built for each of many small instances; for large problems, once for millions of edges.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.arrays import empty, zero_table, zeros
from glasshouse.kernels.extremes import higher, lower
from glasshouse.solvers.kernels.block import mix
from glasshouse.solvers.kernels.sweep_order import arrange_within, order_by_within

ROW = 64  # bytes of a row, one for each run
CODES = 256  # a code is a byte
MOST_IN_GROUP = 256  # sites, which bounds the kernel's scratch arrays
MOST_FIELD = 2**15 - 1  # local fields are tracked in 16 bits,
MOST_TOTAL = 2**30 - 1  # energies in 32,
MOST_SITES = 2**31 // (2 * ROW) - 2  # and row positions, two per site, in 32 bits


class ByteTables(NamedTuple):
    """The byte kernel's tables of a problem; each row is given by the index of its first byte."""

    groups: npt.NDArray[np.int32]  # (G, 3): first site, site after the last, signature
    signatures: npt.NDArray[np.int32]  # (S + 1, 2): first edge, first level of each signature
    edge_codes: npt.NDArray[np.uint8]  # the code weight of an unsatisfied edge
    edge_weights: npt.NDArray[np.int16]  # |weight| of each edge
    level_codes: npt.NDArray[np.uint8]  # the codes whose field opposes a flip
    level_fields: npt.NDArray[np.int32]  # index of their field in `fields`
    fields: npt.NDArray[np.float64]  # distinct spin · local field > 0, padded with zeros to 8k
    starts: npt.NDArray[np.int64]  # first neighbour of each site
    neighbours: npt.NDArray[np.int32]  # rows, ordered as the edges of the site's signature
    bonds: npt.NDArray[np.int32]  # (2E): pairs of rows that differ where an edge is unsatisfied
    bond_runs: npt.NDArray[np.int32]  # (C, 3): first bond, bond after the last, their |weight|


@compiled
def fits(starts: Any, values: Any) -> Any:
    """Return whether degrees and weights are small enough for the byte kernel."""
    total = 0.0
    for i in range(starts.size - 1):
        local = 0.0
        for k in range(starts[i], starts[i + 1]):
            local += abs(np.float64(values[k]))
        if starts[i + 1] - starts[i] >= CODES or local > MOST_FIELD:
            return False
        total += local
    return total <= MOST_TOTAL and starts.size <= MOST_SITES


@compiled
def build_parts(colours: Any, starts: Any, neighbours: Any, values: Any) -> Any:
    """Build a problem's tables, and return them to Python as a plain tuple of arrays.

    Ctrl-C while compiled code returns a named tuple would crash the process.
    """
    tables, order, levels = build(colours, starts, neighbours, values)
    parts = (
        tables.groups, tables.signatures, tables.edge_codes, tables.edge_weights,
        tables.level_codes, tables.level_fields, tables.fields, tables.starts, tables.neighbours,
        tables.bonds, tables.bond_runs,
    )  # fmt: skip
    return parts, order, levels


@inner
def build(colours: Any, starts: Any, neighbours: Any, values: Any) -> Any:
    """Build the tables of a problem with integer weights, and list the spin index of each site.

    The adjacency is without the ghost's row, and `fits` must be true. Returns (tables, order,
    levels): `levels` is the mean number of levels per site, infinite if a byte is too small.
    """
    neighbours, values = sort_edges(starts, neighbours, values)
    kinds, examples = find_signatures(starts, values)
    signatures, edge_codes, edge_weights, codable = set_codes(starts, values, examples)
    level_codes, level_fields, fields = list_levels(signatures, edge_codes, edge_weights)
    everyone = zeros(starts.size - 1, np.int32)
    for i in range(everyone.size):
        everyone[i] = i
    order = order_by_within(colours, order_by_within(kinds, everyone))
    groups = group(order, colours, kinds)
    site_starts, rows, signed = arrange_within(order, starts, neighbours, values)
    bonds, bond_runs = list_bonds(site_starts, rows, signed)
    for k in range(rows.size):
        rows[k] = row(rows[k], signed[k])
    total = 0
    for g in range(groups.shape[0]):
        kind = groups[g, 2]
        levels = signatures[kind + 1, 1] - signatures[kind, 1]
        total += levels * (groups[g, 1] - groups[g, 0])
    tables = ByteTables(
        groups, signatures, edge_codes, edge_weights, level_codes, level_fields, fields,
        site_starts, rows, bonds, bond_runs,
    )  # fmt: skip
    return tables, order, total / higher(order.size, 1) if codable else np.inf


@inner
def row(site: Any, weight: Any) -> Any:
    """Return the row of a neighbour's spins, or of their complements if the weight is negative."""
    return ROW * (2 * site + (weight < 0))


@inner
def sort_edges(starts: Any, neighbours: Any, values: Any) -> Any:
    """Return neighbours and weights with each spin's edges sorted by decreasing |weight|."""
    sorted_neighbours = zeros(neighbours.size, np.int32)
    sorted_values = zeros(values.size, np.int64)
    for i in range(starts.size - 1):
        for k in range(starts[i], starts[i + 1]):
            slot = k
            while slot > starts[i] and abs(sorted_values[slot - 1]) < abs(values[k]):
                sorted_neighbours[slot] = sorted_neighbours[slot - 1]
                sorted_values[slot] = sorted_values[slot - 1]
                slot -= 1
            sorted_neighbours[slot], sorted_values[slot] = neighbours[k], values[k]
    return sorted_neighbours, sorted_values


@inner
def hash_table(entries: Any) -> Any:
    """Return an empty open-addressing hash table with at least twice as many slots as entries."""
    size = 8
    while size < 2 * entries:
        size *= 2
    return zeros(size, np.int32)


@inner
def find_signatures(starts: Any, values: Any) -> Any:
    """Number the distinct signatures (lists of |weights|) of all spins, starting at 1.

    Returns the number of each spin's list, 0 for isolated spins, and an example spin per number.
    """
    num_spins = starts.size - 1
    table = hash_table(num_spins)
    kinds = zeros(num_spins, np.int32)
    examples = zeros(num_spins + 1, np.int32)
    count = 0
    for i in range(num_spins):
        if starts[i] == starts[i + 1]:
            continue
        key = np.uint64(0)
        for k in range(starts[i], starts[i + 1]):
            key = mix(key ^ np.uint64(abs(values[k])))
        slot = np.int64(key) & (table.size - 1)
        while table[slot] and not same_magnitudes(starts, values, examples[table[slot]], i):
            slot = (slot + 1) & (table.size - 1)
        if not table[slot]:
            count += 1
            table[slot] = count
            examples[count] = i
        kinds[i] = table[slot]
    return kinds, examples[1 : count + 1]


@inner
def same_magnitudes(starts: Any, values: Any, i: Any, j: Any) -> Any:
    """Return whether two spins have the same list of |weights|."""
    if starts[i + 1] - starts[i] != starts[j + 1] - starts[j]:
        return False
    for k in range(starts[i + 1] - starts[i]):
        if abs(values[starts[i] + k]) != abs(values[starts[j] + k]):
            return False
    return True


@inner
def set_codes(starts: Any, values: Any, examples: Any) -> Any:
    """Choose code weights for the edges of each signature, so that their sums determine fields.

    Weights that are small in units of their common divisor are their own codes, so that equal
    fields share one code. Otherwise a code counts the unsatisfied edges of each weight, in mixed
    radix. Also returns whether all codes fit into a byte.
    """
    signatures = zero_table(examples.size + 1, 2, np.int32)
    for kind in range(examples.size):
        degree = starts[examples[kind] + 1] - starts[examples[kind]]
        signatures[kind + 1, 0] = signatures[kind, 0] + degree
    codes = empty(signatures[examples.size, 0], np.uint8)
    weights = empty(codes.size, np.int16)
    codable = True
    for kind in range(examples.size):
        first, last = signatures[kind, 0], signatures[kind + 1, 0]
        unit, total = 0, 0
        for k in range(first, last):
            weight = abs(values[starts[examples[kind]] + k - first])
            weights[k] = weight
            total += weight
            while weight:
                unit, weight = weight, unit % weight
        place, count = 1, 0
        for k in range(first, last):
            if k > first and weights[k] != weights[k - 1]:
                place, count = place * (count + 1), 0
            count += 1
            codes[k] = weights[k] // unit if total < CODES * unit else place
            if total >= CODES * unit and place * (count + 1) > CODES:
                codable = False
                break
    return signatures, codes, weights, codable


@inner
def list_fields(first: Any, last: Any, weights: Any, codes: Any, by_code: Any) -> Any:
    """List each code's spin · local field, or 0 if it is negative; count the positive values."""
    total, highest = 0, np.int64(0)
    for code in range(CODES):
        by_code[code] = -1
    by_code[0] = 0
    for k in range(first, last):  # by_code: the unsatisfied weight of the edges up to k
        total += weights[k]
        step = np.int64(codes[k])
        for code in range(lower(highest, CODES - 1 - step), -1, -1):
            if by_code[code] >= 0:
                by_code[code + step] = by_code[code] + weights[k]
        highest += step
    count = 0
    for code in range(CODES):
        opposed = by_code[code] >= 0 and total > 2 * by_code[code]
        by_code[code] = total - 2 * by_code[code] if opposed else 0
        count += opposed
    return count


@inner
def list_levels(signatures: Any, codes: Any, weights: Any) -> Any:
    """Return the codes and the fields of the levels of all signatures, and the distinct fields."""
    by_code = zeros(CODES, np.int64)
    for kind in range(signatures.shape[0] - 1):
        first, last = signatures[kind, 0], signatures[kind + 1, 0]
        count = list_fields(first, last, weights, codes, by_code)
        signatures[kind + 1, 1] = signatures[kind, 1] + count
    size = np.int64(signatures[signatures.shape[0] - 1, 1])
    level_codes, level_fields = empty(size, np.uint8), zeros(size, np.int32)
    table, fields, known = hash_table(size), zeros(size, np.int64), np.int64(0)
    for kind in range(signatures.shape[0] - 1):
        first, last = signatures[kind, 0], signatures[kind + 1, 0]
        list_fields(first, last, weights, codes, by_code)
        level = signatures[kind, 1]
        for code in range(CODES):
            if by_code[code] > 0:
                number = number_of(by_code[code], fields, table, known)
                known = higher(known, number + 1)
                level_codes[level], level_fields[level] = code, number
                level += 1
    padded = zeros((known + 7) // 8 * 8, np.float64)
    for k in range(known):
        padded[k] = fields[k]
    return level_codes, level_fields, padded


@inner
def number_of(value: Any, values: Any, table: Any, known: Any) -> Any:
    """Return a value's index among `known` distinct values; append the value if it is new."""
    slot = np.int64(mix(np.uint64(value))) & (table.size - 1)
    while table[slot] and values[table[slot] - 1] != value:
        slot = (slot + 1) & (table.size - 1)
    if not table[slot]:
        values[known] = value
        table[slot] = known + 1
    return table[slot] - 1


@inner
def group(order: Any, colours: Any, kinds: Any) -> Any:
    """Return groups of at most 256 consecutive sites with the same colour and signature."""
    groups = zero_table(order.size, 3, np.int32)
    count = 0
    for p in range(order.size):
        i, before = order[p], order[higher(p - 1, 0)]
        new = p == 0 or colours[i] != colours[before] or kinds[i] != kinds[before]
        if new or p - groups[count - 1, 0] == MOST_IN_GROUP:
            groups[count, 0], groups[count, 2] = p, kinds[i] - 1
            count += 1
        groups[count - 1, 1] = p + 1
    return groups[:count]


@inner
def list_bonds(starts: Any, neighbours: Any, values: Any) -> Any:
    """List each edge once as the rows of its two ends, sorted into groups of equal |weight|."""
    num_sites = starts.size - 1
    size = np.int64(0)
    for p in range(num_sites):
        for k in range(starts[p], starts[p + 1]):
            size += neighbours[k] > p
    table, weights, known = hash_table(size), zeros(size, np.int64), np.int64(0)
    classes = zeros(values.size, np.int32)
    runs = zero_table(size + 1, 3, np.int32)
    for p in range(num_sites):
        for k in range(starts[p], starts[p + 1]):
            if neighbours[k] > p:
                classes[k] = number_of(abs(values[k]), weights, table, known)
                known = higher(known, classes[k] + 1)
                runs[classes[k] + 1, 0] += 1
    for c in range(known):
        runs[c + 1, 0] += runs[c, 0]
        runs[c, 1], runs[c, 2] = runs[c, 0], weights[c]
    bonds = zeros(2 * size, np.int32)
    for p in range(num_sites):
        for k in range(starts[p], starts[p + 1]):
            if neighbours[k] > p:
                slot = runs[classes[k], 1]
                bonds[2 * slot], bonds[2 * slot + 1] = 2 * ROW * p, row(neighbours[k], values[k])
                runs[classes[k], 1] += 1
    return bonds, runs[:known]
