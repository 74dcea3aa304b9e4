"""The table of standard instances, and what is proven about their optima."""

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
    """One standard instance; its values are a graph's cuts or a QUBO's objectives.

    Attributes:
        name: the name in the literature, such as G62.
        family: the library that the instance comes from, such as gset or biqmac:rudy.
        variables: the number of variables that its file states.
        edges: the number of edges of its reduced graph (see `ReducedGraph`).
        vertices: the number of vertices of that graph that have an edge.
        sense: which value is the best, such as "largest cut".
        value: the best value found by glasshouse.
        bound: the verified bound: no state has a better value.
        seconds: the processor seconds of all searches.
        nodes: the number of nodes of the search tree.
        limit: the longest time limit tried, in processor seconds.
        version: the version of glasshouse that searched.
        date: the day on which the certificate was verified.
        fingerprint: the SHA-256 of its reduced graph.
        scale: the map from its reduced graph to its values.
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
        """Whether the value equals the bound, and is therefore the optimum."""
        return self.value == self.bound

    def is_of(self, family: str) -> bool:
        """Return whether the instance belongs to a family, or to a part of one.

        >>> k = next(k for k in instances() if k.name == "t2g10_5555")
        >>> k.family, k.is_of("biqmac"), k.is_of("biqmac:ising"), k.is_of("gset")
        ('biqmac:ising', True, True, False)
        """
        return self.family == family or self.family.startswith(f"{family}:")

    def reduced(self, value: Value) -> Fraction:
        """Return the sum K over the reduced graph at which the instance has a value."""
        return (value - self.scale.shift) / self.scale.factor


@lru_cache(maxsize=1)
def instances() -> tuple[Instance, ...]:
    """Return all standard instances that glasshouse includes.

    >>> any(k.name == "t2g10_5555" and k.proven for k in instances())
    True
    """
    return parsed(table_text().splitlines())


def table_text() -> str:
    """Return the whole table in CSV."""
    return files(__package__).joinpath("instances.csv").read_text(encoding="utf-8")


def rows_of(chosen: Iterable[Instance]) -> str:
    """Return the rows of some instances in CSV, unchanged."""
    names = {k.name for k in chosen}
    head, *rows = table_text().splitlines(keepends=True)
    return head + "".join(row for row in rows if row.partition(",")[0] in names)


def parsed(lines: Iterable[str]) -> tuple[Instance, ...]:
    """Return the instances of a table in CSV."""
    return tuple(_instance(row) for row in csv.DictReader(lines))


def _instance(row: dict[str, str]) -> Instance:
    """Return the instance of one row of the table."""
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
