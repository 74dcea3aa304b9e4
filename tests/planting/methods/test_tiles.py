"""Tile planting in two and three dimensions, beside enumeration and beside the papers' classes."""

from __future__ import annotations

import itertools
import time
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import energies_of
from tests.planting.test_golden import fingerprint

from glasshouse.landscape import gauge
from glasshouse.planting import Plan, Planted, Recipe, Seed
from glasshouse.planting.graphs import Graph
from glasshouse.planting.loops import Loops
from glasshouse.planting.methods.lattice_tiles import CUBES, cubes, plaquettes, tiles2d, tiles3d
from glasshouse.planting.methods.tiles import TileLattice, symmetries
from glasshouse.problems import Ising

seeds = st.integers(0, 2**64)
# The classes of the papers: energy, ground states up to a flip, and different tiles of the class.
SQUARE = {"C1": (-5, 1, 4), "C2": (-4, 2, 12), "C3": (-3, 3, 12), "C4": (-2, 4, 4)}
CUBE = {
    "F21": (-10, 1, 12), "F22": (-8, 4, 12), "F41": (-8, 2, 24), "F42": (-8, 2, 6), "F6": (-6, 8, 8)
}  # fmt: skip


@st.composite
def mixtures(draw: st.DrawFn, names: tuple[str, ...]) -> dict[str, Fraction]:
    """Shares of classes, some of them 0."""
    parts = [draw(st.integers(0, 4)) for _ in range(len(names) + 1)]
    total = max(1, sum(parts))
    return {name: Fraction(part, total) for name, part in zip(names, parts, strict=False)}


