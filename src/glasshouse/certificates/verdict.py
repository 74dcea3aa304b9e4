"""What a certificate proves about a problem: the one bound, in one linear pass of exact integers.

Plants, files, proofs and conversions all ask `verify`; nothing else in the library computes a
bound. All sums are Python integers, or int64 where a bound on the sum of all magnitudes, computed
beforehand in Python integers, shows that nothing can wrap around.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates.certificate import Certificate, CertificateError
from glasshouse.certificates.edge_sums import grouped
from glasshouse.certificates.exact_form import ROOM, ExactForm
from glasshouse.certificates.flat_cycles import edges_of_cycles
from glasshouse.problems import Max2Sat
from glasshouse.problems.convert import Given, given_problem
from glasshouse.problems.validation import IntArray
from glasshouse.summaries import Summarised

# Python integers are added up in slices of about so many: each may have thousands of digits.
_AT_ONCE = 1 << 15


@dataclass(frozen=True, repr=False)
class Verdict(Summarised):
    """What was proven, in the problem's own numbers.

    Floats are whole numbers over a power of two, so float problems are checked exactly as they
    stand, and without tolerance, like integers: a state is optimal only if no sum of the weights
    fits between the bound and its exact energy. Where rounding leaves a gap of 1e-16, the verdict
    is a gap of 1e-16.

    Attributes:
        bound: B, exactly: no state has a lower energy (or cost).
        lower_bound: the least value that an energy not below B can take; in float problems rounded
            down, or `energy` where that is optimal.
        exact_energy: of the certificate's state.
        energy: the same as a number of the problem's kind; in float problems rounded.
        optimal: whether the state is proven to have the least energy.
    """

    bound: Fraction
    lower_bound: Any
    exact_energy: Fraction
    energy: Any
    optimal: bool

    @property
    def gap(self) -> Any:
        """How far the state might be from the optimum."""
        return self.energy - self.lower_bound


def verify(problem: Given, certificate: Certificate) -> Verdict:
    """Compute what a certificate proves, from nothing but the problem and the certificate.

    The certificate of an Ising problem, RBM or QUBO is in units of its Ising form's couplings, that
    of a MAX-2-SAT problem in units of cost. A certificate that does not fit the problem, or whose
    state breaks a hard clause, is a `CertificateError`.

    >>> from glasshouse.problems import Ising
    >>> square = Ising.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [4, 4, 4, -3])
    >>> verdict = verify(square, Certificate([1, 1, 1, 1], [0, 1, 2, 3], [0, 4], [3]))
    >>> verdict.energy, verdict.lower_bound, verdict.optimal
    (-9, -9, True)
    """
    problem = given_problem(problem)
    form = ExactForm.of(problem)
    check_fit(certificate, form.num_variables)
    if isinstance(problem, Max2Sat) and (broken := problem.broken(certificate.state > 0)):
        raise CertificateError(f"the certificate's state breaks {broken} hard clauses")
    value, bound, steps = examined(form, certificate)
    least = Fraction(value - steps * form.step, form.scale)
    energy = _number(Fraction(value, form.scale), problem.is_integer)
    lower = _number(least, problem.is_integer)
    if steps and not problem.is_integer and (lower > least or lower >= energy):
        lower = np.nextafter(min(lower, energy), -np.inf).item()
    exact = Fraction(value, form.scale)
    return Verdict(bound / form.scale, lower, exact, energy, steps == 0)


def examined(form: ExactForm, certificate: Certificate) -> tuple[int, Fraction, int]:
    """The value of the certificate's state, B, and how many steps of values lie between them."""
    value, bound = form.value(certificate.state), lower_bound(form, certificate)
    if bound > value:
        raise CertificateError("its bound is above the energy of its own state, so it is false")
    return value, bound, int((value - bound) // form.step) if form.step else 0


def lower_bound(form: ExactForm, certificate: Certificate) -> Fraction:
    """B = constant - Σ μ(L-2) - Σ|R|, in units of the form; R is the form minus the loops.

    Loops that do harm are as good as none, so B is never below constant - Σ|w|.
    """
    lengths = certificate.starts[1:] - certificate.starts[:-1]
    minima = form.loop_scale * exact_dot(certificate.multipliers, lengths - 2)
    harm = Fraction(minima + _rest(form, certificate, lengths), certificate.denominator)
    return form.constant - min(harm, Fraction(form.total))


def exact_dot(numbers: npt.NDArray[Any], counts: IntArray) -> int:
    """Σ number · count, for numbers of any size and counts of int64, none negative."""
    if numbers.dtype != object:
        size = float(np.abs(numbers).astype(np.float64) @ counts.astype(np.float64))
        if size < ROOM:
            return int(numbers @ counts)
    return sum(map(int.__mul__, numbers.tolist(), counts.tolist()))


def _rest(form: ExactForm, certificate: Certificate, lengths: IntArray) -> int:
    """Σ|R| times the denominator: what is left on each edge when all loops are taken off."""
    scale = certificate.denominator
    rest = scale * form.total
    if not certificate.num_loops:
        return rest
    # At least 1 each, so that the factors themselves fit, too.
    largest = scale * max(1, form.total)
    largest += form.loop_scale * max(1, exact_dot(certificate.multipliers, lengths))
    kind = np.int64 if largest < ROOM else object
    edges, amounts = _loop_edges(form, certificate, lengths, kind)
    order, starts = grouped(edges, form.num_variables + 1)
    amounts, weights = amounts[order], form.weights_on(edges[order[starts]], kind)
    step = len(starts) if kind is np.int64 else _AT_ONCE
    for k in range(0, len(starts), step):
        end = starts[k + step] if k + step < len(starts) else None
        on_loops = np.add.reduceat(amounts[starts[k] : end], starts[k : k + step] - starts[k])
        before = scale * weights[k : k + step]
        rest += int((np.abs(before - on_loops) - np.abs(before)).sum())
    return rest


def _loop_edges(
    form: ExactForm, certificate: Certificate, lengths: IntArray, kind: Any
) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
    """All edges of the loops, and what each weighs in its loop, times the denominator."""
    edges = edges_of_cycles(certificate.nodes, certificate.starts)
    spins = np.append(certificate.state, np.int8(1))
    is_negative = (spins[edges[:, 0]] != spins[edges[:, 1]]) != certificate.negative_edges
    positive = form.loop_scale * certificate.multipliers.astype(kind, copy=False)
    # Large multipliers are shared, not copied: an array of Python integers holds references.
    return edges, np.where(is_negative, *(np.repeat(x, lengths) for x in (-positive, positive)))


def check_fit(certificate: Certificate, size: int) -> None:
    """Refuse a certificate for another number of variables."""
    if len(certificate.state) != size:
        raise CertificateError(
            f"the certificate is for {len(certificate.state)} variables, the problem has {size}"
        )
    if len(certificate.nodes) and int(certificate.nodes.max()) > size:
        raise CertificateError(
            f"a loop visits node {certificate.nodes.max()}, but the problem's {size} variables end "
            f"at {size - 1} and their ghost is {size}"
        )


def _number(value: Fraction, is_integer: bool) -> Any:
    return int(value) if is_integer and value.denominator == 1 else float(value)
