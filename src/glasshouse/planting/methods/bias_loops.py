"""Bias loops: frustrated loops through the ghost spins that carry the biases."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import NodeArray
from glasshouse.planting import arguments
from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.demand import Demand, Meter, in_pieces, refuse_spent
from glasshouse.planting.kernels.bias_loops import drop_bias_loops, drop_triangles
from glasshouse.planting.kernels.cells import new_cells
from glasshouse.planting.loops import Loops
from glasshouse.planting.method import LOOP_KNOBS, Plan, planting_method
from glasshouse.planting.planted import Planted
from glasshouse.randomness import RngLike, Streams

# An existing loop can be placed again, so space cannot run out; this is only a safety limit.
_SAFETY_LINE = 1 << 24


@planting_method(
    "bias",
    grows_on="rbm",
    examples=({"n": 50, "frustration": "1/5", "loop_density": "0.5", "ghosts": 2},),
    knobs=LOOP_KNOBS,
)
def bias_loops(
    n: int,
    m: int,
    *,
    frustration: Ratio,
    loop_density: Ratio | None = None,
    loops: int | None = None,
    ghosts: Literal[1, 2] = 1,
    bias_strength: Ratio = 1,
    state: State | None = None,
    rng: RngLike = None,
) -> Plan:
    """Plant a biased RBM by loops through one or two ghost spins (paper, section "Biases").

    A ghost is a fixed spin whose couplings are the biases of one layer. A loop through one ghost is
    a loop atom with two biases; its negative edge is drawn at random. A loop through both ghosts
    has a coupling, the negative edge, and the biases at its two ends: the edge between the ghosts
    is a constant and left out, so that it counts as a triangle and holds up to f = 1/3. Loops never
    oppose each other.

    Args:
        n: visible spins, at least 2.
        m: hidden spins, at least 2.
        frustration: fraction of violated weight in a loop, up to 1/4 with one ghost and 1/3 with
            two.
        loop_density: loops per visible spin, the paper's ρ = N/n; N is rounded up. Use this or
            `loops`.
        loops: the number of loops, the paper's N.
        ghosts: the number of ghosts that every loop runs through.
        bias_strength: at least 1; positive biases of a loop weigh this many times its other
            positive weights. The plant stays valid; the realised f falls, as the summary shows.
        state: the state to plant, visible spins first; uniform at random if None.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> plant = bias_loops(10, 10, frustration="1/3", loops=8, ghosts=2, rng=1)
    >>> plant.summary().frustration, plant.energy
    (Fraction(1, 3), -8)
    """
    n, m = arguments.layer_sizes(n, m)
    if ghosts not in (1, 2):
        raise ValueError(f"ghosts={ghosts!r} must be 1 or 2: it is the number of ghost spins")
    length = 4 if ghosts == 1 else 3
    f = arguments.frustration(frustration, length, "ghosts=2" if ghosts == 1 else "")
    number = arguments.number_of(loops, loop_density, n)
    strength = arguments.ratio(bias_strength, "bias_strength")
    positive, strong, negative = _weights(f, strength, length)
    arguments.check_total(number, 3 * strong - negative)

    def draw(streams: Streams, meter: Meter) -> Planted:
        spins = arguments.planted_state(state, n + m, streams[1])
        nodes = _drop_loops(streams[0], n, m, number, ghosts, meter, frustrated=negative < 0)
        grown = _weigh(nodes, n + m, positive, strong, negative)
        return Planted.of_rbm(n, m, grown, spins, positive if ghosts == 1 else strong)

    return Plan(Demand.of_loops_on_rbm(n, m, number), draw)


def _weights(f: Fraction, strength: Fraction, length: int) -> tuple[int, int, int]:
    """Return the positive weight, the positive weight at a ghost, and the negative weight."""
    if strength < 1:
        raise ValueError(
            f"bias_strength={strength} must be at least 1: weaker biases would break the plant"
        )
    positive, negative = arguments.loop_weights(f, length)
    scale = strength.denominator
    weights = (positive * scale, positive * strength.numerator, negative * scale)
    shared = math.gcd(*weights)
    return weights[0] // shared, weights[1] // shared, weights[2] // shared


def _drop_loops(
    stream: npt.NDArray[np.uint64],
    n: int,
    m: int,
    number: int,
    ghosts: int,
    meter: Meter,
    *,
    frustrated: bool,
) -> NodeArray:
    nodes = np.empty((number, 4 if ghosts == 1 else 3), dtype=np.int32)
    if ghosts == 2:
        drop_triangles(stream, n, m, nodes)
        return nodes
    matrix = new_cells((n + 1) * (m + 1), 4 * number, signs=True)

    def drop(first: int, last: int) -> int:
        part = nodes[first:last]
        return first + int(
            drop_bias_loops(stream, n, m, frustrated, _SAFETY_LINE, matrix, part, meter)
        )

    dropped = in_pieces(0, number, drop)
    if dropped < number:
        refuse_spent(meter)
        raise ValueError(
            f"no space was found for loop {dropped + 1} of {number} on {n} × {m} in {_SAFETY_LINE} "
            "draws; use fewer loops or larger layers"
        )
    return nodes


def _weigh(nodes: NodeArray, ghost: int, positive: int, strong: int, negative: int) -> Loops:
    """Return loops in which the weight of an edge depends on whether it ends at the ghost."""
    is_ghost = nodes == ghost
    at_ghost = is_ghost | np.roll(is_ghost, -1, axis=1)
    weights = np.where(at_ghost, strong, positive)
    weights[:, -1] = negative
    return Loops.of_rows(nodes, weights)
