"""Certificates with a tree: leaves cover all states, and no leaf claims more than is true."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import strategies
from tests.certificates.trees import forest_of_parts, trees
from tests.oracles import energy_by_definition, states_of

from glasshouse.certificates import (
    Branch,
    Certificate,
    CertificateError,
    Cover,
    Leaf,
    Order,
    Tree,
    verify,
)
from glasshouse.certificates.exact_form import ExactForm
from glasshouse.certificates.ties import ties_of
from glasshouse.problems import Ising


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_no_tree_claims_more_than_is_true(data):
    problem = data.draw(strategies.isings(max_spins=6, min_spins=2))
    certificate = data.draw(trees(problem.num_variables))
    try:
        verdict = verify(problem, certificate)
    except CertificateError:
        # A cover leaves an edge open, or an order lacks a vertex.
        assert any(isinstance(row, Cover | Order) for row in certificate.tree.rows)
        return
    least = min(energy_by_definition(problem, state) for state in states_of(problem))
    assert verdict.bound <= verdict.lower_bound <= least <= verdict.energy
    assert verdict.optimal == (verdict.lower_bound == verdict.energy)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_leaves_part_all_states(data):
    size = data.draw(st.integers(2, 6))
    tree = data.draw(trees(size)).tree
    assert tree is not None
    for code in range(2**size):
        spins = [*(1 - 2 * (code >> k & 1) for k in range(size)), 1]
        holds = [all(spins[a] * spins[b] == sign for a, b, sign in leaf.pairs)
                 for leaf in tree.leaves()]  # fmt: skip
        assert sum(holds) == 1


def test_a_cover_is_exact_for_numbers_of_any_size():
    rng = np.random.default_rng(1)
    weights = rng.normal(size=(5, 3))
    edges = [(v, 5 + h) for v in range(5) for h in range(3)]
    for factor in (1.0, 2.0**200):
        problem = Ising.from_edges(8, edges, weights.ravel() * factor, fields=rng.normal(size=8))
        states = states_of(problem)
        values = [ExactForm.of(problem).value(np.array(state)) for state in states]
        best = states[int(np.argmin(values))]
        none: list[int] = []
        certificate = Certificate(best, none, [0], none, tree=Tree((Cover((5, 6, 7)),)))
        verdict = verify(problem, certificate)
        assert verdict.optimal
        assert verdict.bound == Fraction(min(values), ExactForm.of(problem).scale)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ((), "lacks 1 of its subtrees"),
        ((Branch(0, 1), Leaf(0)), "lacks 1 of its subtrees"),
        ((Leaf(0), Leaf(0)), "after its last leaf"),
        ((Branch(1, 1), Leaf(0), Leaf(0)), "a vertex twice"),
        ((Branch(-1, 1), Leaf(0), Leaf(0)), "out of range"),
        ((Leaf(-1),), "out of range"),
        ((Cover((1, 1)),), "a vertex twice"),
        ((Cover(tuple(range(25))),), "at most 24"),
        (("leaf",), "expected Branch"),
    ],
)
def test_what_is_no_tree_is_refused(rows, message):
    with pytest.raises(ValueError, match=message):
        Tree(rows)


def test_a_tree_must_have_the_certificates_parts_and_the_problems_vertices():
    with pytest.raises(ValueError, match="have 1 loop, but the certificate has 0 loops"):
        Certificate([1, 1], [], [0], [], tree=Tree((Leaf(1),)))
    far = Certificate([1, 1], [], [0], [], tree=Tree((Branch(0, 3), Leaf(0), Leaf(0))))
    with pytest.raises(CertificateError, match="a tree names node 3"):
        verify(Ising.from_edges(2, [(0, 1)], [1]), far)


def test_ties_tell_contradictions():
    assert ties_of(3, [(0, 1, 1), (1, 2, 1), (0, 2, 1)]) is not None
    assert ties_of(3, [(0, 1, 1), (1, 2, 1), (0, 2, -1)]) is None


def test_common_parts_count_in_every_leaf():
    triangle = Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [-1, -1, -1])
    rows = (Branch(0, 1), Leaf(0), Leaf(0))
    alone = Certificate([1, -1, 1], [0, 1, 2], [0, 3], [1])
    parts = forest_of_parts(alone, Tree(rows, common_loops=1))
    assert verify(triangle, parts).optimal
    assert parts.num_leaves == 2
