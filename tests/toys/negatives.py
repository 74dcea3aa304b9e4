"""A quantity of a study: the number of negative couplings of an instance, plus one."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from glasshouse.store.row_types import Column, Kind
from glasshouse.studies.quantities.quantity import study_kind

NEGATIVES = Kind("negatives", (Column("couplings", "integer", "negative ones, plus one"),))


@study_kind(NEGATIVES, value="couplings", symbol="negative couplings")
def measure(task: Any, first: int, count: int) -> dict[str, np.ndarray]:
    """Grow the instances, and count their negative couplings."""
    begin = time.perf_counter()
    weights = [task.grow(first + k).ising.weights for k in range(count)]
    found = np.array([1 + (w < 0).sum() for w in weights], dtype=np.int64)
    return {"couplings": found, "seconds": np.full(count, (time.perf_counter() - begin) / count)}
