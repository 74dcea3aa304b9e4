"""Dice: random choices that depend only on a seed, and are the same on every computer."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

from glasshouse.kernels.xoshiro import next_word
from glasshouse.randomness import Seed

T = TypeVar("T")


class Dice:
    """A source of random integers, choices and orders that depend only on one seed.

    >>> dice = Dice(Seed(7))
    >>> [dice.below(6) for _ in range(8)]
    [2, 1, 1, 4, 1, 2, 0, 2]
    """

    def __init__(self, seed: Seed) -> None:
        self._stream = seed.streams(1)[0].copy()

    def below(self, bound: int) -> int:
        """Return a uniform integer from 0 to bound - 1, for bounds from 1 to 2^64."""
        bits = (bound - 1).bit_length()
        while True:
            value = int(next_word(self._stream)) >> (64 - bits)
            if value < bound:
                return value

    def between(self, low: int, high: int) -> int:
        """Return a uniform integer from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def happens(self, odds: Fraction) -> bool:
        """Return True with the probability `odds`."""
        return self.below(odds.denominator) < odds.numerator

    def choice(self, things: Sequence[T]) -> T:
        """Return a random element of a sequence."""
        return things[self.below(len(things))]

    def order(self, things: Sequence[T]) -> list[T]:
        """Return the elements of a sequence in a random order."""
        mixed = list(things)
        for last in range(len(mixed) - 1, 0, -1):
            other = self.below(last + 1)
            mixed[last], mixed[other] = mixed[other], mixed[last]
        return mixed
