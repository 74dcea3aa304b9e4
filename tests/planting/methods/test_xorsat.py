"""Regular 3-XORSAT: the paper's equations, their structure, and how many solutions they have."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from tests.oracles import energies_of, states_of
from tests.planting.test_golden import fingerprint

from glasshouse.certificates import Squares
from glasshouse.files import read_planted, write
from glasshouse.planting import Plan, Planted, Recipe, Seed, shuffle
from glasshouse.planting.counting.equations import count_solutions, equation_rows, free_variables
from glasshouse.planting.kernels.clauses import draw_regular
from glasshouse.planting.methods import random_loops, wishart, xorsat

SIZES = [(3, 1), (6, 1), (12, 1), (3, 2), (6, 2), (9, 2), (4, 3), (7, 3), (8, 3), (3, 4), (6, 4),
         (5, 6), (3, 9)]  # fmt: skip


@st.composite
def xorsat_plants(draw: st.DrawFn) -> Planted:
    """Small plants of several degrees, with a given state of the variables, or of all spins."""
    variables, degree = draw(st.sampled_from(SIZES))
    size = draw(st.sampled_from([0, variables, variables + variables * degree // 3]))
    state = draw(st.text("+-", min_size=size, max_size=size)) or None
    return xorsat(variables, degree=degree, state=state, rng=draw(st.integers(0, 2**64)))


@given(xorsat_plants())
@settings(max_examples=100, deadline=None)
def test_the_solutions_are_the_ground_states_and_all_are_counted(plant: Planted) -> None:
    plant.verify()
    energies = energies_of(plant.problem)
    assert energies.min() == plant.energy
    stated = plant.summary().ground_states
    assert stated.is_exact
    assert stated.least == (energies == plant.energy).sum()
    assert "proven" in stated.reason


@given(xorsat_plants(), st.data())
@settings(max_examples=60, deadline=None)
def test_recipes_gauges_and_new_names_keep_the_instance(
    plant: Planted, data: st.DataObject
) -> None:
    assert Planted.from_recipe(Recipe.from_json(plant.recipe.to_json())) == plant
    spins = st.lists(st.sampled_from([-1, 1]), min_size=len(plant.state), max_size=len(plant.state))
    moved = plant.regauge(data.draw(spins))
    moved.verify()
    assert Planted.from_recipe(moved.recipe) == moved
    count = plant.summary().ground_states
    for other in (moved, shuffle(plant), shuffle(moved)):
        other.verify()
        assert other.summary().ground_states == count
    demand = Plan.of(plant.recipe).demand
    assert (demand.spins, demand.parts) == (len(plant.state), plant.squares.num_squares)


def test_an_equation_costs_two_if_it_is_not_satisfied():
    """The paper's gadget: least over z, -4 or -2, for all eight states of an equation."""
    plant = xorsat(3, degree=1, rng=5)
    *_, target = -plant.squares.coefficients
    assert plant.squares.coefficients.tolist() == [1, 1, 1, -2, -target]
    states, energies = states_of(plant.problem), energies_of(plant.problem)
    for start in itertools.product((-1, 1), repeat=3):
        best = energies[(states[:, :3] == start).all(axis=1)].min()
        assert best == (-4 if np.prod(start) == target else -2)


def test_couplings_are_those_of_the_paper():
    """-1 between variables, +2 to the equation's own spin; fields b and -2b."""
    form = xorsat(300, rng=2).ising
    is_own = form.edges[:, 1] >= 300
    assert set(form.weights[is_own].tolist()) == {2}
    assert int(form.weights[~is_own].sum()) == -900
    assert set(form.fields[300:].tolist()) == {-2, 2}


