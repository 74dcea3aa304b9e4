"""Classic loops: the original frustrated-loop algorithm, a baseline for the paper's algorithms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasshouse.planting import arguments
from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.demand import Meter
from glasshouse.planting.kernels.graph_loops import ANY, WALK
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
from glasshouse.problems import INT64_MAX
from glasshouse.randomness import RngLike, Streams

if TYPE_CHECKING:
    from glasshouse.planting.graphs import GraphLike


@planting_method(
    "classic",
    grows_on="rbm or graph",
    examples=(
        {"graph": (100, 100), "loop_density": "0.3"},
        {"graph": "chimera:4", "loop_density": "0.2", "min_length": 8},
    ),
    knobs=LOOP_KNOBS,
)
def classic_loops(
    graph: GraphLike | tuple[int, int],
    *,
    loop_density: Ratio | None = None,
    loops: int | None = None,
    loops_per_node: Ratio | None = None,
    frustration: Ratio | None = None,
    length: int | None = None,
    min_length: int | None = None,
    max_weight: int | None = None,
    bits: int | None = None,
    state: State | None = None,
    rng: RngLike = None,
) -> Plan:
    """Plant with the algorithm of Hen et al. (2015): random-walk loops that may cancel each other.

    Section "Frustrated Loop". A walk that never steps straight back runs until it meets itself;
    without its tail, it is a loop of weights +1, except for one uniform edge of -1. Loops may share
    edges with opposite signs, so f falls as loops are added (see `expected_frustration`);
    `summary()` has the realised f. The planted state is still a ground state.

    Args:
        graph: (n, m) for an RBM, or a graph as for `graph_loops`.
        loop_density: loops per visible spin, or per half the nodes. Use this or `loops`.
        loops: the number of loops.
        loops_per_node: loops per node, as most papers count them: half of `loop_density`.
        frustration: fraction of violated weight in a loop, at most 1/length; needs `length`. By
            default the negative weight is as large as the positive ones, f = 1/L for a loop of
            length L.
        length: the length of all loops, whose cycles are found as by `graph_loops`.
        min_length: redraw shorter loops, as the original does to avoid the hardest ones.
        max_weight: redraw loops that would raise a weight above this magnitude.
        bits: the bits that hold every weight and its sign, instead of `max_weight`: b bits hold
            magnitudes up to 2^(b-1) - 1.
        state: the state to plant; uniform at random if None.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> from fractions import Fraction
    >>> plant = classic_loops((20, 20), length=4, loop_density=3, rng=1)
    >>> plant
    Planted(classic_loops, 20 visible × 20 hidden, 60 loops, ground energy -120)
    >>> plant.summary().frustration < Fraction(1, 4)
    True
    """
    ground = Ground.of_graph_or_layers(graph)
    number = arguments.loops_on_graph(loops, loop_density, loops_per_node, ground.half)
    shortest = chosen_length(length, min_length, "min_length") or 3
    weights = _weights(frustration, length)
    most = arguments.weight_limit(max_weight, bits)

    def prepare(meter: Meter) -> Drop:
        ground.refuse_acyclic()
        longest = length or ground.longest_cycle
        if shortest > longest:
            raise ValueError(
                f"min_length={min_length} must be at most {longest}, because no cycle in {ground} "
                "is longer"
            )
        weights.check(number, longest, most)
        sampler, table = cycles_of_length(ground, length, meter) if length else (WALK, NO_TABLE)
        return Drop(sampler, ground, shortest, longest, weights, ANY, most, table)

    def draw(streams: Streams, meter: Meter) -> Planted:
        grown = prepare(meter).grow(streams[0], number, "use shorter ones", meter)
        spins = arguments.planted_state(state, ground.num_variables, streams[1])
        return ground.plant(grown, spins, weights.positive)

    demand = ground.demand(number, stored=most < INT64_MAX)
    return Plan(demand, draw, {"graph": ground.parameter}, prepare)


def _weights(frustration: Ratio | None, length: int | None) -> LoopWeights:
    """Return weights that give loops of one length the frustration f; ±1 if f is not given."""
    if frustration is None:
        return LoopWeights(positive=1, constant=1, slope=0)
    if length is None:
        raise ValueError(
            f"frustration={frustration} needs loops of one length, such as length=4; random-walk"
            " loops of any length have weights ±1"
        )
    f = arguments.frustration(frustration, length)
    return LoopWeights.of(f, range(length, length + 1))
