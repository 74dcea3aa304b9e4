"""The allowance of a file: how much a file may make us unpack, allocate or grow.

Harm is amplification: few bytes on disk that fill the memory or keep us busy. What a file unpacks
to is therefore at most `UNPACKED` times its size on disk, or the limit below where that is more.
All else that a file asks for (variables without terms, long lines, pairs of squares, graphs and
loops of a recipe) is counted in bytes of the same limit. Plain files are read whatever their size:
they hold what they weigh.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field

VARIABLE = "GLASSHOUSE_READ_LIMIT"
UNPACKED = 32

_DEFAULT = 64 << 20
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
# What a variable, an edge or a loop weighs in memory, about.
ITEM = 64
# What a term of a file allows its recipe to grow: 64 loops or edges.
_GROWN_PER_TERM = 64 * ITEM
# Pairs of squares that a byte allows; a second or so for the default limit.
_PAIRS_PER_BYTE = 16
# Steps of a search for loops that a byte allows; two seconds or so for the default limit.
_STEPS_PER_BYTE = 2


def read_limit() -> int:
    """The limit in bytes: 64 MiB, or what the environment says.

    Raises:
        ValueError: the environment says something else than a size.
    """
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        return _DEFAULT
    found = re.fullmatch(r"([0-9]{1,15})([KMG]?)", text.upper(), re.ASCII)
    if not found or not int(found[1]):
        raise ValueError(
            f"{VARIABLE}={text[:40]!r} is not a size; expected bytes, such as 500000000, 64M or 2G"
        )
    return int(found[1]) * _UNITS[found[2]]


@dataclass
class Allowance:
    """What one file may cost.

    Attributes:
        on_disk: the file's own size in bytes; 0 for a pipe, which has none.
        limit: what any file may cost, however small it is.
        spent: bytes unpacked so far.

    >>> allowance = Allowance(on_disk=1000, limit=50_000)
    >>> allowance.unpacked, allowance.most_idle
    (50000, 781)
    """

    on_disk: int = 0
    limit: int = field(default_factory=read_limit)
    spent: int = 0

    @property
    def unpacked(self) -> int:
        """How many bytes the file may unpack to."""
        return max(self.limit, UNPACKED * self.on_disk)

    @property
    def longest_line(self) -> int:
        """Bytes of a comment; a planted model of 67 million variables still fits."""
        return self.limit

    @property
    def longest_row(self) -> int:
        """Bytes of a line of numbers, each of which takes some in memory."""
        return self.limit // 4

    @property
    def most_idle(self) -> int:
        """How many variables a file may have without any terms; solvers allocate for each."""
        return self.limit // ITEM

    @property
    def most_parts(self) -> int:
        """How many members or streams a compressed file may be joined from."""
        return 1 + self.limit // 4096 + self.on_disk // 1024

    @property
    def most_pairs(self) -> int:
        """How many pairs of nodes the squares of a certificate may have."""
        return _PAIRS_PER_BYTE * self.unpacked

    def grown(self, terms: int) -> int:
        """How many bytes the recipe of a file with so many terms may grow."""
        return max(self.limit, _GROWN_PER_TERM * terms)

    def steps(self, terms: int) -> int:
        """How many steps a search for its loops may take."""
        return _STEPS_PER_BYTE * self.grown(terms)

    @property
    def too_much(self) -> str:
        """What to say of a file that unpacks to more."""
        return (
            f"unpacks to more than {UNPACKED} times its {self.on_disk} bytes on disk, and to more "
            f"than {_spelled(self.limit)}; {self.remedy}"
        )

    @property
    def remedy(self) -> str:
        """The end of every message about the allowance: the limit and how to raise it."""
        return (
            f"the limit is {VARIABLE}={_spelled(self.limit)}; raise it if you trust the file "
            f"(for instance {VARIABLE}={_spelled(32 * self.limit)})"
        )


def _spelled(size: int) -> str:
    """A size as the variable takes it.

    >>> _spelled(64 << 20), _spelled(1000)
    ('64M', '1000')
    """
    for unit in ("G", "M", "K"):
        if size % _UNITS[unit] == 0:
            return f"{size // _UNITS[unit]}{unit}"
    return str(size)
