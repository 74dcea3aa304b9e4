"""What a certificate proves about a problem: the one bound, in one pass of exact integers.

The pass is linear in the loops and in the pairs of the squares.

Plants, files, proofs and conversions all ask `verify`; nothing else in the library computes a
bound. All sums are Python integers, or int64 where a bound on the sum of all magnitudes, computed
beforehand in Python integers, shows that nothing can wrap around.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates.certificate import Certificate, CertificateError
from glasshouse.certificates.edge_sums import EdgeArray, ends_of, grouped
from glasshouse.certificates.exact_form import ExactForm
from glasshouse.certificates.flat_cycles import edges_of_cycles
from glasshouse.certificates.integers import ROOM, exact_dot
from glasshouse.certificates.square_sums import Slice, SquareSums, rest_of_squares
from glasshouse.problems import Max2Sat
from glasshouse.problems.convert import Given, given_problem
from glasshouse.problems.validation import IntArray
from glasshouse.summaries import Summarised

# Python integers are added up in slices of about so many: each may have thousands of digits.
_AT_ONCE = 1 << 12


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
    """B = constant - Σ μ(L-2) - Σ c(Σa² - g²·[odd]) - Σ|R|, in units of the form.

    R is the form minus loops and squares. Those that do harm are as good as none, so B is never
    below constant - Σ|w|.
    """
    lengths = certificate.starts[1:] - certificate.starts[:-1]
    minima = exact_dot(certificate.multipliers, lengths - 2) + certificate.squares.depth
    below = form.loop_scale * minima + _rest(form, certificate, lengths)
    return form.constant - min(Fraction(below, certificate.denominator), Fraction(form.total))


def _rest(form: ExactForm, certificate: Certificate, lengths: IntArray) -> int:
    """Σ|R| times the denominator: what is left on each edge without loops and squares."""
    scale = certificate.denominator
    if not certificate.num_loops and not certificate.num_squares:
        return scale * form.total
    edges, amounts = _loop_edges(form, certificate, lengths)
    if not certificate.num_squares:
        return scale * form.total + _change_on_loops(form, scale, edges, amounts)
    pairs, slices = _without_loops(form, scale, edges, amounts)
    size, squares = form.num_variables + 1, certificate.squares
    return rest_of_squares(pairs, slices, squares, size, form.loop_scale)


def rest_on_edges(form: ExactForm, certificate: Certificate) -> tuple[EdgeArray, npt.NDArray[Any]]:
    """R times the denominator on the edges of the form and of loops, zeros of both left out.

    Pairs that only squares have are not looked at.
    """
    lengths = certificate.starts[1:] - certificate.starts[:-1]
    edges, amounts = _loop_edges(form, certificate, lengths)
    pairs, slices = _without_loops(form, certificate.denominator, edges, amounts)
    weights = np.concatenate([amounts[:0], *(part for _, part in slices)])
    kept = (weights != 0).astype(np.bool_)
    pairs, weights = pairs[kept], weights[kept]
    sums, _ = SquareSums(certificate.squares, form.num_variables + 1).on(pairs)
    return pairs, weights + form.loop_scale * sums.astype(weights.dtype)


def _without_loops(
    form: ExactForm, scale: int, edges: npt.NDArray[np.int32], amounts: npt.NDArray[Any]
) -> tuple[EdgeArray, Iterator[Slice]]:
    """All edges of form and loops, each once, and slice by slice what is left without loops.

    That is the form's weights times the denominator, and what loops leave on their edges.
    """
    ends = np.concatenate([form.edges, edges])
    order, starts = grouped(ends, form.num_variables + 1)
    held = np.concatenate([form.weights.astype(amounts.dtype, copy=False), amounts])

    def left() -> Iterator[Slice]:
        for part, places in _slices(starts, order, amounts.dtype):
            values = held[places]
            values[places < len(form.edges)] *= scale
            yield part, np.add.reduceat(values, starts[part] - starts[part.start])

    return np.column_stack(ends_of(ends[order[starts]])), left()


def _change_on_loops(
    form: ExactForm, scale: int, edges: npt.NDArray[np.int32], amounts: npt.NDArray[Any]
) -> int:
    """How much the loops change Σ|scale · w| when they are taken off, edge by edge."""
    order, starts = grouped(edges, form.num_variables + 1)
    weights = form.weights_on(edges[order[starts]], amounts.dtype)
    change = 0
    for part, places in _slices(starts, order, amounts.dtype):
        left = np.add.reduceat(amounts[places], starts[part] - starts[part.start])
        before = scale * weights[part]
        change += int((np.abs(before + left) - np.abs(before)).sum())
    return change


def _slices(starts: IntArray, order: IntArray, kind: Any) -> Iterator[tuple[slice, IntArray]]:
    """Groups of edges, some at once where they hold Python integers, and the places of all."""
    step = max(1, len(starts)) if kind == np.int64 else _AT_ONCE
    for k in range(0, len(starts), step):
        end = starts[k + step] if k + step < len(starts) else len(order)
        yield slice(k, k + step), order[starts[k] : end]


def _kind_of_sums(form: ExactForm, certificate: Certificate, lengths: IntArray) -> Any:
    """The int64 type where no sum of weights, loops and squares can leave it, else objects."""
    # At least 1 each, so that the factors themselves fit, too.
    largest = certificate.denominator * max(1, form.total)
    largest += form.loop_scale * max(1, exact_dot(certificate.multipliers, lengths))
    if largest >= ROOM or largest + form.loop_scale * certificate.squares.magnitude >= ROOM:
        return object
    return np.int64


def _loop_edges(
    form: ExactForm, certificate: Certificate, lengths: IntArray
) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
    """All edges of the loops, and what each weighs less in its loop, times the denominator."""
    kind = _kind_of_sums(form, certificate, lengths)
    edges = edges_of_cycles(certificate.nodes, certificate.starts)
    spins = np.append(certificate.state, np.int8(1))
    is_negative = (spins[edges[:, 0]] != spins[edges[:, 1]]) != certificate.negative_edges
    positive = form.loop_scale * certificate.multipliers.astype(kind, copy=False)
    # Large multipliers are shared, not copied: an array of Python integers holds references.
    return edges, np.where(is_negative, *(np.repeat(x, lengths) for x in (positive, -positive)))


def check_fit(certificate: Certificate, size: int) -> None:
    """Refuse a certificate for another number of variables."""
    if len(certificate.state) != size:
        raise CertificateError(
            f"the certificate is for {len(certificate.state)} variables, the problem has {size}"
        )
    for what, nodes in (("loop", certificate.nodes), ("square", certificate.squares.nodes)):
        if len(nodes) and int(nodes.max()) > size:
            raise CertificateError(
                f"a {what} visits node {nodes.max()}, but the problem's {size} variables end at "
                f"{size - 1} and their ghost is {size}"
            )


def _number(value: Fraction, is_integer: bool) -> Any:
    return int(value) if is_integer and value.denominator == 1 else float(value)
