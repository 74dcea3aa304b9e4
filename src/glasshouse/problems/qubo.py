"""The QUBO problem: minimise a quadratic function of 0/1 variables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems import exchange, naming, pairs, validation
from glasshouse.problems.naming import Labels, Names, State
from glasshouse.problems.pairs import PairArray, PairProblem
from glasshouse.problems.reduction import Space, bits
from glasshouse.problems.validation import Number, WeightArray

if TYPE_CHECKING:
    import dimod
    import networkx
    import scipy.sparse


@dataclass(frozen=True, eq=False, repr=False)
class Qubo(PairProblem):
    """A QUBO problem: minimise `E(x) = Σ Q_ij x_i x_j + Σ B_i x_i + offset` over x_i in {0, 1}.

    The energy is minimised. (The paper *maximises* its QUBO; `convert` reverses the sign.)

    Attributes:
        num_variables: the number of variables.
        edges: (k, 2) array of unique pairs i < j in ascending order.
        weights: the coefficient Q of each pair.
        linear: the coefficient B of each variable.
        offset: a constant added to every energy.
        labels: the variables' external names; None for the numbers from 0.

    >>> problem = Qubo.from_matrix([[-1, 2], [0, -1]])
    >>> problem
    Qubo(2 variables, 1 pairs, integer weights 2 to 2)
    >>> problem.energy([[0, 0], [0, 1], [1, 1]])
    array([ 0, -1,  0])
    >>> problem.num_edges, problem.is_integer, problem.space
    (1, True, Space(kind='QUBO', size=2, low=0))
    >>> problem == Qubo.from_edges(2, [(0, 1)], [2], linear=[-1, -1])
    True
    >>> problem.to_matrix()
    array([[-1,  2],
           [ 0, -1]])
    >>> Qubo.from_networkx(problem.to_networkx()) == problem
    True
    >>> Qubo.from_bqm(problem.to_bqm()) == problem
    True
    """

    num_variables: int
    edges: PairArray
    weights: WeightArray
    linear: WeightArray
    offset: Number = 0
    labels: Labels | None = None
    total_weight: Number = field(init=False)

    def __post_init__(self) -> None:
        pairs.settle(self, "linear", "{} variables but {} linear terms; pass one per variable")

    @classmethod
    def from_edges(
        cls,
        num_variables: int,
        edges: npt.ArrayLike,
        weights: npt.ArrayLike,
        linear: npt.ArrayLike | None = None,
        offset: Number = 0,
        labels: Names | None = None,
    ) -> Qubo:
        """Build a QUBO from pairs in any order; add up repeated pairs and drop zeros."""
        size = validation.size(num_variables, "num_variables")
        merged, weights = pairs.merge(edges, weights, size)
        if linear is None:
            linear = np.zeros(size, dtype=weights.dtype)
        return cls(size, merged, weights, validation.weights(linear, "linear"), offset, labels)  # type: ignore[arg-type]

    @classmethod
    def from_matrix(
        cls,
        matrix: npt.ArrayLike | scipy.sparse.sparray,
        offset: Number = 0,
        labels: Names | None = None,
    ) -> Qubo:
        """Build a QUBO from M with `E(x) = xᵀ M x + offset`; the diagonal has the linear terms."""
        entries, values, size = pairs.from_matrix(matrix)
        values = validation.weights(values, "matrix")
        validation.total_magnitude([values], 0, "the matrix")  # repeated entries are added up
        diagonal = entries[:, 0] == entries[:, 1]
        linear = np.zeros(size, dtype=values.dtype)
        np.add.at(linear, entries[diagonal, 0], values[diagonal])
        return cls.from_edges(size, entries[~diagonal], values[~diagonal], linear, offset, labels)

    @classmethod
    def from_networkx(
        cls, graph: networkx.Graph, weight: str = "weight", linear: str = "linear"
    ) -> Qubo:
        """Build a QUBO from a graph with edge weights Q (default 1) and node data B (default 0).

        Variable k is the k-th node of `graph.nodes`, which is its label. Graph data `offset` is
        added to every energy.
        """
        qubo: Qubo = exchange.from_networkx(cls, graph, weight, linear)
        return qubo

    @classmethod
    def from_bqm(cls, model: dimod.BinaryQuadraticModel) -> Qubo:
        """Build a QUBO from a dimod model of either vartype; integral floats become integers.

        Variable k is `k` if the variables are the numbers from 0; otherwise it is the k-th of
        `model.variables`, which is its label.
        """
        qubo: Qubo = exchange.from_bqm(cls, model.binary, 1)
        return qubo

    def to_bqm(self) -> dimod.BinaryQuadraticModel:
        """Return a dimod model of vartype BINARY with the same energies."""
        return exchange.to_bqm(self)

    def to_networkx(self, weight: str = "weight", linear: str = "linear") -> networkx.Graph:
        """Return the pairs as a graph for `from_networkx`; its nodes are the labels."""
        return exchange.to_networkx(self, weight, linear)

    def to_matrix(self, *, sparse: bool = False) -> Any:
        """Return the upper triangular matrix M with `E(x) = xᵀ M x + offset`."""
        diagonal = np.repeat(np.arange(self.num_variables), 2).reshape(-1, 2)
        entries = np.concatenate([self.edges, diagonal])
        values = np.concatenate([self.weights, self.linear])
        return exchange.to_matrix(self.num_variables, entries, values, sparse=sparse)

    @property
    def space(self) -> Space:
        """The space of the problem's assignments."""
        return bits("QUBO", self.num_variables)

    def energy(self, assignment: State) -> Any:
        """Return the energy of an assignment (values, or a mapping by label), or of a batch."""
        ordered = naming.in_order(assignment, self.labels, self.num_variables)
        values = validation.states(ordered, self.num_variables, (0, 1), "assignment")
        energy = pairs.evaluate(values, self.edges, self.weights) + values @ self.linear
        energy = energy + self.offset
        return energy.item() if np.ndim(energy) == 0 else energy

    def __repr__(self) -> str:
        size = f"{self.num_variables} variables, {self.num_edges} pairs"
        return f"Qubo({size}, {validation.describe(self.weights)})"
