"""Polynomials of higher degree: sums of products of frustrated loops, proven with squares.

A loop minus its own ground energy is a sum of squares over products of spins. An edge gives
1 - s1·s2 = (1 - s1·s2)²/2. A triangle whose last edge is negative gives
t = 1 - s1·s2 - s2·s3 + s1·s3, which is 0 or 4, so that t = t²/4. A longer frustrated loop is a sum
of such triangles, with chords from its first spin. A product of squares is a square, so that a sum
of products of loops is a sum of squares, too. All of them are zero in the planted state.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Squares
from glasshouse.planting import arguments
from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.demand import Demand, Meter
from glasshouse.planting.kernels.clauses import draw_clauses
from glasshouse.planting.kernels.draws import permute
from glasshouse.planting.method import Plan, planting_method
from glasshouse.planting.planted import Planted
from glasshouse.problems import Monomials, validation
from glasshouse.randomness import RngLike, Streams

# Each factor is a sum of squares over this.
_BELOW = 4
_MOST_FACTORS, _MOST_ENTRIES = 4, 1 << 13  # factors of a product; terms of its squares


class _Brick(NamedTuple):
    """A square of a factor: its multiplier, and its terms (0 or 2 positions, and a sign ±1)."""

    multiplier: int
    terms: tuple[tuple[tuple[int, ...], int], ...]


@planting_method(
    "polynomial",
    grows_on="spins",
    examples=(
        {"n": 12, "product_density": "3/4", "frustration": "1/4"},
        {"n": 10, "products": 6, "frustration": "1/5", "length": 4, "lift": 1},
        {"n": 14, "products": 4, "frustration": "1/3", "factors": 3},
    ),
    knobs={"product_density": ("1/4", "1")},
)
def product_loops(
    n: int,
    *,
    frustration: Ratio,
    products: int | None = None,
    product_density: Ratio | None = None,
    factors: int = 2,
    length: int = 3,
    lift: int = 0,
    state: State | None = None,
    rng: RngLike = None,
) -> Plan:
    """Plant a polynomial of any even degree as a sum of products of frustrated loops.

    Each factor is a frustrated loop over random spins, minus its own ground energy, plus `lift`. No
    factor is ever below `lift`, and in the planted state all factors equal `lift`; so it is a
    ground state of the sum of all products, which has the degree 2·factors. Loops may share spins,
    even within a product; then terms cancel. The constant is left out.

    Without a lift, a product is minimal if any of its factors is, so there are many ground states.
    With a lift, all factors must be minimal; a larger lift puts more of the weight on pairs.

    Args:
        n: spins, at least as many as a loop has.
        frustration: f of every loop, 0 to 1/length.
        products: the number of products. Use this or `product_density`.
        product_density: products per spin, rounded up.
        factors: loops that are multiplied with each other, 1 to 4.
        length: spins of a loop, at least 3.
        lift: an integer that is added to every factor, in units of the loops' weights.
        state: the state to plant; uniform at random if None.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> plant = product_loops(12, products=9, frustration="1/4", rng=1)
    >>> plant.problem.degree, plant.problem.energy(plant.state) == plant.energy
    (4, True)
    >>> plant.verify()
    """
    around = validation.count(length, "length", 3)
    size = arguments.spins(n, around)
    number = arguments.number_of(products, product_density, size, "products", "product_density")
    each = validation.count(factors, "factors", 1)
    raised = validation.count(lift, "lift")
    positive, negative = arguments.loop_weights(arguments.frustration(frustration, around), around)
    if each > _MOST_FACTORS:
        raise ValueError(f"factors={each} gives degree {2 * each}; use at most {_MOST_FACTORS}")
    widths = 4 * (around - 2) * (negative < 0) + 2 * (around - 1) * (positive + negative > 0)
    entries = (widths + (raised > 0)) ** each
    if entries > _MOST_ENTRIES:
        raise ValueError(
            f"a product of {each} loops of length {around} has {entries} terms in its squares, "
            f"above the limit of {_MOST_ENTRIES}; use fewer factors or shorter loops"
        )
    bricks = _bricks(around, positive, -negative, raised)
    choices = list(itertools.product(bricks, repeat=each))
    # No product exceeds this value, so energies stay exact.
    highest = (around * (positive - negative) + raised) ** each
    arguments.check_total(number, 2 * _BELOW**each * highest)

    def draw(streams: Streams, meter: Meter) -> Planted:
        spins = arguments.planted_state(state, size, streams[0])
        nodes = np.empty((number * each, around), dtype=np.int32)
        draw_clauses(streams[1], size, around, False, nodes, np.empty(nodes.shape, np.int64))
        names = np.arange(size, dtype=np.int32)
        permute(streams[2], names)  # the order of a loop's spins then favours none of them
        table, squares = _squares(size, names[nodes].reshape(number, each, around), choices)
        turned = squares.turned(spins, table)
        return Planted.of_products(size, table, turned, spins, _BELOW**each, meter)

    parts = number * len(choices)
    demand = Demand.of_products(size, parts, number * entries, 2 * each)
    return Plan(demand, draw)


def _bricks(length: int, positive: int, negative: int, lift: int) -> list[_Brick]:
    """Return the squares whose sum is `_BELOW` times a loop, shifted to the least energy `lift`."""
    one = ((), 1)
    triangles = [
        _Brick(negative, (one, ((0, k), -1), ((k, k + 1), -1), ((0, k + 1), 1)))
        for k in range(1, length - 1)
    ]
    edges = [
        _Brick(2 * (positive - negative), (one, ((k, k + 1), -1))) for k in range(length - 1)
    ]  # fmt: skip
    made = [*triangles, *edges, _Brick(_BELOW * lift, (one,))]
    return [brick for brick in made if brick.multiplier]


def _squares(
    size: int, loops: npt.NDArray[np.int32], choices: list[tuple[_Brick, ...]]
) -> tuple[Monomials, Squares]:
    """Return the squares of all loop products in the planted gauge, and the spin products in them.

    Args:
        size: spins.
        loops: (products, factors, length).
        choices: one brick for each factor; their product is one square of every product of loops.
    """
    number = len(loops)
    rows: list[Any] = []
    signs: list[int] = []
    squares: list[int] = []
    for which, choice in enumerate(choices):
        for terms in itertools.product(*(brick.terms for brick in choice)):
            columns = [(factor, k) for factor, (places, _) in enumerate(terms) for k in places]
            picked = [loops[:, factor, k] for factor, k in columns]
            rows.append(np.column_stack(picked) if picked else np.empty((number, 0), np.int32))
            signs.append(int(np.prod([sign for _, sign in terms])))
            squares.append(which)
    widths = np.repeat([table.shape[1] for table in rows], number)
    starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    flat = np.concatenate([table.reshape(-1) for table in rows]).astype(np.int32)
    held = Monomials(flat, starts).reduced(spins=True)
    order, firsts = held.grouped()
    unique = held.chosen(order[firsts])
    vertex = np.empty(len(order), dtype=np.int64)
    vertex[order] = np.repeat(np.arange(len(firsts)), np.diff(firsts, append=len(order)))
    # All products have an even number of spins, so the first one may be the constant: the ghost.
    nodes = size + vertex + (0 if unique.degrees[0] == 0 else 1)
    table = unique.chosen(np.flatnonzero(unique.degrees > 0))
    own = np.tile(np.arange(number), len(rows)) * len(choices) + np.repeat(squares, number)
    return table, _merged(own, nodes, np.repeat(signs, number), choices)


def _merged(own: Any, nodes: Any, signs: Any, choices: list[tuple[_Brick, ...]]) -> Squares:
    """Add up the signs of terms with the same square and node; drop terms that cancel."""
    order = np.lexsort((nodes, own))
    own, nodes, signs = own[order], nodes[order], signs[order]
    is_first = np.ones(len(own), dtype=np.bool_)
    is_first[1:] = (own[1:] != own[:-1]) | (nodes[1:] != nodes[:-1])
    firsts = np.flatnonzero(is_first)
    sums = np.add.reduceat(signs, firsts)
    kept = firsts[sums != 0]
    own, nodes, sums = own[kept], nodes[kept], sums[sums != 0]
    names, counts = np.unique(own, return_counts=True)
    several = counts > 1  # a square of one product is a constant
    chosen = np.repeat(several, counts)
    multipliers = np.array([int(np.prod([b.multiplier for b in c])) for c in choices], np.int64)
    starts = np.concatenate([[0], np.cumsum(counts[several])]).astype(np.int64)
    return Squares(
        nodes[chosen].astype(np.int32), starts, sums[chosen].astype(np.int64),
        multipliers[names[several] % len(choices)],
    )  # fmt: skip
