"""Labels: external names of variables, such as the qubits of a chip.

Labels are any hashable values, one for each variable; None stands for the numbers from 0.
Internally, variables are always counted from 0: labels are used only on input and output.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Labels: TypeAlias = tuple[Hashable, ...]
Names: TypeAlias = Iterable[Hashable]
# A state in the order of the variables, or a mapping by label; also a batch, one state per row.
State: TypeAlias = npt.ArrayLike | Mapping[Any, int]
# The values of a variable: ±1, or 0 and 1.
Units: TypeAlias = Literal["spin", "binary"]

# Labels in files are numbers, strings, or tuples of these, such as the coordinates of a qubit.
_DEEPEST = 4
_MOST_VALUES = 1 << 20


def check(labels: Iterable[Any] | None, size: int) -> Labels | None:
    """Check that each variable has its own label; return None if the labels are 0 to size - 1."""
    if labels is None:
        return None
    names = tuple(name.item() if isinstance(name, np.generic) else name for name in labels)
    if len(names) != size:
        raise ValueError(f"{len(names)} labels but {size} variables; pass one label per variable")
    try:
        number = _different(names)
    except TypeError:
        raise ValueError("a label is not hashable; use numbers, strings or tuples") from None
    if number != size:
        raise ValueError(f"only {number} of {size} labels are distinct; remove duplicates")
    return None if names == tuple(range(size)) else names


def _different(names: Labels) -> int:
    """Return the number of distinct labels.

    An untrusted file can choose numbers that all have one hash; a set of them takes quadratic time.
    The hashes of texts cannot be predicted.
    """
    if len({hash(name) for name in names}) == len(names):
        return len(names)
    return len(set(map(_text, names) if all(map(_is_plain, names)) else names))


def _text(name: Any) -> str:
    """Return a string that is the same for equal labels, such as 1 and 1.0."""
    if isinstance(name, tuple):
        return f"({','.join(map(_text, name))})"
    if isinstance(name, str):
        return repr(name)
    above, below = name.as_integer_ratio()
    return f"{above:x}/{below:x}"


def sample_of(
    state: npt.NDArray[np.int8], labels: Labels | None, units: Units | None = None
) -> dict[Any, int]:
    """Return a state as a mapping from label to value; by default, in its own units.

    >>> sample_of(np.array([1, -1], dtype=np.int8), ("a", "b"), "binary")
    {'a': 1, 'b': 0}
    """
    if units not in (None, "spin", "binary"):
        raise ValueError(f"units={units!r} is neither 'spin' nor 'binary'")
    if units is not None:
        state = np.where(state > 0, 1, -1 if units == "spin" else 0)
    return dict(zip(range(len(state)) if labels is None else labels, state.tolist(), strict=True))


def in_order(state: State, labels: Labels | None, size: int) -> npt.ArrayLike:
    """Convert a mapping by label to a list in variable order; return any other state unchanged.

    >>> in_order({"b": -1, "a": 1}, ("a", "b"), 2)
    [1, -1]
    >>> in_order({"b": -1}, ("a", "b"), 2)
    Traceback (most recent call last):
    ...
    ValueError: the state has no value for 'a', one of 2 variables
    """
    if not isinstance(state, Mapping):
        return state
    names = range(size) if labels is None else labels
    for name in names:
        if name not in state:
            raise ValueError(f"the state has no value for {name!r:.40}, one of {size} variables")
    if len(state) > size:
        strange = next(name for name in state if name not in names)
        raise ValueError(f"the state has a value for {strange!r:.40}, which is not a variable")
    return [state[name] for name in names]


class Sampled:
    """Mixin for results that list states; `sample` returns a state as a mapping by label."""

    states: npt.NDArray[np.int8]
    labels: Labels | None

    def sample(self, number: int = 0, *, units: Units | None = None) -> dict[Any, int]:
        """Return one of the states as a mapping from label to value.

        Args:
            number: the index of the state in the list.
            units: "spin" for ±1, "binary" for 0 and 1; the problem's own by default.
        """
        return sample_of(self.states[number], self.labels, units)


def are_indices(labels: Labels | None, most: int) -> bool:
    """Return whether all labels are integers from 0 to `most`, so that they can be indices."""
    return labels is None or all(type(name) is int and 0 <= name <= most for name in labels)


def to_json(labels: Labels) -> str:
    """Return labels as one line of ASCII text; raise for labels that files cannot store.

    >>> to_json(("a", 3, (0, 1)))
    '["a",3,[0,1]]'
    """
    refuse_odd(labels)
    return json.dumps(labels, separators=(",", ":"))


def refuse_odd(labels: Labels | None) -> None:
    """Raise a ValueError if a file cannot store one of the labels."""
    for name in labels or ():
        if not _is_plain(name):
            raise ValueError(
                f"label {name!r:.40} cannot be written to a file; use numbers, strings or tuples "
                "of them, or remove all labels with dataclasses.replace(problem, labels=None)"
            )


def from_json(text: bytes, size: int) -> Labels | None:
    """Parse labels from a text that `to_json` has written.

    Raises:
        ValueError: the text is not a list of labels for `size` variables.
    """
    if text.count(b",") + text.count(b"[") > max(_MOST_VALUES, 16 * size):
        raise ValueError("the list of labels contains too many values")
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("the text is not a list of labels") from None
    return from_list(values, size)


def from_list(values: Any, size: int) -> Labels | None:
    """Convert parsed JSON to labels; lists become tuples."""
    names = [_frozen(value) for value in values] if isinstance(values, list) else [None]
    if not all(map(_is_plain, names)):
        raise ValueError("the value is not a list of labels")
    return check(names, size)


def is_plain(labels: Labels | None) -> bool:
    """Return whether files and recipes can store all labels."""
    return labels is None or all(map(_is_plain, labels))


def _is_plain(name: object, depth: int = 0) -> bool:
    if isinstance(name, tuple):
        return depth < _DEEPEST and all(_is_plain(part, depth + 1) for part in name)
    if type(name) is float:
        return name - name == 0  # neither infinite nor NaN
    return type(name) in (int, str)


def _frozen(value: Any, depth: int = 0) -> Any:
    if isinstance(value, list) and depth < _DEEPEST:
        return tuple(_frozen(part, depth + 1) for part in value)
    return value
