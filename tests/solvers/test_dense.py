"""Kernels for dense problems: odds of rare flips, energies of floats, any width of numbers."""

from __future__ import annotations

import hashlib
from itertools import pairwise

import numpy as np
import pytest
from tests.solvers.block_runs import final_states, key_of, make_engine

from glasshouse.problems import Ising, Rbm
from glasshouse.problems.convert import to_ising
from glasshouse.solvers import anneal, brute_force, engines
from glasshouse.solvers.engines import dense, dense_numbers
from glasshouse.solvers.kernels import driver

DRAWS = np.random.default_rng(2)
PROBLEMS = {
    "layers": Rbm(DRAWS.integers(-99, 100, (20, 24))),
    "wide layers": Rbm(DRAWS.integers(-99999, 100000, (20, 24)), DRAWS.integers(-9, 9, 20)),
    "layers of floats": Rbm(
        DRAWS.normal(size=(20, 24)), DRAWS.normal(size=20), DRAWS.normal(size=24)
    ),
    "complete": Ising.from_matrix(np.triu(DRAWS.integers(-99, 100, (50, 50)), 1)),
    "wide complete": Ising.from_matrix(np.triu(DRAWS.integers(-99999, 100000, (30, 30)), 1)),
    "complete, of floats": Ising.from_matrix(np.triu(DRAWS.normal(size=(30, 30)), 1)),
    "complete, of bytes": Ising.from_matrix(np.triu(DRAWS.integers(-9, 10, (70, 70)), 1)),
}


COMPLETE = [name for name in PROBLEMS if "complete" in name]


def kernel_of(name: str) -> str:
    return "dense layers" if "layers" in name else "dense lanes"


@pytest.mark.parametrize("kernel", ["dense", "dense layers"])
@pytest.mark.parametrize("half_lives", [5, 9.5, 12])
def test_rare_flips_have_their_odds(kernel, half_lives):
    """All spins are held by a strong field: more than 8 half-lives are drawn in two steps.

    Four standard errors: with other seeds one of these tests would fail once in 2700 times.
    """
    ends = [(i, 16 + j) for i in range(16) for j in range(16)]
    problem = Ising.from_edges(32, ends, np.ones(256, int), fields=np.full(32, 10_000))
    made = make_engine(kernel, problem)
    beta = half_lives * np.log(2) / (2 * 10_016)
    runs = 1600 if half_lives < 9 else 16000
    downs = (final_states(made, problem, np.full(6, beta), runs, seed=4) < 0).sum()
    expected = 32 * runs / (1 + 2**half_lives)
    assert abs(downs - expected) < 4 * np.sqrt(expected)


@pytest.mark.parametrize("kernel", ["dense", "dense layers"])
@pytest.mark.parametrize("margin", [1, 2, 3])
def test_rare_flips_against_few_units_have_their_odds(kernel, margin):
    """One spin is opposed by few units, all others are held; a half-life is less than a unit.

    Four standard errors: with other seeds one of these tests would fail once in 2700 times.
    """
    ends = [(i, 16 + j) for i in range(16) for j in range(16)]
    fields = np.full(32, 5_000)
    fields[0] = margin - 16
    problem = Ising.from_edges(32, ends, np.ones(256, int), fields=fields)
    made = make_engine(kernel, problem)
    beta = 8.7 * np.log(2) / (2 * margin)
    downs = (final_states(made, problem, np.full(6, beta), 16000, seed=4)[:, 0] < 0).sum()
    expected = 16000 / (1 + 2**8.7)
    assert abs(downs - expected) < 4 * np.sqrt(expected)


HOT = (1e-5, 1e-3)


@pytest.mark.parametrize(
    ("problem", "beta"),
    [
        (Ising.from_matrix(np.triu(2700 * DRAWS.choice([-1, 1], (13, 13)), 1)), None),
        (Ising.from_matrix(np.triu(2**26 * DRAWS.choice([-1, 1], (13, 13)), 1)), (1e-10, 1e-8)),
        (Ising.from_matrix(np.triu(DRAWS.integers(-99, 100, (10, 10)), 1)), HOT),
        (Rbm(DRAWS.integers(-100, 101, (9, 9)), np.full(9, 30_000)), HOT),
        (Ising.from_matrix(np.triu(DRAWS.normal(size=(13, 13)), 1)), HOT),
    ],
)
@pytest.mark.parametrize("check", ["sweep", "flip"])
def test_nothing_is_hit_below_the_optimum(problem, beta, check):
    """Slots that are left over never flip, however hot it is."""
    below = brute_force(problem).energy - 1
    for schedule in (beta, (0.0, 1e-4)):
        shape = "geometric" if schedule is beta else "linear"
        result = anneal(problem, sweeps=200, target=below, check=check, beta=schedule,
                        schedule=shape, rng=1)  # fmt: skip
        assert result.kernel.startswith("dense")
        assert result.successes == 0
        assert result.share == 1.0


