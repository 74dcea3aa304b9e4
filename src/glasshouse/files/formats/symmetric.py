"""QUBOs as the entries of a symmetric matrix Q: `VARIABLES ENTRIES`, then lines `i j q`.

Variables count from 1. Each entry off the diagonal is listed once and counts twice, because the
objective is x'Qx, the sum over all i and j. The Biq Mac library minimises the objective
(`.sparse`), and MQLib maximises it (`.mqlib`).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from glasshouse.files.document import Document
from glasshouse.files.formats import pair_terms
from glasshouse.files.formats.comments import Notes
from glasshouse.files.formats.format import Format, register_format
from glasshouse.files.formats.pair_terms import read_headed_terms
from glasshouse.files.text.streams import Source
from glasshouse.problems import Measure, Qubo, to_qubo


def read(source: Source, sign: int) -> Document:
    """Read the objective x'Qx as a QUBO; `sign` is -1 if it is maximised."""
    stated = Notes(source, ("numbers",))
    size, pairs, weights = read_headed_terms(source, stated, "variable", loops=True)
    twice = pairs[:, 0] != pairs[:, 1]
    if weights.dtype == np.int64 and (np.abs(weights[twice]) >= 2**62).any():
        raise source.error(
            "an entry off the diagonal is too large; it counts twice, so it must be below 2^62"
        )
    problem = pair_terms.make(source, Qubo, size, pairs, np.where(twice, 2, 1) * weights, 0, sign)
    return Document(stated.labelled(problem))


SPARSE = register_format(
    Format(
        "Biq Mac QUBO", ".sparse", to_qubo, None, partial(read, sign=1), measure=Measure.objective
    )
)
MQLIB = register_format(
    Format(
        "MQLib QUBO",
        ".mqlib",
        to_qubo,
        None,
        partial(read, sign=-1),
        measure=partial(Measure.objective, sign=-1),
    )
)
