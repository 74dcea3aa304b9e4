"""The coupling graph of a problem in sweep order, without isolated spins.

A sweep visits the spins colour by colour, and within a colour by index. Spins of one colour share
no edge. In an RBM without its isolated spins the first colour is the visible layer and the second
the hidden one: the paper's order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.arrays import empty, zeros
from glasshouse.kernels.extremes import higher, lower
from glasshouse.kernels.flips import turning_bit


@compiled
def colour(starts: Any, neighbours: Any) -> Any:
    """Return a greedy colouring with colours 1, 2, …, and 0 for isolated spins and the ghost."""
    num_spins = starts.size - 1
    colours = zeros(num_spins + 1, np.int32)
    taken_by = zeros(num_spins + 2, np.int32)  # the last spin + 1 with a neighbour of each colour
    for i in range(num_spins):
        for k in range(starts[i], starts[i + 1]):
            taken_by[colours[neighbours[k]]] = i + 1
        if starts[i] < starts[i + 1]:
            mine = 1
            while taken_by[mine] == i + 1:
                mine += 1
            colours[i] = mine
    return colours


@compiled
def order_by(keys: Any, within: Any) -> Any:
    """Sort the items of `within` stably by key, omitting items with key 0."""
    counts = zeros(keys.size + 2, np.int32)
    for i in within:
        counts[keys[i] + 1] += keys[i] > 0
    for key in range(keys.size + 1):
        counts[key + 1] += counts[key]
    order = zeros(counts[keys.size + 1], np.int32)
    for i in within:
        if keys[i] > 0:
            order[counts[keys[i]]] = i
            counts[keys[i]] += 1
    return order


@compiled
def arrange(order: Any, starts: Any, neighbours: Any, values: Any) -> Any:
    """Return the adjacency of the sites: site p is spin order[p], and the ghost is last."""
    place = zeros(starts.size, np.int32)
    place[starts.size - 1] = order.size
    for p in range(order.size):
        place[order[p]] = p
    new_starts = zeros(order.size + 1, np.int64)
    for p in range(order.size):
        new_starts[p + 1] = new_starts[p] + starts[order[p] + 1] - starts[order[p]]
    new_neighbours = zeros(neighbours.size, np.int32)
    new_values = empty(neighbours.size, values.dtype)
    for p in range(order.size):
        shift = starts[order[p]] - new_starts[p]
        for k in range(new_starts[p], new_starts[p + 1]):
            new_neighbours[k] = place[neighbours[k + shift]]
            new_values[k] = values[k + shift]
    return new_starts, new_neighbours, new_values


# For compiled code, which links these functions instead of compiling them separately.
order_by_within, arrange_within = inner(order_by.py_func), inner(arrange.py_func)


@compiled
def field_scales(starts: Any, values: Any, whole: Any) -> Any:
    """Return the typical local field in random states, and the smallest non-zero local field.

    The first scale is the mean over the spins of σ_i = sqrt(Σ_j w_ij²). The second is the smallest
    non-zero |field| that any spin can have, but for each spin at least σ_i / 24, so that weights
    that nearly cancel do not set the scale. Up to ten neighbours, fields are enumerated; for more
    neighbours, the common divisor of integer weights is used instead.
    """
    typical, smallest, sites = 0.0, np.inf, 0
    for i in range(starts.size - 1):
        first, last = starts[i], starts[i + 1]
        if first == last:
            continue
        total, squares, unit = 0.0, 0.0, np.int64(0)
        for k in range(first, last):
            weight = abs(np.float64(values[k]))
            total += weight
            squares += weight * weight
            rest = np.int64(abs(values[k])) if whole else np.int64(0)
            while rest:
                unit, rest = rest, unit % rest
        if total == 0:  # edges of weight 0 do not count as neighbours
            continue
        deviation = np.sqrt(squares)
        if not 1e-280 < squares < np.inf:  # squares overflow or underflow before the weights do
            squares = 0.0
            for k in range(first, last):
                share = np.float64(values[k]) / total
                squares += share * share
            deviation = total * np.sqrt(squares)
        least = np.float64(unit) if last - first > 10 else total
        if last - first <= 10:
            # All signs of the weights except the first, in Gray-code order: one changes at a time.
            field = total
            signs = np.int64(0)
            for count in range(1, 1 << (last - first - 1)):
                bit = turning_bit(count)
                signs ^= 1 << bit
                step = 2.0 * abs(np.float64(values[first + 1 + bit]))
                field += -step if signs >> bit & 1 else step
                if abs(field) > 1e-9 * total:
                    least = lower(least, abs(field))
        sites += 1
        typical += deviation
        smallest = lower(smallest, higher(least, deviation / 24))
    return typical / higher(sites, 1), smallest


@compiled
def energies_of(edges: Any, weights: Any, fields: Any, columns: Any, energies: Any) -> None:
    """Compute the energies of states directly from the definition, without the offset.

    States are columns: the values of a spin in all runs are adjacent, and are processed together.
    """
    for r in range(energies.size):
        energies[r] = 0
    for k in range(edges.shape[0]):
        weight, first, second = weights[k], columns[edges[k, 0]], columns[edges[k, 1]]
        for r in range(energies.size):  # no branch, because it would be unpredictable
            energies[r] -= weight * weights.dtype.type(first[r] * second[r])
    for i in range(fields.size):
        field, spins = fields[i], columns[i]
        for r in range(energies.size):
            energies[r] -= field * weights.dtype.type(spins[r])
