"""Shuffled instances: the same problem with its variables renamed at random.

In a planted RBM the visible spins come first, and loops leave their marks in the order of edges. A
solver could use that; a shuffled instance reveals nothing. The renaming is a function of the
recipe, so only a reader who has the recipe can undo it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glasshouse.planting.kernels.draws import permute
from glasshouse.planting.loops import Loops
from glasshouse.planting.recipe import Recipe
from glasshouse.problems import Clauses, Ising, MaxSat, Polynomial
from glasshouse.problems.renaming import renamed

if TYPE_CHECKING:
    from glasshouse.planting.planted import Planted

# A child of the recipe's seed that no instance of an ensemble has.
_SHUFFLE = 2**32 - 1


def shuffle(planted: Planted) -> Planted:
    """Rename all variables at random: spin k becomes spin `names(recipe, n)[k]`.

    An RBM becomes an Ising problem, because visible and hidden spins are mixed. Labels are removed:
    they would reveal the old names. On a chip's graph, the instance must be embedded again.
    Clauses of a WCNF file written from it come in random order too.

    >>> from glasshouse.planting import random_loops
    >>> plant = random_loops(6, 6, frustration="1/5", loops=3, rng=1)
    >>> mixed = shuffle(plant)
    >>> mixed.energy == plant.energy, mixed.recipe.parameters["shuffled"]
    (True, True)
    >>> mixed.verify()
    """
    if planted.recipe.parameters.get("shuffled"):
        raise ValueError("the instance is already shuffled; shuffle an instance that is not")
    recipe = replace(planted.recipe, parameters={**planted.recipe.parameters, "shuffled": True})
    if isinstance(planted.problem, MaxSat):
        return _shuffled_clauses(planted, planted.problem, recipe)
    source = planted.form
    new = names(planted.recipe, source.num_variables)
    problem, way = renamed(source, new)
    assert isinstance(problem, (Ising, Polynomial))
    table = planted.monomials.renamed(new).reduced(spins=True)
    others = source.num_variables + np.arange(len(table.starts))  # the ghost, and products
    with_ghost = np.concatenate([new, others]).astype(np.int32)
    loops = Loops(with_ghost[planted.loops.nodes], planted.loops.starts, planted.loops.weights)
    state = way.forward(planted.state)
    return replace(
        planted, problem=problem, state=state, loops=loops, recipe=recipe,
        squares=planted.squares.renamed(with_ghost), monomials=table,
    )  # fmt: skip


def _shuffled_clauses(planted: Planted, problem: MaxSat, recipe: Recipe) -> Planted:
    """Return the plant with renamed variables, and its clauses in random order."""
    new = names(recipe, problem.num_variables)
    soft = problem.num_clauses
    order = clause_order(recipe, soft + problem.num_hard)
    order = np.concatenate([order[order < soft], order[order >= soft]])
    parts = (problem.soft, order[:soft]), (problem.hard, order[soft:] - np.int32(soft))
    held = [_reordered(clauses, places, new) for clauses, places in parts]
    mixed = MaxSat(problem.num_variables, held[0], problem.weights[order[:soft]], held[1])
    state = np.empty_like(planted.state)
    state[new] = planted.state
    cores = planted.cores.renamed(new, np.argsort(order))
    return replace(planted, problem=mixed, state=state, cores=cores, recipe=recipe)


def _reordered(clauses: Clauses, order: npt.NDArray[Any], new: npt.NDArray[np.int32]) -> Clauses:
    """Return clauses in a different order, with variables renamed."""
    lengths = clauses.lengths[order]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    places = np.repeat(clauses.starts[:-1][order] - starts[:-1], lengths) + np.arange(starts[-1])
    literals = clauses.literals[places]
    return Clauses(np.sign(literals) * (new[np.abs(literals) - 1] + 1), starts)


def names(recipe: Recipe, size: int) -> npt.NDArray[np.int32]:
    """Return the new index of each of `size` variables."""
    return random_order(recipe, size, 0)


def clause_order(recipe: Recipe, size: int) -> npt.NDArray[np.int32]:
    """Return a random order of `size` clauses, independent of the variables' new names."""
    return random_order(recipe, size, 1)


def random_order(recipe: Recipe, size: int, stream: int) -> npt.NDArray[np.int32]:
    """Return a uniform random order that depends only on the recipe's seed and on `stream`."""
    order = np.arange(size, dtype=np.int32)
    permute(recipe.seed.child(_SHUFFLE).streams(2)[stream].copy(), order)
    return order
