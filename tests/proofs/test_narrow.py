"""Narrow graphs are proven by elimination: exactly, within all limits, for weights of any kind."""

from __future__ import annotations

import itertools
import signal
import threading
import time

import numpy as np
import pytest
from tests.certificates.adversary import least_cost, some_problem
from tests.certificates.test_checker import stand_alone

from glasshouse import files
from glasshouse.certificates import CertificateError, Elimination, ExactForm, verify
from glasshouse.kernels.adjacency import adjacency
from glasshouse.planting import Planted
from glasshouse.problems import Ising, Rbm
from glasshouse.problems.convert import to_max2sat, to_qubo
from glasshouse.proofs import HardClausesUnsatisfiableError, narrow, prove, prover
from glasshouse.proofs.budget import TimeIsUpError
from glasshouse.proofs.kernels import orders
from glasshouse.proofs.narrow import NarrowGraph


@pytest.fixture
def only_orders(monkeypatch):
    """Orders prove all problems, even those that exact reductions prove."""

    def exact_methods(prover):
        return None, NarrowGraph.of(prover.prepared.form, 2**30)

    monkeypatch.setattr(prover, "_FEW_EDGES", -(10**9))
    monkeypatch.setattr(prover.Prover, "exact_methods", exact_methods)


def weights_of(kind: str, count: int, rng: np.random.Generator):
    if kind == "signs":
        return rng.choice([-1, 1], count)
    values = rng.normal(size=count)
    return values if kind == "normal" else np.round(values, 1) + 0.05


def strip(
    rows: int, columns: int, kind: str = "signs", fields: bool = True, seed: int = 1
) -> Ising:
    """An open lattice, with a vertex of each column next to each other."""
    rng = np.random.default_rng(seed)
    sites = np.arange(rows * columns).reshape(columns, rows)
    pairs = [np.stack([sites[:, 1:], sites[:, :-1]], -1), np.stack([sites[1:], sites[:-1]], -1)]
    edges = np.concatenate([pair.reshape(-1, 2) for pair in pairs])
    weights = weights_of(kind, len(edges), rng)
    return Ising.from_edges(
        sites.size, edges, weights, weights_of(kind, sites.size, rng) * fields, offset=3
    )