def tile_problems(tiles: Any, kind: int, corners: int, denominator: int) -> list[Ising]:
    """Every tile of a class as a separate problem."""
    found = []
    for tile in range(tiles.firsts[kind], tiles.firsts[kind + 1]):
        loops = slice(*tiles.loop_starts[tile : tile + 2])
        entries = slice(*tiles.entry_starts[tile : tile + 2])
        starts = np.concatenate([[0], np.cumsum(tiles.lengths[loops])])
        total = Loops(tiles.corners[entries], starts, tiles.weights[entries]).sum(corners)
        assert not (total.weights % denominator).any()
        found.append(Ising(corners, total.edges, total.weights // denominator, total.fields))
    return found


@pytest.mark.parametrize(
    ("tiles", "classes", "dimensions", "denominator"),
    [(plaquettes(), SQUARE, 2, 1), (cubes(), CUBE, 3, 4)],
)
def test_classes_have_the_ground_states_of_the_papers(tiles, classes, dimensions, denominator):
    for kind, (energy, ground_states, different) in enumerate(classes.values()):
        problems = tile_problems(tiles, kind, 2**dimensions, denominator)
        assert len({problem.weights.tobytes() for problem in problems}) == different
        for problem in problems:
            assert problem.num_edges == dimensions * 2 ** (dimensions - 1)
            assert (np.bitwise_count(problem.edges[:, 0] ^ problem.edges[:, 1]) == 1).all()
            energies = energies_of(problem)
            assert energies.min() == energy == energies[-1]  # all up is the last state
            assert (energies == energy).sum() == 2 * ground_states
            if dimensions == 3:
                assert set(np.abs(problem.weights)) == {1}


def test_every_tile_of_a_class_is_as_likely_as_any_other():
    """The 48 positions of a cube give each of its different tiles equally often."""
    for kind, (_, _, different) in enumerate(CUBE.values()):
        seen = [p.weights.tobytes() for p in tile_problems(cubes(), kind, 8, 4)]
        assert {seen.count(one) for one in seen} == {48 // different}


@pytest.mark.parametrize("name", CUBES)
def test_a_cubes_loops_tell_what_all_its_ground_states_satisfy(name):
    """So no other certificate could show more about the ground states of one cube."""
    kind = list(CUBES).index(name)
    problem = tile_problems(cubes(), kind, 8, 4)[0]
    states = np.array(list(itertools.product((-1, 1), repeat=8)), dtype=np.int8)
    energies = problem.energy(states)
    best = states[energies == energies.min()]
    ends = best[:, problem.edges[:, 0]] * best[:, problem.edges[:, 1]] * problem.weights
    always = {tuple(edge) for edge in problem.edges[(ends == 1).all(axis=0)].tolist()}
    rest: dict[tuple[int, int], int] = {}
    for corners, weights in CUBES[name]:
        for k, corner in enumerate(corners[:-1]):
            edge = (min(corner, corners[k + 1]), max(corner, corners[k + 1]))
            rest[edge] = rest.get(edge, 0) + weights[k] + weights[-1]
    assert {edge for edge, amount in rest.items() if amount} == always


def test_symmetries_keep_neighbours():
    for dimensions, number in ((2, 8), (3, 48)):
        moves = symmetries(dimensions)
        assert len(set(moves)) == number
        for move in moves:
            for corner, axis in itertools.product(range(2**dimensions), range(dimensions)):
                step = move[corner] ^ move[corner ^ (1 << axis)]
                assert step.bit_count() == 1


@given(mixtures(("p1", "p2", "p3")), st.sampled_from([(4, "periodic"), (2, "open"), (4, "open")]),
       seeds)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_squares_have_the_planted_minimum(shares, where, rng):
    length, boundary = where
    plant = tiles2d(length, **shares, boundary=boundary, rng=rng)
    check_minimum(plant)
    family = "torus" if boundary == "periodic" else "lattice"
    allowed = set(map(tuple, Graph.parse(f"{family}:{length}x{length}").edges.tolist()))
    found = set(map(tuple, plant.problem.edges.tolist()))
    assert found == allowed if boundary == "periodic" else found <= allowed


def check_minimum(plant: Planted) -> None:
    plant.verify()
    energies = energies_of(plant.problem)
    assert energies.min() == plant.energy == plant.problem.energy(plant.state)
    stated = plant.summary().ground_states
    assert stated.is_exact
    assert stated.least == (energies == plant.energy).sum()
    assert Planted.from_recipe(plant.recipe) == plant


@given(mixtures(("p21", "p22", "p41", "p42")), seeds)
@settings(max_examples=40, deadline=None)
def test_a_cube_has_the_planted_minimum(shares, rng):
    check_minimum(tiles3d(2, **shares, boundary="open", rng=rng))


def slab_optimum(problem: Ising, length: int) -> tuple[int, int]:
    """Least energy and its number, by a transfer matrix over open planes of length² spins."""
    size = length**2
    states = np.array(list(itertools.product((-1, 1), repeat=size)), dtype=np.int64)
    inside = [np.zeros(len(states), dtype=np.int64) for _ in range(length)]
    between = [np.zeros(size, dtype=np.int64) for _ in range(length)]
    for (i, j), weight in zip(problem.edges.tolist(), problem.weights.tolist(), strict=True):
        if i // size == j // size:
            inside[i // size] -= weight * states[:, i % size] * states[:, j % size]
        else:
            between[i // size][i % size] = weight
    least, number = inside[0], np.ones(len(states), dtype=object)
    for plane in range(1, length):
        # One spin of a plane after the other: s is replaced by the next plane's t.
        for spin in range(size):
            pairs = [np.flatnonzero(states[:, spin] == sign) for sign in (-1, 1)]
            new_least, new_number = least.copy(), number.copy()
            for sign, rows in zip((-1, 1), pairs, strict=True):
                ways = [least[pairs[0]] + sign * between[plane - 1][spin],
                        least[pairs[1]] - sign * between[plane - 1][spin]]  # fmt: skip
                best = np.minimum(*ways)
                new_least[rows] = best
                new_number[rows] = sum(
                    number[side] * (way == best) for side, way in zip(pairs, ways, strict=True)
                )
            least, number = new_least, new_number
        least = least + inside[plane]
    best = least.min()
    return int(best), int(number[least == best].sum())


def test_the_transfer_matrix_counts_what_enumeration_counts():
    plant = tiles3d(2, p22="1/2", boundary="open", rng=4)
    energies = energies_of(plant.problem)
    assert slab_optimum(plant.problem, 2) == (plant.energy, (energies == plant.energy).sum())


@pytest.mark.slow
@pytest.mark.parametrize(
    "shares",
    [
        {}, {"p21": 1}, {"p22": 1}, {"p41": 1}, {"p42": 1},
        {"p21": "1/5", "p22": "1/5", "p41": "1/5", "p42": "1/5"},
    ],
)  # fmt: skip
def test_open_cubic_lattices_agree_with_the_transfer_matrix(shares):
    for rng in range(2):
        plant = tiles3d(4, **shares, boundary="open", rng=rng)
        plant.verify()
        least, number = slab_optimum(plant.problem, 4)
        assert least == plant.energy
        stated = plant.summary().ground_states
        assert number == stated.least if stated.is_exact else number >= stated.least


@pytest.mark.parametrize("shares", [{}, {"p22": 1}, {"p21": "1/3", "p41": "1/3", "p42": "1/3"}])
def test_cubic_lattices_are_complete_and_proven(shares):
    plant = tiles3d(6, **shares, rng=2)
    plant.verify()
    assert plant.problem.edges.tolist() == Graph.torus(6, 6, 6).edges.tolist()
    assert set(np.abs(plant.problem.weights)) == {1}
    assert plant.problem.energy(plant.state) == plant.energy


@pytest.mark.parametrize(
    ("grow", "energy"),
    [
        (partial(tiles2d, 8, p1=1, rng=1), -5 * 32),
        (partial(tiles2d, 8, rng=1), -4 * 32),
        (partial(tiles2d, 8, p3=1, rng=1), -3 * 32),
        (partial(tiles2d, 8, p1=0, rng=1), -2 * 32),
        (partial(tiles2d, 8, p1=1, boundary="open", rng=1), -5 * 25),
        (partial(tiles3d, 4, p21=1, rng=1), -10 * 16),
        (partial(tiles3d, 4, p22=1, rng=1), -8 * 16),
        (partial(tiles3d, 4, p41=1, rng=1), -8 * 16),
        (partial(tiles3d, 4, p42=1, rng=1), -8 * 16),
        (partial(tiles3d, 4, rng=1), -6 * 16),
    ],
)
def test_energies_are_those_of_the_classes(grow, energy):
    assert grow().energy == energy


@pytest.mark.parametrize(
    "grow", [partial(tiles2d, 12, p1=1, rng=3), partial(tiles3d, 6, p21=1, rng=3)]
)
def test_classes_of_one_ground_state_have_one_and_its_flip(grow):
    stated = grow().summary().ground_states
    assert (stated.least, stated.is_exact) == (2, True)


def test_classes_come_in_their_shares():
    plant = tiles2d(200, p1="1/8", p2="1/2", rng=5)
    weak = (np.abs(plant.loops.weights).reshape(-1, 4) == 1).sum(axis=1)
    number = len(weak)
    counts = np.bincount(weak, minlength=5)[1:]
    expected = np.array([1 / 8, 1 / 2, 0, 3 / 8]) * number
    assert counts[2] == 0
    assert (np.abs(counts - expected) < 5 * np.sqrt(number) / 2).all()


def test_one_tile_is_an_open_lattice_of_two():
    plant = tiles2d(2, boundary="open", p1=1, rng=1)
    assert (plant.problem.num_variables, plant.loops.num_loops, plant.energy) == (4, 1, -5)


@pytest.mark.parametrize("boundary", ["periodic", "open"])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_places_cover_every_spin_and_share_no_coupling(dimensions, boundary):
    lattice = TileLattice.of(6, dimensions, boundary)
    places = lattice.places()
    assert len(places) == lattice.num_tiles
    assert set(places.ravel().tolist()) == set(range(6**dimensions))
    edges = [
        tuple(sorted((place[a], place[a ^ (1 << axis)])))
        for place in places.tolist()
        for a in range(2**dimensions)
        for axis in range(dimensions)
        if not a >> axis & 1
    ]
    assert len(edges) == len(set(edges))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"length": 5}, "length=5 is odd, so the checkerboard of tiles would not close"),
        ({"length": 5, "boundary": "open"}, "length=5 is odd, so some corners of an open lattice"),
        ({"length": 2}, "length"),
        ({"length": 0, "boundary": "open"}, "length"),
        ({"length": "4"}, "length"),
        ({"length": 2**15}, "exceeds the limit of 2\\^28 spins"),
        ({"length": 8, "boundary": "closed"}, "boundary='closed' is not one of"),
        ({"length": 8, "p1": "3/2"}, "p1=3/2 is not a probability"),
        ({"length": 8, "p2": -0.5}, "p2=-0.5 is not a probability"),
        ({"length": 8, "p1": 0.5, "p3": 0.6}, "p1=0.5 \\+ p2=0 \\+ p3=0.6 must be at most 1.*C4"),
        ({"length": 8, "p1": "often"}, "p1"),
        ({"length": 8, "p1": Fraction(1, 3**39), "p2": Fraction(1, 2**60)}, "common denominator"),
        ({"length": 4, "state": "+-"}, "state"),
    ],
)
def test_corners_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        tiles2d(**arguments, rng=1)


def test_recipes_are_counted_before_they_are_grown():
    asked = {"length": 646, "boundary": "open"}
    with pytest.raises(ValueError, match=r"limit of 2\^28 spins"):
        Plan.of(Recipe("tiles3d", asked, Seed(1)))
    for asked in ({}, {"length": None}, {"length": True}, {"length": 8, "boundary": 3}):
        for name in ("tiles2d", "tiles3d"):
            with pytest.raises(ValueError, match=r"length|boundary"):
                Plan.of(Recipe(name, asked, Seed(1)))


def test_a_state_turns_signs_and_nothing_else():
    up = tiles3d(4, p22="1/2", state="+" * 64, rng=9)
    plant = tiles3d(4, p22="1/2", rng=9)
    assert up.loops == plant.loops
    assert gauge(plant.problem, plant.state) == up.problem
    assert plant.regauge([1] * 64) == up


@pytest.mark.parametrize(("method", "length"), [(tiles2d, 320), (tiles3d, 46)])
def test_100_000_spins_are_planted_in_seconds(method, length, capsys):
    started = time.perf_counter()
    plant = method(length, rng=1)
    seconds = time.perf_counter() - started
    plant.verify()
    asked = Plan.of(plant.recipe).demand
    assert asked.spins == plant.problem.num_variables > 97_000
    assert asked.parts >= plant.loops.num_loops
    with capsys.disabled():
        print(f" {plant} in {seconds:.2f} s", end="")


def test_seeds_grow_what_they_always_grew():
    found = [
        fingerprint(tiles2d(8, p1="1/4", p2="1/4", p3="1/4", rng=1)),
        fingerprint(tiles3d(4, p21="1/5", p22="1/5", p41="1/5", p42="1/5", rng=1)),
    ]
    assert found == ["71e864118fbc8bbe", "f2bc046a37198c0c"]
