"""Standard input and output in the place of files: `-`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from glasshouse.files.text.streams import Place

_PIPE = Path("-")


def as_paths(words: list[str]) -> list[str]:
    """Words of the command line, with `-` spelled as a path: alone it would be taken for an option.

    >>> as_paths(["solve", "-"]), Path("./-") == Path("-")
    (['solve', './-'], True)
    """
    return ["./-" if word == "-" else word for word in words]


def is_pipe(file: Path | None) -> bool:
    """Whether a file's name stands for standard input or output."""
    return file == _PIPE


def source(file: Path, format: str | None, option: str = "--format") -> Place:
    """What to read: a file, or standard input for `-`, whose format must be given."""
    return file if not is_pipe(file) else _stream(sys.stdin, "input", format, option)


def target(file: Path, format: str | None, option: str = "--format") -> Place:
    """What to write: a file, or standard output for `-`, whose format must be given."""
    return file if not is_pipe(file) else _stream(sys.stdout, "output", format, option)


def say(line: str, file: Path | None) -> None:
    """A line for people: to standard error where standard output carries the file itself."""
    print(line, file=sys.stderr if is_pipe(file) else sys.stdout)


def refuse_json(file: Path | None, json: bool) -> None:
    """Refuse a file and JSON on the same standard output."""
    if json and is_pipe(file):
        raise ValueError("--json prints to standard output, where `-` puts the file; leave one out")


def _stream(text: object, which: str, format: str | None, option: str) -> BinaryIO:
    if format is None:
        raise ValueError(
            f"standard {which} (-) has no suffix that tells its format; add {option} NAME, such as "
            f"{option} wcnf"
        )
    stream: BinaryIO | None = getattr(text, "buffer", None)
    if stream is None:
        raise ValueError(f"there is no standard {which} here; name a file")
    return stream
