"""All formats, by suffix."""

from __future__ import annotations

from glasshouse.files.bqm import BQM
from glasshouse.files.bqpjson import BQPJSON
from glasshouse.files.cnf import CNF
from glasshouse.files.coo import COO
from glasshouse.files.errors import FileError
from glasshouse.files.formats import Format
from glasshouse.files.matrices import CSV, NPY
from glasshouse.files.maxcut import MAXCUT
from glasshouse.files.npz import NPZ
from glasshouse.files.opb import OPB
from glasshouse.files.qplib import QPLIB
from glasshouse.files.qubo import QUBO
from glasshouse.files.streams import Place, format_suffix, name_of, typed_name
from glasshouse.files.wcnf import WCNF

FORMATS = {
    f.suffix: f for f in (WCNF, CNF, OPB, QUBO, QPLIB, MAXCUT, COO, BQM, BQPJSON, NPZ, NPY, CSV)
}


def format_of(place: Place, format: str | None = None) -> Format:
    """The format that a file's name asks for, or the one named."""
    suffix = format_suffix(typed_name(place, format))
    if suffix not in FORMATS:
        known = " ".join(FORMATS)
        raise FileError(
            name_of(place), f"unknown suffix {suffix!r}; expected one of {known} (+ .gz or .xz)"
        )
    return FORMATS[suffix]
