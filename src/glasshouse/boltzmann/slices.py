"""Kernels on tables of many rows, in slices between which signals are handled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems import FloatArray, validation
from glasshouse.stopping import in_slices


def rows_of(kernel: Callable[..., Any], states: npt.NDArray[Any], *rest: Any) -> FloatArray:
    """Return one row of numbers per state; the kernel returns those of some states.

    Args:
        kernel: takes a table of states and `rest`.
        states: one per row.
        rest: further arguments of the kernel.
    """
    table = validation.rows(states)
    found = [kernel(table[:0], *rest)]
    in_slices(lambda first, last: found.append(kernel(table[first:last], *rest)), len(table))
    return np.concatenate(found)


def number_of_each(kernel: Callable[..., Any], states: npt.NDArray[Any], *rest: Any) -> FloatArray:
    """Return one number per state; the kernel writes those of some states into its last argument.

    Args:
        kernel: takes a table of states, `rest`, and an array with a place for each state.
        states: one per row.
        rest: further arguments of the kernel.
    """
    table = validation.rows(states)
    numbers = np.empty(len(table))
    in_slices(lambda first, last: kernel(table[first:last], *rest, numbers[first:last]), len(table))
    return numbers
