"""The bipartite problem, or "RBM": visible spins coupled to hidden spins only."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.problems import exact, exchange, naming, validation
from glasshouse.problems.ising import Ising
from glasshouse.problems.naming import Labels, Names, State
from glasshouse.problems.pairs import labels_of, pair_table
from glasshouse.problems.reduction import Space, spins
from glasshouse.problems.two_sides import Sides, sides_of
from glasshouse.problems.validation import Number, WeightArray
from glasshouse.summaries import Summarised

if TYPE_CHECKING:
    import dimod
    import networkx

Matrix: TypeAlias = Any  # an ndarray or a scipy csr_array, which have no common type


@dataclass(frozen=True, eq=False, repr=False)
class Rbm(Summarised):
    """An RBM problem: minimise `E(v, h) = -(v·W·h + a·v + b·h) + offset` over v_i, h_j = ±1.

    This is the energy of a restricted Boltzmann machine with ±1 units (the paper's eq. 1). A state
    is one array, visible spins first: that order is also the order of a sweep.

    Attributes:
        matrix: W, of shape (visible, hidden): an ndarray, or a scipy sparse array if it is large.
        visible_bias: the bias a of each visible spin; zero by default.
        hidden_bias: the bias b of each hidden spin; zero by default.
        offset: a constant added to every energy.
        labels: the spins' external names, visible spins first; None for the numbers from 0.

    >>> problem = Rbm([[1, 1], [1, -1]])
    >>> problem
    Rbm(2 visible × 2 hidden, 4 edges, integer weights -1 to 1)
    >>> problem.energy([1, 1, 1, 1])
    -2
    >>> problem.num_visible, problem.num_hidden, problem.num_variables, problem.num_edges
    (2, 2, 4, 4)
    >>> problem.is_integer, problem.is_sparse, problem.space.size
    (True, False, 4)
    >>> problem.fields, problem.weights
    (array([0, 0, 0, 0]), array([ 1,  1,  1, -1]))
    >>> problem.edges.tolist()
    [[0, 2], [0, 3], [1, 2], [1, 3]]
    >>> Rbm.from_edges(2, 2, [(0, 0), (0, 1), (1, 0), (1, 1)], [1, 1, 1, -1]) == problem
    True
    >>> problem.to_matrix()
    array([[ 1,  1],
           [ 1, -1]])
    >>> Rbm.from_networkx(problem.to_networkx()) == problem
    True
    >>> Rbm.from_bqm(problem.to_bqm(), num_visible=2) == problem
    True
    """

    matrix: Matrix
    visible_bias: WeightArray = None  # type: ignore[assignment]  # always an array once made
    hidden_bias: WeightArray = None  # type: ignore[assignment]  # likewise
    offset: Number = 0
    labels: Labels | None = None
    total_weight: Number = field(init=False)

    def __post_init__(self) -> None:
        matrix = _canonical(self.matrix)
        rows, columns = _sizes(*matrix.shape)
        values = matrix.data if hasattr(matrix, "indptr") else matrix.reshape(-1)
        values = validation.weights(values, "weights")
        visible = _bias(self.visible_bias, rows, "visible", values.dtype)
        hidden = _bias(self.hidden_bias, columns, "hidden", values.dtype)
        values, visible, hidden = validation.same_kind(values, visible, hidden)
        offset = validation.offset(self.offset, exact=values.dtype == np.int64)
        total = validation.total_magnitude(
            [values, visible, hidden], offset, "weights, biases and offset"
        )
        if hasattr(matrix, "indptr"):
            matrix.data = values
            matrix.indices.flags.writeable = matrix.indptr.flags.writeable = False
        else:
            matrix = validation.read_only(values.reshape(rows, columns))
        fields = {
            "matrix": matrix, "visible_bias": visible, "hidden_bias": hidden,
            "offset": offset, "labels": naming.check(self.labels, rows + columns),
            "total_weight": total,
        }  # fmt: skip
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_edges(
        cls,
        num_visible: int,
        num_hidden: int,
        edges: npt.ArrayLike,
        weights: npt.ArrayLike,
        visible_bias: npt.ArrayLike | None = None,
        hidden_bias: npt.ArrayLike | None = None,
        offset: Number = 0,
        labels: Names | None = None,
    ) -> Rbm:
        """Build an RBM with a sparse W from pairs (visible, hidden); add up repeated pairs."""
        from scipy.sparse import coo_array

        shape = _sizes(num_visible, num_hidden)
        values = validation.weights(weights, "weights")
        validation.total_magnitude([values], 0, "the weights")
        pairs = pair_table(edges)
        if len(pairs) != len(values):
            raise ValueError(f"{len(pairs)} edges but {len(values)} weights; pass one per edge")
        if len(pairs) and (pairs.min() < 0 or (pairs.max(axis=0) >= shape).any()):
            raise ValueError(f"an edge lies outside the {shape[0]} × {shape[1]} weight matrix")
        matrix = coo_array((values, (pairs[:, 0], pairs[:, 1])), shape=shape).tocsr()
        return cls(matrix, visible_bias, hidden_bias, offset, labels)  # type: ignore[arg-type]

    @classmethod
    def from_binary(
        cls,
        weights: Any,
        visible_bias: npt.ArrayLike | None = None,
        hidden_bias: npt.ArrayLike | None = None,
        offset: Number = 0,
        labels: Names | None = None,
    ) -> Rbm:
        """Build an RBM of spins from an RBM with units 0 and 1, as most libraries have.

        `E(v, h) = -(v·W·h + a·v + b·h) + offset` with 0 and 1 is the energy of the same
        configuration here, where 0 is spin -1: W/4, biases a/2 + Σ_j W_ij/4, and a constant.
        Integers that are not multiples of 4 become floats, exactly.

        Args:
            weights: W, one row per visible and one column per hidden unit; transpose a matrix with
                one row per hidden unit.
            visible_bias: the biases a.
            hidden_bias: the biases b.
            offset: a constant added to every energy.
            labels: the labels of the visible units, then of the hidden units.

        >>> machine = Rbm.from_binary([[2.0], [-1.0]], [0.5, 0.0], [1.0])
        >>> machine.energy([1, -1, 1])  # v = 1 0, h = 1
        -3.5
        """
        units = cls(weights, visible_bias, hidden_bias, offset)  # type: ignore[arg-type]
        if units.is_integer and units.total_weight + abs(units.offset) > 2**51:
            raise ValueError("integer magnitudes must add up to at most 2^51; use float weights")
        rows, columns = (np.asarray(units.matrix.sum(axis=axis)) for axis in (1, 0))
        visible, hidden = 2 * units.visible_bias + rows, 2 * units.hidden_bias + columns
        # Each of the two biases contains the sum of W once.
        constant = 4 * units.offset - (visible.sum() + hidden.sum() - rows.sum())
        parts: Any = [units.matrix / 4.0, visible / 4, hidden / 4, np.float64(constant) / 4]
        if units.is_integer and not exact.gcd(units.weights, visible, hidden, constant) % 4:
            parts = [part.astype(np.int64) for part in parts]
        return cls(*parts, labels)  # type: ignore[call-arg]

    @classmethod
    def from_sklearn(cls, machine: Any) -> Rbm:
        """Build an RBM of spins from a fitted `BernoulliRBM` of scikit-learn, with units 0 and 1.

        Its `components_` have one row per hidden unit, and are transposed.

        >>> import numpy as np
        >>> from sklearn.neural_network import BernoulliRBM
        >>> fitted = BernoulliRBM(3, n_iter=1, random_state=0).fit(np.eye(4))
        >>> Rbm.from_sklearn(fitted).matrix.shape
        (4, 3)
        """
        return cls.from_binary(*sklearn_arrays(machine))

    @classmethod
    def from_networkx(
        cls, graph: networkx.Graph, weight: str = "weight", field: str = "field"
    ) -> Rbm:
        """Build an RBM from a bipartite graph; its nodes become the labels, visible ones first.

        Nodes with the data `bipartite` 0 are visible and those with 1 hidden, as in networkx. If
        nodes lack it, one side of each component becomes visible (see `ising_to_rbm`).
        """
        ising = Ising.from_networkx(graph, weight, field)
        sides = [side for _, side in graph.nodes(data="bipartite")]
        is_told = len(sides) > 1 and all(side in (0, 1) for side in sides)
        hidden = np.array(sides, dtype=np.bool_) if is_told else None
        return rbm_of_sides(ising, sides_of(ising, hidden=hidden))

    @classmethod
    def from_bqm(cls, model: dimod.BinaryQuadraticModel, num_visible: int | None = None) -> Rbm:
        """Build an RBM from a dimod model with a bipartite graph; its variables become the labels.

        One side of each component becomes visible, or the first `num_visible` variables do.
        """
        as_given = num_visible is not None
        ising: Ising = exchange.from_bqm(Ising, model.spin, -1, in_model_order=as_given)
        kept = ising.weights != 0  # a pair of weight zero does not join its spins
        ising = replace(ising, edges=ising.edges[kept], weights=ising.weights[kept])
        return rbm_of_sides(ising, sides_of(ising, num_visible=num_visible))

    def to_bqm(self) -> dimod.BinaryQuadraticModel:
        """Return a dimod model of vartype SPIN with the same energies and opposite coefficients."""
        return exchange.to_bqm(self)

    def to_networkx(self, weight: str = "weight", field: str = "field") -> networkx.Graph:
        """Return the weights as a graph for `from_networkx`; node data `bipartite` is the layer.

        Nodes are the labels.
        """
        graph = exchange.to_networkx(self, weight, field)
        for k, node in enumerate(graph.nodes):
            graph.nodes[node]["bipartite"] = int(k >= self.num_visible)
        return graph

    def to_matrix(self, *, sparse: bool = False) -> Any:
        """Return W (one row per visible spin) as an ndarray, or as a csr_array if `sparse`."""
        from scipy.sparse import csr_array

        if sparse:
            return csr_array(self.matrix)
        return self.matrix.toarray() if self.is_sparse else self.matrix.copy()

    @property
    def num_visible(self) -> int:
        """The number of visible spins, n."""
        return int(self.matrix.shape[0])

    @property
    def num_hidden(self) -> int:
        """The number of hidden spins, m."""
        return int(self.matrix.shape[1])

    @property
    def num_variables(self) -> int:
        """The number of all spins, visible and hidden: n + m."""
        return self.num_visible + self.num_hidden

    @cached_property
    def edges(self) -> npt.NDArray[np.int32]:
        """A (k, 2) array of the weighted pairs, row by row; hidden spin j is variable n + j."""
        places: Any = (
            np.nonzero(self.matrix)
            if not self.is_sparse
            else (
                np.repeat(np.arange(self.num_visible, dtype=np.int32), np.diff(self.matrix.indptr)),
                self.matrix.indices,
            )
        )
        pairs = np.column_stack(places).astype(np.int32, copy=False)
        return validation.read_only(pairs + np.array([0, self.num_visible], dtype=np.int32))

    @cached_property
    def weights(self) -> WeightArray:
        """The weight of each edge, which is never zero."""
        if self.is_sparse:
            return validation.read_only(self.matrix.data)
        return validation.read_only(self.matrix[np.nonzero(self.matrix)])

    @property
    def fields(self) -> WeightArray:
        """The biases of all variables: a, then b."""
        return np.concatenate([self.visible_bias, self.hidden_bias])

    @property
    def num_edges(self) -> int:
        """The number of weights that are not zero."""
        return len(self.weights)

    @property
    def space(self) -> Space:
        """The space of the problem's states."""
        return spins("RBM", self.num_variables)

    @property
    def is_sparse(self) -> bool:
        """Whether W is a sparse array."""
        return hasattr(self.matrix, "indptr")

    @property
    def is_integer(self) -> bool:
        """Whether weights and energies are exact integers."""
        return bool(self.matrix.dtype == np.int64)

    def energy(self, state: State) -> Any:
        """Return the energy of a state (values v and h, or a mapping by label), or of a batch."""
        ordered = naming.in_order(state, self.labels, self.num_variables)
        spins = validation.states(ordered, self.num_variables, (-1, 1), "state")
        rows = validation.rows(spins).astype(self.matrix.dtype)
        visible, hidden = rows[:, : self.num_visible], rows[:, self.num_visible :]
        bonds = ((self.matrix @ hidden.T).T * visible).sum(axis=1)
        energy = self.offset - bonds - visible @ self.visible_bias - hidden @ self.hidden_bias
        return energy.item() if spins.ndim == 1 else energy.reshape(spins.shape[:-1])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rbm):
            return NotImplemented
        if (
            self.matrix.shape != other.matrix.shape
            or self.offset != other.offset
            or self.is_integer != other.is_integer
        ):
            return False
        return (
            np.array_equal(self.edges, other.edges)
            and np.array_equal(self.weights, other.weights)
            and np.array_equal(self.visible_bias, other.visible_bias)
            and np.array_equal(self.hidden_bias, other.hidden_bias)
            and self.labels == other.labels
        )

    def __hash__(self) -> int:
        return hash((self.matrix.shape, self.offset, self.edges.tobytes()))

    def __repr__(self) -> str:
        size = f"{self.num_visible} visible × {self.num_hidden} hidden"
        biased = np.count_nonzero(self.visible_bias) + np.count_nonzero(self.hidden_bias)
        biases = f", {biased} biases" if biased else ""
        return f"Rbm({size}, {self.num_edges} edges{biases}, {validation.describe(self.weights)})"


