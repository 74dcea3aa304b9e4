"""Every method in the catalogue keeps the promises of a planting method."""

from __future__ import annotations

import inspect

import pytest
from tests.planting.examples import EXAMPLES, grown

from glasshouse.files import read_planted, write
from glasshouse.planting import METHODS, Plan, Planted, Recipe, Seed, planting_method, shuffle
from glasshouse.problems import Polynomial, Rbm
from glasshouse.studies import Task


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_plant_is_proven_and_its_recipe_grows_it_again(example):
    plant = grown(example)
    plant.verify()
    assert plant.recipe.method == example.split()[0]
    assert Planted.from_recipe(Recipe.from_json(plant.recipe.to_json())) == plant
    assert Planted.from_recipe(shuffle(plant).recipe) == shuffle(plant)
    assert grown(example, seed=2) != plant


@pytest.mark.parametrize("example", EXAMPLES)
def test_spins_and_loops_are_known_from_the_recipe(example):
    plant = grown(example)
    asked = Plan.of(plant.recipe).demand
    assert asked.spins == plant.problem.num_variables
    assert asked.parts >= plant.loops.num_loops + plant.squares.num_squares
    assert 0 < asked.memory < 10**6


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_file_is_regrown_from_its_recipe(example, tmp_path):
    plant = grown(example)
    path = tmp_path / ("x.hubo" if isinstance(plant.problem, Polynomial) else "x.coo")
    write(path, plant)
    assert read_planted(path) == plant


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_study_takes_the_method(example):
    name, number = example.split()
    parameters = METHODS[name].examples[int(number)]
    task = Task(name, parameters, measures="shapes")
    task.grow(3).verify()
    assert task == Task.from_canonical(task.canonical(), task.stop)


@pytest.mark.parametrize("name", METHODS)
def test_the_entry_tells_the_truth(name):
    method, plant = METHODS[name], grown(f"{name} 0")
    assert isinstance(plant.problem, Rbm) == method.grows_on.startswith("rbm")
    assert ("graph" in method.parameters) == ("graph" in method.grows_on)
    assert set(method.knobs) <= set(method.parameters)
    described = inspect.getdoc(method.function)
    for parameter in method.parameters:
        assert f"\n    {parameter}: " in described


def test_a_name_is_given_once():
    with pytest.raises(ValueError, match="the planting method 'random_loops' already exists"):

        @planting_method("other", grows_on="rbm", examples=())
        def random_loops():
            """Not the one that is meant."""

    assert METHODS["random_loops"].command == "random"


def test_an_unknown_method_names_the_known_ones():
    recipe = Recipe("magic_loops", {"n": 4}, Seed(1), "99.0")
    with pytest.raises(ValueError, match=r"one of .*random_loops.*written by glasshouse 99\.0"):
        Planted.from_recipe(recipe)
    with pytest.raises(ValueError, match=r"do not fit random_loops.*missing.*'m'"):
        Planted.from_recipe(Recipe("random_loops", {"n": 4, "frustration": "1/5"}, Seed(1)))
