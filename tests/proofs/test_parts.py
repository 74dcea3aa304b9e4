"""The parts of a proof: reductions, 2-SAT, rounding, separation."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import strategies
from tests.oracles import all_states, optimum
from tests.proofs.instances import cuts_of, listed, loop_sum, spin_glass

from glasshouse.certificates import verify
from glasshouse.kernels.adjacency import adjacency
from glasshouse.problems import Ising
from glasshouse.problems.hard_clauses import HardClausesUnsatisfiableError, satisfy
from glasshouse.proofs import prove
from glasshouse.proofs.contraction import ContractedGraph, OddCycle
from glasshouse.proofs.kernels import graphs
from glasshouse.proofs.kernels.cycles import ArcGraph, odd_cycles
from glasshouse.proofs.lp.rounding import Rounded, refine, round_duals
from glasshouse.proofs.parts import cycle_parts
from glasshouse.proofs.signed_graph import SignedGraph, exact_array
from glasshouse.stopping import working_time


def least_cost(graph: SignedGraph) -> tuple[int, np.ndarray]:
    """Least weight of violated edges, and a state that has it, by enumeration."""
    states = all_states(graph.num_vertices, -1)
    costs = [graph.cost(state) for state in states]
    best = int(np.argmin(costs))
    return costs[best], states[best]


def sparse_graph(rng: np.random.Generator) -> SignedGraph:
    """Trees, chains, bridges, cut vertices and a few cycles."""
    size = int(rng.integers(2, 12))
    tree = [(int(rng.integers(0, k)), k) for k in range(1, size)]
    more = [tuple(sorted(rng.choice(size, 2, replace=False).tolist())) for _ in range(size // 2)]
    edges = sorted({*tree, *more})
    weights = rng.integers(1, 9, len(edges)) * rng.choice([-1, 1], len(edges))
    return SignedGraph(size, np.array(edges, dtype=np.int32), exact_array(map(int, weights)))


@pytest.mark.parametrize("seed", range(60))
def test_reductions_keep_the_optimum_and_bring_back_states(seed):
    graph = sparse_graph(np.random.default_rng(seed))
    reduction = ContractedGraph(graph)
    solved = [least_cost(block.graph) for block in reduction.blocks]
    state = reduction.lift_state([state for _, state in solved])
    assert graph.cost(state) == least_cost(graph)[0]
    assert reduction.cost + sum(cost for cost, _ in solved) == graph.cost(state)
    for block in reduction.blocks:  # nothing left to reduce
        strength = np.zeros(block.graph.num_vertices)
        for (a, b), weight in zip(block.graph.edges, block.graph.weights, strict=True):
            strength[[a, b]] += abs(weight)
        heaviest = [max(map(abs, block.graph.weights[(block.graph.edges == v).any(axis=1)]))
                    for v in range(block.graph.num_vertices)]  # fmt: skip
        assert (2 * np.array(heaviest) < strength).all()


@pytest.mark.parametrize("seed", range(60))
def test_lifted_loops_are_odd_cycles_within_the_weights(seed):
    rng = np.random.default_rng(seed)
    graph = sparse_graph(rng) if seed % 2 else SignedGraph.of(loop_sum(9, 6, rng)[0])
    reduction = ContractedGraph(graph)
    kernel_loops = []
    for block in reduction.blocks:
        # Any feasible packing will do: one cycle through the first edge, as far as it fits.
        negative = (block.graph.weights < 0).astype(np.uint8)
        lengths = np.zeros(block.graph.num_edges)
        edges, begins, _ = odd_cycles(
            ArcGraph(*block.graph.rows, negative, lengths, (0,)), 1e-3, np.inf,
            np.arange(1, dtype=np.int32), np.zeros(block.graph.num_vertices, dtype=np.bool_),
        )  # fmt: skip
        if len(begins) > 1:
            cycle = edges[begins[0] : begins[1]].tolist()
            room = min(abs(block.graph.weights[e]) for e in cycle)
            kernel_loops.append(OddCycle(room, {block.edges[e] for e in cycle}))
    before = sum(loop.multiplier for loop in kernel_loops)
    loops = reduction.lift_loops(kernel_loops, denominator=1)
    assert sum(loop.multiplier for loop in loops) == before + reduction.cost
    use = Counter()
    for loop in loops:
        ends = Counter(int(v) for e in loop.edges for v in graph.edges[e])
        assert set(ends.values()) == {2}
        assert nx.is_connected(nx.Graph([tuple(graph.edges[e]) for e in loop.edges]))
        assert sum(graph.weights[e] < 0 for e in loop.edges) % 2 == 1
        use.update(dict.fromkeys(loop.edges, loop.multiplier))
    assert all(used <= abs(graph.weights[e]) for e, used in use.items())


@given(strategies.isings(max_spins=7))
@settings(max_examples=60)
def test_cycles_are_walked_along_whatever_the_order_of_their_edges(problem):
    graph = SignedGraph.of(problem)
    rng = np.random.default_rng(0)
    index = {frozenset(pair): k for k, pair in enumerate(graph.edges.tolist())}
    cycles = [
        [index[frozenset(p)] for p in zip(cycle, cycle[1:] + cycle[:1], strict=True)]
        for cycle in nx.simple_cycles(nx.Graph(graph.edges.tolist()))
    ]
    turned = rng.random(sum(map(len, cycles))) < 0.5
    shuffled = [rng.permutation(cycle) for cycle in cycles]
    parts = cycle_parts(graph, shuffled, range(1, len(cycles) + 1), 3, turned)
    at = 0
    for k, (multiplier, nodes, signs) in enumerate(listed(parts)[0]):
        assert multiplier == k + 1
        steps = [index[frozenset(p)] for p in zip(nodes, nodes[1:] + nodes[:1], strict=True)]
        assert sorted(steps) == sorted(cycles[k])
        assert steps[0] == min(steps)
        other = dict(zip(shuffled[k].tolist(), turned[at : at + len(nodes)].tolist(), strict=True))
        at += len(nodes)
        assert signs == [int(graph.signs[e]) * (-1 if other[e] else 1) for e in steps]


@pytest.mark.parametrize(
    "edges", [[0, 1], [0, 1, 2, 0], [0, 1, 2, 3, 4, 5], [0, 1, 3, 4], [0, 1, 2, 6], []]
)
def test_what_is_not_one_cycle_is_refused(edges):
    """Two triangles and an edge between them: open, twice the same edge, both, mixed, and more."""
    ends = [[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5], [2, 3]]
    graph = SignedGraph(6, np.array(ends, dtype=np.int32), exact_array([1, 1, -1] * 2 + [1]))
    with pytest.raises(AssertionError, match="not one cycle"):
        cycle_parts(graph, [[0, 1, 2], edges], [1, 1], 1)


def test_chains_and_leaves_disappear():
    size = 400
    ring = [(k, k + 1) for k in range(size - 1)] + [(0, size - 1)]
    leaves = [(k, size + k) for k in range(size)]
    problem = Ising.from_edges(2 * size, ring + leaves, [3] * (size - 1) + [-2] + [1] * size)
    proof = prove(problem)
    assert proof.statistics.core_edges == 0
    assert proof.optimal
    assert proof.certificate.num_loops == 1


@given(st.integers(2, 14), st.integers(1, 24), st.integers(0, 10**6))
@settings(max_examples=60)
def test_blocks_are_those_of_networkx(size, count, seed):
    rng = np.random.default_rng(seed)
    pairs = {tuple(sorted(rng.choice(size, 2, replace=False).tolist())) for _ in range(count)}
    edges = np.array(sorted(pairs), dtype=np.int32)
    number, total = graphs.blocks(*adjacency(size, edges), len(edges))
    ours = {frozenset(map(tuple, edges[number == k].tolist())) for k in range(total)}
    theirs = {
        frozenset(tuple(sorted(edge)) for edge in block)
        for block in nx.biconnected_component_edges(nx.Graph(edges.tolist()))
    }
    assert ours == theirs


@given(strategies.isings(max_spins=7))
@settings(max_examples=60)
def test_shortest_odd_cycles_are_the_shortest(problem):
    graph = SignedGraph.of(problem)
    rng = np.random.default_rng(1)
    lengths = rng.random(graph.num_edges)
    negative = (graph.weights < 0).astype(np.uint8)
    everywhere = np.arange(graph.num_vertices, dtype=np.int32)
    edges, begins, totals = odd_cycles(
        ArcGraph(*graph.rows, negative, lengths, (0,)),
        0.0,
        np.inf,
        everywhere,
        np.zeros(len(everywhere), bool),
    )
    index = {frozenset(pair): k for k, pair in enumerate(graph.edges.tolist())}
    odd = []
    for cycle in nx.simple_cycles(nx.Graph(graph.edges.tolist())):
        members = [index[frozenset(p)] for p in zip(cycle, cycle[1:] + cycle[:1], strict=True)]
        if negative[members].sum() % 2:
            odd.append(lengths[members].sum())
    assert (len(totals) > 0) == bool(odd)
    if odd:
        assert totals.min() == pytest.approx(min(odd))
    for k, total in enumerate(totals):
        members = edges[begins[k] : begins[k + 1]]
        assert negative[members].sum() % 2 == 1
        assert lengths[members].sum() == pytest.approx(total)
        assert set(Counter(graph.edges[members].ravel().tolist()).values()) == {2}


@given(strategies.max2sats(max_variables=5))
@settings(max_examples=100)
def test_two_sat_against_enumeration(problem):
    feasible = (problem.broken(all_states(problem.num_variables, 0)) == 0).any()
    if feasible:
        assert problem.broken(satisfy(problem.num_variables, problem.hard)) == 0
    else:
        with pytest.raises(HardClausesUnsatisfiableError, match="true and false"):
            satisfy(problem.num_variables, problem.hard)


def test_long_implications_in_linear_time():
    size = 100_000
    chain = np.column_stack([-np.arange(1, size), np.arange(2, size + 1)]).astype(np.int32)
    clauses = np.concatenate([chain, [[1, 0]]]).astype(np.int32)
    assert satisfy(size, clauses).all()
    with pytest.raises(HardClausesUnsatisfiableError):
        satisfy(size, np.concatenate([clauses, [[-size, 0]]]).astype(np.int32))


@given(st.integers(1, 10**6), st.integers(0, 10**6))
@settings(max_examples=40)
def test_rounded_duals_are_a_packing(scale, seed):
    rng = np.random.default_rng(seed)
    size = 12
    capacity = [int(x) for x in rng.integers(1, 2 * scale + 1, size)]
    cycles = cuts_of([sorted(rng.choice(size, 4, replace=False).tolist()) for _ in range(8)])
    largest = max(capacity)
    wild = rng.random(8) * rng.choice([0, 1e-13, 1], 8)
    packing = round_duals(wild, largest, cycles, capacity, Fraction(1, 4))
    use = [0] * size
    for multiplier, cut in zip(packing.multipliers.tolist(), packing.cuts, strict=True):
        assert multiplier > 0
        for edge in cut.edges.tolist():
            use[edge] += multiplier
    assert packing.total == Fraction(sum(packing.multipliers.tolist()), packing.denominator)
    assert all(u <= packing.denominator * c for u, c in zip(use, capacity, strict=True))


def test_refinement_reaches_what_floats_miss():
    # Two cycles that share nothing, with capacities far beyond 53 bits, packed a little short.
    capacity = [2**80 + 1] * 3 + [3**50] * 3
    cycles = cuts_of([[0, 1, 2], [3, 4, 5]])
    wanted = [2**80 - 2**30, 3**50 - 3**20]
    short = Rounded(1, exact_array(wanted), cycles, sum(wanted))
    exact = Fraction(2**80 + 1 + 3**50)
    assert refine(short, cycles, capacity, exact).total == exact
    too_late = working_time() - 1.0
    assert refine(short, cycles, capacity, exact, too_late) is short


@pytest.mark.parametrize("bits", [20, 40, 54])
def test_large_weights_are_proven_exactly(bits):
    rng = np.random.default_rng(bits)
    weights: Counter = Counter()
    energy = 0
    for _ in range(60):
        cycle = rng.choice(25, 4, replace=False).tolist()
        weight = int(rng.integers(2 ** (bits - 1), 2**bits))
        for k in range(4):
            pair = tuple(sorted((cycle[k], cycle[k - 1])))
            weights[pair] += -weight if k == 0 else weight
        energy -= 2 * weight
    problem = Ising.from_edges(25, list(weights), np.array(list(weights.values()), dtype=np.int64))
    proof = prove(problem)
    assert proof.optimal
    assert proof.energy == energy == verify(problem, proof.certificate).lower_bound


@pytest.mark.slow
@pytest.mark.parametrize("gaussian", [False, True])
def test_fifty_spin_glasses_against_enumeration(gaussian):
    for seed in range(100, 150):
        rng = np.random.default_rng(seed)
        size, density = int(rng.integers(6, 16)), float(rng.choice([0.3, 0.6, 1.0]))
        problem = spin_glass(size, density, rng, gaussian=gaussian)
        proof, best = prove(problem), optimum(problem)[0]
        assert proof.lower_bound <= best <= proof.energy
        assert not proof.optimal or proof.energy == best
