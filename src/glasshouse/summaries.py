"""What people see of a result: `summary()`, a repr of one short line, a table in notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from glasshouse.notebook import SummaryTable, html_of

_LONGEST_LINE, _LONGEST_TEXT, _MOST_ITEMS = 100, 40, 3


class Summarised:
    """A base of all results; a class that has better words says them itself.

    `summary()` is what `__str__` says, else the words of a repr of the class's own, else one line
    per field. The repr names the fields, as a dataclass does, but spells out no arrays. Notebooks
    show the same words in a table.
    """

    def summary(self) -> Any:
        """What it holds, for people: a text, or what prints as one.

        >>> from glasshouse.problems import Ising
        >>> Ising.from_edges(2, [(0, 1)], [3]).summary()
        '2 spins, 1 edges, integer weights 3 to 3'
        """
        kind = type(self)
        if kind.__str__ is not object.__str__:
            return str(self)
        if kind.__repr__ is not Summarised.__repr__:
            return repr(self).removeprefix(f"{kind.__name__}(").removesuffix(")")
        return _aligned(_field_rows(self))

    def _summary_table(self) -> SummaryTable:
        """What `summary()` says, cell by cell; a class whose summary has columns says which."""
        kind = type(self)
        has_words = kind.summary is not Summarised.summary
        has_words = has_words or kind.__str__ is not object.__str__
        if has_words or kind.__repr__ is not Summarised.__repr__:
            return SummaryTable(above=str(self.summary()).splitlines())
        return SummaryTable(_field_rows(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({_cut(_joined(_fields(self)), _LONGEST_LINE)})"

    def _repr_html_(self) -> str:
        return html_of(type(self).__name__, self._summary_table())


def _aligned(rows: list[tuple[str, str]]) -> str:
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join(f"{name:<{width}}  {text}".rstrip() for name, text in rows)


def _field_rows(record: Any) -> list[tuple[str, str]]:
    return [(name.replace("_", " "), _words(value)) for name, value in _fields(record).items()]


def _fields(record: Any) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record) if field.repr}


def _words(value: Any) -> str:
    """A value on a line of its own."""
    return _cut(value, _LONGEST_LINE) if isinstance(value, str) else short(value, _LONGEST_LINE)


def short(value: Any, longest: int = _LONGEST_TEXT) -> str:
    """A value in a few characters.

    >>> short(np.zeros((3, 4))), short([1, 0.1 + 0.2]), short(list(range(100)))
    ('<3×4 float64>', '[1, 0.3]', '<100 items>')
    """
    if isinstance(value, np.ndarray):
        return f"<{'×'.join(map(str, value.shape))} {value.dtype}>"
    if isinstance(value, (list, tuple)) and len(value) <= _MOST_ITEMS:
        inside = ", ".join(map(short, value)) + "," * (isinstance(value, tuple) and len(value) == 1)
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    if isinstance(value, (list, tuple, set, frozenset)):
        return f"<{len(value)} items>"
    if isinstance(value, Mapping):
        return "{" + _cut(_joined({str(name): part for name, part in value.items()}), longest) + "}"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return repr(float(f"{value:.6g}"))
    is_plain = isinstance(value, (Fraction, Path, Summarised))
    return _cut(str(value) if is_plain else repr(value), longest)


def _joined(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={short(value)}" for name, value in values.items())


def _cut(text: str, longest: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"
