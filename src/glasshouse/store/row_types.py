"""Row types: the columns of a store's rows, and the interface of a task that can be collected.

A store holds rows of several kinds, each in its own table. The packages that measure (studies,
races, boltzmann) declare the columns and define their own tasks.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from glasshouse.problems import validation
from glasshouse.statistics import STATISTICS, Sample, Statistic

_NAME = re.compile(r"[a-z][a-z_0-9]*")
_RESERVED = {"tasks", "batches", "meta", "task", "instance", "version", "seconds"}

Columns = Mapping[str, npt.NDArray[Any]]
Storage = Literal["integer", "real", "text"]
LONGEST_TEXT = 1 << 16  # bytes of a text in a row


@dataclass(frozen=True)
class Column:
    """One column: its name, its storage type and its meaning.

    Attributes:
        name: lower-case letters, digits and underscores.
        storage: "integer" (int64), "real" (float64) or "text" (at most 64 KiB of UTF-8).
        meaning: a description for readers of the data.
    """

    name: str
    storage: Storage
    meaning: str

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type of the column; strings are objects."""
        types = {"integer": np.int64, "real": np.float64, "text": np.object_}
        return np.dtype(types[self.storage])


SECONDS = Column("seconds", "real", "time it took; it and other …_seconds may differ between runs")


@dataclass(frozen=True)
class Kind:
    """A kind of row: the name of its table, and its columns.

    Every kind also has the columns `task`, `instance` (its key) and `seconds`.

    Attributes:
        name: the name of its table.
        columns: the measured columns.
        counted: a 0/1 column whose sum `status` shows, for example the number of solved instances.
    """

    name: str
    columns: tuple[Column, ...]
    counted: str | None = None

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        for name in (self.name, *names):
            if not _NAME.fullmatch(name) or name in _RESERVED:
                raise ValueError(f"{name!r} cannot name a table or column of a store")
        if len(set(names)) < len(names):
            raise ValueError(f"the columns of {self.name} must have distinct names, not {names}")
        if self.counted is not None and self.counted not in names:
            raise ValueError(f"counted={self.counted!r} is not a column of {self.name}")

    @property
    def measured(self) -> tuple[Column, ...]:
        """All columns of a measurement: the declared columns, and the column `seconds`."""
        return (*self.columns, SECONDS)

    def columns_of(self, rows: Iterable[Mapping[str, Any]]) -> dict[str, npt.NDArray[Any]]:
        """Return measured rows as columns; every row has a value for each column."""
        listed = list(rows)
        return {
            column.name: np.array([row[column.name] for row in listed], dtype=column.dtype)
            for column in self.measured
        }

    def check(self, rows: Columns, count: int) -> dict[str, npt.NDArray[Any]]:
        """Check the arrays of a measurement; return them with the declared order and types."""
        expected = {column.name for column in self.measured}
        if set(rows) != expected:
            raise ValueError(f"{self.name} columns must be {sorted(expected)}, not {sorted(rows)}")
        checked = {}
        for column in self.measured:
            values = np.asarray(rows[column.name], object if column.storage == "text" else None)
            if values.shape != (count,):
                raise ValueError(f"{column.name} has shape {values.shape}; expected ({count},)")
            checked[column.name] = values.astype(column.dtype, casting="same_kind")
        self.check_values(checked)
        return checked

    def check_values(self, rows: Columns) -> None:
        """Raise for invalid seconds, marks other than 0 and 1, or invalid strings in a column."""
        seconds = rows.get(SECONDS.name)
        if seconds is not None and not ((seconds >= 0) & np.isfinite(seconds)).all():
            raise ValueError(f"the seconds of {self.name} rows must be finite and at least 0")
        marks = None if self.counted is None else rows.get(self.counted)
        if marks is not None and not ((marks == 0) | (marks == 1)).all():
            raise ValueError(f"the column {self.counted} of {self.name} must contain only 0 and 1")
        for column in self.columns:
            if column.storage == "text" and column.name in rows:
                for value in rows[column.name]:
                    _check_text(value, f"{column.name} of {self.name} rows")


