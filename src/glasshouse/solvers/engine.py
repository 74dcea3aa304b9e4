"""A problem prepared for one kernel: its tables, and the blocks of runs to anneal."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.kernels.adjacency import adjacency
from glasshouse.problems import Ising, Polynomial, SpinArray
from glasshouse.solvers.kernels import sweep_order
from glasshouse.solvers.kernels.block import LaneBlock

SpinProblem: TypeAlias = Ising | Polynomial

# Sums of integers are exact in floating point up to these limits, and so is twice a sum.
_EXACT_FLOAT32, _EXACT_FLOAT64 = 2**23, 2**52
_CACHE_LINE = 64  # bytes, on all common processors
# The largest drift of float energies that are updated flip by flip, relative to all weights.
_DRIFT = 1e-11


def exact_unit(problem: SpinProblem) -> Fraction | None:
    """Return a power of two that divides all energies, or None if float64 would round them.

    >>> exact_unit(Ising.from_edges(3, [(0, 1), (1, 2)], [1e10, 0.5]))
    Fraction(1, 2)
    >>> exact_unit(Ising.from_edges(3, [(0, 1), (1, 2)], [1e10, 0.1])) is None
    True
    """
    singles = problem.weights[:0] if isinstance(problem, Polynomial) else problem.fields
    values = np.concatenate([problem.weights, singles, [problem.offset]]).astype(np.float64)
    values = values[values != 0]
    if not len(values):
        return Fraction(1)
    mantissas, exponents = np.frexp(values)
    whole = (mantissas * 2.0**53).astype(np.int64)
    _, lowest_bits = np.frexp((whole & -whole).astype(np.float64))
    unit = Fraction(2) ** int((exponents + lowest_bits - 54).min())
    most = (Fraction(problem.total_weight) + abs(Fraction(problem.offset))) / unit
    return unit if most <= _EXACT_FLOAT64 else None


class Hypergraph:
    """For each spin of a polynomial, the monomials that contain the spin."""

    def __init__(self, problem: Polynomial) -> None:
        self.problem = problem
        held = problem.monomials
        order = np.argsort(held.indices, kind="stable")
        self.neighbours = held.rows[order]
        counts = np.bincount(held.indices, minlength=problem.num_variables)
        self.starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.weights = problem.weights[self.neighbours]

    def sweep_order(self) -> npt.NDArray[np.int32]:
        """Return the indices of the spins that occur in monomials, in sweep order."""
        return np.flatnonzero(np.diff(self.starts)).astype(np.int32)


class ColouredGraph:
    """The adjacency of an Ising problem, and a colour for each spin.

    Isolated spins have colour 0. A field is an edge to the ghost, the node after the last spin.
    """

    def __init__(self, problem: Ising) -> None:
        self.problem = problem
        ghost = problem.num_variables
        biased = np.flatnonzero(problem.fields).astype(np.int32)
        edges, weights = problem.edges, problem.weights
        if len(biased):
            to_ghost = np.column_stack([biased, np.full_like(biased, ghost)])
            edges = np.concatenate([edges, to_ghost])
            weights = np.concatenate([weights, problem.fields[biased]])
        rows = adjacency(ghost + 1, edges)
        self.starts = rows.starts[:-1]  # without the ghost's row
        size = self.starts[-1]
        self.neighbours, self.weights = rows.neighbours[:size], weights.take(rows.edge_ids[:size])
        self.colours = sweep_order.colour(self.starts, self.neighbours)

    @cached_property
    def largest_field(self) -> float:
        """The largest local field that any spin can have."""
        firsts = self.starts[:-1][np.diff(self.starts) > 0]
        return float(np.add.reduceat(np.abs(self.weights), firsts, dtype=np.float64).max())

    def sweep_order(self) -> npt.NDArray[np.int32]:
        """Return the spin index of each site, in sweep order."""
        everyone = np.arange(self.problem.num_variables, dtype=np.int32)
        order: npt.NDArray[np.int32] = sweep_order.order_by(self.colours, everyone)
        return order

    def in_sweep_order(self) -> tuple[npt.NDArray[np.int32], Any, Any, Any]:
        """Return the spin index of each site, in sweep order, and the adjacency of the sites."""
        order = self.sweep_order()
        return order, *sweep_order.arrange(order, self.starts, self.neighbours, self.weights)


@dataclass(frozen=True)
class Engine:
    """A problem prepared for one kernel: its tables, the spin index of each site, and the block.

    Attributes:
        tables: the tables that the kernel reads.
        order: the spin index of each site; isolated spins are omitted.
        lanes: the number of runs in a block.
        spin_dtype: the type of the kernel's own spins.
        energy_dtype: the type of the kernel's own energies, exact for integer problems.
        rows: the rows of spins in a block, including ghost and complements.
        cost: the approximate number of machine words that a sweep of a block accesses.
        words: generator words per run, if the kernel also stores its own words there; otherwise 0.
        together: runs that share a stream, if a block has only the runs requested; otherwise 0.
        spread: converts bytes (0 is up, 255 is down) to rows of the kernel's own spins. None if the
            kernel stores more than spins there, so that a block cannot start from given states.
    """

    tables: Any
    order: npt.NDArray[np.int32]
    lanes: int
    spin_dtype: Any
    energy_dtype: Any
    rows: int
    cost: int
    words: int = 0
    together: int = 0
    spread: Callable[[npt.NDArray[np.uint8]], npt.NDArray[Any]] | None = None

    @property
    def never(self) -> Any:
        """An energy below that of every state: the goal of runs that have no target."""
        if np.issubdtype(self.energy_dtype, np.integer):
            return int(np.iinfo(self.energy_dtype).min)
        return -np.inf

    def goal(self, target: float | None, problem: SpinProblem) -> Any:
        """Convert a target energy to the kernel's energy, which excludes the problem's offset."""
        if target is None:
            return self.never
        if problem.is_integer:
            bound, offset = problem.total_weight, problem.offset
            if target >= bound + offset:
                goal = bound
            elif target < offset - bound:
                goal = -bound - 1
            else:
                goal = math.floor(target) - offset
            return goal if np.issubdtype(self.energy_dtype, np.integer) else float(goal)
        reach = problem.total_weight + abs(problem.offset)
        target = min(max(target, -3 * reach - 1), 3 * reach + 1)
        unit = exact_unit(problem)
        if unit is not None:  # then floats are as exact as integers
            return float(math.floor((Fraction(target) - Fraction(problem.offset)) / unit) * unit)
        return float(target - problem.offset + _DRIFT * reach)

    def new_block(self, wanted: int | None = None) -> LaneBlock:
        """Allocate a block with lanes for `wanted` runs, or with all lanes if `wanted` is None."""
        lanes = self.lanes
        if wanted is not None and self.together:
            lanes = min(lanes, -(-wanted // self.together) * self.together)
        words = 4 * max(lanes * np.dtype(self.spin_dtype).itemsize // 8, 1)
        energies = np.zeros((3, lanes), self.energy_dtype)
        return LaneBlock(
            aligned_zeros(self.words * lanes or words, np.uint64),
            aligned_zeros(self.rows * lanes, self.spin_dtype),
            energies[0], energies[1],
            np.zeros(len(self.order) * lanes, np.uint8),
            energies[2],
            np.zeros(lanes, np.int32), np.zeros(lanes, np.uint8), self.never,
        )  # fmt: skip

    def load(self, block: LaneBlock, states: npt.NDArray[np.uint8], energies: Any) -> None:
        """Replace the spins and the energies of a block that is already started.

        Args:
            block: the block, whose generator and whose ghost stay unchanged.
            states: the spins of each run in a row, in the order of the sites: 0 is up, 255 is down.
            energies: the energies of these states, without the problem's offset.
        """
        if self.spread is None:
            raise ValueError("this kernel cannot start from given states; choose another kernel")
        rows = self.spread(np.ascontiguousarray(states.T))
        block.spins[: rows.size] = rows.reshape(-1)
        block.energies[:] = energies

    def states(self, block: LaneBlock, into: SpinArray) -> None:
        """Write the best states of a block's first runs into an array, one state per row."""
        best = block.states.reshape(len(self.order), len(block.hits)).T[: len(into)]
        into[:] = 1
        into[:, self.order] = signs(best)


def aligned_zeros(size: int, dtype: Any) -> npt.NDArray[Any]:
    """Return an array of zeros that begins at the start of a cache line."""
    length = size * np.dtype(dtype).itemsize
    room = np.zeros(length + _CACHE_LINE, np.uint8)
    first = -room.__array_interface__["data"][0] % _CACHE_LINE
    return room[first : first + length].view(dtype)


def signs(spins: npt.NDArray[np.uint8]) -> npt.NDArray[np.int8]:
    """Convert bytes to spins of ±1: 0 is up, and 255 is down."""
    return (spins | 1).view(np.int8)


def float_for(problem: SpinProblem) -> Any:
    """Return the float type for a problem's sums, or None if float64 would round its integers."""
    if not problem.is_integer:
        return np.float64
    if problem.total_weight <= _EXACT_FLOAT32:
        return np.float32
    return np.float64 if problem.total_weight <= _EXACT_FLOAT64 else None
