"""Clauses from rows of numbers: the part that DIMACS CNF and both WCNF dialects share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from glasshouse.files.text.kernels import HARD, ODD
from glasshouse.files.text.number_rows import Fault, Rows, joined, whole_number_fault, write_rows
from glasshouse.files.text.streams import Source
from glasshouse.problems import INT64_MAX, MOST_VARIABLES, IntArray, Max2Sat, WeightArray


@dataclass
class ClauseCollector:
    """Collects the clauses of a file, block by block.

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
    _clauses: list[npt.NDArray[Any]] = field(default_factory=list)
    _weights: list[npt.NDArray[Any]] = field(default_factory=list)
    _hard: list[npt.NDArray[Any]] = field(default_factory=list)

    def add(self, rows: Rows) -> None:
        """Add rows, or raise for the first row that is not a clause."""
        lead = int(self.weighted)
        weights = rows.column(0) if self.weighted else np.ones(len(rows.ends), dtype=np.int64)
        hard = self._hard_ones(rows, weights)
        lengths = rows.lengths - lead  # literals, and the 0 that ends the clause
        rows.refuse(
            self.source,
            [
                ((weights < 0) & ~hard, lambda row: _weight_message(rows.text(row, 0))),
                ((rows.column(-1) != 0) | (lengths < 1), lambda _: "no 0 at the end of a clause"),
                self._literal_fault(rows),
                (lengths > 3, lambda row: f"{lengths[row] - 1} literals; expected at most 2"),
                (
                    hard & (lengths == 1),
                    lambda _: "an empty hard clause, which nothing satisfies; remove it",
                ),
            ],
        )
        literals = np.column_stack([rows.column(lead), rows.column(lead + 1)])
        literals[lengths == 2, 1] = 0
        literals[lengths == 1] = 0
        self._clauses.append(literals[~hard].astype(np.int32))
        self._weights.append(weights[~hard])
        self._hard.append(literals[hard].astype(np.int32))
        self.count += len(hard)
        self.last_line = int(rows.lines[-1])

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
        """Return which tokens between the weight and the last 0 are not literals."""
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
        """The largest variable that a clause uses; 0 if there are no clauses."""
        return max((_highest(part) for part in (*self._clauses, *self._hard)), default=0)

    def problem(self, num_variables: int) -> Max2Sat:
        """Return all clauses as a problem of `num_variables` variables."""
        clauses = joined(self._clauses, np.int32, 2)
        hard = joined(self._hard, np.int32, 2)
        self.source.refuse_idle(num_variables, self.count, "clauses")
        try:
            return Max2Sat(num_variables, clauses, joined(self._weights, np.int64), hard)
        except ValueError as fault:
            raise self.source.error(str(fault)) from None


def write_clauses(
    file: BinaryIO,
    literals: npt.NDArray[np.int32],
    weights: WeightArray | None,
    prefix: bytes = b"",
) -> None:
    """Write one clause per line: the prefix, the weight if given, the literals, and 0."""
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


def whole_weights(problem: Max2Sat, format_name: str) -> IntArray:
    """Return the weights as integers; raise with a remedy if one of them is not whole."""
    weights = problem.weights
    if weights.dtype == np.int64:
        return weights.astype(np.int64, copy=False)
    if (weights == np.rint(weights)).all() and (weights < 2.0**53).all():
        return weights.astype(np.int64)
    k = int(np.argmax((weights != np.rint(weights)) | (weights >= 2.0**53)))
    raise ValueError(
        f"a {format_name} file holds whole weights, but clause {k} weighs {weights[k]}; multiply "
        "by a common factor and round, or write .npz"
    )


def _weight_message(text: str) -> str:
    fault = "is negative" if text.startswith("-") else whole_number_fault(text)
    return f"weight {text} {fault}; expected a whole number from 0 to 2^63-1"


def _highest(literals: npt.NDArray[np.int32]) -> int:
    return int(np.abs(literals).max(initial=0))
