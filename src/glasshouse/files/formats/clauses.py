"""Conversion between clauses and rows of numbers, for DIMACS CNF and both WCNF dialects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from glasshouse.files.text.kernels import HARD, ODD
from glasshouse.files.text.number_rows import Fault, Rows, joined, whole_number_fault, write_rows
from glasshouse.files.text.streams import Source
from glasshouse.problems import (
    INT64_MAX,
    MOST_VARIABLES,
    Clauses,
    IntArray,
    Max2Sat,
    MaxSat,
    Problem,
    Reduction,
    WeightArray,
    to_max2sat,
)
from glasshouse.problems.convert import unchanged


@dataclass
class ClauseCollector:
    """Collector for the clauses of a file that is read block by block.

    Attributes:
        source: the file, for errors.
        weighted: whether each row begins with a weight.
        num_variables: the largest variable that a literal may name.
        top: the weight at which a clause becomes hard; None if the file has no top.
        hard_letter: whether the letter h marks hard clauses.
    """

    source: Source
    weighted: bool
    num_variables: int = MOST_VARIABLES
    top: int | None = None
    hard_letter: bool = False
    count: int = 0
    last_line: int = 1
    # Rows of two literals, or flat clauses from blocks that have longer ones.
    _clauses: list[Any] = field(default_factory=list)
    _weights: list[npt.NDArray[Any]] = field(default_factory=list)
    _hard: list[Any] = field(default_factory=list)

    def add(self, rows: Rows) -> None:
        """Add one block of rows; raise for the first row that is not a clause."""
        lead = int(self.weighted)
        weights = rows.column(0) if self.weighted else np.ones(len(rows.ends), dtype=np.int64)
        hard = self._hard_ones(rows, weights)
        lengths = rows.lengths - lead  # literals, and the 0 that ends the clause
        rows.refuse(
            self.source,
            [
                ((weights < 0) & ~hard, lambda row: _weight_message(rows.text(row, 0))),
                ((rows.column(-1) != 0) | (lengths < 1), lambda _: "a clause must end with a 0"),
                self._literal_fault(rows),
            ],
        )
        if (lengths > 3).any() or (hard & (lengths == 1)).any():
            self._add_long(rows, hard)
        else:
            literals = np.column_stack([rows.column(lead), rows.column(lead + 1)])
            literals[lengths == 2, 1] = 0
            literals[lengths == 1] = 0
            self._clauses.append(literals[~hard].astype(np.int32))
            self._hard.append(literals[hard].astype(np.int32))
        self._weights.append(weights[~hard])
        self.count += len(hard)
        self.last_line = int(rows.lines[-1])

    def _add_long(self, rows: Rows, hard: npt.NDArray[np.bool_]) -> None:
        """Add a block with long clauses or an empty hard clause, which only `MaxSat` can store."""
        lead = int(self.weighted)
        kind = np.repeat(np.where(hard, 2, 1), rows.lengths)  # per token: soft, hard, neither
        kind[rows.ends - 1] = 0
        if lead:
            kind[rows.starts] = 0
        for parts, which in ((self._clauses, 1), (self._hard, 2)):
            lengths = rows.lengths[hard == (which == 2)] - lead - 1
            starts = np.append(np.int64(0), np.cumsum(lengths))
            parts.append(Clauses(rows.values[kind == which].astype(np.int32), starts))

    def _hard_ones(self, rows: Rows, weights: IntArray) -> npt.NDArray[np.bool_]:
        hard = np.zeros(len(weights), dtype=np.bool_)
        if self.hard_letter:
            hard |= weights == HARD
        if self.top is None:
            return hard
        if self.top <= INT64_MAX:
            return hard | (weights >= self.top)
        # If the soft weights fill 63 bits, 1 + their sum does not fit into a 64-bit token.
        spelled, starts = str(self.top).encode(), rows.starts
        for row in np.flatnonzero(weights == ODD).tolist():
            text = rows.odd.get(int(starts[row]), b"")
            hard[row] = text.removeprefix(b"+").lstrip(b"0") == spelled
        return hard

    def _literal_fault(self, rows: Rows) -> Fault:
        """Return a mask of the rows with an invalid literal, and the message for such a row."""
        limit, starts = self.num_variables, rows.starts
        inside = np.ones(len(rows.values), dtype=np.bool_)
        inside[rows.ends - 1] = False
        if self.weighted:
            inside[starts] = False
        wrong = inside & ((rows.values == 0) | (rows.values > limit) | (rows.values < -limit))

        def message(row: int) -> str:
            place = int(np.argmax(wrong[starts[row] : rows.ends[row]]))
            text = rows.text(row, place)
            if text == "0":
                return "literal 0 inside a clause; expected one clause per line, with 0 at its end"
            return f"literal {text} is out of range; expected ±1 to ±{limit}"

        return rows.having(wrong), message

    def highest(self) -> int:
        """Return the largest variable that a clause uses; 0 if there are no clauses."""
        return max((_highest(part) for part in (*self._clauses, *self._hard)), default=0)

    def problem(self, num_variables: int) -> Max2Sat | MaxSat:
        """Return all clauses as a `Max2Sat` if possible, otherwise as a `MaxSat`."""
        weights = joined(self._weights, np.int64)
        self.source.refuse_idle(num_variables, self.count, "clauses")
        try:
            if any(isinstance(part, Clauses) for part in (*self._clauses, *self._hard)):
                soft, hard = (
                    Clauses.joined(list(map(_flat, p))) for p in (self._clauses, self._hard)
                )
                return MaxSat(num_variables, soft, weights, hard)
            pairs, must = (joined(parts, np.int32, 2) for parts in (self._clauses, self._hard))
            return Max2Sat(num_variables, pairs, weights, must)
        except ValueError as fault:
            raise self.source.error(str(fault)) from None


def as_clauses(problem: Problem) -> tuple[Max2Sat | MaxSat, Reduction]:
    """Convert a problem to clauses with at most two literals; return a `MaxSat` unchanged."""
    return unchanged(problem) if isinstance(problem, MaxSat) else to_max2sat(problem)


def soft_of(problem: Max2Sat | MaxSat) -> npt.NDArray[np.int32] | Clauses:
    """Return the soft clauses, as a two-column array or (for a `MaxSat`) as `Clauses`."""
    return problem.soft if isinstance(problem, MaxSat) else problem.clauses


def write_clauses(
    file: BinaryIO,
    literals: npt.NDArray[np.int32] | Clauses,
    weights: WeightArray | None,
    prefix: bytes = b"",
) -> None:
    """Write one clause per line: the prefix, the weight (if given), the literals, and 0."""
    if isinstance(literals, Clauses):
        _write_long(file, literals, weights, prefix)
        return
    at_once = 1 << 16
    for start in range(0, len(literals), at_once):
        part = literals[start : start + at_once].astype(np.int64)
        ends = np.zeros((len(part), 1), dtype=np.int64)
        columns = [part, ends]
        kept = [part != 0, ends == 0]
        if weights is not None:
            columns.insert(0, weights[start : start + at_once, None].astype(np.int64))
            kept.insert(0, ends == 0)
        mask = np.concatenate(kept, axis=1)
        write_rows(file, np.concatenate(columns, axis=1)[mask], np.cumsum(mask.sum(axis=1)), prefix)


def _write_long(
    file: BinaryIO, clauses: Clauses, weights: WeightArray | None, prefix: bytes
) -> None:
    lead = int(weights is not None)
    ends = np.cumsum(clauses.lengths + lead + 1)
    values = np.zeros(int(ends[-1]) if len(ends) else 0, dtype=np.int64)
    is_literal = np.ones(len(values), dtype=np.bool_)
    is_literal[ends - 1] = False
    if weights is not None:
        starts = ends - clauses.lengths - 2
        values[starts], is_literal[starts] = weights, False
    values[is_literal] = clauses.literals
    write_rows(file, values, ends, prefix)


def whole_weights(problem: Max2Sat | MaxSat, format_name: str) -> IntArray:
    """Return the weights of the clauses as int64; raise if one is not an integer."""
    weights = problem.weights
    if weights.dtype == np.int64:
        return weights.astype(np.int64, copy=False)
    if (weights == np.rint(weights)).all() and (weights < 2.0**53).all():
        return weights.astype(np.int64)
    k = int(np.argmax((weights != np.rint(weights)) | (weights >= 2.0**53)))
    raise ValueError(
        f"a {format_name} file needs integer weights, but clause {k} has weight {weights[k]}; "
        "multiply all weights by a common factor and round them, or write .npz"
    )


def _weight_message(text: str) -> str:
    fault = "is negative" if text.startswith("-") else whole_number_fault(text)
    return f"weight {text} {fault}; expected an integer from 0 to 2^63-1"


def _flat(part: Any) -> Clauses:
    return part if isinstance(part, Clauses) else Clauses.of_pairs(part)


def _highest(part: Any) -> int:
    literals = part.literals if isinstance(part, Clauses) else part
    return int(np.abs(literals).max(initial=0))
