"""Sets of instance indices as ranges, such as the indices of all stored instances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Ranges:
    """Half-open ranges in ascending order, neither overlapping nor adjacent.

    >>> there = Ranges.union([(0, 5), (8, 10), (5, 6)])
    >>> there
    Ranges(parts=((0, 6), (8, 10)))
    >>> there.missing(12)
    Ranges(parts=((6, 8), (10, 12)))
    """

    parts: tuple[tuple[int, int], ...] = ()

    @classmethod
    def union(cls, parts: Iterable[tuple[int, int]]) -> Ranges:
        """Return the union of ranges, which may overlap and may be in any order."""
        merged: list[tuple[int, int]] = []
        for first, end in sorted(parts):
            if merged and first <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            elif first < end:
                merged.append((first, end))
        return cls(tuple(merged))

    @property
    def prefix(self) -> int:
        """The number of consecutive indices that are present, starting at 0."""
        return self.parts[0][1] if self.parts and self.parts[0][0] == 0 else 0

    def missing(self, end: int, first: int = 0) -> Ranges:
        """Return the indices from `first` to `end - 1` that are missing."""
        gaps, at = [], first
        for low, high in self.parts:
            if low >= end:
                break
            if low > at:
                gaps.append((at, low))
            at = max(at, high)
        if at < end:
            gaps.append((at, end))
        return Ranges(tuple(gaps))

    def with_part(self, first: int, end: int) -> Ranges:
        """Return the union of these ranges and one more range."""
        return Ranges.union([*self.parts, (first, end)])

    def __len__(self) -> int:
        return sum(high - low for low, high in self.parts)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self.parts)
