"""The catalogue of planting methods: what a recipe's `method` can name.

A method is a function of keyword arguments that returns a `Planted`, in the module of the same
name. `grow_recipe` imports the one it needs and calls it with the recipe's parameters, so a method
must accept whatever it writes into its recipes. It checks all its arguments before it asks for
its seed (`Seed.of(rng)`), so that a study can have them checked without growing anything.
"""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING

from glasshouse.planting.shuffling import shuffle

if TYPE_CHECKING:
    from glasshouse.planting.planted import Planted
    from glasshouse.planting.recipe import Recipe

CATALOGUE = (
    "random_loops",
    "structured_loops",
    "bias_loops",
    "uniform_max2sat",
    "classic_loops",
    "graph_loops",
    "structured_graph_loops",
)


def grow_recipe(recipe: Recipe) -> Planted:
    """Run the method that a recipe names, with its parameters and seed."""
    if recipe.method not in CATALOGUE:
        raise ValueError(
            f"method {recipe.method!r} is not one of {', '.join(CATALOGUE)}; the recipe was "
            f"written by glasshouse {recipe.version}"
        )
    method = getattr(import_module(f"glasshouse.planting.{recipe.method}"), recipe.method)
    parameters = dict(recipe.parameters)
    shuffled = parameters.pop("shuffled", False)
    try:
        call = signature(method).bind(**parameters, rng=recipe.seed)
    except TypeError as error:
        raise ValueError(f"the recipe's parameters do not fit {recipe.method}: {error}") from error
    planted: Planted = method(*call.args, **call.kwargs)
    return shuffle(planted) if shuffled else planted
