"""Unplanted problems as controls in races: random couplings of ±1 on a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glasshouse.planting import Graph, Recipe, Seed
from glasshouse.problems import Ising
from glasshouse.proofs import prove
from glasshouse.solvers import anneal
from glasshouse.suites.writing import Unplanted

if TYPE_CHECKING:
    from glasshouse.planting.graphs import GraphLike
    from glasshouse.randomness import RngLike

# The search for a good state before `prove` bounds it; deterministic for each problem.
_RUNS, _SWEEPS = 256, 2000


def plus_minus_j(graph: GraphLike, *, rng: RngLike = None) -> tuple[Ising, Recipe]:
    """Draw an Edwards-Anderson spin glass: each coupling is +1 or -1 with equal probability.

    Args:
        graph: a graph, as for planting, for instance "torus:8x8".
        rng: the seed; the signs are the same on every computer.

    >>> plus_minus_j("torus:3x3", rng=1)[0].weights.tolist()
    [1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, 1, -1, -1, 1, 1, 1]
    """
    where, seed = Graph.of(graph), Seed.of(rng)
    size = len(where.edges)
    words = seed.sequence().generate_state(-(-size // 64), np.uint64)
    bits = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")[:size]
    signs = 2 * bits.astype(np.int64) - 1
    recipe = Recipe("plus_minus_j", {"graph": where.name}, seed)
    return Ising.from_edges(where.num_nodes, where.edges, signs), recipe


def bounded(problem: Ising, recipe: Recipe, seconds: float | None = None) -> Unplanted:
    """Return a problem with the best state that annealing or `prove` finds, and a proven bound.

    Args:
        problem: the couplings.
        recipe: how the couplings were drawn.
        seconds: the time limit of `prove`; without a limit, the bound depends only on the problem.

    Raises:
        KeyboardInterrupt: Ctrl-C; the results so far are discarded.
    """
    found = anneal(problem, sweeps=_SWEEPS, runs=_RUNS, rng=0)
    best = found.states[int(np.argmin(found.energies))]
    proof = prove(problem, state=best, time_limit=seconds)
    if found.stopped == "interrupted" or proof.statistics.stopped == "Ctrl-C":
        raise KeyboardInterrupt
    return Unplanted(proof.proven, recipe)
