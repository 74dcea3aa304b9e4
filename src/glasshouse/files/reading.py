"""Reading any file, by its suffix."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path

from glasshouse.certificates import CertificateError
from glasshouse.files.document import Document
from glasshouse.files.errors import FileError
from glasshouse.files.registry import format_of
from glasshouse.files.sidecar import has_side_car, read_side_car, side_car
from glasshouse.files.streams import opened
from glasshouse.planting import Planted
from glasshouse.problems import Problem


def read(path: str | os.PathLike[str], *, verify: bool = True) -> Problem | Planted:
    r"""The problem that a file holds; its plant where the file holds all of it (`.npz`).

    The suffix tells the format (see `docs/files.md`); `.gz` and `.xz` may follow it. Anything wrong
    with the file is a `FileError`, a ValueError that names file and line. A plant is verified, and
    a false one is a `CertificateError`.

    Args:
        path: the file.
        verify: False believes a plant as the file states it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "small.wcnf"
    ...     _ = path.write_text("p wcnf 2 2 8\n3 1 -2 0\n4 2 0\n")
    ...     read(path)
    Max2Sat(2 variables, 2 clauses, integer weights 3 to 4)
    """
    document = read_document(path)
    return document.problem if document.planted is None else stated_plant(document, verify)


def stated_plant(document: Document, verify: bool) -> Planted:
    """The plant of a native file, proven unless the caller believes it."""
    assert document.planted is not None
    if verify:
        try:
            document.planted.verify()
        except CertificateError as lie:
            raise CertificateError(f"{document.path}: {lie}") from None
    return document.planted


def read_document(path: str | os.PathLike[str]) -> Document:
    """The problem that a file holds, with what it states about a plant; nothing is verified.

    A side-car is not read before somebody asks for it, with `Document.load_proof`.
    """
    path = Path(path)
    format_ = format_of(path)
    if format_.read is None:
        raise FileError(path, f"{format_.suffix} files are written, not read; convert the original")
    with opened(path) as source:
        document = replace(format_.read(source), path=path)
    if document.planted is None and has_side_car(path):
        return replace(document, load_proof=partial(read_side_car, side_car(path)))
    return document
