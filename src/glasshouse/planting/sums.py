"""Checks that a plant's problem, even a polynomial, is the sum of its loops and squares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from glasshouse.certificates import Certificate, CertificateError, Squares, check_fit, products
from glasshouse.certificates.exact_sums import ROOM, summed
from glasshouse.certificates.products import Terms
from glasshouse.certificates.square_sums import SquareSums, rest_of_squares
from glasshouse.landscape import gauge
from glasshouse.planting.loops import Loops
from glasshouse.problems import Ising, Monomials, Polynomial, exact, validation

if TYPE_CHECKING:
    from glasshouse.planting.planted import Planted


def check_parts(planted: Planted) -> Certificate:
    """Check a plant's loops and squares and their sum; return its certificate."""
    size = planted.problem.num_variables
    is_polynomial = isinstance(planted.problem, Polynomial)
    try:
        loops = Loops(planted.loops.nodes, planted.loops.starts, planted.loops.weights)
        if is_polynomial and loops:
            raise ValueError("a planted polynomial must consist of squares; remove its loops")
        gauged = loops.sum(size)
        certificate = planted.certificate
        check_fit(certificate, size)
    except CertificateError:
        raise
    except ValueError as error:
        raise CertificateError(f"the loops are not valid: {error}") from error
    if not planted.problem.is_integer:
        raise CertificateError("a plant needs integer weights, but this problem has floats")
    if is_polynomial:
        _check_polynomial(planted)
    elif planted.denominator == 1 and not planted.squares:
        _check_sum(gauge(planted.ising, planted.state), gauged)
    else:
        _check_sum_of_parts(planted, gauged)
    return certificate


def check_loop_weight(planted: Planted) -> None:
    """Raise a `CertificateError` if the stated loop weight differs from the loops' weight."""
    if planted.squares or planted.denominator > 1:
        if planted.loop_weight != 1:
            raise CertificateError(
                f"loop_weight is stated as {validation.shown(planted.loop_weight)}; with squares "
                "or a denominator it must be 1"
            )
        return
    positive = planted.loops.positive_weights
    if not len(positive):
        return
    least, most = int(positive.min()), int(positive.max())
    if planted.recipe.parameters.get("weights") != "normal":
        most = least
    if not least <= planted.loop_weight <= most:
        raise CertificateError(
            f"loop_weight is stated as {validation.shown(planted.loop_weight)}, but the loops' "
            "positive weights "
            + (f"run from {least} to {most}" if least < most else f"are at least {least}")
        )


def polynomial_of_squares(
    num_spins: int, table: Monomials, squares: Squares, denominator: int
) -> Polynomial:
    """Return the polynomial (sum of squares) / denominator; a node of a square may be a product."""
    terms = _terms(num_spins, table, squares)
    weights = exact.total(np.abs(terms.amounts)) if len(terms.amounts) else 0
    if weights >= ROOM:
        raise ValueError(
            "the squares add up to more than 2^61, beyond which energies are not exact; use fewer "
            "or smaller squares"
        )
    if (terms.amounts % denominator).any():
        raise ValueError(f"denominator={denominator} must divide all summed weights")
    return Polynomial(num_spins, *terms.monomials, (terms.amounts // denominator).astype(np.int64))


def _terms(num_spins: int, table: Monomials, squares: Squares) -> Terms:
    """Return the terms of a sum of squares, whose vertices may be products of spins in `table`."""
    held = products.vertices(num_spins, table)
    pairs, sums = SquareSums(squares, len(held.starts) - 1).pairs()
    signs = np.ones(len(held.starts) - 1, dtype=np.int8)
    return products.summed([products.products(held, signs, pairs, sums)], sums.dtype)


def _check_polynomial(planted: Planted) -> None:
    """Refuse a polynomial that differs from the sum of its squares, divided by the denominator."""
    problem: Polynomial = planted.problem  # type: ignore[assignment]
    terms = _terms(problem.num_variables, planted.monomials, planted.squares)
    mine, theirs = terms.monomials, problem.monomials
    same = np.array_equal(mine.indices, theirs.indices)
    same = same and np.array_equal(mine.starts, theirs.starts)
    weights = planted.denominator * problem.weights.astype(object)
    if problem.offset or not same or (weights != terms.amounts).any():
        raise CertificateError(f"the problem is not the sum of its {planted.parts}")


def _check_sum_of_parts(planted: Planted, loops: Ising) -> None:
    """Refuse a problem that is not the sum of its loops and squares, divided by the denominator."""
    problem = gauge(planted.ising, planted.state)
    size = problem.num_variables
    largest = planted.denominator * max(1, int(problem.total_weight)) + int(loops.total_weight)
    wide = largest >= ROOM or largest + planted.squares.magnitude >= ROOM
    sides = []
    for form, factor in ((problem, planted.denominator), (loops, -1)):
        ghosts = np.column_stack([np.arange(size), np.full(size, size)])
        amounts = np.concatenate([form.weights, form.fields]).astype(object if wide else int)
        sides.append((np.concatenate([form.edges, ghosts]), factor * amounts))
    ends, amounts = (np.concatenate(parts) for parts in zip(*sides, strict=True))
    edges, amounts = summed(ends, amounts, size + 1)
    turned = planted.squares.turned(planted.state)
    if rest_of_squares(edges, [(slice(None), amounts)], turned, size + 1, 1):
        raise CertificateError(f"the problem is not the sum of its {planted.parts}")


def _check_sum(problem: Ising, gauged: Ising) -> None:
    """Refuse a problem that differs from the sum of its loops; name an edge that differs."""
    mine, theirs = (
        np.column_stack([form.edges, form.weights]).astype(np.int64) for form in (problem, gauged)
    )
    shared = min(len(mine), len(theirs))
    differs = np.flatnonzero((mine[:shared] != theirs[:shared]).any(axis=1))
    if len(differs) or len(mine) != len(theirs):
        place = int(differs[0]) if len(differs) else shared
        i, j, _ = (mine if place < len(mine) else theirs)[place]
        raise CertificateError(
            f"near edge ({i}, {j}), the problem is not the sum of its loops in the planted gauge"
        )
    differs = np.flatnonzero(problem.fields != gauged.fields)
    if len(differs):
        raise CertificateError(
            f"the field of spin {differs[0]} is {problem.fields[differs[0]]} in the planted gauge, "
            f"but its loops add up to {gauged.fields[differs[0]]}"
        )
