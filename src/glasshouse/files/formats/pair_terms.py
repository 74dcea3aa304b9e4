"""Conversion between terms `i j weight` and rows of numbers, for QUBO, MaxCut and COO files.

If all numbers of a file are integral, in any spelling (3, 3.0, 3e0), they are integers, unless the
note `numbers float` states otherwise. So glasshouse reads back what it wrote, and integers
from other programs are exact. Files of rudy, Biq Mac and MQLib share one layout: a header `SIZE
TERMS`, then `i j weight`, counted from 1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from glasshouse.certificates.exact_sums import grouped
from glasshouse.files.formats.comments import Notes
from glasshouse.files.text.kernels import HARD
from glasshouse.files.text.number_rows import (
    LONGEST_NUMBER,
    Rows,
    is_spelled,
    joined,
    parse_number,
    read_rows,
    whole_number_fault,
    write_table,
)
from glasshouse.files.text.streams import Source
from glasshouse.problems import MOST_VARIABLES, FloatArray, Ising, Number, Qubo, WeightArray
from glasshouse.problems.pairs import add_by_key

_PLURALS = {"vertex": "vertices and edges", "variable": "variables and entries"}


@dataclass
class TermCollector:
    """Collector for the terms of a file that is read block by block.

    Attributes:
        source: the file, for errors.
        least: the lowest index, 0 or 1.
        most: the highest index.
        what: the word for an index in messages.
        loops: whether i = j is allowed.
    """

    source: Source
    least: int
    most: int
    what: str
    loops: bool
    count: int = 0
    last_line: int = 1
    _pairs: list[npt.NDArray[Any]] = field(default_factory=list)
    _weights: list[npt.NDArray[Any]] = field(default_factory=list)
    _lengths: list[npt.NDArray[Any]] = field(default_factory=list)  # lengths of terms of any degree

    def add(self, rows: Rows) -> None:
        """Add one block of rows; raise for the first row that is not a term."""
        pairs = np.column_stack([rows.column(0), rows.column(1)])
        weights, bad = weights_of(rows)
        outside = (pairs < self.least) | (pairs > self.most)
        rows.refuse(
            self.source,
            [
                (
                    rows.lengths != 3,
                    lambda row: (
                        f"the line has {rows.lengths[row]} entries, but must have 3: "
                        f"{self.what} {self.what} weight"
                    ),
                ),
                (
                    outside[:, 0] | outside[:, 1],
                    lambda row: (
                        f"{self.what} {rows.text(row, int(np.argmax(outside[row])))} is "
                        f"out of range; expected {self.least} to {self.most}"
                    ),
                ),
                (bad, lambda row: weight_message(rows.text(row, 2))),
                (
                    (pairs[:, 0] == pairs[:, 1]) & np.bool_(not self.loops),
                    lambda row: (
                        f"{self.what} {pairs[row, 0]} is joined to itself; if the file is a QUBO, "
                        'pass its format, such as format="sparse"'
                    ),
                ),
            ],
        )
        self._pairs.append((pairs - self.least).astype(np.int32))
        self._weights.append(weights)
        self.count += len(weights)
        self.last_line = int(rows.lines[-1])

    def terms(self, notes: Notes) -> tuple[npt.NDArray[np.int32], WeightArray]:
        """Return all pairs, counted from 0, and their weights as integers or floats."""
        return joined(self._pairs, np.int32, 2), self.weights(notes)

    def weights(self, notes: Notes) -> WeightArray:
        """Return all weights: integers if they and the offset are integral, otherwise floats."""
        offset = offset_of(notes)
        if all(part.dtype == np.int64 for part in self._weights):
            weights = joined(self._weights, np.int64)
            exact = True
        else:
            weights = joined([self._as_floats(part) for part in self._weights], np.float64)
            exact = bool((weights == np.rint(weights)).all() and (np.abs(weights) < 2.0**53).all())
        are_floats = notes.word("numbers", ("float",)) is not None
        exact &= offset == int(offset) and not are_floats
        if exact:
            return weights.astype(np.int64, copy=False)
        return self._as_floats(weights)

    def _as_floats(self, weights: WeightArray) -> WeightArray:
        """Return weights as floats; raise if an integer is not exact as a float."""
        reals = weights.astype(np.float64, copy=False)
        if weights.dtype == np.int64 and (lost := changed(weights, reals)).any():
            raise self.source.error(weight_message(str(weights[np.argmax(lost)])))
        return reals


def make(
    source: Source,
    kind: type[Ising] | type[Qubo],
    size: int,
    pairs: npt.NDArray[np.int32],
    weights: WeightArray,
    offset: Number,
    sign: int = 1,
) -> Any:
    """Build an Ising problem or QUBO; repeated terms add up, and (i, i) is a linear term."""
    if weights.dtype == np.float64:
        with np.errstate(over="ignore"):
            total = np.abs(weights).sum()
        if not np.isfinite(total):
            raise source.error("the sum of all weights exceeds the float range; scale the weights")
        pairs, weights = _exactly_summed(source, pairs, weights)
    weights = sign * weights
    single = pairs[:, 0] == pairs[:, 1]
    try:
        places, added = add_by_key(pairs[single, 0].astype(np.int64), weights[single])
        singles: Any = np.zeros_like(weights, shape=size)
        singles[places] = added
        edges, weights = np.sort(pairs[~single], axis=1), weights[~single]
        keys = edges.astype(np.int64) @ np.array([size, 1])
        order = np.argsort(keys, kind="stable")
        if (np.diff(keys[order]) == 0).any():
            return kind.from_edges(size, edges, weights, singles, offset)
        # Without repeats, terms of weight zero are kept as they were written.
        return kind(size, edges[order], weights[order], singles, offset)
    except ValueError as fault:
        raise source.error(str(fault)) from None


def _exactly_summed(
    source: Source, pairs: npt.NDArray[np.int32], weights: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int32], FloatArray]:
    """Add up repeated terms; raise if a sum would be rounded."""
    order, starts = grouped(pairs, int(pairs.max(initial=-1)) + 1)
    if len(starts) == len(order):
        return pairs, weights
    ends = np.append(starts[1:], len(order))
    repeated = np.flatnonzero(ends - starts > 1)
    sums = weights[order[starts]]
    for group in repeated.tolist():
        terms = weights[order[starts[group] : ends[group]]].tolist()
        total = sums[group] = math.fsum(terms)
        # fsum rounds once, at the end: the remainder is zero only if nothing was rounded.
        if math.fsum([*terms, -total]):
            i, j = np.sort(pairs[order[starts[group]]]).tolist()
            raise source.error(
                f"the terms of {i} and {j} (counted from 0) add up to a number that is not exact "
                "as a float; write one term, and round it"
            )
    return pairs[order[starts]], sums


def write_terms(
    file: BinaryIO,
    first: npt.NDArray[Any],
    second: npt.NDArray[Any],
    weights: WeightArray,
    spell: Callable[[float], str] = repr,
) -> None:
    """Write one line `i j weight` per term, with exact floats (as Python prints them)."""
    if weights.dtype == np.int64:
        write_table(file, [first, second, weights])
        return
    for start in range(0, len(weights), 1 << 14):
        part = slice(start, start + (1 << 14))
        rows = zip(first[part].tolist(), second[part].tolist(), weights[part].tolist(), strict=True)
        file.write("".join(f"{i} {j} {spell(weight)}\n" for i, j, weight in rows).encode())


def number_notes(mark: str, problem: Ising | Qubo) -> bytes:
    """Return comment lines that state a nonzero offset, and whether the weights are floats."""
    lines = "" if problem.is_integer else f"{mark} numbers float\n"
    if problem.offset:
        lines += f"{mark} offset {problem.offset}\n"
    return lines.encode("ascii")


def offset_of(notes: Notes) -> Number:
    """Return the offset in the notes; 0 if there is none."""
    return notes.number("offset") or 0


def weights_of(rows: Rows) -> tuple[WeightArray, npt.NDArray[np.bool_]]:
    """Return the weight at the end of each row, and a mask of weights that are not numbers."""
    values = rows.column(-1)
    bad = values == HARD
    if not rows.odd:
        return values, bad
    weights = values.astype(np.float64)
    bad |= changed(values, weights)
    places = np.fromiter(rows.odd, np.int64, len(rows.odd))
    row_of = np.searchsorted(rows.ends, places, side="right")
    # Other odd entries are wrong in another way, which is reported elsewhere.
    last = places == rows.ends[row_of] - 1
    texts = list(itertools.compress(rows.odd.values(), last.tolist()))
    weights[row_of[last]], bad[row_of[last]] = decimals(texts)
    return weights, bad


def decimals(texts: list[bytes]) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Parse entries as floats; return the values and a mask of entries that are not numbers."""
    count = len(texts)
    try:
        if not is_spelled(b"".join(texts)) or max(map(len, texts), default=0) > LONGEST_NUMBER:
            raise ValueError("not all of them are numbers")
        numbers = np.fromiter(map(float, texts), np.float64, count)
    except ValueError:  # the first bad entry will be named; the values of the others do not matter
        return np.zeros(count), np.array([parse_number(text) is None for text in texts])
    bad = np.logical_not(np.isfinite(numbers))
    large = np.flatnonzero(~bad & (np.abs(numbers) >= 2.0**53)).tolist()
    for k in large:
        text = texts[k]
        if b"e" in text or b"E" in text:
            continue  # another program's float
        if not _is_held(text, numbers[k].item()):
            bad[k] = True
            break  # only the first bad entry will be named
    return numbers, bad


