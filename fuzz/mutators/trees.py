"""Mutators of JSON, which replace, remove, repeat or nest one value of the tree."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from fuzz.mutators import texts, words
from glasshouse.planting import METHODS

_STRINGS = (
    "", "1/5", "1/0", "-1/3", "1e400", "0.1", "..", "/etc/passwd", "a\0b", "x\ny", "complete:20000",
    "complete:5", "torus:3x3", "lattice:0x0", "lattice:99999x99999", "regular:3:8", "++--",
    *METHODS, "Ising", "Rbm", "Qubo", "Max2Sat", "SPIN", "BINARY", "float32", "int8",
    "uint64", "\ud800", "é",
)  # fmt: skip
_NAMES = (
    "n", "m", "loops", "loop_density", "frustration", "graph", "max_weight", "shuffled", "state",
    "seed", "spawn_key", "method", "parameters", "version", "size", "shape", "offset", "kind",
    "recipe", "planted_cost",
)  # fmt: skip


def mutate_lines(data: bytes, random: Random) -> bytes:
    """Change one line of a file with one JSON value per line."""
    lines = data.splitlines() or [b"{}"]
    here = random.randrange(len(lines))
    try:
        lines[here] = dumped(changed(json.loads(lines[here]), random))
    except (ValueError, RecursionError):
        return texts.mutate(data, random)
    if random.random() < 0.1:
        lines.append(random.choice(lines))
    return b"\n".join(lines) + b"\n"


def dumped(value: Any) -> bytes:
    """Return a value as JSON, whose strings may contain unpaired surrogates."""
    return json.dumps(value).encode("ascii")


def changed(value: Any, random: Random) -> Any:
    """Return a JSON tree with one value changed."""
    if isinstance(value, dict) and value and random.random() < 0.85:
        return _changed_object(dict(value), random)
    if isinstance(value, list) and value and random.random() < 0.7:
        here = random.randrange(len(value))
        return [*value[:here], changed(value[here], random), *value[here + 1 :]]
    return _any_value(value, random)


def _changed_object(value: dict[str, Any], random: Random) -> dict[str, Any]:
    key = random.choice(list(value))
    kind = random.random()
    if kind < 0.8:
        value[key] = changed(value[key], random)
    elif kind < 0.9:
        del value[key]
    else:
        value[random.choice(_NAMES)] = _any_value(None, random)
    return value


def _any_value(value: Any, random: Random) -> Any:
    kind = random.randrange(9)
    if kind < 4:
        return words.number(random)
    if kind < 6:
        return random.choice(_STRINGS)
    if kind == 6:
        return random.choice((None, True, False, 0.5, 1e308, float("nan"), float("inf"), -0.0))
    if kind == 7:
        return [value] * random.choice((0, 1, 2, 5))
    return {random.choice(_NAMES): value}
