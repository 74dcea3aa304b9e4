"""Loops through one ghost spin; two weights of such a loop become biases."""

from __future__ import annotations

from typing import Any

from glasshouse.compiled import compiled
from glasshouse.kernels.xoshiro import below
from glasshouse.planting.kernels.cells import put_at, value_at


@compiled
def drop_bias_loops(
    stream: Any, n: int, m: int, frustrated: bool, redraws: int, matrix: Any, nodes: Any, meter: Any
) -> Any:
    """Place loops until `nodes` is full; return the number of loops that fit.

    The matrix has one more row and one more column than the RBM, those of the ghosts. Which of a
    loop's four nodes is the ghost is drawn with equal probability, then the others uniformly, until
    the loop opposes no other.

    Args:
        stream: the generator's words.
        n: visible spins; row n is the ghost's.
        m: hidden spins; column m is the ghost's.
        frustrated: whether the negative weight is below zero.
        redraws: how many times a loop may be redrawn before the search stops.
        matrix: signs so far, all zero (see `kernels.cells`).
        nodes: int32 (loops, 4), filled with j1, i1, j2, i2: the last edge is the negative one. The
            ghost of either side is node n + m.
        meter: the steps that are left, counted down (see `planting.demand`).
    """
    dropped, fits = 0, True
    width = m + 1
    while fits and dropped < nodes.shape[0]:
        fits, redraw = False, 0
        i1 = i2 = j1 = j2 = 0
        while not fits and redraw < redraws and meter[0] > 0:
            meter[0] -= 1
            ghost = below(stream, 4)
            i1 = n if ghost == 0 else below(stream, n)
            i2 = n if ghost == 1 else below(stream, n)
            j1 = m if ghost == 2 else below(stream, m)
            j2 = m if ghost == 3 else below(stream, m)
            fits = (
                (i1 != i2)
                & (j1 != j2)
                & (value_at(matrix, i1 * width + j1) >= 0)
                & (value_at(matrix, i1 * width + j2) >= 0)
                & (value_at(matrix, i2 * width + j2) >= 0)
                & (value_at(matrix, i2 * width + j1) <= 0)
            )
            redraw += 1
        if fits:
            put_at(matrix, i1 * width + j1, 1, True)
            put_at(matrix, i1 * width + j2, 1, True)
            put_at(matrix, i2 * width + j2, 1, True)
            put_at(matrix, i2 * width + j1, -1 if frustrated else 0, True)
            nodes[dropped, 0], nodes[dropped, 1] = n + j1, i1 if i1 < n else n + m
            nodes[dropped, 2], nodes[dropped, 3] = n + j2, i2 if i2 < n else n + m
            dropped += 1
    return dropped


@compiled
def drop_triangles(stream: Any, n: int, m: int, nodes: Any) -> None:
    """Fill `nodes` with triangles (j, ghost, i): a random coupling and the biases of its ends."""
    for loop in range(nodes.shape[0]):
        nodes[loop, 2] = below(stream, n)
        nodes[loop, 0] = n + below(stream, m)
        nodes[loop, 1] = n + m