def _is_held(text: bytes, number: float) -> bool:
    """Return whether a float of at least 2^53 equals the number that is written as `text`.

    Programs print the shortest digits that identify a float, so such digits mean the float. Any
    other digits are meant exactly, and such an integer must fit into 64 bits.
    """
    whole, point, rest = text.lstrip(b"+-").partition(b".")
    if not rest.strip(b"0") and int(whole) == abs(int(number)):
        return bool(point) or abs(number) < 2.0**63
    shortest = repr(abs(number)).partition("e")[0].replace(".", "").rstrip("0")
    return not rest.strip(b"0") and whole.lstrip(b"0").rstrip(b"0").decode() == shortest


def changed(whole: WeightArray, reals: FloatArray) -> npt.NDArray[np.bool_]:
    """Return a mask of the integers that change when they are converted to floats."""
    fits = np.abs(reals) < 2.0**63  # larger floats cannot be converted back to int64
    back = np.where(fits, reals, 0).astype(np.int64)
    return np.logical_not(fits) | np.not_equal(back, whole)


def weight_message(text: str) -> str:
    """Return the error message for a weight that is not a valid number."""
    fault = whole_number_fault(text)
    if fault == "is not an integer":
        fault = "is not a finite number"
    if text.strip("'+-").replace(".", "", 1).isdigit() and "above" not in fault:
        fault = "is not exact as a float, but the file has decimals; use integers up to 2^53"
    return f"weight {text} {fault}"


