"""Algorithm 1: its distribution, options and limits."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from tests.entries import entry
from tests.planting.plants import quarters, seeds, sizes

from glasshouse.landscape import frustration_index
from glasshouse.planting import Seed, random_loops_ensemble
from glasshouse.planting.demand import new_meter
from glasshouse.planting.kernels import cells
from glasshouse.planting.kernels import random_loops as kernels
from glasshouse.planting.methods import random_loops, uniform_max2sat
from glasshouse.planting.methods.random_loops import _drop_loops, weight_law
from glasshouse.problems.convert import to_max2sat

# A correct generator fails a statistical test here once in 10^6 seeds; the seeds are fixed.
FALSE_ALARM = 1e-6
UNLIMITED = kernels.UNLIMITED
put_at = entry(cells.put_at)
find_rows, find_column = entry(kernels._find_rows), entry(kernels._find_column)
N, M = 3, 3


def loop_odds(matrix: np.ndarray) -> dict[tuple[int, ...], float]:
    """Algorithm 1 written out: the probability of every next loop j1, i1, j2, i2."""
    odds: Counter[tuple[int, ...]] = Counter()
    n, m = matrix.shape
    for j1 in range(m):
        rows = [
            (i1, i2)
            for i1, i2 in permutations(range(n), 2)
            if matrix[i1, j1] >= 0 >= matrix[i2, j1]
        ]
        for i1, i2 in rows:
            columns = [j2 for j2 in range(m) if j2 != j1 and matrix[i1, j2] >= 0 <= matrix[i2, j2]]
            for j2 in columns:
                odds[n + j1, i1, n + j2, i2] += 1 / (m * len(rows) * len(columns))
    total = sum(odds.values())  # failed draws start again from a new column
    return {loop: value / total for loop, value in odds.items()}


def sign_matrix(loops: np.ndarray) -> np.ndarray:
    matrix = np.zeros((N, M), dtype=int)
    for j1, i1, j2, i2 in loops:
        matrix[i1, j1 - N] = matrix[i1, j2 - N] = matrix[i2, j2 - N] = 1
        matrix[i2, j1 - N] = -1
    return matrix


def test_every_loop_is_as_likely_as_the_algorithm_says() -> None:
    many = random_loops_ensemble(N, M, 30_000, frustration="1/5", loops=4, rng=1)
    for k in range(4):
        before = Counter(loops.tobytes() for loops in many.nodes[:, :k])
        signs: Counter[bytes] = Counter()
        for loops, count in before.items():
            nodes = np.frombuffer(loops, dtype=np.int32).reshape(-1, 4)
            signs[sign_matrix(nodes).tobytes()] += count
        expected: Counter[tuple[int, ...]] = Counter()
        for matrix, count in signs.items():
            for loop, odds in loop_odds(np.frombuffer(matrix, dtype=int).reshape(N, M)).items():
                expected[loop] += count * odds
        observed = Counter(map(tuple, many.nodes[:, k].tolist()))
        assert set(observed) <= set(expected)
        counts = [observed[loop] for loop in expected]
        assert chisquare(counts, list(expected.values())).pvalue > FALSE_ALARM


@pytest.mark.parametrize("dense", [True, False])
def test_a_full_scan_finds_the_same_pairs_and_columns(dense: bool) -> None:
    column = [0, 5, -2, 0, 7]
    matrix = cells.new_cells(5 * 4, 20, signs=False, dense=dense)
    for row, value in enumerate(column):
        put_at(matrix, row * 4 + 1, value, False)
    stream = Seed.of(1).streams(1)[0]
    room = UNLIMITED - 9
    drawn = Counter(find_rows(stream, 5, 4, 1, room, room, matrix) for _ in range(20_000))
    allowed = [p for p in permutations(range(5), 2) if column[p[0]] >= 0 >= column[p[1]]]
    assert sorted(drawn) == sorted(allowed)
    assert chisquare(list(drawn.values())).pvalue > FALSE_ALARM
    # With room for 6 more at most, row 4 takes no positive weight and row 2 no negative one.
    limited = {find_rows(stream, 5, 4, 1, 6, 1, matrix) for _ in range(2000)}
    assert limited == {(i, j) for i, j in permutations((0, 1, 3), 2) if j != 1}
    assert find_rows(stream, 1, 4, 1, room, room, matrix) == (-1, -1)
    columns = Counter(find_column(stream, 4, 0, 2, 0, room, room, matrix) for _ in range(3000))
    assert sorted(columns) == [2, 3]  # column 1 is negative in row 2
    for j in (2, 3):
        put_at(matrix, 2 * 4 + j, -1, False)
    assert find_column(stream, 4, 0, 2, 0, room, room, matrix) == -1


@given(sizes(40), quarters, st.integers(1, 200), seeds, st.sampled_from([UNLIMITED, 200, 0]))
@settings(deadline=None, max_examples=60)
def test_dense_and_hashed_matrices_give_the_same_loops(
    size: tuple[int, int], f: Fraction, loops: int, seed: int, most: int
) -> None:
    law, _ = weight_law(f, "equal", None, None)
    grown = []
    for dense in (True, False):
        stream = Seed.of(seed).streams(1)[0]
        try:
            grown.append(_drop_loops(stream, *size, loops, law, most, new_meter(), dense))
        except ValueError as error:
            grown.append(str(error))
    assert grown[0] == grown[1]


def test_two_by_two_takes_any_number_of_loops() -> None:
    plant = random_loops(2, 2, frustration="1/4", loops=10_000, rng=1)
    plant.verify()
    assert plant.energy == -20_000


def test_loop_density_counts_visible_spins_and_rounds_up_exactly() -> None:
    assert random_loops(100, 50, frustration=0.2, loop_density=0.07, rng=1).loops.num_loops == 7
    assert random_loops(100, 50, frustration=0.2, loop_density="1/3", rng=1).loops.num_loops == 34


def test_frustration_is_taken_as_the_decimal_it_prints_as() -> None:
    for f in (0.2, "0.2", "1/5", Fraction(1, 5), np.float64(0.2), np.float32(0.2)):
        plant = random_loops(4, 4, frustration=f, loops=3, rng=1)
        assert (plant.loops.weights[0], plant.loops.weights[3]) == (4, -3)


@given(quarters, st.integers(3, 12))
def test_disjoint_loops_leave_every_weight_as_dropped(f: Fraction, n: int) -> None:
    plant = random_loops(n, n, frustration=f, loops=max(1, n * n // 12), overlap="none", rng=n)
    weights = plant.ising.weights[plant.ising.weights != 0]
    positive, negative = plant.loop_weight, int(plant.loops.negative_weights[0])
    assert set(np.abs(weights)) <= {positive, -negative}
    if f:
        assert plant.ising.num_edges == 4 * len(plant.loops)


def test_numpy_integers_are_integers() -> None:
    size, count = np.int32(6), np.int64(5)
    plant = random_loops(size, size, frustration="1/5", loops=count, max_weight=np.int64(9), rng=1)
    assert plant == random_loops(6, 6, frustration="1/5", loops=5, max_weight=9, rng=1)
    assert '"loops":5' in plant.recipe.to_json()


def test_max_weight_is_reached_and_never_passed() -> None:
    plant = random_loops(10, 10, frustration="1/5", loops=60, max_weight=12, rng=1)
    assert np.abs(plant.ising.weights).max() == 12
    free = random_loops(10, 10, frustration="1/5", loops=60, rng=1)
    assert np.abs(free.ising.weights).max() > 12


def test_normal_weights_scatter_as_asked() -> None:
    plant = random_loops(
        50, 50, frustration="1/5", loops=4000, weights="normal", spread="1/8", resolution=64, rng=1
    )
    positive = plant.loops.positive_weights
    assert plant.loop_weight == 4 * 64
    # 12000 draws: mean within 5 standard errors, deviation within 5 % (false alarm below 10^-6).
    assert abs(positive.mean() - 256) < 5 * 32 / np.sqrt(len(positive))
    assert positive.std() == pytest.approx(32, rel=0.05)
    weakest = plant.loops.weights.reshape(-1, 4)[:, :3].min(axis=1)
    assert (-plant.loops.negative_weights <= weakest).all()
    assert (-plant.loops.negative_weights == weakest).any()
    assert frustration_index(plant.problem, plant.state) == pytest.approx(0.2, abs=0.005)
    plant.verify()


def test_uniform_instances_have_clauses_of_one_weight_at_the_asked_density() -> None:
    plant = uniform_max2sat(40, 24, clause_density="5/2", rng=1)
    clauses, _ = to_max2sat(plant.problem)
    assert len(set(clauses.weights.tolist())) == 1
    assert Fraction(len(clauses.clauses), 64) == Fraction(5, 2) == plant.summary().clause_density
    plant.verify()


# Limits ------------------------------------------------------------------------------------------

BAD = [
    (
        {"frustration": 0.3},
        "frustration=0.3 is above 1/4, the largest f of a loop with 4",
    ),
    ({"frustration": 0.3}, r"graph_loops \(glasshouse plant graph\) on a graph with triangles"),
    ({"frustration": 2}, r"edges; use 1/4 or less$"),
    ({"frustration": "-1/5"}, "below 0"),
    ({"frustration": "x"}, "finite fraction"),
    ({"frustration": "1/0"}, "finite fraction"),
    ({"frustration": float("nan")}, "finite fraction"),
    ({"frustration": True}, "not a number"),
    ({"n": 1}, "n=1 is too small"),
    ({"m": 0}, "m=0 is too small"),
    ({"n": 2.0}, "n=2.0 is not an integer"),
    ({"n": 2**28 - 3}, "exceed the limit of 2\\^28 spins; use smaller layers"),
    ({"loops": None}, "one of loops=NUMBER and loop_density=RATIO; neither is given"),
    ({"loop_density": 1}, "one of loops=NUMBER and loop_density=RATIO; both are given"),
    ({"loops": 0}, "loops=0 is below 1"),
    ({"loops": None, "loop_density": 0}, "must be above 0"),
    ({"state": [1] * 7}, "state has shape"),
    ({"state": [1] * 7 + [0]}, "only -1 and 1"),
    ({"state": "++++++-x"}, r"only \+ and -"),
    ({"overlap": "some"}, "overlap='some' is not one of 'constructive', 'none'"),
    ({"weights": "uniform"}, "weights='uniform' is not one of"),
    ({"spread": 0.1}, 'need weights="normal"'),
    ({"weights": "normal", "spread": 0.5}, "at most 1/3"),
    ({"weights": "normal", "spread": 0}, "above 0"),
    ({"weights": "normal", "spread": "1/100", "resolution": 1}, "use a higher resolution"),
    ({"weights": "normal", "resolution": 10**9}, "use a lower resolution"),
    ({"max_weight": 3}, "max_weight=3 is below 4"),
    ({"max_weight": 700, "weights": "normal"}, "max_weight=700 is below 800"),
    ({"max_weight": 8, "overlap": "none"}, "remove max_weight"),
    ({"max_weight": 8, "loops": 100}, "no space for 100 loops under max_weight=8 on 4 × 4"),
    (
        {"overlap": "none", "loops": 5},
        "no space for 5 disjoint loops on 4 × 4, which hold at most 4",
    ),
    ({"frustration": "0.1000000000000000000001"}, "energies are not exact"),
    ({"loops": 2**28, "frustration": "1/99999999999"}, "energies are not exact"),
    ({"loops": 2**28 + 1}, "more than 2\\^28 loops, which is the limit; use fewer"),
    ({"loops": None, "loop_density": 1e9}, "more than 2\\^28 loops"),
    ({"loops": None, "loop_density": "1e999999999"}, "loop_density has more than 450 digits"),
    ({"rng": -5}, "rng=-5 is negative"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_bad_input_is_refused_with_a_remedy(change: dict[str, object], message: str) -> None:
    options = {"n": 4, "m": 4, "frustration": "1/5", "loops": 3, "rng": 1} | change
    with pytest.raises(ValueError, match=message):
        random_loops(**options)


def test_too_many_disjoint_loops_state_the_most_that_fit() -> None:
    options = {"frustration": "1/4", "overlap": "none", "rng": 1}
    with pytest.raises(ValueError, match="no space for 6 disjoint loops on 5 × 5, which hold"):
        random_loops(5, 5, loops=6, **options)
    # 9 × 9 could hold 18, but loops dropped at random close the way to that.
    with pytest.raises(ValueError, match=r"18 disjoint loops on 9 × 9: 1\d was the most") as bad:
        random_loops(9, 9, loops=18, **options)
    assert 12 <= bad.value.most < 18
    assert len(random_loops(9, 9, loops=12, **options).loops) == 12
    with pytest.raises(
        ValueError, match=r"needs 21 .* not even 19 can fit; use a density well below 8 "
    ):
        uniform_max2sat(9, 9, clause_density=9, rng=1)
    with pytest.raises(ValueError, match=r"needs 18 .* but 1\d was the most that fitted; use"):
        uniform_max2sat(9, 9, clause_density=8, rng=1)
    with pytest.raises(ValueError, match="must be above 0"):
        uniform_max2sat(10, 10, clause_density=0, rng=1)


def test_even_layers_are_filled_to_the_last_cell() -> None:
    plant = random_loops(8, 8, frustration="1/4", loops=16, overlap="none", rng=1)
    assert plant.ising.num_edges == 64
    plant.verify()


def test_ensembles_are_single_calls_side_by_side() -> None:
    options = {"frustration": "1/5", "loop_density": "0.345"}
    many = random_loops_ensemble(30, 20, 5, rng=8, **options)
    assert len(many) == 5
    for k, plant in enumerate(many):
        child = np.random.SeedSequence(8, spawn_key=(k,))
        assert plant == random_loops(30, 20, rng=child, **options)
        assert plant.energy == many.energy
        plant.verify()
    assert many[-1] == many[4]
    with pytest.raises(IndexError):
        many[5]
    longer = random_loops_ensemble(30, 20, 9, rng=8, **options)
    assert (longer.nodes[:5] == many.nodes).all()
    assert len(random_loops_ensemble(4, 4, 0, frustration=0, loops=2)) == 0


def test_large_sparse_instances_never_make_a_dense_matrix() -> None:
    plant = random_loops(40_000, 40_000, frustration="1/5", loops=20_000, rng=1)
    assert plant.problem.is_sparse
    plant.verify()
    assert frustration_index(plant.problem, plant.state) == Fraction(1, 5)
