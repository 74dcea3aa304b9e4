"""Planting: problems grown from frustrated loops, with their ground state and its proof."""

from glasshouse.planting.decompose import decompose_loop
from glasshouse.planting.ensemble import Ensemble, random_loops_ensemble
from glasshouse.planting.graphs import Graph
from glasshouse.planting.loops import Loop, Loops
from glasshouse.planting.method import METHODS, Method, planting_method
from glasshouse.planting.methods import *  # noqa: F403
from glasshouse.planting.planted import Planted
from glasshouse.planting.recipe import Recipe
from glasshouse.planting.shuffling import shuffle
from glasshouse.planting.structured_loops import block_size
from glasshouse.planting.summary import Summary
from glasshouse.randomness import Seed

__all__ = [
    "METHODS",
    "Ensemble",
    "Graph",
    "Loop",
    "Loops",
    "Method",
    "Planted",
    "Recipe",
    "Seed",
    "Summary",
    "block_size",
    "decompose_loop",
    "planting_method",
    "random_loops_ensemble",
    "shuffle",
]
__all__ += METHODS
