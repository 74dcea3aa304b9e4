"""Conversion of Ising problems, QUBOs and RBMs to and from dimod, networkx and matrices.

dimod minimises +ΣJ s s + Σh s: its spin models have the opposite sign of `Ising`, its binary
models the same sign as `Qubo`. Variables keep their order, and their labels if the other side has
labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.extras import optional
from glasshouse.problems import validation
from glasshouse.problems.naming import Labels
from glasshouse.problems.pairs import labels_of, single_terms
from glasshouse.problems.validation import FloatArray, WeightArray

if TYPE_CHECKING:
    import dimod

    from glasshouse.problems.ising import Ising
    from glasshouse.problems.qubo import Qubo
    from glasshouse.problems.rbm import Rbm

# The smallest and largest number that a chip accepts, from the properties of its solver.
Range: TypeAlias = Sequence[float]

# dimod -----------------------------------------------------------------------------------------


def is_bqm(thing: object) -> bool:
    """Return whether an object is a dimod binary quadratic model; dimod need not be installed."""
    return all(hasattr(thing, name) for name in ("vartype", "to_numpy_vectors", "spin", "binary"))


def is_polynomial(thing: object) -> bool:
    """Return whether an object is a dimod polynomial; dimod need not be installed."""
    return all(hasattr(thing, name) for name in ("vartype", "degree", "to_hubo", "to_hising"))


def whole_if_possible(values: list[Any]) -> npt.NDArray[Any]:
    """Convert numbers to integers if all are integral and of magnitude below 2^53."""
    numbers = validation.as_array(values, "the model")
    if numbers.dtype.kind == "f" and np.array_equal(numbers, np.rint(numbers)):
        return numbers.astype(np.int64) if (np.abs(numbers) < 2.0**53).all() else numbers
    return numbers


def from_bqm(kind: Any, model: Any, sign: int, *, in_model_order: bool = False) -> Any:
    """Build a problem of class `kind` from a dimod model; `sign` is -1 to negate coefficients.

    Integral floats become integers, if all of them are integral. Pairs of weight zero stay.
    Variables called 0, 1, 2, … are put into that order, whatever the model's order: no user calls
    variable 0 "2".
    """
    names = list(model.variables)
    if not in_model_order and set(names) == set(range(len(names))):
        names.sort()
    linear, (first, second, values), constant = model.to_numpy_vectors(variable_order=names)
    numbers = [_plain(linear), _plain(values), _plain([constant])]
    if all(x.dtype != np.int64 for x in numbers) and all(
        np.array_equal(x, np.rint(x)) and (np.abs(x) < 2.0**53).all() for x in numbers
    ):
        numbers = [np.rint(x).astype(np.int64) for x in numbers]
    singles, weights, (offset,) = numbers
    edges = np.sort(np.column_stack([first, second]).astype(np.int32), axis=1)
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    return kind(
        len(names), edges[order], sign * weights[order], sign * singles, offset.item(), names
    )


def _plain(values: Any) -> npt.NDArray[Any]:
    """Convert a model's numbers, which may be Python integers of any size, to an array."""
    array = np.asarray(values)
    return validation.as_array(array.tolist(), "the model") if array.dtype == object else array


def to_bqm(problem: Ising | Rbm | Qubo) -> dimod.BinaryQuadraticModel:
    """Return a dimod model of the problem's own vartype; raise if a number exceeds 2^53."""
    make: Any = optional(
        "dimod", "a dimod model, as in .bqm files,"
    ).BinaryQuadraticModel.from_numpy_vectors
    is_spin = problem.space.low < 0
    sign = -1.0 if is_spin else 1.0
    weights, singles = exact_floats(problem.weights), exact_floats(single_terms(problem))
    offset = exact_floats(np.array([problem.offset]))[0]
    pairs = (problem.edges[:, 0], problem.edges[:, 1], sign * weights)
    vartype, labels = "SPIN" if is_spin else "BINARY", labels_of(problem)
    try:
        model: dimod.BinaryQuadraticModel = make(
            sign * singles, pairs, offset, vartype, variable_order=labels
        )
    except (OverflowError, TypeError, ValueError) as fault:  # 2^64, NaN or a complex number
        raise ValueError(
            f"dimod does not accept one of the labels ({fault}); use other labels"
        ) from None
    return model


