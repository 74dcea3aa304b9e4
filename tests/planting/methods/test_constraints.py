"""NAE-3-SAT, 2-in-4-SAT and exactly k of m: clauses that the planted state satisfies."""

from __future__ import annotations

import time
from collections import Counter
from fractions import Fraction
from math import comb

import dimod
import numpy as np
import pytest
from dimod.generators.satisfiability import _kmcsat_interactions
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import energies_of, states_of
from tests.planting.test_golden import fingerprint

from glasshouse.certificates import Squares
from glasshouse.planting import METHODS, Plan, Planted, shuffle
from glasshouse.planting.methods.constraints import exactly, nae3sat, two_in_four
from glasshouse.planting.recipe import Recipe
from glasshouse.problems.exchange import to_bqm

DIMOD = {
    "nae3sat": (nae3sat, dimod.generators.random_nae3sat, 3),
    "two_in_four": (two_in_four, dimod.generators.random_2in4sat, 4),
}


@st.composite
def clause_plants(draw: st.DrawFn) -> Planted:
    """Small plants of all three families, by number or density, with and without a given state."""
    n = draw(st.integers(4, 11))
    asked = draw(
        st.one_of(
            st.builds(dict, clauses=st.integers(1, 25)),
            st.builds(dict, clause_density=st.fractions("1/10", 3, max_denominator=20)),
        )
    )
    if draw(st.booleans()):
        asked["state"] = draw(st.text("+-", min_size=n, max_size=n))
    rng = draw(st.integers(0, 2**64))
    family = draw(st.sampled_from([nae3sat, two_in_four, exactly]))
    if family is not exactly:
        return family(n, **asked, rng=rng)
    literals = draw(st.integers(2, n))
    true_literals = draw(st.integers(1, literals - 1))
    return exactly(n, literals=literals, true_literals=true_literals, **asked, rng=rng)


def costs(plant: Planted) -> np.ndarray:
    """How many clauses each state breaks, from the literals alone."""
    asked, squares = plant.recipe.parameters, plant.squares
    spins = np.column_stack([states_of(plant.ising), np.ones(2**plant.ising.num_variables)])
    broken = np.zeros(len(spins), dtype=int)
    for begin, end in zip(squares.starts, squares.starts[1:], strict=False):
        nodes, signs = squares.nodes[begin:end], squares.coefficients[begin:end]
        is_spin = nodes < plant.ising.num_variables
        literals = spins[:, nodes[is_spin]] * signs[is_spin]
        true = (literals > 0).sum(axis=1)
        allowed = {"nae3sat": [1, 2], "two_in_four": [2]}.get(plant.recipe.method)
        broken += ~np.isin(true, allowed or [asked["true_literals"]])
    return broken


@given(clause_plants())
@settings(max_examples=120, deadline=None)
def test_ground_states_are_the_states_that_break_no_clause(plant: Planted) -> None:
    plant.verify()
    energies = energies_of(plant.problem)
    assert energies.min() == plant.energy
    is_ground = energies == plant.energy
    np.testing.assert_array_equal(is_ground, costs(plant) == 0)
    stated = plant.summary().ground_states
    assert stated.is_exact  # few enough spins to enumerate
    assert stated.least == is_ground.sum()


@given(clause_plants(), st.data())
@settings(max_examples=60, deadline=None)
def test_recipes_gauges_and_new_names_keep_the_instance(
    plant: Planted, data: st.DataObject
) -> None:
    assert Planted.from_recipe(Recipe.from_json(plant.recipe.to_json())) == plant
    state = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(plant.state),
                               max_size=len(plant.state)))  # fmt: skip
    moved = plant.regauge(state)
    moved.verify()
    assert Planted.from_recipe(moved.recipe) == moved
    mixed = shuffle(plant)
    mixed.verify()
    assert mixed.summary().ground_states == plant.summary().ground_states
    demand = Plan.of(plant.recipe).demand
    assert (demand.spins, demand.parts) == (len(plant.state), plant.squares.num_squares)


