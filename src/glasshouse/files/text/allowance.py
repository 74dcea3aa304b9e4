"""The allowance of a file: the bytes it may unpack to, and the memory and work it may cause.

A small file can do harm if it fills the memory or causes endless work. So a file may unpack to at
most `UNPACKED` times its size on disk, or to the limit below if that is more. Everything else that
a file can cause (variables without terms, long lines, pairs of squares, graphs and loops of a
recipe) counts in bytes towards the same limit. Plain files of any size are read: the
memory that they take is proportional to their size.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field

VARIABLE = "GLASSHOUSE_READ_LIMIT"
UNPACKED = 32

_DEFAULT = 64 << 20
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
# Approximate bytes of memory of a variable, an edge or a loop.
ITEM = 64
# Bytes that the instance of a recipe may take per term of its file: 64 loops or edges.
_GROWN_PER_TERM = 64 * ITEM
# Pairs of squares allowed per byte; checking the default limit takes about a second.
_PAIRS_PER_BYTE = 16
# Steps of a search for loops allowed per byte; the default limit takes about two seconds.
_STEPS_PER_BYTE = 2


def read_limit() -> int:
    """Return the read limit in bytes: 64 MiB, or the value of GLASSHOUSE_READ_LIMIT.

    Raises:
        ValueError: the environment variable is not a size.
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
    """The resources that one file may use.

    Attributes:
        on_disk: the file's own size in bytes; 0 for a pipe, which has none.
        limit: the bytes that any file may use, even a tiny one.
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
        """The largest number of bytes that the file may unpack to."""
        return max(self.limit, UNPACKED * self.on_disk)

    @property
    def longest_line(self) -> int:
        """The largest number of bytes that a comment line may have."""
        return self.limit

    @property
    def longest_row(self) -> int:
        """The largest number of bytes that a line of numbers may have."""
        return self.limit // 4  # parsed numbers take more memory than text

    @property
    def most_idle(self) -> int:
        """The largest number of variables that a file without terms may state."""
        return self.limit // ITEM  # solvers allocate memory for each variable

    @property
    def most_parts(self) -> int:
        """The largest number of members or streams that a compressed file may consist of."""
        return 1 + self.limit // 4096 + self.on_disk // 1024

    @property
    def most_pairs(self) -> int:
        """The largest number of node pairs that the squares of a certificate may have."""
        return _PAIRS_PER_BYTE * self.unpacked

    def grown(self, terms: int) -> int:
        """Return how many bytes a recipe's instance may take if its file has `terms` terms."""
        return max(self.limit, _GROWN_PER_TERM * terms)

    def steps(self, terms: int) -> int:
        """Return how many steps growing a recipe may take if its file has `terms` terms."""
        return _STEPS_PER_BYTE * self.grown(terms)

    @property
    def too_much(self) -> str:
        """The error message for a file that unpacks to more bytes than allowed."""
        return (
            f"unpacks to more than {UNPACKED} times its {self.on_disk} bytes on disk, and to more "
            f"than {_spelled(self.limit)}; {self.remedy}"
        )

    @property
    def remedy(self) -> str:
        """The end of each message about the allowance: the limit, and how to raise it."""
        return (
            f"the limit is {VARIABLE}={_spelled(self.limit)}; raise it if you trust the file "
            f"(for instance {VARIABLE}={_spelled(32 * self.limit)})"
        )


def _spelled(size: int) -> str:
    """Return a size in the environment variable's notation, such as 64M.

    >>> _spelled(64 << 20), _spelled(1000)
    ('64M', '1000')
    """
    for unit in ("G", "M", "K"):
        if size % _UNITS[unit] == 0:
            return f"{size // _UNITS[unit]}{unit}"
    return str(size)
