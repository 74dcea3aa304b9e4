"""WCNF by edges, for solvers: one relaxation variable an edge instead of two soft clauses.

Edge e between spins i and j gets a variable r_e that must be true when the bond is violated: two
hard clauses of three literals, and the soft clause ¬r_e of weight |J|. Fields are unit clauses as
ever, and costs are those of the plain encoding. Core-guided solvers can be far faster on it. Such a
file has no certificate: no checker reads it.
"""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from glasshouse.files import notes, wcnf
from glasshouse.files.document import Metadata
from glasshouse.files.formats import Format, Sheet
from glasshouse.files.rows import write_table
from glasshouse.problems import Ising, Problem
from glasshouse.problems.convert import ising_to_max2sat, to_ising
from glasshouse.problems.reduction import Reduction


def write(file: BinaryIO, sheet: Sheet) -> None:
    """Comments, header, hard clauses of all edges, soft clauses of edges, then of fields."""
    problem: Ising = sheet.problem
    used = problem.weights != 0
    weights, ends = problem.weights[used], problem.edges[used].astype(np.int64) + 1
    biased = np.flatnonzero(problem.fields)
    fields = problem.fields[biased]
    if not problem.is_integer:
        raise ValueError('encoding="edge" needs integer weights, but these are floats')
    relaxed = problem.num_spins + 1 + np.arange(len(ends))
    first, second = ends[:, 0], np.where(weights > 0, -1, 1) * ends[:, 1]
    top = 1 + int(problem.total_weight)
    file.write(sheet.remark_lines("c") + b"c encoding edge\n")
    file.write(notes.note_lines("c", _with_relaxation(sheet.metadata, ends, weights)))
    num_clauses = 3 * len(ends) + len(biased)
    file.write(wcnf.head(sheet.dialect, problem.num_spins + len(ends), num_clauses, top))
    prefix, zeros = wcnf.hard_prefix(sheet.dialect, top), np.zeros(len(ends), dtype=np.int64)
    write_table(file, [first, second, relaxed, zeros], prefix)
    write_table(file, [-first, -second, relaxed, zeros], prefix)
    write_table(file, [np.abs(weights), -relaxed, zeros])
    literals = np.where(fields > 0, biased + 1, -(biased + 1))
    write_table(file, [np.abs(fields), literals, np.zeros_like(literals)])


def _with_relaxation(metadata: Metadata, ends: np.ndarray, weights: np.ndarray) -> Metadata:
    """The planted model extended by what it makes of the relaxation variables."""
    model = metadata.planted_model
    if model is None:
        return metadata
    equal = model[ends[:, 0] - 1] == model[ends[:, 1] - 1]
    violated = (equal != (weights > 0)).astype(np.int8)
    return Metadata(metadata.planted_cost, np.concatenate([model, violated]), metadata.recipe)


def convert(problem: Problem) -> tuple[Ising, Reduction]:
    """The Ising form, with the identity of the cost that the file will have."""
    ising, first = to_ising(problem)
    return ising, first.then(ising_to_max2sat(ising)[1])


EDGE_WCNF = Format("weighted CNF by edges", ".wcnf", convert, write)
