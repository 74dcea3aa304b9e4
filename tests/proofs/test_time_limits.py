"""Deadlines in every phase of a proof: the same work in pieces, and what is left in the end."""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pytest
from tests.proofs.instances import cuts_of, spin_glass
from tests.proofs.lattices import lattice

from glasshouse.certificates import Proven, verify
from glasshouse.problems import Max2Sat
from glasshouse.proofs import budget as proof_budget
from glasshouse.proofs import contraction, prove, prover
from glasshouse.proofs import states as proof_states
from glasshouse.proofs.budget import Budget, TimeIsUpError
from glasshouse.proofs.contraction import ContractedGraph
from glasshouse.proofs.lp import root, rounding, separation
from glasshouse.proofs.lp.blocks import Blocks
from glasshouse.proofs.lp.rounding import Certifying, fit
from glasshouse.proofs.matching import packing, search
from glasshouse.proofs.matching.kernels import matching
from glasshouse.proofs.matching.search import SurfaceSearch
from glasshouse.proofs.matching.surface import Surface
from glasshouse.proofs.preparation import Prepared
from glasshouse.proofs.prover import Prover
from glasshouse.proofs.signed_graph import SignedGraph
from glasshouse.stopping import TimeIsOverError, compiling, working_time

OVER = Budget(-math.inf)


def graph_of(problem):
    """The lattice without the ghost, which has no edges."""
    whole = SignedGraph.of(problem)
    return SignedGraph(problem.num_variables, whole.edges, whole.weights)


class FewLooks(Budget):
    """A budget whose time is up after a number of checks, at any time."""

    def __init__(self, looks):
        super().__init__()
        self.looks = itertools.count(-looks)

    def left(self):
        return -float(next(self.looks))


def test_a_budget_stands_still_while_kernels_are_compiled():
    budget = Budget(3600.0)
    with compiling():
        before = budget.left()
        time.sleep(0.01)
        assert budget.left() == before
    budget.check()
    with pytest.raises(TimeIsUpError):
        OVER.check()


def search_of(graph, budget=None):
    return SurfaceSearch(Surface.of(graph), budget or Budget())


def test_a_matching_in_small_pieces_is_the_same(monkeypatch):
    graph = graph_of(lattice(16, 16, seed=3))
    expected = search_of(graph)
    state = expected.begin()
    monkeypatch.setattr(matching, "_EVENTS_AT_ONCE", 3)
    monkeypatch.setattr(matching, "_PATHS_AT_ONCE", 1)
    monkeypatch.setattr(packing, "_REGIONS_AT_ONCE", 5)
    found = search_of(graph)
    assert np.array_equal(found.begin(), state)
    assert found.packing.edges.tolist() == expected.packing.edges.tolist()
    assert found.packing.begins.tolist() == expected.packing.begins.tolist()
    assert np.array_equal(found.packing.widths, expected.packing.widths)
    assert np.array_equal(found.crossed, expected.crossed)


@pytest.mark.parametrize("looks", [0, 1, 3, 9, 27])
def test_a_matching_ends_at_any_look_at_the_budget(looks, monkeypatch):
    monkeypatch.setattr(matching, "_EVENTS_AT_ONCE", 3)
    graph, state = graph_of(lattice(16, 16)), np.ones(256, np.int8)
    with pytest.raises(TimeIsUpError):
        search_of(graph, FewLooks(looks)).begin()
    search = search_of(graph)
    search.begin()
    for improve in (search.on_cylinder, search.on_disc):
        search.budget = FewLooks(looks)
        with pytest.raises(TimeIsUpError):
            improve(state)


def test_states_mixed_in_small_pieces_are_the_same(monkeypatch):
    graph = graph_of(lattice(8, 8))
    states = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (9, 64))
    expected, pieces, none = states.copy(), states.copy(), states.copy()
    proof_states.mix(graph, expected, 5)
    monkeypatch.setattr(proof_states, "_SPINS_AT_ONCE", 128)
    proof_states.mix(graph, pieces, 5)
    proof_states.mix(graph, none, 5, OVER)
    assert np.array_equal(expected, pieces)
    assert np.array_equal(none, states)


