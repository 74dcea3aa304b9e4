"""The reader of problem files: the suffix or the first lines determine the format."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from glasshouse.files.certificate.reading import has_side_car, read_side_car, side_car
from glasshouse.files.document import Document
from glasshouse.files.formats import format_of, unknown_suffix
from glasshouse.files.formats.format import FORMATS, Format
from glasshouse.files.text.errors import FileError
from glasshouse.files.text.streams import (
    Place,
    Source,
    format_suffix,
    is_stream,
    name_of,
    opened,
    refuse_pipe,
)
from glasshouse.planting import Planted
from glasshouse.problems import Problem, Units

_LOOKED_AT = 1 << 16
# Line beginnings that only one format has. Comments of all formats begin with # or c.
_OPENINGS = {b"p wcnf": ".wcnf", b"p cnf": ".cnf", b"p qubo": ".qubo", b"# vartype": ".coo"}


def read(
    place: Place, *, format: str | None = None, verify: bool = True, units: Units | None = None
) -> Problem | Planted:
    r"""Read the problem in a file; return its plant if the file contains one (`.npz`).

    The suffix gives the format (see `docs/files.md`); `.gz`, `.xz` and `.zip` may follow it. Files
    with another suffix, or none, are recognised by their first lines. Any fault in the file raises
    a `FileError`, a ValueError that names file and line. A plant is verified; if it is false,
    a `CertificateError` is raised.

    Args:
        place: the file, or an open stream of bytes.
        format: the format, if the file has no suffix: "wcnf", "npz", "qubo.gz", …
        verify: False trusts a plant as the file states it.
        units: "spin" for ±1 or "binary" for 0 and 1, for a matrix (.npy, .csv, .npz of W, a, b) or
            a .hubo file that does not state its units.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "small.wcnf"
    ...     _ = path.write_text("p wcnf 2 2 8\n3 1 -2 0\n4 2 0\n")
    ...     read(path)
    Max2Sat(2 variables, 2 clauses, integer weights 3 to 4)
    """
    document = read_document(place, format=format, units=units)
    if document.planted is None:
        return document.problem
    _ = verify and document.proven  # raises if the plant is false
    return document.planted


def read_document(
    place: Place, *, format: str | None = None, units: Units | None = None
) -> Document:
    """Read the problem in a file, and the file's statements, without verifying them.

    A side-car is not read before `Document.load_proof` is called; a stream has none. The arguments
    are those of `read`.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from glasshouse.files import write
    >>> from glasshouse.planting import random_loops
    >>> folder = tempfile.TemporaryDirectory()
    >>> place = Path(folder.name) / "inst.wcnf"
    >>> _ = write(place, random_loops(4, 4, frustration="1/5", loops=3, rng=1))
    >>> document = read_document(place)
    >>> document.problem, document.stated.cost
    (Max2Sat(8 variables, 20 clauses, integer weights 3 to 12), 9)
    >>> folder.cleanup()
    """
    if units not in (None, "spin", "binary"):
        raise ValueError(f"units={units!r} must be 'spin' or 'binary'")
    path, format_ = name_of(place), _format_of(place, format)
    if format_.read is None:
        raise FileError(path, f"{format_.suffix} files cannot be read; read the original problem")
    with opened(place, format, units) as source:
        if not format_.takes_units:
            source.refuse_units()
        document = format_.read(source)
    measured = format_.measure or document.measured
    document = replace(document, path=path, suffix=format_.suffix, measured=measured)
    if document.planted is None and not is_stream(place) and has_side_car(path):
        return replace(document, load_proof=partial(read_side_car, side_car(path)))
    return document


def _format_of(place: Place, format: str | None) -> Format:
    """Return the format that `format` names; by default, recognise it by suffix or content."""
    is_named = format is not None or is_stream(place)
    if is_named or format_suffix(name_of(place)) in FORMATS or name_of(place).is_dir():
        return format_of(place, format)
    return format_by_content(place)


def format_by_content(place: Place) -> Format:
    """Recognise the format of a file by its first lines, or that of a zip archive by its member.

    Graphs of Max-Cut are often called `g05_60.0`, `torus.dat` or `G62.txt`. A file whose first line
    has two or three numbers is such a graph, except for clauses without a header, which end in 0.
    """
    refuse_pipe(name_of(place))  # the content would have to be read twice
    with opened(place) as source:
        suffix = format_suffix(source.inner_name)
        if suffix not in FORMATS:
            suffix = _suffix_of(source)
    if suffix not in FORMATS:
        raise unknown_suffix(place)
    return FORMATS[suffix]


def _suffix_of(source: Source) -> str:
    """Recognise a format by the first lines of a file; return its suffix, or an empty string."""
    for line in source.read(_LOOKED_AT).splitlines():
        text = b" ".join(line.split(maxsplit=4))
        for opening, suffix in _OPENINGS.items():
            if text.startswith(opening):
                return suffix
        if not text or text[:1] in (b"#", b"c"):
            continue
        words = text.split(b" ")
        are_numbers = all(word.lstrip(b"+-").replace(b".", b"", 1).isdigit() for word in words)
        has_weight = len(words) == 3 and words[2] != b"0"
        return ".mc" if are_numbers and (len(words) == 2 or has_weight) else ""
    return ""
