"""Leaves that are checked by enumerating the states of a vertex cover.

Once the vertices of a cover are fixed, all other vertices are independent, and each takes the spin
that its field favours. So only the 2^k states of the cover have to be enumerated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates.certificate import CertificateError
from glasshouse.certificates.exact_form import ExactForm
from glasshouse.certificates.products import Terms, all_values, open_monomial

# The largest number of values in memory at once.
_AT_ONCE = 1 << 20
_STATES = 20  # the limit as a power of two


def least_value(form: ExactForm, cover: npt.NDArray[Any], ghost: int) -> int:
    """Return the least value of all states, by enumerating the states of a cover.

    Args:
        form: the form to minimise. No edge may join two vertices that are both outside the cover
            and the ghost.
        cover: the vertices to enumerate.
        ghost: the vertex whose spin is fixed, because flipping all spins changes no value.

    >>> triangle = ExactForm(3, np.array([[0, 1], [0, 2], [1, 2]]), np.array([-2, 3, 4]), 0)
    >>> least_value(triangle, np.array([1]), 0)
    -5
    """
    chosen = sorted(set(cover.tolist()) - {ghost})
    if form.monomials is not None:
        terms = Terms(form.monomials, form.weights, form.constant)
        spins = np.array(chosen, dtype=np.int64)
        if left := open_monomial(terms, spins):
            raise CertificateError(f"a cover lacks two or more spins of the monomial {left[:9]}")
        values = all_values(form.num_variables, terms, spins, _STATES)
        return min(int(part.min()) for _, part in values)
    others = np.setdiff1d(form.edges, [*chosen, ghost])
    place = np.full(form.num_variables + 1, -1)
    place[[ghost, *chosen, *others.tolist()]] = np.arange(1 + len(chosen) + len(others))
    ends = np.sort(place[form.edges], axis=1)
    if (ends[:, 0] > len(chosen)).any():
        a, b = form.edges[np.argmax(ends[:, 0] > len(chosen))].tolist()
        raise CertificateError(f"a cover leaves the edge between nodes {a} and {b} uncovered")
    weights = np.zeros((1 + len(chosen), 1 + len(chosen) + len(others)), dtype=form.weights.dtype)
    weights[ends[:, 0], ends[:, 1]] = form.weights
    none = np.zeros(1, dtype=form.weights.dtype)
    return form.constant + _least(none, weights[:1, 1:], weights[1:, 1:])


def _least(values: npt.NDArray[Any], fields: npt.NDArray[Any], weights: npt.NDArray[Any]) -> int:
    """Return the least value over all spins that are not yet fixed.

    Args:
        values: the value of each state of the fixed vertices.
        fields: the fields on the vertices not yet fixed, one row per state.
        weights: the couplings of the cover's vertices not yet fixed, one row each, with all
            vertices not yet fixed.
    """
    if not len(weights):
        return int((values - np.abs(fields).sum(axis=1)).min())
    if fields.size > _AT_ONCE and len(values) > 1:
        half = len(values) // 2
        return min(_least(values[part], fields[part], weights)
                   for part in (slice(half), slice(half, None)))  # fmt: skip
    own, acting = fields[:, 0], fields[:, 1:]
    pulled = weights[0, 1:]
    return _least(
        np.concatenate([values - own, values + own]),
        np.concatenate([acting + pulled, acting - pulled]),
        weights[1:, 1:],
    )
