"""How words of the command line become values, and options that several commands have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter


def whole(_type: Any, tokens: Sequence[Any]) -> int:
    """A whole number as people write it; 10.7, 0x10 and 1_000 are refused, not read somehow."""
    text = tokens[0].value
    if not re.fullmatch(r"[+-]?[0-9]{1,40}", text):
        raise ValueError(f"{text} is not a whole number")
    return int(text)


Whole = Annotated[int, Parameter(converter=whole)]
MaybeWhole = Annotated[int | None, Parameter(converter=whole)]
OutputPath = Annotated[Path, Parameter(name=["--output", "-o"])]
MaybeOutputPath = Annotated[Path | None, Parameter(name=["--output", "-o"])]
_PICTURE = "the picture: .png, .svg or .pdf. Without a suffix, PNG and SVG are written."
Picture = Annotated[Path, Parameter(name=["--output", "-o"], help=_PICTURE)]
MaybePicture = Annotated[
    Path | None,
    Parameter(name=["--output", "-o"], help=f"{_PICTURE} By default under the store's name."),
]
Dialect = Literal["classic", "mse22"]
SourceFormat = Annotated[
    str | None,
    Parameter(
        help="the format of `-` (standard input), or of a file whose suffix does not tell it."
    ),
]
Units = Annotated[
    Literal["spin", "binary"] | None,
    Parameter(
        help="what the units of a matrix are (.npy, .csv, .npz of W, a, b), which does not say it: "
        "±1, or 0 and 1."
    ),
]
Force = Annotated[bool, Parameter(help="overwrite what is there.")]
Workers = Annotated[
    int | None,
    Parameter(converter=whole, help="how many processes of this machine; one by default."),
]
Dask = Annotated[str | None, Parameter(help="the address of a Dask scheduler to run on instead.")]


def _shown_default(value: object) -> str | None:
    """What the help calls a default; nothing for switches, which are off, and for empty lists."""
    return None if value is None or value is False or value == () else str(value)


# A switch is on where it is given, and has no --no- form.
SWITCHES = Parameter(negative=(), show_default=_shown_default)


def command_group(name: str, text: str) -> App:
    """A command that has commands of its own, with the text of its help."""
    return App(name=name, help=text, default_parameter=SWITCHES)
