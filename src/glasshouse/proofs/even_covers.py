"""Bounds for polynomials: linear programs over even covers, at the leaves of a small tree.

Terms whose product is 1 in every state are an even cover: a linear dependency modulo 2 among them.
With u = 1 for each term that a state violates, the parity of Σ u over a cover is fixed, so that

    Σ_{C∖F} u + Σ_F (1 - u) ≥ 1   for every F of the other parity.

Covers of terms with small costs min(u, 1 - u) come from Gaussian elimination that takes the
cheapest terms first: every term that depends on earlier terms closes one cover, which contains no
smaller cover. A cover is a loop from the ghost through the products of its first terms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Branch, Certificate, Cover, Leaf, Tree
from glasshouse.certificates.bound import Parts, contracted
from glasshouse.certificates.exact_form import ExactForm
from glasshouse.certificates.leaf import bounded_leaf
from glasshouse.certificates.ties import Pair, ties_of
from glasshouse.problems.monomials import Monomials
from glasshouse.problems.validation import SpinArray
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.lp.cut_lp import TOLERANCE, CutLp
from glasshouse.proofs.lp.cuts import Cut

# Duals are rounded to multiples of 1/d for each of these d; the best bound is used.
_DENOMINATORS = (1, 2, 12, 1 << 16)
_ROUNDS, _ORDERS, _MOST_CUTS = 30, 4, 400
_MOST_TERMS = 4000  # the time of an elimination grows with the square of their number
_MOST_NODES = 400
_FEW_STATES = 12  # a leaf is enumerated if it has a cover of at most 2^12 states


class EvenCover(NamedTuple):
    """An even cover: sets of spins (terms) whose product is 1, with a favoured sign for each term.

    The signs multiply to -1.
    """

    terms: tuple[frozenset[int], ...]
    signs: tuple[int, ...]
    multiplier: Fraction


@dataclass
class _Part:
    """The part of a tree below a node: its rows, and the even covers of its leaves."""

    rows: list[Branch | Leaf | Cover] = field(default_factory=list)
    covers: list[EvenCover] = field(default_factory=list)


class EvenCoverProof:
    """A search for a certificate whose loops are even covers.

    Args:
        form: a problem with monomials.
        state: the best state known.
        budget: when to stop.

    Attributes:
        nodes: the number of nodes that were bounded.
        rounds: the number of linear programs that were solved.
        cuts: the number of inequalities that were found.
        root: the certificate of the root alone; it may be better than the tree's if time is short.
    """

    def __init__(self, form: ExactForm, state: SpinArray, budget: Budget) -> None:
        self.form, self.state, self.budget = form, state, budget
        self.value = form.value(state)
        self.nodes = self.rounds = self.cuts = 0
        self.root = certificate_of(state, [])

    def certificate(self) -> Certificate:
        """Run the search and return its certificate, which has a tree unless one leaf suffices."""
        part = self._node([])
        if len(part.rows) == 1 and isinstance(part.rows[0], Leaf):
            return certificate_of(self.state, part.covers)
        return certificate_of(self.state, part.covers, Tree(tuple(part.rows)))

    def _node(self, pairs: list[Pair]) -> _Part:
        """Bound the states that satisfy `pairs`; branch if the bound does not suffice."""
        ghost = self.form.num_variables
        ties = ties_of(ghost + 1, pairs)
        assert ties is not None  # each spin is fixed once
        small = contracted(self.form, ties) if pairs else self.form
        self.nodes += 1
        covers, least = self._bounded(small, pairs)
        is_closed = least >= self.value or not len(small.weights)
        if self.nodes >= self.budget.most_nodes:
            self.budget.stop("node limit")
        if is_closed or self.nodes >= _MOST_NODES or self.budget.asks_to_stop():
            return _Part([Leaf(len(covers))], covers)
        assert small.monomials is not None
        chosen = small_cover(small.monomials, _FEW_STATES)
        if chosen is not None:
            return _Part([Cover(tuple(chosen))])
        amounts = np.zeros(ghost)
        sizes = np.abs(small.weights).astype(np.float64)
        np.add.at(amounts, small.monomials.indices, np.repeat(sizes, small.monomials.degrees))
        spin = int(amounts.argmax())
        whole = _Part([Branch(spin, ghost)])
        for sign in (1, -1):
            half = self._node([*pairs, (spin, ghost, sign)])
            whole.rows += half.rows
            whole.covers += half.covers
        return whole

    def _bounded(self, small: ExactForm, pairs: list[Pair]) -> tuple[list[EvenCover], int]:
        """Return the best loops for the states that satisfy `pairs`, and the bound they prove."""
        best: tuple[int, list[EvenCover]] = (self._least([], pairs), [])
        is_small = 0 < len(small.weights) <= _MOST_TERMS
        if best[0] < self.value and is_small and not self.budget.asks_to_stop():
            with self.budget.hearing_ctrl_c():  # the results so far are kept
                for covers in self._rounded(small):
                    best = max(best, (self._least(covers, pairs), covers), key=lambda pair: pair[0])
        if not pairs:
            self.root = certificate_of(self.state, best[1])
        return best[1], best[0]

    def _least(self, covers: list[EvenCover], pairs: list[Pair]) -> int:
        """Return the verifier's bound, from even covers, on all states that satisfy `pairs`."""
        form = self.form.with_monomials()
        parts = Parts.of(certificate_of(self.state, covers))
        found = bounded_leaf(form, pairs, parts, self.value)
        assert found is not None
        return found.least

    def _rounded(self, small: ExactForm) -> Iterator[list[EvenCover]]:
        """Solve the linear program; for each denominator, yield covers with rounded multipliers."""
        assert small.monomials is not None
        spins = small.monomials.indices.tolist()
        bounds = small.monomials.starts.tolist()
        terms = [frozenset(spins[a:b]) for a, b in pairwise(bounds)]
        signs = [1 if weight > 0 else -1 for weight in small.weights.tolist()]
        unit = max(map(abs, small.weights.tolist()))
        scaled = np.array([abs(weight) / unit for weight in small.weights.tolist()])
        lp = CutLp(scaled, upper=1.0)
        held = self._solved(lp, terms, signs)
        duals = [Fraction(float(dual)) * unit for dual in lp.duals[: len(held)]]
        scale = self.form.loop_scale
        for below in _DENOMINATORS:
            multipliers = [round(dual * below) for dual in duals]
            yield [
                EvenCover(tuple(terms[k] for k in cover), asked, Fraction(number, below * scale))
                for (cover, asked), number in zip(held, multipliers, strict=True) if number
            ]  # fmt: skip

    def _solved(
        self, lp: CutLp, terms: list[frozenset[int]], signs: list[int]
    ) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Add violated inequalities to `lp` until none is left; return the covers and signs."""
        vectors = [sum(1 << spin for spin in term) for term in terms]
        rng = np.random.default_rng(0)
        held: dict[tuple[tuple[int, ...], tuple[int, ...]], None] = {}
        for _ in range(_ROUNDS):
            costs = np.minimum(lp.violation, 1 - lp.violation)
            found: dict[tuple[tuple[int, ...], tuple[int, ...]], float] = {}
            for turn in range(_ORDERS):
                noise = rng.random(len(costs)) * (1e-6 if turn == 0 else 0.1 * turn)
                for cover in even_covers(vectors, np.argsort(costs + noise, kind="stable")):
                    asked, excess = violated_signs(cover, signs, lp.violation)
                    if excess > TOLERANCE and len(cover) > 2:
                        found[cover, asked] = excess
            best = sorted(found, key=lambda row: -found[row])[:_MOST_CUTS]
            fresh = [row for row in best if row not in held]
            if not fresh or self.budget.asks_to_stop():
                break
            held |= dict.fromkeys(fresh)
            lp.add([_cut(cover, asked, signs) for cover, asked in fresh])
            self.cuts += len(fresh)
            self.rounds += 1
            lp.solve(max(0.0, self.budget.left()))
            if not lp.finished:
                break
        return list(held)[: len(lp.duals)]


def even_covers(vectors: list[int], order: npt.NDArray[Any]) -> Iterator[tuple[int, ...]]:
    """Yield minimal sets of vectors that sum to 0 modulo 2, one for each dependent vector.

    Args:
        vectors: integers, whose bits are the entries.
        order: the order in which the vectors are taken.

    >>> list(even_covers([0b11, 0b110, 0b1, 0b101], np.arange(4)))
    [(0, 1, 3)]
    """
    basis: dict[int, tuple[int, int]] = {}
    for place in order.tolist():
        left, members = vectors[place], 1 << place
        while left:
            high = left.bit_length()
            if high not in basis:
                basis[high] = left, members
                break
            vector, others = basis[high]
            left, members = left ^ vector, members ^ others
        else:
            yield tuple(k for k in range(members.bit_length()) if members >> k & 1)


def violated_signs(
    cover: tuple[int, ...], signs: list[int], violation: npt.NDArray[np.float64]
) -> tuple[tuple[int, ...], float]:
    """Return the signs of a cover's most violated inequality, and by how much it is violated."""
    u = violation[list(cover)]
    asked = [signs[k] if x <= 0.5 else -signs[k] for k, x in zip(cover, u.tolist(), strict=True)]
    costs = np.minimum(u, 1 - u)
    if int(np.prod(asked)) == 1:  # flip the sign that costs least
        turned = int(np.argmax(costs))
        asked[turned] = -asked[turned]
        costs[turned] = 1 - costs[turned]
    return tuple(asked), 1 - float(costs.sum())


