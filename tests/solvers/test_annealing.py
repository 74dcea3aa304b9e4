"""The public annealer: the same whatever the threads, right for every kind of problem, refusing."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import optimum
from tests.solvers.block_runs import MAKERS, key_of, make_engine
from tests.strategies import isings, problems

from glasshouse.planting.methods import random_loops
from glasshouse.problems import Ising, Max2Sat, Qubo, Rbm
from glasshouse.solvers import anneal, paper_schedule
from glasshouse.solvers.kernels import driver


def lattice(size: int, seed: int = 0) -> Ising:
    """A square lattice with periodic boundaries and weights ±1."""
    site = np.arange(size * size).reshape(size, size)
    edges = np.concatenate(
        [np.stack([site, np.roll(site, 1, axis)], -1).reshape(-1, 2) for axis in (0, 1)]
    )
    signs = np.random.default_rng(seed).choice([-1, 1], len(edges))
    return Ising.from_edges(size * size, edges, signs)


def gaussian_lattice(size: int) -> Ising:
    """The same lattice with weights from a normal distribution: floats."""
    edges = lattice(size).edges
    return Ising.from_edges(size * size, edges, np.random.default_rng(1).normal(size=len(edges)))


def digest(result) -> str:
    return hashlib.sha256(result.states.tobytes()).hexdigest()[:16]


def complete(size: int) -> Ising:
    """All pairs coupled by integers up to 99."""
    draws = np.random.default_rng(1)
    return Ising.from_matrix(np.triu(draws.integers(-99, 100, (size, size)), 1))


# What comes out -------------------------------------------------------------------------------


@settings(max_examples=60)
@given(problem=problems, seed=st.integers(0, 2**32))
def test_small_problems_of_every_kind_are_solved(problem, seed):
    result = anneal(problem, sweeps=60, runs=20, rng=seed)
    best, states = optimum(problem)
    energy = problem.cost if isinstance(problem, Max2Sat) else problem.energy
    assert np.array_equal(result.energies, energy(result.states))
    assert result.best_energy == pytest.approx(best, abs=1e-9)
    if isinstance(best, int):
        assert tuple(map(int, result.best_state)) in states


@settings(max_examples=60)
@given(problem=isings(exact=None), seed=st.integers(0, 2**32))
@pytest.mark.parametrize("kernel", MAKERS)
def test_energies_followed_by_a_kernel_are_those_of_its_states(kernel, problem, seed):
    made = make_engine(kernel, problem)
    if made is None or not len(made.order):
        return
    block = made.new_block()
    driver.start_block(made.tables, key_of(seed), 0, made.never, block)
    driver.anneal_block(made.tables, np.geomspace(0.01, 1, 5), 0, 0, made.lanes, block)
    states = np.empty((made.lanes, problem.num_variables), np.int8)
    made.states(block, states)
    expected = problem.energy(states) - problem.offset
    if problem.is_integer:
        assert np.array_equal(block.lowest, expected)
    else:
        np.testing.assert_allclose(block.lowest, expected, atol=1e-9)


@pytest.mark.parametrize("kernel", MAKERS)
def test_looking_at_every_flip_changes_nothing_but_the_hits(kernel):
    problem = random_loops(16, 16, frustration="0.2", loop_density=0.6, rng=3)
    made = make_engine(kernel, problem.ising)
    if made is None:
        made = make_engine(kernel, complete(12))
    energies = {}
    for run in (driver.anneal_block, driver.watch_block):
        block = made.new_block()
        driver.start_block(made.tables, key_of(5), 0, made.never, block)
        run(made.tables, np.geomspace(0.01, 1, 40), 0, 0, made.lanes, block)
        energies[run] = block.energies.copy(), block.spins.copy()
    for by_sweep, by_flip in zip(*energies.values(), strict=True):
        assert np.array_equal(by_sweep, by_flip)


@pytest.mark.parametrize("check", ["sweep", "flip"])
def test_hits_are_the_first_sweeps_that_reach_the_target(check):
    planted = random_loops(20, 20, frustration="0.2", loop_density=0.6, rng=3)
    full = anneal(planted, sweeps=60, runs=64, target=planted.energy, check=check, rng=1)
    assert 0 < full.successes < 64
    betas = full.betas
    for sweeps in (5, 20, 40):
        part = anneal(
            planted, sweeps=sweeps, runs=64, beta=betas[:sweeps], target=planted.energy,
            check=check, rng=1,
        )  # fmt: skip
        assert np.array_equal(part.hits, np.where(full.hits <= sweeps, full.hits, 0))
    reached = full.hits > 0
    assert (full.energies[reached] == planted.energy).all()
    assert (full.energies[~reached] > planted.energy).all()


def test_every_flip_sees_at_least_what_the_end_of_a_sweep_sees():
    planted = random_loops(30, 30, frustration="0.22", loop_density=0.5, rng=3)
    paper = paper_schedule(30, "0.22", unit=planted.loop_weight)
    ends, flips = (
        anneal(
            planted, sweeps=300, runs=128, beta=paper.beta, schedule="linear",
            target=planted.energy, check=check, rng=1,
        ).hits
        for check in ("sweep", "flip")
    )  # fmt: skip
    assert (flips[ends > 0] > 0).all()
    assert (flips[ends > 0] <= ends[ends > 0]).all()
    assert (flips > 0).sum() > (ends > 0).sum()


def test_kernels_agree_on_success_probabilities():
    """Ten instances, each kernel against bytes; 3 standard errors: 1 set of seeds in 13 fails."""
    for k in range(10):
        planted = random_loops(20, 20, frustration="0.2", loop_density=0.5, rng=k)
        shares = [success_share(kernel, planted, runs=1024) for kernel in MAKERS]
        errors = np.sqrt([max(p * (1 - p), 1e-3) / 1024 for p in shares])
        for p, error in zip(shares[1:], errors[1:], strict=True):
            assert abs(p - shares[0]) < 3 * np.hypot(error, errors[0])


def success_share(kernel, planted, runs: int) -> float:
    made = make_engine(kernel, planted.ising)
    hits = []
    for index in range(runs // made.lanes):
        block = made.new_block()
        goal = made.goal(planted.energy, planted.ising)
        driver.start_block(made.tables, key_of(9), index, goal, block)
        driver.anneal_block(made.tables, np.geomspace(0.1, 2, 30), 0, 0, made.lanes, block)
        hits.append(block.hits > 0)
    return float(np.mean(hits))


# The same result, whatever the machine does -----------------------------------------------------


def test_a_run_depends_on_the_seed_and_its_number_only():
    """Results also depend on the kernel, which is a different one for few runs."""
    problem = lattice(8)
    for few, many in ((5, 16), (17, 200)):
        some = anneal(problem, sweeps=30, runs=few, rng=7)
        more = anneal(problem, sweeps=30, runs=many, rng=7, threads=3)
        assert some.kernel == more.kernel
        assert np.array_equal(some.states, more.states[:few])
        other = anneal(problem, sweeps=30, runs=few, rng=8)
        assert not np.array_equal(some.states, other.states)
        again = anneal(problem, sweeps=30, runs=many, rng=more.seed)
        assert np.array_equal(again.states, more.states)


def test_a_seed_means_the_same_for_ever():
    """Changes of a kernel's random numbers must be meant."""
    result = anneal(lattice(6), sweeps=10, runs=17, beta=(0.1, 1.0), rng=1)
    assert (result.kernel, result.energies[:6].tolist()) == (
        "byte lanes",
        [-44, -32, -48, -44, -48, -44],
    )
    result = anneal(lattice(6), sweeps=10, runs=6, beta=(0.1, 1.0), rng=1)
    assert (result.kernel, result.energies.tolist()) == (
        "few float32 lanes",
        [-40, -36, -40, -48, -40, -44],
    )
    result = anneal(gaussian_lattice(6), sweeps=10, runs=17, beta=(0.1, 40.0), rng=1)
    assert (result.kernel, digest(result)) == ("float32 lanes", "80f4d596dc465abd")
    result = anneal(gaussian_lattice(6), sweeps=10, runs=7, beta=(0.1, 40.0), rng=1)
    assert (result.kernel, digest(result)) == ("few float32 lanes", "2f9aa2d924f3a465")
    result = anneal(complete(12), sweeps=3, runs=6, beta=(0.001, 0.01), rng=1)
    assert (result.kernel, result.energies.tolist()) == (
        "dense lanes",
        [-772, -216, -1136, -1052, -1188, -898],
    )


