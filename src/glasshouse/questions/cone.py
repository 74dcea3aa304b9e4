"""Conical decompositions: gauged matrices as loops plus a non-negative matrix (paper, 4.6).

The paper leaves open whether every gauged W with f ≤ 1/4 has such a decomposition. This holds for
min(n, m) ≤ 3, and fails for 4×4 and larger (ERRATA 2). By Farkas, exactly one of these exists:
multipliers x ≥ 0 with L·x ≤ W edge by edge, or a witness y ≥ 0 with y·W < 0 ≤ y·l for every loop l.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from glasshouse.problems import validation
from glasshouse.proofs.lp.highs import checked, new_highs, solve
from glasshouse.questions.gauged import integer_matrix
from glasshouse.summaries import Summarised

_TOLERANCE = 1e-7
_DENOMINATORS = (1, 10, 100, 1000, 10**4, 10**6)


@dataclass(frozen=True, repr=False)
class ConicDecomposition(Summarised):
    """The result of `conic_decomposition`: `multipliers`, or a `witness` that there are none.

    Attributes:
        multipliers: a positive Fraction for each loop used; None if W has no decomposition.
        loops: cycles of nodes: row i is node i, column j is node n + j. The last edge, back to the
            first node, is the negative one.
        rest: W minus the loops: non-negative, as Fractions in an object array.
        witness: an integer matrix y ≥ 0 with y·W < 0, and y·l ≥ 0 for every loop l.
    """

    multipliers: list[Fraction] | None
    loops: list[tuple[int, ...]]
    rest: npt.NDArray[np.object_] | None
    witness: npt.NDArray[np.int64] | None

    @property
    def exists(self) -> bool:
        """Whether W is a conical combination of loops plus a non-negative matrix."""
        return self.witness is None

    def __str__(self) -> str:
        if self.exists:
            return f"a combination of {len(self.loops)} loops and a non-negative rest"
        return "no combination of loops, as the witness shows"


def conic_decomposition(weights: npt.ArrayLike, *, max_length: int = 4) -> ConicDecomposition:
    """Write W as Σ x_k · loop_k + a non-negative matrix, or prove that this is impossible.

    Args:
        weights: W, an integer matrix, gauged so that all spins up are the ground state.
        max_length: the most edges of a loop: 4 for the paper's loop atoms; n + m for all loops.

    >>> answer = conic_decomposition([[3, 1], [1, -1]])
    >>> answer.multipliers, answer.loops
    ([Fraction(1, 1)], [(1, 2, 0, 3)])
    >>> hard = [[4, -1, -1, 2], [-1, 4, -1, 2], [-1, -1, 4, 2], [2, 2, 2, -2]]
    >>> conic_decomposition(hard, max_length=8).witness
    array([[0, 2, 2, 1],
           [2, 0, 2, 1],
           [2, 2, 0, 1],
           [1, 1, 1, 2]])
    """
    matrix = integer_matrix(weights)
    max_length = validation.count(max_length, "max_length")
    if max_length < 4 or max_length % 2:
        raise ValueError(f"max_length={max_length} must be an even number, at least 4")
    master = _Master(matrix)
    while True:
        witness = master.solve()
        new = _violated_loops(witness, max_length)
        if not new:
            break
        master.add(new)
    if master.value < -_TOLERANCE:
        return ConicDecomposition(None, [], None, _exact_witness(matrix, witness, max_length))
    return _exact_multipliers(matrix, master.loops, master.duals())


class _Master:
    """The LP: minimise W·y over 0 ≤ y ≤ 1, with y·l ≥ 0 for each loop l that was added."""

    def __init__(self, matrix: npt.NDArray[np.int64]) -> None:
        self.matrix = matrix
        self.scale = float(max(1, np.abs(matrix).max()))
        self.loops: list[tuple[int, ...]] = []
        self.solver = new_highs(matrix.ravel() / self.scale, upper=1.0)

    def add(self, loops: list[tuple[int, ...]]) -> None:
        for loop in loops:
            edges = _edges(loop, self.matrix.shape)
            signs = np.ones(len(edges))
            signs[-1] = -1.0
            indices = np.array(edges, dtype=np.int32)
            checked(self.solver.addRow(0.0, np.inf, len(edges), indices, signs), "a row")
        self.loops += loops

    def solve(self) -> npt.NDArray[np.float64]:
        solve(self.solver)
        self.value = float(self.solver.getInfo().objective_function_value)
        solution = np.array(self.solver.getSolution().col_value, dtype=np.float64)
        return solution.reshape(self.matrix.shape)

    def duals(self) -> list[float]:
        return [self.scale * float(x) for x in self.solver.getSolution().row_dual]


def _edges(loop: tuple[int, ...], shape: tuple[int, ...]) -> list[int]:
    """Return the flat indices of a loop's edges in the weight matrix, the negative edge last."""
    pairs = zip(loop, (*loop[1:], loop[0]), strict=True)
    return [min(a, b) * shape[1] + max(a, b) - shape[0] for a, b in pairs]


