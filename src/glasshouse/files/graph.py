"""Graphs to plant on, from files: problems whose couplings are the graph, or lists of edges."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from glasshouse.files.reading import read_document
from glasshouse.files.registry import FORMATS
from glasshouse.files.streams import format_suffix, opened
from glasshouse.problems import Ising
from glasshouse.problems.convert import to_ising


def read_graph(path: str | os.PathLike[str]) -> Ising | npt.NDArray[np.int64]:
    """The graph of a problem file, or of a text file with two node numbers a line.

    Nodes are counted from 0; what follows the two numbers, and a `#`, is passed over, so that
    edge lists of networkx and others can be read as they are.
    """
    path = Path(path)
    if format_suffix(path) in FORMATS:
        return to_ising(read_document(path).problem)[0]
    edges = []
    with opened(path) as source:
        for number, line in enumerate(source.read().splitlines(), start=1):
            words = line.split(b"#")[0].split()
            if not words:
                continue
            if len(words) < 2 or not all(w.isdigit() and len(w) < 10 for w in words[:2]):
                raise source.error("expected two node numbers, counted from 0", number)
            edges.append((int(words[0]), int(words[1])))
        if not edges:
            raise source.error("holds no edges; expected two node numbers a line")
    return np.array(edges, dtype=np.int64)
