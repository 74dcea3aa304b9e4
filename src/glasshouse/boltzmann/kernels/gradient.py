"""Sums over states of one update; products are added for many states at once."""

from __future__ import annotations

from typing import Any, NamedTuple

from glasshouse.boltzmann.kernels.layers import add_rows
from glasshouse.compiled import inner

GROUP = 32  # states whose products are added together


class Gradient(NamedTuple):
    """Sums of one update, and room for its layers.

    Attributes:
        weights: sums of products of visible and hidden units.
        visible: sums of visible units.
        hidden: sums of hidden units.
        factors: visible units whose products are still to be added, one column per state.
        rows: the hidden units that belong to them, one row per state.
        waiting: how many such states there are, in one place.
        state: room for visible units.
        hidden_state: room for hidden units.
        means: room for means of hidden units.
        hidden_fields: room for them.
        hidden_chances: likewise.
        visible_fields: likewise.
        visible_chances: likewise.
        room: for fields and chances of either layer.
    """

    weights: Any
    visible: Any
    hidden: Any
    factors: Any
    rows: Any
    waiting: Any
    state: Any
    hidden_state: Any
    means: Any
    hidden_fields: Any
    hidden_chances: Any
    visible_fields: Any
    visible_chances: Any
    room: Any


@inner
def add_outer(sums: Any, visible: Any, hidden: Any, sign: float) -> None:
    """Products of a visible and a hidden layer, and both layers."""
    place, width = sums.waiting[0], hidden.size
    for j in range(width):
        value = sign * hidden[j]
        sums.rows[place, j] = value
        sums.hidden[j] += value
    for i in range(visible.size):
        sums.visible[i] += sign * visible[i]
    for i in range(visible.size):
        sums.factors[i, place] = visible[i]
    sums.waiting[0] += 1
    if sums.waiting[0] == GROUP:
        add_waiting(sums)


@inner
def add_waiting(sums: Any) -> None:
    """The products of all states that wait."""
    add_products(sums.factors, sums.rows, sums.waiting[0], sums.weights)
    sums.waiting[0] = 0


@inner
def add_products(factors: Any, rows: Any, count: int, weights: Any) -> None:
    """The products of many states at once: every sum goes through the memory once."""
    n, m = weights.shape
    for i in range(n):
        add_rows(factors, i * GROUP, count, rows, weights, i * m)
