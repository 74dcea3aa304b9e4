"""Random tables in which every variable stands equally often, and never twice in one row."""

from __future__ import annotations

from typing import Any

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.xoshiro import below


@compiled
def draw_regular(stream: Any, num_variables: int, rows: Any, tries: int, swaps: int) -> bool:
    """Fill a table with the variables in turn, then put them in random order.

    The configuration model: all entries are shuffled, and the whole table again while any row has a
    variable twice. What comes out of that is uniform. If so many tries all fail, random swaps of
    entries that keep every row good start from the table in turn, which is good because at least
    as many variables as a row has entries follow each other. Swaps and their reverses are equally
    likely, so they lead towards the same uniform distribution, in a number of steps that is known.

    Args:
        stream: a generator's words.
        num_variables: at least as many as a row has entries.
        rows: int32, filled here.
        tries: how often to shuffle.
        swaps: how often to try a swap after that, for each entry.

    Returns:
        Whether a shuffle was good.
    """
    entries = rows.reshape(-1)
    _fill_in_turn(entries, num_variables)
    for _ in range(tries):
        if _shuffled_well(stream, rows, entries):
            return True
    _fill_in_turn(entries, num_variables)
    for _ in range(swaps * entries.size):
        _swap_if_good(stream, rows, entries)
    return False


@inner
def _fill_in_turn(entries: Any, num_variables: int) -> None:
    for k in range(entries.size):
        entries[k] = k % num_variables


@inner
def _shuffled_well(stream: Any, rows: Any, entries: Any) -> bool:
    """Shuffle from the end, and give up at the first row that has a variable twice."""
    length = rows.shape[1]
    for last in range(entries.size - 1, -1, -1):
        k = below(stream, last + 1)
        entries[last], entries[k] = entries[k], entries[last]
        if last % length == 0 and not _is_distinct(rows[last // length]):
            return False
    return True


@inner
def _is_distinct(row: Any) -> bool:
    for k in range(row.size):
        for j in range(k):
            if row[j] == row[k]:
                return False
    return True


@inner
def _swap_if_good(stream: Any, rows: Any, entries: Any) -> None:
    length = rows.shape[1]
    a, b = below(stream, entries.size), below(stream, entries.size)
    entries[a], entries[b] = entries[b], entries[a]
    if not (_is_distinct(rows[a // length]) and _is_distinct(rows[b // length])):
        entries[a], entries[b] = entries[b], entries[a]
