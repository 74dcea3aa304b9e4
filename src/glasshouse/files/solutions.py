"""Solutions as solvers print them, converted back to the variables of the original problem.

A solution consists of v lines, a list of 0 and 1 or ±1, or JSON.

A conversion is a function of the problem, so it need not be stored. All conversions of `convert`
are repeated until one gives the converted file; this also proves that the file comes from the
original. A side-car or a recipe may state how variables were shuffled; the statement is used only
if the renamed problem equals the file's.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.files.document import Document
from glasshouse.files.formats import format_of
from glasshouse.files.formats.cnf import WCNF
from glasshouse.files.formats.edge_wcnf import EDGE_WCNF, ByEdges
from glasshouse.files.formats.format import Dialect, Format, Sheet
from glasshouse.files.formats.maxcut import MAXCUT
from glasshouse.files.formats.opb import OPB
from glasshouse.files.reading import read_document
from glasshouse.files.replanting import ordered
from glasshouse.files.text.errors import FileError
from glasshouse.files.text.plain_json import parse_json
from glasshouse.files.text.streams import Place, opened
from glasshouse.planting import Recipe, shuffling
from glasshouse.problems import Ising, Max2Sat, MaxSat, Measure, Number, Problem, Reduction, convert
from glasshouse.problems.naming import Labels, Units
from glasshouse.problems.renaming import renamed
from glasshouse.summaries import Summarised

# Keys under which programs store the values in a JSON object; `model` is our own.
_KEYS = ("model", "sample", "state", "solution")
_EXPECTED = "v lines, 0 and 1, +1 and -1, literals such as 1 -2 3, or JSON with a list or a `model`"
_NUMBER = re.compile(r"([+-]?)x?(\d{1,10})(?:\.0*)?")  # 1, -1.0, x7, -x7


def read_solution(
    place: Place, sizes: Sequence[int], labels: Labels | None = None
) -> npt.NDArray[np.int8]:
    """Read a solver's solution from a file or stream, as one value per variable, 0 or 1.

    The function reads the `v` lines of MaxSAT and pseudo-Boolean solvers (0/1 strings, literals,
    x1 -x2), the text and the JSON of `glasshouse solve`, and plain lists of 0/1 or ±1, as text or
    as JSON. JSON may also map names to values ({"0": 1, "1": -1}): the labels of the problem, or
    numbers counted from 0 if it has no labels.

    Args:
        place: the file or stream.
        sizes: the allowed numbers of variables; the first one that fits is used.
        labels: the problem's variable labels.

    Raises:
        FileError: the file is not a solution, or has another size.
    """
    with opened(place) as source:
        text = source.read_all().decode("utf-8", "replace")
        words = _from_json(text, labels) if text.lstrip()[:1] in ("{", "[") else _from_text(text)
        for size in sizes:
            bits = _bits(words, size)
            if bits is not None:
                return bits
        wanted = " or ".join(map(str, dict.fromkeys(sizes)))
        raise source.error(f"has no solution with {wanted} variables; expected {_EXPECTED}")


def _from_text(text: str) -> list[str]:
    """Return the words in v lines or in the model line; if there are none, return all words."""
    lines = [line.split() for line in text.replace(",", " ").splitlines()]
    lines = [words for words in lines if words]
    for mark in ("v", "model"):
        marked = [words[1:] for words in lines if words[0] == mark]
        if marked:
            return [word for words in marked for word in words]
    return [word for words in lines if words[0] not in ("c", "o", "s", "#") for word in words]


def _from_json(text: str, labels: Labels | None) -> list[str]:
    """Return the values in a JSON text as strings; the list is empty if there are no values."""
    value: Any = parse_json(text.encode())
    if isinstance(value, dict):
        value = next((value[key] for key in _KEYS if key in value), value)
    if isinstance(value, dict):
        names = [str(name) for name in (range(len(value)) if labels is None else labels)]
        if sorted(names) != sorted(value):  # this includes labels that are spelled alike
            return []
        value = [value[name] for name in names]
    if isinstance(value, str):
        return value.split()
    values = value if isinstance(value, list) else []
    return [str(int(one)) if isinstance(one, bool) else str(one) for one in values]


def _bits(words: list[str], size: int) -> npt.NDArray[np.int8] | None:
    """Parse words as 0/1 values; return None if they are not a solution of `size` variables."""
    joined = "".join(words)
    if len(joined) == size and set(joined) <= {"0", "1"}:
        return np.array([int(c) for c in joined], dtype=np.int8)
    found = [_NUMBER.fullmatch(word) for word in words]
    if not all(found):
        return None
    numbers = [int(one[1] + one[2]) for one in found if one]
    if len(numbers) == size and (set(numbers) <= {0, 1} or set(numbers) <= {-1, 1}):
        return np.array([number > 0 for number in numbers], dtype=np.int8)
    if numbers and numbers[-1] == 0:
        numbers.pop()
    signs = {abs(number): number > 0 for number in numbers}
    if len(signs) != len(numbers) or set(signs) != set(range(1, size + 1)):
        return None
    return np.array([signs[k] for k in range(1, size + 1)], dtype=np.int8)


KINDS = ("ising", "rbm", "qubo", "max2sat", "maxcut")
_COMMENTS = {".wcnf": b"c", ".opb": b"*"}


@dataclass(frozen=True, repr=False)
class Returned(Summarised):
    """A solution, converted back to the original problem.

    Attributes:
        problem: the original problem.
        state: the solution in the original's own variables and values.
        energy: the energy of the state in the original problem, recomputed; a cost for clauses.
        converted_energy: the energy of the solution in the converted file; None if that file cannot
            be read (the edge encoding, OPB).
        reduction: the reduction from the original to the converted file.
        measure: the value by which readers of the original file know a state.
        converted_measure: the measure of the converted file, if it can be read.
    """

    problem: Problem
    state: npt.NDArray[np.int8]
    energy: Number
    converted_energy: Number | None
    reduction: Reduction
    measure: Measure
    converted_measure: Measure | None


def bring_back(
    original: Place,
    converted: str | os.PathLike[str],
    solution: Place,
    *,
    format: str | None = None,
    converted_format: str | None = None,
    certificate: str | os.PathLike[str] | None = None,
    units: Units | None = None,
) -> Returned:
    """Convert a solution of a converted or shuffled file back to the original problem.

    Args:
        original: the original problem.
        converted: the file that `convert` or `write` made from it, in any format, kind and
            encoding; or the same plant shuffled.
        solution: a solution of the converted file, as solvers print it (see `read_solution`).
        format: the format of the original, if it has no suffix.
        converted_format: the format of the converted file, if it has no suffix.
        certificate: the certificate of a shuffled file, which states the shuffling, if it is not
            next to that file.
        units: the units of the original, if it is a matrix (see `read`).

    Raises:
        FileError: the file is not a conversion of the original, or the solution does not fit it.
    """
    source = read_document(original, format=format, units=units)
    target = Path(converted)
    found = _find(source.problem, target, converted_format, certificate)
    if found is None:
        raise FileError(
            target, f"is not a conversion of {source.path}; pass a file converted from that file"
        )
    way, held = found
    size, format_ = way.target.size, format_of(target, converted_format)
    sizes = [size, size + _extra_variables(held, format_)]
    bits = read_solution(solution, sizes, getattr(held, "labels", None))
    if format_ is MAXCUT and len(bits) > size:
        bits = bits ^ bits[-1] ^ 1  # relative to the ancilla, which is up
    bits = bits[:size]
    state = way.back(way.target.from_bits(bits))
    inside = None if isinstance(held, ByEdges) else held.energy(held.space.from_bits(bits))
    measured = None if isinstance(held, ByEdges) else (format_.measure or Measure.own)(held)
    energy = source.problem.energy(state)
    return Returned(source.problem, state, energy, inside, way, source.measure, measured)


def _find(
    problem: Problem,
    path: Path,
    format: str | None,
    certificate: str | os.PathLike[str] | None,
) -> tuple[Reduction, Problem | ByEdges] | None:
    """Find a conversion that yields a file; return reduction and problem, or None if none fits."""
    format_ = format_of(path, format)
    document, fault = None, None
    if format_.read is not None:
        try:
            document = read_document(path, format=format).with_certificate(certificate)
        except FileError as error:
            if format_ is not WCNF:
                raise
            fault = error  # perhaps the file is in the edge encoding
    if document is None and format_ is WCNF:
        format_ = EDGE_WCNF
    if document is None:
        with opened(path, format) as source:
            lines = _without_comments(source.read_all(), format_)
        matches = (w for w in _ways(problem, format_, []) if lines in _spellings(format_, w[1]))
    else:
        held, names = ordered(document.problem), _names(document)
        matches = (w for w in _ways(problem, format_, names) if ordered(w[1]) == held)
    for way, made in matches:
        return way, made
    if fault is not None and "encoding" not in str(fault):
        raise fault
    return None


def _ways(
    problem: Problem, format_: Format, names: list[npt.NDArray[Any]]
) -> Iterator[tuple[Reduction, Any]]:
    """Yield all conversions of a problem to a format, including those of the shuffled problem."""
    turns = [convert.unchanged, *(getattr(convert, f"to_{kind}") for kind in KINDS)]
    starts = [convert.unchanged(problem)]
    starts += [renamed(problem, one) for one in names if len(one) == problem.num_variables]
    for start, first in starts:
        for turn in turns:
            try:
                turned, second = turn(start)
                made, third = format_.convert(turned)
            except ValueError:  # the numbers are too large for that kind
                continue
            yield first.then(second).then(third), made


def _names(document: Document | None) -> list[npt.NDArray[Any]]:
    """Return the shuffles of variables that a file's side-car and its recipe state."""
    names: list[npt.NDArray[Any]] = []
    if document is None:
        return names
    size, recipe = document.problem.num_variables, document.stated.recipe
    was = document.proof.names if document.load_proof and document.proof else None
    if was is not None and len(was) == size:
        names.append(np.argsort(was))
    if recipe is not None:
        with suppress(ValueError):  # the recipe may come from any program
            names.append(shuffling.names(Recipe.from_json(json.dumps(recipe)), size))
    return names


def _spellings(format_: Format, made: Any) -> list[list[bytes]]:
    """Return every text that the format's writer can write for a problem, without comments."""
    dialects: tuple[Dialect, ...] = ("classic", "mse22") if format_ is EDGE_WCNF else ("classic",)
    spelled = []
    for dialect in dialects:
        file = io.BytesIO()
        assert format_.write is not None
        try:
            format_.write(file, Sheet(made, dialect=dialect))
        except ValueError:  # the format cannot hold the weights
            continue
        spelled.append(_without_comments(file.getvalue(), format_))
    return spelled


def _without_comments(text: bytes, format_: Format) -> list[bytes]:
    mark = _COMMENTS[format_.suffix]
    return [line for line in text.splitlines() if not line.startswith(mark)]


def _extra_variables(held: Problem | ByEdges, format_: Format) -> int:
    """Return the number of variables that the file has in addition to the problem's."""
    if isinstance(held, Ising) and format_ is MAXCUT:
        return int(held.fields.any())
    return held.num_clauses if isinstance(held, (Max2Sat, MaxSat)) and format_ is OPB else 0
