"""Number partitioning with a planted perfect partition."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from glasshouse.certificates import Squares
from glasshouse.planting import arguments
from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.counting.halves import count_by_halves
from glasshouse.planting.demand import Demand, EffortError, Meter
from glasshouse.planting.kernels.draws import fill_partitioned
from glasshouse.planting.method import Plan, planting_method
from glasshouse.planting.planted import Planted
from glasshouse.problems import INT64_MAX
from glasshouse.randomness import RngLike, Streams

Total = Literal["even", "odd"]

# The last number fits about once in √n draws of all others.
_TRIES = 1 << 20


@planting_method(
    "partition",
    grows_on="spins",
    examples=({"n": 20, "bits": 12}, {"n": 24, "bits_per_spin": "3/4", "total": "odd"}),
    knobs={"bits_per_spin": ("1/10", "1/2")},
    ground_states=count_by_halves,
)
def partition(
    n: int,
    *,
    bits: int | None = None,
    bits_per_spin: Ratio | None = None,
    total: Total = "even",
    state: State | None = None,
    rng: RngLike = None,
) -> Plan:
    """Plant a perfect partition: numbers that can be split into two sides with equal sums.

    The energy is half of (a·s)², without its constant; a spin is the side of its number. Numbers
    and partition are drawn together, uniformly among all that fit: a from 1 to 2^bits - 1, t with
    a·t = 0, or ±1 if the total is odd. With m bits per number, random numbers have a perfect
    partition up to m/n = 1 and none above (Mertens, Physical Review Letters 81, 4281, 1998; Borgs,
    Chayes and Pittel, Random Structures and Algorithms 19, 247, 2001). Below this ratio there are
    many partitions; above it, usually only the planted one and its mirror image.

    Energies, including those of the QUBO, are exact below 2^63, so bits + log2 n must be below
    30.5: m = n is possible up to 25 spins. There are n(n-1)/2 couplings, of about 50 bytes each.

    Args:
        n: the number of numbers, which are spins; at least 2.
        bits: numbers are uniform below two to this power, m; use this, or `bits_per_spin`, or
            neither for m = n, or for the most bits whose energies are exact.
        bits_per_spin: m/n; m is rounded up.
        total: "even", or "odd" for numbers whose two sides differ by one.
        state: the state to plant. Then numbers on the wrong side become negative; if None, all
            numbers are positive.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> plant = partition(6, bits=4, rng=1)
    >>> plant.squares.coefficients.tolist(), plant.state.tolist()
    ([6, 7, 5, 12, 6, 10], [1, 1, -1, -1, -1, 1])
    >>> plant.verify()
    """
    size = arguments.dense_spins(n, 2)
    # Couplings add up to less than half the square of the sum of all numbers, and a QUBO's weights
    # to 9 times as much.
    most = (math.isqrt(2 * INT64_MAX // 9) // size + 1).bit_length() - 1
    resolved, chosen = {}, ""
    if bits is None and bits_per_spin is None:
        bits = max(2, min(size, most))
        why = "one per number, where perfect partitions die out (Mertens 1998)"
        if bits < size:
            why = f"the most with exact energies; perfect partitions die out only at {size} bits"
        resolved, chosen = {"bits": bits}, f"bits={bits}, {why}"
    number = arguments.number_of(bits, bits_per_spin, size, "bits", "bits_per_spin")
    if number > most:
        raise ValueError(
            f"numbers of {number} bits are too large for n={size}; squares of their sums "
            f"exceed 2^63-1, beyond which energies are not exact; use at most {most} bits"
        )
    arguments.one_of(total, "total", ("even", "odd"))
    if number == 1 and size % 2 != (total == "odd"):
        raise ValueError(
            f"numbers of 1 bit are all 1, so the sum of n={size} numbers cannot be {total}; "
            "use at least 2 bits"
        )

    def draw(streams: Streams, meter: Meter) -> Planted:
        numbers = np.empty(size, dtype=np.int64)
        largest, is_odd = 2**number - 1, int(total == "odd")
        if not fill_partitioned(streams[1], numbers, largest, is_odd, _TRIES):
            raise EffortError(f"none of {_TRIES} draws has a perfect partition; use another seed")
        own = np.sign(numbers) if state is None else state
        spins = arguments.planted_state(own, size, streams[0])
        squares = Squares.of_rows((numbers * spins)[np.newaxis])
        return Planted.of_squares(size, squares, spins, meter=meter)

    return Plan(Demand.of_squares(size, 1, size), draw, resolved, chosen=chosen)
