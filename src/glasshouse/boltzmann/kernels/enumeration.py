"""Sums over all states of an RBM: one layer is enumerated, the other layer is summed out.

The enumerated layer should be the smaller one; callers transpose the weights if that is the hidden
layer. States come in the order of a Gray code, so one unit changes at a time. Fields are computed
from scratch every 2^10 states, so rounding errors do not accumulate. The pseudo-likelihood visits
the neighbours of a state instead, in which one visible unit is flipped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.boltzmann.kernels.floats import exponential, logarithm, logistic
from glasshouse.boltzmann.kernels.layers import copy_row, fields_of
from glasshouse.compiled import compiled, inlined, inner

MOST_VISITED = 24  # units of the enumerated layer, which has 2^24 states
_BLOCK_BITS = 10
BLOCK = 1 << _BLOCK_BITS  # number of states after which fields are computed from scratch
_MOST_FACTORS = 512  # factors between 1 and 2, whose product is at most 2^512


@inner
def set_state(code: int, low: int, visited: Any) -> None:
    """Set the enumerated layer to state number `code` in Gray-code order."""
    gray = code ^ (code >> 1)
    for k in range(visited.size):
        visited[k] = 1 if (gray >> k) & 1 else low


@inner
def changed_unit(code: int) -> int:
    """Return the unit that differs between states `code - 1` and `code` in Gray-code order."""
    unit = 0
    while (code & 1) == 0:
        code >>= 1
        unit += 1
    return unit


@inner
def flip(unit: int, low: int, weights: Any, visited: Any, fields: Any) -> None:
    """Flip one unit of the enumerated layer, and update the fields of the other layer."""
    change = np.float64(low - 1 if visited[unit] == 1 else 1 - low)
    visited[unit] = low if visited[unit] == 1 else 1
    for j in range(fields.size):
        fields[j] += change * weights[unit, j]


@inlined
def larger(x: float, low: int) -> float:
    """Return the largest value that a unit with field `x` can add to -E."""
    return x if x > low * x else low * x


@inner
def log_weight(bias_part: float, fields: Any, low: int, factors: Any) -> float:
    """Return ln Σ exp(-E), summed over all states of the layer that is not enumerated.

    A unit with field x adds ln(exp(x) + exp(low·x)). Without the larger of the two exponentials, a
    factor between 1 and 2 remains; the product of many such factors needs a single logarithm.
    """
    scale = np.float64(1 - low)
    for j in range(fields.size):  # becomes vector code, because it contains no sum
        x = scale * fields[j]
        factors[j] = 1.0 + exponential(-x if x > 0.0 else x)
    total = bias_part
    for j in range(fields.size):
        total += larger(fields[j], low)
    first = 0
    while first < fields.size:
        last = min(first + _MOST_FACTORS, fields.size)
        product = 1.0
        for j in range(first, last):
            product *= factors[j]
        total += logarithm(product)
        first = last
    return total


@inner
def bias_energy(visited: Any, biases: Any) -> float:
    """Return the contribution of the enumerated layer's biases to -E."""
    total = 0.0
    for k in range(visited.size):
        total += np.float64(visited[k]) * biases[k]
    return total


@inner
def visit(code: int, is_first: bool, low: int, weights: Any, biases: Any, other_biases: Any,
          visited: Any, fields: Any) -> None:  # fmt: skip
    """Set the enumerated layer to state number `code`, and update the fields of the other layer."""
    if is_first:
        set_state(code, low, visited)
        fields_of(visited, weights, other_biases, fields)
    else:
        flip(changed_unit(code), low, weights, visited, fields)


def num_blocks(rows: int) -> int:
    """Return the number of blocks into which the states of a layer of `rows` units are split."""
    return 1 << max(rows - _BLOCK_BITS, 0)


@inner
def find_averages(weights: Any, biases: Any, other_biases: Any, low: int, averages: Any) -> None:
    """Compute exact averages by enumerating the layer that corresponds to the rows of `weights`."""
    blocks = 1 << max(len(weights) - _BLOCK_BITS, 0)
    sums = np.empty(3)
    sums[0], sums[1] = -np.inf, 0.0
    add_blocks(weights, biases, other_biases, low, 0, blocks, sums)
    averages.products[:, :] = 0.0
    averages.smaller[:] = 0.0
    averages.larger[:] = 0.0
    add_moments(weights, biases, other_biases, low, sums[2], 0, blocks, averages)


@compiled
def add_blocks(weights: Any, biases: Any, other_biases: Any, low: int, first: int, last: int,
               sums: Any) -> None:  # fmt: skip
    """Add the Boltzmann weights of blocks `first` to `last - 1` of states to a partition function.

    Args:
        weights: one row per unit of the enumerated layer.
        biases: the biases of the enumerated layer.
        other_biases: the biases of the other layer.
        low: the lower value of a unit.
        first: the first block.
        last: the number of the block after the last block.
        sums: the largest logarithm of a weight so far, and the sum of weights divided by that
            weight: -∞ and 0 at first. The third number becomes the logarithm of the sum.
    """
    rows, columns = weights.shape
    block = 1 << min(rows, _BLOCK_BITS)
    logs = np.empty(block)
    visited, fields, factors = np.empty(rows, np.int8), np.empty(columns), np.empty(columns)
    top, total = sums[0], sums[1]
    for start in range(first * block, last * block, block):
        highest = -np.inf
        for k in range(block):
            visit(start + k, k == 0, low, weights, biases, other_biases, visited, fields)
            logs[k] = log_weight(bias_energy(visited, biases), fields, low, factors)
            highest = max(highest, logs[k])
        if highest > top:
            total *= exponential(top - highest)
            top = highest
        for k in range(block):
            logs[k] = exponential(logs[k] - top)
        for k in range(block):
            total += logs[k]
    sums[0], sums[1], sums[2] = top, total, top + logarithm(total)


