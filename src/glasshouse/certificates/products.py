"""Vertices that are products of spins (monomials), and exact sums over their products.

The vertices of a certificate are the spins, the ghost, and the monomials of its table. The value of
a vertex is the product of its spins, ±1 like a spin, so loops and squares over vertices work as
over spins. An edge stands for the product of its two vertices, in which common spins
cancel; edges with the same product are one term. A loop is therefore an even cover: the
product of all its edges is 1, whatever its vertices are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.certificates.ties import Ties
from glasshouse.problems import validation
from glasshouse.problems.monomials import Monomials
from glasshouse.problems.validation import IntArray

NO_MONOMIALS = Monomials(np.empty(0, np.int32), np.zeros(1, np.int64))


class Terms(NamedTuple):
    """A sum of distinct monomials with nonzero coefficients, and the constant term."""

    monomials: Monomials
    amounts: npt.NDArray[Any]
    constant: int


def checked_table(table: Any, size: int) -> Monomials:
    """Check that monomials are distinct, each with at least two spins in ascending order."""
    if not isinstance(table, Monomials):
        raise ValueError(f"monomials must be Monomials, not {type(table).__name__}")
    indices, starts = np.asarray(table.indices), np.asarray(table.starts)
    if any(array.size and array.dtype.kind not in "iu" for array in table):
        raise ValueError("the indices and starts of monomials must be integers")
    if not len(starts) or starts[0] != 0 or starts[-1] != len(indices):
        raise ValueError(f"starts must run from 0 to {len(indices)}, the number of indices")
    if (starts[1:] < starts[:-1]).any():
        raise ValueError("starts must be in non-decreasing order")
    held = Monomials(
        validation.read_only(indices.astype(np.int32)), validation.read_only(starts.astype(int))
    )
    if (held.degrees < 2).any():
        bad = int(np.argmax(held.degrees < 2))
        raise ValueError(f"monomial {bad} must have at least two spins, not {held.degrees[bad]}")
    if len(indices) and not 0 <= int(indices.min()) <= int(indices.max()) < size:
        raise ValueError(f"spins of monomials must be numbers from 0 to {size - 1}")
    rises = np.ones(len(indices), dtype=np.bool_)
    rises[1:] = indices[1:] > indices[:-1]
    rises[held.starts[:-1]] = True
    if not rises.all():
        bad = int(held.rows[np.argmin(rises)])
        raise ValueError(f"the spins of monomial {bad} must be in ascending order, each once")
    order, firsts = held.grouped()
    if len(firsts) < len(order):
        again = order[np.setdiff1d(np.arange(len(order)), firsts)[0]]
        raise ValueError(f"monomial {again} occurs twice in the table; remove one of the two")
    return held


def vertices(size: int, table: Monomials) -> Monomials:
    """Return the monomials of all vertices: the spins, the ghost (no spin), and the table."""
    starts = np.concatenate([np.arange(size + 1), size + table.starts])
    return Monomials(np.concatenate([np.arange(size, dtype=np.int32), table.indices]), starts)


def tied(monomials: Monomials, ties: Ties) -> tuple[Monomials, npt.NDArray[np.int8]]:
    """Rewrite monomials over the roots of tied spins; return the new monomials and their signs."""
    ghost = len(ties.roots) - 1
    fixed = ties.roots == ties.roots[ghost]
    signs = np.where(fixed, ties.signs * ties.signs[ghost], ties.signs)
    down = np.bincount(monomials.rows, signs[monomials.indices] < 0, len(monomials.starts) - 1)
    kept = ~fixed[monomials.indices]
    lengths = np.bincount(monomials.rows[kept], minlength=len(monomials.starts) - 1)
    left = Monomials(ties.roots[monomials.indices[kept]], np.concatenate([[0], np.cumsum(lengths)]))
    return left.reduced(spins=True), np.where(down % 2 == 1, -1, 1).astype(np.int8)


def same_vertices(monomials: Monomials, signs: npt.NDArray[np.int8]) -> Ties:
    """Tie vertices with equal monomials; the first vertex of each class is its root."""
    order, firsts = monomials.grouped()
    sizes = np.diff(firsts, append=len(order))
    roots = np.empty(len(order), dtype=np.int32)
    roots[order] = np.repeat(np.minimum.reduceat(order, firsts), sizes)
    return Ties(roots, signs * signs[roots])


def summed(parts: list[tuple[Monomials, npt.NDArray[Any]]], kind: Any) -> Terms:
    """Add up the coefficients of equal monomials; the type `kind` must hold all sums exactly."""
    lengths = [held.degrees for held, _ in parts]
    starts = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    held = Monomials(np.concatenate([held.indices for held, _ in parts]), starts)
    amounts = np.concatenate([amounts.astype(kind, copy=False) for _, amounts in parts])
    order, firsts = held.grouped()
    if not len(order):
        return Terms(held, amounts, 0)
    sums = np.add.reduceat(amounts[order], firsts)
    unique = held.chosen(order[firsts])
    constant = int(sums[0]) if not unique.degrees[0] else 0
    kept = np.flatnonzero((sums != 0).astype(np.bool_) & (unique.degrees > 0))
    return Terms(unique.chosen(kept), sums[kept], constant)


def products(
    monomials: Monomials, signs: npt.NDArray[np.int8], edges: npt.NDArray[Any], amounts: Any
) -> tuple[Monomials, npt.NDArray[Any]]:
    """Return the monomial of each edge (the product of its ends), and its signed coefficient."""
    ends = monomials.chosen(edges.reshape(-1).astype(np.int64))
    pairs = Monomials(ends.indices, ends.starts[::2]).reduced(spins=True)
    return pairs, amounts * (signs[edges[:, 0]] * signs[edges[:, 1]])


def open_monomial(terms: Terms, cover: npt.NDArray[Any]) -> tuple[int, ...]:
    """Return a monomial with at least two spins outside a cover, or () if there is none."""
    outside = ~np.isin(terms.monomials.indices, cover)
    many = np.bincount(terms.monomials.rows[outside], minlength=len(terms.amounts)) > 1
    return tuple(terms.monomials.chosen(np.flatnonzero(many)[:1]).indices.tolist())


def all_values(
    size: int, terms: Terms, cover: npt.NDArray[Any], at_once: int
) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Yield the values of all states of a cover, each minimised over the other spins.

    A value is constant - Σ coefficient · monomial. In state x, the k-th spin of the cover is down
    if bit k is set. Values are yielded 2^at_once at a time. No monomial may be open.
    """
    place = np.full(size, -1)
    place[cover] = np.arange(len(cover))
    held, rows = terms.monomials, terms.monomials.rows
    inside = place[held.indices] >= 0
    masks = np.zeros(len(terms.amounts), dtype=np.int64)
    np.add.at(masks, rows[inside], np.int64(1) << place[held.indices[inside]])
    follower = np.full(len(terms.amounts), -1)
    follower[rows[~inside]] = held.indices[~inside]
    low = min(len(cover), at_once)
    for high in range(1 << (len(cover) - low)):
        turned = np.bitwise_count(masks >> low & high) % 2 == 1
        amounts = np.where(turned, -terms.amounts, terms.amounts)
        values: Any = terms.constant
        for spin in [-1, *np.unique(follower[follower >= 0]).tolist()]:
            own, chosen = np.zeros(1 << low, dtype=terms.amounts.dtype), follower == spin
            np.add.at(own, masks[chosen] & ((1 << low) - 1), amounts[chosen])
            field = _transformed(own)
            values = values - (field if spin < 0 else np.abs(field))
        yield high, values


def _transformed(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the Walsh-Hadamard transform of `values`; their number must be a power of two."""
    width = 1
    while width < len(values):
        low, high = values.reshape(-1, 2, width).transpose(1, 0, 2)
        values = np.stack([low + high, low - high], axis=1).reshape(-1)
        width *= 2
    return values


def incident_sums(size: int, terms: Monomials, weights: npt.NDArray[Any]) -> Any:
    """Return, for each spin, the sum of the weights of the monomials that contain it."""
    sums = np.zeros(size, dtype=weights.dtype)
    np.add.at(sums, terms.indices, np.repeat(weights, terms.degrees))
    return sums


def of_edges(edges: npt.NDArray[Any], ghost: int) -> Monomials:
    """Convert edges between spins and the ghost to monomials of one or two spins."""
    flat = edges.reshape(-1)
    kept = flat < ghost
    lengths = kept.reshape(-1, 2).sum(axis=1)
    starts: IntArray = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Monomials(flat[kept].astype(np.int32), starts)
