"""Tables of dense problems, in the narrowest integers that represent all local fields.

Tables contain the contribution of a group of spins to all fields, for each state of the group.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from glasshouse.problems import Ising
from glasshouse.solvers.engine import ColouredGraph, aligned_zeros, exact_unit
from glasshouse.solvers.kernels.dense_fields import Rounding

# Keeping the fields of all sites saves time above this fraction of non-zero couplings.
LEAST_FILL = 0.4
# Integer problems with smaller local fields are faster on the byte kernel.
LEAST_SUM = 41
MOST_RUNS = 16  # the most runs in a block
# The largest field in 32 bits: twice a field must still fit.
_MOST_FIELD = 2**30 - 1
# Rounding may change a site's field by at most this fraction of its largest weight.
_FINE = 2.0**-12


def is_dense(network: ColouredGraph, pairs: int) -> bool:
    """Return whether a kernel for dense problems suits a graph with `pairs` possible pairs."""
    if not len(network.neighbours) or len(network.neighbours) < 2 * LEAST_FILL * pairs:
        return False
    return not network.problem.is_integer or network.largest_field >= LEAST_SUM


@dataclass(frozen=True)
class Numbers:
    """The integer type of a dense problem's tables, and the energy of one integer unit."""

    dtype: Any
    unit: float
    is_exact: bool

    @classmethod
    def of(cls, network: ColouredGraph) -> Numbers | None:
        """Choose the narrowest integer type for all local fields, or None if none is suitable."""
        most = network.largest_field
        if not 0 < most < np.inf:
            return None
        problem = network.problem
        exact = 1 if problem.is_integer else exact_unit(problem)
        if exact is not None and most / exact <= _MOST_FIELD:
            narrow = most / exact < np.iinfo(np.int16).max - 1
            return cls(np.int16 if narrow else np.int32, float(exact), is_exact=True)
        if problem.is_integer:
            return None
        unit = 2.0 ** (math.frexp(most)[1] - 30)
        firsts = network.starts[:-1][np.diff(network.starts) > 0]
        largest = np.maximum.reduceat(np.abs(network.weights), firsts)
        if not 0 < problem.num_variables * unit <= _FINE * largest.min():
            return None
        return cls(np.int32, unit, is_exact=False)

    @property
    def ceiling(self) -> float:
        """A value above all local fields, and below the field of an unused slot."""
        return float(np.iinfo(self.dtype).max - (1 if self.dtype is np.int16 else 255))

    def matrix(self, problem: Ising, order: Any, slots: Any, size: int) -> Any:
        """Return the matrix of couplings between slots, and the fields of all slots."""
        slot_of = np.zeros(problem.num_variables, np.int64)
        slot_of[order] = slots
        ends = slot_of.take(problem.edges)
        couplings: Any = np.zeros((size, size), problem.weights.dtype)
        couplings.reshape(-1)[ends[:, 0] * size + ends[:, 1]] = problem.weights
        couplings += couplings.T  # only one half of each pair was set
        fields = np.zeros(size, problem.fields.dtype)
        fields[slots] = problem.fields[order]
        return couplings, fields

    def rounded(self, values: Any) -> Any:
        """Return energies as integers, rounded to multiples of the unit."""
        if self.unit == 1 and np.issubdtype(values.dtype, np.integer):
            return values.astype(self.dtype)
        return np.rint(values / self.unit).astype(self.dtype)

    def fields(self, values: Any, slots: Any) -> tuple[Any, Any]:
        """Return two copies of all slots' fields, with opposite large values at unused slots."""
        held = np.iinfo(self.dtype).max
        bias, own = np.full(len(values), held, self.dtype), np.full(len(values), -held, self.dtype)
        bias[slots] = own[slots] = self.rounded(values[slots])
        return bias, own

    def rounding(
        self, couplings: Any, first: int, fields: Any, each_pair_twice: bool = False
    ) -> Rounding:
        """Return the unit, and the remainders when couplings and fields are rounded to it."""
        if self.is_exact:
            return Rounding(self.unit, 0.0, np.zeros(0, np.float32), first, np.zeros(0))
        if each_pair_twice:
            couplings = np.triu(couplings, 1)
        left = (couplings / self.unit - self.rounded(couplings)).astype(np.float32)
        left_fields = fields / self.unit - self.rounded(fields)
        most = float(np.abs(left).sum(dtype=np.float64) + np.abs(left_fields).sum()) * self.unit
        return Rounding(self.unit, most, left.reshape(-1), first, left_fields)


