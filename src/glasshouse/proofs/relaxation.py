"""What the tree search asks of a relaxation, and what it gets back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from glasshouse.certificates import Pair, Parts
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.signed_graph import Spins


@dataclass
class Outcome:
    """What a relaxation found out about the states that agree with some pairs.

    Attributes:
        closed: whether `parts` prove, exactly, that none of them is better than the best known.
        parts: over the graph's vertices; an honest bound in any case.
        branch: the pair to branch on, its sign that of the side to look at first; None if closed.
        warm: what both children may start from.
        states: states found on the way, whichever pairs they agree with.
    """

    closed: bool
    parts: Parts
    branch: Pair | None = None
    warm: Any = None
    states: list[Spins] = field(default_factory=list)


class Relaxation(Protocol):
    """A way to bound the values of all states that agree with some pairs."""

    name: str

    def bound(self, pairs: list[Pair], incumbent: int, budget: Budget, warm: Any) -> Outcome:
        """Bound, until the node is closed, nothing more is gained, or it is time to stop.

        Args:
            pairs: the path from the root.
            incumbent: the cost of the best state known.
            budget: when to stop.
            warm: what the parent's outcome held, or None.
        """
        ...
