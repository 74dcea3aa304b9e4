"""User-defined quantities: a function `module:function` that returns numbers for an instance."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshouse.store.row_types import SAMPLED, Column, Columns, Kind
from glasshouse.studies.ensembles import own_function
from glasshouse.studies.quantities.quantity import Row, StudyKind, one_by_one

if TYPE_CHECKING:
    from glasshouse.studies.task import Task

_MOST_COLUMNS = 100


@dataclass(frozen=True)
class Own:
    """The settings of a user-defined quantity.

    Attributes:
        columns: the names of the numbers that the function returns; the first is shown in figures.
    """

    columns: tuple[str, ...] = ("value",)

    def __post_init__(self) -> None:
        if (
            not isinstance(self.columns, (list, tuple))
            or not 1 <= len(self.columns) <= _MOST_COLUMNS
            or not all(isinstance(name, str) for name in self.columns)
        ):
            raise ValueError(
                f"columns={self.columns!r:.60} must be 1 to {_MOST_COLUMNS} names, such as "
                '["energy", "gap"]'
            )
        object.__setattr__(self, "columns", tuple(self.columns))

    def canonical(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return {"columns": list(self.columns)}


def own_kind(measures: str, settings: Own) -> StudyKind:
    """Return the quantity that a function of the user, `module:function`, measures.

    >>> own_kind("mine:energies", Own(("energy", "gap"))).rows.name
    'own_energies'
    """
    word = re.sub("[^a-z0-9]+", "_", measures.partition(":")[2].lower())
    columns = tuple(Column(name, "real", f"as {measures} returns it") for name in settings.columns)
    kind = StudyKind(
        Kind(f"own_{word}"[:60], columns), _measure, _warm_up, Own, settings.columns[0],
        settings.columns[0], planted=False, signed=True,
    )  # fmt: skip
    SAMPLED[kind.rows.name] = kind
    return kind


def _warm_up(task: Task, index: int) -> None:
    own_function(task.measures)  # the function itself may fail at any instance, which is counted


def _measure(task: Task, first: int, count: int) -> Columns:
    return one_by_one(task.kind)(_measure_one)(task, first, count)


def _measure_one(task: Task, index: int) -> Row:
    """Call the user's function on an instance."""
    names = [column.name for column in task.kind.columns]
    rng = np.random.default_rng(task.solving_seed.child(index).sequence())
    found = own_function(task.measures)(task.grow(index), rng)
    return dict(zip(names, _numbers(task.measures, found, names), strict=True))


def _numbers(function: str, found: object, names: list[str]) -> list[float]:
    """Return the numbers that the function returned, in order; raise if they do not fit `names`."""
    if isinstance(found, Mapping):
        if set(found) != set(names):
            raise ValueError(f"{function} must return {names}, not {sorted(map(str, found))}")
        values = [found[name] for name in names]
    else:
        values = list(found) if isinstance(found, (list, tuple, np.ndarray)) else [found]
    if len(values) != len(names):
        raise ValueError(f"{function} must return {len(names)} numbers, not {len(values)}: {names}")
    for name, value in zip(names, values, strict=True):
        if not isinstance(value, Real) or not math.isfinite(value):
            raise ValueError(f"{function} returned {name}={value!r:.60}, not a finite number")
    return [float(value) for value in values]