def _check_text(value: object, what: str) -> None:
    """Raise for a value that is not a string, or that the file could not return unchanged."""
    if not isinstance(value, str):
        raise ValueError(f"{what} must be strings, not {type(value).__name__}")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise ValueError(f"{what} must be strings that UTF-8 can encode") from None
    if size > LONGEST_TEXT:
        raise ValueError(f"{what} must be strings of at most {LONGEST_TEXT} bytes, not {size}")
    if "\0" in value:
        raise ValueError(f"{what} must be strings without the character NUL")


@dataclass(frozen=True)
class Stop:
    """The stop rules of a task, which has enough instances as soon as one rule holds.

    Attributes:
        instances: the largest number of instances.
        relative_error: stop when half the width of the statistic's interval, divided by its value,
            is at most this. It is computed on instances 0 to k-1 at fixed k, so it does not depend
            on the order in which workers finish.
        statistic: the statistic.
        confidence: the confidence of its interval.
        seconds: stop after this much computing time. The rows in the store then depend on the speed
            of the computer: this is not reproducible, and reported as such.

    >>> Stop(1000, relative_error=0.05).checkpoints()[:5]
    (32, 40, 50, 63, 79)
    >>> Stop(1000).is_reproducible, Stop(1000, seconds=60).is_reproducible
    (True, False)
    """

    instances: int
    relative_error: float | None = None
    statistic: Statistic = "geometric_mean"
    confidence: float = 0.95
    seconds: float | None = field(default=None)

    def __post_init__(self) -> None:
        if validation.count(self.instances, "instances", 1) > validation.INT64_MAX:
            raise ValueError(f"instances={self.instances} must be at most 2^63-1")
        validation.share(self.confidence, "confidence")
        if self.statistic not in STATISTICS:
            raise ValueError(f"statistic={self.statistic!r} is not one of {', '.join(STATISTICS)}")
        for name in ("relative_error", "seconds"):
            value = getattr(self, name)
            if value is not None and not (
                isinstance(value, (int, float)) and math.isfinite(value) and value > 0
            ):
                raise ValueError(f"{name}={value!r} must be a number above 0")

    @property
    def is_reproducible(self) -> bool:
        """Whether the same study always ends with the same instances."""
        return self.seconds is None

    def checkpoints(self) -> tuple[int, ...]:
        """Return the numbers of instances at which the relative error is tested."""
        if self.relative_error is None:
            return (self.instances,)
        places, k = [], 32
        while k < self.instances:
            places.append(k)
            k = math.ceil(k * 1.25)
        return (*places, self.instances)


@runtime_checkable
class Measurable(Protocol):
    """The interface that `collect` requires of a task, whatever the task measures."""

    @property
    def kind(self) -> Kind:
        """The kind of rows that the task measures."""

    @property
    def task_id(self) -> str:
        """The SHA-256 of the task's canonical form."""

    @property
    def stop(self) -> Stop:
        """The stop rules of the task; they are not part of its identity."""

    def canonical(self) -> str:
        """Return everything that the rows depend on, as one line of JSON."""

    def realise(self) -> Mapping[str, Any]:
        """Return JSON values that hold for the whole task; they are stored once, for figures."""

    def measure(self, first: int, count: int) -> Columns:
        """Return the rows of instances `first` to `first + count - 1`."""


class Sampled(Protocol):
    """The interface of rows whose values have a statistic that stop rules can test."""

    @property
    def sampled(self) -> list[str]:
        """The columns that statistics read."""

    def sample(self, rows: Columns) -> Sample:
        """Return the values of the given rows as a sample."""


# The key is the name of the rows; the packages that declare such rows add them here.
SAMPLED: dict[str, Sampled] = {}


class Identified:
    """A task that a store identifies by a hash of everything that its rows depend on."""

    def canonical(self) -> str:
        """Return everything that the rows depend on, as one line of JSON."""
        raise NotImplementedError

    @cached_property
    def task_id(self) -> str:
        """The SHA-256 of the task's canonical form."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()
