"""Drawing tiles for the places of a lattice."""

from __future__ import annotations

from typing import Any

from glasshouse.compiled import compiled
from glasshouse.kernels.xoshiro import below, below_wide


@compiled
def draw_tiles(stream: Any, ends: Any, firsts: Any, chosen: Any) -> None:
    """Fill `chosen` with tiles: a class by its share, then any tile of the class alike.

    Args:
        stream: the generator's words.
        ends: int64, the shares of the classes added up, in units of their common denominator.
        firsts: int64, the first tile of each class, and the end of the last.
        chosen: int64, one tile for each place.
    """
    for place in range(chosen.size):
        number = below_wide(stream, ends[-1])
        kind = 0
        while number >= ends[kind]:
            kind += 1
        chosen[place] = firsts[kind] + below(stream, firsts[kind + 1] - firsts[kind])
