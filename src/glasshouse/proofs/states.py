"""Annealed states, which are used if rounding found no optimal state, and before a tree search.

If a tight relaxation has many solutions, an interior one shows what they have in common: in all of
them, an edge with u = 0 is satisfied, and an edge with u = 1 is violated. Contracting these edges
leaves a small problem, on which annealing finds an optimum quickly.

A tree search with a poor state is hopeless, so `good_state` takes longer.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import numpy.typing as npt

from glasshouse.kernels.adjacency import adjacency
from glasshouse.problems import INT64_MAX, Ising
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.kernels import graphs as kernels
from glasshouse.proofs.kernels import mixing
from glasshouse.proofs.signed_graph import SignedGraph, Spins, exact_array

# An edge is decided if its u is this close to 0 or 1.
_DECIDED = 1e-4
_SWEEPS, _RUNS = 500, 64
# Turns of mixing, in each of which a state meets one other; after these, all states are alike.
_TURNS = 16
# In denser graphs, two states differ in one large part, and mixing them gains nothing.
_SPARSE = 8.0
# Spins that are mixed between two checks of the budget.
_SPINS_AT_ONCE = 1 << 20
# Couplings, in units of the largest, that a kernel cannot distinguish from zero.
_NEGLIGIBLE = 1e-100
# For a good state: sweeps of a run per spin, and their limits; runs and mixing turns of a batch.
_SWEEPS_PER_SPIN, _FEWEST_SWEEPS, _MOST_SWEEPS = 20, 500, 20_000
_BATCH_RUNS, _BATCH_TURNS = 64, 32
# The number of batches that must end at the same cost before it is taken for the least, and the
# most batches.
_AGREEING, _MOST_BATCHES = 3, 12


def annealed_state(
    graph: SignedGraph,
    violation: npt.NDArray[np.float64] | None,
    least: int,
    budget: Budget,
) -> Spins:
    """Return the best state from a short annealing in which decided edges are fixed.

    Args:
        graph: the problem.
        violation: u of each edge; edges with u near 0 or 1 are fixed. None fixes no edge.
        least: a cost at which to stop.
        budget: half of its time is for annealing, the rest for improving the states.
    """
    if violation is None:
        violation = np.full(graph.num_edges, 0.5)
    decided = np.minimum(violation, np.abs(1.0 - violation)) < _DECIDED
    inside, labels = _clusters(graph, decided, violation > 0.5)
    small = _between(graph, inside, labels)
    if not small.num_edges:
        return inside
    # The clusters' internal violations are already lost.
    lost = graph.cost(inside) - small.cost(np.ones(small.num_vertices, dtype=np.int8))
    states = annealed_states(small, _RUNS, least - lost, budget.part(0.5))
    if is_sparse(small):
        mix(small, states, _TURNS, budget)
    return inside * best_of(small, states)[labels]


def best_of(graph: SignedGraph, states: npt.NDArray[np.int8]) -> Spins:
    """Return the best of the given states, up to rounding."""
    best: Spins = states[int(np.argmax(agreements(graph, states)))]
    return best


def agreements(graph: SignedGraph, states: npt.NDArray[np.int8]) -> list[float]:
    """Return Σ w s s of each state, in units of the largest weight, up to rounding."""
    first, second = graph.edges[:, 0], graph.edges[:, 1]
    return [float(graph.couplings @ (spins[first] * spins[second])) for spins in states]


def is_sparse(graph: SignedGraph) -> bool:
    """Return whether a graph is so sparse that mixing states is likely to improve them."""
    return 2 * graph.num_edges <= _SPARSE * graph.num_vertices


def mix(
    graph: SignedGraph, states: npt.NDArray[np.int8], turns: int, budget: Budget | None = None
) -> None:
    """Improve states in place by taking over parts of other states.

    Args:
        graph: the graph of the states.
        states: the states, one per row.
        turns: the number of partners of each state; they are the same in each call.
        budget: stops the mixing early; states stay valid.
    """
    rng, budget = np.random.default_rng(0), budget or Budget()
    partners = np.array([rng.permutation(len(states)) for _ in range(turns)])
    turns_at_once = max(1, _SPINS_AT_ONCE // max(states.size, 1))
    states_at_once = max(1, _SPINS_AT_ONCE // max(graph.num_vertices, 1))
    for turn in range(0, turns, turns_at_once):
        some = partners[turn : turn + turns_at_once]
        for first in range(0, len(states), states_at_once):
            if budget.asks_to_stop():
                return
            last = min(first + states_at_once, len(states))
            mixing.mix(*graph.rows, graph.couplings, states, some, first, last)


def mean_violation(graph: SignedGraph, states: npt.NDArray[np.int8]) -> npt.NDArray[np.float64]:
    """Return the fraction of states that violate each edge; the fractions violate no cycle cut."""
    counts = np.zeros(graph.num_edges)
    for spins in states:
        counts += graph.violated(spins)
    return counts / len(states)


def _clusters(
    graph: SignedGraph, chosen: npt.NDArray[np.bool_], violated: npt.NDArray[np.bool_]
) -> tuple[Spins, npt.NDArray[np.int32]]:
    """Return spins that agree with `violated` on the chosen edges, and the cluster of each spin."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    edges = graph.edges[chosen]
    wanted = np.where(graph.negative == violated, 1, -1).astype(np.int8)[chosen]
    inside: Spins = kernels.agree(*adjacency(graph.num_vertices, edges), wanted)
    size = graph.num_vertices
    links = csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(size, size))
    return inside, connected_components(links, directed=False)[1]


