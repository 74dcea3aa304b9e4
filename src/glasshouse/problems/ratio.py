"""Exact fractions from strings, floats and integers."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np

Ratio: TypeAlias = Fraction | Decimal | str | int | float

# Every float fits. Larger exponents are refused before they are expanded.
_MOST_DIGITS = 450
_MOST_BITS = int(_MOST_DIGITS * 3.33)
_SHORT_DECIMAL = 14
_LARGE_EXPONENT = re.compile(r"[eE][+-]?[\d_]{4}")


def ratio(value: Ratio, name: str) -> Fraction:
    """Convert a number to an exact fraction; a float is read as the decimal that Python prints.

    >>> ratio(0.2, "frustration"), ratio("1/5", "frustration")
    (Fraction(1, 5), Fraction(1, 5))
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(
        value, (str, int, float, Fraction, Decimal, np.integer, np.floating)
    ):
        raise ValueError(f'{name}={value!r} is not a number; use a Fraction, "1/5" or 0.2')
    exact: Fraction | None = None
    if isinstance(value, Fraction):
        exact = value
    elif isinstance(value, (int, np.integer)):
        exact = Fraction(int(value))
    elif len(text := str(value)) <= 2 * _MOST_DIGITS and not _LARGE_EXPONENT.search(text):
        exact = _parsed(text, name)
    if exact is None or max(abs(exact.numerator), exact.denominator).bit_length() > _MOST_BITS:
        raise ValueError(f"{name} has more than {_MOST_DIGITS} digits; use a shorter number")
    return exact


def decimal_text(value: Fraction) -> str:
    """Return a fraction as text: a short decimal such as "0.2" if exact, else "1/3".

    >>> decimal_text(Fraction(1, 5)), decimal_text(Fraction(7)), decimal_text(Fraction(1, 3))
    ('0.2', '7', '1/3')
    """
    short = f"{Decimal(value.numerator) / Decimal(value.denominator):f}"
    is_exact = len(short) <= _SHORT_DECIMAL and Fraction(short) == value
    return short if is_exact else str(value)


@lru_cache(maxsize=256)  # thousands of instances share a few fractions
def _parsed(text: str, name: str) -> Fraction:
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise ValueError(
            f'{name}={text!r} is not a finite fraction; use, for example, "1/5" or 0.2'
        ) from None
