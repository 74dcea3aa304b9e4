"""Frustrated cores: true ones are verified, false ones are refused, and both checkers agree."""

from __future__ import annotations

import itertools
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.certificates import Certificate, CertificateError, Cores, Proven, verify
from glasshouse.problems import Ising, Max2Sat, MaxSat


def least_cost(problem):
    """The least cost of feasible assignments, by enumeration; None if there is none."""
    states = np.array(list(itertools.product([0, 1], repeat=problem.num_variables)), dtype=np.int8)
    kept = states[np.asarray(problem.broken(states)) == 0]
    return int(np.min(problem.cost(kept))) if len(kept) else None


def best_state(problem):
    states = np.array(list(itertools.product([0, 1], repeat=problem.num_variables)), dtype=np.int8)
    kept = states[np.asarray(problem.broken(states)) == 0]
    return 2 * kept[int(np.argmin(problem.cost(kept)))] - 1


def whole_tree(problem, cost):
    """The tree of all assignments that proves a cost, with lists in its leaves."""
    soft, hard = problem.soft.lists(), problem.hard.lists()
    weights, tokens, waiting = problem.weights.tolist(), [], [()]
    while waiting:
        values = waiting.pop()
        false = [k for k, c in enumerate([*soft, *hard]) if all(_is_false(x, values) for x in c)]
        strict = [k for k in false if k >= len(soft)]
        paid = [(k + 1, weights[k]) for k in false if k < len(soft) and weights[k]]
        if strict:
            tokens.append(-strict[0] - 1)
        elif sum(w for _, w in paid) >= cost:
            one = [k for k, w in paid if w >= cost]
            tokens += [-one[0]] if one else [0, len(paid), *itertools.chain(*paid)]
        else:
            tokens.append(len(values) + 1)
            waiting += [(*values, True), (*values, False)]
    return Cores.of([(cost, tokens)])


def _is_false(literal, values):
    return abs(literal) <= len(values) and values[abs(literal) - 1] != (literal > 0)


@st.composite
def problems(draw, most=6):
    size = draw(st.integers(1, most))
    literal = st.integers(1, size).flatmap(lambda v: st.sampled_from([v, -v]))
    clause = st.lists(literal, max_size=4)
    soft = draw(st.lists(clause, max_size=12))
    weights = draw(st.lists(st.integers(0, 5), min_size=len(soft), max_size=len(soft)))
    hard = draw(st.lists(clause.filter(bool), max_size=3))
    return MaxSat(size, soft, np.array(weights, dtype=np.int64), hard)


@given(problems())
@settings(max_examples=150)
def test_a_tree_over_all_variables_proves_any_small_problem(problem):
    least = least_cost(problem)
    if not least:
        return
    certificate = Certificate.of_cores(best_state(problem), whole_tree(problem, least))
    verdict = verify(problem, certificate)
    assert (verdict.energy, verdict.lower_bound, verdict.optimal) == (least, least, True)
    with pytest.raises(CertificateError):
        verify(
            problem, Certificate.of_cores(best_state(problem), whole_tree_of(problem, least + 1))
        )


def whole_tree_of(problem, cost):
    """The same tree, with leaves that claim more than they have."""
    tree = whole_tree(problem, cost - 1)
    return Cores(tree.tokens, tree.starts, np.array([cost]))


PROBLEM = MaxSat(
    3, [[1], [-1, 2, 3], [-2], [-3], [1, 2]], [2, 3, 4, 2, 5], hard=[[1, 2, 3], [-1, -2, 3]]
)
TREE = [1, -1, 2, 3, -2, -4, -3]
STATE = [1, -1, 1]


def bound(*cores, problem=PROBLEM, denominator=1):
    certificate = Certificate.of_cores(STATE, Cores.of(list(cores)), denominator)
    return verify(problem, certificate).lower_bound


def test_cores_are_added_up_as_far_as_weights_allow():
    assert bound((2, TREE)) == 2
    assert bound((1, TREE), (1, TREE)) == 2
    assert bound((3, TREE), denominator=2) == 2  # rounded up to the next cost
    with pytest.raises(CertificateError, match=r"core 2 .*more than its weight"):
        bound((1, TREE), (2, TREE))


def test_lists_of_amounts_are_charged_once_for_all_leaves():
    problem = MaxSat(2, [[1], [2], [-1], [-2]], [1, 1, 1, 1])
    tree = [1, 2, 0, 2, 1, 1, 2, 1, 0, 2, 1, 1, 4, 1, 2, 0, 2, 2, 1, 3, 1, 0, 2, 3, 1, 4, 1]
    verdict = verify(problem, Certificate.of_cores([1, 1], Cores.of([(2, tree)])))
    assert verdict.optimal
    assert verdict.energy == 2


