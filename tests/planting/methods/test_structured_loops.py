"""Algorithm 2 and loops through ghosts: where their weights may lie."""

from __future__ import annotations

import sys
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from tests.entries import entry
from tests.planting.plants import bias_plants, seeds, structured_plants

from glasshouse.landscape import frustration_index, gauge, metastable_state
from glasshouse.planting import Seed, block_size
from glasshouse.planting.demand import new_meter
from glasshouse.planting.kernels.cells import new_cells, put_at
from glasshouse.planting.kernels.structured_loops import (
    CENTER,
    LEFT,
    UPPER,
    _draw_loop,
    _find_loop,
    drop_structured_loops,
)
from glasshouse.planting.methods import bias_loops, structured_loops

FALSE_ALARM = 1e-6
put = entry(put_at)


def gauged_matrix(plant) -> np.ndarray:
    form = gauge(plant.problem, plant.state)
    return form.matrix.toarray() if form.is_sparse else form.matrix


@given(structured_plants())
@settings(deadline=None, max_examples=60)
def test_block_sums_are_those_of_the_paper(plant) -> None:
    asked = plant.recipe.parameters
    n1, m1 = block_size(asked["n"], asked["m"], asked["block"], asked["block_rule"])
    kinds = Counter()
    for loop in plant.loops:
        j1, i2, j2, i1 = loop.nodes.tolist()
        assert i1 < n1
        assert j1 - asked["n"] < m1
        kinds[i2 < n1, j2 - asked["n"] < m1] += 1
    left, upper, center = kinds[False, True], kinds[True, False], kinds[False, False]
    assert not kinds[True, True]
    number, w = len(plant.loops), plant.loop_weight
    for count, share in ((left, "left"), (upper, "upper"), (center, "center")):
        assert abs(count - number * Fraction(asked[share])) < 1
    f = Fraction(asked["frustration"])
    alpha = 3 * f / (1 - f)
    matrix = gauged_matrix(plant)
    assert matrix[:n1, :m1].sum() == ((left + upper) - alpha * number) * w
    assert matrix[:n1, m1:].sum() == (2 * upper + center) * w
    assert matrix[n1:, :m1].sum() == (2 * left + center) * w
    assert matrix[n1:, m1:].sum() == center * w
    assert matrix[:n1, m1:].min(initial=0) >= 0 <= matrix[n1:].min(initial=0)


def test_the_metastable_state_lies_where_the_paper_puts_it() -> None:
    plant = structured_loops(30, 30, frustration="0.24", block="1/2", loop_density=20, rng=1)
    alpha = Fraction(3 * 24, 76)
    block = block_size(30, 30, "1/2")
    found = metastable_state(plant.problem, plant.state, block=block)
    assert found.gap == 2 * (1 - alpha) * len(plant.loops) * plant.loop_weight
    assert found.is_local_minimum


def test_block_sizes_follow_the_paper_or_the_authors() -> None:
    assert block_size(100, 100, "1/5") == (20, 20)
    assert block_size(101, 101, "1/5") == (20, 20)
    assert block_size(101, 101, "1/5", "authors") == (21, 21)
    assert block_size(10, 6, 1) == (9, 5)


@pytest.mark.parametrize("kind", [LEFT, UPPER, CENTER])
@pytest.mark.parametrize("draw", [entry(_draw_loop), entry(_find_loop)])
def test_loops_of_a_kind_are_equally_likely(kind: int, draw) -> None:
    signs = np.array([[0, 1, -1], [1, -1, 0], [-1, -1, -1]])
    matrix = new_cells(9, 9, signs=True, dense=True)
    for cell, sign in enumerate(signs.reshape(-1).tolist()):
        put(matrix, cell, sign, True)
    n, m, n1, m1 = 4, 5, 3, 3
    allowed = [
        (i1, i2, j1, j2)
        for i1 in range(n1)
        for j1 in range(m1)
        for i2 in (range(n1) if kind == UPPER else range(n1, n))
        for j2 in (range(m1) if kind == LEFT else range(m1, m))
        if i1 != i2 and j1 != j2 and signs[i1, j1] <= 0
        and (j2 >= m1 or signs[i1, j2] >= 0) and (i2 >= n1 or signs[i2, j1] >= 0)
    ]  # fmt: skip
    stream = Seed.of(kind).streams(1)[0]
    sizes = np.array([n, m, n1, m1])
    drawn = Counter(draw(stream, sizes, kind, matrix) for _ in range(20_000))
    assert sorted(drawn) == sorted(allowed)
    assert chisquare(list(drawn.values())).pvalue > FALSE_ALARM


@given(seeds, st.integers(1, 60), st.booleans())
@settings(deadline=None, max_examples=30)
def test_dense_and_hashed_blocks_give_the_same_loops(seed: int, loops: int, frustrated) -> None:
    sizes = np.array([9, 8, 4, 5])
    grown = []
    for dense in (True, False):
        nodes = np.zeros((2 * loops, 4), dtype=np.int32)
        matrix = new_cells(20, 4 * loops, signs=True, dense=dense)
        stream = Seed.of(seed).streams(1)[0]
        options = (stream, sizes)
        meter = new_meter()
        reached = drop_structured_loops(*options, LEFT, frustrated, matrix, nodes, 0, loops, meter)
        assert reached == loops
        grown.append((drop_structured_loops(
            *options, UPPER, frustrated, matrix, nodes, loops, 2 * loops, meter
        ), nodes.tolist()))  # fmt: skip
    assert grown[0] == grown[1]


