"""What the sections of all stores have in common."""

from __future__ import annotations

from glasshouse.store.store import Store


def versions_of(store: Store) -> str:
    """The versions of glasshouse that measured what a store holds."""
    found = sorted({version for one in store.status() for version in one.versions})
    return ", ".join(version[:60] for version in found) or "nothing measured yet"


def seen_seconds(seconds: float) -> str:
    """A long time in words.

    >>> seen_seconds(0.2), seen_seconds(7384)
    ('0.2 s', '2 h 3 min')
    """
    if seconds < 120:
        return f"{seconds:.3g} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours:,} h {minutes} min" if hours else f"{minutes} min"