def read_headed_terms(
    source: Source, stated: Notes, what: str, *, loops: bool
) -> tuple[int, npt.NDArray[np.int32], WeightArray]:
    """Read a file of terms; return its size, its pairs (counted from 0) and their weights.

    A file whose first line is a term has no header. Its size is the highest index, and truncation
    of such a file cannot be noticed.

    Args:
        source: the file.
        stated: collects the notes in the comments.
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
            f"found {collector.count} {named.split()[-1]}, but the first line states {count}; the "
            "file is truncated or was changed",
            collector.last_line,
        )
    pairs, weights = collector.terms(stated)
    if size is None:
        size = int(pairs.max(initial=-1)) + 1
    source.refuse_idle(size, collector.count, "terms")
    return size, pairs, weights


def _header(source: Source, rows: Rows, what: str) -> tuple[int, int]:
    """Return the size and the number of terms that the first row states."""
    length, line = int(rows.ends[0]), int(rows.lines[0])
    named = _PLURALS[what]
    if length != 2:
        raise source.error(f"the first line must have two entries, {named}, not {length}", line)
    size, count = rows.values[:2].tolist()
    if not 0 <= size <= MOST_VARIABLES or count < 0:
        first, second = named.split(" and ")
        raise source.error(
            f"the first line states {rows.text(0, 0)} {first} and {rows.text(0, 1)} {second}; "
            f"expected 0 to {MOST_VARIABLES} {first}, and at least 0 {second}",
            line,
        )
    return size, count
