"""Polynomials of any degree: energies, units, dimod, and their reductions to pairs."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import dimod
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.problems import expansion
from glasshouse.problems.convert import given_problem
from glasshouse.problems.expansion import in_units, to_pairs

UNITS = st.sampled_from(["spin", "binary"])


@st.composite
def polynomials(draw, most=8, degree=6, floats=True):
    size = draw(st.integers(0, most))
    row = st.lists(st.integers(0, size - 1), max_size=degree) if size else st.just([])
    rows = draw(st.lists(row, max_size=12))
    whole = st.integers(-(10**6), 10**6)
    kinds = [whole, st.floats(-1e6, 1e6, allow_nan=False)] if floats else [whole]
    kind = draw(st.sampled_from(kinds))
    weights = [draw(kind) for _ in rows]
    return size, rows, weights, draw(UNITS)


def states(size, units):
    values = (-1, 1) if units == "spin" else (0, 1)
    return np.array(list(itertools.product(values, repeat=size)), dtype=np.int8).reshape(
        2**size, size
    )


def energies(rows, weights, table):
    """Compute the energy by the definition, in exact numbers."""
    return [
        sum(
            Fraction(w) * math.prod(int(s[i]) for i in r)
            for r, w in zip(rows, weights, strict=True)
        )
        for s in table
    ]


@given(polynomials())
def test_the_energy_is_the_sum_of_the_terms(drawn):
    size, rows, weights, units = drawn
    problem = gh.Polynomial.from_terms(size, rows, weights, units=units)
    table = states(size, units)
    truth = energies(rows, weights, table)
    if problem.is_integer:
        assert problem.energy(table).tolist() == truth
        again = gh.Polynomial.from_terms(size, problem.terms(), offset=problem.offset, units=units)
        assert again == problem
    else:
        scale = 1 + sum(map(abs, weights))
        assert np.allclose(problem.energy(table), [float(x) for x in truth], atol=1e-12 * scale)
    assert problem.num_terms == len(problem.terms())


@given(polynomials(floats=False), UNITS)
def test_units_are_changed_exactly_and_back(drawn, units):
    size, rows, weights, own = drawn
    problem = gh.Polynomial.from_terms(size, rows, weights, units=own)
    other, reduction = in_units(problem, units)
    table = states(size, own)
    assert other.energy(reduction.forward(table)).tolist() == [
        reduction.target_energy(int(e)) for e in problem.energy(table)
    ]
    assert (reduction.back(reduction.forward(table)) == table).all()
    back, second = in_units(other, own)
    assert [x * second.factor * reduction.factor for x in problem.energy(table).tolist()] == (
        back.energy(table).tolist()
    )


@settings(max_examples=60)
@given(polynomials(most=5, degree=7, floats=False))
def test_pairs_have_the_energy_at_their_best_ancillas(drawn):
    size, rows, weights, units = drawn
    problem = gh.Polynomial.from_terms(size, rows[:3], weights[:3], units=units)
    quadratic, reduction = to_pairs(problem)
    assert isinstance(quadratic, gh.Ising if units == "spin" else gh.Qubo)
    table = states(size, units)
    images = reduction.forward(table)
    assert quadratic.energy(images).tolist() == problem.energy(table).tolist()
    assert (reduction.back(images) == table).all()
    if quadratic.num_variables <= 14:
        everything = states(quadratic.num_variables, units)
        least = quadratic.energy(everything)
        assert (problem.energy(reduction.back(everything)) <= least).all()


@settings(max_examples=40)
@given(polynomials(most=6, degree=9, floats=False))
def test_wide_products_of_bits_are_halved_exactly(drawn):
    size, rows, weights, _ = drawn
    problem = gh.Polynomial.from_terms(size, rows[:2], weights[:2], units="binary")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expansion, "_WIDE", 3)
        quadratic, reduction = to_pairs(problem)
    table = states(size, "binary")
    assert quadratic.energy(reduction.forward(table)).tolist() == problem.energy(table).tolist()
    everything = states(quadratic.num_variables, "binary")
    assert (problem.energy(reduction.back(everything)) <= quadratic.energy(everything)).all()


@given(polynomials(most=5, degree=4))
def test_dimod_knows_the_same_polynomial(drawn):
    size, rows, weights, units = drawn
    labels = [f"v{k}" for k in range(size)]
    problem = gh.Polynomial.from_terms(size, rows, weights, labels=labels, units=units)
    model = problem.to_dimod()
    table = states(size, units)
    for state, energy in zip(table, problem.energy(table), strict=True):
        sample = dict(zip(labels, state.tolist(), strict=True))
        if sample:
            assert math.isclose(model.energy(sample), energy, rel_tol=1e-9, abs_tol=1e-6)
    again = gh.Polynomial.from_dimod(model)
    assert again.energy(table) == pytest.approx(problem.energy(table))
    if problem.is_integer:
        assert (again, hash(again)) == (problem, hash(problem))
    assert given_problem(model) == again


def test_every_kind_of_problem_is_a_polynomial_and_comes_back():
    ising = gh.Ising.from_edges(3, [(0, 1), (1, 2)], [3, -2], fields=[0, 1, 5], offset=4)
    qubo = gh.Qubo.from_matrix([[1, 2, 0], [0, -3, 4], [0, 0, 0]])
    clauses = gh.Max2Sat.from_clauses(3, [[1, -2], [2, 3], [-1]], [3, 2, 1])
    for problem in (ising, qubo, clauses):
        poly, reduction = gh.to_polynomial(problem)
        table = states(3, "spin" if problem is ising else "binary")
        assert poly.energy(reduction.forward(table)).tolist() == problem.energy(table).tolist()
        assert poly.degree == 2
    assert gh.to_ising(gh.to_polynomial(ising)[0])[0] == ising
    assert gh.to_qubo(gh.to_polynomial(qubo)[0])[0] == qubo
    assert gh.to_polynomial(qubo, "spin")[0].units == "spin"


def test_any_kind_is_made_of_a_polynomial():
    cubic = gh.Polynomial.from_terms(4, {(0, 1, 2): -1, (1, 2, 3): 2, (0, 3): 1, (2,): 3})
    least = cubic.energy(states(4, "spin")).min()
    for to in (gh.to_ising, gh.to_qubo, gh.to_max2sat, gh.to_maxcut, gh.to_rbm):
        problem, reduction = to(cubic)
        found = gh.brute_force(problem)
        assert reduction.source_energy(found.energy) == least
        assert cubic.energy(reduction.back(found.states[0])) == least


def test_labels_name_variables_and_order_does_not_matter():
    one = gh.Polynomial.from_terms(3, {(0, 1, 2): 2, (0, 1): 1}, labels="abc")
    two = gh.Polynomial.from_terms(3, {(0, 1, 2): 2, (1, 2): 1}, labels="cab")
    assert (one, hash(one)) == (two, hash(two))
    assert one.energy({"a": 1, "b": -1, "c": 1}) == -3
    assert one != gh.Polynomial.from_terms(3, {(0, 1, 2): 2, (0, 1): 1})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, [[0, 2]], [1]), "has variable 2; variables are 0 to 1"),
        ((2, [[0, -1]], [1]), "numbered from 0"),
        ((2, [[0, 1]], [1, 2]), "1 monomials but 2 weights"),
        ((2, [[0, 1], [1, 0]], [2**62, 2**62]), "above 2\\^63-1"),
        ((2, [[0, 1]], [math.inf]), "must be finite"),
        ((2, [[0, 1]]), "weights are missing"),
        ((2, {(0, 1): 1}, [1]), "remove the argument weights"),
        ((2, [[0, 2**40]], [1]), "but the limit is"),
    ],
)
def test_bad_terms_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        gh.Polynomial.from_terms(*arguments)


def test_what_is_not_canonical_is_refused():
    for indices, starts in (([1, 0], [0, 2]), ([0, 1, 0], [0, 2, 3]), ([0, 0], [0, 1, 2]),
                            ([0, 1], [0, 0, 2]), ([0, 1], [0, 1])):  # fmt: skip
        with pytest.raises(ValueError, match=r"monomial|starts"):
            gh.Polynomial(2, np.array(indices), np.array(starts), np.ones(len(starts) - 1, int))
    with pytest.raises(ValueError, match="neither 'spin' nor 'binary'"):
        gh.Polynomial.from_terms(1, {}, units="qutrit")


def test_large_degrees_stay_cheap_or_are_refused_in_a_line():
    wide = gh.Polynomial.from_terms(100, [range(100)], [-5])
    ising, reduction = gh.to_ising(wide)
    state = np.ones(100, np.int8)
    assert ising.energy(reduction.forward(state)) == -5
    assert ising.num_variables < 400
    with pytest.raises(ValueError, match="terms in other units, and the total"):
        in_units(wide, "binary")
    heavy = gh.Polynomial.from_terms(40, [range(20)], [2**60], units="spin")
    with pytest.raises(ValueError, match="at most 2\\^63-1"):
        in_units(gh.Polynomial.from_terms(8, [range(8)], [2**60]), "binary")
    with pytest.raises(ValueError, match="2\\^63-1"):
        gh.to_ising(heavy)


def test_dimod_agrees_on_the_quadratic_form_of_an_instance():
    """dimod's own reduction, with a penalty, has the same optimum."""
    rng = np.random.default_rng(5)
    rows = [sorted(rng.choice(6, 3, replace=False).tolist()) for _ in range(6)]
    cubic = gh.Polynomial.from_terms(6, rows, rng.integers(-5, 6, 6), units="binary")
    bqm = dimod.make_quadratic(cubic.to_dimod(), 100.0, "BINARY")
    theirs = dimod.ExactSolver().sample(bqm).first.energy
    assert theirs == cubic.energy(states(6, "binary")).min() == gh.brute_force(cubic).energy
