"""Classic loops: the original frustrated-loop algorithm, the baseline of the paper's own."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from glasshouse.planting import arguments
from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.demand import ground_demand
from glasshouse.planting.kernels.graph_loops import ANY, WALK
from glasshouse.planting.method import LOOP_KNOBS, planting_method
from glasshouse.planting.methods.dropping import Drop, Ground, LoopWeights, cycles_of_length
from glasshouse.planting.planted import Planted
from glasshouse.planting.recipe import Recipe
from glasshouse.problems import validation
from glasshouse.randomness import RngLike, Seed

if TYPE_CHECKING:
    from glasshouse.planting.graphs import GraphLike


@planting_method(
    "classic",
    grows_on="rbm or graph",
    demand=ground_demand,
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
    frustration: Ratio | None = None,
    length: int | None = None,
    min_length: int | None = None,
    max_weight: int | None = None,
    state: State | None = None,
    rng: RngLike = None,
) -> Planted:
    """Plant by the algorithm of Hen et al. (2015): random-walk loops that may cancel.

    Section "Frustrated Loop". A walk that never steps straight back runs until it meets itself;
    what is left without its tail is a loop of weights +1, one of them, uniform, -1. Loops may
    share edges with opposite signs, so f falls as loops are added (see `expected_frustration`);
    `summary()` has the realised f. The planted state stays a ground state all the same.

    Args:
        graph: (n, m) for an RBM, or what `graph_loops` takes.
        loop_density: loops per visible spin, or per half the nodes. Give this or `loops`.
        loops: how many loops.
        frustration: share of violated weight in a loop, at most 1/length; needs `length`. By
            default the negative weight is as large as the positive ones, f = 1/L for a loop of
            length L.
        length: the one length of all loops, whose cycles are found as `graph_loops` finds them.
        min_length: redraw loops that are shorter, as the original does to avoid the hardest ones.
        max_weight: redraw loops that would bring a weight above this magnitude.
        state: the state to plant; uniform at random when None.
        rng: a seed, or whatever `numpy.random.default_rng` takes.

    >>> plant = classic_loops((20, 20), length=4, loop_density=3, rng=1)
    >>> plant
    Planted(classic_loops, 20 visible × 20 hidden, 60 loops, ground energy -120)
    >>> plant.summary().frustration < Fraction(1, 4)
    True
    """
    ground = Ground.of(graph)
    number = arguments.loop_count(loops, loop_density, ground.half)
    shortest, longest = _lengths(ground, length, min_length)
    f, weights = _weights(frustration, length)
    weights.check(number, longest)
    sampler, table = WALK, np.empty(0, dtype=np.int32)
    if length is not None:
        sampler, table = cycles_of_length(ground, length)
    most = weights.limit(max_weight, longest)
    seed = Seed.of(rng)
    streams = seed.streams(2)
    drop = Drop(sampler, ground, shortest, longest, weights, ANY, most, table)
    grown = drop.grow(streams[0], number, "use shorter ones")
    spins = arguments.planted_state(state, ground.num_variables, streams[1])
    values = arguments.parameters(
        state, spins, graph=ground.parameter, frustration=f, length=length, min_length=min_length,
        max_weight=max_weight, **arguments.requested(loops, loop_density),
    )  # fmt: skip
    return ground.plant(grown, spins, weights.positive, Recipe("classic_loops", values, seed))


def _lengths(ground: Ground, length: int | None, min_length: int | None) -> tuple[int, int]:
    """The least and the greatest length of a loop."""
    if length is not None and min_length is not None:
        raise ValueError(f"length={length} and min_length={min_length} given; give one of them")
    if length is not None:
        return validation.count(length, "length", 3), length
    shortest = 3 if min_length is None else validation.count(min_length, "min_length", 3)
    if shortest > ground.longest_cycle:
        raise ValueError(
            f"min_length={min_length} is above {ground.longest_cycle}, the longest that a cycle of "
            f"{ground} could be"
        )
    return shortest, ground.longest_cycle


def _weights(frustration: Ratio | None, length: int | None) -> tuple[Fraction | None, LoopWeights]:
    """+1 and -1, or the weights that give loops of one length their f."""
    if frustration is None:
        return None, LoopWeights(positive=1, constant=1, slope=0)
    if length is None:
        raise ValueError(
            f"frustration={frustration} needs loops of one length, give length=4 or so; random-walk"
            " loops of any length have weights ±1"
        )
    f = arguments.frustration(frustration, length)
    return f, LoopWeights.of(f, range(length, length + 1))