# The kernel follows from the problem ----------------------------------------------------------


def test_each_problem_finds_its_kernel():
    def kernel(weight, runs=17):
        names = np.random.default_rng(1).permutation(41)
        chain = np.column_stack([names[:-1], names[1:]])
        problem = Ising.from_edges(41, chain, [weight] + [3] * 39)
        return anneal(problem, sweeps=2, runs=runs, rng=1).kernel

    assert kernel(-2) == "byte lanes"
    assert kernel(-2, runs=16) == "few float32 lanes"
    assert kernel(2**15 - 4) == "byte lanes"
    assert kernel(2**15) == "float32 lanes"
    assert kernel(0.5) == "float32 lanes"
    assert kernel(0.5, runs=16) == "few float32 lanes"
    assert kernel(2**40) == "float64 lanes"
    assert kernel(2**40, runs=1) == "float64 lanes"
    assert kernel(2**60) == "scalar"
    assert anneal(complete(30), sweeps=2, runs=1, rng=1).kernel == "dense lanes"


def test_weights_lost_beside_their_neighbours_are_not_left_to_float32():
    """Penalties of 10^8 that cancel, and weights of about 1, which then decide."""
    ring = [(i, (i + 1) % 30) for i in range(30)]
    small = np.random.default_rng(1).uniform(1, 2, 30)
    for large, kernel in ((1e8, "float64 lanes"), (1e3, "float32 lanes")):
        weights = np.where(np.arange(30) % 3 < 2, large / 3, small)
        problem = Ising.from_edges(30, ring, weights)
        assert anneal(problem, sweeps=2, runs=17, rng=1).kernel == kernel


