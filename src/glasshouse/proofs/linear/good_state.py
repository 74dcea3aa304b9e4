"""Good states of spin glasses, before a tree is searched: a poor one makes it hopeless."""

from __future__ import annotations

import math

import numpy as np

from glasshouse.compiled import is_ctrl_c
from glasshouse.proofs.limits import Clock
from glasshouse.proofs.linear.primal import annealed_states, best_of, mix
from glasshouse.proofs.signed_graph import SignedGraph, Spins
from glasshouse.stopping import working_time

# Sweeps of a run for each spin, within limits.
_SWEEPS_PER_SPIN, _FEWEST_SWEEPS, _MOST_SWEEPS = 20, 500, 20_000
_RUNS, _TURNS = 64, 32
# So many batches, of at most so many, have to end at the same cost before it is believed to be the
# least.
_AGREEING, _MOST_BATCHES = 3, 12


def good_state(graph: SignedGraph, seconds: float = math.inf) -> tuple[Spins, bool]:
    """A state of low cost, and whether Ctrl-C cut the search for it short.

    Annealed states are mixed, batch by batch, until some batches agree on the best cost. Of sparse
    glasses of some hundred spins that is nearly always an optimum.

    Args:
        graph: the problem.
        seconds: when to stop.
    """
    sweeps = min(max(_SWEEPS_PER_SPIN * graph.num_vertices, _FEWEST_SWEEPS), _MOST_SWEEPS)
    deadline = working_time() + seconds
    best: Spins = np.ones(graph.num_vertices, dtype=np.int8)
    costs = [graph.cost(best)]
    try:
        for batch in range(_MOST_BATCHES):
            left = deadline - working_time()
            states, interrupted = annealed_states(graph, _RUNS, 0, left, sweeps, batch)
            if not interrupted:
                mix(graph, states, _TURNS, Clock(deadline))
            state = best_of(graph, states)
            costs.append(graph.cost(state))
            if costs[-1] < graph.cost(best):
                best = state.copy()
            if interrupted:
                return best, True
            if costs.count(min(costs)) >= _AGREEING or working_time() > deadline:
                break
    except (KeyboardInterrupt, SystemError) as stop:
        if not is_ctrl_c(stop):
            raise
        return best, True
    return best, False
