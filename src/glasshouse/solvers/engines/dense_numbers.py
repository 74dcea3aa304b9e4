"""Dense problems in the narrowest integers that hold all their local fields."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from glasshouse.problems import Ising
from glasshouse.solvers.engine import ColouredGraph, aligned_zeros, exact_unit
from glasshouse.solvers.kernels.dense_fields import Rounding

# Keeping the fields of all sites is worth it from this share of non-zero couplings on.
LEAST_FILL = 0.4
# Whole numbers that nowhere add up to more than this are left to the kernel that works in bytes.
LEAST_SUM = 41
MOST_RUNS = 16  # in a block
# Fields in 32 bits stay below this, so that twice one still fits.
_MOST_FIELD = 2**30 - 1
# Rounding may change a site's field by this part of its largest weight, and no more.
_FINE = 2.0**-12


def is_dense(network: ColouredGraph, pairs: int) -> bool:
    """Whether most of so many pairs of spins are coupled, and bytes would not serve better."""
    if not len(network.neighbours) or len(network.neighbours) < 2 * LEAST_FILL * pairs:
        return False
    return not network.problem.is_integer or network.largest_field >= LEAST_SUM


@dataclass(frozen=True)
class Numbers:
    """Which integers, and how much one of them stands for."""

    dtype: Any
    unit: float
    is_exact: bool

    @classmethod
    def of(cls, network: ColouredGraph) -> Numbers | None:
        """The narrowest that hold all local fields, or None where they would be too coarse."""
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
        """Above all local fields, and below that of a slot that is left over."""
        return float(np.iinfo(self.dtype).max - (1 if self.dtype is np.int16 else 255))

    def matrix(self, problem: Ising, order: Any, slots: Any, size: int) -> Any:
        """Couplings between slots, and fields of slots, of the spins in sweep order."""
        slot_of = np.zeros(problem.num_variables, np.int64)
        slot_of[order] = slots
        ends = slot_of.take(problem.edges)
        couplings: Any = np.zeros((size, size), problem.weights.dtype)
        couplings.reshape(-1)[ends[:, 0] * size + ends[:, 1]] = problem.weights
        couplings += couplings.T  # of each pair only one was set
        fields = np.zeros(size, problem.fields.dtype)
        fields[slots] = problem.fields[order]
        return couplings, fields

    def rounded(self, values: Any) -> Any:
        """In units."""
        if self.unit == 1 and np.issubdtype(values.dtype, np.integer):
            return values.astype(self.dtype)
        return np.rint(values / self.unit).astype(self.dtype)

    def fields(self, values: Any, slots: Any) -> tuple[Any, Any]:
        """Fields in units, twice: left over slots are held fast in one, the other cancels that."""
        held = np.iinfo(self.dtype).max
        bias, own = np.full(len(values), held, self.dtype), np.full(len(values), -held, self.dtype)
        bias[slots] = own[slots] = self.rounded(values[slots])
        return bias, own

    def rounding(
        self, couplings: Any, first: int, fields: Any, each_pair_twice: bool = False
    ) -> Rounding:
        """What rounding leaves over."""
        if self.is_exact:
            return Rounding(self.unit, 0.0, np.zeros(0, np.float32), first, np.zeros(0))
        if each_pair_twice:
            couplings = np.triu(couplings, 1)
        left = (couplings / self.unit - self.rounded(couplings)).astype(np.float32)
        left_fields = fields / self.unit - self.rounded(fields)
        most = float(np.abs(left).sum(dtype=np.float64) + np.abs(left_fields).sum()) * self.unit
        return Rounding(self.unit, most, left.reshape(-1), first, left_fields)


def aligned(*parts: Any) -> Any:
    """A flat copy of one array after the other; it begins with a cache line."""
    copy = aligned_zeros(sum(part.size for part in parts), parts[0].dtype)
    end = 0
    for part in parts:
        copy[end : end + part.size].reshape(part.shape)[...] = part
        end += part.size
    return copy
