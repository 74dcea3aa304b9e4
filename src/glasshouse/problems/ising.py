"""The Ising problem: spins ±1 on a sparse graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems import exchange, naming, pairs, validation
from glasshouse.problems.naming import Labels, Names, State
from glasshouse.problems.pairs import PairArray, PairProblem
from glasshouse.problems.reduction import Space, spins
from glasshouse.problems.validation import Number, WeightArray

if TYPE_CHECKING:
    import dimod
    import networkx
    import scipy.sparse


@dataclass(frozen=True, eq=False, repr=False)
class Ising(PairProblem):
    """An Ising problem: minimise `E(s) = -Σ J_ij s_i s_j - Σ h_i s_i + offset` over s_i = ±1.

    J > 0 is ferromagnetic (the paper's sign; dimod's is the opposite). Weights are all int64, which
    makes energies exact, or all float64.

    Attributes:
        num_variables: the number of spins, including isolated ones.
        edges: (k, 2) array of unique pairs i < j in ascending order.
        weights: the coupling J of each edge.
        fields: the field h of each spin.
        offset: a constant added to every energy.
        labels: the spins' external names; None for the numbers from 0.

    >>> problem = Ising.from_edges(3, [(0, 1), (1, 2), (2, 0)], [1, 1, -1])
    >>> problem
    Ising(3 spins, 3 edges, integer weights -1 to 1)
    >>> problem.energy([1, 1, 1])
    -1
    >>> problem.energy([[1, 1, 1], [1, -1, 1]])
    array([-1,  3])
    >>> problem.num_edges, problem.is_integer, problem.space
    (3, True, Space(kind='Ising', size=3, low=-1))
    >>> problem.to_matrix()
    array([[ 0,  1, -1],
           [ 1,  0,  1],
           [-1,  1,  0]])
    >>> Ising.from_matrix(problem.to_matrix()) == problem
    True
    >>> Ising.from_networkx(problem.to_networkx()) == problem
    True
    >>> Ising.from_bqm(problem.to_bqm()) == problem
    True
    """

    num_variables: int
    edges: PairArray
    weights: WeightArray
    fields: WeightArray
    offset: Number = 0
    labels: Labels | None = None
    total_weight: Number = field(init=False)

    def __post_init__(self) -> None:
        pairs.settle(self, "fields", "{} spins but {} fields; pass one field per spin")

    @classmethod
    def from_edges(
        cls,
        num_variables: int,
        edges: npt.ArrayLike,
        weights: npt.ArrayLike,
        fields: npt.ArrayLike | None = None,
        offset: Number = 0,
        labels: Names | None = None,
    ) -> Ising:
        """Build an Ising problem from edges in any order; add up repeated edges and drop zeros."""
        size = validation.size(num_variables, "num_variables")
        merged, weights = pairs.merge(edges, weights, size)
        if fields is None:
            fields = np.zeros(size, dtype=weights.dtype)
        return cls(size, merged, weights, validation.weights(fields, "fields"), offset, labels)  # type: ignore[arg-type]

    @classmethod
    def from_matrix(
        cls,
        couplings: npt.ArrayLike | scipy.sparse.sparray,
        fields: npt.ArrayLike | None = None,
        offset: Number = 0,
        labels: Names | None = None,
    ) -> Ising:
        """Build an Ising problem from a symmetric J (each pair counts once) or a triangle of J."""
        entries, values, size = pairs.from_matrix(couplings)
        rows, columns = entries[:, 0], entries[:, 1]
        if (rows == columns).any() and values[rows == columns].any():
            raise ValueError("the diagonal of J must be zero: s_i² is a constant, not a coupling")
        upper, lower = rows < columns, rows > columns
        if upper.any() and lower.any():
            above = pairs.merge(entries[upper], values[upper], size)
            below = pairs.merge(entries[lower], values[lower], size)
            if not all(np.array_equal(a, b) for a, b in zip(above, below, strict=True)):
                raise ValueError("J must be symmetric or triangular")
            lower[:] = False
        kept = upper | lower
        return cls.from_edges(size, entries[kept], values[kept], fields, offset, labels)

    @classmethod
    def from_networkx(
        cls, graph: networkx.Graph, weight: str = "weight", field: str = "field"
    ) -> Ising:
        """Build an Ising problem from a graph with weights J (default 1) and fields h (default 0).

        Spin k is the k-th node of `graph.nodes`, which is its label. Graph data `offset` is added
        to every energy.
        """
        ising: Ising = exchange.from_networkx(cls, graph, weight, field)
        return ising

    @classmethod
    def from_bqm(cls, model: dimod.BinaryQuadraticModel) -> Ising:
        """Build an Ising problem from a dimod model of either vartype, with dimod's signs reversed.

        Spin k is the variable k if the variables are the numbers from 0; otherwise it is the k-th
        of `model.variables`, which is its label.
        """
        ising: Ising = exchange.from_bqm(cls, model.spin, -1)
        return ising

    def to_bqm(self) -> dimod.BinaryQuadraticModel:
        """Return a dimod model of vartype SPIN with the same energies and opposite coefficients.

        >>> problem = Ising.from_edges(2, [(0, 1)], [3], labels=["a", "b"])
        >>> problem.to_bqm()
        BinaryQuadraticModel({'a': 0.0, 'b': 0.0}, {('b', 'a'): -3.0}, 0.0, 'SPIN')
        >>> Ising.from_bqm(problem.to_bqm()) == problem
        True
        """
        return exchange.to_bqm(self)

    def to_scaled_bqm(
        self,
        j_range: exchange.Range = (-1, 1),
        h_range: exchange.Range = (-4, 4),
        per_qubit_range: exchange.Range | None = None,
    ) -> tuple[dimod.BinaryQuadraticModel, Fraction]:
        """Return a dimod model scaled to the ranges of a chip, and the exact scale factor.

        The factor is the largest that keeps every number within its range. Energies of the model
        divided by the factor are energies of the problem, up to the rounding of floats.

        Args:
            j_range: the smallest and largest coupling, in dimod's signs: "j_range" or
                "extended_j_range" of a solver's properties.
            h_range: the smallest and largest field, "h_range" of the properties.
            per_qubit_range: the smallest and largest sum of the couplings of a qubit, which comes
                with an extended range: "per_qubit_coupling_range" of the properties.

        >>> problem = Ising.from_edges(3, [(0, 1), (1, 2)], [3, -2])
        >>> model, factor = problem.to_scaled_bqm(j_range=(-2, 1))
        >>> factor, sorted(map(float, model.quadratic.values()))
        (Fraction(1, 2), [-1.5, 1.0])
        """
        return exchange.to_scaled_bqm(self, j_range, h_range, per_qubit_range)

    def to_networkx(self, weight: str = "weight", field: str = "field") -> networkx.Graph:
        """Return the couplings as a graph for `from_networkx`; its nodes are the labels."""
        return exchange.to_networkx(self, weight, field)

    def to_matrix(self, *, sparse: bool = False) -> Any:
        """Return the symmetric matrix J, as an ndarray or (if `sparse`) a scipy csr_array."""
        both = np.concatenate([self.edges, self.edges[:, ::-1]])
        weights = np.concatenate([self.weights, self.weights])
        return exchange.to_matrix(self.num_variables, both, weights, sparse=sparse)

    @property
    def space(self) -> Space:
        """The space of the problem's states."""
        return spins("Ising", self.num_variables)

    def energy(self, state: State) -> Any:
        """Return the energy of one state, or an array of energies for a batch (last axis = spins).

        One state may also be a mapping from label to value:

        >>> pair = Ising.from_edges(2, [(0, 1)], [3], labels=["a", "b"])
        >>> pair.energy({"a": 1, "b": -1})
        3
        """
        ordered = naming.in_order(state, self.labels, self.num_variables)
        values = validation.states(ordered, self.num_variables, (-1, 1), "state")
        energy = self.offset - pairs.evaluate(values, self.edges, self.weights)
        energy = energy - values @ self.fields
        return energy.item() if np.ndim(energy) == 0 else energy

    def __repr__(self) -> str:
        biased = int(np.count_nonzero(self.fields))
        parts = [f"{self.num_variables} spins", f"{self.num_edges} edges"]
        if biased:
            parts.append(f"{biased} fields")
        parts.append(validation.describe(self.weights))
        return f"Ising({', '.join(parts)})"
