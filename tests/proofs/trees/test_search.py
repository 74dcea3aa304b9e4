"""Tree searches close at the optimum, and whatever stops one leaves an honest bound."""

from __future__ import annotations

from concurrent.futures import Executor, Future, ThreadPoolExecutor
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import strategies
from tests.interrupted_locks import left_closed
from tests.interrupts import compiled_ctrl_c
from tests.oracles import energy_by_definition, optimum
from tests.proofs.instances import spin_glass, torus_edges

from glasshouse.certificates import Certificate, Leaf, Tree, verify
from glasshouse.planting.methods import random_loops
from glasshouse.problems import Ising, Max2Sat
from glasshouse.proofs import HardClausesUnsatisfiableError, budget, prove, prover
from glasshouse.proofs.lp.node import CycleRelaxation
from glasshouse.proofs.lp.separation import CliqueSeparator
from glasshouse.proofs.semidefinite import kernels as semidefinite_kernels
from glasshouse.solvers import brute_force
from glasshouse.stopping import working_time


@pytest.fixture
def only_trees(monkeypatch):
    """Without covers and semidefinite bounds, even small problems need branches."""
    monkeypatch.setattr(prover.Prover, "exact_methods", lambda self: (None, None))
    monkeypatch.setattr(prover, "is_dense", lambda graph: False)
    monkeypatch.setattr("glasshouse.proofs.trees.search._FEW_CLASSES", 2)


def torus(shape, seed, gaussian=False):
    """A periodic lattice of ±1 or normal integers."""
    rng, edges = np.random.default_rng(seed), torus_edges(shape)
    weights = rng.choice([-1, 1], len(edges))
    if gaussian:
        weights = np.round(1000 * rng.normal(size=len(edges))).astype(np.int64)
    return Ising.from_edges(int(np.prod(shape)), edges, weights)


