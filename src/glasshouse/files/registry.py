"""All formats: one line each. Importing a format adds it to those that are known by suffix."""

from __future__ import annotations

from glasshouse.files.bqm import BQM as BQM
from glasshouse.files.bqpjson import BQPJSON as BQPJSON
from glasshouse.files.cnf import CNF as CNF
from glasshouse.files.coo import COO as COO
from glasshouse.files.errors import FileError
from glasshouse.files.formats import FORMATS as FORMATS
from glasshouse.files.formats import Format
from glasshouse.files.matrices import CSV as CSV
from glasshouse.files.matrices import NPY as NPY
from glasshouse.files.maxcut import MAXCUT as MAXCUT
from glasshouse.files.npz import NPZ as NPZ
from glasshouse.files.opb import OPB as OPB
from glasshouse.files.qplib import QPLIB as QPLIB
from glasshouse.files.qubo import QUBO as QUBO
from glasshouse.files.streams import Place, format_suffix, name_of, typed_name
from glasshouse.files.symmetric import MQLIB as MQLIB
from glasshouse.files.symmetric import SPARSE as SPARSE
from glasshouse.files.wcnf import WCNF as WCNF


def format_of(place: Place, format: str | None = None) -> Format:
    """The format that a file's name asks for, or the one named."""
    suffix = format_suffix(typed_name(place, format))
    if suffix not in FORMATS:
        if format is None and name_of(place).is_dir():
            raise FileError(name_of(place), "is a directory; expected a file")
        raise unknown_suffix(place, suffix)
    return FORMATS[suffix]


def unknown_suffix(place: Place, suffix: str | None = None) -> FileError:
    """The error for a file whose format is not known."""
    suffix = format_suffix(name_of(place)) if suffix is None else suffix
    known = " ".join(FORMATS)
    return FileError(
        name_of(place),
        f"unknown suffix {suffix!r}; expected one of {known} (+ .gz, .xz or .zip), or one of them "
        'named, such as format="wcnf"',
    )
