"""The lower bound that loops and squares prove, computed in one pass over exact integers.

Sums are int64 if a bound on the sum of all magnitudes, computed in advance in Python integers,
shows that nothing can overflow. All other sums are Python integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import products
from glasshouse.certificates.certificate import Certificate
from glasshouse.certificates.exact_form import ExactForm
from glasshouse.certificates.exact_sums import ROOM, EdgeArray, ends_of, exact_dot, grouped, summed
from glasshouse.certificates.flat_cycles import NodeArray, edges_of_cycles, node_values
from glasshouse.certificates.products import NO_MONOMIALS, same_vertices
from glasshouse.certificates.square_sums import Slice, SquareSums, rest_of_squares
from glasshouse.certificates.squares import Squares
from glasshouse.certificates.ties import Ties
from glasshouse.problems.monomials import Monomials
from glasshouse.problems.validation import IntArray

# Python integers are summed in slices of this length, because each may have thousands of digits.
_AT_ONCE = 1 << 12


class Parts(NamedTuple):
    """Loops and squares that bound the values of a set of states from below.

    Attributes:
        nodes: the nodes of the loops, flat.
        starts: the index at which each loop begins, and the end of the last loop.
        multipliers: one multiplier per loop.
        negative: marks edges (from a node to the next of its loop) whose spins should differ.
        squares: the squares, over the same denominator.
        denominator: the denominator of all multipliers.
        monomials: the monomials of the vertices after the ghost.
    """

    nodes: NodeArray
    starts: IntArray
    multipliers: npt.NDArray[Any]
    negative: npt.NDArray[np.bool_]
    squares: Squares
    denominator: int
    monomials: Monomials = NO_MONOMIALS

    @classmethod
    def of(cls, certificate: Certificate) -> Parts:
        """Return all loops and squares of a certificate, in the original gauge of the problem."""
        edges = edges_of_cycles(certificate.nodes, certificate.starts)
        values = node_values(certificate.state, certificate.monomials)
        negative = (values[edges[:, 0]] != values[edges[:, 1]]) != certificate.negative_edges
        return cls(certificate.nodes, certificate.starts, certificate.multipliers, negative,
                   certificate.squares, certificate.denominator, certificate.monomials)  # fmt: skip

    def chosen(self, loops: list[slice], squares: list[slice]) -> Parts:
        """Return the loops and squares in the given slices."""
        nodes = [slice(self.starts[k.start], self.starts[k.stop]) for k in loops]
        lengths = np.concatenate([self.lengths[k] for k in loops])
        return Parts(
            np.concatenate([self.nodes[k] for k in nodes]),
            np.concatenate([[0], np.cumsum(lengths)]),
            np.concatenate([self.multipliers[k] for k in loops]),
            np.concatenate([self.negative[k] for k in nodes]),
            self.squares.chosen(squares),
            self.denominator,
            self.monomials,
        )

    @property
    def lengths(self) -> IntArray:
        """The number of nodes of each loop."""
        return self.starts[1:] - self.starts[:-1]

    @property
    def num_bytes(self) -> int:
        """The approximate memory of the arrays, in bytes."""
        squares = self.squares
        arrays = (
            self.nodes, self.starts, self.multipliers, self.negative,
            squares.nodes, squares.starts, squares.coefficients, squares.multipliers,
        )  # fmt: skip
        return sum(array.nbytes for array in arrays)


def lower_bound(form: ExactForm, parts: Parts, ties: Ties | None = None) -> Fraction:
    """Return the lower bound that loops and squares prove, in units of the exact form.

    With R = form - loops - squares, B = constant - Σ μ(L-2) - Σ c(Σa² - g²·[odd]) - Σ|R|. Parts
    that worsen the bound are ignored, so B is never below constant - Σ|w|.

    Args:
        form: the problem; `contracted` first if spins are tied.
        parts: loops and squares.
        ties: ties of the vertices of `parts`. A remainder inside a class is a constant.
    """
    scale, fixed = parts.denominator, 0
    edges, amounts = _loop_edges(form, parts)
    minima = exact_dot(parts.multipliers, parts.lengths - 2)
    squares = parts.squares
    if form.monomials is not None:
        held, signs = _vertices(form, parts, ties)
        squares = squares.contracted(same_vertices(held, signs))
        pairs, sums = SquareSums(squares, len(signs)).pairs()
        both = np.concatenate([edges, pairs])
        amounts = np.concatenate([amounts, form.loop_scale * sums.astype(amounts.dtype)])
        own = form.monomials, scale * form.weights.astype(amounts.dtype)
        rest = products.summed([own, products.products(held, signs, both, amounts)], amounts.dtype)
        below = form.loop_scale * (minima + squares.depth) + rest.constant
        below += int(np.abs(rest.amounts).sum())
        return form.constant - min(Fraction(below, scale), Fraction(form.total))
    if ties is not None:
        squares = squares.contracted(ties)
        amounts = np.where(_relative(edges, ties) > 0, amounts, -amounts)
        edges = ties.roots[edges]
        inside = edges[:, 0] == edges[:, 1]
        fixed = int(amounts[inside].sum())
        edges, amounts = edges[~inside], amounts[~inside]
    below = form.loop_scale * (minima + squares.depth) + fixed
    below += _rest(form, scale, edges, amounts, squares)
    return form.constant - min(Fraction(below, scale), Fraction(form.total))


def contracted(form: ExactForm, ties: Ties) -> ExactForm:
    """Return the form over the roots of tied spins; states that satisfy the ties keep their values.

    >>> from glasshouse.certificates.ties import ties_of
    >>> form = ExactForm(3, np.array([[0, 1], [0, 2], [1, 2]]), np.array([2, 3, 4]), 0)
    >>> small = contracted(form, ties_of(4, [(0, 1, -1)]))
    >>> small.edges.tolist(), small.weights.tolist(), small.constant
    ([[0, 2]], [-1], 2)
    """
    if form.monomials is not None:
        held, signs = products.tied(form.monomials, ties)
        terms = products.summed([(held, form.weights * signs)], form.weights.dtype)
        constant = form.constant - terms.constant
        return replace(form, monomials=terms.monomials, weights=terms.amounts, constant=constant)
    relative = _relative(form.edges, ties)
    weights = np.where(relative > 0, form.weights, -form.weights)
    edges = ties.roots[form.edges]
    inside = edges[:, 0] == edges[:, 1]
    constant = form.constant - int(weights[inside].sum())
    edges, weights = summed(edges[~inside], weights[~inside], form.num_variables + 1)
    return replace(form, edges=edges, weights=weights, constant=constant)


def _vertices(
    form: ExactForm, parts: Parts, ties: Ties | None
) -> tuple[Monomials, npt.NDArray[np.int8]]:
    """Return the monomial and the sign of each vertex, over the roots of `ties` if given."""
    held = products.vertices(form.num_variables, parts.monomials)
    if ties is None:
        return held, np.ones(len(held.starts) - 1, dtype=np.int8)
    return products.tied(held, ties)


def rest_on_edges(form: ExactForm, certificate: Certificate) -> tuple[EdgeArray, npt.NDArray[Any]]:
    """Return the edges of form and loops, and on each edge R = form - loops - squares.

    R is in units of 1/denominator. Edges with R = 0, and pairs only in squares, are omitted.
    """
    edges, amounts = _loop_edges(form, Parts.of(certificate))
    pairs, slices = _without_loops(form, certificate.denominator, edges, amounts)
    weights = np.concatenate([amounts[:0], *(part for _, part in slices)])
    kept = (weights != 0).astype(np.bool_)
    pairs, weights = pairs[kept], weights[kept]
    sums, _ = SquareSums(certificate.squares, form.num_variables + 1).on(pairs)
    return pairs, weights + form.loop_scale * sums.astype(weights.dtype)


def _relative(edges: npt.NDArray[Any], ties: Ties) -> npt.NDArray[np.int8]:
    """Return the sign of each edge relative to the edge between the roots of its ends."""
    product: npt.NDArray[np.int8] = ties.signs[edges[:, 0]] * ties.signs[edges[:, 1]]
    return product


def _rest(
    form: ExactForm, scale: int, edges: EdgeArray, amounts: npt.NDArray[Any], squares: Squares
) -> int:
    """Return Σ|R| times the denominator, for the remainder R = form - loops - squares."""
    if not len(edges) and not squares.num_squares:
        return scale * form.total
    if not squares.num_squares:
        return scale * form.total + _change_on_loops(form, scale, edges, amounts)
    pairs, slices = _without_loops(form, scale, edges, amounts)
    return rest_of_squares(pairs, slices, squares, form.num_variables + 1, form.loop_scale)


def _without_loops(
    form: ExactForm, scale: int, edges: npt.NDArray[np.int32], amounts: npt.NDArray[Any]
) -> tuple[EdgeArray, Iterator[Slice]]:
    """Subtract the loops from the form; return the distinct edges and, in slices, their weights.

    The weights are in units of 1/denominator.
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
    """Return the change of Σ|scale · w| when the loops are subtracted from the weights."""
    order, starts = grouped(edges, form.num_variables + 1)
    weights = form.weights_on(edges[order[starts]], amounts.dtype)
    change = 0
    for part, places in _slices(starts, order, amounts.dtype):
        left = np.add.reduceat(amounts[places], starts[part] - starts[part.start])
        before = scale * weights[part]
        change += int((np.abs(before + left) - np.abs(before)).sum())
    return change


