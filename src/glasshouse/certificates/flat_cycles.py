"""Cycles in flat arrays: the nodes of all cycles, concatenated, and where each cycle begins."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import kernels
from glasshouse.problems import IntArray, SpinArray, validation
from glasshouse.problems.monomials import Monomials

NodeArray = npt.NDArray[np.int32]


def checked_cycles(nodes: npt.ArrayLike, starts: npt.ArrayLike) -> tuple[NodeArray, IntArray]:
    """Check that flat arrays describe cycles; return read-only int32 nodes and int64 starts."""
    locked, bounds = flat_nodes(nodes, starts, "a loop")
    if len(bounds) == 1:
        return locked, bounds
    high = int(locked.max(initial=0))
    if high < 16 * len(locked):
        numbered, size = locked, high + 1
    else:  # renumber: a table of all nodes below a high one could take gigabytes
        numbered = validation.read_only(np.unique(locked, return_inverse=True)[1].astype(np.int32))
        size = len(locked)
    fault, loop = kernels.find_bad_cycle(numbered, bounds, size)
    if fault:
        cycle = locked[bounds[loop] : bounds[loop + 1]]
        shown = ", ".join(map(str, cycle[:8].tolist())) + (", …" if len(cycle) > 8 else "")
        what = {
            kernels.TOO_SHORT: "too short; a loop must have at least 3 nodes",
            kernels.REPEATED: "not a cycle: it visits a node twice",
        }[fault]
        raise ValueError(f"loop {loop}, [{shown}], is {what}")
    return locked, bounds


def flat_nodes(
    nodes: npt.ArrayLike, starts: npt.ArrayLike, what: str
) -> tuple[NodeArray, IntArray]:
    """Check flat nodes and their starts; return read-only int32 nodes and int64 starts."""
    flat = _whole_numbers(nodes, "nodes")
    bounds = _ascending(_whole_numbers(starts, "starts"), len(flat))
    low, high = (int(flat.min()), int(flat.max())) if len(flat) else (0, 0)
    if low < 0 or high >= validation.MOST_VARIABLES:
        raise ValueError(f"{what} visits node {low if low < 0 else high}, which is out of range")
    # Locked before any kernel gets them, because Numba compiles again for writable arrays.
    return validation.read_only(flat.astype(np.int32, copy=False)), bounds


def edges_of_cycles(nodes: NodeArray, starts: IntArray) -> npt.NDArray[np.int32]:
    """Return the edges of all cycles, each from a node to the next; the last closes the cycle."""
    following = np.empty_like(nodes)
    following[:-1] = nodes[1:]
    following[starts[1:] - 1] = nodes[starts[:-1]]
    return np.column_stack([nodes, following])


def node_values(state: SpinArray, table: Monomials) -> SpinArray:
    """Return the value ±1 of every node in a state: spins, the ghost, and a table's monomials."""
    spins = np.append(state, np.int8(1))
    if len(table.starts) == 1:
        return spins
    return np.concatenate([spins, table.products(state[np.newaxis])[0]])


def _ascending(starts: npt.NDArray[Any], length: int) -> IntArray:
    """Check that starts are in order, from 0 to `length`; return them as read-only int64."""
    if not len(starts) or starts[0] != 0 or starts[-1] != length:
        ends = [int(starts[0]), int(starts[-1])] if len(starts) else []
        raise ValueError(f"starts must run from 0 to {length}, the number of nodes, not {ends}")
    if (starts[1:] < starts[:-1]).any():  # a difference could overflow
        raise ValueError("starts must be in non-decreasing order")
    return validation.read_only(starts.astype(np.int64, copy=False))


def _whole_numbers(values: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise ValueError(
            f"{name} must be a flat array of integers, not {array.dtype} of shape {array.shape}"
        )
    return array
