"""Solutions as solvers print them, and their way back to the variables of the original.

A solution is v lines, a list of 0 and 1 or ±1, or JSON.

A conversion is a function of the problem, so nothing needs to be kept of it. Whatever `convert` can
do is done again until it gives what the converted file holds: that finds the way, and proves that
the one file comes from the other. A side-car or a recipe may tell how variables were shuffled; it
is believed only if the renamed problem is the file's.
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
from glasshouse.problems import Ising, Max2Sat, MaxSat, Problem, convert
from glasshouse.problems.measure import Measure
from glasshouse.problems.naming import Labels, Units
from glasshouse.problems.reduction import Reduction
from glasshouse.problems.renaming import renamed
from glasshouse.problems.validation import Number
from glasshouse.summaries import Summarised

# Where programs put the values in an object of JSON; `model` is our own.
_KEYS = ("model", "sample", "state", "solution")
_EXPECTED = "v lines, 0 and 1, +1 and -1, literals such as 1 -2 3, or JSON with a list or a `model`"
_NUMBER = re.compile(r"([+-]?)x?(\d{1,10})(?:\.0*)?")  # 1, -1.0, x7, -x7


def read_solution(
    place: Place, sizes: Sequence[int], labels: Labels | None = None
) -> npt.NDArray[np.int8]:
    """The solution that a file or stream holds, as 0 and 1, one per variable.

    Read are the `v` lines of MaxSAT and pseudo-Boolean solvers (0/1 strings, literals, x1 -x2),
    the text and the JSON of `glasshouse solve`, and plain lists of 0/1 or ±1, as text or as JSON,
    also by name of the variable ({"0": 1, "1": -1}): its label where the problem has labels, else
    its number, counted from 0.

    Args:
        place: where it is.
        sizes: how many variables it may have; the first one that fits is taken.
        labels: what the problem calls its variables.

    Raises:
        FileError: it is something else, or a solution of another size.
    """
    with opened(place) as source:
        text = source.read_all().decode("utf-8", "replace")
        words = _from_json(text, labels) if text.lstrip()[:1] in ("{", "[") else _from_text(text)
        for size in sizes:
            bits = _bits(words, size)
            if bits is not None:
                return bits
        wanted = " or ".join(map(str, dict.fromkeys(sizes)))
        raise source.error(f"holds no solution of {wanted} variables; expected {_EXPECTED}")


def _from_text(text: str) -> list[str]:
    """The words that are values: those of v lines, of our model line, or all."""
    lines = [line.split() for line in text.replace(",", " ").splitlines()]
    lines = [words for words in lines if words]
    for mark in ("v", "model"):
        marked = [words[1:] for words in lines if words[0] == mark]
        if marked:
            return [word for words in marked for word in words]
    return [word for words in lines if words[0] not in ("c", "o", "s", "#") for word in words]


def _from_json(text: str, labels: Labels | None) -> list[str]:
    """The values as words; none where there are no values."""
    value: Any = parse_json(text.encode())
    if isinstance(value, dict):
        value = next((value[key] for key in _KEYS if key in value), value)
    if isinstance(value, dict):
        names = [str(name) for name in (range(len(value)) if labels is None else labels)]
        if sorted(names) != sorted(value):  # also where two labels are spelled alike
            return []
        value = [value[name] for name in names]
    if isinstance(value, str):
        return value.split()
    values = value if isinstance(value, list) else []
    return [str(int(one)) if isinstance(one, bool) else str(one) for one in values]


def _bits(words: list[str], size: int) -> npt.NDArray[np.int8] | None:
    """Words as 0 and 1; None where they are no solution of so many variables."""
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
    """A solution, brought back.

    Attributes:
        problem: the original problem.
        state: in the original's own variables and values.
        energy: what the state has there, computed anew; a cost for clauses.
        converted_energy: what the solution has in the converted file; None where that cannot be
            read (the edge encoding, OPB).
        reduction: the way from the original to the converted file.
        measure: the number by which readers of the original know a state.
        converted_measure: likewise of the converted file, where that can be read.
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
    """A solution of a converted, doubled, edge-encoded or shuffled file, for the original file.

    Args:
        original: the problem as it was.
        converted: what `convert` or `write` made of it, in any format, kind and encoding; or the
            same plant shuffled.
        solution: of the converted file, as solvers print it (see `read_solution`).
        format: of the original, where no suffix tells it.
        converted_format: likewise of the converted file.
        certificate: of the converted file, where that was shuffled and the certificate, which tells
            how, is not beside it.
        units: of the original, where that is a matrix (see `read`).

    Raises:
        FileError: the one file is no conversion of the other, or the solution is none of it.
    """
    source = read_document(original, format=format, units=units)
    target = Path(converted)
    found = _find(source.problem, target, converted_format, certificate)
    if found is None:
        raise FileError(target, f"is no conversion of {source.path}: nothing leads back")
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
    """The reduction that makes the file of the problem, and what it makes; None if none does."""
    format_ = format_of(path, format)
    document, fault = None, None
    if format_.read is not None:
        try:
            document = read_document(path, format=format).with_certificate(certificate)
        except FileError as error:
            if format_ is not WCNF:
                raise
            fault = error  # of the edge encoding, perhaps
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
    """All that `convert` can make of a problem for a format, and the same of a shuffled one."""
    turns = [convert.unchanged, *(getattr(convert, f"to_{kind}") for kind in KINDS)]
    starts = [convert.unchanged(problem)]
    starts += [renamed(problem, one) for one in names if len(one) == problem.num_variables]
    for start, first in starts:
        for turn in turns:
            try:
                turned, second = turn(start)
                made, third = format_.convert(turned)
            except ValueError:  # numbers too large for that kind
                continue
            yield first.then(second).then(third), made


def _names(document: Document | None) -> list[npt.NDArray[Any]]:
    """How the variables of a file may have been shuffled: what its side-car and recipe tell."""
    names: list[npt.NDArray[Any]] = []
    if document is None:
        return names
    size, recipe = document.problem.num_variables, document.stated.recipe
    was = document.proof.names if document.load_proof and document.proof else None
    if was is not None and len(was) == size:
        names.append(np.argsort(was))
    if recipe is not None:
        with suppress(ValueError):  # a recipe from anywhere
            names.append(shuffling.names(Recipe.from_json(json.dumps(recipe)), size))
    return names


def _spellings(format_: Format, made: Any) -> list[list[bytes]]:
    """What a writer makes of a problem, without comments."""
    dialects: tuple[Dialect, ...] = ("classic", "mse22") if format_ is EDGE_WCNF else ("classic",)
    spelled = []
    for dialect in dialects:
        file = io.BytesIO()
        assert format_.write is not None
        try:
            format_.write(file, Sheet(made, dialect=dialect))
        except ValueError:  # weights that the format does not hold
            continue
        spelled.append(_without_comments(file.getvalue(), format_))
    return spelled


def _without_comments(text: bytes, format_: Format) -> list[bytes]:
    mark = _COMMENTS[format_.suffix]
    return [line for line in text.splitlines() if not line.startswith(mark)]


def _extra_variables(held: Problem | ByEdges, format_: Format) -> int:
    """How many variables a solver of the file sees after those of the problem."""
    if isinstance(held, Ising) and format_ is MAXCUT:
        return int(held.fields.any())
    return held.num_clauses if isinstance(held, (Max2Sat, MaxSat)) and format_ is OPB else 0
