"""Files that state anything, true or not: `write` passes on only what is proven."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from glasshouse.files import Document, Sheet
from glasshouse.files.formats import format_of
from glasshouse.files.text.streams import writing


def write_stated(path: Path, document: Document, **options: Any) -> None:
    """Write a document with all that it states, and nothing beside it."""
    format_ = format_of(path)
    problem, reduction = format_.convert(document.problem)
    stated = document.stated.reduced(document.problem, reduction)
    assert format_.write is not None
    with writing(path, None, overwrite=True) as file:
        format_.write(file, Sheet(problem, stated, planted=document.planted, **options))
