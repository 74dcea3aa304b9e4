"""The values of a machine's units: ±1, or 0 and 1."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glasshouse.problems import validation
from glasshouse.problems.naming import Units as Units
from glasshouse.problems.validation import SpinArray

LOW: dict[Units, int] = {"spin": -1, "binary": 0}


def as_units(values: npt.ArrayLike, width: int, units: Units, name: str) -> SpinArray:
    """States in the values of some units, checked."""
    array = np.asarray(values)
    if array.ndim and array.shape[-1] != width:
        raise ValueError(f"{name} has {array.shape[-1]} columns, but the layer has {width} units")
    return np.ascontiguousarray(validation.states(values, width, (LOW[units], 1), name))
