"""The course of a proof: bounds over time, and statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from glasshouse.summaries import Summarised

# Methods that use neither an LP nor a semidefinite bound.
ENUMERATION, WEIGHTS, EVEN_COVERS = "enumeration", "weights", "even-cover LP"
Stopped = Literal["time limit", "node limit", "memory limit", "target", "Ctrl-C"]


@dataclass(frozen=True, repr=False)
class Bounds(Summarised):
    """The bounds so far: `lower` ≤ optimum ≤ `upper`, up to the LP's float error.

    Attributes:
        lower: the lower bound on all energies (or costs).
        upper: the energy of the best state.
        seconds: the seconds since the search began.
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
    """How a proof was found.

    Attributes:
        seconds: the wall-clock time.
        num_edges: the number of couplings and fields before reduction.
        core_edges: the number of edges that no exact reduction removed.
        blocks: the number of biconnected blocks of the core, each with its own LP.
        rounds: the number of LP solves at the root.
        cuts: the number of cycle inequalities found at the root.
        converged: whether every LP was solved to the end, or closed its gap before.
        stopped: why the search ended before that, or None.
        method: what bounds the leaves: "cycle LP", "clique LP" (both), "semidefinite",
            "enumeration", and of polynomials "even-cover LP", or "weights" if these alone bound it.
        nodes: the tree's nodes that were bounded, 0 without a tree.
        leaves: the leaves of the certificate, 1 without a tree.
        history: bounds on the way, each better than the one before.
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
