"""Summaries of results: the method `summary()`, a one-line repr, and a table for notebooks.

The table is HTML without its own colours, fonts, scripts, style sheets or addresses, so that it is
readable in dark and in light notebooks. All texts may come from untrusted files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

Row: TypeAlias = tuple[str, ...]

_LONGEST_LINE, _LONGEST_TEXT, _MOST_ITEMS = 100, 40, 3
# The most characters of a cell, and the most rows and columns of a table.
_LONGEST_CELL, _MOST_ROWS, _MOST_COLUMNS = 250, 40, 20
_LEFT = ' style="text-align:left"'  # because notebooks align numbers and texts to the right


class Summarised:
    """The base class of all results, with a summary, a one-line repr and a notebook table.

    `summary()` returns `__str__` if the class defines it, otherwise its own repr, otherwise one
    line per field. The repr names the fields, as a dataclass does, but abbreviates arrays.
    Notebooks show the same text in a table. A subclass may override any part.
    """

    def summary(self) -> Any:
        """Return a human-readable summary: a string, or an object that prints as text.

        >>> from glasshouse.problems import Ising
        >>> Ising.from_edges(2, [(0, 1)], [3]).summary()
        '2 spins, 1 edges, integer weights 3 to 3'
        """
        kind = type(self)
        if kind.__str__ is not object.__str__:
            return str(self)
        if kind.__repr__ is not Summarised.__repr__:
            return repr(self).removeprefix(f"{kind.__name__}(").removesuffix(")")
        rows = _field_rows(self)
        width = max((len(name) for name, _ in rows), default=0)
        return "\n".join(f"{name:<{width}}  {text}".rstrip() for name, text in rows)

    def _summary_table(self) -> SummaryTable:
        """Return the summary as a table for notebooks."""
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


def _field_rows(record: Any) -> list[tuple[str, str]]:
    return [(name.replace("_", " "), _words(value)) for name, value in _fields(record).items()]


def _fields(record: Any) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record) if field.repr}


def _words(value: Any) -> str:
    """Return a value as one line of text of at most 100 characters."""
    return _cut(value, _LONGEST_LINE) if isinstance(value, str) else short(value, _LONGEST_LINE)


def short(value: Any, longest: int = _LONGEST_TEXT) -> str:
    """Return a value as text of at most `longest` characters.

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


@dataclass(frozen=True)
class SummaryTable:
    """The cells of a summary table, and the sentences above and below the table.

    Attributes:
        rows: the rows; each is a name and its values, or a single cell with a sentence.
        head: the names of the columns; may be empty.
        above: sentences before the table.
        below: sentences after the table.
    """

    rows: Sequence[Row] = ()
    head: Row = ()
    above: Sequence[str] = ()
    below: Sequence[str] = ()


def html_of(title: str, table: SummaryTable) -> str:
    """Return a summary as an HTML table of bounded size, in which all texts are escaped.

    >>> print(html_of("Verdict", SummaryTable([("bound", "<-3>")])))
    <div>
    <table style="text-align:left">
    <caption style="text-align:left"><strong>Verdict</strong></caption>
    <tbody>
    <tr><th scope="row" style="text-align:left">bound</th><td style="text-align:left">&lt;-3&gt;</td></tr>
    </tbody>
    </table>
    </div>
    """  # noqa: E501
    name = f"<strong>{_shown(title)}</strong>"
    caption = "<br/>".join([name, *(_shown(line) for line in _few(table.above))])
    width = max(map(len, [table.head, *table.rows]))
    if not table.rows:
        parts = [f"<p>{caption}</p>"]
    else:
        cells = table.head[:_MOST_COLUMNS]
        head = "".join(f'<th scope="col"{_LEFT}>{_shown(cell)}</th>' for cell in cells)
        parts = [
            f"<table{_LEFT}>",
            f"<caption{_LEFT}>{caption}</caption>",
            *([f"<thead><tr>{head}</tr></thead>"] if head else []),
            "<tbody>",
            *(_row(row, min(width, _MOST_COLUMNS)) for row in table.rows[:_MOST_ROWS]),
            "</tbody>",
            "</table>",
        ]
    left = {"rows": len(table.rows) - _MOST_ROWS, "columns": width - _MOST_COLUMNS}
    below = [f"… and {count} more {what}" for what, count in left.items() if count > 0]
    parts += [f"<p>{_shown(line)}</p>" for line in [*below, *_few(table.below)]]
    return "\n".join(["<div>", *parts, "</div>"])


def _row(row: Row, width: int) -> str:
    """Return an HTML table row: a name and its values, or one sentence across all columns."""
    if len(row) == 1:
        return f'<tr><td colspan="{width}"{_LEFT}>{_shown(row[0])}</td></tr>'
    name, *values = row[:width]
    cells = "".join(f"<td{_LEFT}>{_shown(value)}</td>" for value in values)
    return f'<tr><th scope="row"{_LEFT}>{_shown(name)}</th>{cells}</tr>'


def _few(lines: Sequence[str]) -> Iterable[str]:
    """Return the first 40 lines; if there are more, append a note with the number omitted."""
    left = len(lines) - _MOST_ROWS
    return [*lines[:_MOST_ROWS], *([f"… and {left} more lines"] if left > 0 else [])]


def _shown(text: str) -> str:
    """Shorten a string, and escape the HTML, control and bidirectional characters in it."""
    cut = text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"
    return escape("".join(c if c.isprintable() else ascii(c)[1:-1] for c in cut))