FALSE_TREES = [
    ([1, -1, 2, 3, -2, -4], "ends before its last leaf"),
    ([], "ends before its last leaf"),
    ([1, -1, 0], "ends before its last leaf"),
    ([1, -1, 0, 9, 1, 1], "ends before its last leaf"),
    ([*TREE, -3], "follow the last leaf"),
    ([-1, 1], "does not falsify"),
    ([4, -1, -1], "no such variable"),
    ([2**62, -1, -1], "no such variable"),
    ([1, -1, 1, -1, -1], "already on the path"),
    ([1, -1, 2, 2, -2, -4, -3], "already on the path"),
    ([1, -8, 2, 3, -2, -4, -3], "no such clause"),
    ([1, -(2**63), 2, 3, -2, -4, -3], "no such clause"),
    ([1, 0, 1, 0, 2, 2, 3, -2, -4, -3], "no such clause"),
    ([1, 0, 1, 6, 2, 2, 3, -2, -4, -3], "no such clause"),
    ([1, 0, 1, -1, 2, 2, 3, -2, -4, -3], "no such clause"),
    ([1, -3, 2, 3, -2, -4, -3], "does not falsify"),
    ([1, -1, 2, 3, -4, -2, -3], "does not falsify"),
    ([1, 0, 1, 1, 0, 2, 3, -2, -4, -3], "must be above 0"),
    ([1, 0, 1, 1, -2, 2, 3, -2, -4, -3], "must be above 0"),
    ([1, 0, 1, 1, 3, 2, 3, -2, -4, -3], "more than its weight"),
    ([1, 0, 1, 1, 2**63 - 1, 2, 3, -2, -4, -3], "more than its weight"),
    ([1, 0, 2, 1, 1, 1, 1, 2, 3, -2, -4, -3], "must be in ascending"),
    ([1, 0, 1, 1, 1, 2, 3, -2, -4, -3], "less than the cost"),
    ([1, 0, 0, 2, 3, -2, -4, -3], "less than the cost"),
    ([1, 0, -5, 2, 3, -2, -4, -3], "less than the cost"),
]


@pytest.mark.parametrize(("tree", "message"), FALSE_TREES)
def test_a_false_core_is_refused_with_its_fault(tree, message):
    with pytest.raises(CertificateError, match=f"core 1 .*{message}"):
        bound((2, tree))


def test_a_hard_clause_closes_a_leaf():
    problem = MaxSat(2, [[1], [2]], [3, 4], hard=[[-1, -2]])
    tree = [1, -1, 2, -2, -3]
    verdict = verify(problem, Certificate.of_cores([-1, 1], Cores.of([(3, tree)])))
    assert (verdict.energy, verdict.lower_bound) == (3, 3)
    with pytest.raises(CertificateError, match="violates 1 hard"):
        verify(problem, Certificate.of_cores([1, 1], Cores.of([(3, tree)])))


def test_cores_are_for_clauses_and_stand_alone():
    cores = Cores.of([(1, [1, -1, -2])])
    with pytest.raises(CertificateError, match="about clauses"):
        verify(Ising.from_edges(1, [], [], fields=[1]), Certificate.of_cores([1], cores))
    with pytest.raises(ValueError, match="cannot be combined"):
        Certificate([1, 1, 1], [0, 1, 2], [0, 3], [1], cores=cores)
    with pytest.raises(CertificateError, match="may contain only cores"):
        verify(PROBLEM, Certificate([1, 1, 1], [0, 1, 2], [0, 3], [1]))
    # Cost 0 needs no proof; pairs of literals may have cores as well.
    assert verify(MaxSat(3, [[1, 2, 3]], [4]), Certificate([1, 1, 1], [], [0], [])).optimal
    pairs = Max2Sat.from_clauses(1, [[1], [-1]], [2, 3])
    assert Proven(pairs, Certificate.of_cores([1], Cores.of([(2, [1, -1, -2])]))).verdict.bound == 2


@pytest.mark.parametrize("weight", [2**61, 2**40])
def test_weights_near_the_limit_are_exact(weight):
    problem = MaxSat(1, [[1], [-1], [1]], [weight, weight, 1])
    tree = [1, -1, -2]
    for denominator in (1, 10**30):
        cost = min(weight * denominator, 2**63 - 1)
        certificate = Certificate.of_cores([1], Cores.of([(cost, tree)]), denominator)
        assert verify(problem, certificate).bound == Fraction(cost, denominator)
    with pytest.raises(CertificateError, match="more than its weight"):
        verify(problem, Certificate.of_cores([1], Cores.of([(weight, tree), (1, tree)])))


def test_floats_are_proven_exactly():
    problem = MaxSat(1, [[1], [-1]], [0.75, 0.5])
    certificate = Certificate.of_cores([1], Cores.of([(2, [1, -1, -2])]), 4)
    assert verify(problem, certificate).optimal
    with pytest.raises(CertificateError, match="more than its weight"):
        verify(problem, Certificate.of_cores([1], Cores.of([(3, [1, -1, -2])]), 4))


def test_what_is_proven_is_proven_again_from_a_pickle():
    proven = Proven(PROBLEM, Certificate.of_cores(STATE, Cores.of([(2, TREE)])))
    again = pickle.loads(pickle.dumps(proven))
    assert again.verdict == proven.verdict
    assert again.certificate == proven.certificate
    assert not again.certificate.cores.tokens.flags.writeable


@pytest.mark.parametrize("depth", [10, 100_000])
def test_a_deep_tree_is_checked_without_recursion(depth):
    """x1, x1 → x2, …, ¬xn: one core of n branches."""
    rows = [[1], *([-k, k + 1] for k in range(1, depth)), [-depth, 1]]
    problem = MaxSat(depth, rows, np.ones(len(rows), dtype=np.int64))
    tree = [token for k in range(depth) for token in (k + 1, -k - 1)] + [-depth - 1]
    state = np.ones(depth, dtype=np.int8)
    broken = Certificate.of_cores(state, Cores.of([(1, tree)]))
    with pytest.raises(CertificateError, match="does not falsify"):
        verify(problem, broken)
    rows[-1] = [-depth]
    problem = MaxSat(depth, rows, np.ones(len(rows), dtype=np.int64))
    assert verify(problem, broken).optimal
