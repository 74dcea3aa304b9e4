"""Plants of every bipartite method and option, small enough for enumeration."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from glasshouse.planting import Planted
from glasshouse.planting.methods import bias_loops, random_loops, structured_loops, uniform_max2sat

seeds = st.integers(0, 2**64)
quarters = st.fractions(0, Fraction(1, 4), max_denominator=40)
thirds = st.fractions(0, Fraction(1, 3), max_denominator=40)


@st.composite
def sizes(draw: st.DrawFn, most: int = 11) -> tuple[int, int]:
    n = draw(st.integers(2, most - 2))
    return n, draw(st.integers(2, most - n))


def _or_assume(method: Callable[..., Planted], *args: Any, **options: Any) -> Planted:
    """Options that leave no room are an error, tested elsewhere."""
    try:
        return method(*args, **options)
    except ValueError as error:
        assume("space" not in str(error) and "disjoint" not in str(error))
        raise


@st.composite
def random_plants(draw: st.DrawFn, *, equal: bool = False, most: int = 11) -> Planted:
    options: dict[str, Any] = {"loops": draw(st.integers(1, 12)), "rng": draw(seeds)}
    f = draw(quarters)
    if draw(st.booleans()):
        options["overlap"] = "none"
        options["loops"] = draw(st.integers(1, 2))
    if not equal and draw(st.booleans()):
        options |= {"weights": "normal", "spread": draw(st.sampled_from(["1/10", "1/4"]))}
        options["resolution"] = draw(st.integers(20, 50))
        f = draw(st.fractions(Fraction(1, 30), Fraction(1, 4), max_denominator=30))
    elif draw(st.booleans()) and "overlap" not in options:
        options["max_weight"] = 3 * f.denominator
    return _or_assume(random_loops, *draw(sizes(most)), frustration=f, **options)


@st.composite
def structured_plants(draw: st.DrawFn, *, most: int = 11) -> Planted:
    left = draw(st.fractions(0, 1, max_denominator=4))
    upper = draw(st.fractions(0, 1 - left, max_denominator=4))
    return _or_assume(
        structured_loops, *draw(sizes(most)), frustration=draw(quarters), left=left, upper=upper,
        block=draw(st.fractions(Fraction(1, 10), 1, max_denominator=10)),
        block_rule=draw(st.sampled_from(["paper", "authors"])),
        loops=draw(st.integers(1, 20)), rng=draw(seeds),
    )  # fmt: skip


@st.composite
def bias_plants(draw: st.DrawFn, *, most: int = 11) -> Planted:
    ghosts = draw(st.sampled_from([1, 2]))
    return bias_loops(
        *draw(sizes(most)), frustration=draw(quarters if ghosts == 1 else thirds), ghosts=ghosts,
        loops=draw(st.integers(1, 12)), rng=draw(seeds),
        bias_strength=draw(st.fractions(1, 4, max_denominator=3)),
    )  # fmt: skip


@st.composite
def uniform_plants(draw: st.DrawFn, *, most: int = 11) -> Planted:
    density = draw(st.fractions(Fraction(1, 10), 1, max_denominator=10))
    return _or_assume(uniform_max2sat, *draw(sizes(most)), clause_density=density, rng=draw(seeds))


def plants(most: int = 11) -> st.SearchStrategy[Planted]:
    methods = (random_plants, structured_plants, bias_plants, uniform_plants)
    return st.one_of(method(most=most) for method in methods)
