"""The parts of a report page as data: sections of facts, figures, tables and listings."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np

from glasshouse.charts import Chart, Column, vega_chart
from glasshouse.store.store import Store

# How a fact is known. "verified": proven by a check while the page was made. "refuted": found to be
# false by such a check. "stated": a file or caller states it, and it is not checked here. "read":
# follows directly from the content of the file.
Trust: TypeAlias = Literal["verified", "refuted", "stated", "read"]
Cell: TypeAlias = str | int | float | bool | None
# Figures and tables have at most this many rows.
MOST_POINTS, MOST_ROWS = 4000, 4000
LONGEST_CELL = 500


@dataclass(frozen=True)
class Fact:
    """A fact in a section: its name, its value, and how the value is known."""

    name: str
    value: str
    trust: Trust = "read"


@dataclass(frozen=True)
class Table:
    """A table in a section, whose rows a reader can sort and filter.

    Attributes:
        title: the title of the table.
        columns: the head of the table.
        rows: cells in the order of the columns.
        note: what was left out or added up, if anything.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


@dataclass(frozen=True)
class Control:
    """A switch or a menu next to a chart, which sets a parameter of the chart.

    Attributes:
        signal: the parameter of the chart that the control sets.
        label: a human-readable label.
        options: values and their names; empty for a switch.
    """

    signal: str
    label: str
    options: Sequence[tuple[int, str]] = ()


@dataclass(frozen=True)
class Figure:
    """A figure in a section: a chart, and a table of the numbers that it shows.

    Attributes:
        title: the title of the figure.
        text: how to read the figure, and what was left out; also for readers who cannot see it.
        spec: a Vega-Lite specification whose data are named "rows".
        data: the rows with the name "rows".
        others: further rows of the chart, by name.
        controls: the controls that a reader can change.
    """

    title: str
    text: str
    spec: Mapping[str, Any]
    data: Table
    others: Mapping[str, Table] = field(default_factory=dict)
    controls: Sequence[Control] = ()


@dataclass(frozen=True)
class Listing:
    """A text that the reader can copy, such as a command."""

    title: str
    text: str
    is_open: bool = True


Part: TypeAlias = Figure | Table | Listing


@dataclass(frozen=True)
class Section:
    """One section of a report, about one file, proof or result.

    Attributes:
        title: the name of the file.
        kind: the kind of file, in a few words.
        lead: the main message, in one or two sentences.
        facts: names and values.
        parts: figures, tables and listings.
        refuted: a false statement of the file; empty if there is none.
        result: the main result, for the head of the page; None if nothing is known.
    """

    title: str
    kind: str
    lead: str
    facts: Sequence[Fact]
    parts: Sequence[Part]
    refuted: str = ""
    result: Fact | None = None


def text(name: str, label: str | None = None) -> Column:
    """Return a table column that contains text."""
    return Column(name, label or name.replace("_", " "))


def number(name: str, label: str | None = None) -> Column:
    """Return a table column that contains numbers."""
    return Column(name, label or name.replace("_", " "), True)


def command(*words: str) -> str:
    """Return a glasshouse command line in which all words are quoted for a shell.

    >>> command("check", "a;b.wcnf")
    "glasshouse check 'a;b.wcnf'"
    """
    return shlex.join(["glasshouse", *words])


def shown(text: str) -> str:
    r"""Escape unprintable and bidirectional characters of a text; keep newlines and tabs.

    >>> shown("a\u202eb\0")
    'a\\u202eb\\x00'
    """
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, in the singular or plural.

    >>> counted(1, "row"), counted(1764, "row")
    ('1 row', '1,764 rows')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def typeset(words: str) -> str:
    """Format the numbers in a text: group the thousands, and use true minus signs.

    >>> typeset("-54162 to 12 (1764 loops)"), typeset("0.12345, -1/3")
    ('−54,162 to 12 (1,764 loops)', '0.12345, −1/3')
    """
    grouped = re.sub(r"(?<![\w.,])\d{4,60}(?!\w)", lambda found: f"{int(found[0]):,}", words)
    return re.sub(r"(?<![^\s(\[])-(?=[\d.])", "−", grouped)


def plain(value: Any) -> Cell:
    """Convert a value for JSON; fractions, large integers and infinity become text.

    >>> plain(Fraction(1, 5)), plain(np.float64("nan")), plain(-math.inf), plain(10**20)
    ('1/5', None, '−∞', '100000000000000000000')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return shown(value if len(value) <= LONGEST_CELL else value[: LONGEST_CELL - 1] + "…")
    if isinstance(value, Fraction):
        return plain(value.numerator) if value.denominator == 1 else str(value)
    if isinstance(value, int):
        return value if abs(value) < 1 << 53 else str(value)
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return value if math.isfinite(value) else ("∞" if value > 0 else "−∞")
    return str(value)


def cut(rows: Iterable[Sequence[Any]], most: int = MOST_ROWS) -> tuple[list[list[Cell]], int]:
    """Return the first `most` rows as plain values, and the total number of rows."""
    kept: list[list[Cell]] = []
    count = 0
    for row in rows:
        if count < most:
            kept.append([plain(value) for value in row])
        count += 1
    return kept, count


def charted(chart: Chart, height: int = 320) -> Figure:
    """Convert a chart to a figure on the page, with fewer points if the chart has too many."""
    spec, columns, rows, count = vega_chart(chart, MOST_POINTS, height)
    note = (
        f" Of {count:,} points, {len(rows):,} are drawn, evenly spaced."
        if len(rows) < count
        else ""
    )
    data = Table("", columns, cut(rows, 2 * MOST_POINTS)[0])
    return Figure(chart.title, chart.text + note, spec, data)


def versions_of(store: Store) -> str:
    """Return a text with the versions of glasshouse that measured the rows of a store."""
    found = sorted({version for one in store.status() for version in one.versions})
    return ", ".join(version[:60] for version in found) or "nothing measured yet"


def seen_seconds(seconds: float) -> str:
    """Format a duration as text in seconds, minutes or hours.

    >>> seen_seconds(0.2), seen_seconds(7384)
    ('0.2 s', '2 h 3 min')
    """
    if seconds < 120:
        return f"{seconds:.3g} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours:,} h {minutes} min" if hours else f"{minutes} min"
