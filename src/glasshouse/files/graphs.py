"""Graphs and hypergraphs to plant on, read from files: a problem's, or a list of edges or sets."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import numpy.typing as npt

from glasshouse.files.formats import FORMATS
from glasshouse.files.reading import read_document
from glasshouse.files.text.errors import FileError
from glasshouse.files.text.number_rows import Rows, read_rows
from glasshouse.files.text.plain_json import parse_object
from glasshouse.files.text.streams import Source, format_suffix, opened
from glasshouse.planting.graphs import Graph
from glasshouse.problems import Ising, Problem, to_ising

_MOST_NODES = 10**9
_COMMENT = re.compile(rb"#[^\n]*")
_SET = "a set must be variable numbers from 1 to 10^9, separated by spaces"


def read_graph(path: str | os.PathLike[str]) -> Ising:
    """Read a graph from a problem file, a description of a chip, or a list of edges.

    A chip is a `.json` file with the properties of a D-Wave solver, "qubits" and "couplers".
    A list of edges is a text file with two node numbers per line.

    Only numbers in the list of edges are nodes, and they are kept as labels, so the dead qubits of
    a chip are left out. Anything after the two numbers, or after a `#`, is ignored, so that edge
    lists of networkx and other programs can be read unchanged.
    """
    path = Path(path)
    if format_suffix(path) in (".csv", ".npy"):  # such a file could hold an RBM's weights or edges
        raise FileError(
            path,
            "is a matrix file, not a graph; pass a .txt file with two node numbers per line, "
            "separated by a space, or a problem file such as .coo",
        )
    if format_suffix(path) == ".json" and (chip := _chip(path)) is not None:
        return chip
    if format_suffix(path) in FORMATS:
        return to_ising(read_document(path).problem)[0]
    with opened(path) as source:
        plain = (_COMMENT.sub(b"", text) for text in source.blocks())
        parts = [_edges(source, rows) for rows in read_rows(source, b"", _no_line, plain)]
        if not parts:
            raise source.error("contains no edges; expected two node numbers per line")
    names, ends = np.unique(np.concatenate(parts), return_inverse=True)
    edges = ends.reshape(-1, 2)
    labels = names.tolist() if names[-1] >= len(names) else None
    return Ising.from_edges(len(names), edges, np.ones(len(edges), np.int64), labels=labels)


def read_hypergraph(path: str | os.PathLike[str]) -> Problem | list[list[int]]:
    """Read a hypergraph from a problem file, or from a text file with one set per line.

    The variables in a text file are numbered from 1, as in WCNF files; in the result, from 0.
    Anything after a `#` is ignored.
    """
    path = Path(path)
    if format_suffix(path) in FORMATS:
        return read_document(path).problem
    found: list[list[int]] = []
    with opened(path) as source:
        plain = (_COMMENT.sub(b"", text) for text in source.blocks())
        for rows in read_rows(source, b"", _no_line, plain):
            wrong = rows.having((rows.values < 1) | (rows.values > _MOST_NODES))
            rows.refuse(source, [(wrong, lambda _: _SET)])
            values = (rows.values - 1).tolist()
            bounds = zip(rows.starts.tolist(), rows.ends.tolist(), strict=True)
            found += [values[first:last] for first, last in bounds]
        if not found:
            raise source.error("contains no sets; expected variable numbers, one set per line")
    return found


def _edges(source: Source, rows: Rows) -> npt.NDArray[np.int64]:
    pairs = np.column_stack([rows.column(0, missing=-1), rows.column(1, missing=-1)])
    outside = (pairs < 0) | (pairs >= _MOST_NODES)
    wrong = outside[:, 0] | outside[:, 1]
    expected = "an edge must be two non-negative node numbers, separated by a space"
    loops = pairs[:, 0] == pairs[:, 1]
    rows.refuse(
        source,
        [
            (wrong, lambda _: expected),
            (loops, lambda k: f"node {pairs[k, 0]} is joined to itself; remove the line"),
        ],
    )
    return pairs


def _chip(path: Path) -> Ising | None:
    """Read the chip in a D-Wave solver's properties; return None for other JSON files."""
    with opened(path) as source:
        values = parse_object(source.read_all())
        if values is None or not any(name in values for name in ("couplers", "edgelist")):
            return None
        try:
            graph = Graph.of(values)
        except (ValueError, TypeError) as fault:
            raise source.error(f"has invalid solver properties: {fault}") from None
    ones = np.ones(graph.num_edges, np.int64)
    return Ising.from_edges(graph.num_nodes, graph.edges, ones, labels=graph.labels)


def _no_line(line: int, text: bytes, rows_before: int) -> None:
    raise AssertionError(f"line {line} was read as a comment, but there are no comment marks")
