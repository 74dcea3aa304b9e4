"""The sums of a gradient: units and products of units, added up over the states of an update."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from glasshouse.boltzmann.kernels.rows import BITS, BLOCK, add_block, add_rest, add_rows
from glasshouse.compiled import inlined, inner

_ONE = np.uint64(1)
CHAINS = BITS // 4  # the most chains whose products can wait, see `add_pairs`


class Gradient(NamedTuple):
    """The sums of a gradient over the states of one update, and buffers for one state's layers.

    Attributes:
        weights: sums of products of visible and hidden units, except for those that wait.
        visible: sums of visible units.
        hidden: sums of hidden units.
        rows: waiting rows: multiples of hidden layers that must still be added to `weights`.
        masks: the targets of the waiting rows: bit k of item i adds waiting row k to row i.
        waiting: the number of waiting rows, as an array of one item.
        has_weights: whether `weights` is in use, as an array of one item; if not, it is not read.
        row: a buffer for a row of the weights.
        means: a buffer for means of hidden units.
    """

    weights: Any
    visible: Any
    hidden: Any
    rows: Any
    masks: Any
    waiting: Any
    has_weights: Any
    row: Any
    means: Any


def new_gradient(n: int, m: int, kind: Any) -> Any:
    """Return the sums and buffers of an update of n × m weights of dtype `kind`."""
    return Gradient(np.empty((n, m), kind), np.empty(n), np.empty(m), np.empty((BITS, m), kind),
                    np.zeros(n, np.uint64), np.zeros(1, np.int64), np.zeros(1, np.int64),
                    np.empty(m, kind), np.empty(m))  # fmt: skip


@inner
def add_outer(sums: Any, low: int, visible: Any, hidden: Any, sign: float) -> None:
    """Add `sign` times a visible layer, a hidden layer and their products to the sums.

    One row waits for visible units that are 1, and another for units that are -1.
    """
    place, count = sums.waiting[0], 2 if low else 1
    for j in range(hidden.size):
        value = sign * hidden[j]
        sums.rows[place, j] = value
        sums.hidden[j] += value
        if low:
            sums.rows[place + 1, j] = low * value
    up, down = _ONE << np.uint64(place), np.uint64(low & 1) << np.uint64((place + 1) % BITS)
    for i in range(visible.size):
        sums.masks[i] |= up if visible[i] == 1 else down
        sums.visible[i] += sign * visible[i]
    sums.waiting[0] += count
    if sums.waiting[0] == BITS:
        add_waiting(sums)


@inner
def add_pairs(sums: Any, low: int, count: int, before: Any, before_chances: Any, after: Any,
              after_chances: Any) -> None:  # fmt: skip
    """Add the chains' units and products before their Gibbs steps; subtract those after the steps.

    Each visible unit adds one row, which depends on its values before and after. Most units do not
    change, so this takes half as many rows as adding the products before and after.
    """
    n, m = sums.weights.shape
    scale, floor = np.float64(1 - low), np.float64(low)
    kinds = np.uint64(15 if low else 7)  # with 0 and 0 there is nothing to add
    if sums.waiting[0]:
        add_waiting(sums)
    for k in range(count):
        for j in range(m):
            plus = floor + scale * before_chances[k * m + j]
            minus = floor + scale * after_chances[k * m + j]
            sums.rows[4 * k, j] = plus - minus
            sums.rows[4 * k + 1, j] = plus - floor * minus
            sums.rows[4 * k + 2, j] = floor * plus - minus
            sums.hidden[j] += plus - minus
        if low:
            for j in range(m):
                sums.rows[4 * k + 3, j] = -sums.rows[4 * k, j]
        for i in range(n):
            old, new = before[k * n + i], after[k * n + i]
            kind = np.uint64(2 * (old != 1) + (new != 1))
            sums.masks[i] |= ((_ONE << kind) & kinds) << np.uint64(4 * k)
            sums.visible[i] += np.float64(old - new)
    sums.waiting[0] = 4 * count


@inner
def begin_sums(sums: Any) -> None:
    """Reset all sums for a new update; no rows may be waiting."""
    sums.has_weights[0] = 0
    for i in range(sums.visible.size):
        sums.visible[i] = 0.0
    for j in range(sums.hidden.size):
        sums.hidden[j] = 0.0


@inner
def add_waiting(sums: Any) -> None:
    """Add all waiting rows to the sums of the weights, in a single pass over memory."""
    n, m = sums.weights.shape
    whole = m - m % BLOCK
    if sums.has_weights[0] == 0:
        for i in range(n):
            for j in range(m):
                sums.weights[i, j] = 0.0
    for first in range(0, whole, BLOCK):  # a block of the waiting rows fits into the fastest cache
        for i in range(n):
            add_block(sums.masks[i], 0, None, 0, sums.rows, sums.weights, i * m, first)
    for i in range(n):
        if whole < m:
            add_rest(sums.masks[i], 0, None, 0, sums.rows, sums.weights, i * m, whole)
        sums.masks[i] = 0
    sums.waiting[0] = 0
    sums.has_weights[0] = 1


@inlined
def take_row(sums: Any, i: int) -> None:
    """Store the complete sums of visible unit `i` in `sums.row`, including its waiting rows."""
    if sums.has_weights[0]:
        for j in range(sums.row.size):
            sums.row[j] = sums.weights[i, j]
    else:
        for j in range(sums.row.size):
            sums.row[j] = 0.0
    add_rows(sums.masks[i], 0, None, 0, sums.rows, sums.row, 0)
    sums.masks[i] = 0
