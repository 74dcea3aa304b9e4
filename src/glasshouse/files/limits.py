"""How large a file may say that its problem is."""

from __future__ import annotations

from glasshouse.files.streams import Source

# A file that names far more variables than it has terms would fill the memory with zeros.
_MOST_IDLE = 10_000_000


def check_size(source: Source, size: int, terms: int, what: str) -> int:
    """The number of variables, refused where a small file claims very many.

    Args:
        source: the file, for errors.
        size: how many variables it names.
        terms: how many terms or clauses it has.
        what: what they are called.
    """
    if size > max(_MOST_IDLE, 100 * terms):
        raise source.error(
            f"{size} variables but only {terms} {what}; more than {_MOST_IDLE} variables need at "
            "least one for each hundred of them"
        )
    return size
