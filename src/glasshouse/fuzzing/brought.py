"""Conversion of a user's file to a `Question`: its clauses, and their optimum if it is found."""

from __future__ import annotations

from pathlib import Path

from glasshouse.files.clause_file import Layout, Line, read_clauses
from glasshouse.files.known import known_file
from glasshouse.files.text.streams import opened
from glasshouse.fuzzing.deciding import decide
from glasshouse.fuzzing.question import Question


def brought_question(path: Path) -> Question:
    """Convert a user's file to a `Question`, marked as undecided if its optimum is not found."""
    clauses, known = read_clauses(path), known_file(path)
    hard: list[Line] = [(None, clause) for clause in clauses.hard]
    decision, optimum = None, known.optimum
    is_decided = optimum is not None or known.is_infeasible
    if not is_decided:
        decision = decide(clauses)
    if decision is not None:
        optimum, is_decided = decision.optimum, True
    certificate = None if decision is None else decision.certificate
    layout = Layout("classic" if _has_p_line(path) else "mse22")
    lines, size = (*hard, *clauses.soft), max(1, clauses.num_variables)
    return Question(size, lines, optimum, layout, certificate, is_decided)


def _has_p_line(path: Path) -> bool:
    with opened(path) as source:
        return any(line.startswith(b"p") for line in b"".join(source.blocks()).split(b"\n"))
