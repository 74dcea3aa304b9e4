"""The course of a proof: bounds over time, and statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from glasshouse.summaries import Summarised

# Methods that use neither an LP nor a semidefinite bound.
ELIMINATION = "elimination"
ENUMERATION, WEIGHTS, EVEN_COVERS = "enumeration", "weights", "even-cover LP"
Stopped = Literal["time limit", "node limit", "memory limit", "target", "Ctrl-C"]


@dataclass(frozen=True, repr=False)
class Bounds(Summarised):
    """The bounds so far: `lower` ≤ optimum ≤ `upper`, up to the LP's float error.

    Attributes:
        lower: the lower bound on all energies (or costs).
        upper: the energy of the best state.
        seconds: the time since the search began, in seconds.
        rounds: the number of LP solves at the root.
        nodes: the number of nodes of the tree that were bounded.
        open_nodes: the number of nodes of the tree that are still open.
    """

    lower: float
    upper: float
    seconds: float
    rounds: int
    nodes: int = 0
    open_nodes: int = 0


@dataclass(frozen=True, repr=False)
class Statistics(Summarised):
    """Statistics of a proof: its time, its method, and the size of its search.

    Attributes:
        seconds: the wall-clock time in seconds.
        num_edges: the number of couplings and fields before reduction.
        core_edges: the number of edges that no exact reduction removed.
        blocks: the number of biconnected blocks of the core, each with its own LP.
        rounds: the number of LP solves at the root.
        cuts: the number of cycle inequalities found at the root.
        converged: whether every LP was solved to the end, or stopped because its gap was closed.
        stopped: the reason why the search was stopped early, or None.
        method: the method that bounds the leaves: "cycle LP", "clique LP" (cycles and cliques),
            "semidefinite", "enumeration" or "elimination"; for polynomials, also "even-cover LP" or
            "weights".
        nodes: the number of nodes of the tree that were bounded; 0 without a tree.
        leaves: the number of leaves of the certificate; 1 without a tree.
        history: the bounds during the search, each better than the bounds before.
    """

    seconds: float
    num_edges: int
    core_edges: int
    blocks: int
    rounds: int
    cuts: int
    converged: bool
    stopped: Stopped | None = None
    method: str = "cycle LP"
    nodes: int = 0
    leaves: int = 1
    history: tuple[Bounds, ...] = ()
