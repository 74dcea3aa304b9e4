"""prove(): bounds are never above the optimum, and loops are always proven."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from tests import strategies
from tests.interrupts import compiled_ctrl_c
from tests.oracles import optimum
from tests.proofs.instances import loop_sum, spin_glass

from glasshouse.certificates import verify
from glasshouse.planting.methods import random_loops
from glasshouse.problems import Ising, Max2Sat, Rbm
from glasshouse.problems.convert import to_ising
from glasshouse.proofs import HardClausesUnsatisfiableError, contraction, preparation, prove, prover
from glasshouse.proofs import states as proof_states
from glasshouse.proofs.lp import root
from glasshouse.solvers import anneal, brute_force


def check_against_enumeration(problem):
    best, states = optimum(problem)
    if isinstance(problem, Max2Sat) and problem.num_hard and best >= problem.hard_weight:
        with pytest.raises(HardClausesUnsatisfiableError, match=r"clauses (are )?unsatisfiable"):
            prove(problem)
        return
    proof = prove(problem)
    assert proof.lower_bound <= best <= proof.energy
    value = problem.cost if isinstance(problem, Max2Sat) else problem.energy
    assert value(proof.state) == proof.energy
    verdict = verify(problem, proof.certificate)
    assert verdict.lower_bound == proof.lower_bound
    if proof.optimal:
        assert proof.energy == best
        assert tuple(map(int, proof.state)) in states
        assert proof.lower_bound == pytest.approx(best, rel=1e-9)


@given(strategies.problems)
@settings(max_examples=150)
def test_small_problems_of_every_kind_against_enumeration(problem):
    check_against_enumeration(problem)


@given(strategies.max2sats(exact=False))
@settings(max_examples=40)
def test_clauses_with_float_weights(problem):
    check_against_enumeration(problem)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("fields", [False, True])
def test_a_sum_of_loops_is_always_proven(seed, fields):
    rng = np.random.default_rng(seed)
    spins = int(rng.integers(4, 60))
    problem, energy = loop_sum(spins, int(rng.integers(1, 3 * spins)), rng, fields=fields)
    proof = prove(problem)
    assert proof.optimal
    assert proof.energy == proof.lower_bound == energy
    assert verify(problem, proof.certificate).lower_bound == energy


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("gaussian", [False, True])
def test_spin_glasses_against_enumeration(seed, gaussian):
    rng = np.random.default_rng(seed)
    check_against_enumeration(spin_glass(int(rng.integers(8, 13)), 0.6, rng, gaussian=gaussian))


def test_gaps_of_fractional_relaxations_are_closed():
    # K5 with all edges negative: 4 of 10 edges are violated, the LP says 10/3.
    complete = Ising.from_edges(5, [(i, j) for i in range(5) for j in range(i)], [-1] * 10)
    proof = prove(complete)
    assert (proof.energy, proof.lower_bound, proof.optimal) == (-2, -2, True)  # parity closes it
    doubled = Ising.from_edges(
        10, [(i + 5 * k, j + 5 * k) for k in (0, 1) for i in range(5) for j in range(i)], [-1] * 20
    )
    proof = prove(doubled)
    assert (proof.energy, proof.optimal) == (-4, True)


def test_planar_spin_glasses_are_solved_exactly():
    # On planar graphs the cycle relaxation is exact (Seymour; Barahona and Mahjoub).
    rng = np.random.default_rng(5)
    for _ in range(5):
        side = 6
        edges = [(side * r + c, side * r + c + 1) for r in range(side) for c in range(side - 1)]
        edges += [(side * r + c, side * (r + 1) + c) for r in range(side - 1) for c in range(side)]
        assert prove(Ising.from_edges(side**2, edges, rng.choice([-1, 1], len(edges)))).optimal


def test_weights_up_to_the_largest_are_exact():
    limit = 2**63 - 1
    soft = [[1, 2], [-1, 2], [1, -2], [-1, -2]]
    weights = [limit // 4 - 3, limit // 4 - 2, limit // 4 - 1, limit // 4 + 2]
    weights.append(limit - sum(weights))
    problem = Max2Sat.from_clauses(5, [*soft, [3]], weights, hard=[[-3, 4], [-4, 1], [2, 5]])
    assert problem.total_weight == limit
    proof = prove(problem)
    assert proof.optimal
    assert proof.energy == min(weights[1], weights[3])
    assert problem.broken(proof.state) == 0


def test_heavy_hard_clauses_do_not_blur_light_soft_ones():
    rng = np.random.default_rng(2)
    ising, energy = loop_sum(30, 40, rng)
    from glasshouse.problems.convert import to_max2sat

    soft, reduction = to_max2sat(ising)
    tied = np.array([[31, -32], [-31, 32], [32, 1], [-1, 33]], dtype=np.int32)
    heavy = np.array([[31, 0], [34, 0]], dtype=np.int32)
    problem = Max2Sat(
        34,
        np.concatenate([soft.clauses, heavy]),
        np.concatenate([soft.weights, [10**12, 10**13]]),
        tied,
    )
    proof = prove(problem)
    assert proof.optimal
    assert proof.energy == reduction.target_energy(energy)


def test_a_time_limit_returns_the_best_so_far():
    rng = np.random.default_rng(1)
    problem = spin_glass(120, 0.9, rng, gaussian=True)
    proof = prove(problem, time_limit=0.5)
    assert not proof.optimal
    assert not proof.statistics.converged
    assert proof.lower_bound <= proof.energy == problem.energy(proof.state)
    assert verify(problem, proof.certificate).lower_bound == proof.lower_bound


@pytest.mark.parametrize("limit", [0, -1, "x", True, np.nan, -np.inf])
def test_time_limits_are_positive_numbers(limit):
    with pytest.raises(ValueError, match=r"time_limit=.* is not a positive number of seconds"):
        prove(Ising.from_edges(2, [(0, 1)], [1]), time_limit=limit)


@pytest.mark.parametrize("target", ["x", np.nan, True, [1]])
def test_targets_are_numbers(target):
    with pytest.raises(ValueError, match=r"target=.* is not an energy"):
        prove(Ising.from_edges(2, [(0, 1)], [1]), target=target)


def test_an_interrupt_returns_the_best_so_far():
    one = spin_glass(40, 0.9, np.random.default_rng(3), gaussian=True)
    size = one.num_variables
    both = np.concatenate([one.edges, one.edges + size])  # two blocks
    problem = Ising.from_edges(2 * size, both, np.tile(one.weights, 2), np.tile(one.fields, 2))
    seen = []

    def interrupt(bounds):
        seen.append(bounds)
        if len(seen) == 3:
            raise KeyboardInterrupt

    proof = prove(problem, progress=interrupt)
    assert len(seen) == 4  # the second block reports once
    assert not proof.statistics.converged
    assert seen[0].lower < proof.lower_bound < proof.energy == problem.energy(proof.state)


def test_plants_are_proven_by_their_problem():
    planted = random_loops(8, 8, frustration="1/5", loop_density=1, rng=3)
    proof = prove(planted)
    assert proof.optimal
    assert proof.energy == planted.energy


def test_progress_sees_bounds_that_close():
    problem, energy = loop_sum(40, 120, np.random.default_rng(3))
    seen = []
    prove(problem, progress=seen.append)
    assert len(seen) > 1
    assert all(b.lower <= energy + 1e-3 and b.upper >= energy for b in seen)
    assert [b.lower for b in seen] == sorted(b.lower for b in seen)


def test_a_target_stops_early():
    problem = spin_glass(40, 0.3, np.random.default_rng(3), gaussian=True)
    full = prove(problem)
    easy = full.lower_bound - (full.energy + problem.total_weight) // 10
    proof = prove(problem, target=easy)
    assert easy <= proof.lower_bound < full.lower_bound
    assert proof.statistics.rounds < full.statistics.rounds


def test_a_known_state_is_used_but_not_trusted():
    problem, energy = loop_sum(12, 20, np.random.default_rng(4))
    best = optimum(problem)[1].pop()
    assert prove(problem, state=best).energy == energy
    assert prove(problem, state=np.ones(12)).energy == energy
    with pytest.raises(ValueError, match="the problem has 12 variables"):
        prove(problem, state=[1, 1])
    with pytest.raises(ValueError, match=r"state has shape \(2, 12\); pass a single state"):
        prove(problem, state=np.ones((2, 12)))


def test_empty_and_trivial_problems():
    assert prove(Ising.from_edges(0, [], [])).energy == 0
    assert prove(Ising.from_edges(3, [], [], offset=7)).lower_bound == 7
    single = Ising.from_edges(1, [], [], fields=[-4])
    assert prove(single).state.tolist() == [-1]
    assert prove(Max2Sat.from_clauses(2, [[1, -1]], [5])).energy == 0


def test_the_ising_form_of_clauses_gives_the_same_bound():
    problem = Max2Sat.from_clauses(
        4, [[1, 2], [-1, 3], [-2, 4], [-3, -4], [1], [-4]], [3, 5, 4, 6, 2, 2]
    )
    ising, reduction = to_ising(problem)
    assert reduction.source_energy(prove(ising).energy) == prove(problem).energy


def normal_rbm(num_visible, num_hidden, seed):
    rng = np.random.default_rng(seed)
    sizes = ((num_visible, num_hidden), num_visible, num_hidden)
    return Rbm(*(rng.normal(size=size) for size in sizes))


@pytest.mark.parametrize("seed", [0, 3])
def test_floats_of_an_rbm_are_proven_by_the_states_of_its_smaller_layer(seed):
    problem = normal_rbm(24, 8, seed)
    proof = prove(problem)
    assert proof.energy == pytest.approx(brute_force(problem).energy, rel=1e-12)
    assert proof.optimal
    assert verify(problem, proof.certificate).optimal
    assert proof.statistics.method == "enumeration"
    assert "1 leaf, by enumeration" in proof.summary()


def test_annealing_finds_the_state_where_there_are_too_many_to_enumerate():
    problem = normal_rbm(40, 36, 1)
    proof = prove(problem, node_limit=1)
    assert not proof.optimal
    assert proof.energy <= anneal(problem, rng=2).best_energy + 1e-9


def test_what_a_certificate_proves_needs_no_enumeration():
    problem, energy = loop_sum(15, 20, np.random.default_rng(6))
    proof = prove(problem)
    assert (proof.energy, proof.optimal, proof.certificate.tree) == (energy, True, None)


def test_enumeration_keeps_hard_clauses():
    # Three of four variables exclude each other, and all should be true: the relaxation has a gap.
    pairs = list(itertools.combinations(range(1, 6), 2))
    problem = Max2Sat.from_clauses(
        5, [[k] for k in range(1, 6)], [2, 3, 4, 5, 6], hard=[[-i, -j] for i, j in pairs]
    )
    proof = prove(problem)
    assert proof.optimal
    assert proof.energy == 14
    assert not problem.broken(proof.state)


def test_ctrl_c_while_annealing_ends_the_search(monkeypatch):
    real = proof_states.annealed_states

    def stopped(graph, runs, least, budget, *arguments):
        budget.stop("Ctrl-C")
        return real(graph, runs, least, budget, *arguments)

    monkeypatch.setattr(proof_states, "annealed_states", stopped)
    proof = prove(normal_rbm(24, 8, 0))
    assert proof.statistics.stopped == "Ctrl-C"
    assert not proof.optimal
    assert proof.lower_bound < proof.energy


@pytest.mark.parametrize("hidden", [False, True])
def test_ctrl_c_while_all_states_are_looked_at_keeps_the_bound(monkeypatch, hidden):
    """Compiled code that returns its result turns Ctrl-C into a SystemError."""

    def stopped(*arguments):
        if hidden:
            raise compiled_ctrl_c()
        raise KeyboardInterrupt

    monkeypatch.setattr(prover, "lowest_state", stopped)
    proof = prove(normal_rbm(24, 8, 0))
    assert proof.statistics.stopped == "Ctrl-C"
    assert not proof.optimal
    assert proof.lower_bound < proof.energy


@pytest.mark.parametrize("place", ["round_duals", "loop_certificate", "lift_state"])
def test_ctrl_c_in_exact_arithmetic_keeps_the_bound(place, monkeypatch):
    """The steps after a search are short, and without them there is no result."""
    home = {
        "round_duals": root,
        "loop_certificate": preparation.Prepared,
        "lift_state": contraction.ContractedGraph,
    }[place]
    done, calls = getattr(home, place), []

    def interrupted(*arguments):
        calls.append(place)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return done(*arguments)

    monkeypatch.setattr(home, place, interrupted)
    problem = spin_glass(40, 0.3, np.random.default_rng(1), gaussian=False)
    proof = prove(problem)
    assert len(calls) > 1
    assert proof.statistics.stopped == "Ctrl-C"
    assert -problem.total_weight < proof.lower_bound < proof.energy
    assert verify(problem, proof.certificate).lower_bound == proof.lower_bound
