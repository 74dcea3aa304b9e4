"""Plain matrices from NumPy and spreadsheets: `.npy`, `.csv`, and `.npz` of matrices or RBMs.

A matrix does not state whether its units are ±1 or 0 and 1, so the caller must. An RBM that
`glasshouse.boltzmann` saved has a text called `units`. A square matrix of more than one
row that is symmetric or triangular holds the couplings J of spins, or is the matrix of a QUBO. Any
other matrix is the W of an RBM, one row per visible unit.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any, cast, get_args

import numpy as np
import numpy.typing as npt

from glasshouse.files.document import Document
from glasshouse.files.formats.format import Format, register_format
from glasshouse.files.formats.pair_terms import changed, decimals
from glasshouse.files.text.archive import NUMBER, Archive, npy_head
from glasshouse.files.text.kernels import HARD
from glasshouse.files.text.number_rows import Rows, joined, read_rows
from glasshouse.files.text.streams import Source
from glasshouse.problems import Ising, Problem, Qubo, Rbm, Units
from glasshouse.problems.convert import unchanged

# Names of RBM arrays; the last name in each list is that of the package rbms.
WEIGHTS = ("W", "weights", "weight_matrix")
VISIBLE = ("a", "visible_bias", "v_bias", "vbias")
HIDDEN = ("b", "hidden_bias", "h_bias", "hbias")
# The names of scikit-learn, whose arrays have one row per hidden unit, and units 0 and 1.
_SKLEARN = ("components_", "intercept_visible_", "intercept_hidden_")
# Texts in an RBM that glasshouse saved: its units, and how it was trained.
_SAID = {"units", "training"}
_BOM = b"\xef\xbb\xbf"
_EMPTY = re.compile(rb"^[ \t]*,|,[ \t]*(?=[,\r\n])", re.MULTILINE)


def read_npy(source: Source) -> Document:
    """Read an .npy file that contains a matrix."""
    return matrix_document(source, npy_numbers(source))


def npy_numbers(source: Source) -> npt.NDArray[Any]:
    """Return the matrix in an .npy file."""
    data = source.read_all()
    try:
        kind, shape, is_fortran, start = npy_head(io.BytesIO(data), "the file", text=False)
        count = 1
        for length in shape:
            count *= length
        if count * kind.itemsize != len(data) - start:
            raise ValueError(f"the array of shape {shape} has the wrong number of bytes")
        if len(shape) != 2:
            raise ValueError(f"the array has shape {shape}; expected two dimensions")
    except ValueError as fault:
        raise source.error(f"is not a plain matrix: {fault}") from None
    _refuse_many(source, count)
    array = np.frombuffer(data, kind, offset=start).astype(kind.newbyteorder("="), copy=False)
    return array.reshape(shape, order="F" if is_fortran else "C")


def read_csv(source: Source) -> Document:
    """Read a .csv file that contains a matrix, with one row per line."""
    return matrix_document(source, csv_numbers(source))


def csv_numbers(source: Source) -> npt.NDArray[Any]:
    """Return the matrix in a text file, with numbers separated by commas or spaces.

    Lines that begin with # are skipped. The matrix has integers if all numbers are integral, in
    any spelling (3, 3.0, 3e0).
    """
    parts: list[npt.NDArray[Any]] = []
    width = count = 0
    for rows in read_rows(source, b"#", lambda *_: None, _without_commas(source)):
        width = width or int(rows.lengths[0])
        count += len(rows.values)
        _refuse_many(source, count)
        parts.append(_entries(source, rows, width))
    if not parts:
        raise source.error("contains no numbers; expected a matrix, one row per line")
    numbers: npt.NDArray[Any]
    if any(part.dtype != np.int64 for part in parts):
        numbers = np.concatenate([_floats(source, part) for part in parts])
        if (numbers == np.rint(numbers)).all() and (np.abs(numbers) < 2.0**53).all():
            numbers = numbers.astype(np.int64)
    else:
        numbers = joined(parts, np.int64)
    return numbers.reshape(-1, width)


def _refuse_many(source: Source, count: int) -> None:
    """Raise if a compressed file contains more numbers than its allowance permits."""
    if source.unpacker is not None and NUMBER * count > source.allowance.unpacked:
        raise source.error(source.allowance.too_much)


def _without_commas(source: Source) -> Iterator[bytes]:
    for number, text in enumerate(source.blocks()):
        text = text.removeprefix(_BOM) if number == 0 else text  # the mark of spreadsheets
        if _EMPTY.search(text):
            raise source.error("an entry is empty; expected a number between two commas")
        yield text.replace(b",", b" ")


def _entries(source: Source, rows: Rows, width: int) -> npt.NDArray[Any]:
    """Return all numbers in a block of rows, as floats if one of them is written as a float."""
    numbers: npt.NDArray[Any] = rows.values
    bad = rows.values == HARD
    if rows.odd:
        numbers = rows.values.astype(np.float64)
        bad |= changed(rows.values, numbers)
        places = np.fromiter(rows.odd, np.int64, len(rows.odd))
        numbers[places], bad[places] = decimals(list(rows.odd.values()))
    rows.refuse(
        source,
        [
            (
                rows.lengths != width,
                lambda row: f"the row has {rows.lengths[row]} entries; the rows above have {width}",
            ),
            (
                rows.having(bad),
                lambda row: (
                    f"{_first_bad(rows, bad, row)} is not a finite number; expected a "
                    "matrix of numbers separated by commas or spaces, without a header"
                ),
            ),
        ],
    )
    return numbers


def _first_bad(rows: Rows, bad: npt.NDArray[np.bool_], row: int) -> str:
    place = int(np.argmax(bad[rows.starts[row] : rows.ends[row]]))
    return rows.text(row, place)


def _floats(source: Source, numbers: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    reals = numbers.astype(np.float64)
    if numbers.dtype == np.int64 and changed(numbers, reals).any():
        raise source.error("has decimals, so integers must be exact as floats (up to 2^53)")
    return reals


def matrix_document(source: Source, matrix: npt.NDArray[Any]) -> Document:
    """Return the document of a matrix: an Ising problem, a QUBO, or an RBM without biases."""
    units = _stated(source)
    try:
        return Document(_problem(matrix, units))
    except ValueError as fault:
        raise source.error(str(fault)) from None


def _problem(matrix: npt.NDArray[Any], units: Units) -> Problem:
    is_square = matrix.shape[0] == matrix.shape[1] > 1
    if not is_square or not (
        np.array_equal(matrix, matrix.T)
        or not np.tril(matrix, -1).any()
        or not np.triu(matrix, 1).any()
    ):
        return Rbm(matrix) if units == "spin" else Rbm.from_binary(matrix)
    return Ising.from_matrix(matrix) if units == "spin" else Qubo.from_matrix(matrix)


def archive_document(source: Source, archive: Archive) -> Document:
    """Read another program's .npz archive: a matrix, or an RBM with biases."""
    if len(archive.names) == 1 and archive.names < set(WEIGHTS):
        return matrix_document(source, archive.numbers(archive.names.pop(), 2))
    weights, visible, hidden, units = machine_parts(source, archive)
    make = Rbm if units == "spin" else Rbm.from_binary
    return Document(make(weights, visible, hidden))


