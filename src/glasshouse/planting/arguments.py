"""Argument checks that all planting methods share: one place, one voice."""

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

# What holds an f of up to 1/3. Methods have one name in Python and one on the command line.
SHORTER_LOOPS = (
    "graph_loops (glasshouse plant graph) on a graph with triangles, or bias_loops with ghosts=2 "
    "(glasshouse plant bias --ghosts 2)"
)
# More spins or loops than these are refused before memory is: a recipe may come from anywhere.
_MOST_SPINS, _MOST_LOOPS = 1 << 28, 1 << 28


def frustration(value: Ratio, longest: int, remedy: str = "") -> Fraction:
    """The frustration index f of every loop, at most 1/L for loops up to length L.

    Args:
        value: f as a Fraction, "1/5" or 0.2.
        longest: the length L of the longest loop.
        remedy: what to use for an f of up to 1/3; nothing holds more.
    """
    f = ratio(value, "frustration")
    if f < 0:
        raise ValueError(
            f"frustration={value} is below 0; it is a share of the weights, 0 to 1/{longest}"
        )
    if f * longest > 1:
        advice = f"1/{longest} or less"
        if remedy and 3 * f <= 1:
            advice += f", or {remedy}"
        raise ValueError(
            f"frustration={value} is above 1/{longest}, the most that a loop of {longest} edges "
            f"can hold; use {advice}"
        )
    return f