def to_scaled_bqm(
    problem: Ising | Rbm,
    j_range: Range,
    h_range: Range,
    per_qubit_range: Range | None = None,
) -> tuple[dimod.BinaryQuadraticModel, Fraction]:
    """Return a dimod model scaled by the largest factor that fits a chip's ranges, and the factor.

    The factor is exact. Each scaled number is rounded once, to the nearest float.
    """
    couplings, fields = -problem.weights, -single_terms(problem)
    sums = np.zeros(problem.num_variables, dtype=couplings.dtype)
    for end in (0, 1):
        np.add.at(sums, problem.edges[:, end], couplings)
    limits: list[tuple[str, npt.NDArray[Any], Range]]
    limits = [("j_range", couplings, j_range), ("h_range", fields, h_range)]
    if per_qubit_range is not None:
        limits.append(("per_qubit_range", sums, per_qubit_range))
    factors = [one for limit in limits for one in _factors(*limit)]
    factor = min(factors, default=Fraction(1))
    model: Any = to_bqm(problem)
    labels = labels_of(problem)
    for (i, j), coupling in zip(problem.edges.tolist(), couplings.tolist(), strict=True):
        model.set_quadratic(labels[i], labels[j], float(factor * Fraction(coupling)))
    for label, field in zip(labels, fields.tolist(), strict=True):
        model.set_linear(label, float(factor * Fraction(field)))
    model.offset = float(factor * Fraction(problem.offset))
    return model, factor


def _factors(name: str, values: npt.NDArray[Any], limits: Range) -> Iterator[Fraction]:
    """Yield the largest factors that keep the minimum and the maximum of `values` in a range."""
    try:
        low, high = map(Fraction, limits)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name}={limits!r:.60} is not a pair of numbers (low, high)") from None
    if not low <= 0 <= high:
        raise ValueError(f"{name}={limits!r:.60} must be a range (low, high) that contains 0")
    for end, extreme in ((low, values.min(initial=0)), (high, values.max(initial=0))):
        if extreme and not end:
            raise ValueError(
                f"{name}={limits!r:.60} excludes the value {-extreme}, which is {extreme} "
                "in dimod's sign convention"
            )
        if extreme:
            yield end / Fraction(extreme.item())


def exact_floats(values: npt.NDArray[Any]) -> FloatArray:
    """Return numbers as floats for dimod; raise if an integer exceeds 2^53 in magnitude."""
    if values.dtype.kind in "iuO" and (np.abs(values) > 2**53).any():
        raise ValueError(
            "dimod holds floats, which are inexact for integers above 2^53; "
            "divide all weights by a common factor, or write .npz or .qubo instead"
        )
    return values.astype(np.float64)


def sampleset(
    states: npt.NDArray[np.int8], energies: npt.NDArray[Any], labels: Labels | None, is_spin: bool
) -> dimod.SampleSet:
    """Return states and their energies as a dimod SampleSet."""
    make: Any = optional("dimod", "to_sampleset").SampleSet.from_samples
    names = list(range(states.shape[1]) if labels is None else labels)
    vartype = "SPIN" if is_spin else "BINARY"
    found: dimod.SampleSet = make((states, names), vartype=vartype, energy=energies)
    return found


# networkx --------------------------------------------------------------------------------------


def from_networkx(kind: Any, graph: Any, weight: str, single: str) -> Any:
    """Build a problem from a graph's edge data (default 1) and node data (default 0)."""
    if graph.is_directed():
        raise ValueError("the graph is directed; pass an undirected graph")
    index = {node: k for k, node in enumerate(graph.nodes)}
    edges = [(index[u], index[v]) for u, v in graph.edges()]
    weights = [data.get(weight, 1) for _, _, data in graph.edges(data=True)]
    singles = [data.get(single, 0) for _, data in graph.nodes(data=True)]
    offset = graph.graph.get("offset", 0)
    return kind.from_edges(len(index), edges, weights, singles, offset, labels=index)


def to_networkx(problem: Ising | Rbm | Qubo, weight: str, single: str) -> Any:
    """Return a networkx graph of the terms; its nodes are the labels of the variables."""
    import networkx

    size = problem.num_variables
    names = labels_of(problem)
    graph = networkx.Graph(offset=problem.offset)
    singles = single_terms(problem).tolist()
    graph.add_nodes_from((names[k], {single: singles[k]}) for k in range(size))
    terms = zip(problem.edges.tolist(), problem.weights.tolist(), strict=True)
    graph.add_weighted_edges_from(((names[i], names[j], w) for (i, j), w in terms), weight=weight)
    return graph


# Matrices --------------------------------------------------------------------------------------


def to_matrix(size: int, entries: npt.NDArray[Any], values: WeightArray, *, sparse: bool) -> Any:
    """Return a square matrix with the given entries, dense or as a scipy csr_array."""
    from scipy.sparse import coo_array

    matrix = coo_array((values, (entries[:, 0], entries[:, 1])), shape=(size, size))
    return matrix.tocsr() if sparse else matrix.toarray()
