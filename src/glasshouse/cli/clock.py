"""How long a command has been at work: much of that is imports, before its own function begins."""

from __future__ import annotations

import time

_BEFORE = 0.3  # seconds that Python takes to come here, and to end
_began = time.monotonic()


def start() -> None:
    """A command begins."""
    global _began
    _began = time.monotonic()


def seconds_left(time_limit: float | None) -> float | None:
    """What a solver may use of a time limit that is meant for the whole command; None for all."""
    from glasshouse.problems import validation

    limit = validation.time_limit(time_limit)
    if limit is None:
        return None
    return max(limit - (time.monotonic() - _began) - _BEFORE, limit / 10)
