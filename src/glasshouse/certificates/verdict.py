"""The verifier, which computes in exact integers what a certificate proves.

Plants, files, proofs and conversions all call `verify`; nothing else in the library decides what is
proven. A certificate without a tree has one leaf, which contains all states. The check takes time
linear in the loops, in the pairs of squares, and for each leaf in the problem's edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from glasshouse.certificates.bound import Parts
from glasshouse.certificates.certificate import Certificate, CertificateError
from glasshouse.certificates.cores import bound_of_cores
from glasshouse.certificates.exact_form import ExactForm, exact_energy
from glasshouse.certificates.leaf import LeafBound, bounded_leaf, exact_leaf, rounded_up
from glasshouse.certificates.tree import Leaf, PlacedLeaf
from glasshouse.problems import Max2Sat, MaxSat, Problem
from glasshouse.problems.convert import Given, given_problem
from glasshouse.summaries import Summarised


@dataclass(frozen=True, repr=False)
class Verdict(Summarised):
    """The result of `verify`: a proven lower bound, and the energy of the certificate's state.

    Floats are integers over a power of two, so float problems are checked exactly and without
    tolerance, like integers: a state is optimal only if no sum of the weights fits between the
    bound and its exact energy. If rounding leaves a gap of 1e-16, the verdict is a gap of 1e-16.

    Attributes:
        bound: the exact bound B: no state has a lower energy (or cost).
        lower_bound: the least value that an energy not below B can take; in float problems rounded
            down, or `energy` if the state is optimal.
        exact_energy: the exact energy of the certificate's state.
        energy: the same energy in the problem's number type; rounded in float problems.
        optimal: whether the state is proven to have the least energy.

    >>> from glasshouse.problems import Ising
    >>> triangle = Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [-1, -1, -1])
    >>> without_parts = Certificate([1, 1, -1], [], [0], [])
    >>> verdict = verify(triangle, without_parts)
    >>> verdict.optimal, verdict.lower_bound, verdict.energy, verdict.gap
    (True, -1, -1, 0)
    """

    bound: Fraction
    lower_bound: Any
    exact_energy: Fraction
    energy: Any
    optimal: bool

    @property
    def gap(self) -> Any:
        """The largest possible distance of the state's energy from the optimum."""
        return self.energy - self.lower_bound


def verify(problem: Given, certificate: Certificate) -> Verdict:
    """Compute what a certificate proves, from the problem and the certificate alone.

    The certificate of an Ising problem, RBM or QUBO is in units of its Ising form's couplings, and
    that of a MAX-2-SAT problem in units of cost. A certificate that does not fit the problem, or
    whose state violates a hard clause, raises a `CertificateError`.

    >>> from glasshouse.problems import Ising
    >>> square = Ising.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [4, 4, 4, -3])
    >>> verdict = verify(square, Certificate([1, 1, 1, 1], [0, 1, 2, 3], [0, 4], [3]))
    >>> verdict.energy, verdict.lower_bound, verdict.optimal
    (-9, -9, True)
    """
    problem = given_problem(problem)
    check_fit(certificate, problem.num_variables)
    if isinstance(problem, (Max2Sat, MaxSat)) and (broken := problem.broken(certificate.state > 0)):
        raise CertificateError(f"the certificate's state violates {broken} hard clauses")
    if certificate.num_cores or isinstance(problem, MaxSat):
        return _verdict_of_cores(problem, certificate)
    form = ExactForm.of(problem)
    value, bound, lowest = examined(form, certificate)
    exact, least = Fraction(value, form.scale), Fraction(lowest, form.scale)
    return _in_numbers(problem, bound / form.scale, exact, least)


def _in_numbers(problem: Problem, bound: Fraction, exact: Fraction, least: Fraction) -> Verdict:
    """Return a verdict with energies in the problem's number type: integers or floats."""
    energy, lower = (_number(x, problem.is_integer) for x in (exact, least))
    if least < exact and not problem.is_integer and (lower > least or lower >= energy):
        lower = np.nextafter(min(lower, energy), -np.inf).item()
    return Verdict(bound, lower, exact, energy, least == exact)