def _slices(starts: IntArray, order: IntArray, kind: Any) -> Iterator[tuple[slice, IntArray]]:
    """Yield slices of consecutive groups of equal edges, with the indices of the edges in each."""
    step = max(1, len(starts)) if kind == np.int64 else _AT_ONCE
    for k in range(0, len(starts), step):
        end = starts[k + step] if k + step < len(starts) else len(order)
        yield slice(k, k + step), order[starts[k] : end]


def _kind_of_sums(form: ExactForm, parts: Parts) -> Any:
    """Return the type for exact sums: int64 if no sum can overflow it, otherwise object."""
    # Each factor is at least 1, so the factors themselves fit, too.
    largest = parts.denominator * max(1, form.total)
    largest += form.loop_scale * max(1, exact_dot(parts.multipliers, parts.lengths))
    if largest >= ROOM or largest + form.loop_scale * parts.squares.magnitude >= ROOM:
        return object
    return np.int64


def _loop_edges(form: ExactForm, parts: Parts) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
    """Return the edges of all loops, and their negated weights times the denominator."""
    kind = _kind_of_sums(form, parts)
    edges = edges_of_cycles(parts.nodes, parts.starts)
    positive = form.loop_scale * parts.multipliers.astype(kind, copy=False)
    # Large multipliers are shared, not copied: an array of Python integers holds references.
    repeated = (np.repeat(x, parts.lengths) for x in (positive, -positive))
    return edges, np.where(parts.negative, *repeated)
