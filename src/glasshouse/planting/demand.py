"""The size and the work that a recipe requests; limits apply before and during growth.

The size (`Demand`) is computed before anything is built. The work is not known in advance, because
loops are found by trial: a recipe can request loops that do not exist, or that take hours to find.
Code that grows an untrusted recipe therefore limits the number of steps. Kernels count their steps
down on a meter (`new_meter`), so that a recipe grows or fails alike on every computer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from glasshouse.planting.graph_names import MACHINES, Extent, GraphName
from glasshouse.planting.graphs import Graph, node_pairs
from glasshouse.problems import IntArray

# Approximate bytes that growing takes.
_NODE, _EDGE, _LOOP, _ENTRY = 64, 64, 64, 32
_MACHINE_EDGE = 512  # networkx builds it
_PRODUCT = 16  # bytes of each spin in a square's products
_LAYER = 1024  # bytes of its own arrays
_UNBOUNDED = 1 << 62  # steps
# The steps that are left, which kernels count down; an array of one number.
Meter: TypeAlias = IntArray

_FIRST_PIECE, _PIECE_SECONDS = 4096, 0.2


@dataclass(frozen=True)
class Demand:
    """The size of the instance that a recipe grows, and the memory to grow it.

    Attributes:
        spins: the exact number of spins.
        parts: the largest number of loops and squares.
        memory: the approximate number of bytes that growing takes.
    """

    spins: int
    parts: int
    memory: int

    @classmethod
    def of_loops_on_rbm(cls, n: int, m: int, loops: int, *, stored: bool = False) -> Demand:
        """Return the size and memory of an RBM with loops; its graph takes memory if `stored`."""
        edges = n * m if stored else 0
        return cls(n + m, loops, _NODE * (n + m) + _EDGE * edges + _LOOP * loops)

    @classmethod
    def of_loops_on_graph(cls, extent: Extent, memory: int, loops: int) -> Demand:
        """Return the size and memory of a graph with loops, from the graph's extent and memory."""
        return cls(extent.nodes, loops, memory + _LOOP * loops)

    @classmethod
    def of_loops(cls, spins: int, loops: int, nodes: int) -> Demand:
        """Return the size and memory of a problem whose loops have `nodes` nodes in total."""
        return cls(spins, loops, _NODE * spins + _LOOP * loops + _EDGE * nodes)

    @classmethod
    def of_squares(cls, spins: int, squares: int, nodes: int) -> Demand:
        """Return the size and memory of squares with `nodes` nodes each; all pairs become edges."""
        pairs = min(squares * nodes * (nodes - 1), spins * (spins - 1)) // 2
        entries = squares * nodes
        return cls(spins, squares, _NODE * spins + _EDGE * pairs + _ENTRY * entries)

    @classmethod
    def of_products(cls, spins: int, squares: int, entries: int, degree: int) -> Demand:
        """Return the size and memory of squares whose nodes are products of ≤ `degree` spins."""
        return cls(spins, squares, _NODE * spins + _LOOP * squares + _PRODUCT * degree * entries)


def graph_extent(graph: Graph | str | list[Any]) -> tuple[Extent, int]:
    """Return the size and the memory of a graph, computed from its name or its edges."""
    layers, edge = 0, _EDGE
    if isinstance(graph, Graph):
        extent = Extent(graph.num_nodes, graph.num_edges)
    elif isinstance(graph, str):
        name = GraphName.parse(graph)
        extent, layers = name.extent, len(name.sizes)
        edge = _MACHINE_EDGE if name.family in MACHINES else _EDGE
    else:
        pairs = node_pairs(graph)
        extent = Extent(int(pairs.max(initial=-1)) + 1, len(pairs))
    return extent, edge * extent.edges + _NODE * (extent.nodes + extent.dead) + _LAYER * layers


class EffortError(ValueError):
    """Raised if the allowed steps do not suffice to grow an instance."""


def new_meter(steps: int | None = None) -> Meter:
    """Return a meter that allows `steps` steps; None sets no limit."""
    return np.array([_UNBOUNDED if steps is None else steps], dtype=np.int64)


def spend(meter: Meter, steps: int) -> None:
    """Count steps in advance, such as one per pair of spins in squares; raise if too many."""
    if steps > int(meter[0]):
        raise EffortError(f"the squares need {steps} steps, but only {int(meter[0])} are allowed")
    meter[0] -= steps


def refuse_spent(meter: Meter) -> None:
    """Raise if all allowed steps are used up."""
    if meter[0] <= 0:
        raise EffortError("the loops were not found within the allowed number of steps")


def in_pieces(first: int, last: int, drop: Callable[[int, int], int]) -> int:
    """Place loops `first` to `last` - 1 in short batches, and handle signals between batches.

    Args:
        first: the number of the first loop.
        last: one more than the number of the last loop.
        drop: places loops of a range, and returns where it stopped: at the end, unless there is no
            space for a loop. Its draws must not depend on how loops are divided into ranges.

    Returns:
        The number of the loop where it stopped.
    """
    size = _FIRST_PIECE
    while first < last:
        end, began = min(first + size, last), time.perf_counter()
        first = drop(first, end)
        if first < end:
            break
        took = time.perf_counter() - began
        size = 2 * size if took < _PIECE_SECONDS / 2 else max(1, size // 2)
    return first
