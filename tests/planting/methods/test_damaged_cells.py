"""Cluster loops on chips with dead qubits and couplers, compared with enumeration and RC2."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.oracles import energies_of, rc2_cost
from tests.planting.test_golden import fingerprint

from glasshouse import files
from glasshouse.certificates import checker
from glasshouse.landscape import gauge
from glasshouse.planting import Plan, Planted, Recipe, Seed
from glasshouse.planting.demand import EffortError
from glasshouse.planting.graphs import Graph
from glasshouse.planting.methods.cluster_loops import cluster_loops
from glasshouse.problems.convert import to_max2sat


def couplers_of(rows: int, columns: int, shore: int) -> set[tuple[int, int]]:
    """The couplers of a perfect Chimera chip, from its definition."""
    qubit = np.arange(2 * shore * rows * columns).reshape(rows, columns, 2, shore)
    found = {
        (int(a), int(b)) for cell in qubit.reshape(-1, 2, shore) for a in cell[0] for b in cell[1]
    }
    found |= set(zip(qubit[:-1, :, 0].flat, qubit[1:, :, 0].flat, strict=True))
    found |= set(zip(qubit[:, :-1, 1].flat, qubit[:, 1:, 1].flat, strict=True))
    return {(int(i), int(j)) for i, j in found}


@st.composite
def damaged(draw: st.DrawFn, most_dead: int, *sizes: tuple[int, int, int]) -> dict[str, Any]:
    """Arguments of plants on chips with dead qubits and couplers."""
    rows, columns, shore = draw(st.sampled_from(sizes))
    pairs = sorted(couplers_of(rows, columns, shore))
    dead = draw(st.sets(st.sampled_from(range(2 * shore * rows * columns)), max_size=most_dead))
    cut = draw(st.sets(st.sampled_from(pairs), min_size=not dead, max_size=3))
    scale = draw(st.fractions(Fraction(1, 6), 1, max_denominator=6))
    loops = draw(st.integers(1, min(3, int(1 / scale))))  # no coupling gives more than 1
    words = [*map(str, dead), *(f"{i}-{j}" for i, j in cut)]
    return {
        "rows": rows, "columns": columns, "shore": shore, "scale": scale,
        "alpha": Fraction(loops, rows * columns),
        "without": ",".join(draw(st.permutations(words))), "rng": draw(st.integers(0, 2**64)),
        "ruggedness": draw(st.sampled_from([None, 3, 2])),
    }  # fmt: skip


def plant_or_none(**asked: Any) -> Planted | None:
    """Plant; None if the chip has no space for the loops, which is an error, tested below."""
    try:
        return cluster_loops(**asked)
    except ValueError as error:
        if "no space" in str(error) or "no cycle" in str(error):
            return None
        raise


def check_couplings(plant: Planted) -> None:
    """Every coupling is a living coupler; within cells all weigh the same, between them scale·J."""
    asked = plant.recipe.parameters
    rows, columns, shore = asked["rows"], asked["columns"], asked["shore"]
    words = asked["without"].split(",")
    dead = {int(word) for word in words if "-" not in word}
    cut = {tuple(map(int, word.split("-"))) for word in words if "-" in word}
    living = {pair for pair in couplers_of(rows, columns, shore) - cut if not dead & set(pair)}
    names = plant.problem.variables
    assert set(names) == set(range(2 * shore * rows * columns)) - dead
    form = gauge(plant.problem, plant.state)
    weight = {
        (names[i], names[j]): w
        for (i, j), w in zip(form.edges.tolist(), form.weights.tolist(), strict=True)
    }
    assert set(weight) <= living
    scale, between = Fraction(asked["scale"]), {}
    for i, j in living:
        cells = i // (2 * shore), j // (2 * shore)
        if cells[0] == cells[1]:
            assert weight[i, j] == scale.denominator
        else:
            between.setdefault(cells, set()).add(weight.get((i, j), 0))
    for weights in between.values():
        (only,) = weights
        assert only % scale.numerator == 0
        assert abs(only // scale.numerator) <= asked.get("ruggedness", only**2 + 1)


@given(damaged(3, (2, 2, 2)))
@settings(max_examples=60, deadline=None)
def test_the_planted_energy_is_the_minimum(asked):
    plant = plant_or_none(**asked)
    assume(plant is not None)
    plant.verify()
    energies = energies_of(plant.problem)
    assert energies.min() == plant.energy == plant.problem.energy(plant.state)
    stated = plant.summary().ground_states
    assert stated.is_exact
    assert stated.least == (energies == plant.energy).sum()
    check_couplings(plant)
    assert Planted.from_recipe(plant.recipe) == plant


def test_heavy_damage_keeps_the_minimum():
    """Enumerate all states of plants with at most 18 living spins of 24, in cells of six."""
    rng, planted = np.random.default_rng(1), 0
    for seed in range(40):
        dead = rng.choice(24, int(rng.integers(6, 9)), replace=False)
        asked = {"scale": Fraction(int(rng.integers(1, 7)), 4), "without": ",".join(map(str, dead))}
        plant = plant_or_none(rows=2, alpha="1/2", shore=3, **asked, rng=seed)
        if plant is None:
            continue
        planted += 1
        plant.verify()
        check_couplings(plant)
        assert energies_of(plant.problem).min() == plant.energy
    assert planted >= 10


@given(damaged(6, (2, 3, 2), (3, 3, 2), (2, 2, 3), (3, 3, 4)))
@settings(max_examples=60, deadline=None)
def test_rc2_and_both_checkers_agree(tmp_path_factory, asked):
    plant = plant_or_none(**asked)
    assume(plant is not None)
    plant.verify()
    check_couplings(plant)
    clauses, reduction = to_max2sat(plant.problem)
    assert reduction.source_energy(rc2_cost(clauses)) == plant.energy
    path = tmp_path_factory.getbasetemp() / "chip.wcnf"
    files.write(path, plant, overwrite=True)
    cost, least = checker.check(path.read_text(), files.side_car(path).read_text())
    assert cost == least
    assert files.read_document(path).proven.verdict.energy == cost


@pytest.mark.parametrize("family", ["2 %", "10 %", "couplers"])
def test_a_chip_of_2048_qubits(family):
    rng = np.random.default_rng(7)
    if family == "couplers":
        pairs = sorted(couplers_of(16, 16, 4))
        words = [f"{i}-{j}" for i, j in (pairs[k] for k in rng.choice(len(pairs), 60, False))]
    else:
        words = [str(k) for k in rng.choice(2048, 2048 * int(family[:-2]) // 100, False)]
    scale = 2 if family == "2 %" else 1
    plant = cluster_loops(16, alpha="1/4", scale=scale, without=",".join(words), rng=1)
    plant.verify()
    check_couplings(plant)
    asked = Plan.of(plant.recipe).demand
    assert asked.spins == plant.problem.num_variables
    assert asked.parts >= plant.loops.num_loops
    pytest.importorskip("dwave.graphs")
    chip = Graph.parse(f"chimera:16x16x4 without {plant.recipe.parameters['without']}")
    assert chip.labels == plant.problem.variables
    assert set(map(tuple, plant.problem.edges.tolist())) <= set(map(tuple, chip.edges.tolist()))


def test_weak_edges_would_break_if_any_edge_of_a_loop_were_negative():
    """A refused loop is indeed wrong: its weakest edge is a positive one."""
    plant = cluster_loops(2, alpha="1/4", shore=2, scale="1/2", without="0-8", rng=1)
    form = gauge(plant.problem, plant.state)
    cells = form.edges // 4
    negative = {tuple(pair) for pair in cells[form.weights < 0].tolist()}
    assert negative == {(0, 2)}  # the edge with one living coupler
    weights = np.where((cells == (0, 2)).all(axis=1), 1, form.weights)
    weights = np.where((cells == (1, 3)).all(axis=1), -1, weights)
    moved = type(form)(16, form.edges, weights, form.fields)
    assert energies_of(moved).min() < moved.energy(np.ones(16, np.int8))


def test_recipes_list_dead_qubits_in_order():
    plant = cluster_loops(4, alpha="1/4", without="17,3-4,3,0-4,17,0-32", rng=1)
    assert plant.recipe.parameters["without"] == "3,17,0-4,0-32"
    again = cluster_loops(4, alpha="1/4", without="3,17,0-4,0-32", rng=1)
    assert plant == again


def test_seeds_grow_what_they_always_grew():
    plant = cluster_loops(4, columns=5, alpha="1/2", scale="4/3", without="3,17,0-4", rng=1)
    assert fingerprint(plant) == "0a46aa254051981f"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"without": ""}, "must end in .without. and dead nodes or edges"),
        ({"without": "3, 17"}, "must end in .without."),
        ({"without": 3.5}, "must end in .without."),
        ({"without": "128"}, "dead qubit 128 is not one of the 128 qubits of the chip"),
        ({"without": "0-1"}, "dead coupler 0-1 is not a coupler"),
        ({"without": "0-12"}, "dead coupler 0-12 is not a coupler"),
        ({"without": "4-36"}, "dead coupler 4-36 is not a coupler"),
        ({"without": "0-8"}, "dead coupler 0-8 is not a coupler"),
        ({"without": "28-36"}, "dead coupler 28-36 is not a coupler"),  # the end of a row
        ({"without": "96-128"}, "dead coupler 96-128 is not a coupler"),
        ({"without": "1", "shore": 17}, "shore=17 is above 16, the limit with dead qubits"),
        ({"without": "1", "rows": 2, "scale": 4, "alpha": 1}, "no space for 4 loops on 2 × 2"),
        ({"without": "0,1,2,3", "rows": 2}, "without 0,1,2,3 has no cycle of whole cells"),
        ({"without": "1", "state": "+" * 128}, "state"),
    ],
)
def test_corners_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        cluster_loops(**({"rows": 4, "alpha": "1/4", "rng": 1} | arguments))


def test_steps_are_limited():
    recipe = Recipe("cluster_loops", {"rows": 9, "alpha": "1/2", "without": "1"}, Seed(1))
    with pytest.raises(EffortError):
        Planted.from_recipe(recipe, steps=100_000)
