"""The relaxations there are, by name."""

from __future__ import annotations

from collections.abc import Callable

from glasshouse.proofs.lp.node import CliqueRelaxation, CycleRelaxation
from glasshouse.proofs.relaxation import Relaxation
from glasshouse.proofs.semidefinite import SemidefiniteRelaxation
from glasshouse.proofs.signed_graph import SignedGraph

RELAXATIONS: dict[str, Callable[[SignedGraph], Relaxation]] = {
    CycleRelaxation.name: CycleRelaxation,
    CliqueRelaxation.name: CliqueRelaxation,
    SemidefiniteRelaxation.name: SemidefiniteRelaxation,
}

# Where a graph has this share of all pairs, and no more vertices than an eigenvalue solver takes
# in a tenth of a second, the semidefinite relaxation is worth a try.
_DENSE, _FEWEST, _MOST = 0.1, 12, 400


def is_dense(graph: SignedGraph) -> bool:
    """Whether the semidefinite relaxation of a graph may be better than its cycle LP."""
    size = graph.num_vertices
    return _FEWEST <= size <= _MOST and graph.num_edges >= _DENSE * size * (size - 1) / 2


def new_relaxation(name: str, graph: SignedGraph) -> Relaxation:
    """A relaxation of a graph."""
    return RELAXATIONS[name](graph)
