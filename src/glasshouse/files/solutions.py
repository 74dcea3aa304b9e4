"""Solutions as solvers print them: v lines, lists of 0 and 1 or ±1, JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.files.plain_json import parse_json
from glasshouse.files.streams import Place, opened
from glasshouse.problems.naming import Labels

# Where programs put the values in an object of JSON; `model` is our own.
_KEYS = ("model", "sample", "state", "solution")
_EXPECTED = "v lines, 0 and 1, +1 and -1, literals such as 1 -2 3, or JSON with a list or a `model`"
_NUMBER = re.compile(r"([+-]?)x?(\d{1,10})(?:\.0*)?")  # 1, -1.0, x7, -x7


def read_solution(
    place: Place, sizes: Sequence[int], labels: Labels | None = None
) -> npt.NDArray[np.int8]:
    """The solution that a file or stream holds, as 0 and 1, one per variable.

    Read are the `v` lines of MaxSAT and pseudo-Boolean solvers (0/1 strings, literals, x1 -x2),
    the text and the JSON of `glasshouse solve`, and plain lists of 0/1 or ±1, as text or as JSON,
    also by name of the variable ({"0": 1, "1": -1}): its label where the problem has labels, else
    its number, counted from 0.

    Args:
        place: where it is.
        sizes: how many variables it may have; the first one that fits is taken.
        labels: what the problem calls its variables.

    Raises:
        FileError: it is something else, or a solution of another size.
    """
    with opened(place) as source:
        text = source.read_all().decode("utf-8", "replace")
        words = _from_json(text, labels) if text.lstrip()[:1] in ("{", "[") else _from_text(text)
        for size in sizes:
            bits = _bits(words, size)
            if bits is not None:
                return bits
        wanted = " or ".join(map(str, dict.fromkeys(sizes)))
        raise source.error(f"holds no solution of {wanted} variables; expected {_EXPECTED}")


def _from_text(text: str) -> list[str]:
    """The words that are values: those of v lines, of our model line, or all."""
    lines = [line.split() for line in text.replace(",", " ").splitlines()]
    lines = [words for words in lines if words]
    for mark in ("v", "model"):
        marked = [words[1:] for words in lines if words[0] == mark]
        if marked:
            return [word for words in marked for word in words]
    return [word for words in lines if words[0] not in ("c", "o", "s", "#") for word in words]


def _from_json(text: str, labels: Labels | None) -> list[str]:
    """The values as words; none where there are no values."""
    value: Any = parse_json(text.encode())
    if isinstance(value, dict):
        value = next((value[key] for key in _KEYS if key in value), value)
    if isinstance(value, dict):
        names = [str(name) for name in (range(len(value)) if labels is None else labels)]
        if sorted(names) != sorted(value):  # also where two labels are spelled alike
            return []
        value = [value[name] for name in names]
    if isinstance(value, str):
        return value.split()
    values = value if isinstance(value, list) else []
    return [str(int(one)) if isinstance(one, bool) else str(one) for one in values]


def _bits(words: list[str], size: int) -> npt.NDArray[np.int8] | None:
    """Words as 0 and 1; None where they are no solution of so many variables."""
    joined = "".join(words)
    if len(joined) == size and set(joined) <= {"0", "1"}:
        return np.array([int(c) for c in joined], dtype=np.int8)
    found = [_NUMBER.fullmatch(word) for word in words]
    if not all(found):
        return None
    numbers = [int(one[1] + one[2]) for one in found if one]
    if len(numbers) == size and (set(numbers) <= {0, 1} or set(numbers) <= {-1, 1}):
        return np.array([number > 0 for number in numbers], dtype=np.int8)
    if numbers and numbers[-1] == 0:
        numbers.pop()
    signs = {abs(number): number > 0 for number in numbers}
    if len(signs) != len(numbers) or set(signs) != set(range(1, size + 1)):
        return None
    return np.array([signs[k] for k in range(1, size + 1)], dtype=np.int8)