def test_a_reduction_asks_the_budget(monkeypatch):
    monkeypatch.setattr(contraction, "_STEPS_PER_LOOK", 1)
    graph = SignedGraph.of(spin_glass(40, 0.1, np.random.default_rng(0), gaussian=True))
    for looks in (0, 1, 5):
        with pytest.raises(TimeIsUpError):
            ContractedGraph(graph, FewLooks(looks))


def test_what_plainly_has_nothing_to_contract_is_left_alone():
    reduction = ContractedGraph(graph_of(lattice(5, 5)))
    assert [block.graph.num_edges for block in reduction.blocks] == [50]
    assert reduction.cost == 0
    heavy = SignedGraph(3, np.array([[0, 1], [1, 2], [0, 2]]), np.array([2**62] * 3, dtype=object))
    assert ContractedGraph(heavy).blocks == []


@pytest.mark.parametrize("pieces", [1, 7])
def test_cuts_in_small_pieces_are_the_same(pieces, monkeypatch):
    graph = graph_of(lattice(4, 4, 4))
    violation = np.random.default_rng(0).random(graph.num_edges) / 2
    lengths = separation.arc_lengths(violation)
    cuts = separation.Separation(graph, flipped=True)
    cycles, cliques = [], []
    for _ in range(2):
        cycles.append(cuts.short(lengths, 0.98, separation.HOP, 4))
        cliques.append(separation.CliqueSeparator(cuts).cuts(lengths, 0.02))
        monkeypatch.setattr(separation, "_GROUP", pieces)
        monkeypatch.setattr(separation, "_PAIRS_AT_ONCE", pieces * graph.num_vertices)
    for one, other in (cycles, cliques):
        assert [cut.edges.tolist() for cut in one] == [cut.edges.tolist() for cut in other]
        assert len(one) > 0
    cuts.budget = OVER
    assert cuts.short(lengths, 0.98, separation.HOP, 4) == []
    assert separation.CliqueSeparator(cuts).cuts(lengths, 0.02) == []


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("sides", [(40, 40), (6, 6, 6)])
def test_time_that_is_up_at_once_leaves_a_state_and_a_bound(sides, gaussian):
    problem = lattice(*sides, gaussian=gaussian)
    proof = prove(problem, time_limit=1e-6)
    assert proof.statistics.stopped == "time limit"
    assert "stopped" in proof.summary()
    verdict = verify(problem, proof.certificate)
    assert (verdict.lower_bound, verdict.energy) == (proof.lower_bound, proof.energy)
    assert problem.energy(proof.state) == pytest.approx(proof.energy)


def test_ctrl_c_before_anything_was_found_leaves_a_state_and_a_bound(monkeypatch):
    def press(budget):
        raise KeyboardInterrupt

    monkeypatch.setattr(proof_budget.Budget, "check", press)
    problem = lattice(6, 6)
    proof = prove(problem)
    assert proof.statistics.stopped == "Ctrl-C"
    assert verify(problem, proof.certificate).energy == problem.energy(proof.state)


def test_time_of_a_whole_command_that_is_over_lets_nothing_be_completed(monkeypatch):
    """Ctrl-C lets a proof make its certificate, which may take a while."""

    def stop(*arguments):
        raise TimeIsOverError

    problem = lattice(16, 16)
    with monkeypatch.context() as patched:
        patched.setattr(matching, "match_some", stop)
        with pytest.raises(TimeIsOverError):
            prove(problem)
    monkeypatch.setattr(proof_budget.Budget, "check", stop)
    with pytest.raises(TimeIsOverError):
        prove(problem)


@pytest.mark.parametrize(
    "problem",
    [
        lattice(12, 12),
        lattice(4, 4, 4, gaussian=True),
        spin_glass(30, 1.0, np.random.default_rng(1), gaussian=False),
        spin_glass(60, 0.05, np.random.default_rng(2), gaussian=True),
        Max2Sat.from_clauses(
            3, [[1, 2], [-1, 3], [-2, -3], [2, 3]], [3, 2, 4, 1], hard=[[-1, -2], [1, 3]]
        ),
    ],
    ids=["torus", "cube", "dense", "sparse", "clauses"],
)
def test_every_better_state_is_told_on_the_way(problem):
    states = []
    proof = prove(problem, incumbent=states.append)
    assert all(state.shape == (problem.num_variables,) for state in states)
    energies = [problem.energy(state) for state in states]
    assert energies == sorted(energies, reverse=True)
    assert energies[-1] == pytest.approx(proof.energy)


