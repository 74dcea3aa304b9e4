"""The errors of this room."""

from __future__ import annotations

import os

# What a file says ends up in messages; a whole file would hide the message.
_LONGEST, _LONGEST_PIECE = 600, 40


class FileError(ValueError):
    """A file that cannot be read or written; the message names it, the line and what was expected.

    The message is one line of printable characters, whatever the file has put into it.

    Attributes:
        path: the file.
        line: where in it, counted from 1; None where no line is to blame.

    >>> print(FileError("x.wcnf", "the clause has 3 literals; expected at most 2", 7))
    x.wcnf, line 7: the clause has 3 literals; expected at most 2
    """

    def __init__(self, path: str | os.PathLike[str], message: str, line: int | None = None) -> None:
        where = "" if line is None else f", line {line}"
        super().__init__(printable(f"{os.fspath(path)}{where}: ") + printable(message[:_LONGEST]))
        self.path = os.fspath(path)
        self.line = line


class MissingFileError(FileError, FileNotFoundError):
    """There is no such file: also a FileNotFoundError, so that `except OSError` catches it.

    >>> isinstance(MissingFileError("x.wcnf", "there is no such file"), FileNotFoundError)
    True
    """


class ExistingFileError(FileError, FileExistsError):
    """A file would be overwritten: also a FileExistsError."""


class FileAccessError(FileError, OSError):
    """The system does not let a file be read or written: also an OSError."""


def shown(text: bytes) -> str:
    """A piece of a file for a message: quoted, escaped, not too long.

    >>> print(shown(b"1.5"), len(shown(b"x" * 99)))
    '1.5' 42
    """
    return repr(text if len(text) <= _LONGEST_PIECE else text[: _LONGEST_PIECE - 3] + b"...")[1:]


def printable(text: str) -> str:
    r"""Line ends, control characters and halves of characters escaped, as in repr.

    >>> printable("a\nb")
    'a\\nb'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