def aligned(*parts: Any) -> Any:
    """Return a flat copy of the arrays, concatenated and aligned to a cache line."""
    copy = aligned_zeros(sum(part.size for part in parts), parts[0].dtype)
    end = 0
    for part in parts:
        copy[end : end + part.size].reshape(part.shape)[...] = part
        end += part.size
    return copy


# Sums of four spins save time if they fit into so many bytes of a core's cache. Sums of two spins,
# which take less space, may take more bytes; sums of two in bytes save less time.
_OF_FOUR, _OF_TWO, _OF_TWO_IN_BYTES = 1 << 19, 1 << 21, 1 << 20
_MOST_BYTE = 255


class Sums(NamedTuple):
    """Tables of sums of couplings: in bytes for 32 slots, or in the fields' type for 16 slots.

    A byte is half of the excess of a sum over the smallest sum of its group. The sums for the last
    16 of 32 slots exclude the first 16 spins, whose contribution is in a separate table.
    """

    table: Any  # by group and state; empty if it would be too large
    group: int  # the number of spins in a group
    least: Any  # the fields if all sums are minimal; 0 without bytes
    lacking: Any  # sums of four of the first sixteen spins
    crowd: int  # sums save time if more than one of `crowd` spins flips; 0 means never


def sums_of_all(whole: Any, sites: int) -> Sums:
    """Return tables of sums of `whole`, the couplings between slots; `sites` slots are in use."""
    used = -(-sites // 16) * 16
    if whole.dtype == np.int16:
        in_bytes = _in_bytes(whole, used)
        if in_bytes is not None:
            return in_bytes
    return _wide(whole[:used, :used])


def _in_bytes(whole: Any, used: int) -> Sums | None:
    """Return the tables of sums in bytes, or None if the total of two sums may exceed a byte.

    The sum of all weights of a slot fits into 16 bits, and so does any part of the sum.
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
    # The first sixteen of 32 slots are in the low bytes of words, the others in the high bytes.
    paired = rest.reshape(used, -1, 2, 16).swapaxes(2, 3).reshape(rest.shape)
    up, down = np.maximum(paired, 0).astype(np.uint8), np.maximum(-paired, 0).astype(np.uint8)
    halves = sums_of_groups(up, down, group).reshape(used // group, 1 << group, -1, 32)
    return Sums(
        halves.transpose(2, 0, 1, 3), group, -size.sum(0, whole.dtype),
        signed_sums(lacking.reshape(-1, 16), 4), 3 * group,
    )  # fmt: skip


def _wide(whole: Any) -> Sums:
    """Return the tables of sums in the integer type of the fields."""
    none = whole[:0]
    group = _group(whole.nbytes, _OF_TWO)
    if not group:
        return Sums(none, 2, 0, none, 0)
    by_slots = signed_sums(whole, group).reshape(-1, 1 << group, len(whole) // 16, 16)
    return Sums(by_slots.transpose(2, 0, 1, 3), group, 0, none, 2 * group)


def _group(size: int, room_of_two: int) -> int:
    """Return the size of a group for `size` bytes of weights, or 0 if tables would be too large."""
    if 4 * size <= _OF_FOUR:
        return 4
    return 2 if 2 * size <= room_of_two else 0


def signed_sums(whole: Any, group: int) -> Any:
    """For each group of two or four rows, return the sum of its rows for every choice of signs."""
    return sums_of_groups(whole, -whole, group)


def sums_of_groups(up: Any, down: Any, group: int) -> Any:
    """For each group of two or four rows, return the sum of its rows for every group state."""
    first, second = up[0::2], up[1::2]
    turned, other = down[0::2], down[1::2]
    of_two = np.stack([first + second, turned + second, first + other, turned + other], 1)
    if group == 2:
        return of_two
    sums = of_two[1::2, :, None] + of_two[0::2, None]
    return sums.reshape(len(sums), 16, up.shape[1])
