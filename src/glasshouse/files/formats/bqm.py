"""The binary format of dimod's binary quadratic models (`BinaryQuadraticModel.to_file`).

Its numbers are floats: integers above 2^53 are refused when writing, and integral floats become
integers again when reading. The format has no comments, so a plant is known only from its
side-car. dimod itself writes the file. This module reads it, because dimod trusts the indices in
a file, and a corrupt file could crash the process.
"""

from __future__ import annotations

import itertools
import struct
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from glasshouse.files.document import Document
from glasshouse.files.formats import pair_terms
from glasshouse.files.formats.coo import spin_or_binary
from glasshouse.files.formats.format import Format, Sheet, register_format
from glasshouse.files.text.archive import bounds_of, whole_between
from glasshouse.files.text.plain_json import parse_object
from glasshouse.files.text.streams import Source
from glasshouse.problems import MOST_VARIABLES, Ising, Labels, Measure, Qubo, naming

_MAGIC = b"DIMODBQM"
_INDICES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_BIASES = ("float32", "float64")
# Bytes that sorting takes per variable or neighbour; each has at least 2 bytes in the file.
_ENTRY_COST = 16


def read(source: Source) -> Document:
    """Read a SPIN model as an Ising problem, or a BINARY model as a QUBO, with its labels."""
    data = source.read_all()
    header, start = _header(source, data)
    kinds = [header.get(key) for key in ("dtype", "itype", "ntype")]
    if kinds[0] not in _BIASES or kinds[1] not in _INDICES or kinds[2] not in _INDICES:
        raise source.error(f"has numbers of types {kinds}, which a dimod BQM file cannot have")
    bias, index, place = (np.dtype(kind).newbyteorder("<") for kind in kinds)
    size, num_pairs = _shape(source, header)
    layout = np.dtype([("start", place), ("bias", bias)]), np.dtype([("to", index), ("bias", bias)])
    lengths = [bias.itemsize, size * layout[0].itemsize, 2 * num_pairs * layout[1].itemsize]
    ends = list(itertools.accumulate(lengths, initial=start))[1:]
    if ends[-1] > len(data) or (ends[-1] < len(data) and not header.get("variables")):
        raise source.error(
            f"has {len(data)} bytes, but {size} variables and {num_pairs} pairs need {ends[-1]}; "
            "the file is truncated or was changed"
        )
    source.spend(_ENTRY_COST * (size + 2 * num_pairs))
    linear = np.frombuffer(data, layout[0], size, ends[0])
    neighbours = np.frombuffer(data, layout[1], 2 * num_pairs, ends[1])
    for biases in (np.frombuffer(data, bias, 1, start), linear["bias"], neighbours["bias"]):
        if not np.isfinite(biases).all():
            raise source.error("has a bias that is infinite or NaN; all biases must be finite")
    offset = np.frombuffer(data, bias, 1, start)[0].astype(np.float64).item()
    pairs, weights = _pairs(source, linear["start"], neighbours)
    single = np.repeat(np.arange(size, dtype=np.int64), 2).reshape(-1, 2)
    all_weights = np.concatenate([linear["bias"], weights]).astype(np.float64)
    kind, sign = (Ising, -1) if header["vartype"] == "SPIN" else (Qubo, 1)
    all_pairs = np.concatenate([single, pairs])
    weights = _whole(all_weights, offset)
    problem = pair_terms.make(source, kind, size, all_pairs, weights, offset, sign)
    labels = _labels(source, header, data[ends[-1] :], size)
    return Document(problem if labels is None else replace(problem, labels=labels))


def write(file: BinaryIO, sheet: Sheet) -> None:
    """Write an Ising problem or a QUBO as dimod does, with its labels as variable names."""
    naming.refuse_odd(sheet.problem.labels)
    with sheet.problem.to_bqm().to_file() as data:
        file.write(data.read())


def _header(source: Source, data: bytes) -> tuple[dict[str, Any], int]:
    """Return the JSON header, and the position of the first byte after it."""
    if not data.startswith(_MAGIC) or len(data) < 14:
        raise source.error("is not a dimod BQM file; write one with BinaryQuadraticModel.to_file")
    major, minor, length = struct.unpack_from("<BBI", data, len(_MAGIC))
    if (major, minor) not in ((1, 0), (2, 0)):
        raise source.error(f"is a dimod BQM file of version {major}.{minor}; expected 1.0 or 2.0")
    header = parse_object(data[14 : 14 + length])
    if header is None or header.get("vartype") not in ("SPIN", "BINARY"):
        raise source.error("is not a dimod BQM file: the header does not state a known vartype")
    return header, 14 + length


def _shape(source: Source, header: dict[str, Any]) -> tuple[int, int]:
    shape = header.get("shape")
    if (
        not isinstance(shape, list)
        or len(shape) != 2
        or not all(type(number) is int and 0 <= number <= MOST_VARIABLES for number in shape)
    ):
        raise source.error(f"the shape {shape!r:.40} must state the numbers of variables and pairs")
    return shape[0], shape[1]


def _labels(source: Source, header: dict[str, Any], tail: bytes, size: int) -> Labels | None:
    """Return the labels, which are at the end of the file or (in version 1) in the header."""
    stated = header.get("variables")
    try:
        if isinstance(stated, list):
            return naming.from_list(stated, size)
        if not stated:
            return None
        length = int.from_bytes(tail[4:8], "little")
        if tail[:4] != b"VARS" or len(tail) != 8 + length:
            raise ValueError("the list of labels is incomplete; the file was truncated or changed")
        return naming.from_json(tail[8:], size)
    except ValueError as fault:
        raise source.error(f"has invalid labels: {fault}") from None


def _pairs(
    source: Source, starts: npt.NDArray[Any], neighbours: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
    """Return each pair and its bias once; the file lists each pair under both of its variables."""
    size, total = len(starts), len(neighbours)
    try:
        first = whole_between(starts, 0, total, "a start")
        bounds = bounds_of(np.append(first, total), total, "a start")
        there = whole_between(neighbours["to"], 0, size - 1, "a neighbour")
    except ValueError as fault:
        raise source.error(f"in the lists of neighbours, {fault}; the file is corrupt") from None
    here = np.repeat(np.arange(size), np.diff(bounds))
    if (there == here).any():
        raise source.error(
            "in the lists of neighbours, a variable is its own neighbour; the file is corrupt"
        )
    low = there < here
    below = np.column_stack([there, here])[low]
    above = np.column_stack([here, there])[~low]
    order_below, order_above = np.lexsort(below.T[::-1]), np.lexsort(above.T[::-1])
    weights = neighbours["bias"][low][order_below]
    other = neighbours["bias"][~low][order_above]
    if not np.array_equal(below[order_below], above[order_above]) or not np.array_equal(
        weights, other
    ):
        raise source.error("the lists of neighbours are not symmetric; the file is corrupt")
    return below[order_below], weights


def _whole(weights: npt.NDArray[np.float64], offset: float) -> npt.NDArray[Any]:
    numbers = np.append(weights, offset)
    if (numbers == np.rint(numbers)).all() and (np.abs(numbers) < 2.0**53).all():
        return weights.astype(np.int64)
    return weights


BQM = register_format(
    Format(
        "dimod BQM", ".bqm", spin_or_binary, write, read, has_notes=False, measure=Measure.objective
    )
)
