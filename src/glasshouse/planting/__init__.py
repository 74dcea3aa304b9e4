"""Planting: problems grown from frustrated loops, with their ground state and its proof.

* `method`: the catalogue of planting methods; `methods`: one file for each family of them;
* `arguments`: checks that all methods share; `graphs`, `graph_names`: the graphs that they grow on;
* `planted`: an instance; `loops`: its loops; `recipe`: all data to grow it again;
* `demand`: limits on what a recipe may request; `shuffling`: random renaming of variables;
* `summary`: requested next to realised values; `counting`: the number of ground states.
"""

from glasshouse.planting.demand import Demand
from glasshouse.planting.graphs import Graph
from glasshouse.planting.loops import Loop, Loops, decompose_loop
from glasshouse.planting.method import METHODS, Method, Plan, planting_method
from glasshouse.planting.methods import *  # noqa: F403
from glasshouse.planting.methods.ensemble import Ensemble, random_loops_ensemble
from glasshouse.planting.methods.structured_loops import block_size
from glasshouse.planting.planted import Planted
from glasshouse.planting.recipe import Recipe
from glasshouse.planting.shuffling import shuffle
from glasshouse.planting.summary import Summary
from glasshouse.randomness import Seed

__all__ = [
    "METHODS", "Demand", "Ensemble", "Graph", "Loop", "Loops", "Method", "Plan", "Planted",
    "Recipe", "Seed", "Summary", "block_size", "decompose_loop", "planting_method",
    "random_loops_ensemble", "shuffle",
]  # fmt: skip
__all__ += METHODS
