"""The format of a file without a known suffix, by its first lines."""

from __future__ import annotations

from glasshouse.files.formats import FORMATS, Format
from glasshouse.files.registry import unknown_suffix
from glasshouse.files.streams import Place, Source, format_suffix, name_of, opened, refuse_pipe

_LOOKED_AT = 1 << 16
# Openings of lines that only one format has. Comments of all formats begin with # or c.
_OPENINGS = {b"p wcnf": ".wcnf", b"p cnf": ".cnf", b"p qubo": ".qubo", b"# vartype": ".coo"}


def format_by_content(place: Place) -> Format:
    """Return the format of a file by its first lines, or by the name of the one file in a zip.

    Graphs of Max-Cut are often called `g05_60.0`, `torus.dat` or `G62.txt`. A file whose first line
    has two or three numbers is such a graph, except for clauses without a header, which end in 0.
    """
    refuse_pipe(name_of(place))  # it would have to be read twice
    with opened(place) as source:
        suffix = format_suffix(source.inner_name)
        if suffix not in FORMATS:
            suffix = _suffix_of(source)
    if suffix not in FORMATS:
        raise unknown_suffix(place)
    return FORMATS[suffix]


def _suffix_of(source: Source) -> str:
    """The suffix of the format that the first lines belong to; empty for none."""
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
