"""Proofs for polynomials of degree 3 and more: annealed states, and bounds on all states.

If all terms can be satisfied at once, as in planted XORSAT, the weights alone prove the optimum.
Otherwise a cover is enumerated if it has few states, or even covers are searched for, at the leaves
of a small tree. A bound is rounded up to the next possible energy.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Certificate, Cover, Proven, Tree
from glasshouse.certificates.exact_form import ExactForm
from glasshouse.certificates.products import Terms, all_values
from glasshouse.certificates.tree import MOST_COVERED
from glasshouse.problems import Polynomial
from glasshouse.problems.reduction import to_spins
from glasshouse.problems.validation import SpinArray
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.even_covers import EvenCoverProof, small_cover
from glasshouse.proofs.progress import ENUMERATION, EVEN_COVERS, WEIGHTS, Bounds, Statistics

# The numbers that a checker reads; Python integers take this many times longer than 64 bits.
_MOST_NUMBERS, _WIDE = 1 << 27, 16
_STATES = 18  # 2^18 states are enumerated between two checks of the clock
_SWEEPS, _RUNS = 500, 64


def prove_polynomial(
    problem: Polynomial,
    known: list[npt.NDArray[np.int8]],
    budget: Budget,
    report: Callable[[SpinArray], object],
) -> tuple[Proven, Statistics]:
    """Return the best proof found from the weights alone, from a small cover or from even covers.

    Args:
        problem: a problem of any degree.
        known: known states of ±1; the best of these and of the annealed states is used.
        budget: when to stop.
        report: called with the best state so far.
    """
    from glasshouse.solvers import anneal

    form, left = ExactForm.of(problem), budget.left()
    found = anneal(
        problem, sweeps=_SWEEPS, runs=_RUNS, rng=0, time_limit=None if math.isinf(left) else left
    )
    best = min([*known, to_spins(found.best_state)], key=form.value)
    report(best)
    if found.stopped == "interrupted":
        budget.stop("Ctrl-C")
    proven = Proven(problem, _without_parts(best))
    search = EvenCoverProof(form, best, budget)
    is_over = _tell(budget, proven, search) or proven.verdict.optimal
    nodes = None if is_over else cover_of(form)
    if nodes is None and not is_over:
        with budget.hearing_ctrl_c():
            whole = search.certificate()
            for better in (Proven(problem, one) for one in (search.root, whole)):
                proven = better if is_higher(better, proven) else proven
    if nodes is not None:
        with budget.hearing_ctrl_c():  # the annealed state and its bound are kept
            lowest = _lowest_state(form, nodes, budget)
            if lowest is not None:
                report(lowest)
                tree = Tree((Cover(tuple(nodes.tolist())),))
                whole = Certificate(lowest, [], [0], [], tree=tree)  # type: ignore[arg-type]
                proven = Proven(problem, whole)
    _tell(budget, proven, search)
    held = proven.certificate
    method = WEIGHTS if held.tree is None else ENUMERATION
    statistics = Statistics(
        budget.seconds, problem.num_terms, 0, 0, search.rounds, search.cuts, converged=True,
        stopped=None if proven.verdict.optimal else budget.stopped,
        method=EVEN_COVERS if held.num_loops else method,
        nodes=search.nodes, leaves=held.num_leaves, history=tuple(budget.history),
    )  # fmt: skip
    return proven, statistics


def _tell(budget: Budget, proven: Proven, search: EvenCoverProof) -> bool:
    """Report the proven bounds, and return whether to stop."""
    lower, upper = float(proven.verdict.lower_bound), float(proven.verdict.energy)
    return budget.tell(Bounds(lower, upper, budget.seconds, search.rounds, search.nodes))


def is_higher(new: Proven, old: Proven) -> bool:
    """Return whether the new certificate proves optimality, or a higher bound than the old one."""
    return new.verdict.optimal or new.verdict.bound > old.verdict.bound


def _without_parts(state: SpinArray) -> Certificate:
    none = np.empty(0, dtype=np.int64)
    return Certificate(state, none.astype(np.int32), np.zeros(1, np.int64), none)


def cover_of(form: ExactForm) -> npt.NDArray[np.int64] | None:
    """Return spins that leave out at most one spin of each monomial; None if they are too many.

    >>> star = Polynomial.from_terms(9, [(0, 1, k) for k in range(2, 9)], [1] * 7)
    >>> cover_of(ExactForm.of(star)).tolist()
    [0, 1]
    """
    assert form.monomials is not None
    chosen = small_cover(form.monomials, MOST_COVERED)
    if chosen is None:
        return None
    outside = len(np.setdiff1d(form.monomials.indices, chosen))
    numbers = (1 + outside) * (1 + len(chosen)) << len(chosen)
    numbers *= _WIDE if form.weights.dtype == object else 1
    return np.array(chosen, dtype=np.int64) if numbers <= _MOST_NUMBERS else None


def _lowest_state(
    form: ExactForm, nodes: npt.NDArray[np.int64], budget: Budget
) -> SpinArray | None:
    """Return a state of least energy, found by enumeration, or None if the time is up first."""
    assert form.monomials is not None
    terms = Terms(form.monomials, form.weights, form.constant)
    low, least, code = min(len(nodes), _STATES), math.inf, 0
    for high, values in all_values(form.num_variables, terms, nodes, low):
        place = int(values.argmin())
        if values[place] < least:
            least, code = int(values[place]), (high << low) + place
        if budget.asks_to_stop():
            return None
    spins = np.ones(form.num_variables, dtype=np.int8)
    spins[nodes] = 1 - 2 * (code >> np.arange(len(nodes)) & 1)
    # Every other spin has the sign of its field: that of its terms with the spin itself up.
    free = ~np.isin(form.monomials.indices, nodes)
    fields = np.zeros(form.num_variables, dtype=form.weights.dtype)
    amounts = form.weights * form.monomials.products(spins[np.newaxis])[0]
    np.add.at(fields, form.monomials.indices[free], amounts[form.monomials.rows[free]])
    spins[(fields < 0).astype(np.bool_)] = -1
    return spins