@pytest.mark.parametrize("check", ["sweep", "flip"])
@pytest.mark.parametrize("seed", range(4))
def test_optima_of_floats_are_seen_when_they_are_reached(check, seed):
    draws = np.random.default_rng(seed)
    problem = Ising.from_matrix(np.triu(draws.normal(size=(16, 16)), 1))
    result = anneal(problem, sweeps=1000, runs=16, target=brute_force(problem).energy, check=check,
                    rng=1)  # fmt: skip
    assert result.kernel == "dense lanes"
    hits = result.hits[result.hits > 0]
    assert len(hits) > 8
    assert hits.max() < 1000


@pytest.mark.parametrize("kernel", ["dense lanes", "dense layers"])
def test_states_that_differ_below_the_unit_only_are_told_apart(kernel):
    draws = np.random.default_rng(0)
    weights = draws.choice([-1.0, 1.0], (10, 10)) + 1e-9 * draws.normal(size=(10, 10))
    problem = to_ising(Rbm(weights))[0]
    if kernel == "dense lanes":
        square = draws.choice([-1.0, 1.0], (16, 16)) + 1e-9 * draws.normal(size=(16, 16))
        problem = Ising.from_matrix(np.triu(square, 1))
    result = anneal(problem, runs=16, sweeps=600, beta=[0.6] * 600,
                    target=brute_force(problem).energy, rng=0)  # fmt: skip
    assert result.kernel == kernel
    assert (result.hits > 0).sum() >= 14


@pytest.mark.parametrize("name", PROBLEMS)
def test_energies_and_hits_are_those_of_the_states(name):
    problem = PROBLEMS[name]
    best = anneal(problem, sweeps=300, runs=64, rng=5)
    assert best.kernel == kernel_of(name)
    target = best.best_energy
    for check in ("sweep", "flip"):
        result = anneal(problem, sweeps=100, runs=40, target=target, check=check, rng=6)
        assert result.successes > 0
        assert np.array_equal(result.energies, problem.energy(result.states))
        assert (result.energies[result.hits > 0] <= target + 1e-9).all()
        assert (result.energies[result.hits == 0] > target).all()


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_run_does_not_depend_on_the_number_of_runs(name):
    few = anneal(PROBLEMS[name], sweeps=30, runs=3, rng=7)
    many = anneal(PROBLEMS[name], sweeps=30, runs=37, rng=7, threads=2)
    assert np.array_equal(few.states, many.states[:3])


@pytest.mark.parametrize("name", ["layers", "complete, of bytes"])
@pytest.mark.parametrize("check", ["sweep", "flip"])
def test_a_hit_does_not_depend_on_the_number_of_runs(name, check):
    """Results after the hit may differ: a block continues until all its runs have hit."""
    problem = PROBLEMS[name]
    target = int(anneal(problem, sweeps=100, runs=20, rng=8).energies.max())
    options = {"sweeps": 100, "target": target, "check": check, "rng": 7}
    few, many = (anneal(problem, runs=runs, **options) for runs in (3, 37))
    assert few.successes > 0
    assert np.array_equal(few.hits, many.hits[:3])
    assert (few.energies >= many.energies[:3]).all()


@pytest.mark.parametrize("most", [2**20, 20])
def test_hot_and_cold_sweeps_in_turn_lead_to_the_same_states_whoever_else_runs(most, monkeypatch):
    """Fields kept or added up again, watched or not, many runs or few: equal random numbers."""
    draws = np.random.default_rng(0)
    problem = Ising.from_matrix(np.triu(draws.integers(-most, most, (33, 33)), 1))
    for seed in range(20):
        betas = draws.choice([0, 0.02, 0.2, 0.5, 1e5], 200) / most
        options = {"sweeps": 200, "beta": betas, "rng": seed}
        few = anneal(problem, runs=4, **options)
        assert few.kernel == "dense lanes"
        assert np.array_equal(anneal(problem, runs=16, **options).states[:4], few.states)
        with monkeypatch.context() as patch:
            engines.forget()
            for limit in ("_OF_FOUR", "_OF_TWO", "_OF_TWO_IN_BYTES"):
                patch.setattr(dense_numbers, limit, -1)
            assert np.array_equal(anneal(problem, runs=4, **options).states, few.states)
        engines.forget()


