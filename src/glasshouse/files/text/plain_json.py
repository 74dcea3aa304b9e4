"""Strict parsing of JSON from untrusted sources, and canonical JSON."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

# Our own JSON is flat and has few values, some of them long strings. Each value takes about 100
# bytes of memory, while two bytes of text can spell it.
_MOST_VALUES = 1 << 20
_DEEPEST = 16
_LONGEST_FOREIGN_TEXT = 1 << 20


class JsonError(ValueError):
    """Raised if a text is not JSON, or if two readers could interpret it differently."""


def read_json(text: bytes) -> Any:
    """Parse a JSON text whose numbers are finite and whose objects have unique keys.

    Raises:
        JsonError: the text is not such JSON.

    >>> read_json(b'{"scale": 2}')
    {'scale': 2}
    >>> read_json(b'{"scale": 1e999}')
    Traceback (most recent call last):
    ...
    glasshouse.files.text.plain_json.JsonError: the number 1e999 is not finite
    """
    if len(text) > _LONGEST_FOREIGN_TEXT and (not text.isascii() or b"\\u" in text):
        # A single such character can make a Python string four times as large.
        raise JsonError("is longer than 1 MiB, so all its characters must be ASCII")
    try:
        return json.loads(
            text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_once
        )
    except JsonError:
        raise
    except RecursionError:
        raise JsonError("has lists or objects that are nested too deeply to parse") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as fault:
        raise JsonError(f"is not JSON: {fault}") from None
    except ValueError:  # only Python's limit of digits can cause this
        raise JsonError("has an integer with too many digits") from None


def parse_json(text: bytes) -> Any:
    """Parse a JSON text as `read_json` does, but return None if it is not valid."""
    try:
        return read_json(text)
    except JsonError:
        return None


def parse_object(text: bytes) -> dict[str, Any] | None:
    """Parse a JSON object of limited depth and size; return None for any other text."""
    if sum(map(text.count, (b",", b":", b"[", b"{"))) > _MOST_VALUES:
        return None
    value = parse_json(text)
    return value if isinstance(value, dict) and is_shallow(value) else None


def is_shallow(value: Any) -> bool:
    """Return whether the nesting of lists and objects is shallow enough for recursion."""
    level = [value]
    for _ in range(_DEEPEST):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner += item.values()
            elif isinstance(item, list):
                inner += item
        level = inner
        if not level:
            return True
    return False


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a JSON object from its key-value pairs; raise if a key occurs twice."""
    found = dict(pairs)  # other readers may keep another value of a repeated key
    if len(found) < len(pairs):
        raise JsonError("has an object in which a key occurs twice; remove one of the two")
    return found


def _finite(word: str) -> float:
    number = float(word)
    return number if math.isfinite(number) else _refuse(word)


def _refuse(word: str) -> NoReturn:
    raise JsonError(f"the number {word[:40]} is not finite")


def canonical_json(value: object) -> str:
    """Return a value as canonical JSON: one line, with sorted keys and no spaces.

    >>> canonical_json({"b": 1, "a": "ρ"})
    '{"a":"ρ","b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
