"""OPB, the pseudo-Boolean format of exact solvers and proof checkers; written, not read.

Variables x1 … xn are the problem's. Soft clause k (from 1) has the relaxation variable x(n+k),
which must be 1 where the clause is falsified, and the objective adds up weight · x(n+k): its
minimum is the least cost. Constraint k is soft clause k; the hard clauses follow.
"""

from __future__ import annotations

from typing import BinaryIO

from glasshouse.files import notes
from glasshouse.files.clauses import whole_weights
from glasshouse.files.formats import Format, Sheet
from glasshouse.problems import Max2Sat
from glasshouse.problems.convert import to_max2sat

_AT_ONCE = 1 << 14


def write(file: BinaryIO, sheet: Sheet) -> None:
    """Size, comments, objective, one constraint a clause."""
    problem: Max2Sat = sheet.problem
    weights = whole_weights(problem, "OPB")
    size, soft, hard = problem.num_variables, problem.num_clauses, problem.num_hard
    file.write(b"* #variable= %d #constraint= %d\n" % (size + soft, soft + hard))
    file.write(sheet.remark_lines("*") + notes.note_lines("*", sheet.metadata))
    file.write(b"min:")
    for start in range(0, soft, _AT_ONCE):
        terms = enumerate(weights[start : start + _AT_ONCE].tolist(), size + 1 + start)
        file.write("".join(f" +{weight} x{place}" for place, weight in terms).encode())
    file.write(b" ;\n")
    for start in range(0, soft, _AT_ONCE):
        clauses = enumerate(problem.clauses[start : start + _AT_ONCE].tolist(), size + 1 + start)
        lines = [_constraint([*clause, place]) for place, clause in clauses]
        file.write("".join(lines).encode())
    file.write("".join(map(_constraint, problem.hard.tolist())).encode())


def _constraint(clause: list[int]) -> str:
    """A clause as Σ ±x ≥ 1 - (how many are negated); 0 stands for no literal.

    >>> print(_constraint([1, -2, 7]), end="")
    +1 x1 -1 x2 +1 x7 >= 0 ;
    """
    literals = [literal for literal in dict.fromkeys(clause) if literal]  # x ∨ x is x
    terms = [f"+1 x{literal}" if literal > 0 else f"-1 x{-literal}" for literal in literals]
    negated = sum(literal < 0 for literal in literals)
    return f"{' '.join(terms)} >= {1 - negated} ;\n"


OPB = Format("pseudo-Boolean OPB", ".opb", to_max2sat, write, loop_units=2)
