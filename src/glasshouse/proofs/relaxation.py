"""The interface between the tree search and a relaxation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from glasshouse.certificates import Pair, Parts
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.signed_graph import Spins


@dataclass
class Outcome:
    """The result of bounding a node, that is, all states that satisfy the node's pairs.

    Attributes:
        closed: whether `parts` prove, exactly, that no state is better than the best known.
        parts: loops and squares over the graph's vertices; a valid bound in any case.
        branch: the pair to branch on, with the sign of the side to search first; None if closed.
        warm: data from which both children may start.
        states: states found in the process, even if they do not satisfy the pairs.
    """

    closed: bool
    parts: Parts
    branch: Pair | None = None
    warm: Any = None
    states: list[Spins] = field(default_factory=list)


class Relaxation(Protocol):
    """The protocol of a relaxation, which bounds all states that satisfy given pairs."""

    name: str

    @property
    def num_bytes(self) -> int:
        """The memory of the data that all nodes share, such as a stock of cuts, in bytes."""
        ...

    def bound(self, pairs: list[Pair], incumbent: int, budget: Budget, warm: Any) -> Outcome:
        """Bound a node until the node is closed, progress stalls, or the budget ends.

        Args:
            pairs: the path from the root.
            incumbent: the cost of the best state known.
            budget: decides when to stop.
            warm: the `warm` data of the parent's outcome, or None.
        """
        ...
