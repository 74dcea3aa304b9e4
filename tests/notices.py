"""What commands say on standard error, whether or not their kernels were cached."""

from __future__ import annotations


def without_notices(said: str) -> str:
    """Without the lines that say that something is compiled."""
    lines = said.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("compiling the "))
