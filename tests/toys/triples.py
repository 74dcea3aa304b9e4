"""A format: an Ising problem as JSON, with its size, offset and triples (i, j, weight)."""

from __future__ import annotations

import json
from typing import BinaryIO

from glasshouse.files import Document, Format, Sheet, register_format
from glasshouse.files.text.streams import Source
from glasshouse.problems import Ising
from glasshouse.problems.convert import to_ising


def read(source: Source) -> Document:
    """Read the problem of a file."""
    try:
        size, offset, triples = json.loads(source.read_all())
        edges, weights = [(i, j) for i, j, _ in triples], [weight for _, _, weight in triples]
        return Document(Ising.from_edges(size, edges, weights, offset=offset))
    except (ValueError, TypeError) as error:
        raise source.error(f"does not contain triples: {error}") from error


def write(file: BinaryIO, sheet: Sheet) -> None:
    """Write a problem to a file."""
    problem: Ising = sheet.problem
    if problem.fields.any():
        raise ValueError("triples cannot store fields; choose another format")
    pairs = zip(problem.edges.tolist(), problem.weights.tolist(), strict=True)
    triples = [[*edge, weight] for edge, weight in pairs]
    file.write(json.dumps([problem.num_variables, problem.offset, triples]).encode())


TRIPLES = register_format(Format("triples", ".toy", to_ising, write, read, has_notes=False))
