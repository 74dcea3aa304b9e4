"""Shuffled instances: the same problem under other names, and a recipe that regrows it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.oracles import optimum

from glasshouse.planting import Planted, shuffle
from glasshouse.planting.methods import classic_loops, graph_loops, random_loops
from glasshouse.planting.shuffling import clause_order, names
from glasshouse.solvers import sweeps_to_solution
from glasshouse.studies.quantities.hardness import Annealer


def test_energies_move_with_the_names():
    plant = random_loops(5, 4, frustration="1/5", loops=6, rng=3)
    mixed = shuffle(plant)
    new = names(plant.recipe, 9)
    assert sorted(new.tolist()) == list(range(9))
    states = 2 * np.random.default_rng(1).integers(0, 2, (50, 9)) - 1
    moved = np.empty_like(states)
    moved[:, new] = states
    assert (mixed.problem.energy(moved) == plant.problem.energy(states)).all()
    assert optimum(mixed.problem)[0] == plant.energy
    mixed.verify()


def test_the_recipe_regrows_the_shuffled_instance():
    mixed = shuffle(random_loops(20, 20, frustration="1/5", loops=9, rng=3))
    assert Planted.from_recipe(mixed.recipe) == mixed
    with pytest.raises(ValueError, match="already shuffled"):
        shuffle(mixed)


def test_the_density_of_an_rbm_stays_that_of_its_visible_spins():
    options = {"loop_density": "1/2", "rng": 3}
    for plant in (
        random_loops(8, 20, frustration="1/5", **options),
        classic_loops((8, 20), **options),
        graph_loops("torus:4x4", frustration="1/5", **options),
    ):
        mixed = shuffle(plant).summary()
        assert mixed.loop_density == mixed.requested_loop_density == plant.summary().loop_density


def test_the_papers_n_of_an_rbm_survives_a_shuffle_wherever_it_is_asked_for():
    for plant in (
        random_loops(8, 20, frustration="1/5", loop_density="1/2", rng=3),
        classic_loops((8, 20), loop_density="1/2", rng=3),
    ):
        mixed = shuffle(plant)
        assert mixed.half == plant.half == 8
        assert Annealer().schedule(mixed) == Annealer().schedule(plant)
        once, again = (sweeps_to_solution(p, max_sweeps=1, rng=1) for p in (plant, mixed))
        assert (again.sweeps_per_run, again.beta) == (once.sweeps_per_run, once.beta)
    odd = graph_loops("complete:9", frustration="1/5", loops=4, rng=1)
    assert shuffle(odd).half == odd.half == Fraction(9, 2)


def test_variables_and_clauses_get_independent_orders():
    recipe = random_loops(20, 20, frustration="1/5", loops=9, rng=3).recipe
    assert names(recipe, 40).tolist() != clause_order(recipe, 40).tolist()
    assert clause_order(recipe, 40).tolist() == clause_order(recipe, 40).tolist()


def test_every_order_is_equally_likely():
    # 6 orders of 3 variables, 1,200 instances: chi-square with 5 degrees of freedom stays below
    # 25.7 except for one seed in 10,000; the seeds are fixed.
    counts: dict[tuple[int, ...], int] = {}
    for seed in range(1200):
        recipe = random_loops(2, 2, frustration=0, loops=1, rng=seed).recipe
        order = tuple(names(recipe, 3).tolist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6
    assert sum((c - 200) ** 2 / 200 for c in counts.values()) < 25.7
