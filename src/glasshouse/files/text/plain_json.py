"""JSON from untrusted sources: finite numbers, unique keys, shallow nesting; and canonical JSON."""

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
    """A text that is not JSON, or that readers interpret differently; the message says why."""


def read_json(text: bytes) -> Any:
    """Parse a JSON value of finite numbers, in whose objects no key occurs twice.

    Raises:
        JsonError: the text is anything else.

    >>> read_json(b'{"scale": 2}')
    {'scale': 2}
    >>> read_json(b'{"scale": 1e999}')
    Traceback (most recent call last):
    ...
    glasshouse.files.text.plain_json.JsonError: the number 1e999 is not finite
    """
    if len(text) > _LONGEST_FOREIGN_TEXT and (not text.isascii() or b"\\u" in text):
        # A single such character can make a Python string four times as large.
        raise JsonError("is a long text with characters that are not ASCII")
    try:
        return json.loads(
            text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_once
        )
    except JsonError:
        raise
    except RecursionError:
        raise JsonError("has lists or objects that are nested too deeply") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as fault:
        raise JsonError(f"is not JSON: {fault}") from None
    except ValueError:  # only Python's limit of digits can cause this
        raise JsonError("has an integer of thousands of digits") from None


def parse_json(text: bytes) -> Any:
    """Return what `read_json` returns; None if it raises."""
    try:
        return read_json(text)
    except JsonError:
        return None


def parse_object(text: bytes) -> dict[str, Any] | None:
    """Parse a JSON object of limited depth and size; None for anything else."""
    if sum(map(text.count, (b",", b":", b"[", b"{"))) > _MOST_VALUES:
        return None
    value = parse_json(text)
    return value if isinstance(value, dict) and is_shallow(value) else None


def is_shallow(value: Any) -> bool:
    """Whether lists and objects are nested so little that recursion is safe."""
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
    """Return an object; refuse duplicate keys, because readers differ on the value they keep."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise JsonError("has an object in which a key occurs twice")
    return found


def _finite(word: str) -> float:
    number = float(word)
    return number if math.isfinite(number) else _refuse(word)


def _refuse(word: str) -> NoReturn:
    raise JsonError(f"the number {word[:40]} is not finite")


def canonical_json(value: object) -> str:
    """Return JSON on one line, equal for equal values: sorted keys, no spaces.

    >>> canonical_json({"b": 1, "a": "ρ"})
    '{"a":"ρ","b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