def _violated_loops(
    lengths: npt.NDArray[np.float64], max_length: int, least: float = _TOLERANCE
) -> list[tuple[int, ...]]:
    """Return loops of up to `max_length` edges whose last edge is longer than all others together.

    The other edges are the shortest path between the ends of the last edge. A step of a walk leads
    from row to row via a column; `reach[k]` has the lengths of the shortest walks of k such steps.
    """
    size = len(lengths)
    step = (lengths[:, None, :] + lengths[None, :, :]).min(axis=2)
    over = (lengths[:, None, :] + lengths[None, :, :]).argmin(axis=2)
    steps = min(max_length // 2 - 1, size - 1)
    reach = [np.where(np.eye(size, dtype=bool), 0.0, np.inf)]
    via = []
    for _ in range(steps):
        sums = reach[-1][:, :, None] + step[None, :, :]
        via.append(sums.argmin(axis=1))
        reach.append(sums.min(axis=1))
    loops = set()
    for row, column in np.ndindex(*lengths.shape):
        best, walk = np.inf, (0, 0)
        for k in range(1, steps + 1):
            ends = reach[k][row] + lengths[:, column]
            if ends.min() < best:
                best, walk = float(ends.min()), (k, int(ends.argmin()))
        if best < lengths[row, column] - least:
            k, last = walk
            rows = [last]
            for j in range(k - 1, -1, -1):
                rows.append(int(via[j][row, rows[-1]]))
            rows.reverse()
            nodes = [row]
            for a, b in pairwise(rows):
                nodes += [size + int(over[a, b]), b]
            loops.add(_simple((*nodes, size + column)))
    return sorted(loops)


def _simple(walk: tuple[int, ...]) -> tuple[int, ...]:
    """Return a path from the first to the last node of a walk, without repeated nodes."""
    path: list[int] = []
    for node in walk:
        if node in path:
            del path[path.index(node) + 1 :]
        else:
            path.append(node)
    return tuple(path)


def _exact_witness(
    matrix: npt.NDArray[np.int64], found: npt.NDArray[np.float64], max_length: int
) -> npt.NDArray[np.int64]:
    """Return an integer witness y, checked for y ≥ 0, W·y < 0, and y·l ≥ 0 for every loop l."""
    for most in _DENOMINATORS:
        values = [Fraction(x).limit_denominator(most) for x in found.ravel().tolist()]
        scale = math.lcm(*(v.denominator for v in values))
        whole = [int(v * scale) for v in values]
        if max(whole) * max_length >= 2**53:  # the search for loops below is exact up to this limit
            continue
        negative = sum(w * y for w, y in zip(matrix.ravel().tolist(), whole, strict=True)) < 0
        witness = np.array(whole).reshape(matrix.shape)
        if negative and not _violated_loops(witness.astype(np.float64), max_length, least=0.5):
            return witness
    raise ArithmeticError("rounding did not make the LP's witness exact; use smaller weights")


def _exact_multipliers(
    matrix: npt.NDArray[np.int64], loops: list[tuple[int, ...]], duals: list[float]
) -> ConicDecomposition:
    """Return the multipliers as Fractions; check that W minus the loops has no negative entry."""
    for most in _DENOMINATORS:
        values = [Fraction(x).limit_denominator(most) for x in duals]
        used = [k for k, value in enumerate(values) if value > 0]
        rest = np.array([Fraction(int(x)) for x in matrix.ravel()], dtype=object)
        for k in used:
            *positive, negative = _edges(loops[k], matrix.shape)
            rest[positive] -= values[k]
            rest[negative] += values[k]
        if min(rest) >= 0:
            chosen = [loops[k] for k in used]
            return ConicDecomposition(
                [values[k] for k in used], chosen, rest.reshape(matrix.shape), None
            )
    raise ArithmeticError("rounding did not make the LP's multipliers exact; use smaller weights")
