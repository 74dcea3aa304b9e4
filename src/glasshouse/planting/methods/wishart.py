"""The Wishart planted ensemble: dense problems with tunable ruggedness."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from glasshouse.certificates import Squares
from glasshouse.certificates.exact_sums import ROOM
from glasshouse.planting import arguments
from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.counting.halves import count_by_halves
from glasshouse.planting.demand import Demand, Meter
from glasshouse.planting.kernels.draws import MOST_VARIANCE, fill_balanced, fill_centred
from glasshouse.planting.method import Plan, planting_method
from glasshouse.planting.planted import Planted
from glasshouse.problems import validation
from glasshouse.randomness import RngLike, Streams

ColumnLaw = Literal["signs", "normal"]

_RESOLUTION = 1000
# A column's entries take 8 bytes each, and some more temporarily.
_MOST_ENTRIES = 1 << 28


def _steps(law: str, resolution: Any, n: int, columns: int) -> int | None:
    """Return the standard deviation of entries in a normal column; None for columns of signs."""
    if arguments.one_of(law, "weights", ("signs", "normal")) == "signs":
        if resolution is not None:
            raise ValueError('resolution needs weights="normal"; signs have no resolution')
        return None
    steps = validation.count(_RESOLUTION if resolution is None else resolution, "resolution", 1)
    # The magnitudes of a normal column add up to about 0.8 n·steps.
    most = min(math.isqrt(MOST_VARIANCE), math.isqrt(ROOM // columns) // n)
    if steps > most:
        raise ValueError(
            f"resolution={steps} is above {most}, the largest at which energies of n={n} spins and "
            f"{columns} columns stay exact; use a lower resolution or fewer columns"
        )
    return steps


@planting_method(
    "wishart",
    grows_on="spins",
    examples=(
        {"n": 64, "columns": 48},
        {"n": 32, "alpha": "3/4"},
        {"n": 25, "alpha": "1/5", "weights": "normal"},
    ),
    knobs={"alpha": ("2", "1/2")},
    ground_states=count_by_halves,
)
def wishart(
    n: int,
    *,
    columns: int | None = None,
    alpha: Ratio | None = None,
    weights: ColumnLaw = "signs",
    resolution: int | None = None,
    state: State | None = None,
    rng: RngLike = None,
) -> Plan:
    """Plant a state that is orthogonal to every column of a matrix, on the complete graph.

    The Wishart planted ensemble (Hamze, Raymond, Pattison, Biswas, Katzgraber, Physical Review E
    101, 052102, 2020; arXiv 1906.00275): the energy is half of Σ (w·s)² over all columns w, without
    its constant, and every column has w·t = 0 for the planted t. Many columns make it easy. Fewer
    make it harder, until there are so few that other states also reach zero in all of them.

    The paper draws z from a normal law, subtracts t(t·z)/N, multiplies by √(N/(N-1)) and divides
    couplings by N. Here "normal" columns are the same in integers: z is a discrete Gaussian of
    standard deviation `resolution`, and its mean is subtracted exactly, rounded down on some
    entries and up on the others, at random, so that w·t is 0. Both factors are left out. Columns of
    "signs" are ±1, half of each sign in the gauge of t: the smallest possible integers.

    Memory: about 50 bytes per entry of the columns and per coupling, so 0.1 GB for n = M = 1000.

    Args:
        n: the number of spins, the paper's N; an even number for columns of signs.
        columns: the number of columns, the paper's M; use this or `alpha`.
        alpha: columns per spin, M/N; the number of columns is rounded up.
        weights: "signs" for columns of ±1, "normal" for the paper's Gaussian ones, in integers.
        resolution: standard deviation of normal entries, 1000 by default and 4096 at most. A finer
            resolution needs fewer columns for the planted state to be the only ground state.
        state: the state to plant; uniform at random if None.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> plant = wishart(32, columns=24, rng=1)
    >>> plant
    Planted(wishart, 32 spins, 24 squares, ground energy -384)
    >>> plant.verify()
    >>> print(plant.summary().ground_states)
    2 (counted)
    """
    size = arguments.dense_spins(n, 2)
    if weights == "signs" and size % 2:
        raise ValueError(
            f"n={n} is odd, but columns of ±1 add up to zero only if n is even; use an even n, or "
            'weights="normal"'
        )
    number = arguments.number_of(columns, alpha, size, "columns", "alpha")
    if size * number > _MOST_ENTRIES:
        asked = f"columns={columns}" if alpha is None else f"alpha={alpha}"
        raise ValueError(
            f"{asked} requests more than 2^28 numbers, which is the limit; with n={size}, use at "
            f"most {_MOST_ENTRIES // size} columns"
        )
    steps = _steps(weights, resolution, size, number)

    def draw(streams: Streams, meter: Meter) -> Planted:
        spins = arguments.planted_state(state, size, streams[0])
        rows = np.empty((number, size), dtype=np.int64)
        if steps is None:
            fill_balanced(streams[1], rows)
        else:
            fill_centred(streams[1], rows, steps * steps, steps + 1)
        rows *= spins
        rows.setflags(write=False)  # then no copy is needed
        return Planted.of_squares(size, Squares.of_rows(rows), spins, meter=meter)

    return Plan(Demand.of_squares(size, number, size), draw, {"resolution": steps})
