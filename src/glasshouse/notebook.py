"""How a summary looks in a notebook: one small HTML table, whatever it is a summary of.

It has no colours and no fonts of its own, so that it is read in dark and in light notebooks alike;
no script, no style sheet and no address. Whatever text it holds, a file may have brought it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeAlias

Row: TypeAlias = tuple[str, ...]

# Of a cell, characters; of a table, rows and columns. More is in the result itself.
_LONGEST_CELL, _MOST_ROWS, _MOST_COLUMNS = 250, 40, 20
_LEFT = ' style="text-align:left"'  # notebooks set numbers and texts to the right otherwise


@dataclass(frozen=True)
class SummaryTable:
    """What a summary says, cell by cell.

    Attributes:
        rows: each a name and its values; one cell alone is a sentence.
        head: what the columns are, or nothing.
        above: sentences before the table.
        below: sentences after it.
    """

    rows: Sequence[Row] = ()
    head: Row = ()
    above: Sequence[str] = ()
    below: Sequence[str] = ()


def html_of(title: str, table: SummaryTable) -> str:
    """A summary as HTML, of bounded size; all texts are escaped.

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
    """A name and its values; a sentence runs over all columns."""
    if len(row) == 1:
        return f'<tr><td colspan="{width}"{_LEFT}>{_shown(row[0])}</td></tr>'
    name, *values = row[:width]
    cells = "".join(f"<td{_LEFT}>{_shown(value)}</td>" for value in values)
    return f'<tr><th scope="row"{_LEFT}>{_shown(name)}</th>{cells}</tr>'


def _few(lines: Sequence[str]) -> Iterable[str]:
    """As many sentences as a table may have rows."""
    left = len(lines) - _MOST_ROWS
    return [*lines[:_MOST_ROWS], *([f"… and {left} more lines"] if left > 0 else [])]


def _shown(text: str) -> str:
    """A text of bounded length that is nothing but text, and turns none around it."""
    cut = text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"
    return escape("".join(c if c.isprintable() else ascii(c)[1:-1] for c in cut))
