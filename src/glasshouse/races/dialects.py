"""The clauses of an instance as a solver reads them: WCNF of either form, CNF or OPB.

Solvers get a fresh file in a folder of its own: neither its text nor its neighbours tell them the
optimum. Its only comments are the numbers of variables and clauses, where no header states them.
"""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Literal

from glasshouse.files.formats import opb
from glasshouse.files.formats.format import Sheet
from glasshouse.races.answer import Answer
from glasshouse.races.clause_file import ClauseFile
from glasshouse.races.deciding import as_max2sat
from glasshouse.races.question import Layout

Dialect = Literal["classic", "mse22", "cnf", "opb"]

SUFFIXES: dict[Dialect, str] = {
    "classic": ".wcnf", "mse22": ".wcnf", "cnf": ".cnf", "opb": ".opb",
}  # fmt: skip


def text_in(dialect: Dialect, clauses: ClauseFile) -> bytes:
    """The file that a solver is given.

    Raises:
        ValueError: the dialect cannot hold these clauses.

    >>> print(text_in("classic", ClauseFile(2, ((3, (1, 2)),), ((-1,),))).decode(), end="")
    p wcnf 2 2 4
    4 -1 0
    3 1 2 0
    """
    if dialect == "opb":
        file = io.BytesIO()
        opb.write(file, Sheet(as_max2sat(clauses)))
        return file.getvalue()
    if dialect == "cnf":
        if clauses.hard or any(weight != 1 for weight, _ in clauses.soft):
            raise ValueError("CNF holds clauses of weight 1 only, and these have others")
        rows = [" ".join(map(str, (*clause, 0))) for _, clause in clauses.soft]
        return "\n".join([f"p cnf {clauses.num_variables} {len(rows)}", *rows, ""]).encode()
    hard = [(None, clause) for clause in clauses.hard]
    return Layout(dialect).text(clauses.num_variables, (*hard, *clauses.soft))


def read_from(dialect: Dialect, answer: Answer, clauses: ClauseFile) -> Answer:
    """An answer about the clauses: OPB has one more variable per soft clause, which goes."""
    if dialect != "opb" or answer.model_words is None:
        return answer
    most = clauses.num_variables
    extra = {f"{sign}x{most + k}" for k in range(1, len(clauses.soft) + 1) for sign in ("", "-")}
    return replace(answer, model_words=tuple(w for w in answer.model_words if w not in extra))
