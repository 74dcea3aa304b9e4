"""The lines of commands on standard error, except for those about compiling."""

from __future__ import annotations


def without_notices(said: str) -> str:
    """Without the lines that say that something is compiled."""
    lines = said.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("compiling the "))