def drawn(count: int, seed: int):
    """Small problems of all kinds, several of them disconnected."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        thing = some_problem(rng)
        problem = thing.problem if isinstance(thing, Planted) else thing
        if isinstance(problem, Ising) and k % 2:
            other = some_problem(rng)
            if isinstance(other, Ising) and other.is_integer == problem.is_integer:
                problem = side_by_side(problem, other)
            problem = (to_qubo, to_max2sat)[k % 4 == 1 and problem.is_integer](problem)[0]
        elif k % 9 == 0:
            problem = Rbm(
                rng.integers(-5, 6, (2, 3)), rng.integers(-3, 4, 2), rng.integers(-3, 4, 3)
            )
        yield problem


def side_by_side(first: Ising, second: Ising) -> Ising:
    """Two problems without an edge between them, with weights that do not overflow."""
    size = first.num_variables
    return Ising.from_edges(
        size + second.num_variables,
        np.concatenate([first.edges, second.edges + size]),
        np.concatenate([first.weights // 64, second.weights // 64]),
        np.concatenate([first.fields // 64, second.fields // 64]),
    )


@pytest.mark.usefixtures("only_orders")
@pytest.mark.parametrize("count", [200, pytest.param(2000, marks=pytest.mark.slow)])
def test_small_problems_equal_brute_force(count):
    methods = []
    for problem in drawn(count, count):
        least = least_cost(problem)
        if least is None:
            with pytest.raises(HardClausesUnsatisfiableError):
                prove(problem)
            continue
        proof = prove(problem)
        assert proof.optimal, problem
        assert proof.verdict.exact_energy == least
        methods.append(proof.statistics.method)
    assert methods.count("elimination") > 0.9 * len(methods)  # the others have no edges


@pytest.mark.usefixtures("only_orders")
@pytest.mark.parametrize("kind", ["signs", "normal", "decimals"])
@pytest.mark.parametrize("fields", [False, True])
def test_strips_are_proven_exactly(tmp_path, kind, fields):
    problem = strip(4, 150, kind, fields)
    proof = prove(problem)
    assert proof.optimal
    assert proof.statistics.method == "elimination"
    assert proof.statistics.rounds == 0
    assert proof.certificate.parts == "1 elimination order"
    assert "elimination" in proof.summary()
    assert verify(problem, proof.certificate).optimal
    column = np.array(list(itertools.product([1, -1], repeat=4)))  # column by column, in floats
    assert float(proof.energy) == pytest.approx(least_of_strip(problem, column), rel=1e-9)
    path = tmp_path / "strip.mc"
    files.write(path, proof.proven.problem)
    files.write_certificate(files.side_car(path), proof.certificate)
    assert files.verify_file(path).proven


def least_of_strip(problem: Ising, states: np.ndarray) -> float:
    """The least energy of a strip of four rows, by transfer matrices."""
    couplings = np.zeros((problem.num_variables, problem.num_variables))
    couplings[tuple(problem.edges.T)] = problem.weights
    couplings += couplings.T
    best = np.zeros(len(states))
    for first in range(0, problem.num_variables, 4):
        own = slice(first, first + 4)
        inside = -np.einsum("si,ij,sj->s", states, np.triu(couplings[own, own]), states)
        inside = inside - states @ problem.fields[own]
        if first:
            between = -states @ couplings[slice(first - 4, first), own] @ states.T
            best = (best[:, None] + between).min(axis=0)
        best = best + inside
    return float(best.min()) + problem.offset


def test_a_wcnf_file_is_proven_for_both_checkers(tmp_path):
    clauses = to_max2sat(strip(3, 20))[0]
    proof = prove(strip(3, 120))
    assert proof.optimal
    path = tmp_path / "strip.wcnf"
    files.write(path, clauses)
    form = ExactForm.of(clauses)
    found = NarrowGraph.of(form, 2**30)
    assert found is not None
    least = found.elimination.least_value()
    assert form.value(found.lowest_state(lambda: None)[:-1]) == least
    words = " ".join(str(node + 1) for node in found.nodes)
    state = "".join("1" if spin > 0 else "0" for spin in found.lowest_state(lambda: None)[:-1])
    text = (
        f"glasshouse-certificate 6\ndenominator 1\nstate {state}\ntree 1\norder {words}\nloops 0\n"
    )
    files.side_car(path).write_text(text)
    cost = files.verify_file(path).cost
    assert stand_alone(path.read_text(), text) == (cost, cost)


def random_graph(size: int, degree: float, rng: np.random.Generator):
    pairs = np.array(list(itertools.combinations(range(size), 2)))
    return adjacency(size, pairs[rng.random(len(pairs)) < degree / size])


@pytest.mark.parametrize("seed", range(30))
def test_orders_are_permutations_and_as_narrow_as_promised(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 60))
    rows = random_graph(size, rng.choice([1.0, 2.0, 4.0]), rng)
    edges = np.stack([np.repeat(np.arange(size), np.diff(rows.starts)), rows.neighbours], 1)
    edges = edges[edges[:, 0] < edges[:, 1]]
    form = ExactForm.of(Ising.from_edges(size, edges, np.ones(len(edges), dtype=np.int64)))
    for order in narrow._orders(rows):
        assert len({*order.tolist()}) == len(order)
    for most in (1, 2, 3, 24):
        order = orders.least_degree(*rows[:2], most)
        rest = np.setdiff1d(np.arange(size), order)
        try:
            counts = Elimination(form, [*order.tolist(), *rest.tolist()]).open_counts
        except CertificateError:
            continue
        assert counts[: len(order)].max(initial=0) <= most
        assert np.array_equal(counts[: len(order)], degrees_by_definition(edges, order))


def degrees_by_definition(edges, order) -> list[int]:
    """The number of neighbours of each vertex when it is eliminated."""
    near: dict[int, set[int]] = {}
    for a, b in edges.tolist():
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    found = []
    for v in order.tolist():
        neighbours = near.pop(v, set())
        found.append(len(neighbours))
        for u in neighbours:
            near[u] = (near[u] | neighbours) - {u, v}
    return found


def test_a_postorder_keeps_all_tables_and_holds_fewer():
    form = ExactForm.of(strip(5, 40))
    first = Elimination(form, np.random.default_rng(1).permutation(40).repeat(5) * 5 + np.tile(
        np.arange(5), 40))  # fmt: skip
    order = orders.postorder(*first.subtrees)
    second = Elimination(form, first.order[order])
    assert sorted(first.open_counts.tolist()) == sorted(second.open_counts.tolist())
    assert second.num_held <= first.num_held
    assert second.least_value() == first.least_value()


def test_wide_graphs_have_no_order():
    complete = Ising.from_edges(60, list(itertools.combinations(range(60), 2)), [1] * 1770)
    assert NarrowGraph.of(ExactForm.of(complete), 2**40) is None


def test_memory_is_a_limit():
    form = ExactForm.of(strip(16, 30))
    assert NarrowGraph.of(form, 2**30) is not None
    assert NarrowGraph.of(form, 2**20) is None
    proof = prove(strip(16, 30), memory_limit=2**20, time_limit=1)
    assert proof.statistics.method != "elimination"


@pytest.mark.quiet
def test_a_time_limit_ends_an_elimination(monkeypatch):
    monkeypatch.setattr(narrow, "_SECONDS", {1: 1e-12, 2: 1e-12})  # far too little
    monkeypatch.setattr(narrow, "_MOST_NUMBERS", 1 << 40)
    problem = strip(22, 60)
    prove(strip(3, 400))
    began = time.monotonic()
    proof = prove(problem, time_limit=2)
    assert time.monotonic() - began < 4
    assert proof.lower_bound <= proof.energy


def test_the_clock_is_read_before_each_search_for_an_order():
    form, checks = ExactForm.of(strip(18, 40)), []
    for most in range(1, 4):
        checks.clear()

        def check(most=most):
            checks.append(most)
            if len(checks) == most:
                raise TimeIsUpError

        with pytest.raises(TimeIsUpError):
            NarrowGraph.of(form, 2**40, check)
        assert len(checks) == most


@pytest.mark.parametrize("stop", [KeyboardInterrupt, TimeIsUpError])
def test_a_search_for_orders_can_be_stopped(monkeypatch, stop):
    def orders_of(rows):
        raise stop
        yield

    monkeypatch.setattr(narrow, "_orders", orders_of)
    proof = prove(strip(6, 60), node_limit=1)
    assert proof.statistics.method == "cycle LP"
    assert (proof.statistics.stopped == "Ctrl-C") == (stop is KeyboardInterrupt)


@pytest.mark.quiet
def test_ctrl_c_ends_an_elimination(monkeypatch):
    monkeypatch.setattr(prover, "_FEW_EDGES", -(10**9))
    monkeypatch.setattr(narrow, "_MOST_NUMBERS", 1 << 40)
    prove(strip(3, 400))
    pressed: list[float] = []
    was = NarrowGraph.lowest_state

    def lowest_state(self, between):
        def press():
            pressed.append(time.monotonic())
            signal.raise_signal(signal.SIGINT)

        threading.Timer(0.5, press).start()
        return was(self, between)

    monkeypatch.setattr(NarrowGraph, "lowest_state", lowest_state)
    proof = prove(strip(22, 60))
    assert time.monotonic() - pressed[0] < 2
    assert proof.statistics.stopped == "Ctrl-C"
    assert proof.lower_bound <= proof.energy