@pytest.mark.parametrize("runs", [8, 64])
def test_float32_finds_ground_states_of_floats_and_their_energies_in_float64(runs):
    """Triangles without frustration: all their bonds can be satisfied."""
    draws = np.random.default_rng(1)
    corners = draws.permutation(60).reshape(20, 3)
    edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]])
    problem = Ising.from_edges(60, edges, draws.uniform(0.5, 1.5, 60))
    best = -problem.weights.sum()
    result = anneal(problem, sweeps=100, runs=runs, target=best + 1e-12, rng=1)
    assert "float32" in result.kernel
    assert result.successes > runs / 2
    assert result.best_energy == pytest.approx(best, abs=1e-12)
    scaled = Ising.from_edges(60, problem.edges, problem.weights * 2.0**-700)
    assert np.array_equal(anneal(scaled, sweeps=9, runs=runs, rng=1).states,
                          anneal(problem, sweeps=9, runs=runs, rng=1).states)  # fmt: skip


@pytest.mark.parametrize("kernel", MAKERS)
def test_rows_of_spins_begin_with_a_cache_line(kernel):
    made = make_engine(kernel, lattice(4)) or make_engine(kernel, complete(12))
    assert all(made.new_block().spins.ctypes.data % 64 == 0 for _ in range(9))


@pytest.mark.parametrize("scale", [1, 2**20, 2**40, 2**56])
def test_large_weights_are_exact(scale):
    planted = random_loops(6, 6, frustration="0.2", loop_density=0.5, rng=3)
    problem = Ising(12, planted.ising.edges, planted.ising.weights * scale,
                    planted.ising.fields, offset=5)  # fmt: skip
    target = planted.energy * scale + 5
    result = anneal(problem, sweeps=100, runs=8, target=target, rng=1)
    assert result.best_energy == target
    assert result.successes > 0


def test_problems_without_weights_have_one_energy():
    for problem in (
        Ising.from_edges(3, [], [], offset=4), Ising.from_edges(0, [], [], offset=4),
        Qubo.from_edges(2, [], [], offset=4),
    ):  # fmt: skip
        result = anneal(problem, sweeps=3, runs=5, target=4, rng=1)
        assert result.energies.tolist() == [4] * 5
        assert result.hits.tolist() == [1] * 5
        assert anneal(problem, sweeps=3, runs=5, target=3, rng=1).successes == 0


def test_beta_is_in_the_units_of_the_problem():
    """An RBM and its MAX-2-SAT form, whose energies are half as large, anneal alike."""
    from glasshouse.problems.convert import to_max2sat

    rbm = Rbm(np.array([[3, -1], [2, 2]]), np.zeros(2, int), np.zeros(2, int))
    clauses, reduction = to_max2sat(rbm)
    mine = anneal(rbm, sweeps=4, runs=64, beta=(0.1, 0.2), rng=1)
    theirs = anneal(clauses, sweeps=4, runs=64, beta=(0.2, 0.4), rng=1)
    assert np.array_equal(reduction.source_energy(theirs.energies), mine.energies)
    np.testing.assert_allclose(theirs.betas, [0.2, 0.2519842, 0.3174802, 0.4])


# Stops ----------------------------------------------------------------------------------------


