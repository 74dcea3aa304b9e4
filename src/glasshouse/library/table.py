"""The table of standard instances, with their proven optima or bounds."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files
from typing import TypeAlias

from glasshouse.library.fingerprint import Scale
from glasshouse.summaries import Summarised

Value: TypeAlias = int | Fraction


@dataclass(frozen=True, repr=False)
class Instance(Summarised):
    """A standard instance: its name, its graph, its best value and its proven bound.

    Attributes:
        name: the name in the literature, such as G62.
        family: the library that the instance comes from, such as gset or biqmac:rudy.
        variables: the number of variables that its file states.
        edges: the number of edges of its reduced graph (see `ReducedGraph`).
        vertices: the number of vertices of that graph that have an edge.
        sense: which value is the best, such as "largest cut"; values are cuts or objectives.
        value: the best value found by glasshouse.
        bound: the verified bound, which no state can improve on.
        seconds: the processor seconds of all searches.
        nodes: the number of nodes of the search tree.
        limit: the longest time limit tried, in processor seconds.
        version: the version of glasshouse that searched.
        date: the day on which the certificate was verified.
        fingerprint: the SHA-256 of its reduced graph.
        scale: the map from sums of its reduced graph to its values.
        certificate: the SHA-256 of its certificate.
        size: the number of bytes of the certificate.
    """

    name: str
    family: str
    variables: int
    edges: int
    vertices: int
    sense: str
    value: Value
    bound: Value
    seconds: float
    nodes: int
    limit: float
    version: str
    date: str
    fingerprint: str
    scale: Scale
    certificate: str
    size: int

    @property
    def proven(self) -> bool:
        """Whether the best value equals the bound, so that the value is proven to be optimal."""
        return self.value == self.bound

    def is_of(self, family: str) -> bool:
        """Return whether the instance belongs to a family, such as biqmac or biqmac:ising.

        >>> k = next(k for k in instances() if k.name == "t2g10_5555")
        >>> k.family, k.is_of("biqmac"), k.is_of("biqmac:ising"), k.is_of("gset")
        ('biqmac:ising', True, True, False)
        """
        return self.family == family or self.family.startswith(f"{family}:")

    def reduced(self, value: Value) -> Fraction:
        """Convert a value of the instance to the sum K over its reduced graph."""
        return (value - self.scale.shift) / self.scale.factor


@lru_cache(maxsize=1)
def instances() -> tuple[Instance, ...]:
    """Return all standard instances that glasshouse includes.

    >>> any(k.name == "t2g10_5555" and k.proven for k in instances())
    True
    """
    return parsed(table_text().splitlines())


def table_text() -> str:
    """Return the whole table of standard instances as CSV."""
    return files(__package__).joinpath("instances.csv").read_text(encoding="utf-8")


def rows_of(chosen: Iterable[Instance]) -> str:
    """Return the table's header and the rows of the chosen instances, as unchanged CSV text."""
    names = {k.name for k in chosen}
    head, *rows = table_text().splitlines(keepends=True)
    return head + "".join(row for row in rows if row.partition(",")[0] in names)


def parsed(lines: Iterable[str]) -> tuple[Instance, ...]:
    """Parse the instances in the lines of a CSV table."""
    return tuple(_instance(row) for row in csv.DictReader(lines))


def _instance(row: dict[str, str]) -> Instance:
    """Return the instance that one row of the table describes."""
    return Instance(
        row["name"], row["family"], int(row["variables"]), int(row["edges"]),
        int(row["vertices"]), row["sense"], _value(row["value"]), _value(row["bound"]),
        float(row["seconds"]), int(row["nodes"]), float(row["limit"]),
        row["version"], row["date"], row["fingerprint"],
        Scale(Fraction(row["factor"]), Fraction(row["shift"])), row["certificate"],
        int(row["bytes"]),
    )  # fmt: skip


def _value(text: str) -> Value:
    value = Fraction(text)
    return int(value) if value.denominator == 1 else value
