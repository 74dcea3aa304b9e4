"""What a recipe asks for, counted before anything of it is grown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from glasshouse.planting import arguments
from glasshouse.planting.graph_names import MACHINES, GraphName
from glasshouse.planting.recipe import Recipe

# Bytes that growing takes, about.
_NODE, _EDGE, _LOOP = 64, 64, 64
_MACHINE_EDGE = 512  # networkx builds it
_LAYER = 1024  # arrays of its own


@dataclass(frozen=True)
class Demand:
    """The size of what a recipe grows.

    Attributes:
        spins: how many, exactly.
        loops: how many, exactly.
        memory: how many bytes growing takes, about.
    """

    spins: int
    loops: int
    memory: int

    @classmethod
    def of(cls, recipe: Recipe) -> Demand:
        """Count what a recipe of any method asks for.

        >>> from glasshouse.planting import Seed
        >>> parameters = {"graph": "complete:20000", "frustration": "1/3", "loops": 5}
        >>> Demand.of(Recipe("graph_loops", parameters, Seed(1)))
        Demand(spins=20000, loops=5, memory=12800641344)

        Raises:
            ValueError: the parameters are none that its method could have written.
        """
        asked = recipe.parameters
        graph = asked.get("graph")
        if isinstance(graph, str):
            name = GraphName.parse(graph)
            extent = name.extent
            edges = extent.edges * (_MACHINE_EDGE if name.family in MACHINES else _EDGE)
            spins, half = extent.nodes, Fraction(extent.nodes, 2)
            memory = edges + _NODE * (extent.nodes + extent.dead) + _LAYER * len(name.sizes)
        else:
            n, m = _layers(asked)
            spins, half = n + m, Fraction(n)
            # Only where weights are limited is the complete graph of an RBM stored.
            is_stored = graph is not None and asked.get("max_weight") is not None
            memory = _NODE * spins + (_EDGE * n * m if is_stored else 0)
        loops = _loops(asked, spins, half)
        return cls(spins, loops, memory + _LOOP * loops)


def _layers(asked: Mapping[str, Any]) -> tuple[int, int]:
    sizes = asked.get("graph", [asked.get("n"), asked.get("m")])
    if not isinstance(sizes, list) or len(sizes) != 2:
        raise ValueError("a recipe's graph is a name such as 'torus:8x8', or two sizes")
    return arguments.layer_sizes(*sizes)


def _loops(asked: Mapping[str, Any], spins: int, half: Fraction) -> int:
    if "clause_density" in asked:
        density = arguments.ratio(asked["clause_density"], "clause_density")
        return math.ceil(density * spins / 8)
    return arguments.loop_count(asked.get("loops"), asked.get("loop_density"), half)