def _between(graph: SignedGraph, inside: Spins, labels: npt.NDArray[np.int32]) -> SignedGraph:
    """Return the graph of the clusters, each of which flips as a whole."""
    weights: defaultdict[tuple[int, int], int] = defaultdict(int)
    signs = (inside[graph.edges[:, 0]] * inside[graph.edges[:, 1]]).tolist()
    ends = labels[graph.edges].tolist()
    for (a, b), weight, sign in zip(ends, graph.weights, signs, strict=True):
        if a != b:
            weights[min(a, b), max(a, b)] += sign * weight
    kept = {pair: weight for pair, weight in weights.items() if weight}
    edges = np.array(list(kept), dtype=np.int32).reshape(-1, 2)
    return SignedGraph(int(labels.max()) + 1, edges, exact_array(kept.values()))


def annealed_states(
    graph: SignedGraph, runs: int, least: int, budget: Budget, sweeps: int = _SWEEPS, seed: int = 0
) -> npt.NDArray[np.int8]:
    """Return the final states of `runs` annealing runs, followed by the best state found."""
    from glasshouse.solvers import anneal

    # Floats, as integers over one power of two, hardly ever fit.
    fits = graph.total <= INT64_MAX
    weights = graph.weights.astype(np.int64) if fits else graph.couplings
    felt = np.abs(weights) > _NEGLIGIBLE
    problem = Ising.from_edges(graph.num_vertices, graph.edges[felt], weights[felt])
    seconds = max(budget.left(), 1e-3)
    result = anneal(
        problem,
        sweeps=sweeps,
        runs=runs,
        target=graph.value(least) if fits else None,
        rng=seed,
        time_limit=seconds if np.isfinite(seconds) else None,
    )
    if result.stopped == "interrupted":
        budget.stop("Ctrl-C")
    return np.concatenate([result.states, result.best_state[None]]).astype(np.int8)


def good_state(graph: SignedGraph, budget: Budget) -> Spins:
    """Return a state of low cost, found by annealing and mixing.

    Annealed states are mixed, batch by batch, until several batches agree on the best cost. For
    sparse glasses of a few hundred spins that is nearly always an optimum.

    Args:
        graph: the problem.
        budget: decides when to stop.
    """
    sweeps = min(max(_SWEEPS_PER_SPIN * graph.num_vertices, _FEWEST_SWEEPS), _MOST_SWEEPS)
    best: Spins = np.ones(graph.num_vertices, dtype=np.int8)
    costs = [graph.cost(best)]
    with budget.hearing_ctrl_c():
        for batch in range(_MOST_BATCHES):
            states = annealed_states(graph, _BATCH_RUNS, 0, budget, sweeps, batch)
            mix(graph, states, _BATCH_TURNS, budget)
            state = best_of(graph, states)
            costs.append(graph.cost(state))
            if costs[-1] < graph.cost(best):
                best = state.copy()
            if costs.count(min(costs)) >= _AGREEING or budget.asks_to_stop():
                break
    return best
