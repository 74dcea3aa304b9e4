"""Regular 3-XORSAT: linear equations that are easy to solve but hard to anneal."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Squares
from glasshouse.planting import arguments
from glasshouse.planting.arguments import State
from glasshouse.planting.counting.equations import count_solutions
from glasshouse.planting.demand import Demand, Meter
from glasshouse.planting.kernels.clauses import draw_regular
from glasshouse.planting.method import Plan, planting_method
from glasshouse.planting.planted import Planted
from glasshouse.problems import IntArray, Monomials, validation
from glasshouse.randomness import RngLike, Streams

# Number of shuffles of a table before swaps repair it. For three equations per variable about one
# shuffle in eight is good, so that all of these fail for a few instances in a million.
_TRIES, _SWAPS = 100, 20


@planting_method(
    "xorsat",
    grows_on="spins",
    examples=({"n": 24}, {"n": 15, "degree": 4}, {"n": 18, "native": True}),
    knobs={"n": ("12", "72")},
    ground_states=count_solutions,
)
def xorsat(
    n: int,
    *,
    degree: int = 3,
    native: bool = False,
    state: State | None = None,
    rng: RngLike = None,
) -> Plan:
    """Plant a solution of equations s1·s2·s3 = b, in which all variables occur equally often.

    With degree 3, the 3-regular 3-XORSAT (3R3X) of Kowalsky, Albash, Hen, Lidar (Quantum Science
    and Technology 7, 025008, 2022; arXiv 2103.08464): each equation has its own spin z, and is
    half of (s1 + s2 + s3 - b - 2z)² without its constant: -4 if it is satisfied and z fits, -2 at
    the best z if it is not. Variables of an equation are distinct. Spins 0 to n - 1 are the
    variables, all others are the z, one for each equation in turn.

    The ground states are the solutions of the equations. Gaussian elimination counts them
    (`glasshouse.planting.counting.equations.count_solutions`).

    Args:
        n: variables, as in the paper; the instance has n·degree/3 more spins, unless it is native.
        degree: the number of equations that contain each variable; 3 must divide n·degree.
        native: plant the polynomial -Σ b·s1·s2·s3 itself, over the variables alone. It has the same
            equations as the instance with pairs that the same seed grows.
        state: the state to plant, of the variables or of all spins; uniform at random if None. For
            a given state, signs of the instance that grows without it are changed.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> plant = xorsat(24, rng=1)
    >>> plant
    Planted(xorsat, 48 spins, 24 squares, ground energy -96)
    >>> plant.verify()
    """
    number = validation.count(n, "n", 3)
    each = validation.count(degree, "degree", 1)
    if number * each % 3:
        below = number // 3 * 3  # 3 divides neither the degree nor n
        raise ValueError(
            f"n={number} times degree={each} must be a multiple of 3, because each equation has 3 "
            f"variables; use {below} or {below + 3} variables"
        )
    equations = number * each // 3
    size = arguments.spins(number if native else number + equations, 3)

    def draw(streams: Streams, meter: Meter) -> Planted:
        drawn = arguments.planted_state(None, number, streams[0])
        rows = np.empty((equations, 3), dtype=np.int32)
        draw_regular(streams[1], number, rows, _TRIES, _SWAPS)
        signs = drawn[rows].astype(np.int64)
        product = signs.prod(axis=1)
        if native:
            spins = drawn if state is None else arguments.planted_state(state, size, streams[0])
            table, squares = _squares(size, rows, product)
            turned = squares.turned(drawn * spins, table)
            return Planted.of_products(size, table, turned, spins, 2, meter)
        fitting = ((signs.sum(axis=1) - product) // 2).astype(np.int8)
        own = np.concatenate([drawn, fitting])
        spins = own
        if state is not None:  # one of the variables leaves the others as they are
            given = arguments.given_state(state, size, number)
            spins = np.concatenate([given, own[len(given) :]])
        last = np.column_stack([np.arange(number, size), np.full(equations, size)])
        squares = Squares.alike(
            np.column_stack([rows, last]),
            np.column_stack([np.ones_like(signs), np.full(equations, -2), -product]),
            1,
        )
        if state is not None:
            squares = squares.turned(own * spins)
        return Planted.of_squares(size, squares, spins, meter=meter)

    if native:
        return Plan(Demand.of_products(size, equations, 2 * equations, 3), draw)
    # The recipe of an instance with pairs omits `native`.
    return Plan(
        Demand.of_squares(size, equations, 5), draw, {"native": None}, states=(number,)
    )  # fmt: skip


def _squares(size: int, rows: npt.NDArray[np.int32], signs: IntArray) -> tuple[Monomials, Squares]:
    """Return each equation's square (s1·s2·s3 - b)²; equations of the same spins share a node."""
    table, node = np.unique(np.sort(rows, axis=1), axis=0, return_inverse=True)
    starts = 3 * np.arange(len(table) + 1, dtype=np.int64)
    nodes = np.column_stack([np.full(len(rows), size), size + 1 + node.reshape(-1)])
    squares = Squares.alike(nodes, np.column_stack([-signs, np.ones_like(signs)]), 1)
    return Monomials(table.reshape(-1).astype(np.int32), starts), squares
