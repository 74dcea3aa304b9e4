"""TOML from strangers: bounded before it is parsed, because tables cost far more than their text.

Python's parser keeps about a kilobyte for every table, and for a dotted key `a.b.c` a copy of each
of its beginnings. Two bytes of text can ask for a table, and a dotted key of 40,000 parts for
gigabytes. So the keys are counted first, in one pass over the text.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from glasshouse.files.text.allowance import Allowance

# Parts of a key or of a table's name. Ours have three.
_DEEPEST = 16
# Bytes of memory that a part of a key costs; 1,250 were measured at the deepest.
_PART = 2048
# Bytes of memory that a character of a value costs; 30 were measured, for `[],` and `{},`.
_CHARACTER = 64
# Characters of a number or of a bare key; the parser needs a hundred bytes for each digit.
_LONGEST_WORD = 1000
_LONGEST_MESSAGE = 200
# Strings and comments, as far as they go: what is not closed is refused by the parser. Every
# repetition is possessive, so that the search takes one pass whatever the text.
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
    """A text that is not TOML, or TOML that would take too much memory; the message says why."""


def read_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text.

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
        raise TomlError("is nested too deeply") from None
    except ValueError as error:  # not TOML, or numbers of thousands of digits
        raise TomlError(f"is not TOML: {_one_line(str(error))}") from None


def _refuse_large(text: str) -> None:
    """Refuse a text whose tables could take more memory than the read limit."""
    allowance = Allowance()
    longest, most = allowance.limit // _CHARACTER, allowance.limit // _PART
    if len(text) > longest:
        raise TomlError(f"has {len(text)} characters, more than {longest}; {allowance.remedy}")
    parts = parts_of_keys(text)
    if parts > most:
        raise TomlError(f"has {parts} keys and parts of keys, more than {most}; {allowance.remedy}")


def parts_of_keys(text: str) -> int:
    r"""Count the parts of all keys and names of tables; some values count as well.

    Raises:
        TomlError: one key has too many parts, or a word is too long.

    >>> parts_of_keys("[a.b]\nc = {d = 1.5}")
    4
    """
    # No two words of TOML stand side by side with only blanks between, so none are joined here.
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
    """The message of the parser, which can quote keys of any length."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_MESSAGE else line[:_LONGEST_MESSAGE] + "…"