def machine_parts(source: Source, archive: Archive) -> tuple[Any, Any, Any, Units]:
    """Return the weights (a row per visible unit), both biases and the units of an archived RBM.

    Biases that the archive does not contain are None.
    """
    if set(_SKLEARN) <= archive.names:
        return _from_sklearn(source, archive)
    found = [[n for n in names if n in archive] for names in (WEIGHTS, VISIBLE, HIDDEN)]
    weights, visible, hidden = found
    known = len(weights) == 1 and len(visible) == len(hidden) <= 1
    if not known or len(archive.names - _SAID) != len([*weights, *visible, *hidden]):
        raise source.error(
            f"has the arrays {', '.join(sorted(archive.names))[:100]}; expected those "
            f"of glasshouse, or one each of {'/'.join(WEIGHTS)}, {'/'.join(VISIBLE)} and "
            f"{'/'.join(HIDDEN)}, or scikit-learn's {', '.join(_SKLEARN)}"
        )
    units = _own_units(source, archive) if "units" in archive else _stated(source)
    matrix = archive.numbers(weights[0], 2)
    if not visible:
        return matrix, None, None, units
    a, b = archive.numbers(visible[0], 1), archive.numbers(hidden[0], 1)
    if matrix.shape != (len(a), len(b)) and matrix.shape == (len(b), len(a)):
        matrix = matrix.T  # one row per hidden unit
    return matrix, a, b, units


def _from_sklearn(source: Source, archive: Archive) -> tuple[Any, Any, Any, Units]:
    if source.units == "spin":
        raise source.error('is a scikit-learn RBM, whose units are 0 and 1; omit units="spin"')
    weights, visible, hidden = _SKLEARN
    biases = archive.numbers(visible, 1), archive.numbers(hidden, 1)
    return archive.numbers(weights, 2).T, *biases, "binary"


def _own_units(source: Source, archive: Archive) -> Units:
    """Return the units that glasshouse stored in the archive of an RBM."""
    source.refuse_units()
    units = archive.text("units")
    if units not in get_args(Units):
        raise source.error(f"has the units {units[:40]!r}; expected spin or binary")
    return cast(Units, units)


def _stated(source: Source) -> Units:
    """Return the units that the caller passed for a file without units; raise if there are none."""
    if source.units is None:
        raise source.error(
            "contains a matrix, which does not state whether its units are ±1 or 0 and 1; pass "
            'units="spin" or units="binary"'
        )
    return source.units


NPY = register_format(Format("NumPy matrix", ".npy", unchanged, None, read_npy, takes_units=True))
CSV = register_format(
    Format("matrix of numbers", ".csv", unchanged, None, read_csv, takes_units=True)
)