@pytest.mark.parametrize("name", DIMOD)
def test_energies_are_those_of_dimod(name):
    """dimod's own instance, its clauses given to us: the same model, term by term."""
    family, theirs, length = DIMOD[name]
    n, clauses = 12, 20
    terms = list(_kmcsat_interactions(n, length, clauses, plant_solution=True, seed=5))
    pairs = comb(length, 2)
    rows = []
    for first in range(0, len(terms), pairs):
        # The first pairs are those of the first variable, whose sign does not matter.
        own = terms[first : first + length - 1]
        rows.append([(int(own[0][0]), 1), *((int(v), int(sign)) for _, v, sign in own)])
    recipe = family(n, clauses=clauses, rng=1).recipe
    plant = Planted.of_squares(n, Squares.of(rows), np.ones(n, dtype=np.int8), recipe)
    plant.verify()
    bqm = theirs(n, clauses, plant_solution=True, seed=5)
    ours = to_bqm(plant.problem)
    assert plant.energy == -clauses * (length // 2)
    # Theirs keeps couplings that cancelled.
    bqm.remove_interactions_from([pair for pair, value in bqm.quadratic.items() if not value])
    assert ours == bqm


@pytest.mark.parametrize("name", DIMOD)
def test_clauses_are_drawn_as_dimod_draws_them(name):
    """All variables and all satisfied signs equally likely, in the gauge of all up."""
    family, _, length = DIMOD[name]
    n, clauses = 5, 30_000
    plant = family(n, clauses=clauses, state="+" * n, rng=3)
    signs = plant.squares.coefficients.reshape(clauses, length)
    nodes = plant.squares.nodes.reshape(clauses, length)
    found = Counter(map(tuple, np.column_stack([nodes, signs]).tolist()))
    kinds = comb(n, length) * 6
    assert len(found) == kinds
    expected = clauses / kinds
    chi2 = sum((count - expected) ** 2 / expected for count in found.values())
    assert chi2 < kinds + 5 * (2 * kinds) ** 0.5


def test_no_state_is_told_by_the_signs_of_a_clause():
    """NAE clauses do not lean to the planted state rather than to its opposite."""
    plant = nae3sat(50, clauses=20_000, rng=1)
    sums = plant.squares.turned(plant.state).coefficients.reshape(-1, 3).sum(axis=1)
    assert set(sums.tolist()) == {-1, 1}
    assert abs(int(sums.sum())) < 5 * 20_000**0.5


GOLDEN = {
    "nae3sat": (lambda: nae3sat(60, clause_density="2.1", rng=1), "7a17fde7d6ff8495"),
    "two_in_four": (lambda: two_in_four(60, clause_density="0.7", rng=1), "fc89b9c653c11e5c"),
    "exactly": (lambda: exactly(60, literals=5, true_literals=2, clauses=40, rng=1),
                "f4bad2297e47549b"),
}  # fmt: skip


@pytest.mark.parametrize("name", GOLDEN)
def test_seeds_grow_what_they_always_grew(name):
    grow, expected = GOLDEN[name]
    assert fingerprint(grow()) == expected


@pytest.mark.parametrize(
    ("family", "asked", "message"),
    [
        (nae3sat, {"n": 2, "clauses": 3}, "n=2 is too small for clauses of 3 variables"),
        (two_in_four, {"n": 3, "clauses": 3}, "n=3 is too small for clauses of 4 variables"),
        (nae3sat, {"n": 9, "clauses": 3, "clause_density": 1}, "clause_density=RATIO; both are"),
        (nae3sat, {"n": 9, "clauses": 2, "clause_density": 1}, "RATIO; both are given"),
        (two_in_four, {"n": 9, "clauses": 0}, "clauses=0 is below 1"),
        (two_in_four, {"n": 9, "clause_density": 0}, "it is the number of clauses per spin"),
        (nae3sat, {"n": 9, "clauses": 2**40}, r"clauses=1099511627776 requests more than 2\^28"),
        (nae3sat, {"n": 4.0, "clauses": 2}, "n=4.0 is not an integer"),
        (nae3sat, {"n": 4, "clauses": 2, "state": "+++"}, "state"),
        (exactly, {"n": 9, "literals": 3, "true_literals": 3, "clauses": 2},
         "true_literals=3 with literals=3 leaves nothing to choose; use 1 to 2"),
        (exactly, {"n": 9, "literals": 3, "true_literals": 0, "clauses": 2}, "use 1 to 2"),
        (exactly, {"n": 9, "literals": 1, "true_literals": 1, "clauses": 2}, "literals=1 is below"),
        (exactly, {"n": 9, "literals": 10, "true_literals": 1, "clauses": 2},
         "n=9 is too small for clauses of 10 variables; use more spins"),
    ],
)  # fmt: skip
def test_corners_are_refused(family, asked, message):
    with pytest.raises(ValueError, match=message):
        family(**asked, rng=1)


def test_density_is_clauses_per_spin_rounded_up():
    assert nae3sat(10, clause_density=Fraction(21, 100), rng=1).squares.num_squares == 3
    summary = nae3sat(10, clause_density=2, rng=1).summary()
    assert summary.squares == 20
    # The row below describes the MAX-2-SAT form, which has other clauses.
    assert summary.requested_clause_density is None


@pytest.mark.parametrize("name", GOLDEN)
def test_a_hundred_thousand_spins(name):
    start = time.perf_counter()
    shape = {"literals": 5, "true_literals": 2} if name == "exactly" else {}
    family = {"nae3sat": nae3sat, "two_in_four": two_in_four, "exactly": exactly}[name]
    plant = family(10**5, clause_density="1/2", **shape, rng=1)
    print(f"{name}: {time.perf_counter() - start:.2f} s")
    plant.verify()
    assert plant.squares.num_squares == 50_000


@pytest.mark.parametrize(("method", "density"), [(nae3sat, "21/10"), (two_in_four, "7/10")])
def test_without_a_density_the_hardest_one_is_used_and_kept(method, density):
    plain, asked = method(40, rng=1), method(40, clause_density=density, rng=1)
    assert plain.recipe.parameters["clause_density"] == density
    assert plain.recipe == asked.recipe
    assert plain.problem == asked.problem
    plans = METHODS[method.__name__]
    assert plans.plan(40).chosen.startswith(f"clause_density={density}, ")
    assert plans.plan(40, clause_density=density).chosen == ""
