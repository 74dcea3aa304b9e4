"""Argument checks shared by all problems, with uniform messages.

Weights are exact: int64 arrays, or float64 arrays if a user's numbers have decimals. Energies of
integer problems are integers that never overflow, because `total_magnitude` is checked against
int64 when a problem is created. Energies of float problems never overflow either, because it is
checked against `MOST_FLOAT`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
WeightArray: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.float64]
SpinArray: TypeAlias = npt.NDArray[np.int8]
Number: TypeAlias = int | float

INT64_MAX = 2**63 - 1
# Variables are counted by 32-bit indices, which halve the memory of large graphs.
MOST_VARIABLES = 2**31 - 1
# The limit on the sum of magnitudes of a float problem. The range up to the largest float, 2^1024,
# is left for solvers, whose local fields and energy differences are a few times larger.
MOST_FLOAT = 2.0**1020
# Above this limit, some integers have no float64.
_EXACT_IN_FLOATS = 2**53
# Kernels multiply β by a little more than 2, and infinity times a local field of 0 is NaN.
MOST_BETA = 1e307
# Thirty years, in seconds; timers and third-party solvers do not accept much more.
_LONGEST = 1e9


def count(value: object, name: str, least: int = 0) -> int:
    """Return an integer argument as a Python int; raise if it is below `least`."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name}={value!r} is not an integer")
    if value < least:
        raise ValueError(f"{name}={value} is below {least}, the minimum")
    return int(value)


def size(value: object, name: str) -> int:
    """Return a problem's number of variables as a Python int; raise if it is invalid."""
    number = count(value, name)
    if number > MOST_VARIABLES:
        raise ValueError(f"{name}={number} is above {MOST_VARIABLES}, the largest number allowed")
    return number


def time_limit(value: Any) -> float | None:
    """Return a time limit in seconds, or None for no limit (if `value` is None or infinite).

    >>> time_limit(3), time_limit(math.inf), time_limit(None)
    (3.0, None, None)
    >>> time_limit(0)
    Traceback (most recent call last):
        ...
    ValueError: time_limit=0 is not a positive number of seconds; None sets no limit
    """
    if value is None:
        return None
    if not is_real(value) or not value > 0:  # NaN fails this comparison, too
        raise ValueError(
            f"time_limit={value!r} is not a positive number of seconds; None sets no limit"
        )
    return None if value == math.inf else float(min(value, _LONGEST))


def target(value: Any) -> Any:
    """Return a target energy, or None if there is no target; integers stay exact."""
    if value is None:
        return None
    if not is_real(value) or value != value:
        raise ValueError(f"target={value!r} is not an energy; expected a number or None")
    return value.item() if isinstance(value, np.generic) else value


def is_real(value: object) -> bool:
    """Return whether an object is a Python or NumPy real number; booleans do not count."""
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def share(value: Any, name: str) -> float:
    """Return a number as a float; raise unless it is strictly between 0 and 1."""
    if not is_real(value) or not 0 < value < 1:
        raise ValueError(f"{name}={value} must be above 0 and below 1")
    return float(value)


def inverse_temperatures(beta: Any) -> FloatArray:
    """Return one or more β as an array; raise unless all are from 0 to `MOST_BETA`.

    Two numbers always mean the first and the last of a range.
    """
    values = np.asarray(beta) if isinstance(beta, (list, tuple, np.ndarray)) else np.empty(0)
    if values.dtype.kind not in "iuf" or values.ndim != 1 or not values.size:
        raise ValueError(
            f"beta={beta!r:.60} is not a list of numbers; pass (first, last), or a list of all β"
        )
    values = values.astype(np.float64)
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(f"beta={beta!r:.60} must be finite and not negative")
    if (values > MOST_BETA).any():
        raise ValueError(f"beta={values.max()} is above {MOST_BETA}, the largest value supported")
    return values


