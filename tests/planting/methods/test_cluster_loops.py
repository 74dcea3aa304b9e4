"""Deceptive cluster loops: cells that stay whole, beside enumeration and beside RC2."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.oracles import energies_of, rc2_cost
from tests.planting.test_golden import fingerprint

from glasshouse.landscape import gauge
from glasshouse.planting import Plan, Planted, Recipe, Seed
from glasshouse.planting.graphs import Graph
from glasshouse.planting.methods.cluster_loops import cluster_loops
from glasshouse.problems import Ising
from glasshouse.problems.convert import to_max2sat

seeds = st.integers(0, 2**64)


def plant_or_assume(**options) -> Planted:
    """Options that leave no room are an error, tested below."""
    try:
        return cluster_loops(**options)
    except ValueError as error:
        assume("no space" not in str(error))
        raise


@st.composite
def options(draw: st.DrawFn, *sizes: tuple[int, int, int]) -> dict[str, Any]:
    """Arguments of plants: rows, columns, and spins of a shore."""
    rows, columns, shore = draw(st.sampled_from(sizes))
    scale = draw(st.fractions(Fraction(1, 6), shore, max_denominator=6))
    loops = draw(st.integers(1, min(6, int(shore / scale))))
    return {
        "rows": rows, "columns": columns, "shore": shore, "scale": scale,
        "alpha": Fraction(loops, rows * columns), "rng": draw(seeds),
        "ruggedness": draw(st.sampled_from([None, None, 2, 1] if loops < 3 else [None])),
    }  # fmt: skip


@given(options((2, 2, 2)))
@settings(max_examples=60, deadline=None)
def test_the_planted_energy_is_the_minimum(asked):
    plant = plant_or_assume(**asked)
    plant.verify()
    energies = energies_of(plant.problem)
    assert energies.min() == plant.energy == plant.problem.energy(plant.state)
    stated = plant.summary().ground_states
    assert stated.is_exact
    assert stated.least == (energies == plant.energy).sum()
    assert Planted.from_recipe(plant.recipe) == plant


@given(options((2, 3, 2), (3, 3, 2), (2, 2, 3), (2, 3, 4)))
@settings(max_examples=60, deadline=None)
def test_rc2_finds_the_planted_energy(asked):
    plant = plant_or_assume(**asked)
    plant.verify()
    clauses, reduction = to_max2sat(plant.problem)
    assert reduction.source_energy(rc2_cost(clauses)) == plant.energy


def cell_weights(plant: Planted) -> tuple[set[int], dict[tuple[int, int], int]]:
    """The weights within cells, and that between two cells in units of the scale."""
    shore, scale = plant.recipe.parameters["shore"], Fraction(plant.recipe.parameters["scale"])
    form = gauge(plant.problem, plant.state)
    cells = form.edges // (2 * shore)
    inside = cells[:, 0] == cells[:, 1]
    between: dict[tuple[int, int], list[int]] = {}
    for pair, weight in zip(cells[~inside].tolist(), form.weights[~inside].tolist(), strict=True):
        between.setdefault((pair[0], pair[1]), []).append(weight)
    for weights in between.values():
        assert len(weights) == shore
        assert len(set(weights)) == 1
        assert weights[0] % scale.numerator == 0
    return set(form.weights[inside].tolist()), {
        pair: weights[0] // scale.numerator for pair, weights in between.items()
    }


@pytest.mark.parametrize("rng", range(5))
@pytest.mark.parametrize(("alpha", "scale", "ruggedness"), [("1/4", "2", 1), ("1/2", "3/4", 2),
                                                            ("1/10", 4, None)])  # fmt: skip
def test_couplings_are_those_of_the_paper(alpha, scale, ruggedness, rng):
    plant = cluster_loops(6, columns=7, alpha=alpha, scale=scale, ruggedness=ruggedness, rng=rng)
    inside, between = cell_weights(plant)
    assert inside == {Fraction(scale).denominator}
    assert ruggedness is None or max(map(abs, between.values())) <= ruggedness
    pytest.importorskip("dwave.graphs")
    chimera = set(map(tuple, Graph.chimera(6, 7).edges.tolist()))
    assert set(map(tuple, plant.problem.edges.tolist())) <= chimera


def test_a_scale_above_the_shore_would_break_cells():
    """A refused plant is indeed wrong: one loop of four cells, scaled beyond the limit."""
    plant = cluster_loops(2, alpha="1/4", shore=2, scale=2, rng=1)
    cells = plant.problem.edges // 4
    inside = cells[:, 0] == cells[:, 1]
    for factor, is_ground in ((1, True), (2, False)):
        weights = np.where(inside, plant.problem.weights, factor * plant.problem.weights)
        scaled = Ising(16, plant.problem.edges, weights, plant.problem.fields)
        assert (energies_of(scaled).min() == scaled.energy(plant.state)) == is_ground


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scale": 5}, "scale=5 must be above 0 and at most shore=4; above it, cells break"),
        ({"scale": 0}, "scale=0 must be above 0"),
        ({"scale": "-1"}, "scale=-1 must be above 0"),
        ({"scale": Fraction(1, 2**21)}, "at most 2\\^20"),
        (
            {"scale": 4, "alpha": 1},
            "no space for 16 loops on 4 × 4 cells, where at most 1 may turn in a cell",
        ),
        ({"alpha": 0}, "alpha=0 must be above 0"),
        ({"alpha": 2**60}, "more than 2\\^28 loops"),
        ({"rows": 1}, "rows"),
        ({"columns": 1}, "columns"),
        ({"shore": 1}, "shore"),
        ({"ruggedness": 0}, "ruggedness"),
        ({"rows": 2**14, "columns": 2**14}, "exceed the limit of 2\\^28 spins"),
        ({"state": "+"}, "state"),
    ],
)
def test_corners_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        cluster_loops(**({"rows": 4, "alpha": "1/4", "rng": 1} | arguments))


def test_recipes_are_counted_before_they_are_grown():
    with pytest.raises(ValueError, match=r"limit of 2\^28 spins"):
        Plan.of(Recipe("cluster_loops", {"rows": 10**6, "alpha": "1"}, Seed(1)))
    for asked in ({}, {"rows": 4}, {"rows": "4", "alpha": 1}, {"rows": 4, "alpha": "x"}):
        with pytest.raises(ValueError, match=r"rows|alpha"):
            Plan.of(Recipe("cluster_loops", asked, Seed(1)))


def test_100_000_spins_are_planted_in_seconds(capsys):
    started = time.perf_counter()
    plant = cluster_loops(112, alpha="1/4", scale=2, ruggedness=1, rng=1)
    seconds = time.perf_counter() - started
    plant.verify()
    asked = Plan.of(plant.recipe).demand
    assert asked.spins == plant.problem.num_variables > 100_000
    assert asked.parts >= plant.loops.num_loops
    with capsys.disabled():
        print(f" {plant} in {seconds:.2f} s", end="")


def test_seeds_grow_what_they_always_grew():
    plant = cluster_loops(4, columns=5, alpha="1/2", scale="4/3", ruggedness=2, rng=1)
    assert fingerprint(plant) == "0fd9de8de768129e"
