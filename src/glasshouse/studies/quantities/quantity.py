"""The interface of a quantity that a study can measure, and the catalogue of all quantities.

A kind of study is a function that measures instances of a task, marked with `study_kind`, in its
own file. Tasks, stop rules, statistics and figures find it in `KINDS`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeAlias

from glasshouse.catalogue import Catalogue
from glasshouse.statistics.samples import Sample
from glasshouse.store.row_types import SAMPLED, SECONDS, Columns, Kind

if TYPE_CHECKING:
    from glasshouse.studies.task import Task

Measure: TypeAlias = "Callable[[Task, int, int], Columns]"
WarmUp: TypeAlias = "Callable[[Task, int], object]"
# Returns the values of one instance of a task, by column.
Row: TypeAlias = Mapping[str, Any]
MeasureOne: TypeAlias = "Callable[[Task, int], Row]"

KINDS = Catalogue["StudyKind"]("kind of study")


@dataclass(frozen=True)
class StudyKind:
    """A quantity that is measured for each instance of a task.

    Attributes:
        rows: the kind of rows that measuring yields.
        measure: returns the rows of instances first to first+count-1 of a task; depends only on
            the task, first and count.
        warm_up: loads or compiles all code that measuring a task needs, with one instance, so that
            the seconds of the first rows do not include compilation.
        settings: the class of the settings that a task of this kind has, a dataclass with
            `canonical()`; None for a kind without settings.
        value: the column that statistics, stop rules, fits and figures use, positive numbers; a
            lower bound if the counted column is 0. None for rows that are only exported.
        symbol: the name of the value in figures, as plain text.
        planted: whether instances must be planted, with a known ground state.
        signed: whether the value can be negative or 0, so that its statistics are means and
            medians.
        pairs: whether instances must have pairs of spins, not clauses.
    """

    rows: Kind
    measure: Measure
    warm_up: WarmUp
    settings: type[Any] | None = None
    value: str | None = None
    symbol: str = ""
    planted: bool = True
    signed: bool = False
    pairs: bool = False

    @property
    def sampled(self) -> list[str]:
        """The columns that statistics use."""
        return [name for name in (self.value, self.rows.counted) if name is not None]

    @property
    def is_counted(self) -> bool:
        """Whether a row has a positive integer and a 0/1 mark; stores read such rows fastest."""
        whole = {column.name for column in self.rows.columns if column.storage == "integer"}
        return not self.signed and len(self.sampled) == 2 and set(self.sampled) <= whole

    def about(self, value: str | None) -> StudyKind:
        """Return the quantity with the column `value` for its statistics; None keeps its column.

        Raises:
            ValueError: there is no such column of numbers.
        """
        if value is None or value == self.value:
            return self
        known = [one.name for one in self.rows.columns if one.storage != "text"]
        if value not in known:
            raise ValueError(f"value={value!r:.60} is not one of {', '.join(known)}")
        return replace(self, value=value, signed=True)

    def sample(self, rows: Columns) -> Sample:
        """Return the values of the given rows as a sample for statistics."""
        assert self.value is not None
        marks = self.rows.counted
        solved = None if marks is None else rows[marks] != 0
        return Sample.of(rows[self.value], solved, signed=self.signed)


def one_by_one(rows: Kind) -> Callable[[MeasureOne], Measure]:
    """Turn a function that measures one instance into a function that measures several in order."""

    def decorate(measure_one: MeasureOne) -> Measure:
        def timed(task: Task, index: int) -> Row:
            begin = time.perf_counter()
            row = measure_one(task, index)
            return {**row, SECONDS.name: time.perf_counter() - begin}

        @wraps(measure_one)
        def measure(task: Task, first: int, count: int) -> Columns:
            return rows.columns_of(timed(task, index) for index in range(first, first + count))

        return measure

    return decorate


def study_kind(
    rows: Kind,
    *,
    warm_up: WarmUp | None = None,
    settings: type[Any] | None = None,
    value: str | None = None,
    symbol: str = "",
    planted: bool = True,
    signed: bool = False,
    pairs: bool = False,
) -> Callable[[Measure], Measure]:
    """Add a function to the catalogue of quantities; see `StudyKind`.

    Without `warm_up`, one instance is measured and discarded, to compile the code.
    """
    if value is not None and value not in {column.name for column in rows.columns}:
        raise ValueError(f"value={value!r} is not a column of {rows.name}")

    def add(measure: Measure) -> Measure:
        warm = warm_up or (lambda task, index: measure(task, index, 1))
        shown = symbol or value or ""
        kind = StudyKind(rows, measure, warm, settings, value, shown, planted, signed, pairs)
        KINDS.add(rows.name, kind)
        SAMPLED[rows.name] = kind
        return measure

    return add
