"""Lines and values that commands print for a file that is a standard instance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from glasshouse.files import Document


def standard_line(document: Document) -> list[str]:
    """Return one line for people, or none."""
    from glasshouse.library import recognise

    found = recognise(document.problem)
    return [] if found is None else [found.told(document.measure)]


def standard_values(document: Document) -> dict[str, Any]:
    """Value, bound and name for JSON; null for a file that is not a standard instance."""
    from glasshouse.library import recognise

    found = recognise(document.problem)
    if found is None:
        return {"standard_instance": None}
    values = {
        "name": found.instance.name, "family": found.instance.family,
        "value": found.value_in(document.measure), "bound": found.bound_in(document.measure),
        "proven": found.instance.proven,
    }  # fmt: skip
    return {"standard_instance": values}
