"""The maximum frustration of small RBMs, by linear programming (paper, section 3.5, appendix F)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from glasshouse.problems import validation
from glasshouse.proofs.lp.highs import checked, new_highs, solve
from glasshouse.questions.gauged import ground_state
from glasshouse.summaries import Summarised

# 2^20 patterns of signs take one or two seconds.
_MOST_FREE_SIGNS = 20


@dataclass(frozen=True, repr=False)
class MaximumFrustration(Summarised):
    """The most frustrated n×m RBM, and its frustration.

    Attributes:
        value: the exact f of `weights`; no other pattern of signs reaches more, up to the tolerance
            of the LP solver (1e-7).
        weights: integers whose ground state violates the fraction `value` of their magnitude.
        patterns: the number of sign patterns that differ under permutation and switching.
    """

    value: Fraction
    weights: npt.NDArray[np.int64]
    patterns: int


def maximum_frustration(rows: int, columns: int) -> MaximumFrustration:
    """Return the largest frustration f of all n×m weight matrices, and a matrix that reaches it.

    For given magnitudes, f depends on signs only up to switching (flipping rows and columns) and
    permutation. For each pattern one LP over the magnitudes u ≥ 0, Σu = 1, maximises the least
    weight t that a state violates.

    The result is 1/4 for min(n, m) ≤ 3 (the paper's bound for 2×m), and 7/24 for 4×4 (ERRATA 2).

    >>> maximum_frustration(2, 3).value
    Fraction(1, 4)
    """
    rows, columns = validation.count(rows, "rows"), validation.count(columns, "columns")
    if rows < 2 or columns < 2:
        raise ValueError(f"a {rows}×{columns} RBM has no loop; use at least 2 rows and 2 columns")
    if (rows - 1) * (columns - 1) > _MOST_FREE_SIGNS:
        raise ValueError(
            f"{rows}×{columns} matrices have 2^{(rows - 1) * (columns - 1)} sign patterns, above "
            f"the limit of 2^{_MOST_FREE_SIGNS}; use fewer rows or columns"
        )
    patterns = _sign_patterns(rows, columns)
    candidates = [_most_frustrated(pattern) for pattern in patterns]
    best = max(candidates, key=lambda weights: _frustration(weights))
    return MaximumFrustration(_frustration(best), best, len(patterns))


def _sign_patterns(rows: int, columns: int) -> list[npt.NDArray[np.int64]]:
    """Return one ±1 matrix per class of matrices that are equal up to permutation and switching.

    Switching makes the first row and column positive; the other signs are the bits of a number.
    After a permutation, switching restores this form, so the generators of the permutations act on
    numbers. Classes are found by following the generators.
    """
    free = (rows - 1) * (columns - 1)
    numbers = np.arange(1 << free, dtype=np.int64)
    shifts = np.arange(free, dtype=np.int64)
    images = [
        _numbers_after(numbers, shifts, rows, columns, axis, place)
        for axis, size in ((0, rows), (1, columns))
        for place in range(size - 1)
    ]
    label = numbers.copy()
    while True:
        lowest = label.copy()
        for image in images:
            np.minimum(lowest, lowest[image], out=lowest)
            np.minimum.at(lowest, image, lowest.copy())
        lowest = lowest[lowest]
        if np.array_equal(lowest, label):
            break
        label = lowest
    return [_matrix(int(k), rows, columns) for k in np.unique(label)]


def _numbers_after(
    numbers: npt.NDArray[np.int64],
    shifts: npt.NDArray[np.int64],
    rows: int,
    columns: int,
    axis: int,
    place: int,
) -> npt.NDArray[np.int64]:
    """Return pattern numbers after two adjacent rows (axis 0) or columns (axis 1) are swapped."""
    bits = np.zeros((len(numbers), rows, columns), dtype=np.int8)
    bits[:, 1:, 1:] = ((numbers[:, None] >> shifts) & 1).reshape(-1, rows - 1, columns - 1)
    swapped = np.arange((rows, columns)[axis])
    swapped[[place, place + 1]] = swapped[[place + 1, place]]
    bits = bits[:, swapped] if axis == 0 else bits[:, :, swapped]
    bits = bits ^ bits[:, :, :1] ^ bits[:, :1, :] ^ bits[:, :1, :1]
    numbers_after: npt.NDArray[np.int64] = (
        bits[:, 1:, 1:].reshape(len(numbers), -1).astype(np.int64) << shifts
    ).sum(axis=1)
    return numbers_after


def _matrix(number: int, rows: int, columns: int) -> npt.NDArray[np.int64]:
    matrix = np.ones((rows, columns), dtype=np.int64)
    bits = (number >> np.arange((rows - 1) * (columns - 1))) & 1
    matrix[1:, 1:] -= 2 * bits.reshape(rows - 1, columns - 1)
    return matrix


def _most_frustrated(signs: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Round an LP optimum to integer weights with the given signs and the largest frustration f."""
    size = signs.size
    # Columns: the magnitudes, then t.
    solver = new_highs([0.0] * size + [-1.0], upper=1.0)
    every = np.arange(size + 1, dtype=np.int32)
    checked(solver.addRow(1.0, 1.0, size, every[:-1], np.ones(size)), "a row")
    for violated in _violated_sets(signs):
        coefficients = np.append(violated.astype(np.float64), -1.0)
        checked(solver.addRow(0.0, np.inf, size + 1, every, coefficients), "a row")
    solve(solver)
    solution = solver.getSolution().col_value[:-1]
    magnitudes = [Fraction(x).limit_denominator(10**4) for x in solution]
    scale = math.lcm(*(m.denominator for m in magnitudes))
    whole = validation.weights([int(m * scale) for m in magnitudes], "magnitudes")
    return np.multiply(signs, whole.reshape(signs.shape))


def _violated_sets(signs: npt.NDArray[np.int64]) -> list[npt.NDArray[np.bool_]]:
    """Return, for each pair of opposite states, a mask of the edges that both violate."""
    rows, columns = signs.shape
    sets = []
    for number in range(1 << (rows + columns - 1)):
        spins = 1 - 2 * ((number >> np.arange(rows + columns)) & 1)
        sets.append(((signs * np.outer(spins[:rows], spins[rows:])) < 0).ravel())
    return sets


def _frustration(weights: npt.NDArray[np.int64]) -> Fraction:
    total = int(np.abs(weights).sum())
    return Fraction(total + ground_state(weights)[0], 2 * total)
