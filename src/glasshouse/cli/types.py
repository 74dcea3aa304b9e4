"""How words of the command line become values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from cyclopts import Parameter


def whole(_type: Any, tokens: Sequence[Any]) -> int:
    """A whole number as people write it; 10.7, 0x10 and 1_000 are refused, not read somehow."""
    text = tokens[0].value
    if not re.fullmatch(r"[+-]?[0-9]{1,40}", text):
        raise ValueError(f"{text} is not a whole number")
    return int(text)


Whole = Annotated[int, Parameter(converter=whole)]
MaybeWhole = Annotated[int | None, Parameter(converter=whole)]
# What the units of a matrix are: ±1, or 0 and 1.
Units = Literal["spin", "binary"] | None
