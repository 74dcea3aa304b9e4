"""Structured loops on a general graph: blocks of its adjacency matrix."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from glasshouse.planting import arguments
from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.demand import Meter
from glasshouse.planting.kernels.graph_loops import BLOCK
from glasshouse.planting.loops import Loops
from glasshouse.planting.method import BLOCK_KNOBS, Plan, planting_method
from glasshouse.planting.methods.dropping import Drop, Ground, LoopWeights
from glasshouse.planting.planted import Planted
from glasshouse.problems import INT64_MAX, IntArray
from glasshouse.randomness import RngLike, Streams

if TYPE_CHECKING:
    from glasshouse.planting.graphs import GraphLike


@planting_method(
    "graph",
    grows_on="graph",
    examples=(
        {"graph": "complete:40", "frustration": "0.23", "block": "0.3", "loop_density": "10"},
    ),
    knobs=BLOCK_KNOBS,
)
def structured_graph_loops(
    graph: GraphLike,
    *,
    frustration: Ratio,
    block: Ratio,
    loop_density: Ratio | None = None,
    loops: int | None = None,
    loops_per_node: Ratio | None = None,
    left: Ratio = 0,
    max_weight: int | None = None,
    bits: int | None = None,
    state: State | None = None,
    rng: RngLike = None,
) -> Plan:
    """Plant 4-loops whose negative edges all lie among the first nodes of a graph.

    Section "Structured Frustrated-Loop Algorithm", "Extension to General Graphs". A loop has the
    edges (i1,i2), (i3,i2), (i3,i4) and (i1,i4) on four different nodes: i1 and i2, joined by the
    negative edge, are in the block (the first nodes), i3 is outside it. i4 is outside for a centre
    loop and inside for a left loop; an upper loop would be a left loop transposed. Signs are
    compared on the symmetric J.

    Unlike on an RBM, **no metastable state is planted**: rows and columns of an adjacency matrix
        are the same nodes, so the blocks B1 and B4 together are not a cut, and no flip of spins
        changes only their signs. The planted ground state is still correct.

    Args:
        graph: a graph as for `graph_loops`; it must have such 4-cycles, as complete graphs do.
        frustration: fraction of violated weight, from 0 to 1/4.
        block: fraction of the nodes, the first ones, that hold the negative weights: d in (0, 1].
            The block has ⌈(nodes-1)·d⌉ nodes.
        loop_density: loops per half the nodes. Use this or `loops`.
        loops: the number of loops.
        loops_per_node: loops per node, as most papers count them: half of `loop_density`.
        left: fraction of left loops; the others are centre loops.
        max_weight: the largest weight allowed on an edge, for hardware of limited precision.
        bits: the bits that hold every weight and its sign, instead of `max_weight`: b bits hold
            magnitudes up to 2^(b-1) - 1.
        state: the state to plant; uniform at random if None.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> plant = structured_graph_loops("complete:20", frustration="1/5", block="1/2", loops=30,
    ...                                rng=1)
    >>> plant.energy, plant.summary().frustration
    (-270, Fraction(1, 5))
    """
    ground = Ground.of(graph)
    number = arguments.loops_on_graph(loops, loop_density, loops_per_node, ground.half)
    f = arguments.frustration(frustration, 4, arguments.SHORTER_LOOPS)
    weights = LoopWeights.of(f, range(4, 5))
    most = arguments.weight_limit(max_weight, bits)
    weights.check(number, 4, most)
    share, left_share = arguments.ratio(block, "block"), arguments.ratio(left, "left")
    if not 0 < share <= 1:
        raise ValueError(
            f"block={block} must be above 0 and at most 1: it is a fraction of the nodes"
        )
    if not 0 <= left_share <= 1:
        raise ValueError(f"left={left} must be from 0 to 1: it is a fraction of the loops")
    border = math.ceil((ground.num_variables - 1) * share)
    lefts = round(number * left_share)
    counts = {"left": lefts, "center": number - lefts}

    def prepare(meter: Meter) -> None:
        ground.refuse_acyclic()

    def draw(streams: Streams, meter: Meter) -> Planted:
        prepare(meter)
        grown = _drop_blocks(ground, border, weights, most, streams[0], counts, meter)
        spins = arguments.planted_state(state, ground.num_variables, streams[1])
        return ground.plant(grown, spins, weights.positive)

    return Plan(ground.demand(number), draw, {"graph": ground.parameter}, prepare)


def _drop_blocks(
    ground: Ground,
    border: int,
    weights: LoopWeights,
    most: int,
    stream: npt.NDArray[np.uint64],
    counts: dict[str, int],
    meter: Meter,
) -> Loops:
    """Place left loops, then centre loops on top of them, so that no loops oppose each other."""
    size = ground.num_variables
    ends = ground.rows(stored=True)[3]
    inner = np.flatnonzero((ends < border).all(axis=1)).astype(np.int64)
    totals: IntArray | None = None
    parts = []
    for kind, number in counts.items():
        drop = Drop(BLOCK, ground, 4, 4, weights, most=most, inner=inner, border=border,
                    inside=kind == "left")  # fmt: skip
        totals = drop.new_totals() if totals is None else totals
        if not number:
            continue
        found = drop.run(stream, number, totals, meter)[0] if len(inner) else []
        if 0 < len(found) < 4 * number and most < INT64_MAX:
            raise ValueError(
                f"no space for {number} {kind} loops under max_weight={most} on {ground}: "
                f"only {len(found) // 4} fitted; use fewer loops or a larger block"
            )
        if len(found) < 4 * number:
            needs = "three nodes inside" if kind == "left" else "two nodes inside and two outside"
            raise ValueError(
                f"no {kind} loop was found on {ground} with the first {border} of {size} nodes as "
                f"the block; such a loop is a 4-cycle with {needs}; change block, left or the graph"
            )
        parts.append(found)
    nodes = np.concatenate(parts).reshape(-1, 4)
    return Loops.of_length(nodes, positive=weights.positive, negative=weights.negative(4))
