"""Random loops: the paper's Algorithm 1."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from glasshouse.planting import arguments
from glasshouse.planting.arguments import Overlap, Ratio, State
from glasshouse.planting.demand import Demand, Meter, in_pieces, refuse_spent
from glasshouse.planting.kernels.cells import clear, new_cells
from glasshouse.planting.kernels.draws import MOST_VARIANCE
from glasshouse.planting.kernels.random_loops import UNLIMITED, drop_random_loops, only_signs_matter
from glasshouse.planting.loops import Loops
from glasshouse.planting.method import LOOP_KNOBS, Plan, planting_method
from glasshouse.planting.planted import Planted
from glasshouse.problems import validation
from glasshouse.randomness import RngLike, Streams

WeightLaw = Literal["equal", "normal"]

# An existing loop can be placed again, so Algorithm 1 cannot jam; this is only a safety limit.
REDRAWS = 1 << 20
# Disjoint loops or limited weights can run out of space; then everything starts again.
_RESTARTS = 8


class NoRoomError(ValueError):
    """Raised if fewer loops fit than were requested.

    Attributes:
        most: the most loops that were placed, or an upper bound of what can fit.
        reached: whether `most` loops were placed; else `most` is only an upper bound.
        names_arguments: the message names arguments, which are options of a command.
    """

    names_arguments = True

    def __init__(self, message: str, most: int, *, reached: bool) -> None:
        super().__init__(message)
        self.most = most
        self.reached = reached


@planting_method(
    "random",
    grows_on="rbm",
    examples=(
        {"n": 100, "frustration": "1/5", "loop_density": "0.345"},
        {"n": 60, "m": 40, "frustration": "0.21", "loops": 30, "weights": "normal"},
    ),
    knobs=LOOP_KNOBS,
)
def random_loops(
    n: int,
    m: int,
    *,
    frustration: Ratio,
    loop_density: Ratio | None = None,
    loops: int | None = None,
    state: State | None = None,
    overlap: Overlap = "constructive",
    weights: WeightLaw = "equal",
    spread: Ratio | None = None,
    resolution: int | None = None,
    max_weight: int | None = None,
    rng: RngLike = None,
) -> Plan:
    """Plant an RBM by placing loop atoms at random (paper, Algorithm 1).

    Each loop takes a uniform column j1, a uniform pair of rows with W[i1,j1] ≥ 0 and W[i2,j1] ≤ 0,
    and a uniform second column j2 with W[i1,j2], W[i2,j2] ≥ 0. It adds the positive weight to three
    of the cells and the negative one to (i2, j1). Loops never oppose each other, so that `E0 =
    -N(3-α)` loop weights and the frustration index is exactly the requested one.

    Args:
        n: visible spins, at least 2.
        m: hidden spins, at least 2.
        frustration: fraction of violated weight, the paper's f, from 0 to 1/4, as 1/5 or 0.2.
        loop_density: loops per visible spin, the paper's ρ = N/n; N is rounded up. Use this or
            `loops`.
        loops: the number of loops, the paper's N.
        state: the state to plant, visible spins first; uniform at random if None.
        overlap: "constructive" lets loops add up where their signs agree; "none" keeps them
            disjoint, which makes all weights equal at f = 1/4.
        weights: "equal", or "normal" for integers that vary around the loop weights (the negative
            one is never above the weakest positive; the summary has the realised f).
        spread: standard deviation of normal weights as a fraction of their mean, 1/10 by default.
        resolution: normal weights are this many times the equal ones, 100 by default, so that
            integers resolve their variation.
        max_weight: the largest weight allowed on an edge, for hardware of limited precision.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> plant = random_loops(6, 5, frustration="1/5", loops=4, rng=1)
    >>> plant.energy, plant.summary().frustration
    (-36, Fraction(1, 5))
    """
    n, m = arguments.layer_sizes(n, m)
    f = arguments.frustration(frustration, 4, arguments.SHORTER_LOOPS)
    number = arguments.number_of(loops, loop_density, n)
    law, scatter = weight_law(f, weights, spread, resolution)
    most = _largest_cell(overlap, max_weight, law)
    arguments.check_total(number, (3 * int(law[0]) + int(law[3])) * (2 if scatter else 1))

    def draw(streams: Streams, meter: Meter) -> Planted:
        spins = arguments.planted_state(state, n + m, streams[1])
        grown = _drop_loops(streams[0], n, m, number, law, most, meter)
        loop_weight = int(law[0])
        if scatter:  # all weights of a small instance may be on one side of their mean
            positive = grown.positive_weights
            loop_weight = int(np.clip(loop_weight, positive.min(), positive.max()))
        return Planted.of_rbm(n, m, grown, spins, loop_weight)

    return Plan(Demand.of_loops_on_rbm(n, m, number), draw, scatter)


def weight_law(
    f: Fraction, weights: WeightLaw, spread: Ratio | None, resolution: int | None
) -> tuple[npt.NDArray[np.int64], dict[str, object]]:
    """Return the kernel's law for drawing weights, and its parameters as the recipe stores them.

    Returns:
        (positive weight, variance, scale, negative magnitude, variance, scale) for the kernel, and
        the recipe's parameters: none for equal weights.
    """
    positive, negative = arguments.loop_weights(f, 4)
    if arguments.one_of(weights, "weights", ("equal", "normal")) == "equal":
        if spread is not None or resolution is not None:
            raise ValueError(
                'spread and resolution need weights="normal"; equal weights have neither'
            )
        arguments.check_total(1, 3 * positive - negative)
        return np.array([positive, 0, 1, -negative, 0, 1], dtype=np.int64), {}
    share = arguments.ratio(Fraction(1, 10) if spread is None else spread, "spread")
    if not 0 < share <= Fraction(1, 3):
        raise ValueError(
            f"spread={spread} must be above 0 and at most 1/3, so that weights stay positive"
        )
    steps = validation.count(100 if resolution is None else resolution, "resolution", 1)
    law: list[int] = []
    for mean in (steps * positive, -steps * negative):
        variance = round((share * mean) ** 2)
        if mean and not 1 <= variance <= MOST_VARIANCE:
            side = "lower" if variance else "higher"
            raise ValueError(
                f"at resolution={steps}, a weight of {mean} has a standard deviation of "
                f"{float(share * mean):.3g}; it must be from 1 to 4096; use a {side} resolution"
            )
        law += [mean, variance, math.isqrt(variance) + 1]
    arguments.check_total(1, 2 * (3 * law[0] + law[3]))  # normal weights end at twice the mean
    return np.array(law, dtype=np.int64), {"spread": share, "resolution": steps}


def _largest_cell(overlap: Overlap, max_weight: int | None, law: npt.NDArray[np.int64]) -> int:
    """Return the largest |W_ij| that the kernel may produce; 0 means that loops are disjoint."""
    heaviest = int(law[0]) * (2 if law[1] else 1)  # normal weights are cut off at twice the mean
    if max_weight is not None and validation.count(max_weight, "max_weight", 1) < heaviest:
        raise ValueError(
            f"max_weight={max_weight} is below {heaviest}, the weight of a single loop; use a "
            "frustration with a smaller denominator"
        )
    if arguments.is_disjoint(overlap, max_weight):
        return 0
    return UNLIMITED if max_weight is None else min(max_weight, UNLIMITED)


def _drop_loops(
    stream: npt.NDArray[np.uint64],
    n: int,
    m: int,
    number: int,
    law: npt.NDArray[np.int64],
    most: int,
    meter: Meter,
    dense: bool | None = None,
) -> Loops:
    """Run the kernel, and run it again if space runs out; tests may set `dense`."""
    # A loop takes two cells in each of its rows and columns.
    capacity = min(n * (m // 2), m * (n // 2)) // 2
    if most == 0 and number > capacity:
        raise NoRoomError(
            f"no space for {number} disjoint loops on {n} × {m}, which hold at most {capacity}; "
            f'use fewer loops or overlap="constructive"',
            capacity,
            reached=False,
        )
    nodes = np.empty((number, 4), dtype=np.int32)
    weights = np.empty((number, 4), dtype=np.int64)
    matrix = new_cells(n * m, 4 * number, signs=only_signs_matter(most), dense=dense)
    limited = most != UNLIMITED
    redraws = 200 + 4 * (n + m) if limited else REDRAWS
    reached = 0

    def drop(first: int, last: int) -> int:
        part = slice(first, last)
        return first + int(
            drop_random_loops(
                stream, n, m, law, most, redraws, matrix, nodes[part], weights[part], meter
            )
        )

    for attempt in range(_RESTARTS if limited else 1):
        if attempt:
            clear(matrix)
        dropped = in_pieces(0, number, drop)
        if dropped == number:
            weights[:, 3] *= -1
            return Loops.of_rows(nodes, weights)
        refuse_spent(meter)
        reached = max(reached, dropped)
    limit = "disjoint loops" if most == 0 else f"loops under max_weight={most}"
    raise NoRoomError(
        f"no space for {number} {limit} on {n} × {m}: {reached} was the most in {_RESTARTS} "
        f"attempts; use loops={reached} or fewer",
        reached,
        reached=True,
    )