def _cut(cover: tuple[int, ...], asked: tuple[int, ...], signs: list[int]) -> Cut:
    """Return a cover's cut Σ t ≥ 1; t is a term's violation u, or 1 - u if its sign is flipped."""
    coefficients = np.array([x * signs[k] for k, x in zip(cover, asked, strict=True)], np.int64)
    turned = int((coefficients < 0).sum())
    return Cut(np.array(cover, dtype=np.int32), coefficients, 1 - turned)


def small_cover(monomials: Monomials, most: int) -> list[int] | None:
    """Return up to `most` spins that leave out at most one spin of each term; None if not found.

    >>> small_cover(Monomials.of([(0, 1, k) for k in range(2, 9)]), 12)
    [0, 1]
    """
    left, chosen = monomials, list[int]()
    while (left.degrees > 1).any():
        left = left.chosen(np.flatnonzero(left.degrees > 1))
        chosen.append(int(np.bincount(left.indices).argmax()))
        if len(chosen) > most:
            return None
        kept = left.indices != chosen[-1]
        lengths = np.bincount(left.rows[kept], minlength=len(left.starts) - 1)
        left = Monomials(left.indices[kept], np.concatenate([[0], np.cumsum(lengths)]))
    return sorted(chosen)


def certificate_of(
    state: SpinArray, covers: list[EvenCover], tree: Tree | None = None
) -> Certificate:
    """Return the certificate of even covers: loops whose vertices are products of spins.

    >>> triangle = [frozenset(pair) for pair in ((0, 1), (1, 2), (0, 2))]
    >>> cover = EvenCover(tuple(triangle), (1, 1, -1), Fraction(1))
    >>> found = certificate_of(np.ones(3, np.int8), [cover])
    >>> found.nodes.tolist(), found.monomials.indices.tolist()
    ([5, 3, 4], [0, 1, 1, 2])
    """
    size = len(state)
    values = state.tolist()
    table: dict[frozenset[int], int] = {}
    nodes: list[int] = []
    marks: list[bool] = []
    starts = [0]
    for cover in covers:
        loop, violated = _walk(cover, values, size, table)
        nodes += loop
        marks += violated
        starts.append(len(nodes))
    below = math.lcm(1, *(cover.multiplier.denominator for cover in covers))
    multipliers = np.array([int(cover.multiplier * below) for cover in covers], dtype=object)
    rows = [sorted(product) for product in table]
    return Certificate(
        state, np.array(nodes, dtype=np.int32), np.array(starts, dtype=np.int64), multipliers,
        below, np.array(marks, dtype=np.bool_) if covers else None, tree=tree,
        monomials=Monomials.of(rows),
    )  # fmt: skip


def _walk(
    cover: EvenCover, values: list[int], size: int, table: dict[frozenset[int], int]
) -> tuple[list[int], list[bool]]:
    """Return a cover's loop as nodes, and a mask of the edges that the state violates."""
    left = dict(zip(cover.terms, cover.signs, strict=True))
    here: frozenset[int] = frozenset()
    loop: list[int] = []
    violated: list[bool] = []
    while left:  # the next term is the one after which the product is smallest
        term = min(left, key=lambda one: (len(here ^ one), sorted(one)))
        loop.append(_node_of(here, size, table))
        sign = left.pop(term)
        for spin in term:
            sign *= values[spin]
        violated.append(sign < 0)
        here ^= term
    last = max(k for k, is_violated in enumerate(violated) if is_violated) + 1
    return loop[last:] + loop[:last], violated[last:] + violated[:last]


def _node_of(product: frozenset[int], size: int, table: dict[frozenset[int], int]) -> int:
    if len(product) < 2:
        return next(iter(product), size)
    return table.setdefault(product, size + 1 + len(table))