def sklearn_arrays(machine: Any) -> tuple[Any, Any, Any]:
    """Return the arrays W (one row per visible unit), a and b of a fitted BernoulliRBM."""
    names = ("components_", "intercept_visible_", "intercept_hidden_")
    if not all(hasattr(machine, name) for name in names):
        raise ValueError(f"{type(machine).__name__} is not a fitted BernoulliRBM; call fit")
    weights, visible, hidden = (getattr(machine, name) for name in names)
    return weights.T, visible, hidden


def _sizes(num_visible: object, num_hidden: object) -> tuple[int, int]:
    """Return the sizes of the two layers; raise if their sum exceeds the limit of a problem."""
    rows = validation.count(num_visible, "num_visible", 1)
    columns = validation.count(num_hidden, "num_hidden", 1)
    validation.size(rows + columns, "num_visible + num_hidden")
    return rows, columns


def _canonical(weights: Any) -> Any:
    """Copy weights to a two-dimensional ndarray, or to a csr_array without duplicates or zeros."""
    if hasattr(weights, "tocoo"):
        from scipy.sparse import coo_array

        entries = weights.tocoo()
        values = validation.weights(entries.data, "weights")
        validation.total_magnitude([values], 0, "the weights")  # repeated entries are added up
        matrix = coo_array((values, (entries.row, entries.col)), entries.shape).tocsr()
        matrix.eliminate_zeros()
    else:
        matrix = np.array(validation.as_array(weights, "weights"))
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(
            f"weights must be a matrix with one row per visible and one column per hidden spin, "
            f"not of shape {matrix.shape}"
        )
    return matrix


def _bias(values: Any, size: int, layer: str, kind: Any) -> WeightArray:
    if values is None:
        return np.zeros(size, dtype=kind)
    bias = validation.weights(values, f"{layer}_bias")
    if len(bias) != size:
        raise ValueError(f"{size} {layer} spins but {len(bias)} biases; pass one bias per spin")
    return bias


def rbm_of_sides(problem: Ising, sides: Sides) -> Rbm:
    """Return an Ising problem with a bipartite graph as an Rbm, given the sides of the graph."""
    order, place, visible = sides
    ends = np.sort(place[problem.edges], axis=1)
    fields = problem.fields[order]
    labels = None
    if problem.labels is not None or (np.diff(order) != 1).any():
        # The variables are reordered, and so are their labels.
        labels = map(labels_of(problem).__getitem__, order.tolist())
    return Rbm.from_edges(
        visible, len(order) - visible, ends - np.array([0, visible]), problem.weights,
        fields[:visible], fields[visible:], problem.offset, labels,
    )  # fmt: skip
