"""The layout that rudy, Biq Mac and MQLib share: `SIZE TERMS`, then `i j weight` from 1."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glasshouse.files.notes import Notes
from glasshouse.files.rows import Rows, read_rows
from glasshouse.files.streams import Source
from glasshouse.files.terms import TermCollector
from glasshouse.problems.validation import MOST_VARIABLES, WeightArray

_PLURALS = {"vertex": "vertices and edges", "variable": "variables and entries"}


def read_headed_terms(
    source: Source, stated: Notes, what: str, *, loops: bool
) -> tuple[int, npt.NDArray[np.int32], WeightArray]:
    """Return the size that a file states, its pairs from 0, and their weights.

    A file whose first line is a term has no header. Its size is the highest index, and a missing
    end of such a file cannot be noticed.

    Args:
        source: the file.
        stated: takes the notes in the comments.
        what: the word for an index in messages, vertex or variable.
        loops: whether i = j is a term. Files with such terms must have a header.
    """
    collector: TermCollector | None = None
    size: int | None = None
    count = 0
    for rows in read_rows(source, b"#", lambda line, text, _: stated.take(line, text[1:])):
        if collector is None:
            if loops or int(rows.ends[0]) != 3:
                size, count = _header(source, rows, what)
                rows = rows.part(1, len(rows.ends))
            collector = TermCollector(
                source, 1, MOST_VARIABLES if size is None else size, what, loops
            )
        if len(rows.ends):
            collector.add(rows)
    named = _PLURALS[what]
    if collector is None:
        raise source.error(f"is empty; expected '{named.upper().replace(' AND', '')}'")
    if size is not None and collector.count != count:
        raise source.error(
            f"{collector.count} {named.split()[-1]}, but the first line states {count}; the file "
            "is truncated or was changed",
            collector.last_line,
        )
    pairs, weights = collector.terms(stated)
    if size is None:
        size = int(pairs.max(initial=-1)) + 1
    return collector.size(size), pairs, weights


def _header(source: Source, rows: Rows, what: str) -> tuple[int, int]:
    """The size and the number of terms in the first row."""
    length, line = int(rows.ends[0]), int(rows.lines[0])
    named = _PLURALS[what]
    if length != 2:
        raise source.error(f"the first line has {length} entries; expected two: {named}", line)
    size, count = rows.values[:2].tolist()
    if not 0 <= size <= MOST_VARIABLES or count < 0:
        first, second = named.split(" and ")
        raise source.error(
            f"{rows.text(0, 0)} {first} and {rows.text(0, 1)} {second}; expected 0 to "
            f"{MOST_VARIABLES} and 0 or more",
            line,
        )
    return size, count