@given(st.sampled_from(SIZES), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_a_given_state_of_the_variables_is_planted(size: tuple[int, int], rng: int) -> None:
    variables, degree = size
    state = np.random.default_rng(rng).choice([-1, 1], variables)
    plant = xorsat(variables, degree=degree, state=state, rng=rng)
    assert plant.state[:variables].tolist() == state.tolist()
    assert plant == xorsat(variables, degree=degree, state=plant.state, rng=rng)


@pytest.mark.parametrize("tries", [100, 0])
@pytest.mark.parametrize(("variables", "length", "degree"), [(3, 3, 5), (7, 3, 3), (30, 3, 12),
                                                             (40, 5, 4)])  # fmt: skip
def test_every_variable_is_in_equally_many_rows(variables, length, degree, tries):
    rows = np.empty((variables * degree // length, length), dtype=np.int32)
    draw_regular(Seed(1).streams(1)[0], variables, rows, tries, 20)
    assert np.bincount(rows.reshape(-1)).tolist() == [degree] * variables
    assert all(len(set(row)) == length for row in rows.tolist())


@pytest.mark.parametrize("tries", [100, 0])
def test_all_regular_tables_are_equally_likely(tries):
    """Tables from shuffles, and from the swaps that follow if shuffles fail."""
    triples = list(itertools.combinations(range(6), 3))
    expected = Counter(
        overlaps(rows)
        for rows in itertools.product(triples, repeat=4)
        if all(sum(k in row for row in rows) == 2 for k in range(6))
    )
    assert len(expected) == 3
    stream, found = Seed(1).streams(1)[0].copy(), Counter()
    rows = np.empty((4, 3), dtype=np.int32)
    for _ in range(5000):
        assert draw_regular(stream, 6, rows, tries, 20) == (tries > 0)
        found[overlaps(rows.tolist())] += 1
    assert set(found) <= set(expected)
    shares = np.array(list(expected.values())) / expected.total()
    assert chisquare([found[kind] for kind in expected], 5000 * shares).pvalue > 1e-3


def overlaps(rows):
    """How many variables each two rows share, sorted."""
    return tuple(sorted(len(set(a) & set(b)) for a, b in itertools.combinations(rows, 2)))


def rank_by_definition(rows, variables):
    """Elimination on Python's own integers."""
    basis = {}
    for row in rows.tolist():
        value = 0
        for k in row:
            value ^= 1 << k
        while value and value.bit_length() in basis:
            value ^= basis[value.bit_length()]
        if value:
            basis[value.bit_length()] = value
    return len(basis)


@given(st.integers(3, 200), st.integers(1, 250), st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_the_rank_is_that_of_elimination(variables: int, equations: int, rng: int) -> None:
    """Any equations of three variables, repeated ones and untouched variables among them."""
    random = np.random.default_rng(rng)
    few = random.integers(3, variables + 1)
    rows = np.array([random.choice(few, 3, replace=False) for _ in range(equations)], np.int32)
    assert free_variables(rows, variables) == variables - rank_by_definition(rows, variables)


def test_solutions_are_counted_from_a_file(tmp_path):
    plant = shuffle(xorsat(40, rng=3))
    write(tmp_path / "x.npz", plant)
    assert read_planted(tmp_path / "x.npz").summary().ground_states == plant.summary().ground_states


def test_other_squares_under_the_same_recipe_are_counted_as_such():
    """A file that claims to be XORSAT may contain anything."""
    real = xorsat(6, rng=1)
    size = len(real.state)
    shared = Squares.of([[(0, 1), (1, 1), (2, 1), (3, -2), (12, -1)],
                         [(1, 1), (2, 1), (3, 2), (4, 1), (12, -1)]])  # fmt: skip
    wide = Squares.of([[(0, 1), (1, 1), (2, 1), (3, -4), (12, -1)]])
    ghostless = Squares.of([[(0, 1), (1, 1), (2, 1), (3, -2), (4, -1)]])
    broken = Squares.of([[(0, 1), (1, 1), (2, 1), (3, 2), (12, 1)]])
    two = Squares.of([[(0, 1), (1, 2), (2, 1), (3, -2), (12, -1)]])
    up = np.ones(size, dtype=np.int8)
    for squares in (shared, wide, ghostless, broken, two):
        plant = Planted.of_squares(size, squares, up, real.recipe)
        assert equation_rows(plant) is None
    good = Squares.of([[(0, 1), (1, 1), (2, 1), (3, -2), (12, -1)]])
    plant = Planted.of_squares(size, good, up, real.recipe)
    assert equation_rows(plant).tolist() == [[0, 1, 2]]
    loops = random_loops(3, 3, frustration="1/5", loops=1, rng=1).loops
    assert equation_rows(replace(plant, loops=loops)) is None
    energies = energies_of(plant.problem)
    assert count_solutions(plant).least == (energies == energies.min()).sum() == 2**10
    assert not count_solutions(wishart(40, columns=20, rng=1)).is_exact


def test_large_ones_are_counted_on_request_only():
    plant = xorsat(60, degree=2, rng=1)
    unknown = count_solutions(plant, most=59)
    assert (unknown.least, unknown.is_exact) == (2**20, False)
    assert "60 variables in 40 equations" in unknown.reason
    known = count_solutions(plant, most=60)
    assert known.is_exact
    assert known.least >= 2**20
    assert count_solutions(plant) == known


def test_a_seed_grows_what_it_always_grew():
    assert fingerprint(xorsat(60, rng=1)) == "c10af9cd471d458b"
    assert fingerprint(xorsat(60, degree=9, rng=1)) == "11c689750a4c5072"  # drawn by swaps


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"n": 2}, "n=2 is below 3"),
        ({"n": 10, "degree": 4}, "n=10 times degree=4 must be a multiple of 3, "
         "because each equation has 3 variables; use 9 or 12 variables"),
        ({"n": 4, "degree": 1}, "use 3 or 6 variables"),
        ({"n": 9, "degree": 0}, "degree=0 is below 1"),
        ({"n": "9"}, "n='9' is not an integer"),
        ({"n": 10**400, "degree": 1}, "must be a multiple of 3"),
        ({"n": 2**28}, "exceeds the limit of 2\\^28 spins"),
        ({"n": 9, "degree": 10**30}, "exceeds the limit of 2\\^28 spins"),
        ({"n": 9, "state": "+-+"}, "state"),
        ({"n": 9, "state": 1}, "state"),
    ],
)  # fmt: skip
def test_corners_are_refused(asked, message):
    with pytest.raises(ValueError, match=message):
        xorsat(**asked, rng=1)


def test_a_hundred_thousand_variables():
    start = time.perf_counter()
    plant = xorsat(10**5, rng=1)
    print(f"xorsat: {time.perf_counter() - start:.2f} s")
    plant.verify()
    assert not plant.summary().ground_states.is_exact


@pytest.mark.slow
def test_the_largest_that_are_counted():
    start = time.perf_counter()
    plant = xorsat(50_000, rng=1)
    assert plant.summary().ground_states.is_exact
    print(f"50,000 variables counted: {time.perf_counter() - start:.2f} s")
    plant.verify()
