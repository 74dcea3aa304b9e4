"""Hypergraphs to plant on: sets of variables, as lists, as text, or those of a problem's terms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from glasshouse.planting import arguments
from glasshouse.planting.graph_names import Extent, refuse_large
from glasshouse.planting.graphs import Graph
from glasshouse.problems import Clauses, Max2Sat, MaxSat, Monomials, Problem
from glasshouse.problems.convert import given_problem, to_maxsat, to_polynomial
from glasshouse.summaries import Summarised

_LIST = re.compile("sets:([0-9]+)((?: [0-9]++(?:-[0-9]++)*+)*+)")
_LONG_NUMBER = re.compile("[0-9]{10}")


@dataclass(frozen=True, eq=False, repr=False)
class VariableSets(Summarised):
    """The sets of variables of a hypergraph, without duplicates and without sets of one variable.

    Attributes:
        size: the number of variables, including those in no set.
        sets: the sets, in a canonical order.

    >>> VariableSets.of([(0, 1, 2), (2, 1, 0), (3, 1), (4,)])
    VariableSets(5 variables, 2 sets)
    >>> VariableSets.of(MaxSat(4, [[1, -2, 3], [-1]], [1, 1], hard=[[2, 4]])).name
    'sets:4 1-3 0-1-2'
    """

    size: int
    sets: Monomials

    @classmethod
    def of(cls, given: HypergraphLike) -> VariableSets:
        """Return the sets in lists of variables or in a text, or those of a problem's terms."""
        if isinstance(given, VariableSets):
            return given
        if isinstance(given, str):
            return cls.parse(given)
        if isinstance(given, (list, tuple, np.ndarray)):
            try:
                listed = Monomials.of(given)
            except ValueError:
                raise ValueError(
                    "a hypergraph must be a list of sets of variables, such as [(0, 1, 2), (1, 3)];"
                    " variables are numbered from 0, and there may be 2^28"
                ) from None
            return cls._checked(int(listed.indices.max(initial=-1)) + 1, listed)
        problem = given_problem(given)  # type: ignore[arg-type]
        if isinstance(problem, (Max2Sat, MaxSat)):
            clauses = to_maxsat(problem)[0]
            both = Clauses.joined([clauses.soft, clauses.hard])
            return cls._checked(
                problem.num_variables, Monomials(np.abs(both.literals) - 1, both.starts)
            )
        return cls._checked(problem.num_variables, to_polynomial(problem)[0].monomials)

    @classmethod
    def parse(cls, text: str) -> VariableSets:
        """Return the sets that a text lists, such as `name`.

        >>> VariableSets.parse("sets:4 0-1-2 1-2-3").sets.degrees.tolist()
        [3, 3]
        """
        if not (found := _LIST.fullmatch(text)):
            raise ValueError(
                f'{text[:60]!r} is not a list of sets such as "sets:4 0-1-2 1-2-3", which begins '
                "with the number of variables"
            )
        if _LONG_NUMBER.search(text):
            raise ValueError(f"{text[:60]!r} contains a number of more than 9 digits")
        # A space before a number begins a set, a dash continues it. Long texts stay in arrays.
        marks = np.frombuffer(found[2].encode(), np.uint8)
        begins = marks[(marks == ord(" ")) | (marks == ord("-"))] == ord(" ")
        numbers = np.fromstring(found[2].replace("-", " ") or "0", dtype=np.int32, sep=" ")
        starts = np.append(np.flatnonzero(begins), begins.size)
        return cls._checked(int(found[1]), Monomials(numbers[: begins.size], starts))

    @classmethod
    def _checked(cls, size: int, listed: Monomials) -> VariableSets:
        arguments.spins(size, 0)
        highest = int(listed.indices.max(initial=-1))
        if highest >= size:
            raise ValueError(f"a set has variable {highest}; variables are 0 to {size - 1}")
        refuse_large(Extent(size + len(listed.starts), len(listed.indices)))
        plain = listed.reduced(spins=False)
        order, firsts = plain.grouped()
        unique = plain.chosen(order[firsts])
        return cls(size, unique.chosen(np.flatnonzero(unique.degrees > 1)))

    @property
    def num_sets(self) -> int:
        """The number of sets."""
        return len(self.sets.starts) - 1

    @property
    def name(self) -> str:
        """The text from which `parse` makes the same sets."""
        words = self.sets.indices.astype(str).tolist()
        bounds = self.sets.starts.tolist()
        rows = ["-".join(words[a:b]) for a, b in pairwise(bounds)]
        return " ".join([f"sets:{self.size}", *rows])

    def incidences(self) -> Graph:
        """Return the graph that joins each variable to its sets, which are the last nodes."""
        ends = np.column_stack([self.sets.indices, self.size + self.sets.rows])
        ordered = ends[np.lexsort((ends[:, 1], ends[:, 0]))].astype(np.int32)
        return Graph(self.size + self.num_sets, ordered, "", ())

    def __repr__(self) -> str:
        return f"VariableSets({self.size} variables, {self.num_sets} sets)"


HypergraphLike: TypeAlias = VariableSets | str | Sequence[Sequence[int]] | Problem
