"""Weighted MaxSAT, planted with frustrated rings on a given hypergraph."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.planting import arguments
from glasshouse.planting.arguments import State
from glasshouse.planting.counting import GroundStates
from glasshouse.planting.demand import Demand, EffortError, Meter
from glasshouse.planting.hypergraphs import HypergraphLike, VariableSets
from glasshouse.planting.kernels.graph_loops import ANY, BASIS
from glasshouse.planting.kernels.rings import write_rings
from glasshouse.planting.method import Plan, planting_method
from glasshouse.planting.methods.cores import (
    CLAUSE,
    LITERAL,
    VARIABLE,
    DrawnCores,
    WeightDials,
    planted_cores,
)
from glasshouse.planting.methods.dropping import Drop, Ground, LoopWeights
from glasshouse.planting.planted import Planted
from glasshouse.problems import Clauses, IntArray, validation
from glasshouse.problems.ratio import Ratio
from glasshouse.randomness import RngLike, Streams

_SHORTEST, _MOST_LENGTH, _MOST_WIDTH = 3, 64, 12
_FANO = "sets:7 0-1-2 0-3-4 0-5-6 1-3-5 1-4-6 2-3-6 2-4-5"


class _Rings(NamedTuple):
    """Rings: variables in order, the set after each of them, and where each ring begins."""

    variables: npt.NDArray[np.int32]
    sets: npt.NDArray[np.int32]
    bounds: IntArray


@planting_method(
    "cores",
    grows_on="clauses",
    examples=(
        {"hypergraph": _FANO, "cores": 4},
        {"hypergraph": f"{_FANO} 0-2-3-4", "clause_density": 9, "longest": 4, "max_weight": 3},
    ),
    knobs={"clause_density": ("4", "12"), "frustrated": ("1/10", "1")},
    ground_states=lambda planted: GroundStates(1, False, "models of clauses are not counted"),
)
def hypergraph_cores(
    hypergraph: HypergraphLike,
    *,
    cores: int | None = None,
    clause_density: Ratio | None = None,
    longest: int = 8,
    frustrated: Ratio = 1,
    max_weight: int = 1,
    harden: Ratio = 0,
    state: State | None = None,
    rng: RngLike = None,
) -> Plan:
    """Plant a model of weighted MaxSAT with frustrated cores on a given hypergraph.

    Each core is a ring of sets, in which each set shares a variable with the next. A set carries
    the equation that the two shared variables are equal, or that they differ, and the equations
    of a ring contradict each other. A set of k variables has 2^(k-1) clauses for its equation, all
    of k literals, so the variables of every clause are exactly one of the given sets.

    The planted model falsifies exactly one clause of each frustrated core, and every other
    assignment falsifies at least one. Cycles are found as by `graph_loops`, and are not uniform.
    If all cores are frustrated, a count of literals does not reveal the model.

    Args:
        hypergraph: sets of variables: a text such as "sets:4 0-1-2 1-2-3", which begins with the
            number of variables; a list of tuples; or a problem whose terms or clauses are the
            sets. On the command line also a file: a problem, or a text file with one set per line,
            whose variables are numbered from 1. A set may have at most 12 variables; duplicates
            and sets of one variable are ignored.
        cores: how many cores; or give `clause_density`.
        clause_density: clauses per variable, before clauses are left out; rounded up to whole
            cores.
        longest: sets of the longest ring, 3 to 64; the shortest ring has 3.
        frustrated: share of the cores that are frustrated. From each of the others the clause
            that the model falsifies is left out, so the model satisfies all of it.
        max_weight: each core's clauses have one weight, uniform from 1 to this.
        harden: the probability that a clause which the model satisfies is hard.
        state: the state to plant; uniform at random when None.
        rng: a seed, or whatever `numpy.random.default_rng` takes.

    >>> plant = hypergraph_cores([(0, 1, 2), (2, 3), (3, 4, 0), (1, 3, 5)], cores=2, rng=1)
    >>> plant
    Planted(hypergraph_cores, 6 variables, 2 cores, ground energy 2)
    >>> plant.verify()
    """
    sets = VariableSets.of(hypergraph)
    widest = int(sets.sets.degrees.max(initial=2))
    if widest > _MOST_WIDTH:
        raise ValueError(
            f"a set has {widest} variables, above the limit of {_MOST_WIDTH}: its equation would "
            f"have 2^{widest - 1} clauses; remove the set"
        )
    most = validation.count(longest, "longest", _SHORTEST)
    if most > _MOST_LENGTH:
        raise ValueError(f"longest={most} is above the limit of {_MOST_LENGTH} sets in a ring")
    dials = WeightDials.of(frustrated, harden, max_weight)
    wanted = arguments.number_of(cores, clause_density, sets.size, "cores", "clause_density")
    costs = _clauses(sets, np.arange(sets.num_sets))
    mean = Fraction(int(costs.sum()), max(1, len(costs)))
    fewest = _SHORTEST * int(costs.min(initial=1 << _MOST_WIDTH))

    def prepare(meter: Meter) -> Drop:
        ground = Ground.of(sets.incidences())
        if ground.graph is None or not len(ground.graph.core):
            raise ValueError(
                "the sets form no ring, so no core fits; add sets that share variables"
            )
        weights = LoopWeights(positive=1, constant=1, slope=0)
        return Drop(BASIS, ground, 2 * _SHORTEST, 2 * most, weights, ANY)

    def draw(streams: Streams, meter: Meter) -> Planted:
        drop = prepare(meter)
        model = arguments.planted_state(state, sets.size, streams[0])
        # Rings of twice the least length, at first; the rest is known from those that are found.
        first = wanted if cores is not None else int(wanted // (2 * _SHORTEST * mean)) + 1
        rings = _found(drop, streams[1], first, sets.size, meter)
        if cores is None:
            rings = _enough(rings, sets, wanted, drop, streams[1], meter)
        drawn = _written(rings, sets, model, meter)
        return planted_cores(drawn, model, streams[2:], dials)

    number = wanted if cores is not None else wanted // fewest + 1
    # The least number of clauses: which sets are in rings is not known before they are found.
    total = wanted * fewest if cores is not None else wanted
    memory = VARIABLE * (sets.size + 2 * len(sets.sets.indices)) + (CLAUSE + 3 * LITERAL) * total
    return Plan(Demand(sets.size, number, memory), draw, {"hypergraph": lambda: sets.name}, prepare)


def _clauses(sets: VariableSets, chosen: npt.NDArray[np.integer]) -> IntArray:
    """Return the number of clauses of an equation on each of the chosen sets."""
    counts: IntArray = np.int64(1) << (sets.sets.degrees[chosen] - 1)
    return counts


def _found(drop: Drop, stream: Streams, number: int, size: int, meter: Meter) -> _Rings:
    """Return rings that are cycles of the incidence graph, whose first nodes are variables."""
    nodes, starts = drop.run(stream, number, drop.new_totals(), meter)
    if len(starts) <= number:
        raise ValueError(
            f"no ring of {_SHORTEST} to {drop.longest // 2} sets was found; use a larger longest, "
            "or add sets that share variables"
        )
    lengths = np.diff(starts)
    # The negative edge of a cycle is its last; it belongs to the last set, which must end the ring.
    shift = np.repeat(nodes[starts[:-1]] >= size, lengths)
    own, length = np.repeat(starts[:-1], lengths), np.repeat(lengths, lengths)
    turned = nodes[own + (np.arange(len(nodes)) - own + shift) % length]
    return _Rings(turned[0::2], turned[1::2] - np.int32(size), starts // 2)


def _enough(
    rings: _Rings, sets: VariableSets, wanted: int, drop: Drop, stream: Streams, meter: Meter
) -> _Rings:
    """Find more rings until they have `wanted` clauses, and drop those that are not needed."""
    while True:
        totals = np.add.reduceat(_clauses(sets, rings.sets), rings.bounds[:-1]).cumsum()
        number, total = len(totals), int(totals[-1])
        if total >= wanted:
            last = int(np.searchsorted(totals, wanted)) + 1
            bounds = rings.bounds[: last + 1]
            return _Rings(rings.variables[: bounds[-1]], rings.sets[: bounds[-1]], bounds)
        more = _found(drop, stream, (wanted - total) * number // total + 1, sets.size, meter)
        rings = _Rings(
            np.concatenate([rings.variables, more.variables]),
            np.concatenate([rings.sets, more.sets]),
            np.concatenate([rings.bounds, rings.bounds[-1] + more.bounds[1:]]),
        )


def _written(
    rings: _Rings, sets: VariableSets, model: npt.NDArray[np.int8], meter: Meter
) -> DrawnCores:
    """Write the clauses and trees of rings, unless they need more memory than the meter allows."""
    counts = _clauses(sets, rings.sets)
    lengths = np.repeat(sets.sets.degrees[rings.sets], counts)
    starts = np.append(0, np.cumsum(lengths))
    meter[0] -= CLAUSE * len(lengths) + LITERAL * int(starts[-1])
    if meter[0] <= 0:
        raise EffortError(f"its cores have {len(lengths)} clauses")
    literals = np.empty(int(starts[-1]), dtype=np.int32)
    tokens = np.empty(2 * len(lengths), dtype=np.int64)
    ends, falsified = write_rings(
        model, rings.variables, rings.sets, rings.bounds, *sets.sets, literals, tokens
    )
    return DrawnCores(Clauses(literals, starts), tokens[: ends[-1, 1]], ends, falsified)