def weights(values: npt.ArrayLike, name: str) -> WeightArray:
    """Return weights as a flat, read-only int64 or float64 array; raise if one is not finite."""
    array = as_array(values, name)
    if array.size == 0 and not isinstance(values, np.ndarray):
        array = array.astype(np.int64)  # an empty list does not make the problem a float problem
    if array.dtype == object:
        array = _exact_object_array(array, name)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be integers or floats, not {array.dtype}")
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, not of shape {array.shape}")
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):  # a wider float may become inf, which is refused below
            array = array.astype(np.float64, copy=False)
        if not np.isfinite(array).all():
            bad = int(np.flatnonzero(~np.isfinite(array))[0])
            raise ValueError(f"{name}[{bad}] is {array[bad]}, but weights must be finite")
    else:
        if array.dtype == np.uint64 and array.size and int(array.max()) > INT64_MAX:
            raise ValueError(f"{name} contains {array.max()}; magnitudes must be at most 2^63-1")
        array = array.astype(np.int64, copy=False)
        if array.size and int(array.min()) == -(2**63):
            raise ValueError(f"{name} contains -2^63; magnitudes must be at most 2^63-1")
    return read_only(array)


def _exact_object_array(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """Convert an array of Python integers to int64; raise if one of them does not fit."""
    if all(isinstance(x, int) and not isinstance(x, bool) for x in array.flat):
        worst = max(array.flat, key=abs, default=0)
        if abs(worst) > INT64_MAX:
            raise ValueError(
                f"{name} contains {worst}; magnitudes must be at most 2^63-1; "
                "divide all weights by a common factor"
            )
        return array.astype(np.int64)
    raise ValueError(f"{name} must be integers or floats, not {array.dtype}")


def as_array(values: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
    """Convert values to an array; raise if NumPy would round an integer to a float.

    >>> as_array([2**63, 5], "weights")
    Traceback (most recent call last):
        ...
    ValueError: weights contains 9223372036854775808; magnitudes must be at most 2^63-1
    """
    array = np.asarray(values)
    if array.dtype.kind == "f" and not isinstance(values, np.ndarray):
        for number in np.array(values, dtype=object).flat:
            if isinstance(number, (int, np.integer)) and abs(int(number)) > _EXACT_IN_FLOATS:
                _refuse_unless_exact(int(number), name)
    return array


def _refuse_unless_exact(number: int, name: str) -> None:
    if abs(number) > INT64_MAX:
        raise ValueError(f"{name} contains {number}; magnitudes must be at most 2^63-1")
    if int(float(number)) != number:
        raise ValueError(
            f"{name} contains {number}, which a float cannot hold exactly, but other "
            f"numbers are floats; use integers only, or round {number}"
        )


def same_kind(*arrays: WeightArray) -> list[WeightArray]:
    """Convert all arrays to float64 unless all are int64; raise if an integer would be rounded.

    >>> same_kind(np.array([2**53 + 1]), np.array([0.5]))
    Traceback (most recent call last):
        ...
    ValueError: an array of integers contains 9007199254740993, which a float cannot hold exactly,
    but other numbers are floats; use integers only, or round 9007199254740993
    """
    if all(array.dtype == np.int64 for array in arrays):
        return list(arrays)
    for array in arrays:
        if array.dtype == np.int64:
            for number in array[np.abs(array) > _EXACT_IN_FLOATS].tolist():
                _refuse_unless_exact(number, "an array of integers")
    return [read_only(array.astype(np.float64, copy=False)) for array in arrays]


def offset(value: object, exact: bool) -> Number:
    """Return the constant term: an int in an integer problem, otherwise a finite float."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(
        value, (int, float, np.integer, np.floating)
    ):
        raise ValueError(f"offset={value!r} is not a number")
    if isinstance(value, (int, np.integer)):
        if exact:
            return int(value)
        if abs(int(value)) > MOST_FLOAT:
            raise ValueError(
                f"offset={value} is above {MOST_FLOAT:.3g}, the largest offset for float weights"
            )
        return float(value)
    if not math.isfinite(value):
        raise ValueError(f"offset={value} must be finite")
    if exact and value == int(value):
        return int(value)
    if exact:
        raise ValueError(
            f"offset={value} is not an integer, but the weights are integers; use float weights"
        )
    return float(value)


def total_magnitude(arrays: Iterable[WeightArray], constant: Number, name: str) -> Number:
    """Return the sum of all magnitudes; raise if it overflows when the constant is added.

    The sum is an int for integers, limited to 2^63-1, and a float for floats, below `MOST_FLOAT`.
    """
    arrays = list(arrays)
    if any(array.dtype != np.int64 for array in arrays):
        reals = float_magnitude(arrays)
        if (most := reals + abs(constant)) > MOST_FLOAT:
            much = f"{most:.3g}" if math.isfinite(most) else "more than a float can hold"
            raise ValueError(
                f"the magnitudes of {name} add up to {much}, above {MOST_FLOAT:.3g}, the limit "
                "that prevents overflow; divide all of them by a common factor"
            )
        return reals
    total = 0
    for array in arrays:
        magnitudes = np.abs(array)
        # An int64 sum is exact if the float sum is well below 2^63.
        if float(magnitudes.sum(dtype=np.float64)) < 2.0**62:
            total += int(magnitudes.sum())
        else:
            total += sum(map(int, magnitudes))
    if (whole := total + int(abs(constant))) > INT64_MAX:
        raise ValueError(
            f"the magnitudes of {name} add up to {whole}, above 2^63-1, the limit for exact "
            "energies; divide the weights by a common factor, or use floats"
        )
    return total


def float_magnitude(arrays: Iterable[npt.NDArray[Any]]) -> float:
    """Return the sum of all magnitudes as a float; infinite if it exceeds the largest float."""
    with np.errstate(over="ignore"):
        return float(sum(float(np.abs(array).sum(dtype=np.float64)) for array in arrays))


def states(values: npt.ArrayLike, width: int, allowed: tuple[int, int], name: str) -> SpinArray:
    """Check one state or a batch of states (last axis = variables), and return it as int8."""
    if isinstance(values, Mapping):
        raise ValueError(
            f"{name} is a mapping; pass a list of its values in the order of problem.labels"
        )
    array = np.asarray(values)
    if array.dtype == np.bool_ and allowed == (0, 1):
        array = array.astype(np.int8)
    if array.ndim == 0 or array.shape[-1] != width:
        raise ValueError(f"{name} has shape {array.shape}, but the problem has {width} variables")
    low, high = allowed
    if array.dtype.kind not in "iuf" or not ((array == low) | (array == high)).all():
        raise ValueError(f"{name} must contain only {low} and {high}")
    return array.astype(np.int8, copy=False)


def rows(states: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return one state or a batch as a table with one row per state, even if rows are empty."""
    return states.reshape(math.prod(states.shape[:-1]), states.shape[-1])


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a C-contiguous, read-only array; copy it if its memory is writable elsewhere."""
    locked = np.ascontiguousarray(array)
    if is_writable(locked):
        locked = locked.copy()
    locked.flags.writeable = False
    return locked


def is_writable(array: npt.NDArray[Any]) -> bool:
    """Return whether an array's memory can be written, through it or through an array it views."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return True
        array = array.base  # type: ignore[assignment]
    return array is not None


def shown(value: Any) -> str:
    """Return a number as text for a message; integers of more than 40 digits are rounded.

    >>> shown(7), shown(Fraction(-1, 3)), shown(-(10**50))
    ('7', '-1/3', 'about -10^50.0')
    """
    if isinstance(value, Fraction):
        below = f"/{shown(value.denominator)}" if value.denominator > 1 else ""
        return shown(value.numerator) + below
    if isinstance(value, int) and abs(value) >= 10**40:
        return f"about {'-' * (value < 0)}10^{math.log10(abs(value)):.1f}"
    return str(value)


def describe(values: WeightArray) -> str:
    """Return the type and range of weights as text, for a repr."""
    kind = "integer" if values.dtype == np.int64 else "float"
    if not values.size:
        return f"{kind} weights"
    return f"{kind} weights {values.min()} to {values.max()}"
