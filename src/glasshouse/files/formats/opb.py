"""The writer of OPB, the pseudo-Boolean format of exact solvers and proof checkers.

Variables x1 … xn are the problem's. Soft clause k (from 1) has the relaxation variable x(n+k),
which must be 1 if the clause is falsified. The objective adds up weight · x(n+k), so its minimum is
the least cost. Constraint k is soft clause k; the hard clauses follow.
"""

from __future__ import annotations

from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from glasshouse.files.formats import comments
from glasshouse.files.formats.clauses import as_clauses, whole_weights
from glasshouse.files.formats.format import Format, Sheet, register_format
from glasshouse.problems import Max2Sat, MaxSat

_AT_ONCE = 1 << 14


def write(file: BinaryIO, sheet: Sheet) -> None:
    """Write an OPB file: size, comments, objective, and one constraint per clause."""
    problem: Max2Sat | MaxSat = sheet.problem
    weights = whole_weights(problem, "OPB")
    size, soft, hard = problem.num_variables, problem.num_clauses, problem.num_hard
    file.write(b"* #variable= %d #constraint= %d\n" % (size + soft, soft + hard))
    file.write(sheet.remark_lines("*") + comments.label_line("*", problem.labels))
    file.write(comments.note_lines("*", sheet.stated))
    file.write(b"min:")
    relaxed = size + 1 + np.arange(soft)
    for start in range(0, soft, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        terms = np.column_stack([weights[part], relaxed[part]])
        file.write(b" +%d x%d" * len(terms) % tuple(terms.ravel().tolist()))
    file.write(b" ;\n")
    if isinstance(problem, MaxSat):
        rows = [*problem.soft.lists(), *problem.hard.lists()]
        file.writelines(_constraint(row, size + 1 + k) for k, row in enumerate(rows[:soft]))
        file.writelines(_constraint(row, None) for row in rows[soft:])
        return
    for start in range(0, soft, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        file.write(_constraints(problem.clauses[part], relaxed[part]))
    file.write(_constraints(problem.hard, None))


def _constraints(clauses: npt.NDArray[np.int32], relaxed: npt.NDArray[np.int64] | None) -> bytes:
    """Return clauses as OPB constraints, with relaxation variables if these are given.

    >>> print(_constraints(np.array([[1, -2], [3, 3]]), np.array([7, 8])).decode(), end="")
    +1 x1 -1 x2 +1 x7 >= 0 ;
    +1 x3 +1 x8 >= 1 ;
    """
    literals = clauses.astype(np.int64)
    literals[literals[:, 0] == literals[:, 1], 1] = 0  # because x ∨ x is x
    if relaxed is not None:
        literals = np.column_stack([literals, relaxed])
    there = literals != 0
    bounds = 1 - (literals < 0).sum(axis=1)
    kept = np.repeat(there, 2, axis=1)
    numbers = np.stack([np.sign(literals), np.abs(literals)], axis=2).reshape(kept.shape)
    values = np.column_stack([numbers, bounds])[np.column_stack([kept, np.ones_like(there[:, :1])])]
    templates = [b"%+d x%d " * count + b">= %d ;\n" for count in range(4)]
    return b"".join([templates[k] for k in there.sum(axis=1)]) % tuple(values.tolist())


def _constraint(clause: list[int], relaxed: int | None) -> bytes:
    r"""Return the OPB constraint of one clause of any length.

    >>> _constraint([1, -2, 3, 1], 7)
    b'+1 x1 -1 x2 +1 x3 +1 x7 >= 0 ;\n'
    """
    literals = list(dict.fromkeys(clause)) + ([] if relaxed is None else [relaxed])
    terms = b"".join(b"%+d x%d " % (1 if x > 0 else -1, abs(x)) for x in literals)
    return terms + b">= %d ;\n" % (1 - sum(x < 0 for x in literals))


OPB = register_format(Format("pseudo-Boolean OPB", ".opb", as_clauses, write))
