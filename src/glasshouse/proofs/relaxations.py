"""The relaxations there are, by name."""

from __future__ import annotations

from collections.abc import Callable

from glasshouse.proofs.cycle_relaxation import CycleRelaxation
from glasshouse.proofs.relaxation import Relaxation
from glasshouse.proofs.signed_graph import SignedGraph

RELAXATIONS: dict[str, Callable[[SignedGraph], Relaxation]] = {
    CycleRelaxation.name: CycleRelaxation,
}


def new_relaxation(name: str, graph: SignedGraph) -> Relaxation:
    """A relaxation of a graph."""
    return RELAXATIONS[name](graph)
