"""MaxCut graphs as rudy and Biq Mac write them: `VERTICES EDGES`, then lines `i j weight`.

Vertices count from 1. Maximising the cut of a graph with weights w is minimising an Ising energy
with J = -w and no fields: `E = offset + Σw - 2·cut`. Fields become edges to an ancilla (the last
vertex). Parallel edges add up. The first line may be missing. Comments (after #) may be anywhere;
glasshouse writes comments below the edges, where readers that count lines do not read them.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any, BinaryIO

import numpy as np

from glasshouse.files.claims import Stated
from glasshouse.files.document import Document
from glasshouse.files.formats import comments, pair_terms
from glasshouse.files.formats.format import Format, Sheet, register_format
from glasshouse.files.formats.pair_terms import read_headed_terms
from glasshouse.files.text.streams import Source
from glasshouse.problems import Ising, Measure, to_ising
from glasshouse.problems.convert import ising_to_maxcut
from glasshouse.problems.exact import exact_sum


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        keys = ("planted-cut", "planted-model", "recipe", "offset", "numbers", "ancilla")
        self.notes = comments.Notes(source, keys)

    def read(self) -> Document:
        size, pairs, weights = read_headed_terms(self.source, self.notes, "vertex", loops=False)
        offset = pair_terms.offset_of(self.notes)
        graph = pair_terms.make(self.source, Ising, size, pairs, weights, offset, sign=-1)
        return self._document(graph)

    def _document(self, graph: Ising) -> Document:
        """Return the document, without any ancilla and with the stated cut as an energy."""
        cut = self.notes.number("planted-cut")
        model = self.notes.bits("planted-model", graph.num_variables)
        cost = None if cut is None else cut_of(graph).energy_of(cut)
        if cost is not None and abs(cost) > sys.float_info.max:
            raise self.notes.error("planted-cut", "gives an energy beyond the range of floats")
        if self.notes.count("ancilla", max(1, graph.num_variables), graph.num_variables) is None:
            graph = self.notes.labelled(graph)
            return Document(graph, Stated(cost, model, self.notes.recipe(), cut))
        if model is not None:
            model = model[:-1] ^ model[-1] ^ 1  # relative to the ancilla, which is up
        problem = self.notes.labelled(_without_ancilla(graph))
        return Document(problem, Stated(cost, model, self.notes.recipe(), cut))


def read(source: Source) -> Document:
    """Read a MaxCut graph as an Ising problem; edges to a stated ancilla become fields."""
    return _Reader(source).read()


def write(file: BinaryIO, sheet: Sheet) -> None:
    """Write an Ising problem as a MaxCut graph: header, edges of weight -J, then comments."""
    problem: Ising = sheet.problem
    graph, reduction = ising_to_maxcut(problem)
    stated = sheet.stated.reduced(problem, reduction)
    file.write(b"%d %d\n" % (graph.num_variables, graph.num_edges))
    first, second = graph.edges[:, 0] + 1, graph.edges[:, 1] + 1
    pair_terms.write_terms(file, first, second, -graph.weights)
    file.write(sheet.remark_lines("#") + pair_terms.number_notes("#", graph))
    file.write(comments.label_line("#", problem.labels))
    if graph is not problem:
        file.write(b"# ancilla %d\n" % graph.num_variables)
    if stated.cost is not None:
        cut = cut_of(graph).of(stated.cost)
        stated = Stated(cut, stated.model, stated.recipe)
    file.write(comments.note_lines("#", stated, "planted-cut"))


def _without_ancilla(graph: Ising) -> Ising:
    """Remove the last vertex (the ancilla), and convert its edges back to fields."""
    last = graph.num_variables - 1
    at_last = graph.edges[:, 1] == last
    fields: Any = np.zeros_like(graph.weights, shape=last)
    fields[graph.edges[at_last, 0]] = graph.weights[at_last]
    return Ising(last, graph.edges[~at_last], graph.weights[~at_last], fields, graph.offset)


def cut_of(problem: Ising) -> Measure:
    """Return the cut as a measure: the weight of edges between the two sides, maximised."""
    weights = exact_sum(problem.weights, problem.fields)  # fields are edges of the file
    shift = (Fraction(problem.offset) - weights) / 2
    return Measure("cut", problem.is_integer, Fraction(-1, 2), shift)


MAXCUT = register_format(Format("rudy MaxCut", ".mc", to_ising, write, read, measure=cut_of))