def test_long_runs_make_no_long_lists():
    result = anneal(lattice(3), sweeps=2**31 - 1, runs=1, time_limit=1e-3, rng=1)
    assert result.stopped == "time limit"
    assert len(result.betas) == 2**22


def test_in_long_runs_each_beta_is_held_for_some_sweeps(monkeypatch):
    from glasshouse.solvers import crew, schedule

    monkeypatch.setattr(schedule, "_MOST_STEPS", 10)
    monkeypatch.setattr(crew, "_CHUNK", 1)
    held = anneal(lattice(6), sweeps=35, runs=5, rng=3)
    steps = held.betas[np.arange(35) * 10 // 35]
    assert np.array_equal(
        held.states, anneal(lattice(6), sweeps=35, runs=5, beta=steps, rng=3).states
    )


# Refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"sweeps": 0}, "sweeps=0 is below 1"),
        ({"runs": 0}, "runs=0 is below 1"),
        ({"runs": 2.5}, "not an integer"),
        ({"threads": 0}, "threads=0 is below 1"),
        ({"beta": (1.0, -1.0)}, "not negative"),
        ({"beta": (float("nan"), 1.0)}, "finite"),
        ({"beta": [0.1, 0.2, 0.3]}, "3 numbers, but must have 2 or 10 \\(one per sweep"),
        ({"beta": "hot"}, "beta='hot' is not a list of numbers"),
        ({"beta": 0.5}, "beta=0.5 is not a list of numbers"),
        ({"beta": []}, "not a list of numbers"),
        ({"beta": [[0.1, 0.2]]}, "not a list of numbers"),
        ({"beta": (False, True)}, "not a list of numbers"),
        ({"beta": (0.0, 1.0)}, "geometric"),
        ({"schedule": "cubic"}, "must be 'linear' or 'geometric'"),
        ({"check": "never"}, "must be 'sweep' or 'flip'"),
        ({"target": "low"}, "must be an energy"),
        ({"target": True}, "is not an energy"),
        ({"target": float("nan")}, "target=nan is not an energy"),
        ({"time_limit": 0}, "not a positive number of seconds"),
        ({"time_limit": True}, "not a positive number of seconds"),
        ({"time_limit": float("nan")}, "not a positive number of seconds"),
        ({"time_limit": "1"}, "not a positive number of seconds"),
        ({"sweeps": 2**31}, "must be at most 2147483647, the largest number"),
        ({"rng": -1}, "negative"),
    ],
)
def test_wrong_arguments_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        anneal(lattice(3), **({"sweeps": 10, "runs": 1} | wrong))


@pytest.mark.parametrize("target", [float("inf"), -float("inf"), 10**30, -(10**30), -4.5])
def test_any_number_is_a_target(target):
    result = anneal(lattice(3), sweeps=5, runs=3, target=target, rng=1)
    assert ((result.energies <= target) == (result.hits > 0)).all()


# Targets of problems with floats ----------------------------------------------------------------


@pytest.mark.parametrize("weight", [0.5, 0.3])  # exact in float64, and rounded
def test_a_target_is_not_reached_by_the_rounding_of_large_weights(weight):
    """Cold, the chain's large bond is satisfied at once; the small one only in half the runs."""
    chain = Ising.from_edges(3, [(0, 1), (1, 2)], [1e10, weight])
    target = -1e10 - weight
    result = anneal(chain, sweeps=1, runs=64, beta=(1e-9, 1e-9), target=target, rng=1)
    assert np.array_equal(result.hits > 0, result.energies <= target)
    assert 0 < result.successes < 64


@settings(max_examples=40)
@given(problem=isings(exact=False), seed=st.integers(0, 2**32))
def test_hits_of_floats_agree_with_the_energies(problem, seed):
    target = anneal(problem, sweeps=20, runs=4, rng=seed).best_energy
    result = anneal(problem, sweeps=20, runs=16, target=target, rng=seed + 1)
    slack = 1e-13 * (problem.total_weight + abs(problem.offset))
    assert (result.energies[result.hits > 0] <= target + slack).all()
    assert (result.energies[result.hits == 0] > target).all()


@pytest.mark.parametrize("target", [float("inf"), -float("inf"), 10**309, -(10**309), -0.35])
@pytest.mark.parametrize("weight", [0.25, 0.1])
def test_any_number_is_a_target_of_floats(target, weight):
    pair = Ising.from_edges(2, [(0, 1)], [weight])
    result = anneal(pair, sweeps=5, runs=3, target=target, rng=1)
    assert ((result.hits > 0) == (target > 0)).all()
