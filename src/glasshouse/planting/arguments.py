"""Argument checks for all planting methods, with common error messages."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.kernels.xoshiro import fill_spins
from glasshouse.planting.graph_names import Extent, refuse_large
from glasshouse.problems import INT64_MAX, SpinArray, validation
from glasshouse.problems.ratio import Ratio as Ratio
from glasshouse.problems.ratio import ratio as ratio

State: TypeAlias = npt.ArrayLike | str
Overlap: TypeAlias = Literal["constructive", "none"]

# Methods that can hold an f of up to 1/3, by their names in Python and on the command line.
SHORTER_LOOPS = (
    "graph_loops (glasshouse plant graph) on a graph with triangles, or bias_loops with ghosts=2 "
    "(glasshouse plant bias --ghosts 2)"
)
# Larger numbers of spins or loops are refused before memory is allocated: recipes are untrusted.
_MOST_SPINS, _MOST_LOOPS = 1 << 28, 1 << 28


def frustration(value: Ratio, longest: int, remedy: str = "") -> Fraction:
    """Return the frustration f of every loop; raise if f exceeds 1/L for loops of up to L edges.

    Args:
        value: f as a Fraction, "1/5" or 0.2.
        longest: the length L of the longest loop.
        remedy: what to use for an f of up to 1/3; no method can hold more.
    """
    f = ratio(value, "frustration")
    if f < 0:
        raise ValueError(f"frustration={value} is below 0; use a fraction from 0 to 1/{longest}")
    if f * longest > 1:
        advice = f"1/{longest} or less"
        if remedy and 3 * f <= 1:
            advice += f", or {remedy}"
        raise ValueError(
            f"frustration={value} is above 1/{longest}, the largest f of a loop with {longest} "
            f"edges; use {advice}"
        )
    return f


def loop_weights(f: Fraction, *lengths: int) -> tuple[int, ...]:
    """Return the smallest integer weights that give loops of these lengths the frustration f.

    f = p/q puts +(q-p) on the positive edges and -(L-1)p on the negative edge of a loop of length
    L, divided by their common divisor (paper, "Tunable Frustration", where they are 1 and -α).

    Returns:
        The positive weight, then one negative weight for each length.

    >>> loop_weights(Fraction(1, 5), 4)
    (4, -3)
    >>> loop_weights(Fraction(1, 4), 4)
    (1, -1)
    """
    p, q = f.numerator, f.denominator
    weights = [q - p, *(-(length - 1) * p for length in lengths)]
    shared = math.gcd(*weights)
    return tuple(weight // shared for weight in weights)


def half(num_spins: int, num_visible: int | None = None) -> Fraction:
    """Return the paper's n: the number of visible spins, or half the number of a graph's nodes."""
    return Fraction(num_spins, 2) if num_visible is None else Fraction(num_visible)


def number_of(
    number: int | None,
    density: Ratio | None,
    size: int | Fraction,
    what: str = "loops",
    per: str = "loop_density",
) -> int:
    """Return the number of loops, squares or clauses: the given `number`, or ⌈density · size⌉.

    Args:
        number: the number of loops, squares or clauses; pass either this or the density.
        density: the number per unit of size: for loops, the paper's ρ = N/n.
        size: the unit of densities: spins, or the paper's n, see `half`.
        what: the name of the number.
        per: the name of the density.
    """
    if (number is None) == (density is None):
        given = "neither is" if number is None else "both are"
        raise ValueError(f"pass exactly one of {what}=NUMBER and {per}=RATIO; {given} given")
    if density is None:
        found, asked = validation.count(number, what, 1), f"{what}={number}"
    else:
        share, asked = ratio(density, per), f"{per}={density}"
        if share <= 0:
            raise ValueError(f"{asked} must be above 0: it is the number of {what} per spin")
        found = math.ceil(share * size)
    if found > _MOST_LOOPS:
        raise ValueError(f"{asked} requests more than 2^28 {what}, which is the limit; use fewer")
    return found


def one_of(value: str, name: str, allowed: tuple[str, ...]) -> str:
    """Return a word if it is one of `allowed`; otherwise raise."""
    if value not in allowed:
        raise ValueError(f"{name}={value!r} is not one of {', '.join(map(repr, allowed))}")
    return value


def is_disjoint(overlap: Overlap, max_weight: int | None) -> bool:
    """Return whether loops must be edge-disjoint; if so, refuse `max_weight`."""
    if one_of(overlap, "overlap", ("constructive", "none")) != "none":
        return False
    if max_weight is not None:
        raise ValueError('overlap="none" already bounds all weights; remove max_weight')
    return True


def loops_on_graph(
    loops: int | None, density: Ratio | None, per_node: Ratio | None, half: Fraction
) -> int:
    """Return the number of loops on a graph, from one of `loops`, `density` and `per_node`."""
    if per_node is None:
        return number_of(loops, density, half)
    if loops is not None or density is not None:
        raise ValueError(
            f"loops_per_node={per_node} already sets the number of loops; remove loops and "
            "loop_density"
        )
    return number_of(None, per_node, 2 * half, per="loops_per_node")


def weight_limit(max_weight: int | None, bits: int | None = None) -> int:
    """Return the largest weight allowed on an edge; the largest int64 if no limit is given.

    >>> weight_limit(None, bits=4)
    7
    """
    if bits is not None:
        if max_weight is not None:
            raise ValueError(f"bits={bits} and max_weight={max_weight} are both given; pass one")
        return int((1 << min(validation.count(bits, "bits", 2) - 1, 63)) - 1)
    if max_weight is None:
        return INT64_MAX
    return min(validation.count(max_weight, "max_weight", 1), INT64_MAX)


def check_total(loops: int, weight_of_loop: int) -> None:
    """Raise in advance if the sum of all weights would overflow int64."""
    if loops * weight_of_loop > INT64_MAX:
        raise ValueError(
            f"{loops} loops of weight {weight_of_loop} each add up to more than 2^63-1, beyond "
            "which energies are not exact; use fewer loops or an f with a smaller denominator"
        )


def planted_state(state: State | None, num_spins: int, stream: npt.NDArray[np.uint64]) -> SpinArray:
    """Return the state to plant: the given state, or a uniformly random state if it is None.

    Args:
        state: spins ±1, visible first, or a string of + and - as in recipes.
        num_spins: the required number of spins.
        stream: a generator's words, used only if `state` is None.
    """
    if state is None:
        spins = np.empty(num_spins, dtype=np.int8)
        fill_spins(stream, spins)
    else:
        spins = validation.states(_from_signs(state), num_spins, (-1, 1), "state").copy()
        if spins.ndim != 1:
            raise ValueError(f"state has shape {spins.shape}; pass a single state")
    return validation.read_only(spins)


def given_state(state: State, *sizes: int) -> SpinArray:
    """Check a state whose length may be any of `sizes`; error messages name the first size."""
    length = len(state) if isinstance(state, str) else np.shape(state)[-1:]
    fitting = [size for size in sizes if length in (size, (size,))]
    return planted_state(state, (*fitting, *sizes)[0], np.zeros(4, dtype=np.uint64))


def state_signs(state: SpinArray) -> str:
    """Return a state as recipes store it: one `+` or `-` per spin.

    >>> state_signs(np.array([1, -1, 1], dtype=np.int8))
    '+-+'
    """
    return np.where(state > 0, b"+", b"-").tobytes().decode("ascii")


def _from_signs(state: State) -> Any:
    if not isinstance(state, str):
        return state
    if set(state) - {"+", "-"}:
        raise ValueError(f"state={state[:20]!r}… must contain only + and -")
    return np.where(np.frombuffer(state.encode("ascii"), dtype="S1") == b"+", 1, -1)


def layer_sizes(n: int, m: int) -> tuple[int, int]:
    """Check and return the layer sizes n and m of an RBM; a loop needs two spins of each layer."""
    sizes = []
    for name, value in {"n": n, "m": m}.items():
        size = validation.count(value, name)
        if size < 2:
            raise ValueError(f"{name}={size} is too small for a loop; use {name} ≥ 2")
        sizes.append(size)
    if sum(sizes) > _MOST_SPINS:
        raise ValueError(f"n={n} and m={m} exceed the limit of 2^28 spins; use smaller layers")
    return sizes[0], sizes[1]


def spins(n: int, least: int) -> int:
    """Check a number of spins, and return it; raise if it is below `least` or above 2^28."""
    size = validation.count(n, "n", least)
    if size > _MOST_SPINS:
        raise ValueError(f"n={n} exceeds the limit of 2^28 spins; use a smaller n")
    return size


def dense_spins(n: int, least: int) -> int:
    """Check and return the number of spins of a problem in which every pair of spins is coupled."""
    size = spins(n, least)
    refuse_large(Extent(size, size * (size - 1) // 2))
    return size
