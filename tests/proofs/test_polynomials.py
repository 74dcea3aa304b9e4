"""Proofs for polynomials: optima by covers, honest bounds elsewhere, both checkers agree."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from tests.problems.test_polynomial import polynomials, states

import glasshouse as gh
from glasshouse.certificates import ExactForm, Proven, checker
from glasshouse.files import side_car
from glasshouse.files.certificate.writing import write_certificate
from glasshouse.problems.reduction import to_spins
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.even_covers import EvenCoverProof


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("proofs")


@settings(max_examples=40, deadline=None)
@given(polynomials(most=8, degree=5))
def test_small_polynomials_are_proven_and_both_checkers_agree(folder, drawn):
    size, rows, weights, units = drawn
    kinds = np.array(weights, dtype=np.float64 if any(type(w) is float for w in weights) else int)
    problem = gh.Polynomial.from_terms(size, rows, kinds, units=units)
    if not problem.is_integer or not size:
        return
    proof = gh.prove(problem)
    assert proof.optimal
    assert proof.energy == problem.energy(proof.state)
    assert proof.energy == problem.energy(states(size, units)).min()
    path = folder / "a.hubo"
    gh.write(path, problem, overwrite=True)
    write_certificate(side_car(path), proof.certificate, cost=proof.energy, overwrite=True)
    assert gh.verify_file(path).cost == proof.energy
    texts = path.read_text(), side_car(path).read_text()
    assert checker.check(*texts, is_hubo=True) == (proof.energy, proof.energy)


def test_eighteen_variables_and_more_by_a_small_cover():
    rng = np.random.default_rng(5)
    rows = [rng.choice(18, 3, replace=False) for _ in range(60)]
    dense = gh.Polynomial.from_terms(18, rows, rng.integers(1, 9, 60) * rng.choice([-1, 1], 60))
    assert gh.prove(dense).energy == gh.brute_force(dense).energy
    star = [(0, 1, k) for k in range(2, 60)] + [(0, k) for k in range(2, 60)]
    many = gh.Polynomial.from_terms(60, star, rng.integers(1, 9, 116) * rng.choice([-1, 1], 116))
    proof = gh.prove(many)
    assert proof.optimal
    assert proof.certificate.parts == "1 cover"


def test_what_is_satisfiable_needs_no_parts_and_the_rest_gets_an_honest_bound():
    rng = np.random.default_rng(2)
    state = rng.choice([-1, 1], 120)
    rows = [rng.choice(120, 3, replace=False) for _ in range(60)]
    easy = gh.Polynomial.from_terms(120, rows, [-int(np.prod(state[row])) for row in rows])
    proof = gh.prove(easy)
    assert proof.optimal
    assert proof.energy == -60
    rows = [rng.choice(120, 3, replace=False) for _ in range(700)]
    hard = gh.Polynomial.from_terms(120, rows, rng.integers(1, 9, 700) * rng.choice([-1, 1], 700))
    open_proof = gh.prove(hard, state=state, time_limit=5)
    assert not open_proof.optimal
    assert open_proof.lower_bound <= open_proof.energy <= hard.energy(state)


@settings(max_examples=40, deadline=None)
@given(polynomials(most=9, degree=4))
def test_even_covers_prove_what_both_checkers_believe(folder, drawn):
    size, rows, weights, units = drawn
    kinds = np.array(weights, dtype=np.float64 if any(type(w) is float for w in weights) else int)
    problem = gh.Polynomial.from_terms(size, rows, kinds, units=units)
    if not size or problem.degree < 3:
        return
    form = ExactForm.of(problem)
    state = to_spins(gh.brute_force(problem).states[0])
    search = EvenCoverProof(form, state, Budget())
    proven = Proven(problem, search.certificate())
    exact = Fraction(form.value(state), form.scale)
    assert proven.verdict.bound <= exact == proven.verdict.exact_energy
    if problem.is_integer and search.nodes < 100:
        assert proven.verdict.optimal
    path = folder / "covers.hubo"
    gh.write(path, problem, overwrite=True)
    write_certificate(side_car(path), proven.certificate, overwrite=True)
    texts = path.read_text(), side_car(path).read_text()
    value, bound = checker.check(*texts, is_hubo=True)
    assert value == exact
    assert (bound == value) == proven.verdict.optimal


def test_planted_covers_of_forty_spins_are_proven_by_the_linear_program():
    rng = np.random.default_rng(1)
    terms: dict[tuple[int, ...], int] = {}
    for _ in range(40):  # four terms of three spins each, one of them negative
        a, b, c, d, e, f = rng.choice(40, 6, replace=False).tolist()
        for row, weight in zip(
            ((a, b, c), (a, d, e), (b, d, f), (c, e, f)), (-4, -4, -4, 3), strict=True
        ):
            key = tuple(sorted(row))
            terms[key] = terms.get(key, 0) + weight
    problem = gh.Polynomial.from_terms(40, terms)
    proof = gh.prove(problem, state=np.ones(40, np.int8), time_limit=60)
    assert proof.optimal
    assert proof.energy == -9 * 40
    assert proof.statistics.method == "even-cover LP"
    assert "even-cover LP" in str(proof.summary())
    assert proof.certificate.num_monomials


def test_a_tree_of_even_covers_keeps_to_its_time(monkeypatch):
    rng = np.random.default_rng(4)
    rows = [rng.choice(30, 3, replace=False) for _ in range(120)]
    problem = gh.Polynomial.from_terms(30, rows, rng.choice([-1, 1], 120))
    proof = gh.prove(problem, time_limit=2)
    assert proof.statistics.stopped == "time limit"
    assert proof.lower_bound > -116  # above that of the weights, which is rounded up
    assert proof.statistics.seconds < 20
    monkeypatch.setattr("glasshouse.proofs.even_covers._MOST_NODES", 3)
    few = gh.prove(problem)
    assert few.certificate.tree.num_leaves > 1
    assert few.lower_bound <= few.energy == problem.energy(few.state)


def test_ctrl_c_keeps_the_annealed_state_and_its_bound(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    rng = np.random.default_rng(3)
    rows = [rng.choice(12, 3, replace=False) for _ in range(40)]
    problem = gh.Polynomial.from_terms(12, rows, rng.integers(1, 9, 40) * rng.choice([-1, 1], 40))
    monkeypatch.setattr("glasshouse.proofs.polynomials._lowest_state", interrupted)
    proof = gh.prove(problem)
    assert proof.statistics.stopped == "Ctrl-C"
    assert proof.energy == problem.energy(proof.state)
    assert "that of the weights alone" in str(proof.summary())


def cubic(size: int, terms: int) -> gh.Polynomial:
    rng = np.random.default_rng(3)
    rows = [rng.choice(size, 3, replace=False) for _ in range(terms)]
    return gh.Polynomial.from_terms(size, rows, rng.choice([-1, 1], terms))


def quadratic(size: int, units: str) -> gh.Polynomial:
    rng = np.random.default_rng(4)
    rows = [rng.choice(size, 2, replace=False) for _ in range(4 * size)]
    weights = rng.integers(1, 9, 4 * size) * rng.choice([-1, 1], 4 * size)
    return gh.Polynomial.from_terms(size, rows, weights, units=units)


@pytest.mark.parametrize(
    "problem",
    [cubic(14, 40), cubic(60, 150), quadratic(30, "spin"), quadratic(30, "binary")],
    ids=["a small cover", "even covers", "pairs of spins", "pairs of bits"],
)
def test_bounds_and_better_states_are_reported(problem):
    bounds, states = [], []
    proof = gh.prove(problem, progress=bounds.append, incumbent=states.append, node_limit=3)
    assert bounds[-1].upper == proof.energy
    assert float(proof.lower_bound) <= bounds[-1].lower + 1e-9
    energies = [problem.energy(state) for state in states]
    assert energies == sorted(energies, reverse=True)
    assert energies[-1] == proof.energy


def test_a_node_limit_and_a_target_stop_even_covers():
    problem = cubic(60, 150)
    limited = gh.prove(problem, node_limit=1)
    assert (limited.statistics.nodes, limited.statistics.stopped) == (1, "node limit")
    assert gh.verify(problem, limited.certificate).lower_bound == limited.lower_bound
    reached = gh.prove(problem, target=-1000)
    assert (reached.statistics.nodes, reached.statistics.stopped) == (0, "target")
