"""dimod's own binary file of a binary quadratic model (`bqm.to_file`), through dimod.

Its numbers are floats: integers above 2^53 are refused on writing, whole numbers are integers again
on reading. It has no place for comments, so a plant is known from its side-car only.
"""

from __future__ import annotations

import io
from typing import Any, BinaryIO

import numpy as np

from glasshouse.files.coo import spin_or_binary
from glasshouse.files.document import Document
from glasshouse.files.errors import FileError
from glasshouse.files.formats import Format, Sheet
from glasshouse.files.streams import Source
from glasshouse.problems import Ising, Qubo


def read(source: Source) -> Document:
    """A model of vartype SPIN as an Ising problem, of BINARY as a QUBO."""
    dimod = _dimod()
    data = source.read()
    try:
        model = dimod.BinaryQuadraticModel.from_file(io.BytesIO(data))
        problem: Ising | Qubo
        problem = _qubo(model) if model.vartype is dimod.BINARY else Ising.from_bqm(model)
    except FileError:
        raise
    except Exception as fault:  # dimod's loader lets any error through, from struct to json
        raise source.error(f"is not a dimod BQM file ({fault})") from None
    return Document(problem)


def write(file: BinaryIO, sheet: Sheet) -> None:
    """The model, its variables numbered from 0."""
    dimod = _dimod()
    problem: Ising | Qubo = sheet.problem
    if isinstance(problem, Ising):
        vartype, sign, singles = "SPIN", -1.0, problem.fields
    else:
        vartype, sign, singles = "BINARY", 1.0, problem.linear
    weights, linear = _as_floats(problem.weights), _as_floats(singles)
    offset = _as_floats(np.array([problem.offset]))[0]
    pairs = (problem.edges[:, 0], problem.edges[:, 1], sign * weights)
    model = dimod.BinaryQuadraticModel.from_numpy_vectors(sign * linear, pairs, offset, vartype)
    with model.to_file() as data:
        file.write(data.read())


def _qubo(model: Any) -> Qubo:
    linear, (rows, columns, values), offset = model.to_numpy_vectors(
        variable_order=list(model.variables)
    )
    numbers = [linear, values, np.array([offset])]
    if all((x == np.rint(x)).all() and (np.abs(x) < 2.0**53).all() for x in numbers):
        numbers = [x.astype(np.int64) for x in numbers]
    linear, values, constant = numbers
    edges = np.column_stack([rows, columns])
    return Qubo.from_edges(len(linear), edges, values, linear, constant[0])


def _as_floats(values: Any) -> Any:
    if values.dtype == np.int64 and (np.abs(values) > 2**53).any():
        raise ValueError(
            "a .bqm file holds floats, which are not exact above 2^53; write .npz or .qubo instead"
        )
    return values.astype(np.float64)


def _dimod() -> Any:
    try:
        import dimod
    except ImportError:
        raise ValueError("a .bqm file needs dimod; install glasshouse[solvers]") from None
    return dimod


BQM = Format("dimod BQM", ".bqm", spin_or_binary, write, read)
