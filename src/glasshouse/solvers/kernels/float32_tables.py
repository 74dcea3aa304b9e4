"""Tables of the float32 kernels: the adjacency of the sites, with weights in two precisions."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled
from glasshouse.kernels.arrays import empty, zeros
from glasshouse.kernels.extremes import higher

MOST_PLACE = 2**31 - 1  # row positions are stored in 32 bits
_EXACT = 2**24  # integers up to this are exact in float32
_TINY, _FEW = 2.0**-14, 0.01


class Float32Tables(NamedTuple):
    """The neighbours of each site in sweep order; the last site is the ghost for the fields.

    The later neighbours of a site start at `middles`, so that energies can count each edge once.
    """

    starts: npt.NDArray[np.int64]
    middles: npt.NDArray[np.int64]
    neighbours: npt.NDArray[np.int32]  # indices of their rows of spins
    weights: npt.NDArray[np.float32]  # in units of `unit`
    exact_weights: npt.NDArray[np.float64]
    unit: float  # a power of two such that no local field exceeds 2
    typical_field: float  # mean over the sites in a random state, in units of `unit`


class WideTables(Float32Tables):
    """Tables for many runs, with 16 lanes."""

    LANES = 16


class NarrowTables(Float32Tables):
    """Tables for few runs, with 8 lanes."""

    LANES = 8


@compiled
def suits_float32(starts: Any, values: Any) -> Any:
    """Return whether float32 is precise enough to decide flips.

    A local field is rounded by about 2^-23 of the weights of its site. Integers up to 2^24 are not
    rounded. Other weights may be rounded, unless more than 1 % of them are below 2^-14 of the total
    weight of their site, as next to penalties: rounding could remove these weights.
    """
    tiny, rounded = 0, False
    for i in range(starts.size - 1):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += abs(np.float64(values[k]))
            rounded |= values[k] != np.floor(values[k])
        rounded |= total > _EXACT
        for k in range(starts[i], starts[i + 1]):
            if abs(np.float64(values[k])) < _TINY * total:
                tiny += 1
    return not rounded or tiny <= _FEW * values.size


@compiled
def build(order: Any, starts: Any, neighbours: Any, values: Any, lanes: Any) -> Any:
    """Build the tables' arrays from the adjacency of the spins; site p is spin order[p]."""
    sites = order.size
    place = zeros(starts.size, np.int32)
    place[starts.size - 1] = sites
    for p in range(sites):
        place[order[p]] = p
    new_starts, middles = zeros(sites + 1, np.int64), zeros(sites, np.int64)
    rows, exact = zeros(values.size, np.int32), empty(values.size, np.float64)
    size, largest = 0, 0.0
    for p in range(sites):
        total = 0.0
        for later in range(2):
            for k in range(starts[order[p]], starts[order[p] + 1]):
                if (place[neighbours[k]] > p) == (later == 1):
                    rows[size], exact[size] = place[neighbours[k]] * lanes, values[k]
                    total += abs(exact[size])
                    size += 1
            if later == 0:
                middles[p] = size
        new_starts[p + 1] = size
        largest = higher(largest, total)
    exponent = math.frexp(largest)[1] - 1
    weights, typical = empty(size, np.float32), 0.0
    for p in range(sites):
        squares = 0.0
        for k in range(new_starts[p], new_starts[p + 1]):
            weight = math.ldexp(exact[k], -exponent)
            weights[k] = weight
            squares += weight * weight
        typical += math.sqrt(squares) / sites
    return new_starts, middles, rows, weights, exact, math.ldexp(1.0, exponent), typical
