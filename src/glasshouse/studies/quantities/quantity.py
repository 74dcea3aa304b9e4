"""The interface of a quantity that a study can measure, and the catalogue of all quantities.

A kind of study is a function that measures instances of a task, marked with `study_kind`, in a file
of its own. Tasks, stop rules, statistics and figures find it in `KINDS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from glasshouse.catalogue import Catalogue
from glasshouse.statistics.samples import Sample
from glasshouse.store.row_types import SAMPLED, Columns, Kind

if TYPE_CHECKING:
    from glasshouse.studies.task import Task

Measure: TypeAlias = "Callable[[Task, int, int], Columns]"
WarmUp: TypeAlias = "Callable[[Task, int], object]"

KINDS = Catalogue["StudyKind"]("kind of study")


@dataclass(frozen=True)
class StudyKind:
    """A quantity that is measured for each instance of a task.

    Attributes:
        rows: the rows it makes.
        measure: rows of instances first to first+count-1, of a task, first and count; a function of
            those only.
        warm_up: loads or compiles all that measuring takes, for a task and an instance, so that the
            first rows' seconds are not those of compiling.
        solves: whether an annealer takes part, with settings that a task has.
        value: the column that statistics, stop rules, fits and figures are about, positive numbers;
            a lower bound where the counted column is 0. None for rows that are only exported.
        symbol: the value in figures, in plain text.
    """

    rows: Kind
    measure: Measure
    warm_up: WarmUp
    solves: bool = False
    value: str | None = None
    symbol: str = ""

    @property
    def sampled(self) -> list[str]:
        """The columns that statistics use."""
        return [name for name in (self.value, self.rows.counted) if name is not None]

    @property
    def is_counted(self) -> bool:
        """Whether the value is an integer with a mark, which stores read fastest."""
        whole = {column.name for column in self.rows.columns if column.storage == "integer"}
        return len(self.sampled) == 2 and set(self.sampled) <= whole

    def sample(self, rows: Columns) -> Sample:
        """Return the values of some rows for statistics."""
        assert self.value is not None
        marks = self.rows.counted
        return Sample.of(rows[self.value], None if marks is None else rows[marks] != 0)


def study_kind(
    rows: Kind,
    *,
    warm_up: WarmUp | None = None,
    solves: bool = False,
    value: str | None = None,
    symbol: str = "",
) -> Callable[[Measure], Measure]:
    """Add a function to the catalogue of quantities; see `StudyKind`.

    Without `warm_up`, an instance is measured for nothing.
    """
    if value is not None and value not in {column.name for column in rows.columns}:
        raise ValueError(f"value={value!r} is not a column of {rows.name}")

    def add(measure: Measure) -> Measure:
        warm = warm_up or (lambda task, index: measure(task, index, 1))
        kind = StudyKind(rows, measure, warm, solves, value, symbol or value or "")
        KINDS.add(rows.name, kind)
        SAMPLED[rows.name] = kind
        return measure

    return add
