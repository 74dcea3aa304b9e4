"""Standard error of commands without notices of compilation."""

from __future__ import annotations


def without_notices(said: str) -> str:
    """Return a text without the lines that announce a compilation."""
    lines = said.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("compiling the "))