def test_a_jam_is_met_by_starting_again_and_then_by_an_error(monkeypatch) -> None:
    # In a 2 × 2 block, left loops of the same orientation in both rows leave no upper loop.
    options = {"frustration": "1/4", "block": "2/3", "left": "1/2", "upper": "1/2", "loops": 40}
    for rng in range(20):
        structured_loops(4, 4, rng=rng, **options).verify()
    monkeypatch.setattr(sys.modules[structured_loops.__module__], "_RESTARTS", 1)
    errors = []
    for rng in range(20):
        try:
            structured_loops(4, 4, rng=rng, **options)
        except ValueError as error:
            errors.append(str(error))
    assert 3 <= len(errors) <= 17
    assert "no space for 20 upper loops" in errors[0]
    assert "use a larger block" in errors[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"frustration": 0.3}, "above 1/4"),
        ({"n": 1}, "n=1 is too small"),
        ({"block": 0}, "above 0 and at most 1"),
        ({"block": 1.1}, "above 0 and at most 1"),
        ({"block": 1, "block_rule": "authors"}, "leaves no space for center loops"),
        ({"block": "1/10", "left": 1}, "1 × 1 in 6 × 6 leaves no space for left loops, which need"),
        ({"block": "1/10", "upper": 1}, "leaves no space for upper loops"),
        ({"left": "1/2", "upper": "1/2", "center": "1/2"}, "add up to 1"),
        ({"left": "3/2"}, "fractions from 0 to 1"),
        ({"left": "-1/2"}, "fractions from 0 to 1"),
        ({"center": "1/2"}, "add up to 1"),
        ({"block_rule": "mine"}, "block_rule='mine' is not one of"),
        ({"loops": None}, "neither"),
        ({"frustration": f"1/{10**18 + 1}"}, "energies are not exact"),
        ({"state": [1, 1]}, "state has shape"),
    ],
)
def test_bad_structure_is_refused_with_a_remedy(change: dict[str, object], message: str) -> None:
    options = {"n": 6, "m": 6, "frustration": "1/5", "block": "1/2", "loops": 4, "rng": 1}
    with pytest.raises(ValueError, match=message):
        structured_loops(**(options | change))


# Ghosts ------------------------------------------------------------------------------------------


@given(bias_plants())
@settings(deadline=None, max_examples=60)
def test_every_loop_runs_through_its_ghosts_and_none_opposes_another(plant) -> None:
    ghost, ghosts = plant.problem.num_variables, plant.recipe.parameters["ghosts"]
    assert plant.loops.lengths.tolist() == [5 - ghosts] * len(plant.loops)
    signs: dict[tuple[int, int], set[bool]] = {}
    for loop in plant.loops:
        assert loop.nodes.tolist().count(ghost) == 1
        for a, b, weight in zip(
            loop.nodes.tolist(),
            np.roll(loop.nodes, -1).tolist(),
            loop.weights.tolist(),
            strict=True,
        ):
            if weight:
                signs.setdefault((min(a, b), max(a, b)), set()).add(weight > 0)
    assert all(len(found) == 1 for found in signs.values())
    realised = frustration_index(plant.problem, plant.state)
    asked = Fraction(plant.recipe.parameters["frustration"])
    if plant.recipe.parameters["bias_strength"] == "1":
        assert realised == asked
    else:
        assert realised <= asked
    assert plant.summary().frustration == realised


def test_every_place_of_the_ghost_comes_up() -> None:
    plant = bias_loops(20, 20, frustration="1/5", loops=400, rng=1)
    places = Counter(np.argmax(plant.loops.nodes.reshape(-1, 4) == 40, axis=1).tolist())
    assert sorted(places) == [0, 1, 2, 3]
    assert (
        np.count_nonzero(plant.problem.visible_bias)
        > 10
        < np.count_nonzero(plant.problem.hidden_bias)
    )


@given(st.fractions(1, 5, max_denominator=4), seeds)
@settings(deadline=None, max_examples=20)
def test_stronger_biases_are_just_that(strength: Fraction, seed: int) -> None:
    assume(strength > 1)
    options = {"frustration": "1/5", "loops": 9, "rng": seed}
    plain = bias_loops(5, 6, **options)
    strong = bias_loops(5, 6, bias_strength=strength, **options)
    assert (strong.loops.nodes == plain.loops.nodes).all()
    scale = Fraction(strong.loop_weight, plain.loop_weight)
    assert (strong.problem.weights == scale * plain.problem.weights).all()
    assert (
        abs(strong.problem.visible_bias).sum() > scale * abs(plain.problem.visible_bias).sum()
        or not plain.problem.visible_bias.any()
    )
    strong.verify()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"frustration": 0.3}, r"above 1/4, .*; use 1/4 or less, or ghosts=2"),
        ({"frustration": 0.34, "ghosts": 2}, "above 1/3"),
        ({"ghosts": 3}, "ghosts=3 must be 1 or 2"),
        ({"bias_strength": "1/2"}, "at least 1"),
        ({"bias_strength": 10**19}, "energies are not exact"),
        ({"m": 1}, "m=1 is too small"),
        ({"loop_density": 1}, "both"),
    ],
)
def test_bad_biases_are_refused_with_a_remedy(change: dict[str, object], message: str) -> None:
    options = {"n": 6, "m": 6, "frustration": "1/5", "loops": 4, "rng": 1}
    with pytest.raises(ValueError, match=message):
        bias_loops(**(options | change))
