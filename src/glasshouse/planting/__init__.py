"""Planting: problems grown from frustrated loops, with their ground state and its proof."""

from glasshouse.planting.bias_loops import bias_loops
from glasshouse.planting.classic_loops import classic_loops
from glasshouse.planting.decompose import decompose_loop
from glasshouse.planting.ensemble import Ensemble, random_loops_ensemble
from glasshouse.planting.graph_loops import graph_loops
from glasshouse.planting.graphs import Graph
from glasshouse.planting.loops import Loop, Loops
from glasshouse.planting.planted import Planted
from glasshouse.planting.random_loops import random_loops
from glasshouse.planting.randomness import Seed
from glasshouse.planting.recipe import Recipe
from glasshouse.planting.shuffling import shuffle
from glasshouse.planting.structured_graph_loops import structured_graph_loops
from glasshouse.planting.structured_loops import block_size, structured_loops
from glasshouse.planting.summary import Summary
from glasshouse.planting.uniform_max2sat import uniform_max2sat

__all__ = [
    "Ensemble",
    "Graph",
    "Loop",
    "Loops",
    "Planted",
    "Recipe",
    "Seed",
    "Summary",
    "bias_loops",
    "block_size",
    "classic_loops",
    "decompose_loop",
    "graph_loops",
    "random_loops",
    "random_loops_ensemble",
    "shuffle",
    "structured_graph_loops",
    "structured_loops",
    "uniform_max2sat",
]
