"""The parts of a report page: sections of facts, figures and tables, with no HTML yet."""

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

# How a fact is known. "verified": proven while the page was made, by its own check. "refuted":
# found to be false meanwhile. "stated": somebody wrote it down, and nobody checked it here. "read":
# follows from what is in the file, as it stands.
Trust: TypeAlias = Literal["verified", "refuted", "stated", "read"]
Cell: TypeAlias = str | int | float | bool | None
# Figures and tables have no more rows than these, whatever they were made from.
MOST_POINTS, MOST_ROWS = 4000, 4000
LONGEST_CELL = 500


@dataclass(frozen=True)
class Fact:
    """A name, a value, and how it is known."""

    name: str
    value: str
    trust: Trust = "read"


@dataclass(frozen=True)
class Table:
    """Rows that can be sorted and filtered.

    Attributes:
        title: what it lists.
        columns: its head.
        rows: cells in the order of the columns.
        note: what was left out or added up, if anything.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


@dataclass(frozen=True)
class Control:
    """A switch or a choice beside a chart.

    Attributes:
        signal: the parameter of the chart that it sets.
        label: for people.
        options: values and their names; none for a switch.
    """

    signal: str
    label: str
    options: Sequence[tuple[int, str]] = ()


@dataclass(frozen=True)
class Figure:
    """A chart, and the numbers that it shows.

    Attributes:
        title: what it shows.
        text: how to read it, and what was left out; also for those who do not see it.
        spec: a Vega-Lite specification whose data are named "rows".
        data: these rows.
        others: further rows of the chart by name.
        controls: what a reader can change.
    """

    title: str
    text: str
    spec: Mapping[str, Any]
    data: Table
    others: Mapping[str, Table] = field(default_factory=dict)
    controls: Sequence[Control] = ()


@dataclass(frozen=True)
class Listing:
    """Text that is to be copied, such as a command."""

    title: str
    text: str
    is_open: bool = True


Part: TypeAlias = Figure | Table | Listing


@dataclass(frozen=True)
class Section:
    """One thing that is reported.

    Attributes:
        title: the name of its file.
        kind: what it is, in some words.
        lead: what it tells, in a sentence or two.
        facts: names and values.
        parts: figures, tables and listings.
        refuted: what the file states and is false; empty where nothing is.
        result: the one thing to know of it, for the head of the page; None where nothing is known.
    """

    title: str
    kind: str
    lead: str
    facts: Sequence[Fact]
    parts: Sequence[Part]
    refuted: str = ""
    result: Fact | None = None


def text(name: str, label: str | None = None) -> Column:
    """A column of words."""
    return Column(name, label or name.replace("_", " "))


def number(name: str, label: str | None = None) -> Column:
    """A column of numbers."""
    return Column(name, label or name.replace("_", " "), True)


def command(*words: str) -> str:
    """A command line of ours that a shell takes as it is meant, whatever files are called.

    >>> command("check", "a;b.wcnf")
    "glasshouse check 'a;b.wcnf'"
    """
    return shlex.join(["glasshouse", *words])


def shown(text: str) -> str:
    r"""A text in which no character turns others around, or cannot be seen; lines stay lines.

    >>> shown("a\u202eb\0")
    'a\\u202eb\\x00'
    """
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)


def counted(count: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "row"), counted(1764, "row")
    ('1 row', '1,764 rows')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def typeset(words: str) -> str:
    """Words with their numbers as the page writes all of them: thousands in groups, a true minus.

    >>> typeset("-54162 to 12 (1764 loops)"), typeset("0.12345, -1/3")
    ('−54,162 to 12 (1,764 loops)', '0.12345, −1/3')
    """
    grouped = re.sub(r"(?<![\w.,])\d{4,60}(?!\w)", lambda found: f"{int(found[0]):,}", words)
    return re.sub(r"(?<![^\s(\[])-(?=[\d.])", "−", grouped)


def plain(value: Any) -> Cell:
    """A value as JSON holds it: fractions and wide integers as text, what is infinite as ∞.

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
    """The first rows in plain values, and how many there are in all."""
    kept: list[list[Cell]] = []
    count = 0
    for row in rows:
        if count < most:
            kept.append([plain(value) for value in row])
        count += 1
    return kept, count


def charted(chart: Chart, height: int = 320) -> Figure:
    """A chart as a figure of the page."""
    spec, columns, rows, count = vega_chart(chart, MOST_POINTS, height)
    note = f" Of {count:,} points, {len(rows):,} are drawn, evenly." if len(rows) < count else ""
    data = Table("", columns, cut(rows, 2 * MOST_POINTS)[0])
    return Figure(chart.title, chart.text + note, spec, data)


def versions_of(store: Store) -> str:
    """The versions of glasshouse that measured what a store holds."""
    found = sorted({version for one in store.status() for version in one.versions})
    return ", ".join(version[:60] for version in found) or "nothing measured yet"


def seen_seconds(seconds: float) -> str:
    """A long time in words.

    >>> seen_seconds(0.2), seen_seconds(7384)
    ('0.2 s', '2 h 3 min')
    """
    if seconds < 120:
        return f"{seconds:.3g} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours:,} h {minutes} min" if hours else f"{minutes} min"
