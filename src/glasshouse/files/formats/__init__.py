"""The catalogue of file formats, each of which registers its suffix when it is imported.

format (what a format is) · cnf, edge_wcnf, opb (clauses, through clauses) · qubo, maxcut, coo,
symmetric, qplib, bqpjson, bqm (terms i, j, weight, through pair_terms) · hubo, terms_json (terms of
any degree) · matrices, npz (arrays) ·
comments (notes in comment lines)
"""

from __future__ import annotations

from glasshouse.files.formats.bqm import BQM as BQM
from glasshouse.files.formats.bqpjson import BQPJSON as BQPJSON
from glasshouse.files.formats.cnf import CNF as CNF
from glasshouse.files.formats.cnf import WCNF as WCNF
from glasshouse.files.formats.coo import COO as COO
from glasshouse.files.formats.format import FORMATS as FORMATS
from glasshouse.files.formats.format import Format
from glasshouse.files.formats.hubo import HUBO as HUBO
from glasshouse.files.formats.matrices import CSV as CSV
from glasshouse.files.formats.matrices import NPY as NPY
from glasshouse.files.formats.maxcut import MAXCUT as MAXCUT
from glasshouse.files.formats.npz import NPZ as NPZ
from glasshouse.files.formats.opb import OPB as OPB
from glasshouse.files.formats.qplib import QPLIB as QPLIB
from glasshouse.files.formats.qubo import QUBO as QUBO
from glasshouse.files.formats.symmetric import MQLIB as MQLIB
from glasshouse.files.formats.symmetric import SPARSE as SPARSE
from glasshouse.files.text.errors import FileError
from glasshouse.files.text.streams import Place, format_suffix, name_of, typed_name


def format_of(place: Place, format: str | None = None) -> Format:
    """Return the format that `format` names; by default, the format of the file's suffix."""
    suffix = format_suffix(typed_name(place, format))
    if suffix not in FORMATS:
        if format is None and name_of(place).is_dir():
            raise FileError(name_of(place), "is a directory; expected a file")
        raise unknown_suffix(place, suffix)
    return FORMATS[suffix]


def unknown_suffix(place: Place, suffix: str | None = None) -> FileError:
    """Return the error for a file with a suffix that no format has."""
    suffix = format_suffix(name_of(place)) if suffix is None else suffix
    known = " ".join(FORMATS)
    return FileError(
        name_of(place),
        f"unknown suffix {suffix!r}; expected one of {known} (+ .gz, .xz or .zip), or pass the "
        'format of the content, such as format="wcnf"',
    )
