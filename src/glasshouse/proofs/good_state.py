"""Good states of spin glasses: annealing, and recombination of what it found.

Low states of a spin glass differ by whole clusters of spins, and each has some of them right. Where
two states differ, every cluster can be judged on its own, because clusters do not touch: taking
over from each other state what lowers the energy gives states that are better than all of them.
"""

from __future__ import annotations

import math
import time

import numpy as np
import numpy.typing as npt

from glasshouse.problems import Ising
from glasshouse.problems.validation import INT64_MAX
from glasshouse.proofs import crossover_kernels, kernels
from glasshouse.proofs.signed_graph import SignedGraph, Spins

# Runs of one batch, and sweeps of a run for each spin, within limits.
_RUNS = 64
_SWEEPS_PER_SPIN, _FEWEST_SWEEPS, _MOST_SWEEPS = 20, 500, 20_000
# So many batches have to end at the same cost before it is believed to be the least.
_AGREEING = 3
_PASSES = 20
# Couplings, in units of the largest, that no temperature of a kernel can tell from none.
_NEGLIGIBLE = 1e-100


def good_state(
    graph: SignedGraph, seconds: float = math.inf, most_batches: int = 12, seed: int = 0
) -> Spins:
    """A state of low cost: nearly always an optimum of sparse glasses of some hundred spins.

    Args:
        graph: the problem.
        seconds: when to stop, at the end of a batch or within its annealing.
        most_batches: how many there are at most; fewer if some agree on the best cost.
        seed: for the annealing.
    """
    problem = _as_ising(graph)
    deadline = time.monotonic() + seconds
    best = np.ones(graph.num_vertices, dtype=np.int8)
    costs = [graph.cost(best)]
    for batch in range(most_batches):
        states = _batch(graph, problem, deadline - time.monotonic(), (seed, batch))
        found = [graph.cost(state) for state in states]
        least = int(np.argmin(found))
        if found[least] < min(costs):
            best = states[least].copy()
        costs.append(found[least])
        if costs.count(min(costs)) >= _AGREEING or time.monotonic() > deadline:
            break
    return best


def _batch(
    graph: SignedGraph, problem: Ising, seconds: float, seed: tuple[int, int]
) -> npt.NDArray[np.int8]:
    """Annealed states, recombined."""
    from glasshouse.solvers import anneal

    sweeps = min(max(_SWEEPS_PER_SPIN * graph.num_vertices, _FEWEST_SWEEPS), _MOST_SWEEPS)
    result = anneal(
        problem,
        sweeps=sweeps,
        runs=_RUNS,
        rng=np.random.SeedSequence(seed),
        time_limit=max(seconds, 1e-3) if math.isfinite(seconds) else None,
    )
    states: npt.NDArray[np.int8] = np.unique(result.states.astype(np.int8), axis=0)
    for state in states:
        kernels.descend(*graph.rows, graph.couplings, state)
    crossover_kernels.recombine(*graph.rows, graph.couplings, states, _PASSES)
    return states


def _as_ising(graph: SignedGraph) -> Ising:
    """The graph, its ghost a spin like others, with int64 weights where these fit."""
    fits = graph.total <= INT64_MAX
    weights = graph.weights.astype(np.int64) if fits else graph.couplings
    felt = np.abs(weights) > _NEGLIGIBLE
    return Ising.from_edges(graph.num_vertices, graph.edges[felt], weights[felt])
