"""The size and the work that a recipe asks for, limited before and while it is grown.

The size (`Demand`) is counted before anything is built. The work is not known beforehand, because
loops are searched for by trial: a recipe can ask for loops that do not exist, or that take hours to
find. Code that grows a stranger's recipe therefore limits the number of steps (`at_most`). Kernels
count their steps down on a meter, so that a recipe grows or fails alike on every computer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from glasshouse.planting import arguments
from glasshouse.planting.graph_names import MACHINES, Extent, GraphName
from glasshouse.problems.validation import IntArray

# Bytes that growing takes, about.
_NODE, _EDGE, _LOOP, _ENTRY = 64, 64, 64, 32
_MACHINE_EDGE = 512  # networkx builds it
_LAYER = 1024  # arrays of its own
_UNBOUNDED = 1 << 62  # steps
# What kernels count down: one number, the steps that are left.
Meter: TypeAlias = IntArray

_FIRST_PIECE, _PIECE_SECONDS = 4096, 0.2
_METER: ContextVar[IntArray | None] = ContextVar("meter", default=None)


@dataclass(frozen=True)
class Demand:
    """The size of what a recipe grows.

    Attributes:
        spins: how many, exactly.
        parts: loops and squares, at most.
        memory: how many bytes growing takes, about.
    """

    spins: int
    parts: int
    memory: int

    @classmethod
    def of_loops_on_rbm(cls, n: int, m: int, loops: int, *, stored: bool = False) -> Demand:
        """Loops on an RBM, whose complete graph is stored or not."""
        edges = n * m if stored else 0
        return cls(n + m, loops, _NODE * (n + m) + _EDGE * edges + _LOOP * loops)

    @classmethod
    def of_loops(cls, spins: int, loops: int, nodes: int) -> Demand:
        """So many loops over so many nodes in all, on spins that the method makes itself."""
        return cls(spins, loops, _NODE * spins + _LOOP * loops + _EDGE * nodes)

    @classmethod
    def of_squares(cls, spins: int, squares: int, nodes: int) -> Demand:
        """So many squares over so many nodes each; their pairs become edges, or cancel."""
        pairs = min(squares * nodes * (nodes - 1), spins * (spins - 1)) // 2
        entries = squares * nodes
        return cls(spins, squares, _NODE * spins + _EDGE * pairs + _ENTRY * entries)


def layers_of(asked: Mapping[str, Any]) -> tuple[int, int]:
    """Visible and hidden spins of an RBM, as parameters tell them."""
    sizes: Any = asked.get("n"), asked.get("m")
    return arguments.layer_sizes(*sizes)


def rbm_demand(asked: Mapping[str, Any]) -> Demand:
    """Of loops on an RBM of `n` and `m` spins, given by their number or density."""
    n, m = layers_of(asked)
    return Demand.of_loops_on_rbm(n, m, _loops(asked, arguments.half(n + m, n)))


def graph_demand(asked: Mapping[str, Any]) -> Demand:
    """Of loops on a `graph`, given by their number or density."""
    extent, memory = graph_extent(asked.get("graph"))
    loops = _loops(asked, arguments.half(extent.nodes))
    return Demand(extent.nodes, loops, memory + _LOOP * loops)


def ground_demand(asked: Mapping[str, Any]) -> Demand:
    """Of loops on a `graph` that may be the (n, m) of an RBM."""
    graph = asked.get("graph")
    if not isinstance(graph, (list, tuple)) or [type(size) for size in graph] != [int, int]:
        return graph_demand(asked)
    n, m = arguments.layer_sizes(*graph)
    # Only where weights are limited is the complete graph of an RBM stored.
    stored = asked.get("max_weight") is not None
    return Demand.of_loops_on_rbm(n, m, _loops(asked, arguments.half(n + m, n)), stored=stored)


def graph_extent(graph: object) -> tuple[Extent, int]:
    """How large a graph is, by its name or its edges, and what it takes in memory."""
    if isinstance(graph, str):
        name = GraphName.parse(graph)
        extent, layers = name.extent, len(name.sizes)
        edge = _MACHINE_EDGE if name.family in MACHINES else _EDGE
    elif isinstance(graph, list) and graph and all(_is_edge(pair) for pair in graph):
        extent, layers, edge = Extent(1 + max(map(max, graph)), len(graph)), 0, _EDGE
    else:
        raise ValueError("a recipe's graph is a name such as 'torus:8x8', or two sizes")
    return extent, edge * extent.edges + _NODE * (extent.nodes + extent.dead) + _LAYER * layers


def _is_edge(pair: object) -> bool:
    return isinstance(pair, list) and [type(node) for node in pair] == [int, int]


def _loops(asked: Mapping[str, Any], half: Fraction) -> int:
    return arguments.loop_count(asked.get("loops"), asked.get("loop_density"), half)


class EffortError(ValueError):
    """The steps that were allowed did not lead to all loops."""


@contextmanager
def at_most(steps: int) -> Iterator[None]:
    """Whatever is planted within takes no more steps than these, or raises an EffortError."""
    token = _METER.set(np.array([steps], dtype=np.int64))
    try:
        yield
    finally:
        _METER.reset(token)


def new_meter(steps: int | None = None) -> Meter:
    """A meter of so many steps; without a number there is no limit."""
    if steps is not None:
        return np.array([steps], dtype=np.int64)
    meter = _METER.get()
    return np.array([_UNBOUNDED], dtype=np.int64) if meter is None else meter


def spend(meter: Meter, steps: int) -> None:
    """Count steps before they are taken, such as the pairs of squares; too many are refused."""
    if steps > int(meter[0]):
        raise EffortError(f"its squares have {steps} pairs of spins, more than the steps allowed")
    meter[0] -= steps


def refuse_spent(meter: Meter) -> None:
    """Raise if the steps are used up."""
    if meter[0] <= 0:
        raise EffortError("its loops are not found in the number of steps that are allowed")


def in_pieces(first: int, last: int, drop: Callable[[int, int], int]) -> int:
    """Drop loops `first` to `last` - 1, a few at a time, so that signals are handled in between.

    Args:
        first: the number of the first loop.
        last: one more than the number of the last loop.
        drop: drops loops of a range, and returns where it stopped: at the end, unless there is no
            place for a loop. What it draws must not depend on how loops are divided into ranges.

    Returns:
        Where it stopped.
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