def _verdict_of_cores(problem: Problem, certificate: Certificate) -> Verdict:
    """Return the verdict of a certificate of cores, whose costs add up to the bound."""
    if not isinstance(problem, (Max2Sat, MaxSat)):
        raise CertificateError("cores are proofs about clauses, but the problem has no clauses")
    has_tree = certificate.tree is not None
    if has_tree or certificate.num_loops or certificate.squares or certificate.num_monomials:
        raise CertificateError("the proof of these clauses may contain only cores, no other parts")
    exact = exact_energy(problem, (certificate.state > 0).astype(np.int8))
    try:
        bound, step = bound_of_cores(problem, certificate.cores, certificate.denominator)
    except ValueError as fault:
        raise CertificateError(str(fault)) from None
    least = rounded_up(bound, exact, step)
    if least > exact:
        raise CertificateError("the bound is false: it exceeds the cost of the given state")
    return _in_numbers(problem, bound, exact, least)


def examined(form: ExactForm, certificate: Certificate) -> tuple[int, Fraction, int]:
    """Return the value of the state, the bound, and the least value that the bound allows."""
    value = form.value(certificate.state)
    try:
        bound, least = _whole(form, certificate, value)
    except CertificateError:
        raise
    except ValueError as fault:  # squares over tied spins may have coefficients of any size
        raise CertificateError(f"in a leaf, {fault}") from None
    if bound > value or least > value:
        raise CertificateError("the bound is false: it exceeds the energy of the given state")
    return value, bound, least


def leaf_bounds(
    form: ExactForm, certificate: Certificate, value: int
) -> Iterator[tuple[PlacedLeaf, LeafBound | None]]:
    """Yield each leaf of a tree in order, with its bound; the bound is None without states.

    Args:
        form: the problem.
        certificate: a certificate with a tree.
        value: the value of the certificate's state.
    """
    parts, tree = Parts.of(certificate), certificate.tree
    form = form.with_monomials() if certificate.num_monomials else form
    if tree is None:
        raise CertificateError("the certificate has no tree, so it has no leaves")
    for leaf in tree.leaves():
        if not isinstance(leaf.row, Leaf):
            yield leaf, exact_leaf(form, leaf.pairs, leaf.row)
            continue
        loops = [slice(0, tree.common_loops), leaf.loops]
        squares = [slice(0, tree.common_squares), leaf.squares]
        yield leaf, bounded_leaf(form, leaf.pairs, parts.chosen(loops, squares), value)


def _whole(form: ExactForm, certificate: Certificate, value: int) -> LeafBound:
    """Return the smallest bound of any leaf, and the smallest value that a leaf's bound allows."""
    if certificate.tree is None:
        form = form.with_monomials() if certificate.num_monomials else form
        whole = bounded_leaf(form, [], Parts.of(certificate), value)
        if whole is None:
            raise CertificateError("the certificate excludes all states, although it has no tree")
        return whole
    found = leaf_bounds(form, certificate, value)
    held = [leaf_bound for _, leaf_bound in found if leaf_bound is not None]
    return LeafBound(min(one.bound for one in held), min(one.least for one in held))


def check_fit(certificate: Certificate, size: int) -> None:
    """Raise if a certificate does not fit a problem of `size` variables."""
    if len(certificate.state) != size:
        raise CertificateError(
            f"the certificate is for {len(certificate.state)} variables, but the problem has {size}"
        )
    visited = {"loop": certificate.nodes, "square": certificate.squares.nodes}
    highest = {what: int(nodes.max(initial=0)) for what, nodes in visited.items()}
    if certificate.tree is not None:
        highest["tree"] = certificate.tree.highest_node
    for what, node in highest.items():
        if node > size + (what != "tree") * certificate.num_monomials:
            raise CertificateError(
                f"a {what} names node {node}, but the problem has the variables 0 to "
                f"{size - 1}, and the ghost is node {size}"
            )


def _number(value: Fraction, is_integer: bool) -> Any:
    return int(value) if is_integer and value.denominator == 1 else float(value)
