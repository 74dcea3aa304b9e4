"""Exceptions for files that cannot be read or written, and quoting of file contents."""

from __future__ import annotations

import os

# Messages quote the file; quoting too much of it would hide the message.
_LONGEST, _LONGEST_PIECE = 600, 40


class FileError(ValueError):
    """Raised if a file cannot be read or written.

    The message names the file, the line and the cause. It is one line of printable characters.

    Attributes:
        path: the file.
        line: the line number, counted from 1; None if the error does not belong to a line.

    >>> print(FileError("x.wcnf", "the clause has 3 literals; expected at most 2", 7))
    x.wcnf, line 7: the clause has 3 literals; expected at most 2
    """

    def __init__(self, path: str | os.PathLike[str], message: str, line: int | None = None) -> None:
        where = "" if line is None else f", line {line}"
        super().__init__(printable(f"{os.fspath(path)}{where}: ") + printable(message[:_LONGEST]))
        self.path = os.fspath(path)
        self.line = line


class MissingFileError(FileError, FileNotFoundError):
    """Raised if a file does not exist; also a FileNotFoundError.

    >>> isinstance(MissingFileError("x.wcnf", "there is no such file"), FileNotFoundError)
    True
    """


class ExistingFileError(FileError, FileExistsError):
    """Raised if a file would be overwritten; also a FileExistsError."""


class FileAccessError(FileError, OSError):
    """Raised if the operating system denies reading or writing a file; also an OSError."""


def shown(text: bytes) -> str:
    """Return a piece of a file for an error message: quoted, escaped and shortened.

    >>> print(shown(b"1.5"), len(shown(b"x" * 99)))
    '1.5' 42
    """
    return repr(text if len(text) <= _LONGEST_PIECE else text[: _LONGEST_PIECE - 3] + b"...")[1:]


def printable(text: str) -> str:
    r"""Escape newlines, control characters and lone surrogates, as repr does.

    >>> printable("a\nb")
    'a\\nb'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
