"""Spin glasses that are not planted: random couplings and fields on lattices and other graphs.

Random numbers come from words of the seed and exact operations, so an instance has the same bits on
every computer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from glasshouse.planting import Graph, Seed
from glasshouse.problems import Ising, validation
from glasshouse.problems.elementary import logarithms
from glasshouse.problems.ratio import Ratio, ratio

Geometry = Literal["square", "cubic", "triangular", "hexagonal", "chimera", "pegasus", "zephyr"]
Couplings = Literal["bimodal", "normal"]
Fields = Literal["uniform", "bimodal", "normal"]

MOST_EDGES = 1 << 20
# Normal numbers are multiples of this, so that sums of them are exact and proofs have integers.
_GRID = 2.0**-16


def lattice(
    L: int,
    *,
    geometry: Geometry = "square",
    boundary: Literal["periodic", "open"] = "periodic",
    couplings: Couplings = "bimodal",
    dilution: Ratio = 0,
    field: Ratio = 0,
    fields: Fields = "uniform",
    seed: Seed | None = None,
) -> Ising:
    """Draw an Edwards-Anderson spin glass on a lattice or a chip graph.

    Args:
        L: the linear size; the size of a chip in its own numbering.
        geometry: "square", "cubic", "triangular", "hexagonal", "chimera", "pegasus" or "zephyr".
        boundary: "periodic" or "open"; chips are always open.
        couplings: "bimodal" is ±1; "normal" has mean 0 and variance 1, in steps of 2^-16.
        dilution: the fraction of couplings that is missing.
        field: the strength of the fields.
        fields: "uniform" fields are all `field`, "bimodal" ones ±field, "normal" ones `field` times
            a normal number.
        seed: the seed; None checks the arguments only.

    >>> lattice(4, geometry="cubic", seed=Seed(1))
    Ising(64 spins, 192 edges, integer weights -1 to 1)
    >>> lattice(3, geometry="hexagonal", seed=Seed(1)).num_edges
    27
    """
    side = validation.count(L, "L", 1)
    one_of("geometry", geometry, Geometry)
    one_of("boundary", boundary, Literal["periodic", "open"])
    bonds = {"square": 2, "cubic": 3, "triangular": 3, "hexagonal": 3, "chimera": 24,
             "pegasus": 180, "zephyr": 320}[geometry]  # fmt: skip
    _refuse_large(bonds * side ** (3 if geometry == "cubic" else 2))
    periodic = boundary == "periodic"
    if periodic and side < 3 and geometry in ("square", "cubic", "triangular"):
        raise ValueError(f'L={side} is too small for a torus; use at least 3, or boundary="open"')
    pattern = _Pattern(couplings, dilution, field, fields)
    if seed is None:
        return Ising.from_edges(0, [], [])
    return pattern.drawn(_lattice_graph(geometry, side, periodic), seed)


def random_graph(
    n: int,
    *,
    degree: Ratio = 3,
    regular: bool = True,
    couplings: Couplings = "bimodal",
    dilution: Ratio = 0,
    field: Ratio = 0,
    fields: Fields = "uniform",
    seed: Seed | None = None,
) -> Ising:
    """Draw a spin glass on a random graph.

    Args:
        n: the number of spins.
        degree: neighbours of every spin, or their mean if `regular` is false.
        regular: a random regular graph; else n · degree / 2 different pairs of spins (Erdős-Rényi).
        couplings: as for `lattice`.
        dilution: as for `lattice`.
        field: as for `lattice`.
        fields: as for `lattice`.
        seed: the seed; None checks the arguments only.

    >>> drawn = random_graph(10, degree=3, seed=Seed(1))
    >>> drawn.num_edges, sorted(set(np.bincount(drawn.edges.reshape(-1)).tolist()))
    (15, [3])
    """
    size, mean = validation.count(n, "n", 2), ratio(degree, "degree")
    _refuse_large(size)
    pairs = round(size * mean / 2)
    _refuse_large(pairs)
    if regular and (mean.denominator > 1 or 2 * pairs != size * mean or not 0 <= mean < size):
        raise ValueError(
            f"degree={degree} must be an integer below n={size} with an even n·degree for a "
            "regular graph; use regular=false for a mean degree"
        )
    if not 0 <= pairs <= size * (size - 1) // 2:
        raise ValueError(f"degree={degree} is more than n={size} spins can have")
    pattern = _Pattern(couplings, dilution, field, fields)
    if seed is None:
        return Ising.from_edges(0, [], [])
    dice = np.random.Generator(np.random.PCG64(seed.child(3).sequence()))
    edges = _regular(size, int(mean), dice) if regular else _some_pairs(size, pairs, dice)
    return pattern.drawn((size, edges), seed)


def complete(
    n: int,
    *,
    couplings: Couplings = "bimodal",
    field: Ratio = 0,
    fields: Fields = "uniform",
    seed: Seed | None = None,
) -> Ising:
    """Draw a Sherrington-Kirkpatrick spin glass, without the usual factor 1/√n in the couplings.

    Args:
        n: the number of spins.
        couplings: as for `lattice`.
        field: as for `lattice`.
        fields: as for `lattice`.
        seed: the seed; None checks the arguments only.

    >>> complete(5, seed=Seed(1))
    Ising(5 spins, 10 edges, integer weights -1 to 1)
    """
    size = validation.count(n, "n", 2)
    _refuse_large(size * (size - 1) // 2)
    pattern = _Pattern(couplings, 0, field, fields)
    if seed is None:
        return Ising.from_edges(0, [], [])
    return pattern.drawn((size, np.column_stack(np.triu_indices(size, 1))), seed)


def one_of(name: str, value: object, kind: Any) -> None:
    """Raise unless a value is one of those that a Literal type allows."""
    words = kind.__args__
    if value not in words:
        raise ValueError(f"{name}={value!r:.60} is not one of {', '.join(words)}")


def _refuse_large(edges: int) -> None:
    if edges > MOST_EDGES:
        raise ValueError(
            f"an instance may have {edges} couplings, but a study allows at most {MOST_EDGES}; "
            "choose a smaller size"
        )


@dataclass(frozen=True)
class _Pattern:
    """A rule that draws couplings and fields on any graph, each from its own random stream."""

    couplings: str
    dilution: Ratio
    field: Ratio
    fields: str

    def __post_init__(self) -> None:
        one_of("couplings", self.couplings, Couplings)
        one_of("fields", self.fields, Fields)
        if not 0 <= ratio(self.dilution, "dilution") < 1:
            raise ValueError(f"dilution={self.dilution} must be at least 0 and below 1")
        if abs(ratio(self.field, "field")) > 1 << 20:
            raise ValueError(f"field={self.field} must be between -2^20 and 2^20")

    def drawn(self, graph: tuple[int, npt.NDArray[Any]], seed: Seed) -> Ising:
        """Draw couplings and fields for a graph, and return the problem."""
        size, edges = graph
        weights = _numbers(len(edges), self.couplings, seed.child(0))
        missing = ratio(self.dilution, "dilution")
        if missing:
            kept = _words(len(edges), seed.child(1)) >= np.uint64(int(missing * 2**64))
            edges, weights = edges[kept], weights[kept]
        strength = ratio(self.field, "field")
        held: npt.NDArray[Any] | None = None
        if strength:
            factor: Any = int(strength) if strength.denominator == 1 else float(strength)
            signs = np.ones(size, np.int64)
            if self.fields != "uniform":
                signs = _numbers(size, self.fields, seed.child(2))
            held = factor * signs
        return Ising.from_edges(size, edges, weights, fields=held)


def _words(count: int, seed: Seed) -> npt.NDArray[np.uint64]:
    words: npt.NDArray[np.uint64] = seed.sequence().generate_state(count, np.uint64)  # type: ignore[assignment]
    return words


def _numbers(count: int, kind: str, seed: Seed) -> npt.NDArray[Any]:
    """Draw random signs, or normally distributed numbers rounded to multiples of `_GRID`."""
    if kind == "bimodal":
        return 2 * (_words(count, seed) >> np.uint64(63)).astype(np.int64) - 1
    tries = 2 * count + 64
    while True:
        plane = (_words(2 * tries, seed) >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1
        u, v = plane[0::2], plane[1::2]
        squares = u * u + v * v
        inside = (squares > 0) & (squares < 1)
        if np.count_nonzero(inside) >= count:
            break
        tries *= 2  # the first words stay the same
    u, squares = u[inside][:count], squares[inside][:count]
    return np.rint(u * np.sqrt(-2 * logarithms(squares) / squares) / _GRID) * _GRID


def _lattice_graph(geometry: str, side: int, periodic: bool) -> tuple[int, npt.NDArray[Any]]:
    if geometry in ("square", "cubic"):
        shape = [side] * (2 if geometry == "square" else 3)
        graph = Graph.torus(*shape) if periodic else Graph.lattice(*shape)
        return graph.num_nodes, graph.edges
    if geometry in ("chimera", "pegasus", "zephyr"):
        graph = Graph.parse(f"{geometry}:{side}")
        return graph.num_nodes, graph.edges
    rows, columns = np.divmod(np.arange(side * side), side)
    steps = [(0, 1), (1, 0), (1, 1)] if geometry == "triangular" else [(0, 0), (0, 1), (1, 0)]
    edges = []
    for down, right in steps:
        there = (rows + down) % side * side + (columns + right) % side
        inner = (rows + down < side) & (columns + right < side)
        pairs = np.column_stack([np.arange(side * side), there])[periodic | inner]
        edges.append(pairs if geometry == "triangular" else pairs * 2 + [0, 1])
    joined = np.sort(np.concatenate(edges), axis=1)
    size = side * side * (1 if geometry == "triangular" else 2)
    return size, np.unique(joined, axis=0)


def _regular(size: int, degree: int, dice: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw a random regular graph: pair stubs at random, then repair loops and repeated edges."""
    if 2 * degree >= size:  # the complement is sparse, and found fast
        gone = _regular(size, size - 1 - degree, dice)
        every = np.column_stack(np.triu_indices(size, 1))
        codes = every[:, 0] * size + every[:, 1]
        return every[~np.isin(codes, gone[:, 0] * size + gone[:, 1])]
    stubs = dice.permutation(np.repeat(np.arange(size), degree)).reshape(-1, 2)
    while True:
        stubs.sort(axis=1)
        codes = stubs[:, 0] * size + stubs[:, 1]
        _, first = np.unique(codes, return_index=True)
        bad = np.ones(len(stubs), bool)
        bad[first] = False
        bad |= stubs[:, 0] == stubs[:, 1]
        if not bad.any():
            return stubs[np.argsort(codes)]
        for row in np.flatnonzero(bad):
            other = dice.integers(len(stubs))
            stubs[row, 1], stubs[other, 1] = stubs[other, 1], stubs[row, 1]


def _some_pairs(size: int, count: int, dice: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw `count` distinct pairs of `size` nodes."""
    codes = np.sort(dice.choice(size * (size - 1) // 2, count, replace=False))
    low = ((1 + np.sqrt(1 + 8.0 * codes)) // 2).astype(np.int64)  # the larger node of the pair
    low -= low * (low - 1) // 2 > codes
    low += (low + 1) * low // 2 <= codes
    return np.column_stack([codes - low * (low - 1) // 2, low])
