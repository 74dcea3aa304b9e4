"""The interface of a file format: its suffix, reader, writer and kind of problem."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Literal

from glasshouse.catalogue import Catalogue
from glasshouse.files.claims import Stated
from glasshouse.files.document import Document
from glasshouse.files.text.streams import Source
from glasshouse.planting import Planted
from glasshouse.problems import Measure, Problem, Reduction
from glasshouse.summaries import Summarised

Dialect = Literal["classic", "mse22"]
Encoding = Literal["clause", "edge"]

FORMATS = Catalogue["Format"]("format")
_TAKEN = (".gz", ".xz", ".zip", ".cert", ".jsonl")  # compressed files, certificates, manifests


@dataclass(frozen=True, repr=False)
class Sheet(Summarised):
    """The contents of a file to be written: a problem, its statements and remarks.

    Attributes:
        problem: a problem of a kind that the format holds.
        stated: the statements to write about the plant; empty in blind files.
        remarks: human-readable lines, written as comments.
        dialect: the dialect of a WCNF file.
        planted: the plant; only for the native format, which stores all of it.
    """

    problem: Any
    stated: Stated = field(default_factory=Stated)
    remarks: tuple[str, ...] = ()
    dialect: Dialect = "classic"
    planted: Planted | None = None

    def remark_lines(self, mark: str) -> bytes:
        """Return the remarks as comment lines that begin with `mark`."""
        return "".join(f"{mark} {remark}\n" for remark in self.remarks).encode("ascii")


@dataclass(frozen=True, repr=False)
class Format(Summarised):
    """A file format: its suffix, its reader, its writer and the problems that it can store.

    Attributes:
        name: human-readable name.
        suffix: the suffix, with its dot; `.gz`, `.xz` or `.zip` may follow it.
        convert: converts any problem to a kind that the format holds.
        write: writes one sheet; None for formats that are only read.
        read: reads a document; None for formats that are only written.
        native: whether the file stores a whole plant, including its loops.
        has_notes: whether the file can state a cost, model and recipe.
        takes_units: whether a file may leave its units unspecified.
        measure: the value of a state for readers of the format, and how it follows from the energy
            of the problem read. None if it is the energy (or cost) itself, or if each file has its
            own.
    """

    name: str
    suffix: str
    convert: Callable[[Problem], tuple[Any, Reduction]]
    write: Callable[[BinaryIO, Sheet], None] | None
    read: Callable[[Source], Document] | None = None
    native: bool = False
    has_notes: bool = True
    takes_units: bool = False
    measure: Callable[[Any], Measure] | None = None


def register_format(format_: Format) -> Format:
    """Register a format, so that files with its suffix can be read and written."""
    if not re.fullmatch(r"\.[a-z0-9_-]+", format_.suffix) or format_.suffix in _TAKEN:
        raise ValueError(
            f"suffix={format_.suffix!r} is reserved or invalid; use a suffix such as '.abc'"
        )
    return FORMATS.add(format_.suffix, format_)
