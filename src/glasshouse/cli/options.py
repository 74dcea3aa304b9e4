"""Options that several commands share, parsers for their values, and `-` in place of a file."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal

from cyclopts import App, Parameter

if TYPE_CHECKING:
    from glasshouse.files.text.streams import Place

_PIPE = Path("-")


def whole(_type: Any, tokens: Sequence[Any]) -> int:
    """Parse an integer in plain decimal notation; refuse 10.7, 0x10 and 1_000."""
    text = tokens[0].value
    if not re.fullmatch(r"[+-]?[0-9]{1,40}", text):
        raise ValueError(f"{text} is not an integer")
    return int(text)


Whole = Annotated[int, Parameter(converter=whole)]
MaybeWhole = Annotated[int | None, Parameter(converter=whole)]
OutputPath = Annotated[Path, Parameter(name=["--output", "-o"])]
MaybeOutputPath = Annotated[Path | None, Parameter(name=["--output", "-o"])]
_PICTURE = "the figure: .png, .svg or .pdf. Without a suffix, PNG and SVG are written."
Picture = Annotated[Path, Parameter(name=["--output", "-o"], help=_PICTURE)]
MaybePicture = Annotated[
    Path | None,
    Parameter(name=["--output", "-o"], help=f"{_PICTURE} By default, it has the store's name."),
]
Dialect = Literal["classic", "mse22"]
SourceFormat = Annotated[
    str | None,
    Parameter(help="the format of `-` (standard input), or of a file without a known suffix."),
]
Units = Annotated[
    Literal["spin", "binary"] | None,
    Parameter(
        help="the units of a matrix (.npy, .csv, .npz of W, a, b), which does not state them, or "
        "of a .hubo file without a vartype: ±1, or 0 and 1."
    ),
]
Force = Annotated[bool, Parameter(help="overwrite files that already exist.")]
Workers = Annotated[
    int | None,
    Parameter(converter=whole, help="the number of processes on this computer; one by default."),
]
Dask = Annotated[str | None, Parameter(help="the address of a Dask scheduler to run on instead.")]


def _shown_default(value: object) -> str | None:
    """Return a default as text for the help; return None to hide it (switches, empty lists)."""
    return None if value is None or value is False or value == () else str(value)


# A switch is on if it is given, and has no --no- form. A file may have a name such as [0].wcnf.
SWITCHES = Parameter(negative=(), show_default=_shown_default, json_list=False, json_dict=False)


# An argument's entry in a docstring.
_DESCRIBED = re.compile(r"^    (\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)


def described(thing: object) -> dict[str, str]:
    """Return the description of each argument in a docstring, for the options' help.

    Under `python -OO` there are no docstrings, so the result is empty.
    """
    return dict(_DESCRIBED.findall(inspect.getdoc(thing) or ""))


def command_group(name: str, text: str) -> App:
    """Return a command that has subcommands, with its help text."""
    return App(name=name, help=text, default_parameter=SWITCHES)


def as_paths(words: list[str]) -> list[str]:
    """Replace `-` with the path `./-` in a command line, because `-` looks like an option.

    >>> as_paths(["solve", "-"]), Path("./-") == Path("-")
    (['solve', './-'], True)
    """
    return ["./-" if word == "-" else word for word in words]


def is_pipe(file: Path | None) -> bool:
    """Return whether a file is `-`, which denotes standard input or output."""
    return file == _PIPE


def source(file: Path, format: str | None, option: str = "--format") -> Place:
    """Return the file to read; `-` is standard input, and requires an explicit format."""
    return file if not is_pipe(file) else _stream(sys.stdin, "input", format, option)


def target(file: Path, format: str | None, option: str = "--format") -> Place:
    """Return the file to write; `-` is standard output, and requires an explicit format."""
    return file if not is_pipe(file) else _stream(sys.stdout, "output", format, option)


def say(line: str, file: Path | None) -> None:
    """Print a message, to standard error if standard output carries the file itself."""
    print(line, file=sys.stderr if is_pipe(file) else sys.stdout)


def refuse_json(file: Path | None, json: bool) -> None:
    """Refuse to write both a file and JSON to standard output."""
    if json and is_pipe(file):
        raise ValueError("--json and `-` both write to standard output; use only one of them")


def _stream(text: object, which: str, format: str | None, option: str) -> BinaryIO:
    if format is None:
        raise ValueError(
            f"standard {which} (-) has no suffix that gives its format; add {option} NAME, such as "
            f"{option} wcnf"
        )
    stream: BinaryIO | None = getattr(text, "buffer", None)
    if stream is None:
        raise ValueError(f"standard {which} is closed; name a file")
    return stream
