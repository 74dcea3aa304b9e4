"""What groups of spins contribute to all fields of a dense problem, for each of their states."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

# Sums of four spins are worth their room, in bytes, in a processor's own memory; sums of two, which
# gain less over none where they are in bytes, in a larger one.
_OF_FOUR, _OF_TWO, _OF_TWO_IN_BYTES = 1 << 19, 1 << 21, 1 << 20
_MOST_BYTE = 255


class Sums(NamedTuple):
    """Tables for each 32 slots, in bytes, or for each sixteen, as wide as the fields.

    A byte is half of what a sum is above the least one of its group. The second sixteen of 32 slots
    do without the first sixteen spins; what they lack is in a table of its own.
    """

    table: Any  # of groups, of each state; none where it would be too large
    group: int  # how many spins it has
    least: Any  # what fields have where all their sums are the least; 0 where none are in bytes
    lacking: Any  # sums of four of the first sixteen spins
    crowd: int  # sums are worth it where more than one of so many spins flip; 0 is never


def sums_of_all(whole: Any, sites: int) -> Sums:
    """Sums of the weights between slots, of which the sites take the first."""
    used = -(-sites // 16) * 16
    if whole.dtype == np.int16:
        in_bytes = _in_bytes(whole, used)
        if in_bytes is not None:
            return in_bytes
    return _wide(whole[:used, :used])


def _in_bytes(whole: Any, used: int) -> Sums | None:
    """Sums in bytes, if two of them always add up to a byte.

    16 bits hold the sum of all weights of a slot, and so any part of it.
    """
    group = _group(used * len(whole), _OF_TWO_IN_BYTES)
    if not group:
        return None
    parts = whole.reshape(len(whole) // 32, 2, 16, -1, 2, 16)
    here = np.arange(len(parts))
    lacking = parts[here, 0, :, here, 1]
    rest = whole.copy()
    rest.reshape(parts.shape)[here, 0, :, here, 1] = 0
    rest = rest[:used]
    size = np.abs(rest)
    of_groups = size.reshape(-1, 2 * group, len(whole)).sum(1, whole.dtype)
    if of_groups.max() > _MOST_BYTE:
        return None
    # The first sixteen of 32 slots are in the low bytes of words, the others in the high ones.
    paired = rest.reshape(used, -1, 2, 16).swapaxes(2, 3).reshape(rest.shape)
    up, down = np.maximum(paired, 0).astype(np.uint8), np.maximum(-paired, 0).astype(np.uint8)
    halves = sums_of_groups(up, down, group).reshape(used // group, 1 << group, -1, 32)
    return Sums(
        halves.transpose(2, 0, 1, 3), group, -size.sum(0, whole.dtype),
        signed_sums(lacking.reshape(-1, 16), 4), 3 * group,
    )  # fmt: skip


def _wide(whole: Any) -> Sums:
    """Sums as wide as the fields."""
    none = whole[:0]
    group = _group(whole.nbytes, _OF_TWO)
    if not group:
        return Sums(none, 2, 0, none, 0)
    by_slots = signed_sums(whole, group).reshape(-1, 1 << group, len(whole) // 16, 16)
    return Sums(by_slots.transpose(2, 0, 1, 3), group, 0, none, 2 * group)


def _group(size: int, room_of_two: int) -> int:
    """How many spins have their sums together, where the weights themselves take `size` bytes."""
    if 4 * size <= _OF_FOUR:
        return 4
    return 2 if 2 * size <= room_of_two else 0


def signed_sums(whole: Any, group: int) -> Any:
    """Of each two or four rows, with each choice of signs."""
    return sums_of_groups(whole, -whole, group)


def sums_of_groups(up: Any, down: Any, group: int) -> Any:
    """Of each two or four rows, for each state of their spins; a set bit is a spin that is down."""
    first, second = up[0::2], up[1::2]
    turned, other = down[0::2], down[1::2]
    of_two = np.stack([first + second, turned + second, first + other, turned + other], 1)
    if group == 2:
        return of_two
    sums = of_two[1::2, :, None] + of_two[0::2, None]
    return sums.reshape(len(sums), 16, up.shape[1])
