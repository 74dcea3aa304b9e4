"""Properties of every plant, for all methods."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import energies_of, optimum, rc2_cost
from tests.planting.plants import plants, random_plants, structured_plants

from glasshouse.certificates import CertificateError, Squares
from glasshouse.landscape import frustration_index
from glasshouse.planting import Loops, Planted, Recipe, Seed
from glasshouse.planting.methods import bias_loops, random_loops, structured_loops, uniform_max2sat
from glasshouse.planting.shuffling import shuffle
from glasshouse.problems import Ising, Rbm
from glasshouse.problems.convert import to_max2sat

METHODS = {
    "random": lambda rng: random_loops(5, 4, frustration="1/5", loops=6, rng=rng),
    "normal": lambda rng: random_loops(5, 4, frustration="1/5", loops=6, weights="normal", rng=rng),
    "structured": lambda rng: structured_loops(
        6, 5, frustration="0.24", block="1/2", left="1/4", upper="1/4", loops=8, rng=rng
    ),
    "one ghost": lambda rng: bias_loops(
        5, 4, frustration="1/5", loops=6, bias_strength="3/2", rng=rng
    ),
    "two ghosts": lambda rng: bias_loops(5, 4, frustration="1/3", loops=6, ghosts=2, rng=rng),
    "uniform": lambda rng: uniform_max2sat(6, 6, clause_density=1, rng=rng),
}


@given(plants())
@settings(max_examples=150, deadline=None)
def test_planted_energy_is_the_minimum(plant: Planted) -> None:
    plant.verify()
    assert energies_of(plant.problem).min() == plant.energy
    assert plant.problem.energy(plant.state) == plant.energy


@pytest.mark.slow
@given(plants(most=16))
@settings(max_examples=500, deadline=None)
def test_planted_energy_is_the_minimum_of_larger_plants(plant: Planted) -> None:
    plant.verify()
    assert energies_of(plant.problem).min() == plant.energy


@given(st.one_of(random_plants(equal=True), structured_plants()))
@settings(max_examples=60, deadline=None)
def test_energy_and_frustration_are_exactly_as_requested(plant: Planted) -> None:
    f = Fraction(plant.recipe.parameters["frustration"])
    alpha = 3 * f / (1 - f)
    assert plant.energy == -len(plant.loops) * (3 - alpha) * plant.loop_weight
    assert frustration_index(plant.problem, plant.state) == f
    assert plant.summary().frustration == f == plant.summary().requested_frustration


@given(random_plants(equal=True))
@settings(max_examples=40, deadline=None)
def test_degeneracy_is_two_to_the_number_of_components_below_one_quarter(plant: Planted) -> None:
    summary = plant.summary()
    count = int((energies_of(plant.problem) == plant.energy).sum())
    if 0 <= summary.frustration < Fraction(1, 4):
        assert count == summary.ground_states.least == 2**summary.components
    else:
        assert count >= summary.ground_states.least


@given(plants())
@settings(max_examples=40, deadline=None)
def test_degeneracy_lower_bound_holds(plant: Planted) -> None:
    found, stated = len(optimum(plant.problem)[1]), plant.summary().ground_states
    assert found == stated.least if stated.is_exact else found >= stated.least


@given(plants(), st.data())
@settings(max_examples=40, deadline=None)
def test_regauging_moves_the_plant_and_nothing_else(plant: Planted, data: st.DataObject) -> None:
    size = plant.problem.num_variables
    spins = st.lists(st.sampled_from([-1, 1]), min_size=size, max_size=size)
    moved = plant.regauge(data.draw(spins))
    moved.verify()
    assert moved.energy == plant.energy == moved.problem.energy(moved.state)
    assert sorted(energies_of(moved.problem)) == sorted(energies_of(plant.problem))
    assert moved.loops == plant.loops
    assert Planted.from_recipe(moved.recipe) == moved
    back = moved.regauge(plant.state)
    assert (back.problem, back.state.tolist()) == (plant.problem, plant.state.tolist())


@given(plants())
@settings(max_examples=40, deadline=None)
def test_a_recipe_grows_the_instance_again(plant: Planted) -> None:
    again = Planted.from_recipe(Recipe.from_json(plant.recipe.to_json()))
    assert again == plant
    assert hash(again) == hash(plant)


@pytest.mark.parametrize("name", METHODS)
def test_a_given_state_is_planted_and_leaves_the_loops_alone(name: str) -> None:
    plant = METHODS[name](3)
    state = np.ones(plant.problem.num_variables, dtype=np.int8)
    recipe = replace(
        plant.recipe, parameters={**plant.recipe.parameters, "state": "+" * len(state)}
    )
    same = Planted.from_recipe(recipe)
    assert same.loops == plant.loops
    assert same.state.tolist() == state.tolist()
    assert same == plant.regauge(state)


def test_shuffled_plants_are_regauged_by_their_new_names() -> None:
    plant = shuffle(METHODS["random"](1))
    moved = plant.regauge("+-" * 4 + "+")
    moved.verify()
    assert moved.state.tolist() == [1, -1] * 4 + [1]
    assert Planted.from_recipe(moved.recipe) == moved


@pytest.mark.parametrize("name", METHODS)
def test_different_seeds_give_different_instances(name: str) -> None:
    assert len({METHODS[name](rng) for rng in range(20)}) == 20


def test_rc2_agrees_on_larger_plants() -> None:
    larger = [
        random_loops(40, 40, frustration="1/5", loop_density="1/2", rng=1),
        random_loops(30, 30, frustration="1/8", loop_density=2, rng=2),
        structured_loops(12, 12, frustration="0.2", block="1/3", loops=30, rng=3),
        bias_loops(20, 20, frustration="1/5", loop_density=2, rng=4),
        bias_loops(20, 20, frustration="1/4", loop_density=1, ghosts=2, rng=5),
        uniform_max2sat(40, 40, clause_density="3/2", rng=6),
    ]
    for plant in larger:
        clauses, reduction = to_max2sat(plant.problem)
        assert reduction.source_energy(rc2_cost(clauses)) == plant.energy


# Corruption ------------------------------------------------------------------------------------


def corrupted(plant: Planted) -> dict[str, Planted]:
    """The plant with one thing changed, for every thing there is."""
    ising, loops = plant.ising, plant.loops
    bad: dict[str, Planted] = {}

    def problem(name: str, **changes: object) -> None:
        parts = {
            "num_variables": ising.num_variables,
            "edges": ising.edges,
            "weights": ising.weights,
        }
        parts |= {"fields": ising.fields, "offset": ising.offset} | changes
        bad[name] = replace(plant, problem=Ising(**parts))

    for k in range(ising.num_edges):
        for what, value in (("up", 1), ("down", -1), ("turned", -2 * ising.weights[k])):
            weights = ising.weights.copy()
            weights[k] += value
            problem(f"weight {k} {what}", weights=weights)
        keep = np.arange(ising.num_edges) != k
        problem(f"edge {k} gone", edges=ising.edges[keep], weights=ising.weights[keep])
    for k in range(ising.num_variables):
        fields = ising.fields.copy()
        fields[k] += 1
        problem(f"field {k}", fields=fields)
    problem("offset", offset=1)
    touched = np.unique(ising.edges)
    for k in touched:
        state = plant.state.copy()
        state[k] *= -1
        bad[f"spin {k}"] = replace(plant, state=state)
    bad["energy up"] = replace(plant, energy=plant.energy + 1)
    bad["energy down"] = replace(plant, energy=plant.energy - 2)
    bad["energy of a float"] = replace(plant, energy=float(plant.energy))
    bad["loop weight"] = replace(plant, loop_weight=int(loops.positive_weights.max()) + 1)
    bad["no loop weight"] = replace(plant, loop_weight=0)
    if plant.recipe.parameters.get("weights") != "normal":
        bad["loop weight up"] = replace(plant, loop_weight=plant.loop_weight + 1)
    for k in range(len(loops.nodes)):
        for name, array, value in (
            ("node", loops.nodes, (loops.nodes[k] + 1) % ising.num_variables),
            ("weight up", loops.weights, loops.weights[k] + 1),
            ("weight down", loops.weights, loops.weights[k] - 1),
            ("weight turned", loops.weights, -loops.weights[k]),
        ):
            changed = array.copy()
            changed[k] = value
            field = "nodes" if name == "node" else "weights"
            bad[f"loop {name} {k}"] = replace(plant, loops=_forced(loops, **{field: changed}))
    for k in range(len(loops.starts)):
        starts = loops.starts.copy()
        starts[k] += 1
        bad[f"start {k}"] = replace(plant, loops=_forced(loops, starts=starts))
    bad["last loop gone"] = replace(
        plant,
        loops=_forced(
            loops,
            nodes=loops.nodes[: loops.starts[-2]],
            weights=loops.weights[: loops.starts[-2]],
            starts=loops.starts[:-1],
        ),
    )
    return bad


def holds(plant: Planted) -> bool:
    try:
        plant.verify()
    except CertificateError:
        return False
    return True


def _forced(loops: Loops, **arrays: np.ndarray) -> Loops:
    """Return loops with other arrays, without the checks."""
    copy = Loops(loops.nodes, loops.starts, loops.weights)
    for name, value in arrays.items():
        object.__setattr__(copy, name, value)
    return copy


@pytest.mark.parametrize("name", METHODS)
def test_verify_refuses_every_corruption(name: str) -> None:
    plant = METHODS[name](1)
    for what, bad in corrupted(plant).items():
        assert not holds(bad), f"{what} went unnoticed"


def test_verify_refuses_a_plant_whose_loops_are_no_plant() -> None:
    loops = _forced(Loops.of_length([[3, 0, 4, 1]], positive=2, negative=-2))
    stronger = _forced(loops, weights=np.array([2, 2, 2, -3]))
    recipe = Recipe("random_loops", {}, Seed(0))
    problem = Rbm([[2, 2], [-3, 2], [0, 0]])
    bad = Planted(problem, np.ones(5, dtype=np.int8), -3, 2, stronger, recipe)
    assert optimum(problem)[0] < -3
    with pytest.raises(CertificateError, match="loop 0 has the weights"):
        bad.verify()


def test_verify_holds_where_weights_cancelled() -> None:
    loops = Loops.of_length([[0, 1, 2, 3], [0, 3, 4, 5]], positive=1, negative=-1)
    recipe = Recipe("graph_loops", {}, Seed(0))
    plant = Planted.of_ising(6, loops, np.array([1, -1, 1, 1, -1, 1], dtype=np.int8), 1, recipe)
    assert [0, 3] not in plant.ising.edges.tolist()
    plant.verify()
    assert optimum(plant.ising)[0] == plant.energy == -4


def test_unknown_methods_and_parameters_are_refused() -> None:
    with pytest.raises(ValueError, match="'os' is not one of random_loops"):
        Planted.from_recipe(Recipe("os", {}, Seed(0)))
    recipe = Recipe("random_loops", {"n": 3, "m": 3, "size": 2}, Seed(0))
    with pytest.raises(ValueError, match="do not fit random_loops"):
        Planted.from_recipe(recipe)


def test_a_denominator_must_divide_and_squares_must_fit() -> None:
    loops = Loops.of_length([[0, 1, 2]], positive=3, negative=-3)
    state, recipe = np.ones(3, dtype=np.int8), Recipe("none", {}, Seed(1))
    with pytest.raises(ValueError, match="must divide all summed weights"):
        Planted.of_ising(3, loops, state, 1, recipe, denominator=2)
    wide = Squares.of([[(0, 2**40), (1, 2**40)]])
    with pytest.raises(ValueError, match="more than 2\\^63-1"):
        Planted.of_squares(2, wide, state[:2], recipe)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda values: values.pop("seed"), "exactly"),
        (lambda values: values.update(more=1), "exactly"),
        (lambda values: values.update(seed=-1), "integers"),
        (lambda values: values.update(seed=True), "integers"),
        (lambda values: values.update(spawn_key=7), "integers"),
        (lambda values: values.update(spawn_key=[0] * 10_000), "at most"),
        (lambda values: values.update(parameters=[1]), "JSON object"),
        (lambda values: values.update(parameters={"n": 0.5}), "fractions as strings"),
        (lambda values: values.update(method=3), "must be strings"),
    ],
)
def test_a_recipe_that_is_none_is_refused(change, match):
    values = json.loads(random_loops(9, 9, frustration="1/5", loops=4, rng=1).recipe.to_json())
    change(values)
    with pytest.raises(ValueError, match=match):
        Recipe.from_json(json.dumps(values))
    with pytest.raises(ValueError, match="must be JSON"):
        Recipe.from_json("{")