@compiled
def add_moments(weights: Any, biases: Any, other_biases: Any, low: int, log_z: float, first: int,
                last: int, averages: Any) -> None:  # fmt: skip
    """Add the contributions of the states in blocks `first` to `last - 1` to exact averages.

    Args:
        weights: one row per unit of the enumerated layer.
        biases: the biases of the enumerated layer.
        other_biases: the biases of the other layer.
        low: the lower value of a unit.
        log_z: the logarithm of the partition function.
        first: the first block.
        last: the number of the block after the last block.
        averages: the sums so far, 0 at first; `smaller` is the enumerated layer.
    """
    rows, columns = weights.shape
    block = 1 << min(rows, _BLOCK_BITS)
    visited, fields, factors = np.empty(rows, np.int8), np.empty(columns), np.empty(columns)
    means, scale = np.empty(columns), np.float64(1 - low)
    products, visited_means, other_means = averages.products, averages.smaller, averages.larger
    for code in range(first * block, last * block):
        visit(code, code % block == 0, low, weights, biases, other_biases, visited, fields)
        chance = exponential(log_weight(bias_energy(visited, biases), fields, low, factors) - log_z)
        for j in range(columns):
            means[j] = chance * (low + scale * logistic(scale * fields[j]))
        for j in range(columns):
            other_means[j] += means[j]
        for i in range(rows):
            value = np.float64(visited[i])
            visited_means[i] += chance * value
            if value != 0.0:
                for j in range(columns):
                    products[i, j] += value * means[j]


@compiled
def ground_state(weights: Any, biases: Any, other_biases: Any, low: int, first: int, last: int,
                 best: Any, best_visited: Any, best_other: Any) -> None:  # fmt: skip
    """Update the mode found by earlier calls with the states of blocks `first` to `last - 1`.

    Args:
        weights: one row per unit of the enumerated layer.
        biases: the biases of the enumerated layer.
        other_biases: the biases of the other layer.
        low: the lower value of a unit.
        first: the first block.
        last: the number of the block after the last block.
        best: minus the energy of the mode so far, and its code: -∞ and 0 at first.
        best_visited: receives the enumerated layer of the mode; the first code wins a tie.
        best_other: receives the other layer of the mode.
    """
    rows, columns = weights.shape
    block = 1 << min(rows, _BLOCK_BITS)
    visited, fields = np.empty(rows, np.int8), np.empty(columns)
    most, best_code = best[0], int(best[1])
    for code in range(first * block, last * block):
        visit(code, code % block == 0, low, weights, biases, other_biases, visited, fields)
        value = bias_energy(visited, biases)
        for j in range(columns):
            value += larger(fields[j], low)
        if value > most:
            most, best_code = value, code
    set_state(best_code, low, best_visited)
    fields_of(best_visited, weights, other_biases, fields)
    for j in range(columns):
        best_other[j] = 1 if fields[j] > low * fields[j] else low
    best[0], best[1] = most, best_code


@compiled
def log_weights_of(states: Any, weights: Any, biases: Any, other_biases: Any, low: int,
                   logs: Any) -> None:  # fmt: skip
    """Compute ln Σ exp(-E) for given states of one layer, summed over all states of the other."""
    columns = weights.shape[1]
    fields, factors = np.empty(columns), np.empty(columns)
    for s in range(len(states)):
        fields_of(states[s], weights, other_biases, fields)
        logs[s] = log_weight(bias_energy(states[s], biases), fields, low, factors)


@compiled
def pseudo_log_likelihoods(states: Any, weights: Any, biases: Any, other_biases: Any, low: int,
                           logs: Any) -> None:  # fmt: skip
    """Compute the pseudo-log-likelihood Σ_i ln p(v_i | other visible units) of each state."""
    n, m = weights.shape
    visible, fields, changed, factors = np.empty(n, np.int8), np.empty(m), np.empty(m), np.empty(m)
    for s in range(len(states)):
        copy_row(states[s], visible)
        fields_of(visible, weights, other_biases, fields)
        here = log_weight(bias_energy(visible, biases), fields, low, factors)
        total = 0.0
        for i in range(n):
            copy_row(fields, changed)
            flip(i, low, weights, visible, changed)
            there = log_weight(bias_energy(visible, biases), changed, low, factors)
            visible[i] = states[s, i]
            rise = there - here  # ln p(v_i | others) = -ln(1 + exp(rise))
            total -= max(rise, 0.0) + logarithm(1.0 + exponential(-abs(rise)))
        logs[s] = total
