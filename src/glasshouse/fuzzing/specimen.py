"""Specimens: test instances made of parts; one known model minimises the cost of every part.

The cost is a sum over parts. Each part, for instance a planted loop, comes with loops in the sense
of a certificate, which prove that the model has the least cost of that part. So the model is
optimal for all parts together, for any selection of parts, and after every change that keeps the
costs of a part or adds a part that the model satisfies.

A hard clause has a weight, too: its weight in the proof of its part, from when it was soft. In a
file it weighs more than all soft clauses. The additional weight is a triangle of its two literals
and the ghost, whose own minimum every satisfied clause attains.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from glasshouse.certificates import Certificate, CertificateError
from glasshouse.files.clause_file import Layout, Line
from glasshouse.files.known import known_by
from glasshouse.fuzzing.question import Question, clauses_of
from glasshouse.planting import Planted


class Clause(NamedTuple):
    """A clause with its weight and the number of the part that it belongs to."""

    literals: tuple[int, ...]
    weight: int
    part: int
    is_hard: bool = False


class Loop(NamedTuple):
    """A loop of a proof. Its vertices are variables, or 0 for the ghost, which is always true.

    The model violates the edge from the last vertex to the first. The multiplier counts halves of
    a unit of cost.
    """

    multiplier: int
    vertices: tuple[int, ...]
    part: int


@dataclass(frozen=True)
class Specimen:
    """An instance made of parts: clauses, a model, and the loops that prove the model optimal.

    Attributes:
        model: 0 or 1 for each variable.
        clauses: the clauses, in the order of the file.
        loops: the loops that prove the model optimal.
        layout: the layout of the file.
    """

    model: tuple[int, ...]
    clauses: tuple[Clause, ...] = ()
    loops: tuple[Loop, ...] = ()
    layout: Layout = field(default_factory=Layout)

    @classmethod
    def of(cls, planted: Planted) -> Specimen:
        """Convert a plant to a specimen, in which the clauses of each loop are one part."""
        spins, ghost = planted.state.tolist(), planted.ising.num_variables
        clauses: list[Clause] = []
        loops: list[Loop] = []
        for part in range(len(planted.loops)):
            loop = planted.loops[part]
            nodes = [0 if node == ghost else node + 1 for node in loop.nodes.tolist()]
            weights = loop.weights.tolist()
            for a, b, weight in zip(nodes, nodes[1:] + nodes[:1], weights, strict=True):
                sign = (spins[a - 1] if a else 1) * (spins[b - 1] if b else 1)
                clauses += _edge_clauses(a, b, weight * sign, part)
            if weights[-1]:
                loops.append(Loop(-2 * weights[-1], tuple(nodes), part))
        return cls(tuple(int(spin > 0) for spin in spins), tuple(clauses), tuple(loops))

    @property
    def soft_weight(self) -> int:
        """The sum of the weights of all soft clauses."""
        return sum(clause.weight for clause in self.clauses if not clause.is_hard)

    @property
    def parts(self) -> list[int]:
        """The part numbers of the clauses, each once, in ascending order."""
        return sorted({clause.part for clause in self.clauses})

    @property
    def lines(self) -> tuple[Line, ...]:
        """The clauses, converted to the lines of a file."""
        return tuple((None if c.is_hard else c.weight, c.literals) for c in self.clauses)

    def satisfies(self, literals: Iterable[int]) -> bool:
        """Return whether the model satisfies a clause."""
        return any((x > 0) == bool(self.model[abs(x) - 1]) for x in literals)

    def triangle(self, literals: tuple[int, ...], multiplier: int, part: int) -> tuple[Loop, ...]:
        """Return the loop that bounds a clause with two variables, or () if fields suffice."""
        variables = [abs(x) for x in literals]
        if len(set(variables)) < 2 or not multiplier:
            return ()
        (first, second), (one, two) = variables, (self.satisfies([x]) for x in literals)
        assert one or two
        vertices = (first, 0, second) if one and two else (0, first, second)
        return (Loop(multiplier, vertices if one else (0, second, first), part),)

    def certificate(self) -> Certificate:
        """Return a certificate with all loops, and with a triangle for each hard clause."""
        penalty = 1 + self.soft_weight
        loops = list(self.loops)
        for clause in self.clauses:
            if clause.is_hard and clause.weight < penalty:
                loops += self.triangle(clause.literals, penalty - clause.weight, clause.part)
        size = len(self.model)
        nodes = [vertex - 1 if vertex else size for loop in loops for vertex in loop.vertices]
        starts = np.cumsum([0, *(len(loop.vertices) for loop in loops)])
        return Certificate(
            2 * np.array(self.model, dtype=np.int8) - np.int8(1),
            np.array(nodes, dtype=np.int32),
            starts,
            np.array([loop.multiplier for loop in loops], dtype=object),
            denominator=2,
        )

    def question(self) -> Question:
        """Convert the instance to a `Question`, after verifying that its loops prove its optimum.

        Raises:
            CertificateError: the loops do not show that the model is optimal.
        """
        certificate = self.certificate()
        known = known_by(clauses_of(len(self.model), self.lines), certificate)
        if known.optimum is None:
            raise CertificateError(
                f"the model costs {known.best}, but the proven bound is {known.bound}"
            )
        return Question(len(self.model), self.lines, known.optimum, self.layout, certificate)

    def only(self, parts: Iterable[int]) -> Specimen:
        """Return a specimen that contains only the given parts."""
        kept = set(parts)
        clauses = tuple(clause for clause in self.clauses if clause.part in kept)
        loops = tuple(loop for loop in self.loops if loop.part in kept)
        return Specimen(self.model, clauses, loops, self.layout)


def _edge_clauses(a: int, b: int, weight: int, part: int) -> list[Clause]:
    """Return the clauses of a coupling, or of a field if one end is the ghost."""
    if not a or not b:
        literal = a + b if weight > 0 else -(a + b)
        return [Clause((literal,), abs(weight), part)]
    b = -b if weight > 0 else b
    return [Clause((a, b), abs(weight), part), Clause((-a, -b), abs(weight), part)]
