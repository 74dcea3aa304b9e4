"""Compiled arithmetic on arrays of numbers, which are int64 or rows of digits for larger integers.

All digits but the last are from 0 to 2^60 - 1, and the last digit is signed. A number has the same
number of digits as all others, and at least two. The caller has shown that no sum can overflow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import inner

# The bits of a digit. Sums of four digits fit into int64.
DIGIT = 60
MASK = (1 << DIGIT) - 1


@inner
def zeros_like(numbers: Any, length: int) -> Any:
    """Return zeros of the same kind of numbers."""
    if numbers.ndim == 1:
        return np.zeros(length, np.int64)
    return np.zeros((length, numbers.shape[1]), np.int64)


@inner
def clear(numbers: Any, k: int) -> None:
    """Set a number to zero."""
    if numbers.ndim == 1:
        numbers[k] = 0
    else:
        for digit in range(numbers.shape[1]):
            numbers[k, digit] = 0


@inner
def copy(numbers: Any, k: int, others: Any, i: int) -> None:
    """Copy a number."""
    if numbers.ndim == 1:
        numbers[k] = others[i]
    else:
        for digit in range(numbers.shape[1]):
            numbers[k, digit] = others[i, digit]


@inner
def add(numbers: Any, k: int, others: Any, i: int) -> None:
    """Add a number to another."""
    if numbers.ndim == 1:
        numbers[k] += others[i]
    else:
        carry, last = 0, numbers.shape[1] - 1
        for digit in range(last):
            total = numbers[k, digit] + others[i, digit] + carry
            numbers[k, digit], carry = total & MASK, total >> DIGIT
        numbers[k, last] += others[i, last] + carry


@inner
def subtract(numbers: Any, k: int, others: Any, i: int) -> None:
    """Subtract a number from another."""
    if numbers.ndim == 1:
        numbers[k] -= others[i]
    else:
        carry, last = 0, numbers.shape[1] - 1
        for digit in range(last):
            total = numbers[k, digit] - others[i, digit] + carry
            numbers[k, digit], carry = total & MASK, total >> DIGIT
        numbers[k, last] += carry - others[i, last]


@inner
def is_less(numbers: Any, others: Any) -> Any:
    """Return whether the first large integer of one array is less than that of another array."""
    for digit in range(numbers.shape[1] - 1, -1, -1):
        if numbers[0, digit] != others[0, digit]:
            return numbers[0, digit] < others[0, digit]
    return False
