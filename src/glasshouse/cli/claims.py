"""What a file claims about its optimum, held against what was found."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glasshouse.files import Document


def false_claim(document: Document, found: Any, optimal: bool) -> str:
    """That the stated optimum is none, and what shows it, in words; empty where nothing does.

    Args:
        document: the file as it was read.
        found: the energy of a state.
        optimal: whether no state has a lower one.
    """
    from glasshouse.files.claims import agrees

    stated, measure = document.metadata.planted_cost, document.measure
    if stated is None or agrees(document.problem, stated, Fraction(found)):
        return ""
    claim = f"this file's claim is false: it states {measure.phrase} of {document.stated_value}"
    if found < stated:
        return f"{claim}, but the state found has {measure.of(found)}"
    return f"{claim}, but the optimum is {measure.of(found)}" if optimal else ""
