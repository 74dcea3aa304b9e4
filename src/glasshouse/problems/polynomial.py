"""Polynomials of any degree over spins or bits, to be minimised."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.extras import optional
from glasshouse.problems import exchange, monomials, naming, validation
from glasshouse.problems.monomials import Monomials
from glasshouse.problems.naming import Labels, Names, State, Units
from glasshouse.problems.pairs import labels_of
from glasshouse.problems.reduction import Space
from glasshouse.problems.validation import IntArray, Number, WeightArray
from glasshouse.summaries import Summarised


@dataclass(frozen=True, eq=False, repr=False)
class Polynomial(Summarised):
    """A polynomial: minimise `E(x) = Σ w_S Π_{i in S} x_i + offset` over x_i in {-1, 1} or {0, 1}.

    The sign is the usual one, even for spins: an `Ising` problem, which has the opposite sign, is
    the case of degree 2 with all weights negated. Weights are all int64, which makes energies
    exact, or all float64.

    Attributes:
        num_variables: the number of variables, including isolated ones.
        indices: the variables of all monomials, concatenated; in ascending order in each monomial.
        starts: the start of each monomial, and the end of the last; by degree, then by variables.
        weights: the weight w of each monomial.
        offset: a constant added to every energy.
        labels: the variables' external names; None for the numbers from 0.
        units: "spin" or "binary".

    >>> cubic = Polynomial.from_terms(4, {(0, 1, 2): -1, (2, 3): 2, (0,): 1})
    >>> cubic
    Polynomial(4 spins, 3 terms of degree 1 to 3, integer weights -1 to 2)
    >>> cubic.energy([1, 1, 1, -1]), cubic.energy([[1, 1, 1, 1], [-1, 1, 1, 1]]).tolist()
    (-2, [2, 2])
    >>> cubic.degree, cubic.num_terms, cubic.is_integer, cubic.terms()
    (3, 3, True, {(0,): 1, (2, 3): 2, (0, 1, 2): -1})
    >>> Polynomial.from_dimod(cubic.to_dimod()) == cubic
    True
    >>> cubic.monomials.degrees.tolist(), cubic.num_edges, cubic.space.low
    ([1, 2, 3], 3, -1)
    >>> Polynomial.from_flat(4, cubic.monomials, cubic.weights) == cubic
    True
    >>> cubic.reordered([3, 2, 1, 0]).terms()
    {(3,): 1, (0, 1): 2, (1, 2, 3): -1}
    """

    num_variables: int
    indices: npt.NDArray[np.int32]
    starts: IntArray
    weights: WeightArray
    offset: Number = 0
    labels: Labels | None = None
    units: Units = "spin"
    total_weight: Number = field(init=False)

    def __post_init__(self) -> None:
        if self.units not in ("spin", "binary"):
            raise ValueError(f"units={self.units!r} is neither 'spin' nor 'binary'")
        size = validation.size(self.num_variables, "num_variables")
        held = monomials.check(Monomials(self.indices, self.starts), size)
        weights = validation.weights(self.weights, "weights")
        if len(weights) != len(held.starts) - 1:
            raise ValueError(f"{len(held.starts) - 1} monomials but {len(weights)} weights")
        if not weights.all():
            raise ValueError("a weight is 0; remove its monomial, as from_terms does")
        offset = validation.offset(self.offset, exact=weights.dtype == np.int64)
        values = {
            "num_variables": size, "indices": held.indices, "starts": held.starts,
            "weights": weights, "offset": offset, "labels": naming.check(self.labels, size),
            "total_weight": validation.total_magnitude([weights], offset, "weights and offset"),
        }  # fmt: skip
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_terms(
        cls,
        num_variables: int,
        terms: Mapping[tuple[int, ...], Number] | Iterable[Iterable[int]],
        weights: npt.ArrayLike | None = None,
        offset: Number = 0,
        labels: Names | None = None,
        units: Units = "spin",
    ) -> Polynomial:
        """Build a polynomial from any list of monomials, or from a mapping of monomials to weights.

        Equal monomials are added up and zeros dropped. A variable that occurs twice in a monomial
        follows its algebra: s² = 1, and x² = x. A monomial without variables adds to the offset.

        >>> Polynomial.from_terms(3, [[2, 0, 2], [0, 1, 2], []], [5, 1, 7]).terms()
        {(0,): 5, (0, 1, 2): 1}
        """
        if isinstance(terms, Mapping):
            if weights is not None:
                raise ValueError("terms already contains weights; remove the argument weights")
            weights, terms = list(terms.values()), list(terms)
        if weights is None:
            raise ValueError("weights are missing; pass one weight per monomial")
        return cls.from_flat(num_variables, Monomials.of(terms), weights, offset, labels, units)

    @classmethod
    def from_flat(
        cls,
        num_variables: int,
        given: Monomials,
        weights: npt.ArrayLike,
        offset: Number = 0,
        labels: Names | None = None,
        units: Units = "spin",
    ) -> Polynomial:
        """Build a polynomial from flat arrays."""
        size = validation.size(num_variables, "num_variables")
        values = validation.weights(weights, "weights")
        if len(values) != len(given.starts) - 1:
            raise ValueError(f"{len(given.starts) - 1} monomials but {len(values)} weights")
        if len(given.indices) and int(given.indices.max()) >= size:
            raise ValueError(
                f"a monomial has variable {given.indices.max()}; variables are 0 to {size - 1}"
            )
        held, sums, constant = monomials.merged(given, values, spins=units == "spin")
        return cls(size, *held, sums, offset + constant, labels, units)  # type: ignore[arg-type]

    @classmethod
    def from_dimod(cls, model: Any) -> Polynomial:
        """Build a polynomial from a `dimod.BinaryPolynomial` of either vartype.

        Integral floats become integers. Variables 0, 1, 2, … keep their numbers. Any others become
        labels, sorted by type and then by text, because dimod's variables have no order.
        """
        names: list[Any] = list({name for term in model for name in term})
        is_plain = set(names) == set(range(len(names)))
        names.sort(key=None if is_plain else lambda name: (type(name).__name__, repr(name)))
        place = {name: k for k, name in enumerate(names)}
        rows = [[place[name] for name in term] for term in model]
        weights = exchange.whole_if_possible(list(model.values()))
        units: Units = "spin" if model.vartype.name == "SPIN" else "binary"
        labels = None if is_plain else names
        return cls.from_terms(len(names), rows, weights, labels=labels, units=units)

    def to_dimod(self) -> Any:
        """Return a `dimod.BinaryPolynomial` with the same energies; idle variables get a zero term.

        >>> poly = Polynomial.from_terms(3, {(0, 2): 4}, offset=1, labels="abc")
        >>> sorted(map(sorted, poly.to_dimod())), Polynomial.from_dimod(poly.to_dimod()) == poly
        ([[], ['a', 'c'], ['b']], True)
        """
        make: Any = optional("dimod", "a dimod polynomial").BinaryPolynomial
        *weights, offset = exchange.exact_floats(np.append(self.weights, self.offset)).tolist()
        idle = np.setdiff1d(np.arange(self.num_variables), self.indices).tolist()
        rows = [*((index,) for index in idle), *self.terms()]
        names, biases = labels_of(self), [0.0] * len(idle) + weights
        terms = {tuple(names[k] for k in row): w for row, w in zip(rows, biases, strict=True)}
        terms |= {(): offset} if offset else {}
        return make(terms, "SPIN" if self.units == "spin" else "BINARY")

    @property
    def monomials(self) -> Monomials:
        """The monomials in flat arrays."""
        return Monomials(self.indices, self.starts)

    @property
    def num_terms(self) -> int:
        """The number of monomials."""
        return len(self.weights)

    @property
    def num_edges(self) -> int:
        """The number of terms: monomials are the edges of a hypergraph."""
        return len(self.weights)

    @property
    def degree(self) -> int:
        """The largest number of variables in a monomial; 0 if there are no monomials."""
        return int(self.monomials.degrees.max(initial=0))

    @property
    def is_integer(self) -> bool:
        """Whether weights and energies are exact integers."""
        return bool(self.weights.dtype == np.int64)

    @property
    def space(self) -> Space:
        """The space of the problem's states."""
        return Space("polynomial", self.num_variables, -1 if self.units == "spin" else 0)

    def terms(self) -> dict[tuple[int, ...], Number]:
        """Return all monomials with their weights, in a form that `from_terms` reads."""
        flat, bounds = self.indices.tolist(), self.starts.tolist()
        rows = [tuple(flat[a:b]) for a, b in itertools.pairwise(bounds)]
        return dict(zip(rows, self.weights.tolist(), strict=True))

    def energy(self, state: State) -> Any:
        """Return the energy of a state (values, or a mapping by label), or energies of a batch."""
        ordered = naming.in_order(state, self.labels, self.num_variables)
        values = validation.states(ordered, self.num_variables, (self.space.low, 1), "state")
        energy = self.monomials.evaluate(values, self.weights) + self.offset
        return energy.item() if np.ndim(energy) == 0 else energy

    def reordered(self, place: npt.ArrayLike) -> Polynomial:
        """Return the polynomial with variable k moved to `place[k]`, without labels."""
        moved = self.monomials.renamed(np.asarray(place))
        return Polynomial.from_flat(
            self.num_variables, moved, self.weights, self.offset, units=self.units
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Polynomial):
            return NotImplemented
        if self.labels != other.labels:
            place = {name: k for k, name in enumerate(labels_of(self))}
            if place.keys() != set(labels_of(other)):
                return False
            other = other.reordered(np.array([place[name] for name in labels_of(other)], int))
        return bool(
            self.num_variables == other.num_variables
            and (self.units, self.offset) == (other.units, other.offset)
            and self.is_integer == other.is_integer
            and np.array_equal(self.indices, other.indices)
            and np.array_equal(self.starts, other.starts)
            and np.array_equal(self.weights, other.weights)
        )

    def __hash__(self) -> int:
        weights = np.sort(self.weights + 0)  # -0.0 is 0.0
        return hash((self.num_variables, self.offset, self.units, weights.tobytes()))

    def __repr__(self) -> str:
        degrees = self.monomials.degrees
        low, high = int(degrees.min(initial=self.degree)), self.degree
        kind = "spins" if self.units == "spin" else "variables"
        span = f"{low} to {high}" if low < high else f"{high}"
        size = f"{self.num_variables} {kind}, {self.num_terms} terms of degree {span}"
        return f"Polynomial({size}, {validation.describe(self.weights)})"
