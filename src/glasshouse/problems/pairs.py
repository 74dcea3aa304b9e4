"""Sums of pair terms in sparse form, and the base class of Ising problems and QUBOs.

The form is a list of unique pairs i < j in lexicographic order, with one weight each. `merge`
converts any list of pairs to it; `check` raises for pairs that are not in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems import naming, validation
from glasshouse.problems.naming import Labels
from glasshouse.problems.validation import Number, WeightArray
from glasshouse.summaries import Summarised

PairArray = npt.NDArray[np.int32]

# Batches of states are evaluated in slices of at most this many state-pair products.
_CHUNK = 1 << 22


def settle(problem: Any, singles: str, mismatch: str) -> None:
    """Check all attributes of a new Ising problem or QUBO, and make its arrays read-only.

    Args:
        problem: the problem under construction.
        singles: the attribute with its terms of one variable: "fields" or "linear".
        mismatch: the message if their number is not the number of variables.
    """
    size = validation.size(problem.num_variables, "num_variables")
    edges, weights = check(problem.edges, problem.weights, size)
    linear = validation.weights(getattr(problem, singles), singles)
    if len(linear) != size:
        raise ValueError(mismatch.format(size, len(linear)))
    weights, linear = validation.same_kind(weights, linear)
    offset = validation.offset(problem.offset, exact=weights.dtype == np.int64)
    what = f"weights, {singles} and offset"
    values = {
        "num_variables": size, "edges": edges, "weights": weights, singles: linear,
        "offset": offset, "labels": naming.check(problem.labels, size),
        "total_weight": validation.total_magnitude([weights, linear], offset, what),
    }  # fmt: skip
    for name, value in values.items():
        object.__setattr__(problem, name, value)


def check(pairs: npt.ArrayLike, weights: npt.ArrayLike, size: int) -> tuple[PairArray, WeightArray]:
    """Validate pairs that must already be in canonical form."""
    ends, values = _matched(pairs, weights, size)
    if len(ends):
        first, second = ends[:, 0], ends[:, 1]
        rises, stays = first[1:] > first[:-1], first[1:] == first[:-1]
        if not ((first < second).all() and (rises | (stays & (second[1:] > second[:-1]))).all()):
            raise ValueError(
                "edges must be unique pairs i < j in ascending order; "
                "use from_edges for any other list of edges"
            )
    return validation.read_only(ends), values


def merge(pairs: npt.ArrayLike, weights: npt.ArrayLike, size: int) -> tuple[PairArray, WeightArray]:
    """Sort pairs, add up repeated pairs and drop zeros; raise if a pair joins i to itself."""
    ends, values = _matched(pairs, weights, size)
    low, high = ends.min(axis=1, initial=size), ends.max(axis=1, initial=-1)
    if (low == high).any():
        k = int(np.flatnonzero(low == high)[0])
        raise ValueError(f"edge {k} joins spin {low[k]} to itself")
    keys = low.astype(np.int64) * size + high
    unique, values = add_by_key(keys, values)
    kept = values != 0
    unique, values = unique[kept], values[kept]
    ordered = np.empty((len(unique), 2), dtype=np.int32)
    np.divmod(unique, max(size, 1), out=(ordered[:, 0], ordered[:, 1]), casting="unsafe")
    return validation.read_only(ordered), validation.read_only(values)


def add_by_key(
    keys: npt.NDArray[np.int64], weights: WeightArray
) -> tuple[npt.NDArray[np.int64], WeightArray]:
    """Sort by key and add up the weights of equal keys; raise if a sum exceeds int64."""
    if not len(keys):
        return keys, weights
    if (np.diff(keys) > 0).all():
        return keys, weights
    validation.total_magnitude([weights], 0, "the weights")
    order = np.argsort(keys, kind="stable")
    keys, weights = keys[order], weights[order]
    starts = np.flatnonzero(np.r_[True, keys[1:] != keys[:-1]])
    return keys[starts], np.add.reduceat(weights, starts)


def evaluate(
    states: npt.NDArray[np.int8], pairs: PairArray, weights: WeightArray
) -> npt.NDArray[Any]:
    """Return the sum of weight · x_i · x_j over all pairs, for one state or a batch."""
    rows = validation.rows(states)
    totals = np.zeros(len(rows), dtype=weights.dtype)
    step = max(1, _CHUNK // max(1, len(pairs)))
    for start in range(0, len(rows), step):
        columns = np.ascontiguousarray(rows[start : start + step].T)
        products = columns.take(pairs[:, 0], axis=0) * columns.take(pairs[:, 1], axis=0)
        totals[start : start + step] = weights @ products
    return totals.reshape(states.shape[:-1])


def from_matrix(matrix: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any], int]:
    """Return the entries of a square matrix as pairs (row, column), their values, and the size.

    The caller decides how entries i,j and j,i combine.
    """
    if hasattr(matrix, "tocoo"):
        coo = matrix.tocoo()
        rows, columns, values, shape = coo.row, coo.col, coo.data, coo.shape
    else:
        dense = validation.as_array(matrix, "the matrix")
        if dense.ndim != 2:
            raise ValueError(f"pass a matrix, not an array of shape {dense.shape}")
        rows, columns = np.nonzero(dense)
        values, shape = dense[rows, columns], dense.shape
    if shape[0] != shape[1]:
        raise ValueError(f"the matrix is {shape[0]} × {shape[1]}; it must be square")
    return np.column_stack([rows, columns]).astype(np.int64), values, int(shape[0])


class PairProblem(Summarised):
    """Base class of `Ising` and `Qubo`: problems with weighted pairs and single-variable terms.

    Two problems of the same kind are equal if they are the same variable by variable. Labels, if
    there are any, decide which variables correspond; their order does not matter then.
    """

    num_variables: int
    edges: PairArray
    weights: WeightArray
    offset: Number
    labels: Labels | None

    @property
    def variables(self) -> Labels:
        """The labels of all variables in order; 0, 1, 2, … if there are no labels.

        >>> from glasshouse.problems import Ising
        >>> Ising.from_edges(2, [(0, 1)], [3]).variables
        (0, 1)
        """
        return labels_of(self)

    @property
    def num_edges(self) -> int:
        """The number of pairs of variables that have a weight."""
        return len(self.edges)

    @property
    def is_integer(self) -> bool:
        """Whether weights and energies are exact integers."""
        return bool(self.weights.dtype == np.int64)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        theirs: PairProblem = other
        if self.labels != theirs.labels:
            place = {name: k for k, name in enumerate(labels_of(self))}
            if place.keys() != set(labels_of(theirs)):
                return False
            theirs = reordered(theirs, np.array([place[name] for name in labels_of(theirs)]))
        return bool(
            self.num_variables == theirs.num_variables
            and self.offset == theirs.offset
            and self.is_integer == theirs.is_integer
            and np.array_equal(self.edges, theirs.edges)
            and np.array_equal(self.weights, theirs.weights)
            and np.array_equal(single_terms(self), single_terms(theirs))
        )

    def __hash__(self) -> int:
        # Equal problems may have their variables in different orders.
        weights = np.sort(self.weights + 0)  # -0.0 is 0.0
        return hash((self.num_variables, self.offset, weights.tobytes()))


def reordered(problem: Any, place: npt.NDArray[Any]) -> Any:
    """Return an Ising problem or QUBO with variable k moved to `place[k]`, without labels."""
    edges = np.sort(place[problem.edges], axis=1).astype(np.int32).reshape(-1, 2)
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    singles = np.empty_like(single_terms(problem))
    singles[place] = single_terms(problem)
    weights = problem.weights[order]
    return type(problem)(len(place), edges[order], weights, singles, problem.offset)


def labels_of(problem: Any) -> Labels:
    """Return a problem's labels, or 0, 1, 2, … if it does not have labels."""
    return tuple(range(problem.num_variables)) if problem.labels is None else problem.labels


def single_terms(problem: Any) -> WeightArray:
    """Return the fields of a spin problem, or the linear terms of a QUBO."""
    singles: WeightArray = problem.fields if problem.space.low < 0 else problem.linear
    return singles


def _matched(
    pairs: npt.ArrayLike, weights: npt.ArrayLike, size: int
) -> tuple[PairArray, WeightArray]:
    ends, values = pair_table(pairs), validation.weights(weights, "weights")
    low, high = (int(ends.min()), int(ends.max())) if len(ends) else (0, -1)
    if low < 0 or high >= size:
        bad = low if low < 0 else high
        raise ValueError(f"an edge contains spin {bad}, but spins are numbered 0 to {size - 1}")
    if len(ends) != len(values):
        raise ValueError(f"{len(ends)} edges but {len(values)} weights; pass one weight per edge")
    return ends.astype(np.int32, copy=False), values


def pair_table(pairs: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return pairs of integers as a table, one pair per row."""
    array = np.asarray(pairs)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int32)
    if array.dtype.kind not in "iu" or array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(
            f"edges must be a (k, 2) array of integers, not {array.dtype} of shape {array.shape}"
        )
    return array
