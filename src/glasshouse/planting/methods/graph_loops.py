"""Graph loops: the paper's rule on any graph that has a cycle."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasshouse.planting import arguments
from glasshouse.planting.arguments import Overlap, Ratio, State
from glasshouse.planting.demand import Meter
from glasshouse.planting.kernels.graph_loops import BASIS, CONSTRUCTIVE, DISJOINT
from glasshouse.planting.method import LOOP_KNOBS, Plan, planting_method
from glasshouse.planting.methods.dropping import (
    NO_TABLE,
    Drop,
    Ground,
    LoopWeights,
    chosen_length,
    cycles_of_length,
)
from glasshouse.planting.planted import Planted
from glasshouse.problems import validation
from glasshouse.randomness import RngLike, Streams

if TYPE_CHECKING:
    from glasshouse.planting.graphs import GraphLike


@planting_method(
    "graph",
    grows_on="graph",
    examples=(
        {"graph": "torus:8x8", "frustration": "1/4", "length": 4, "loop_density": "1"},
        {"graph": "chimera:4 without 7", "frustration": "1/8", "loop_density": "0.3"},
    ),
    knobs=LOOP_KNOBS,
)
def graph_loops(
    graph: GraphLike,
    *,
    frustration: Ratio,
    loop_density: Ratio | None = None,
    loops: int | None = None,
    loops_per_node: Ratio | None = None,
    length: int | None = None,
    max_length: int | None = None,
    overlap: Overlap = "constructive",
    max_weight: int | None = None,
    bits: int | None = None,
    state: State | None = None,
    rng: RngLike = None,
) -> Plan:
    """Plant on any graph that has a cycle, with loops that never oppose each other.

    Section "Extension to General Graphs". A cycle is the symmetric difference of up to three
    touching cycles of a basis (from a random breadth-first forest), split into simple cycles of
    which one is taken. With `length`, it is any cycle of that length: uniform over all of them if
    they can be listed (up to 2^20), else a random self-avoiding path that closes. Its negative edge
    is uniform among the edges that agree with the signs so far. If none is found in a thousand
    attempts, an existing loop is placed again. Every loop has the requested f, and so has the
    instance, exactly.

    Args:
        graph: a `Graph` or its name ("torus:8x8"), a networkx graph, a list of edges, or an Ising
            problem whose edges are used.
        frustration: fraction of violated weight, 0 to 1/L for loops of length L: 1/3 on triangles.
        loop_density: loops per half the nodes (n of an RBM of n × n). Use this or `loops`.
        loops: the number of loops.
        loops_per_node: loops per node, as most papers count them: half of `loop_density`.
        length: the length of all loops; any length by default.
        max_length: without `length`, the longest loop; by default the longest that can hold f.
        overlap: "constructive" lets loops add up where signs agree; "none" keeps them disjoint.
        max_weight: the largest weight allowed on an edge, for hardware of limited precision.
        bits: the bits that hold every weight and its sign, instead of `max_weight`: b bits hold
            magnitudes up to 2^(b-1) - 1.
        state: the state to plant; uniform at random if None.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> plant = graph_loops("torus:6x6", frustration="1/4", length=4, loop_density=1, rng=1)
    >>> plant
    Planted(graph_loops, 36 spins, 18 loops, ground energy -36)
    >>> plant.summary().frustration
    Fraction(1, 4)
    """
    ground = Ground.of(graph)
    number = arguments.loops_on_graph(loops, loop_density, loops_per_node, ground.half)
    longest = chosen_length(length, max_length, "max_length")
    f = arguments.frustration(frustration, longest or 3)
    most = arguments.weight_limit(max_weight, bits)
    limit = None if max_weight is bits is None else most
    rule = DISJOINT if arguments.is_disjoint(overlap, limit) else CONSTRUCTIVE

    def prepare(meter: Meter) -> Drop:
        ground.refuse_acyclic()
        lengths = range(length, length + 1) if length else _lengths(ground, frustration, longest)
        weights = LoopWeights.of(f, lengths)
        weights.check(number, lengths[-1], most)
        sampler, table = cycles_of_length(ground, length, meter) if length else (BASIS, NO_TABLE)
        return Drop(sampler, ground, lengths[0], lengths[-1], weights, rule, most, table)

    def draw(streams: Streams, meter: Meter) -> Planted:
        drop = prepare(meter)
        remedy = "another length" if length else "a lower frustration, which allows longer loops"
        grown = drop.grow(streams[0], number, f"use {remedy}", meter)
        spins = arguments.planted_state(state, ground.num_variables, streams[1])
        return ground.plant(grown, spins, drop.weights.positive)

    return Plan(ground.demand(number), draw, {"graph": ground.parameter}, prepare)


def _lengths(ground: Ground, frustration: Ratio, longest: int | None) -> range:
    """Return all lengths that loops may have, up to the longest."""
    shortest = 4 if ground.is_bipartite else 3
    if longest is None:
        f = arguments.frustration(frustration, shortest)
        longest = int(1 / f) if f else ground.longest_cycle
    validation.count(longest, "max_length", shortest)
    longest = max(shortest, min(longest, ground.longest_cycle))
    return range(shortest, longest + 1, shortest - 2)
