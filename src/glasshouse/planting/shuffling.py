"""Shuffled instances: the same problem with its variables renamed at random.

In a planted RBM the visible spins come first, and loops leave their marks in the order of edges. A
solver could use that; a shuffled instance reveals nothing. The renaming is a function of the
recipe, so only a reader who has the recipe can undo it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from glasshouse.planting.kernels.draws import permute
from glasshouse.planting.loops import Loops
from glasshouse.planting.recipe import Recipe
from glasshouse.problems import Ising
from glasshouse.problems.renaming import renamed

if TYPE_CHECKING:
    from glasshouse.planting.planted import Planted

# A child of the recipe's seed that no instance of an ensemble has.
_SHUFFLE = 2**32 - 1


def shuffle(planted: Planted) -> Planted:
    """Rename all variables at random; spin k becomes spin `names(recipe, n)[k]`.

    The problem becomes an Ising problem, because visible and hidden spins are mixed. Labels are
    removed, because they would reveal the old names: on a chip's graph, a shuffled instance must be
    embedded again. Clauses of a WCNF file written from it are in random order, too.

    >>> from glasshouse.planting import random_loops
    >>> plant = random_loops(6, 6, frustration="1/5", loops=3, rng=1)
    >>> mixed = shuffle(plant)
    >>> mixed.energy == plant.energy, mixed.recipe.parameters["shuffled"]
    (True, True)
    >>> mixed.verify()
    """
    if planted.recipe.parameters.get("shuffled"):
        raise ValueError("the instance is already shuffled")
    source = planted.ising
    new = names(planted.recipe, source.num_variables)
    problem, way = renamed(source, new)
    assert isinstance(problem, Ising)
    with_ghost = np.append(new, source.num_variables).astype(np.int32)
    loops = Loops(with_ghost[planted.loops.nodes], planted.loops.starts, planted.loops.weights)
    recipe = replace(planted.recipe, parameters={**planted.recipe.parameters, "shuffled": True})
    state = way.forward(planted.state)
    return replace(
        planted, problem=problem, state=state, loops=loops, recipe=recipe,
        squares=planted.squares.renamed(with_ghost),
    )  # fmt: skip


def names(recipe: Recipe, size: int) -> npt.NDArray[np.int32]:
    """Return the new index of each of `size` variables."""
    return random_order(recipe, size, 0)


def clause_order(recipe: Recipe, size: int) -> npt.NDArray[np.int32]:
    """Return a random order of `size` clauses, independent of the variables' new names."""
    return random_order(recipe, size, 1)


def random_order(recipe: Recipe, size: int, stream: int) -> npt.NDArray[np.int32]:
    """Return a uniform random order that depends only on the recipe's seed."""
    order = np.arange(size, dtype=np.int32)
    permute(recipe.seed.child(_SHUFFLE).streams(2)[stream].copy(), order)
    return order
