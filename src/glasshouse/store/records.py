"""Stored tasks and batches, read with checks: a file may be damaged or malicious.

A ValueError states what is wrong; the store that is being read adds its name.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems.validation import INT64_MAX
from glasshouse.store.row_types import Stop
from glasshouse.store.storefile import StoreError
from glasshouse.summaries import Summarised

Row = tuple[Any, ...]

# Descriptions have a few hundred characters, studies a few thousand.
LONGEST_TEXT = 1 << 20
_LONGEST_VERSION = 1000
_RULES = {
    "instances": (int,),
    "relative_error": (int, float, type(None)),
    "statistic": (str,),
    "confidence": (int, float),
    "seconds": (int, float, type(None)),
}


@dataclass(frozen=True, repr=False)
class StoredTask(Summarised):
    """A task as a store contains it.

    Attributes:
        number: the key of the task in this file.
        task_id: the SHA-256 of the canonical form.
        kind: the name of the kind of its rows.
        canonical: the task, as canonical JSON.
        stop: the stop rules of the last run that collected it.
        is_finished: whether that run found that the task has enough instances.
        realised: values that hold for the whole task; None in the oldest stores.
    """

    number: int
    task_id: str
    kind: str
    canonical: str
    stop: Stop
    is_finished: bool = False
    realised: dict[str, Any] | None = None

    @property
    def description(self) -> dict[str, Any]:
        """The task's canonical form, parsed from JSON."""
        return json_object(self.canonical, f"task {self.task_id[:12]}")

    def table(self, name: str) -> dict[str, Any]:
        """Return a table in the description, such as its `parameters`."""
        part = self.description.get(name)
        if part is None:
            return {}
        if not isinstance(part, dict):
            raise StoreError(f"task {self.task_id[:12]}: {name} is {short(part)}, not an object")
        return part


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """A stored batch: the instances `first` to `first + count - 1` of a task."""

    task: int
    first: int
    count: int
    counted: int
    seconds: float
    version: str

    @property
    def end(self) -> int:
        """The first instance after the batch."""
        return self.first + self.count


@dataclass(frozen=True, repr=False)
class TaskStatus(Summarised):
    """The progress of a task.

    Attributes:
        task: the task.
        rows: the number of measured instances.
        counted: the number of solved instances (or whatever the kind counts).
        seconds: the computing time.
        versions: the versions of glasshouse that measured them.
    """

    task: StoredTask
    rows: int
    counted: int
    seconds: float
    versions: tuple[str, ...]

    @classmethod
    def of(cls, task: StoredTask, batches: list[BatchRecord]) -> TaskStatus:
        """Return the status of a task: the sums over its batches."""
        return cls(
            task,
            sum(batch.count for batch in batches),
            sum(batch.counted for batch in batches),
            sum((batch.seconds for batch in batches), 0.0),
            tuple(sorted({batch.version for batch in batches})),
        )


def ascending(rows: Iterable[Row], keys: int, table: str) -> Iterator[Row]:
    """Yield rows, but raise if their keys do not increase: a damaged file may repeat rows."""
    last: Row | None = None
    for row in rows:
        key = row[:keys]
        if any(type(part) is not int for part in key) or (last is not None and key <= last):
            raise ValueError(f"the rows of {table} are out of order at the key {short(key)}")
        last = key
        yield row


def fitting(rows: Iterable[Row], size: int, table: str) -> Iterator[Row]:
    """Yield rows, but raise if their text exceeds `size` bytes: a damaged file can repeat text."""
    for row in rows:
        size -= sum(len(value) for value in row if isinstance(value, str))
        if size < 0:
            raise ValueError(f"the rows of {table} have more text than fits into the file")
        yield row


def task_record(row: Row) -> StoredTask:
    """Check a row of the table `tasks`, and return it as a StoredTask."""
    number, task_id, kind, canonical, stop, finished, realised = row
    if not (isinstance(task_id, str) and isinstance(kind, str)):
        raise ValueError(f"a task's id {short(task_id)} or kind {short(kind)} is not a string")
    what = f"task {short(task_id[:12])}"
    json_object(canonical, what)
    if hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest() != task_id:
        raise ValueError(f"the id of {what} is not the SHA-256 of its description")
    if type(finished) is not int or finished not in (0, 1):
        raise ValueError(f"the mark `finished` of {what} is {short(finished)}, not 0 or 1")
    known = None if realised is None else json_object(realised, f"the realised data of {what}")
    return StoredTask(number, task_id, kind, canonical, _stop(stop, what), bool(finished), known)


