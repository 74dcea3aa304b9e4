"""Small damages to texts of numbers."""

from __future__ import annotations

import re

import numpy as np


def mutate(text: str, rng: np.random.Generator) -> str:
    """Change, swap, drop or repeat one number or line of a text that is not a comment."""
    numbers = [m for m in re.finditer(r"-?\d+", text) if not _in_comment(text, m.start())]
    kind = rng.integers(6)
    if kind <= 2 and numbers:
        match = numbers[rng.integers(len(numbers))]
        return text[: match.start()] + _other(match.group(), rng) + text[match.end() :]
    if kind == 3 and len(numbers) > 1:
        first, second = sorted(rng.choice(len(numbers), 2, replace=False))
        a, b = numbers[first], numbers[second]
        return (
            text[: a.start()] + b.group() + text[a.end() : b.start()] + a.group() + text[b.end() :]
        )
    lines = text.splitlines(keepends=True)
    k = int(rng.integers(len(lines)))
    return "".join(lines[:k] + ([lines[k]] * 2 if kind == 4 else []) + lines[k + 1 :])


def _other(number: str, rng: np.random.Generator) -> str:
    if len(number) > 3 and set(number) <= {"0", "1"}:  # a state: flip one digit
        k = int(rng.integers(len(number)))
        return number[:k] + "10"[int(number[k])] + number[k + 1 :]
    value = int(number)
    return str(rng.choice([-value, value + 1, value - 1, value * 2, value + 5, 0, 1]))


def _in_comment(text: str, place: int) -> bool:
    return text[text.rfind("\n", 0, place) + 1] in "c#*"