@pytest.mark.parametrize("name", COMPLETE)
@pytest.mark.parametrize("cut", [1, 17, 60])
def test_a_run_may_be_cut_while_many_spins_flip(name, cut):
    problem = PROBLEMS[name]
    made = make_engine("dense", problem)
    betas = np.geomspace(0.01, 1, 80) / np.abs(problem.weights).mean()
    blocks = [made.new_block(), made.new_block()]
    for block, ends in zip(blocks, ([0, 80], [0, cut, 80]), strict=True):
        driver.start_block(made.tables, key_of(3), 0, made.never, block)
        for first, last in pairwise(ends):
            driver.anneal_block(made.tables, betas[first:last], first, 79, made.lanes, block)
    assert np.array_equal(blocks[0].spins, blocks[1].spins)


@pytest.mark.parametrize("name", PROBLEMS)
def test_fields_do_not_drift(name):
    """After thousands of flips a run still sees the fields of its spins."""
    problem = to_ising(PROBLEMS[name])[0]
    made = make_engine(kernel_of(name).removesuffix(" lanes"), problem)
    block = made.new_block()
    driver.start_block(made.tables, key_of(3), 0, made.never, block)
    hot = np.full(500, 0.1 / np.abs(problem.weights).mean())
    driver.anneal_block(made.tables, hot, 0, 0, made.lanes, block)
    size = made.tables.own.size
    records = block.spins.reshape(-1, 2, size).astype(np.int64)
    places = made.tables.slots
    spins = np.empty((made.lanes, problem.num_variables))
    spins[:, made.order] = 1 + 2 * records[:, 1, places]
    couplings = np.zeros((problem.num_variables, problem.num_variables))
    couplings[tuple(problem.edges.T)] = problem.weights
    fields = spins @ (couplings + couplings.T) + problem.fields
    unit = made.tables.rounding.unit
    np.testing.assert_allclose(
        unit * records[:, 0, places], fields[:, made.order], atol=problem.num_variables * unit / 2
    )


@pytest.mark.parametrize("name", ["layers of floats", "complete, of floats"])
def test_the_lowest_energy_of_floats_is_exact(name):
    problem = to_ising(PROBLEMS[name])[0]
    made = make_engine(kernel_of(name).removesuffix(" lanes"), problem)
    block = made.new_block()
    driver.start_block(made.tables, key_of(3), 0, made.never, block)
    betas = np.geomspace(0.1, 3, 200)
    driver.anneal_block(made.tables, betas, 0, 0, made.lanes, block)
    states = np.empty((made.lanes, problem.num_variables), np.int8)
    made.states(block, states)
    expected = problem.energy(states) - problem.offset
    np.testing.assert_allclose(block.lowest, expected, rtol=0, atol=1e-12)
    rounded = np.rint(expected / made.tables.rounding.unit) * made.tables.rounding.unit
    assert np.abs(rounded - expected).max() > 1e-9  # units alone would not have shown it


def test_groups_of_two_spins_do_as_those_of_four(monkeypatch):
    four = anneal(PROBLEMS["layers"], sweeps=30, runs=20, rng=1)
    engines.forget()
    monkeypatch.setattr(dense, "_SMALL", 0)
    two = anneal(PROBLEMS["layers"], sweeps=30, runs=20, rng=1)
    assert np.array_equal(four.states, two.states)


@pytest.mark.parametrize("name", COMPLETE)
def test_fields_kept_and_fields_added_up_anew_lead_to_the_same_states(name, monkeypatch):
    """From so hot that half of the spins flip to so cold that none does."""
    problem = PROBLEMS[name]
    scale = np.abs(problem.weights).mean()
    options = {"sweeps": 200, "runs": 20, "rng": 1, "beta": (0.01 / scale, 9 / scale)}
    states = anneal(problem, **options).states
    for limit in ("_MOST_BYTE", "_OF_FOUR", "_OF_TWO"):  # wide sums, of two spins, none
        engines.forget()
        monkeypatch.setattr(dense_numbers, limit, -1)
        assert np.array_equal(anneal(problem, **options).states, states)


