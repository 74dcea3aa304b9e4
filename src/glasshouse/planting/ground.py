"""The ground that loops are dropped on: a graph, or the complete bipartite graph of an RBM."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glasshouse.planting import arguments
from glasshouse.planting.graphs import Graph, Rows
from glasshouse.planting.loops import Loops
from glasshouse.planting.planted import Planted
from glasshouse.planting.recipe import Recipe
from glasshouse.problems import naming
from glasshouse.problems.validation import SpinArray

if TYPE_CHECKING:
    from glasshouse.planting.graphs import GraphLike


@dataclass(frozen=True)
class Ground:
    """A graph with a cycle; an RBM's is complete bipartite and not stored until it must be.

    Attributes:
        graph: the graph, or None for an RBM.
        layers: (n, m) of an RBM, else (0, 0).
    """

    graph: Graph | None
    layers: tuple[int, int] = (0, 0)

    @classmethod
    def of(cls, graph: GraphLike | tuple[int, int]) -> Ground:
        """Ground from (n, m) or from whatever `Graph.of` takes; acyclic graphs are refused."""
        if isinstance(graph, (tuple, list)) and len(graph) == 2 and np.ndim(graph[0]) == 0:
            n, m = graph
            return cls(None, arguments.layer_sizes(n, m))
        known = Graph.of(graph)
        if known.num_nodes < 3:
            raise ValueError(f"{known!r} is too small for a cycle; give at least 3 nodes")
        if not len(known.core):
            raise ValueError(f"{known!r} has no cycle, so no loop fits; add edges")
        return cls(known)

    @property
    def num_variables(self) -> int:
        """Nodes of the graph, or visible and hidden spins."""
        return self.graph.num_nodes if self.graph else sum(self.layers)

    @property
    def half(self) -> Fraction:
        """The paper's n."""
        return arguments.half(self.num_variables, None if self.graph else self.layers[0])

    @property
    def is_bipartite(self) -> bool:
        """Whether all cycles have even length."""
        return self.graph is None or self.graph.is_bipartite

    @property
    def longest_cycle(self) -> int:
        """No cycle is longer than this."""
        return len(self.graph.core) if self.graph else 2 * min(self.layers)

    @property
    def parameter(self) -> Any:
        """The ground as a recipe holds it."""
        return self.graph.name if self.graph else list(self.layers)

    def stored(self) -> Graph:
        """The graph itself, stored even where it is an RBM's."""
        return self.graph if self.graph else Graph.layers(*self.layers)

    def rows(self, *, stored: bool) -> Rows:
        """Compressed rows for the kernel; empty where an RBM's need not be stored."""
        if self.graph or stored:
            return self.stored().core_rows
        none = np.empty(0, dtype=np.int32)
        return np.empty(0, dtype=np.int64), none, none, none.reshape(0, 2)

    def roots(self) -> npt.NDArray[np.int32]:
        """Where walks begin; empty stands for all spins."""
        return self.graph.core if self.graph else np.empty(0, dtype=np.int32)

    def plant(self, loops: Loops, state: SpinArray, loop_weight: int, recipe: Recipe) -> Planted:
        """The instance: an RBM, or an Ising problem."""
        if self.graph:
            labels = self.graph.labels
            kept = labels if naming.is_plain(labels) else None
            return Planted.of_ising(self.num_variables, loops, state, loop_weight, recipe, kept)
        return Planted.of_rbm(*self.layers, loops, state, loop_weight, recipe)

    def __str__(self) -> str:
        return repr(self.graph) if self.graph else f"{self.layers[0]} × {self.layers[1]} weights"
