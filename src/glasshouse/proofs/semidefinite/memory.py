"""What a quasi-Newton method remembers of its last steps."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glasshouse.proofs.semidefinite import kernels
from glasshouse.proofs.semidefinite.cuts import FloatArray

_STEPS = 12


class Memory:
    """The last steps: moves, and how much the gradient fell over each.

    They outlive a change of the cuts: what is known of those that stay is still good.

    Args:
        length: how many coordinates there are.
    """

    def __init__(self, length: int) -> None:
        self._moves = np.empty((0, length))
        self._falls = np.empty((0, length))
        self._weights = np.empty(0)

    def __len__(self) -> int:
        return len(self._weights)

    def forget(self) -> None:
        """Forget all steps."""
        self._moves, self._falls = self._moves[:0], self._falls[:0]
        self._weights = self._weights[:0]

    def add(self, move: FloatArray, fall: FloatArray) -> None:
        """Remember one more step, unless the gradient did not fall over it."""
        product = float(move @ fall)
        if product > 0.0:
            first = max(0, len(self) + 1 - _STEPS)
            self._moves = np.concatenate([self._moves[first:], move[None]])
            self._falls = np.concatenate([self._falls[first:], fall[None]])
            self._weights = np.append(self._weights[first:], 1.0 / product)

    def turn(self, slope: FloatArray, scales: FloatArray) -> FloatArray:
        """The slope times the inverse curvature, as far as it is remembered."""
        direction: FloatArray = kernels.turned(
            slope, scales, self._moves, self._falls, self._weights
        )
        return direction

    def steepen(self, factor: float) -> None:
        """Take all falls to be greater by a factor."""
        self._falls = self._falls * factor
        self._weights = self._weights / factor

    def carry_over(self, kept: npt.NDArray[np.bool_], added: int) -> None:
        """Go on with some of the coordinates, and with new ones."""
        padding = ((0, 0), (0, added))
        self._moves = np.pad(self._moves[:, kept], padding)
        self._falls = np.pad(self._falls[:, kept], padding)
        products = np.einsum("ki,ki->k", self._moves, self._falls)
        good = products > 0.0
        self._moves, self._falls = self._moves[good], self._falls[good]
        self._weights = 1.0 / products[good]