def half_complete(size=34, seed=2):
    """Max-Cut of a random graph with half of all edges; at this size and seed it has 9 leaves."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(size, 1)
    kept = rng.random(len(i)) < 0.5
    edges = np.stack([i[kept], j[kept]], axis=1)
    return Ising.from_edges(size, edges, np.full(len(edges), -1))


def hidden_ctrl_c(*arguments):
    """Compiled code that returns its result turns Ctrl-C into a SystemError."""
    raise compiled_ctrl_c()


def check(problem, proof):
    best, states = optimum(problem)
    verdict = verify(problem, proof.certificate)
    assert verdict.lower_bound == proof.lower_bound
    # In fractions: the last digit of a float depends on the order of its sum.
    found = energy_by_definition(problem, proof.state, Fraction)
    least = min(energy_by_definition(problem, np.array(s), Fraction) for s in states)
    assert verdict.bound <= least
    if proof.optimal or problem.is_integer:
        assert proof.optimal
        assert found <= least
        assert proof.energy == (best if problem.is_integer else pytest.approx(best, rel=1e-14))
    else:
        assert proof.is_within_rounding
        assert proof.energy == pytest.approx(best, rel=1e-9, abs=1e-12)


@given(strategies.problems)
@settings(max_examples=60, deadline=None)
def test_small_problems_of_every_kind(problem):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prover.Prover, "exact_methods", lambda self: (None, None))
        try:
            check(problem, prove(problem))
        except HardClausesUnsatisfiableError:
            assert isinstance(problem, Max2Sat)


@given(seed=st.integers(0, 10**6), size=st.integers(5, 11), factor=st.sampled_from([1, 7, 10**12]))
@settings(max_examples=30, deadline=None)
def test_trees_of_small_spin_glasses(seed, size, factor):
    rng = np.random.default_rng(seed)
    glass = spin_glass(size, 0.8, rng, gaussian=bool(seed % 2))
    fields = rng.integers(-3, 4, size) if seed % 3 else np.zeros(size, dtype=np.int64)
    problem = Ising(size, glass.edges, glass.weights * factor, fields * factor)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prover.Prover, "exact_methods", lambda self: (None, None))
        patch.setattr("glasshouse.proofs.trees.search._FEW_CLASSES", 2)
        if seed % 4 < 2:
            patch.setattr(prover, "is_dense", lambda graph: False)
        check(problem, prove(problem))


@pytest.mark.parametrize("gaussian", [False, True])
def test_a_cube_is_proven_by_a_tree(gaussian):
    problem = torus((5, 5, 5), 1, gaussian)
    proof = prove(problem, time_limit=60)
    assert proof.optimal
    assert proof.statistics.nodes > 0
    assert proof.energy == proof.lower_bound
    assert verify(problem, proof.certificate).optimal


def test_a_search_goes_on_from_its_certificate(only_trees):
    problem = half_complete()
    part = prove(problem, node_limit=2)
    assert (part.optimal, part.statistics.stopped) == (False, "node limit")
    assert part.certificate.tree is not None
    bounds = [part.lower_bound]
    for _ in range(50):
        part = prove(problem, node_limit=3, certificate=part.certificate)
        bounds.append(part.lower_bound)
        if part.optimal:
            break
    assert part.optimal
    assert bounds == sorted(bounds)
    assert prove(problem, certificate=part.certificate).certificate == part.certificate


def test_a_tree_without_branches_is_nothing_to_go_on_from():
    weights = [1.5, 1e-20, 1.0]
    problem = Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], weights)
    trivial = Certificate([1, 1, 1], [], [0], [], tree=Tree((Leaf(0),)))
    assert prove(problem, certificate=trivial).optimal
    with pytest.raises(ValueError, match="read_certificate"):
        prove(problem, certificate="x.cert")


def test_memory_is_bounded(only_trees):
    part = prove(half_complete(), memory_limit=20_000)
    assert part.statistics.stopped == "memory limit"
    assert not part.optimal
    assert prove(half_complete(), certificate=part.certificate).optimal


def test_a_certificate_of_something_else_gives_its_state_only(only_trees):
    problem = half_complete()
    other = prove(problem, node_limit=1)
    assert prove(problem, certificate=other.certificate).optimal
    for wrong in (torus((3, 3, 4), 1), half_complete(33)):
        with pytest.raises(ValueError, match="variables"):
            prove(wrong, certificate=other.certificate)


def test_subtrees_are_searched_elsewhere(only_trees):
    problem = half_complete()
    alone = prove(problem)
    with ThreadPoolExecutor(2) as executor:
        shared = prove(problem, executor=executor)
    assert shared.optimal
    assert shared.energy == alone.energy
    assert verify(problem, shared.certificate).optimal


def test_waiting_for_subtrees_leaves_no_lock_closed(only_trees, monkeypatch):
    with ThreadPoolExecutor(1) as executor:

        def call():
            prove(half_complete(), executor=executor, loops_only=True)

        assert left_closed(monkeypatch, call, every=20) == []


class Silent(Executor):
    """One worker, a thread of this process: it does its work, and never answers."""

    _max_workers = 1

    def __init__(self):
        self.explored = []

    def submit(self, work, job):
        self.explored.append(work(job))
        return Future()


def test_nothing_is_in_the_tree_before_it_came_back(only_trees):
    """The certificate is made while workers, threads among them, are still at it."""
    executor = Silent()

    def stop(bounds):
        if executor.explored:
            raise KeyboardInterrupt

    part = prove(half_complete(), executor=executor, progress=stop, loops_only=True)
    assert sum(found.nodes for found in executor.explored) > 1
    assert part.certificate.num_leaves <= part.statistics.nodes + 1


def test_ctrl_c_within_a_node_keeps_the_tree(only_trees, monkeypatch):
    problem = half_complete()
    real, calls = CycleRelaxation.bound, []

    def stopped(self, *arguments):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(self, *arguments)

    monkeypatch.setattr(CycleRelaxation, "bound", stopped)
    part = prove(problem)
    assert part.statistics.stopped == "Ctrl-C"
    assert not part.optimal
    assert part.certificate.num_leaves > 1
    assert prove(problem, certificate=part.certificate).optimal


@pytest.mark.parametrize("hidden", [False, True])
def test_ctrl_c_within_the_root_keeps_what_cliques_have_won(only_trees, monkeypatch, hidden):
    problem = half_complete()
    before = prove(problem, node_limit=1, loops_only=True).lower_bound
    real, calls = CliqueSeparator.cuts, []

    def stopped(self, *arguments):
        calls.append(1)
        if len(calls) < 5:
            return real(self, *arguments)
        if hidden:
            hidden_ctrl_c()
        raise KeyboardInterrupt

    monkeypatch.setattr(CliqueSeparator, "cuts", stopped)
    part = prove(problem)
    assert part.statistics.stopped == "Ctrl-C"
    assert not part.optimal
    assert verify(problem, part.certificate).lower_bound == part.lower_bound > before


def test_ctrl_c_before_a_tree_keeps_the_bound(only_trees, monkeypatch):
    problem = half_complete()
    monkeypatch.setattr("glasshouse.proofs.states.mix", hidden_ctrl_c)
    part = prove(problem)
    assert part.statistics.stopped == "Ctrl-C"
    assert verify(problem, part.certificate).lower_bound == part.lower_bound


def test_ctrl_c_while_a_state_of_a_node_is_improved_keeps_the_tree(only_trees, monkeypatch):
    problem = half_complete()
    real, calls = CycleRelaxation.bound, []

    def found(self, *arguments):
        outcome = real(self, *arguments)
        calls.append(1)
        if len(calls) == 2:
            outcome.states.append(np.ones(self.graph.num_vertices, dtype=np.int8))
            monkeypatch.setattr("glasshouse.proofs.kernels.graphs.descend", hidden_ctrl_c)
        return outcome

    monkeypatch.setattr(CycleRelaxation, "bound", found)
    part = prove(problem)
    assert part.statistics.stopped == "Ctrl-C"
    assert part.certificate.num_leaves > 1


def test_ctrl_c_within_compiled_code_of_a_climb_keeps_its_bound(monkeypatch):
    problem = half_complete(44, 1)
    before = prove(problem, node_limit=1, loops_only=True).lower_bound
    real, calls = semidefinite_kernels.descend, []

    def interrupted(*arguments):
        calls.append(1)
        hidden_ctrl_c() if len(calls) > 1 else real(*arguments)

    monkeypatch.setattr(semidefinite_kernels, "descend", interrupted)
    part = prove(problem)
    assert part.statistics.stopped == "Ctrl-C"
    assert verify(problem, part.certificate).lower_bound == part.lower_bound > before


@pytest.mark.quiet
def test_a_time_limit_is_kept_within_a_tree(only_trees):
    problem = torus((8, 8, 8), 1)
    began = working_time()
    proof = prove(problem, time_limit=6)
    assert working_time() - began < 6 + 8  # a loaded machine included
    assert proof.lower_bound <= proof.energy
    assert proof.statistics.stopped == "time limit" or proof.optimal


def test_checkpoints_are_certificates_to_go_on_from(only_trees, monkeypatch):
    monkeypatch.setattr(budget, "_BETWEEN_CHECKPOINTS", 0.0)
    monkeypatch.setattr(budget, "_TIMES_CHECKPOINT", 0.0)
    problem, kept = half_complete(), []
    proof = prove(problem, checkpoint=kept.append)
    assert proof.optimal
    assert len(kept) > 2
    verdicts = [verify(problem, certificate) for certificate in kept]
    assert all(verdict.bound <= proof.energy <= verdict.energy for verdict in verdicts)
    middle = kept[len(kept) // 2]
    assert prove(problem, certificate=middle).optimal


def test_a_relaxation_is_never_believed(only_trees, monkeypatch):
    problem = torus((3, 3, 3), 2)
    real = CycleRelaxation.bound

    def boasting(self, *arguments):
        outcome = real(self, *arguments)
        outcome.closed, outcome.branch = True, None
        return outcome

    monkeypatch.setattr(CycleRelaxation, "bound", boasting)
    proof = prove(problem)
    assert proof.optimal
    assert verify(problem, proof.certificate).optimal


@pytest.mark.parametrize("offset", [10**13, 1e13])
def test_an_offset_makes_no_gap_smaller(offset):
    complete = spin_glass(40, 1.0, np.random.default_rng(0), gaussian=False)
    weights = complete.weights.astype(type(offset))
    problem = Ising.from_edges(40, complete.edges, weights, offset=offset)
    part = prove(problem, node_limit=1, loops_only=True)
    assert part.gap > 10
    assert not part.is_within_rounding
    assert part.verdict_in_words(part.gap) == f"not proven, gap {part.gap}"


def test_history_tells_bounds_that_close(only_trees):
    proof = prove(half_complete())
    history = proof.statistics.history
    assert all(a.lower <= b.lower and a.upper >= b.upper for a, b in pairwise(history))
    assert history[-1].nodes > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"node_limit": 0}, "node_limit=0"),
        ({"workers": 0}, "workers=0"),
        ({"memory_limit": 0}, "memory_limit=0"),
        ({"workers": 1, "executor": object()}, "executor and workers were both given"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        prove(Ising.from_edges(2, [(0, 1)], [1]), **options)


def test_plants_need_no_tree():
    plant = random_loops(30, 30, frustration="1/5", loops=40, rng=1)
    assert prove(plant).statistics.nodes == 0


@pytest.mark.slow
def test_two_thousand_small_instances_equal_brute_force():
    rng = np.random.default_rng(11)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prover.Prover, "exact_methods", lambda self: (None, None))
        patch.setattr("glasshouse.proofs.trees.search._FEW_CLASSES", 2)
        for k in range(2000):
            size = int(rng.integers(3, 21 if k % 20 == 0 else 13))
            glass = spin_glass(size, float(rng.uniform(0.2, 1)), rng, gaussian=bool(k % 2))
            fields = rng.integers(-2, 3, size) * (k % 3 > 0)
            weights = glass.weights
            if k % 5 == 0:  # floats
                weights, fields = weights * rng.normal(size=len(weights)), fields / 3
            problem = Ising(size, glass.edges, weights, fields)
            proof = prove(problem, loops_only=k % 4 > 0)
            check(problem, proof)


@pytest.mark.slow
def test_two_hundred_trees_end_at_the_optimum(only_trees):
    """Graphs that are large enough for loops alone to leave a gap."""
    branched = 0
    for seed in range(200):
        problem = half_complete(24, seed)
        proof = prove(problem, loops_only=True)
        assert proof.optimal
        assert verify(problem, proof.certificate).optimal
        assert proof.energy == brute_force(problem).energy
        branched += proof.certificate.num_leaves > 1
    assert branched > 60
