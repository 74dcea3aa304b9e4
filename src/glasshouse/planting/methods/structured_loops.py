"""Structured loops: the paper's Algorithm 2."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import NodeArray
from glasshouse.planting import arguments
from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.demand import Demand, Meter, in_pieces, refuse_spent
from glasshouse.planting.kernels.cells import clear, new_cells
from glasshouse.planting.kernels.structured_loops import CENTER, LEFT, UPPER, drop_structured_loops
from glasshouse.planting.loops import Loops
from glasshouse.planting.method import BLOCK_KNOBS, Plan, planting_method
from glasshouse.planting.planted import Planted
from glasshouse.randomness import RngLike, Streams

BlockRule = Literal["paper", "authors"]

# Left loops can leave no space for upper ones; then everything starts again a few times.
_RESTARTS = 16
_KINDS = {"left": LEFT, "upper": UPPER, "center": CENTER}


@planting_method(
    "structured",
    grows_on="rbm",
    examples=({"n": 40, "frustration": "0.23", "loop_density": "40", "block": "0.3"},),
    knobs=BLOCK_KNOBS,
)
def structured_loops(
    n: int,
    m: int,
    *,
    frustration: Ratio,
    block: Ratio,
    loop_density: Ratio | None = None,
    loops: int | None = None,
    left: Ratio = 0,
    upper: Ratio = 0,
    center: Ratio | None = None,
    block_rule: BlockRule = "paper",
    state: State | None = None,
    rng: RngLike = None,
) -> Plan:
    """Plant an RBM with all negative weights in one block (paper, Algorithm 2).

    It is hard even at high loop density, where random loops become easy.

    The gauged weight matrix is cut into blocks B1 (upper left), B2, B3 and B4. Left loops have two
    cells in B1 and two in B3, upper loops two in B1 and two in B2, centre loops one in each; the
    negative weight is always in B1. In addition to the ground state, this plants a metastable
    state, `2(1-α)N` loop weights above it (see `glasshouse.landscape.metastable_state` and
    `block_size`). Among the loops of a kind that oppose no other, each is equally likely.

    Args:
        n: visible spins, at least 2.
        m: hidden spins, at least 2.
        frustration: fraction of violated weight, the paper's f, from 0 to 1/4, as 1/5 or 0.2.
        block: fraction of rows and columns in B1, which has all negative weights: the paper's d,
            above 0 and at most 1.
        loop_density: loops per visible spin, the paper's ρ = N/n; N is rounded up. Use this or
            `loops`.
        loops: the number of loops, the paper's N.
        left: fraction of left loops, the paper's N1/N.
        upper: fraction of upper loops, N2/N.
        center: fraction of centre loops, N3/N; by default the remaining loops. The fractions add up
            to 1, and the numbers of loops are rounded so that they add up to N.
        block_rule: "paper" gives B1 ⌈(n-1)d⌉ rows, "authors" ⌈nd⌉ as in the authors' code.
        state: the state to plant, visible spins first; uniform at random if None.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> plant = structured_loops(20, 20, frustration="0.24", block="1/2", loop_density=10, rng=1)
    >>> plant.summary().frustration
    Fraction(6, 25)
    """
    n, m = arguments.layer_sizes(n, m)
    f = arguments.frustration(frustration, 4, arguments.SHORTER_LOOPS)
    share = arguments.ratio(block, "block")
    size = block_size(n, m, share, block_rule)
    shares = _shares(left, upper, center)
    number = arguments.number_of(loops, loop_density, n)
    positive, negative = arguments.loop_weights(f, 4)
    arguments.check_total(number, 3 * positive - negative)
    counts = _split_loops(number, shares)
    _check_room(n, m, size, counts)

    def draw(streams: Streams, meter: Meter) -> Planted:
        spins = arguments.planted_state(state, n + m, streams[1])
        nodes = _drop_loops(streams[0], (n, m, *size), counts, meter, frustrated=negative < 0)
        grown = Loops.of_length(nodes, positive=positive, negative=negative)
        return Planted.of_rbm(n, m, grown, spins, positive)

    return Plan(Demand.of_loops_on_rbm(n, m, number), draw, {"center": shares["center"]})


def block_size(n: int, m: int, block: Ratio, block_rule: BlockRule = "paper") -> tuple[int, int]:
    """Return the size of block B1, which has all negative weights: the paper's n1 and m1.

    >>> block_size(100, 50, "1/4"), block_size(100, 50, "1/4", "authors")
    ((25, 13), (25, 13))
    """
    share = arguments.ratio(block, "block")
    if not 0 < share <= 1:
        raise ValueError(
            f"block={block} must be above 0 and at most 1: it is a fraction of the rows and columns"
        )
    less = 1 if arguments.one_of(block_rule, "block_rule", ("paper", "authors")) == "paper" else 0
    return math.ceil((n - less) * share), math.ceil((m - less) * share)


def _shares(left: Ratio, upper: Ratio, center: Ratio | None) -> dict[str, Fraction]:
    """Return the fractions of left, upper and centre loops, which must add up to 1."""
    shares = {"left": arguments.ratio(left, "left"), "upper": arguments.ratio(upper, "upper")}
    rest = 1 - shares["left"] - shares["upper"]
    shares["center"] = rest if center is None else arguments.ratio(center, "center")
    if min(shares.values()) < 0 or sum(shares.values()) != 1:
        text = ", ".join(f"{name}={share}" for name, share in shares.items())
        raise ValueError(f"{text} must be fractions from 0 to 1 that add up to 1")
    return shares


def _split_loops(number: int, shares: dict[str, Fraction]) -> dict[str, int]:
    """Distribute loops by fractions; round to integers with the right sum by largest remainders."""
    counts = {kind: math.floor(number * share) for kind, share in shares.items()}
    by_remainder = sorted(shares, key=lambda kind: counts[kind] - number * shares[kind])
    for kind in by_remainder[: number - sum(counts.values())]:
        counts[kind] += 1
    return counts


def _check_room(n: int, m: int, size: tuple[int, int], counts: dict[str, int]) -> None:
    """Refuse a block that is too small or too large for a requested kind of loop."""
    n1, m1 = size
    rooms = {
        "left": (n1 >= 1 and n > n1 and m1 >= 2, "two columns in it and a row below it"),
        "upper": (m1 >= 1 and m > m1 and n1 >= 2, "two rows in it and a column to its right"),
        "center": (n > n1 >= 1 and m > m1 >= 1, "a row below and a column to its right"),
    }
    for kind, (fits, needs) in rooms.items():
        if counts[kind] and not fits:
            raise ValueError(
                f"the block of {n1} × {m1} in {n} × {m} leaves no space for {kind} loops, which "
                f"need {needs}; change block or set {kind}=0"
            )


def _drop_loops(
    stream: npt.NDArray[np.uint64],
    sizes: tuple[int, int, int, int],
    counts: dict[str, int],
    meter: Meter,
    *,
    frustrated: bool,
) -> NodeArray:
    """Run the kernel for each kind of loop, and start again if space runs out."""
    number = sum(counts.values())
    nodes = np.empty((number, 4), dtype=np.int32)
    cells = sizes[2] * sizes[3]
    matrix = new_cells(cells, 2 * number, signs=True)
    jams: dict[str, int] = {}

    def drop(kind: int, first: int, last: int) -> int:
        return int(
            drop_structured_loops(
                stream, np.array(sizes), kind, frustrated, matrix, nodes, first, last, meter
            )
        )

    for attempt in range(_RESTARTS):
        if attempt:
            clear(matrix)
        first, jam = 0, None
        for kind, count in counts.items():
            last = first + count
            reached = in_pieces(first, last, partial(drop, _KINDS[kind]))
            if reached < last:
                jam = kind
                jams[kind] = max(jams.get(kind, 0), reached - first)
                break
            first = last
        if jam is None:
            return nodes
        refuse_spent(meter)
    kind, most = max(jams.items(), key=lambda item: list(counts).index(item[0]))
    raise ValueError(
        f"no space for {counts[kind]} {kind} loops among {counts} in a block of {sizes[2]} × "
        f"{sizes[3]}: {most} was the most in {_RESTARTS} attempts; use a larger block or a smaller "
        f"fraction of the other kinds"
    )
