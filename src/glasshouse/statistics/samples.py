"""Samples that may be censored, and estimates with their intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glasshouse.summaries import Summarised


@dataclass(frozen=True, repr=False)
class Estimate(Summarised):
    """A number and its confidence interval.

    Attributes:
        value: the estimate.
        low: the lower end of the interval.
        high: the upper end of the interval.
        confidence: how often such an interval contains the truth.
    """

    value: float
    low: float
    high: float
    confidence: float

    @property
    def relative_error(self) -> float:
        """The interval's half-width relative to the value; infinite if unbounded or value = 0."""
        if not (math.isfinite(self.value) and math.isfinite(self.high)) or self.value == 0:
            return math.inf
        return (self.high - self.low) / (2 * abs(self.value))

    def __str__(self) -> str:
        if math.isinf(self.value):
            return f"above {self.low:.4g}"
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g})"


@dataclass(frozen=True, eq=False, repr=False)
class Sample(Summarised):
    """A sample of numbers, positive unless `signed`; some may be known only as lower bounds.

    Attributes:
        values: what was counted, for example sweeps.
        solved: False for an instance that was stopped at its value (censored).
        signed: whether values may be negative. A censored value is then not a lower bound: it
            counts unchanged, and `censored` is the number of such values.
    """

    values: npt.NDArray[np.float64]
    solved: npt.NDArray[np.bool_]
    signed: bool = False

    @classmethod
    def of(
        cls, values: npt.ArrayLike, solved: npt.ArrayLike | None = None, *, signed: bool = False
    ) -> Sample:
        """Check the values and the mask, and return a sample; `signed` values may be negative."""
        numbers = np.asarray(values, dtype=np.float64).reshape(-1)
        mask = np.ones(len(numbers), dtype=bool) if solved is None else np.asarray(solved)
        if mask.shape != numbers.shape:
            raise ValueError(f"solved has {mask.size} entries, but there are {len(numbers)} values")
        if not len(numbers):
            raise ValueError("an empty sample has no statistics; measure some instances first")
        good = np.isfinite(numbers) & ((numbers > 0) | signed)
        if not good.all():
            bad = int(np.flatnonzero(~good)[0])
            what = "finite" if signed else "positive and finite"
            raise ValueError(f"values[{bad}]={numbers[bad]} must be {what}")
        return cls(numbers, mask.astype(bool, copy=False), signed)

    @property
    def size(self) -> int:
        """The number of values, including censored ones."""
        return len(self.values)

    @property
    def censored(self) -> int:
        """The number of values that are only lower bounds."""
        return int(self.size - np.count_nonzero(self.solved))

    @property
    def is_cut_at_the_end(self) -> bool:
        """Whether every censored value is at least the largest value of a solved instance."""
        if self.solved.all() or not self.solved.any():
            return True
        return bool(self.values[~self.solved].min() >= self.values[self.solved].max())

    def ascending(self) -> npt.NDArray[np.float64]:
        """Return all values in ascending order, with censored values replaced by infinity."""
        if not self.is_cut_at_the_end:
            raise ValueError(
                f"an instance was stopped after {self.values[~self.solved].min():.0f} sweeps, but "
                f"another took {self.values[self.solved].max():.0f} sweeps to solve, so the sample "
                "cannot be sorted; use survival()"
            )
        return np.sort(np.where(self.solved, self.values, math.inf))
