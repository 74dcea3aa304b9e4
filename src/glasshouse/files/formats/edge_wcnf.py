"""The edge encoding of WCNF, for solvers: one relaxation variable per edge.

Edge e between spins i and j gets a variable r_e, which must be true if the bond is violated. Two
hard clauses of three literals express this, and the soft clause ¬r_e has the weight |J|. Fields are
unit clauses as in the plain encoding, and the problem's own hard clauses stay hard. Core-guided
solvers can be far faster on this encoding. The file has no certificate: no checker reads it.

The cost is `(E - offset + Σ|J| + Σ|h|) / 2`, with the energy E of the soft clauses' Ising form, if
an assignment satisfies the hard clauses. For spin problems this is the cost in plain encoding.
Clauses add a constant and are scaled by 1, 2 or 4; the file's first comment states both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from glasshouse.files.formats import cnf, comments
from glasshouse.files.formats.clauses import write_clauses
from glasshouse.files.formats.format import Format, Sheet
from glasshouse.files.text.number_rows import write_table
from glasshouse.problems import IntArray, Ising, Max2Sat, Measure, Problem, WeightArray
from glasshouse.problems.convert import ising_to_max2sat, to_ising
from glasshouse.problems.reduction import Reduction, bits


@dataclass(frozen=True)
class ByEdges:
    """A problem prepared for the edge encoding: its soft part as an `Ising`, and hard clauses."""

    ising: Ising
    hard: npt.NDArray[np.int32]

    @property
    def bonds(self) -> tuple[IntArray, WeightArray]:
        """The edges that get a relaxation variable: their spin pairs (from 0) and their weights."""
        used = self.ising.weights != 0
        return self.ising.edges[used].astype(np.int64), self.ising.weights[used]


def write(file: BinaryIO, sheet: Sheet) -> None:
    """Write a WCNF file in the edge encoding: all hard clauses, then all soft clauses."""
    problem: ByEdges = sheet.problem
    ising, hard = problem.ising, problem.hard
    if not ising.is_integer:
        raise ValueError('encoding="edge" needs integer weights; scale and round the floats')
    ends, weights = problem.bonds
    biased = np.flatnonzero(ising.fields)
    fields = ising.fields[biased]
    relaxed = ising.num_variables + 1 + np.arange(len(ends))
    first, second = ends[:, 0] + 1, np.where(weights > 0, -1, 1) * (ends[:, 1] + 1)
    top = 1 + int(ising.total_weight)
    file.write(sheet.remark_lines("c") + b"c encoding edge\n")
    file.write(comments.note_lines("c", sheet.stated))
    num_clauses = len(hard) + 3 * len(ends) + len(biased)
    file.write(cnf.head(sheet.dialect, ising.num_variables + len(ends), num_clauses, top))
    prefix, zeros = cnf.hard_prefix(sheet.dialect, top), np.zeros(len(ends), dtype=np.int64)
    write_clauses(file, hard, None, prefix)
    write_table(file, [first, second, relaxed, zeros], prefix)
    write_table(file, [-first, -second, relaxed, zeros], prefix)
    write_table(file, [np.abs(weights), -relaxed, zeros])
    literals = np.where(fields > 0, biased + 1, -(biased + 1))
    write_table(file, [np.abs(fields), literals, np.zeros_like(literals)])


def convert(problem: Problem) -> tuple[ByEdges, Reduction]:
    """Prepare a problem for the edge encoding; return the result and the reduction to the file."""
    hard = np.empty((0, 2), dtype=np.int32)
    if isinstance(problem, Max2Sat):
        hard = problem.hard
        problem = Max2Sat(problem.num_variables, problem.clauses, problem.weights)
    ising, first = to_ising(problem)
    parts = ByEdges(ising, hard)
    return parts, _relaxed(parts, first.then(ising_to_max2sat(ising)[1]))


def _relaxed(parts: ByEdges, plain: Reduction) -> Reduction:
    """Extend the reduction `plain` so that it also sets the relaxation variables."""
    size = parts.ising.num_variables
    ends, weights = parts.bonds

    def forward(state: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
        model = plain.forward_map(state)
        equal = model[..., ends[:, 0]] == model[..., ends[:, 1]]
        return np.concatenate([model, (equal != (weights > 0)).astype(np.int8)], axis=-1)

    return replace(
        plain,
        target=bits("MAX-2-SAT by edges", size + len(ends)),
        forward_map=forward,
        back_map=lambda state: plain.back_map(state[..., :size]),
        bijective=False,
    )


EDGE_WCNF = Format(
    "weighted CNF by edges", ".wcnf", convert, write, measure=lambda _: Measure("cost", True)
)
