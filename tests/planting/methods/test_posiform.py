"""Posiform planting: the planted state is the one ground state, by brute force."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import all_states

from glasshouse.files import read_planted, write
from glasshouse.planting import Graph, Loops, Plan, Planted, shuffle
from glasshouse.planting.counting.two_sat import (
    clauses_of,
    count_models,
    is_unique,
    least_unique,
    loops_of,
)
from glasshouse.planting.kernels.clauses import BOTH, ONE
from glasshouse.planting.methods import posiform

GRAPHS = ("lattice:1x2", "lattice:1x9", "lattice:3x4", "torus:3x4", "complete:7", "layers:2x3x2",
          "lattice:4x4 without 5", "edges:5 0-1 2-3 3-4")  # fmt: skip
FORESTS = ("lattice:1x2", "lattice:1x9", "edges:5 0-1 2-3 3-4")
STARS = (*FORESTS, "lattice:3x4", "layers:2x3x2", "lattice:4x4 without 5")


@st.composite
def formulas(draw):
    """A size, and any clauses that all true satisfies."""
    size = draw(st.integers(1, 9))
    pair = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1))
    clause = st.tuples(pair.filter(lambda p: p[0] != p[1]), st.sampled_from([BOTH, ONE]))
    rows = draw(st.lists(clause, max_size=3 * size)) if size > 1 else []
    return size, np.array([(i, j, kind) for (i, j), kind in rows], np.int32).reshape(-1, 3)


def plain(clauses):
    """Clauses as a set; the order of two true literals does not matter."""
    return {(*sorted((i, j)), kind) if kind == BOTH else (i, j, kind) for i, j, kind in clauses}


def models(size, clauses):
    """How many states satisfy all clauses, each looked at."""
    spins = all_states(size, -1) > 0
    for i, j, kind in clauses:
        spins = spins[spins[:, i] | (spins[:, j] == (kind == BOTH))]
    return len(spins)


@given(formulas())
@settings(max_examples=200)
def test_one_model_is_told_from_more(formula):
    size, clauses = formula
    assert is_unique(size, clauses) == (models(size, clauses) == 1)
    least = least_unique(size, clauses)
    if least is None:
        assert models(size, clauses) > 1
    else:
        assert models(size, clauses[:least]) == 1
        assert models(size, clauses[: least - 1]) > 1 or least == 0


@given(formulas().filter(lambda made: len(made[1])), st.randoms(use_true_random=False))
@settings(max_examples=100)
def test_clauses_become_loops_and_come_back(formula, random):
    size, clauses = formula
    loops = loops_of(size, clauses, np.array([random.randint(1, 9) for _ in clauses]))
    assert plain(clauses_of(size, loops)) == plain(clauses)
    costs = loops.sum(size).energy(all_states(size, -1)) + loops.weights.sum()
    assert (costs == 0).sum() == models(size, clauses)
    # What is reported of a plant of these clauses is what there is.
    spins = np.ones(size, dtype=np.int8)
    recipe = posiform(2, rng=1).recipe
    offset = int(loops.weights.sum())
    least = int(loops.positive_weights.min())
    plant = Planted.of_ising(size, loops, spins, least, recipe, offset=offset)
    plant.verify()
    found = count_models(plant)
    assert found.least <= models(size, clauses)
    assert (found.least == 1) == (models(size, clauses) == 1)
    assert not found.is_exact or found.least == models(size, clauses)


def has_cycles(where, block):
    """Whether a block of a size has a cycle: four spins of a lattice can be a star."""
    if "n" in where:
        return where["n"] >= 3
    return where["graph"] not in (FORESTS if block > 4 else STARS)


@given(
    where=st.one_of(
        st.integers(2, 12).map(lambda n: {"n": n}),
        st.sampled_from(GRAPHS).map(lambda graph: {"graph": graph}),
    ),
    most=st.sampled_from([1, 2, 7, 1000]),
    block=st.sampled_from([None, None, 4, 6, 30]),
    scale=st.sampled_from(["1/10", "1/100", "3/7", "2"]),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=150)
def test_the_planted_state_is_the_only_ground_state(where, most, block, scale, seed):
    options = {"max_coefficient": most}
    if block is not None:
        options |= {"block": block, "scale": scale}
    if block is not None and not has_cycles(where, block):
        with pytest.raises(ValueError, match="contain no cycle"):
            posiform(**where, **options, rng=seed)
        return
    plant = posiform(**where, **options, rng=seed)
    plant.verify()
    energies = plant.ising.energy(all_states(plant.ising.num_variables, -1))
    assert energies.min() == plant.energy
    assert (energies == plant.energy).sum() == 1
    assert block is not None or plant.energy == 0
    told = plant.summary().ground_states
    assert told.is_exact
    assert told.least == 1
    assert shuffle(plant).summary().ground_states == told
    if "graph" in where:
        edges = {tuple(edge) for edge in Graph.parse(where["graph"]).edges.tolist()}
        assert {tuple(edge) for edge in plant.ising.edges.tolist()} <= edges


def test_a_violated_clause_costs_four_times_its_coefficient():
    plant = posiform(6, max_coefficient=9, rng=3)
    turned = all_states(6, -1) * plant.state
    costs, seen = 0, set()
    for k in range(plant.loops.num_loops):
        [(i, j, kind)] = clauses_of(6, _only(plant.loops, k)).tolist()
        broken = (turned[:, i] < 0) & ((turned[:, j] < 0) == (kind == BOTH))
        costs = costs + 4 * plant.loops[k].weights[0] * broken
        seen.add((i, j, kind))
    assert (plant.ising.energy(all_states(6, -1)) == costs).all()
    assert len(seen) == plant.loops.num_loops  # none is there twice
    assert set(plant.loops.positive_weights) <= set(range(1, 10))


def _only(loops, k):
    part = loops[k]
    return Loops(part.nodes, np.array([0, len(part.nodes)]), part.weights)


def test_no_clause_but_the_last_could_be_missed():
    for seed in range(20):
        loops = posiform(8, rng=seed).loops
        kept = Loops(loops.nodes[:-3], loops.starts[:-1], loops.weights[:-3])
        assert not is_unique(8, clauses_of(8, kept))
        assert is_unique(8, clauses_of(8, loops))


def test_a_second_model_is_reported():
    plant = posiform(30, rng=1)
    loops = plant.loops
    kept = Loops(loops.nodes[:-3], loops.starts[:-1], loops.weights[:-3])
    fewer = Planted.of_ising(30, kept, plant.state, 1, plant.recipe)
    assert fewer.summary().ground_states.least >= 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "one of n and graph; neither is given"),
        ({"n": 4, "graph": "torus:3x3"}, "one of n and graph; both are given"),
        ({"n": 1}, "n=1"),
        ({"graph": "edges:4 0-1"}, "nodes without edges \\(2 and 1 more\\)"),
        ({"graph": "lattice:1x1"}, "nodes without edges \\(0\\)"),
        ({"graph": "edges:0"}, "edges:0|no nodes"),
        ({"n": 9, "max_coefficient": 0}, "max_coefficient=0"),
        ({"n": 9, "max_coefficient": 2**31 + 1}, "above the limit of 2"),
        ({"n": 9, "block": 2}, "block=2"),
        ({"n": 9, "block": 4, "scale": 0}, "scale=0 must be p/q"),
        ({"n": 9, "block": 4, "scale": f"1/{2**40}"}, "from 1 to 2"),
        ({"n": 9, "scale": "1/2"}, "add block"),
        ({"graph": "lattice:1x9", "block": 4}, "blocks of 4 spins contain no cycle"),
        ({"n": 9, "state": "+-"}, "state"),
    ],
)
def test_corners_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        posiform(**options, rng=1)


def test_the_largest_coefficients_stay_exact():
    plant = posiform(6, max_coefficient=2**26, block=3, scale=f"{2**31}/{2**31 - 1}", rng=1)
    plant.verify()
    assert plant.ising.energy(all_states(6, -1)).min() == plant.energy


def test_coefficients_that_leave_int64_are_refused():
    with pytest.raises(ValueError, match="2\\^63"):
        posiform(200, max_coefficient=2**31, block=4, scale=2**31, rng=1)


@pytest.mark.parametrize("name", ["x.npz", "x.wcnf", "x.qubo", "x.coo"])
@pytest.mark.parametrize("block", [None, 4])
def test_every_file_keeps_the_offset(name, block, tmp_path):
    plant = posiform(9, block=block, rng=5)
    assert plant.problem.offset > 0
    assert (plant.energy == 0) == (block is None)
    write(tmp_path / name, plant)
    assert read_planted(tmp_path / name) == plant


def test_a_seed_means_the_same_everywhere():
    plants = (
        posiform(60, max_coefficient=5, rng=1),
        posiform(graph="torus:6x6", block=12, scale="1/20", rng=2),
    )
    found = []
    for plant in plants:
        plant.verify()
        parts = (plant.ising.edges, plant.ising.weights, plant.ising.fields, plant.state)
        digest = hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts))
        found.append((digest.hexdigest()[:16], plant.energy))
    assert found == GOLDEN


GOLDEN = [("8ef4fbdd2c3eb15e", 0), ("b88392d43a9285b4", -1920)]


def test_what_a_hostile_recipe_asks_for_is_counted():
    recipe = posiform(5, rng=1).recipe
    huge = replace(recipe, parameters={"n": 2**28, "block": 2**28})
    assert Plan.of(huge).demand.memory > 2**50
    with pytest.raises(ValueError, match="exactly one of n and graph"):
        Plan.of(replace(recipe, parameters={}))
    with pytest.raises(ValueError, match="block"):
        Plan.of(replace(recipe, parameters={"n": 9, "block": "x"}))


@pytest.mark.slow
def test_a_hundred_thousand_spins(capsys):
    begin = time.perf_counter()
    plant = posiform(100_000, max_coefficient=4, rng=1)
    told = plant.summary().ground_states
    with capsys.disabled():
        print(f"\nposiform of 10^5 spins: {time.perf_counter() - begin:.1f} s, {plant!r}")
    assert told.is_exact
    assert told.least == 1