@pytest.mark.parametrize("sites", [20, 32, 45, 64, 81])
@pytest.mark.parametrize("most", [4, 31, 32])
@pytest.mark.parametrize("group", [4, 2])
def test_sums_in_bytes_do_as_wide_ones(sites, most, group, monkeypatch):
    """Up to the largest weights of which two sums of four fit a byte, and one above."""
    draws = np.random.default_rng(sites)
    weights = np.triu(draws.choice([-most, most], (sites, sites)), 1)
    problem = Ising.from_matrix(weights, draws.integers(-9, 10, sites))
    options = {"sweeps": 60, "runs": 20, "rng": 1, "beta": (0.01 / most, 1 / most)}
    if group == 2:
        monkeypatch.setattr(dense_numbers, "_OF_FOUR", -1)
    tables = make_engine("dense", problem).tables
    in_bytes = most * 2 * group <= 255
    assert (tables.sums.dtype, tables.log_group) == (np.uint8 if in_bytes else np.int16, group // 2)
    engines.forget()
    states = anneal(problem, **options).states
    engines.forget()
    monkeypatch.setattr(dense_numbers, "_MOST_BYTE", -1)
    assert np.array_equal(anneal(problem, **options).states, states)


@pytest.mark.parametrize(("largest", "kind"), [(38, np.uint8), (39, np.int16)])
def test_two_sums_may_fill_a_byte_to_the_last(largest, kind, monkeypatch):
    """Seven weights of 31 and one of 38 in any eight rows: 255."""
    i, j = np.indices((96, 96))
    weights = np.triu(np.where((i + j) % 8 == 7, largest, 31), 1)
    problem = Ising.from_matrix(weights)
    tables = make_engine("dense", problem).tables
    assert tables.sums.dtype == kind
    if kind == np.uint8:
        by_groups = tables.sums.reshape(3, 24, 16, 32).max(axis=2).astype(int)
        assert (by_groups[:, 0::2] + by_groups[:, 1::2]).max() == 255
    options = {"sweeps": 60, "runs": 20, "rng": 1, "beta": (1e-5, 0.02)}
    engines.forget()
    states = anneal(problem, **options).states
    engines.forget()
    for limit in ("_OF_FOUR", "_OF_TWO", "_OF_TWO_IN_BYTES"):
        monkeypatch.setattr(dense_numbers, limit, -1)
    assert np.array_equal(anneal(problem, **options).states, states)
    engines.forget()


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("heat", [0.01, 0.3, 3])
def test_spins_that_are_watched_do_as_the_others(name, heat):
    """Watched flips come one by one; others are settled sixteen sites at a time."""
    problem = to_ising(PROBLEMS[name])[0]
    made = make_engine(kernel_of(name).removesuffix(" lanes"), problem)
    betas = np.full(40, heat / np.abs(problem.weights).mean())
    betas[::5] *= 1000  # too cold for any flip upwards
    blocks = [made.new_block(), made.new_block()]
    for run, block in zip((driver.anneal_block, driver.watch_block), blocks, strict=True):
        driver.start_block(made.tables, key_of(3), 0, made.never, block)
        run(made.tables, betas, 0, 0, made.lanes, block)
    assert np.array_equal(blocks[0].energies, blocks[1].energies)
    assert np.array_equal(blocks[0].spins, blocks[1].spins)


@pytest.mark.parametrize("weight", [1e-7, 2.0**40])
def test_weights_too_unlike_for_one_unit_go_to_another_kernel(weight):
    """A spin whose own weights are lost beside those of the others would flip freely."""
    weights = np.full((12, 12), 1.5)
    weights[:, 3] = 1e-7 if weight < 1 else 0.1
    weights[0, :3] = 1e3 if weight < 1 else weight
    assert anneal(Rbm(weights), sweeps=2, runs=1, rng=1).kernel not in (
        "dense layers",
        "dense lanes",
    )


def test_a_seed_means_the_same_on_every_machine():
    """Changes of random numbers must be meant; floats have the same bits everywhere, too."""
    found = {
        name: hashlib.sha256(
            anneal(PROBLEMS[name], sweeps=60, runs=40, rng=1, beta=(0.01, 0.5)).states.tobytes()
        ).hexdigest()[:8]
        for name in ("layers", "layers of floats", "complete", "complete, of floats")
    }
    assert found == {
        "layers": "bba4d8c5",
        "layers of floats": "49e57fb3",
        "complete": "6d62a26f",
        "complete, of floats": "d88e4769",
    }
