"""Mutators of text files, which replace words, move lines and correct counts."""

from __future__ import annotations

import re
from random import Random

from fuzz.mutators import words

_WORD = re.compile(rb"[^\s,=\[\]{}\"]+")
_LOOPS = re.compile(rb"^loops [^\n]*\n", re.MULTILINE)
_CLAUSES = re.compile(rb"^(p w?cnf \d+ )\d+", re.MULTILINE)


def mutate(data: bytes, random: Random) -> bytes:
    """Make a few changes, and usually correct the counts, so that readers continue after them."""
    for _ in range(random.choice((1, 1, 2, 3))):
        change = random.choice((_replace_word, _replace_word, _move_line, _add_line, _flip_sign))
        data = change(data, random)
    return _recounted(data) if random.random() < 0.8 else data


def _replace_word(data: bytes, random: Random) -> bytes:
    found = list(_WORD.finditer(data))
    if not found:
        return data + words.word(random)
    here = random.choice(found)
    new = random.choice(found).group() if random.random() < 0.3 else words.word(random)
    return data[: here.start()] + new + data[here.end() :]


def _flip_sign(data: bytes, random: Random) -> bytes:
    found = list(_WORD.finditer(data))
    if not found:
        return data
    here = random.choice(found)
    new = here.group()[1:] if here.group().startswith(b"-") else b"-" + here.group()
    return data[: here.start()] + new + data[here.end() :]


def _move_line(data: bytes, random: Random) -> bytes:
    """Copy a line, remove it, or swap it with another line."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    here, there = random.randrange(len(lines)), random.randrange(len(lines))
    kind = random.randrange(3)
    if kind == 0:
        lines.insert(there, lines[here])
    elif kind == 1:
        del lines[here]
    else:
        lines[here], lines[there] = lines[there], lines[here]
    return b"".join(lines)


def _add_line(data: bytes, random: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    new = random.choice(words.KEYWORDS)
    if random.random() < 0.6:
        new = b" ".join(words.word(random) for _ in range(random.randint(2, 5))) + b"\n"
    lines.insert(random.randint(0, len(lines)), new)
    return b"".join(lines)


def _recounted(data: bytes) -> bytes:
    """Correct the number of clauses in a p line, and of loops in a certificate."""
    parts = data.split(b"glasshouse-certificate", 1)
    header = _CLAUSES.search(parts[0])
    if header:
        rest = parts[0][header.end() :].splitlines()[1:]
        count = sum(1 for line in rest if line.strip() and not line.lstrip().startswith(b"c"))
        parts[0] = _CLAUSES.sub(rb"\g<1>%d" % count, parts[0], count=1)
    data = b"glasshouse-certificate".join(parts)
    loops = _LOOPS.search(data)
    if loops:
        count = sum(1 for line in data[loops.end() :].splitlines() if line.strip())
        data = data[: loops.start()] + b"loops %d\n" % count + data[loops.end() :]
    return data
