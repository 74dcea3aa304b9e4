"""The Wishart planted ensemble: dense problems whose ruggedness has a dial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from glasshouse.certificates import Squares
from glasshouse.planting import arguments
from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.demand import Demand
from glasshouse.planting.kernels.wishart import fill_balanced
from glasshouse.planting.method import planting_method
from glasshouse.planting.planted import Planted
from glasshouse.planting.randomness import RngLike, Seed
from glasshouse.planting.recipe import Recipe


def _sizes(n: Any, columns: Any, alpha: Any) -> tuple[int, int]:
    """Spins and columns, from their number or from alpha."""
    spins = arguments.spins(n, 2)
    if spins % 2:
        raise ValueError(f"n={n} is odd; columns of ±1 that add up to zero need an even n")
    return spins, arguments.number_of(columns, alpha, spins, ("columns", "alpha"))


def _demand(asked: Mapping[str, Any]) -> Demand:
    n, columns = _sizes(asked.get("n"), asked.get("columns"), asked.get("alpha"))
    return Demand.of_squares(n, columns, n)


@planting_method(
    "wishart",
    grows_on="spins",
    demand=_demand,
    examples=({"n": 64, "columns": 48}, {"n": 32, "alpha": "3/4"}),
    knobs={"alpha": ("2", "1/2")},
)
def wishart(
    n: int,
    *,
    columns: int | None = None,
    alpha: Ratio | None = None,
    state: State | None = None,
    rng: RngLike = None,
) -> Planted:
    """Plant a state that is orthogonal to every column of a matrix, on the complete graph.

    The Wishart planted ensemble (Hamze, Raymond, Pattison, Biswas, Katzgraber, Physical Review E
    101, 052102, 2020; arXiv 1906.00275) in its form with columns of ±1: the energy is half of
    Σ (w·s)² over all columns w, without its constant; every column has w·t = 0 for the planted t.
    Few columns leave many near-solutions, many make it easy; the paper finds the hardest instances
    at small alpha = M/N.

    Args:
        n: spins, an even number; the paper's N.
        columns: the paper's M; give this or `alpha`.
        alpha: columns per spin, M/N; the number of columns is rounded up.
        state: the state to plant; uniform at random when None.
        rng: a seed, or whatever `numpy.random.default_rng` takes.

    >>> plant = wishart(32, columns=24, rng=1)
    >>> plant
    Planted(wishart, 32 spins, 24 squares, ground energy -384)
    >>> plant.verify()
    """
    size, number = _sizes(n, columns, alpha)
    seed = Seed.of(rng)
    streams = seed.streams(2)
    spins = arguments.planted_state(state, size, streams[0])
    rows = np.empty((number, size), dtype=np.int64)
    fill_balanced(streams[1].copy(), rows)
    rows *= spins
    squares = Squares.alike(np.broadcast_to(np.arange(size), rows.shape), rows, 1)
    values = arguments.parameters(
        state, spins, n=size, columns=columns,
        alpha=None if alpha is None else arguments.ratio(alpha, "alpha"),
    )  # fmt: skip
    return Planted.of_squares(size, squares, spins, Recipe("wishart", values, seed))