def loop_weights(f: Fraction, *lengths: int) -> tuple[int, ...]:
    """The smallest integer weights of loops of the given lengths that hold f.

    f = p/q puts +(q-p) on the positive edges and -(L-1)p on the negative one of a loop of length
    L, divided by what all of them share (paper, "Tunable Frustration", where they are 1 and -α).

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
    """The paper's n, by which loop densities count: visible spins, or half of a graph's spins."""
    return Fraction(num_spins, 2) if num_visible is None else Fraction(num_visible)


def number_of(
    number: int | None,
    density: Ratio | None,
    size: int | Fraction,
    what: str = "loops",
    per: str = "loop_density",
) -> int:
    """How many of something: the number itself, or ⌈density · size⌉.

    Args:
        number: of loops, squares or clauses; exactly one of this and the density is given.
        density: how many per unit of size: of loops, the paper's ρ = N/n.
        size: what densities count by: spins, or the paper's n, see `half`.
        what: what the number is called.
        per: what the density is called.
    """
    if (number is None) == (density is None):
        given = "neither is" if number is None else "both are"
        raise ValueError(f"give exactly one of {what}=NUMBER and {per}=RATIO; {given} given")
    if density is None:
        found, asked = validation.count(number, what, 1), f"{what}={number}"
    else:
        share, asked = ratio(density, per), f"{per}={density}"
        if share <= 0:
            raise ValueError(f"{asked} must be above 0: it is {what} per spin")
        found = math.ceil(share * size)
    if found > _MOST_LOOPS:
        raise ValueError(f"{asked} asks for more than 2^28 {what}, the most we drop; use fewer")
    return found


def one_of(value: str, name: str, allowed: tuple[str, ...]) -> str:
    """A word from a short list."""
    if value not in allowed:
        raise ValueError(f"{name}={value!r} is not one of {', '.join(map(repr, allowed))}")
    return value


def is_disjoint(overlap: Overlap, max_weight: int | None) -> bool:
    """Whether loops may share no edge; then there is no weight left to limit."""
    if one_of(overlap, "overlap", ("constructive", "none")) != "none":
        return False
    if max_weight is not None:
        raise ValueError('overlap="none" already bounds all weights; leave max_weight out')
    return True


def loops_on_graph(
    loops: int | None, density: Ratio | None, per_node: Ratio | None, half: Fraction
) -> int:
    """The number of loops on a graph: the number itself, per half the nodes, or per node."""
    if per_node is None:
        return number_of(loops, density, half)
    if loops is not None or density is not None:
        raise ValueError(
            f"loops_per_node={per_node} already sets the number of loops; leave loops and "
            "loop_density out"
        )
    return number_of(None, per_node, 2 * half, per="loops_per_node")


def weight_limit(max_weight: int | None, bits: int | None = None) -> int:
    """The largest weight allowed on an edge; without a limit, the largest that int64 holds.

    >>> weight_limit(None, bits=4)
    7
    """
    if bits is not None:
        if max_weight is not None:
            raise ValueError(f"bits={bits} and max_weight={max_weight} given; give one of them")
        return int((1 << min(validation.count(bits, "bits", 2) - 1, 63)) - 1)
    if max_weight is None:
        return INT64_MAX
    return min(validation.count(max_weight, "max_weight", 1), INT64_MAX)


def check_total(loops: int, weight_of_loop: int) -> None:
    """Refuse weights whose sum would leave int64, before any of them is added."""
    if loops * weight_of_loop > INT64_MAX:
        raise ValueError(
            f"{loops} loops of weight {weight_of_loop} each add up to more than 2^63-1, where "
            "energies stop being exact; use a frustration with a smaller denominator or fewer loops"
        )


def planted_state(state: State | None, num_spins: int, stream: npt.NDArray[np.uint64]) -> SpinArray:
    """The state to plant: uniform from the stream when None, else the given one.

    Args:
        state: spins ±1, visible first, or a string of + and - as recipes hold it.
        num_spins: how many there must be.
        stream: a generator's words, used only when `state` is None.
    """
    if state is None:
        spins = np.empty(num_spins, dtype=np.int8)
        fill_spins(stream, spins)
    else:
        spins = validation.states(_from_signs(state), num_spins, (-1, 1), "state").copy()
        if spins.ndim != 1:
            raise ValueError(f"state has shape {spins.shape}, but one state is needed")
    return validation.read_only(spins)


def given_state(state: State, *sizes: int) -> SpinArray:
    """Check a state whose length may be any of `sizes`; for others, the error names the first."""
    length = len(state) if isinstance(state, str) else np.shape(state)[-1:]
    fitting = [size for size in sizes if length in (size, (size,))]
    return planted_state(state, (*fitting, *sizes)[0], np.zeros(4, dtype=np.uint64))


def state_signs(state: SpinArray) -> str:
    """A state as recipes hold it: one + or - a spin.

    >>> state_signs(np.array([1, -1, 1], dtype=np.int8))
    '+-+'
    """
    return np.where(state > 0, b"+", b"-").tobytes().decode("ascii")


def _from_signs(state: State) -> Any:
    if not isinstance(state, str):
        return state
    if set(state) - {"+", "-"}:
        raise ValueError(f"state={state[:20]!r}… must hold only + and -")
    return np.where(np.frombuffer(state.encode("ascii"), dtype="S1") == b"+", 1, -1)


def layer_sizes(n: int, m: int) -> tuple[int, int]:
    """Visible and hidden spins of an RBM; a loop needs two of each."""
    sizes = []
    for name, value in {"n": n, "m": m}.items():
        size = validation.count(value, name)
        if size < 2:
            raise ValueError(f"{name}={size} leaves no room for a loop; use {name} ≥ 2")
        sizes.append(size)
    if sum(sizes) > _MOST_SPINS:
        raise ValueError(
            f"n={n} and m={m} are more than 2^28 spins, the most we plant; use smaller layers"
        )
    return sizes[0], sizes[1]


def spins(n: int, least: int) -> int:
    """A number of spins."""
    size = validation.count(n, "n", least)
    if size > _MOST_SPINS:
        raise ValueError(f"n={n} is more than 2^28 spins, the most we plant; use a smaller n")
    return size


def dense_spins(n: int, least: int) -> int:
    """A number of spins that are all coupled to each other."""
    size = spins(n, least)
    refuse_large(Extent(size, size * (size - 1) // 2))
    return size