def test_ctrl_c_during_a_matching_keeps_what_was_found(monkeypatch):
    def press(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(matching, "match_some", press)
    problem = lattice(16, 16)
    proof = prove(problem)
    assert proof.statistics.stopped == "Ctrl-C"
    assert verify(problem, proof.certificate).lower_bound == proof.lower_bound
    # The bound of the odd faces, and a state that no single flip improves.
    assert -512 < proof.lower_bound <= proof.energy < problem.energy(np.ones(256, np.int8))


def test_a_torus_whose_matching_takes_too_long_is_bounded_by_its_faces(monkeypatch):
    def never(*arguments):
        raise TimeIsUpError

    monkeypatch.setattr(search, "match", never)
    problem = lattice(20, 20)
    proof = prove(problem, time_limit=0.5, node_limit=1)
    assert -800 < proof.lower_bound <= proof.energy


def test_certificates_take_no_more_loops_than_there_is_time_for():
    cycles = cuts_of([[0, 1, 2, 3]] * 1000)
    duals = np.arange(1000.0)
    pace = Certifying(working_time() + 3600.0)
    pace.measure(cycles, lambda some: time.sleep(1e-3))
    assert pace.pace > 0
    assert len(pace.affordable(duals, cycles)) == 1000
    pace.pace, pace.until = 1.0, working_time() + 80.5
    chosen = pace.affordable(duals, cycles)
    assert 10 < len(chosen) <= 20
    assert chosen.tolist() == list(range(1000 - len(chosen), 1000))  # the heaviest, in their order
    assert pace.latest_start(4000) == pytest.approx(pace.until - 4000.0)
    pace.until = -math.inf
    assert len(pace.affordable(duals, cycles)) == 0


def test_no_loops_are_rounded_for_a_measurement_where_there_is_plenty_of_time(monkeypatch):
    rounded, sizes = root.round_duals, []

    def counted(duals, *arguments):
        sizes.append(len(duals))
        return rounded(duals, *arguments)

    monkeypatch.setattr(root, "round_duals", counted)
    problem = spin_glass(44, 1.0, np.random.default_rng(1), gaussian=False)
    prove(problem, time_limit=3600.0, node_limit=1, loops_only=True)
    assert len(sizes) == 1
    assert sizes[0] > rounding.SAMPLE
    assert not Certifying(working_time() + 3600.0).may_be_late(4000)
    assert Certifying(working_time() + 0.1).may_be_late(4000)


def test_certificates_after_ctrl_c_are_made_in_seconds():
    """A system that sends SIGTERM waits only briefly, and then sends SIGKILL."""
    cycles = cuts_of([[0, 1, 2, 3]] * 1000)
    plain, lifted = Certifying(), Certifying(is_lifted=True)
    for pace in (plain, lifted):
        pace.measure(cycles, lambda some: time.sleep(1e-3))
        assert pace.pace == 0.0  # there is no hurry
        pace.hurry()
        pace.measure(cycles, lambda some: time.sleep(1e-3))
        assert pace.pace > 0.0
        assert pace.until <= working_time() + rounding._AFTER_CTRL_C
        pace.pace = 1.0
        assert len(pace.affordable(np.ones(1000), cycles)) == 0


def test_a_certificate_after_ctrl_c_leaves_time_for_what_every_certificate_takes():
    pace = Certifying(reserved=2.0)
    pace.hurry()
    assert pace.until <= working_time() + rounding._AFTER_CTRL_C - 2.0


def test_the_pace_of_loops_does_not_depend_on_the_size_of_the_graph(monkeypatch):
    """The pace is measured without the whole graph, which ended LPs of large graphs too early."""

    class NeverRead(list):
        def __iter__(self):
            raise AssertionError("all edges were examined")

    packing = fit(2, [1], cuts_of([[0, 2, 5]]), NeverRead([3] * 6))
    assert packing.total == 3


def test_time_is_reserved_for_certificates():
    budget = Budget(100.0)
    before = budget.deadline
    for seconds in (3.0, 1.0, 5.0):
        budget.reserve(seconds)
    assert (budget.deadline, budget.reserved) == (before - 5.0, 5.0)
    problem = lattice(6, 6, gaussian=True)
    search = Blocks(Prepared(problem, None, None).graph, budget)
    assert search.budget.deadline == budget.deadline < search.budget.certify_until


def test_no_tree_follows_a_large_linear_program_that_ran_out_of_time(monkeypatch):
    """Its first node would take longer than all the time that is left."""

    def too_late(*arguments):
        raise AssertionError("a tree was begun")

    def stop_at_once(self, lower, upper):
        self.gave_up = False
        return True

    monkeypatch.setattr(Blocks, "_report", stop_at_once)
    monkeypatch.setattr(Prover, "_growth", too_late)
    proof = prove(lattice(12, 12, 12, gaussian=True), time_limit=3600.0)
    assert proof.statistics.stopped == "time limit"


def test_annealing_that_ctrl_c_ended_is_not_followed_by_mixing(monkeypatch):
    def interrupted(graph, runs, least, budget, *arguments):
        budget.stop("Ctrl-C")
        return np.ones((4, graph.num_vertices), np.int8)

    def too_late(starts, neighbours, places, couplings, states, *arguments):
        assert len(states) == 2, "a population was mixed"

    for module in (root, proof_states):
        monkeypatch.setattr(module, "annealed_states", interrupted)
    monkeypatch.setattr(proof_states.mixing, "mix", too_late)
    problem = lattice(12, 12, 12, gaussian=True)
    proof = prove(problem)
    assert proof.statistics.stopped == "Ctrl-C"
    assert verify(problem, proof.certificate).lower_bound == proof.lower_bound
    budget = Budget()
    proof_states.good_state(graph_of(problem), budget)
    assert budget.stopped == "Ctrl-C"


def test_only_the_step_of_a_certificate_that_ctrl_c_came_in_is_done_anew(monkeypatch):
    calls = []
    loops = Blocks.parts

    def pressed(problem, certificate):
        calls.append("verified")
        if calls.count("verified") == 1:
            raise KeyboardInterrupt
        return Proven(problem, certificate)

    def counted(search):
        calls.append("loops")
        return loops(search)

    monkeypatch.setattr(prover, "Proven", pressed)
    monkeypatch.setattr(Blocks, "parts", counted)
    proof = prove(lattice(6, 6))
    assert calls == ["loops", "verified", "verified"]
    assert proof.optimal


def test_the_loops_of_a_contracted_graph_take_longer():
    assert ContractedGraph(graph_of(lattice(5, 5))).is_lifting is False
    graph = SignedGraph.of(spin_glass(40, 0.1, np.random.default_rng(0), gaussian=True))
    assert ContractedGraph(graph).is_lifting is True


def test_a_part_of_the_loops_is_a_proof_of_less(monkeypatch):
    monkeypatch.setattr(rounding, "SAMPLE", 10)
    monkeypatch.setattr(Certifying, "affordable", lambda self, duals, cycles: np.arange(20))
    problem = lattice(20, 20)
    proof = prove(problem, time_limit=60, node_limit=1)
    assert not proof.optimal
    assert verify(problem, proof.certificate).lower_bound == proof.lower_bound > -800


@pytest.mark.slow
@pytest.mark.quiet
@pytest.mark.parametrize("limit", [2.0, 10.0, 40.0])
@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("sides", [(200, 200), (350, 350), (500, 500), (20, 20, 20)])
def test_limits_are_kept_within_two_seconds(sides, gaussian, limit):
    prove(lattice(12, 12, gaussian=gaussian))  # compiles
    problem = lattice(*sides, gaussian=gaussian)
    began = working_time()
    proof = prove(problem, time_limit=limit)
    assert working_time() - began <= limit + 2.0
    assert verify(problem, proof.certificate).lower_bound == proof.lower_bound


@pytest.mark.slow
@pytest.mark.quiet
@pytest.mark.parametrize("limit", [2.0, 10.0, 40.0])
@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize(("size", "share"), [(100, 1.0), (200, 1.0), (300, 1.0), (300, 0.5)])
def test_limits_of_dense_problems_are_kept_within_two_seconds(size, share, gaussian, limit):
    problem = spin_glass(size, share, np.random.default_rng(1), gaussian=gaussian)
    began = working_time()
    prove(problem, time_limit=limit)
    assert working_time() - began <= limit + 2.0
