"""Posiform planting: a 2-SAT with a unique model, as an Ising problem or QUBO on any graph."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glasshouse.planting import arguments
from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.counting.two_sat import Clauses, count_models, least_unique, loops_of
from glasshouse.planting.demand import Demand, Meter
from glasshouse.planting.graphs import Graph
from glasshouse.planting.kernels.clauses import draw_coefficients, draw_edge_clauses, grow_blocks
from glasshouse.planting.kernels.graph_loops import BASIS
from glasshouse.planting.loops import Loops
from glasshouse.planting.method import Plan, planting_method
from glasshouse.planting.methods.dropping import Drop, Ground, LoopWeights
from glasshouse.planting.planted import Planted
from glasshouse.problems import validation
from glasshouse.problems.elementary import logarithm
from glasshouse.randomness import RngLike, Streams

if TYPE_CHECKING:
    from glasshouse.planting.graphs import GraphLike

_MOST_COEFFICIENT = 1 << 31
# Draws of clauses, as a multiple of the expected wait for the last free spin; longer waits have
# probability below e^-40.
_WAIT = 40
_CLAUSE, _LOOP, _PAIR = 256, 64, 64  # approximate bytes


def _scale(scale: Any, block: Any) -> Fraction:
    if scale is None:
        return Fraction(1, 10)
    if block is None:
        raise ValueError(f"scale={scale} has no effect without blocks; add block, or remove scale")
    ratio = arguments.ratio(scale, "scale")
    if ratio <= 0 or max(ratio.numerator, ratio.denominator) > _MOST_COEFFICIENT:
        raise ValueError(f"scale={scale} must be p/q with p and q from 1 to 2^31; try 1/10")
    return ratio


@planting_method(
    "posiform",
    grows_on="spins or graph",
    examples=(
        {"n": 40},
        {"graph": "chimera:3", "max_coefficient": 3},
        {"n": 30, "block": 10, "scale": "1/20"},
    ),
    knobs={"scale": ("1/2", "1/100"), "block": ("24", "4")},
    ground_states=count_models,
)
def posiform(
    n: int | None = None,
    *,
    graph: GraphLike | None = None,
    max_coefficient: int = 1,
    block: int | None = None,
    scale: Ratio | None = None,
    state: State | None = None,
    rng: RngLike = None,
) -> Plan:
    """Plant the unique model of a 2-SAT, which is the only ground state and has energy 0.

    Posiform planting (Hahn, Pelofske, Djidjev, "Using 2-SAT to generate QUBO instances with known
    optimal solutions", 2023, and Frontiers in Computer Science 5, 2023). Clauses that the planted
    state satisfies are drawn, without repeating any, on the edges of a graph until no other state
    satisfies them all. A violated clause costs four times its coefficient, an integer.

    A 2-SAT is easy. With `block`, the spins are also divided into blocks of neighbours, each with a
    glass of frustrated loops that has the planted state among its many ground states (Pelofske,
    Hahn, Djidjev, arXiv 2411.03626, "Increasing the hardness of posiform planting using random
    QUBOs"). The paper draws the couplings of a block at random and solves it. The proof of such a
    block would come from a linear program in floats, and would not be the same on every computer;
    our loops need no solving and are their own proof (docs/families.md has the paper's form, with
    `prove`). The clauses still leave one state. The energy is then that of the loops.

    Args:
        n: spins, any two of which may share a clause; use this or `graph`.
        graph: a `Graph` or its name ("chimera:4"), a networkx graph, a list of edges, or an Ising
            problem whose edges are used. Every node needs an edge.
        max_coefficient: coefficients of clauses are uniform from 1 to this.
        block: the most spins of a block with a glass; no blocks by default.
        scale: coefficients of clauses relative to the ±1 of a block's loops, the paper's posiform
            scaling coefficient: 1/10 by default. A lower scale is harder, and so are more and
            smaller blocks.
        state: the state to plant; uniform at random if None.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> plant = posiform(40, rng=1)
    >>> plant.energy, str(plant.summary().ground_states)
    (0, 'unique (proven: the 2-SAT has no other model)')
    >>> plant.verify()
    """
    if (n is None) == (graph is None):
        given = "neither is" if n is None else "both are"
        raise ValueError(f"pass exactly one of n and graph; {given} given")
    ground = None if graph is None else Ground.of(graph)
    size = arguments.spins(n, 2) if ground is None else ground.num_variables  # type: ignore[arg-type]
    most = validation.count(max_coefficient, "max_coefficient", 1)
    if most > _MOST_COEFFICIENT:
        raise ValueError(f"max_coefficient={most} is above the limit of 2^31; use a smaller one")
    ratio = _scale(scale, block)
    width = None if block is None else min(validation.count(block, "block", 3), size)

    def prepare(meter: Meter) -> tuple[Graph | None, Ground | None]:
        built = None if ground is None else _held(ground.stored())
        return built, None if width is None else _blocks(size, built, width)

    def draw(streams: Streams, meter: Meter) -> Planted:
        built, blocks = prepare(meter)
        spins = arguments.planted_state(state, size, streams[0])
        clauses = _draw(streams[1], size, built)
        coefficients = np.empty(len(clauses), dtype=np.int64)
        draw_coefficients(streams[2], most, coefficients)
        if blocks is not None:
            coefficients *= ratio.numerator
        loops = loops_of(size, clauses, coefficients)
        cost = int(coefficients.sum())
        if blocks is not None:
            # There are as many loops of weights ±1 as spins on cycles inside blocks.
            longest = blocks.longest_cycle
            drop = Drop(BASIS, blocks, 3, longest, LoopWeights(1, 1, 0))
            glass = drop.grow(streams[3], longest, "use another block", meter)
            loops = _joined(loops, glass, ratio.denominator)
        least = int(loops.positive_weights.min())
        if ground is None:
            return Planted.of_ising(size, loops, spins, least, offset=cost)
        return ground.plant(loops, spins, least, cost)

    resolved = {} if ground is None else {"graph": ground.parameter}
    return Plan(_demand(size, ground, width), draw, resolved, prepare)


def _demand(size: int, ground: Ground | None, block: int | None) -> Demand:
    """Return the size and memory for all clauses, or for a number that suffices almost surely."""
    if ground is None:
        wait = math.ceil(1.5 * size * (logarithm(size) + _WAIT))
        clauses, memory = min(3 * math.comb(size, 2), wait), 0
    else:
        extent, memory = ground.extent
        clauses = 3 * extent.edges
    loops = 0
    if block is not None:
        loops, memory = size, memory + _PAIR * size * (block if ground is None else 1)
    return Demand(size, clauses + loops, memory + _CLAUSE * clauses + _LOOP * (loops + size))


def _held(graph: Graph) -> Graph:
    """Return the graph; raise if a node has no edge, because no clause would fix its spin."""
    degrees = np.bincount(graph.edges.reshape(-1), minlength=graph.num_nodes)
    alone = np.flatnonzero(degrees == 0)
    if len(alone):
        label = graph.labels[alone[0]]
        many = f" and {len(alone) - 1} more" if len(alone) > 1 else ""
        raise ValueError(
            f"{graph!r} has nodes without edges ({label!r}{many}); no clause can fix their spins, "
            "so the model cannot be unique; remove such nodes"
        )
    if not graph.num_nodes:
        raise ValueError("the graph has no nodes; use a graph with an edge")
    return graph


def _draw(stream: npt.NDArray[np.uint64], size: int, graph: Graph | None) -> Clauses:
    """Draw distinct clauses, one by one, until the model is unique."""
    if graph is None:
        edges, wait = np.empty((0, 2), dtype=np.int32), 1.5 * size
    else:
        edges = np.array(graph.edges, dtype=np.int32)
        least = int(np.bincount(edges.reshape(-1)).min())
        # This many edges touch the flips that are hardest to exclude; a clause on each would
        # suffice.
        wait = 3 * len(edges) / least
    drawn = np.empty((0, 3), dtype=np.int32)
    number = math.ceil(wait * (logarithm(size) + 2))
    for _ in range(_WAIT):
        more = np.empty((number, 3), dtype=np.int32)
        draw_edge_clauses(stream, size, edges, more)
        drawn = _different(np.concatenate([drawn, more]), size)
        wanted = least_unique(size, drawn)
        if wanted is not None:
            return drawn[:wanted]
    raise ValueError(f"{_WAIT * number} clauses did not make the model unique; use another seed")


def _different(clauses: Clauses, size: int) -> Clauses:
    """Return all distinct clauses, in the order of their first occurrence."""
    i, j, kind = clauses.T.astype(np.int64)
    _, first = np.unique((i * size + j) * 2 + kind, return_index=True)
    return clauses[np.sort(first)]


def _blocks(size: int, graph: Graph | None, most: int) -> Ground:
    """Return the graph's edges inside blocks; if there is no graph, all pairs inside blocks."""
    if graph is None:
        i, j = np.triu_indices(most, 1)
        first = np.arange(0, size, most)[:, None]
        edges = np.stack([first + i, first + j], axis=-1).reshape(-1, 2)
        edges = edges[edges[:, 1] < size].astype(np.int32)
    else:
        starts, neighbours, _, _ = graph.rows(graph.edges)
        blocks = grow_blocks(starts, neighbours, most)
        edges = graph.edges[blocks[graph.edges[:, 0]] == blocks[graph.edges[:, 1]]]
    inside = Graph(size, edges, f"blocks:{most}", tuple(range(size)))
    if not len(inside.core):
        raise ValueError(
            f"blocks of {most} spins contain no cycle, so no loop fits; use a larger block"
        )
    return Ground(inside)


def _joined(clauses: Loops, glass: Loops, factor: int) -> Loops:
    """Return the loops of the clauses, then those of the blocks, with weights times `factor`."""
    nodes = np.concatenate([clauses.nodes, glass.nodes])
    starts = np.concatenate([clauses.starts, clauses.starts[-1] + glass.starts[1:]])
    return Loops(nodes, starts, np.concatenate([clauses.weights, factor * glass.weights]))