def _stop(text: object, what: str) -> Stop:
    rules = json_object(text, f"the stop rule of {what}")
    for name, value in rules.items():
        if name not in _RULES or isinstance(value, bool) or not isinstance(value, _RULES[name]):
            raise ValueError(f"the stop rule of {what} has a wrong {short(name)}: {short(value)}")
    if "instances" not in rules:
        raise ValueError(f"the stop rule of {what} does not state how many instances to measure")
    return Stop(**rules)


def batch_record(row: Row) -> BatchRecord:
    """Check a row of the table `batches`, and return it as a BatchRecord."""
    batch = BatchRecord(*row)
    numbers = (batch.task, batch.first, batch.count, batch.counted)
    if any(type(number) is not int for number in numbers):
        raise ValueError(f"the numbers {short(numbers)} of a batch are not all integers")
    if batch.first < 0 or batch.count < 0 or batch.end > INT64_MAX:
        raise ValueError(
            f"a batch has {batch.count} instances from index {batch.first}; "
            "expected two numbers of at least 0, with a sum below 2^63"
        )
    if not 0 <= batch.counted <= batch.count:
        raise ValueError(f"a batch cannot count {batch.counted} of {batch.count} instances")
    if type(batch.seconds) is not float or not 0 <= batch.seconds < math.inf:
        raise ValueError(f"a batch's seconds must be finite and >= 0, not {short(batch.seconds)}")
    if not isinstance(batch.version, str) or len(batch.version) > _LONGEST_VERSION:
        raise ValueError(f"a batch's version must be a short string, not {short(batch.version)}")
    return batch


def refuse_overlap(batches: Iterable[BatchRecord]) -> None:
    """Raise if two batches of a task, given in order, share an instance."""
    end = 0
    for batch in batches:
        if batch.first < end:
            raise ValueError(f"two batches of a task overlap at instance {batch.first}")
        end = batch.end


def whole_numbers(joined: object, count: int, what: str) -> npt.NDArray[np.int64]:
    """Parse `count` non-zero integers from a comma-separated string."""
    plain = joined if isinstance(joined, str) else ""
    if not plain.encode().translate(None, b"0123456789,-"):
        numbers = np.fromstring(plain, dtype=np.int64, sep=",")
        if len(numbers) == count and numbers.all():
            return numbers
    raise ValueError(f"some of the {count} rows have an invalid {what}")


def text(value: object, what: str) -> str:
    """Return a value unchanged, but raise unless it is a string of allowed length."""
    if not isinstance(value, str):
        raise ValueError(f"{what} is {short(value)}, not a string")
    if len(value) > LONGEST_TEXT:
        raise ValueError(f"{what} has {len(value)} characters; use at most {LONGEST_TEXT}")
    return value


def stored_name(value: object, longest: int) -> str:
    """Return a name without control codes; raise if it is not a string or is too long."""
    if not isinstance(value, str) or not 0 < len(value) <= longest:
        raise ValueError(f"{short(value)} is not a name of 1 to {longest} characters")
    return without_codes(value)


def without_codes(words: str) -> str:
    r"""Replace line breaks and control codes, which a terminal would obey, with question marks.

    >>> without_codes("a\x1b[2Jb")
    'a?[2Jb'
    """
    return "".join(c if c.isprintable() else "?" for c in words)


def json_object(value: object, what: str) -> dict[str, Any]:
    """Parse a string as a JSON object; raise a ValueError if it is not one."""
    try:
        parsed = json.loads(text(value, what), parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError(f"{what} is nested too deeply") from None
    except json.JSONDecodeError:
        raise ValueError(f"{what} is not JSON: {short(value)}") from None
    if not isinstance(parsed, dict):
        raise ValueError(f"{what} is not a JSON object: {short(value)}")
    return parsed


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a valid JSON number")


def fields_of(value: object, *names: str) -> list[Any]:
    """Return an object's values in the order of `names`, which must be all keys of the object."""
    if not isinstance(value, dict) or set(value) != set(names):
        raise ValueError(f"{short(value)} is not an object with the keys {', '.join(names)}")
    return [value[name] for name in names]


def short(value: object) -> str:
    """Return a short, one-line representation of any value, without control codes."""
    shown = ascii(value[:60] if isinstance(value, (str, bytes)) else value)
    return shown if len(shown) <= 80 else shown[:80] + "..."
