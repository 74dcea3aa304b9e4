"""Small damages to texts of numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

# Words that mean trouble: limits of integers and floats, marks, keywords.
WORDS = (
    "0", "-0", "+1", "-1", "h", "c", "p", "#", "{", "nan", "1e5", "1.0", "1e99999999", "00012",
    "1_0", "2147483648", "4294967296", "9223372036854775807", "9223372036854775808",
    "18446744073709551616", "9" * 30, "1" + "0" * 400, "1" * 4301, "0" * 5000 + "1", "cost",
    "planted-cost 3", "\n", "\r\n", "\x0b", "c planted-cost 1\n", "c planted-model 0\n",
    "c recipe {\n", "c recipe of mine\n", "c num-variables 9\n", "c num-clauses 2\n",
    "c encoding edge\n", "p wcnf 3 3 9\n", "\xa0", "\xe9", "\0", "names 1 2\n",
    "squares 1\n", "glasshouse-certificate 2\n", "-9223372036854775808",
)  # fmt: skip


def rewrite(path: Path, content: str) -> None:
    """Replace a file by a new one. Truncating the old one would wait for the disk each time."""
    path.unlink(missing_ok=True)
    path.write_bytes(content.encode("latin1"))


def mutate(text: str, rng: np.random.Generator) -> str:
    """Change, swap, drop or repeat one number, word, byte or line, wherever it stands."""
    kind = rng.integers(8)
    if kind == 0:
        start, end = sorted(rng.integers(0, len(text) + 1, 2))
        return text[:start] + WORDS[rng.integers(len(WORDS))] + text[min(end, start + 3) :]
    if kind == 1:
        place = int(rng.integers(len(text)))
        return text[:place] + chr(rng.integers(256)) + text[place + 1 :]
    return _mutated(text, list(re.finditer(r"-?\d+", text)), rng)


def mutate_numbers(text: str, rng: np.random.Generator) -> str:
    """Change, swap, drop or repeat one number or line of a text; numbers in comments stay."""
    numbers = [m for m in re.finditer(r"-?\d+", text) if not _in_comment(text, m.start())]
    return _mutated(text, numbers, rng)


def every_number(text: str) -> Iterator[str]:
    """The text with one of its numbers changed, for every number and some changes of each."""
    for match in re.finditer(r"-?\d+", text):
        for other in _others(match.group()):
            yield text[: match.start()] + other + text[match.end() :]


def _others(number: str) -> Iterator[str]:
    if len(number) > 1 and set(number) <= {"0", "1"}:  # a state: flip each digit
        for k, digit in enumerate(number):
            yield number[:k] + "10"[int(digit)] + number[k + 1 :]
    value = int(number)
    changed = [-value, value + 1, value - 1, 2 * value, value + 4, 0, 1, 2]
    changed += [value + 2**32, value + 2**63, value + 2**64, 2**63 - 1, -(2**63), 10**30]
    yield from map(str, dict.fromkeys(x for x in changed if x != value))


def _mutated(text: str, numbers: list[re.Match[str]], rng: np.random.Generator) -> str:
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
