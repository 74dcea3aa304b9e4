"""Loop instances made here, from the paper's definition, independent of the generators."""

from __future__ import annotations

import numpy as np

from glasshouse.certificates.bound import Parts
from glasshouse.problems import Ising
from glasshouse.proofs.lp.cuts import Cut, cycle_cuts
from glasshouse.proofs.parts import flat

Listed = tuple[int, list[int], list[int]]


def loop_sum(
    num_spins: int, num_loops: int, rng: np.random.Generator, *, fields: bool = False
) -> tuple[Ising, int]:
    """A sum of frustrated loops of mixed lengths and weights that may cancel, in a random gauge.

    Returns the problem and the planted energy: the sum of the loops' own minima.
    """
    nodes = num_spins + fields
    matrix = np.zeros((nodes, nodes), dtype=np.int64)
    energy = 0
    for _ in range(num_loops):
        length = int(rng.integers(3, min(nodes, 7) + 1))
        cycle = rng.choice(nodes, length, replace=False)
        weight = int(rng.integers(1, 6))
        negative = int(rng.integers(1, weight + 1))
        for k in range(length):
            value = -negative if k == 0 else weight
            matrix[cycle[k], cycle[k - 1]] += value
            matrix[cycle[k - 1], cycle[k]] += value
        energy -= weight * (length - 1) - negative
    gauge = rng.choice([-1, 1], nodes)
    gauge[num_spins:] = 1
    matrix *= np.outer(gauge, gauge)
    spins = slice(0, num_spins)
    biases = matrix[spins, num_spins] if fields else None
    return Ising.from_matrix(matrix[spins, spins], fields=biases), energy


def spin_glass(
    num_spins: int, density: float, rng: np.random.Generator, *, gaussian: bool
) -> Ising:
    """A random graph with ±1 or rounded Gaussian weights and fields."""
    edges = np.argwhere(np.triu(rng.random((num_spins, num_spins)) < density, 1))
    size = len(edges) + num_spins
    values = np.rint(100 * rng.normal(size=size)) if gaussian else rng.choice([-1, 1], size)
    values = values.astype(np.int64)
    return Ising.from_edges(num_spins, edges, values[num_spins:], values[:num_spins])


def torus_edges(shape: tuple[int, ...]) -> np.ndarray:
    """Each vertex of a periodic lattice with the next one along each axis, axis by axis."""
    grid = np.arange(int(np.prod(shape))).reshape(shape)
    steps = [np.stack([grid, np.roll(grid, -1, axis)], -1) for axis in range(len(shape))]
    return np.concatenate([pairs.reshape(-1, 2) for pairs in steps])


def listed(parts: Parts) -> tuple[list[Listed], list[Listed]]:
    """Loops and squares one by one: a multiplier, nodes, and signs of edges or coefficients."""
    signs, squares = np.where(parts.negative, -1, 1), parts.squares
    groups = (parts.multipliers, parts.starts, parts.nodes, signs), (
        squares.multipliers, squares.starts, squares.nodes, squares.coefficients,
    )  # fmt: skip
    loops, others = (
        [
            (int(multiplier), nodes[begin:end].tolist(), numbers[begin:end].tolist())
            for multiplier, begin, end in zip(multipliers, starts, starts[1:], strict=False)
        ]
        for multipliers, starts, nodes, numbers in groups
    )
    return loops, others


def cuts_of(cycles: list[list[int]]) -> list[Cut]:
    """Cycles of plain arcs, given by their edges."""
    return cycle_cuts(*flat(cycles, np.int32))
