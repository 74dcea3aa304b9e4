"""The parser of TOML from untrusted sources, with a limit on the memory that it takes.

Python's parser needs about a kilobyte for every table, and for a dotted key `a.b.c` a copy of each
of its beginnings. Two bytes of text can create a table, and a dotted key of 40,000 parts takes
gigabytes. So the keys are counted first, in one pass over the text.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from glasshouse.files.text.allowance import Allowance

# The largest number of parts of a key or of a table's name; our own files need three.
_DEEPEST = 16
# Bytes of memory per part of a key; 1,250 were measured at the deepest nesting.
_PART = 2048
# Bytes of memory per character of a value; 30 were measured, for `[],` and `{},`.
_CHARACTER = 64
# The largest number of characters of a number or a bare key; a digit takes 100 bytes.
_LONGEST_WORD = 1000
_LONGEST_MESSAGE = 200
# Strings and comments; the parser refuses those that are not closed. Every repetition is
# possessive, so that the search takes one pass for any text.
_QUOTED = re.compile(
    r'"""(?:[^"\\]++|\\.|"(?!""))*+(?:"{3,5})?'
    r"|'''(?:[^']++|'(?!''))*+(?:'{3,5})?"
    r'|"(?:[^"\\\n]++|\\[^\n])*+"?'
    r"|'[^'\n]*+'?"
    r"|\#[^\n]*+",
    re.DOTALL,
)
_RUN = re.compile(r'[A-Za-z0-9_\-."]++([=\]]?)')
_BLANKS = str.maketrans("", "", " \t")


class TomlError(ValueError):
    """Raised if a text is not TOML, or would take too much memory to parse."""


def read_toml(text: str) -> dict[str, Any]:
    """Parse a TOML text of limited size and depth, and return its tables.

    Raises:
        TomlError: the text is not TOML, is nested too deeply, or has too many keys.

    >>> read_toml("a.b = [1, 2]")
    {'a': {'b': [1, 2]}}
    >>> read_toml("a" + 99 * ".a" + " = 1")
    Traceback (most recent call last):
    ...
    glasshouse.files.text.plain_toml.TomlError: has a key of 100 parts; use at most 16
    """
    _refuse_large(text)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise TomlError("has values that are nested too deeply to parse") from None
    except ValueError as error:  # not TOML, or numbers of thousands of digits
        raise TomlError(f"is not TOML: {_one_line(str(error))}") from None


def _refuse_large(text: str) -> None:
    """Raise if the tables of a text could take more memory than the read limit."""
    allowance = Allowance()
    longest, most = allowance.limit // _CHARACTER, allowance.limit // _PART
    if len(text) > longest:
        raise TomlError(f"has {len(text)} characters, over the limit {longest}; {allowance.remedy}")
    parts = parts_of_keys(text)
    if parts > most:
        raise TomlError(
            f"has keys of {parts} parts in total, but the limit is {most}; {allowance.remedy}"
        )


def parts_of_keys(text: str) -> int:
    r"""Return an upper bound on the number of parts of all keys and table names.

    Raises:
        TomlError: one key has too many parts, or a word is too long.

    >>> parts_of_keys("[a.b]\nc = {d = 1.5}")
    4
    """
    # No two words of TOML are separated by spaces only, so this does not join words.
    bare = _QUOTED.sub('"', text).translate(_BLANKS)
    parts = 0
    for run in _RUN.finditer(bare):
        first, end = run.span()
        depth = 1 + bare.count(".", first, end)
        if depth > _DEEPEST:
            raise TomlError(f"has a key of {depth} parts; use at most {_DEEPEST}")
        if end - first > _LONGEST_WORD:
            raise TomlError(f"has a word of {end - first} characters; use at most {_LONGEST_WORD}")
        parts += depth if run[1] else 0
    return parts


def _one_line(text: str) -> str:
    """Return the parser's message as one line, shortened because it may quote long keys."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_MESSAGE else line[:_LONGEST_MESSAGE] + "…"
