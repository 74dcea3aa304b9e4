"""Seeds, and the random streams that are derived from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

# The initial states of independent generators, one per row.
Streams: TypeAlias = npt.NDArray[np.uint64]

_GENERATORS = (np.random.Generator, np.random.BitGenerator, np.random.RandomState)


@dataclass(frozen=True)
class Seed:
    """A seed: an integer and a path of child indices, which together determine all random numbers.

    The pair is that of NumPy's `SeedSequence(entropy, spawn_key=...)`, which computes from it the
    initial states of our own generator (`kernels.xoshiro`).

    >>> Seed.of(7).child(3)
    Seed(entropy=7, spawn_key=(3,))
    >>> Seed(7).sequence().generate_state(1)
    array([2083679832], dtype=uint32)
    >>> Seed(7).streams(2).shape
    (2, 4)
    """

    entropy: int
    spawn_key: tuple[int, ...] = ()

    @classmethod
    def of(cls, rng: RngLike) -> Seed:
        """Convert a Seed, or any argument of `numpy.random.default_rng`, to a Seed.

        None draws fresh entropy; a Generator yields one 128-bit seed and advances. Several integers
        together form one seed.
        """
        if isinstance(rng, Seed):
            return rng
        if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool):
            if rng < 0:
                raise ValueError(f"rng={rng} is negative; a seed must be a non-negative integer")
            return cls(int(rng))
        if isinstance(rng, _GENERATORS):
            return cls(_joined(np.random.default_rng(rng).integers(2**64, size=2, dtype=np.uint64)))
        if not isinstance(rng, np.random.SeedSequence):
            rng = np.random.SeedSequence(None if rng is None else _whole_numbers(rng))
        if isinstance(rng.entropy, int) and rng.pool_size == 4:
            return cls(rng.entropy, tuple(rng.spawn_key))
        return cls(_joined(rng.generate_state(2, np.uint64)))

    @property
    def number(self) -> int:
        """A single integer that represents the seed: the entropy itself if the path is empty.

        >>> Seed(7).number, Seed(7, (3,)).number == Seed(7, (4,)).number
        (7, False)
        """
        if not self.spawn_key:
            return self.entropy
        return _joined(self.sequence().generate_state(2, np.uint64))

    def child(self, index: int) -> Seed:
        """Return the seed of work item `index`, which is independent of all other children."""
        return Seed(self.entropy, (*self.spawn_key, index))

    def sequence(self) -> np.random.SeedSequence:
        """Return the seed as a NumPy `SeedSequence`."""
        return np.random.SeedSequence(self.entropy, spawn_key=self.spawn_key)

    def streams(self, number: int) -> Streams:
        """Return the initial states of `number` independent generators, one generator per row.

        The first streams do not depend on `number`.
        """
        words = self.sequence().generate_state(4 * number, np.uint64)
        return words.astype(np.uint64, copy=False).reshape(number, 4)


def _whole_numbers(rng: object) -> list[int]:
    """Return the integers in a seed that is given as a list, tuple, range or array."""
    numbers = rng.tolist() if isinstance(rng, np.ndarray) else rng
    if (
        not isinstance(numbers, (list, tuple, range))
        or not numbers
        or not all(
            isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n >= 0 for n in numbers
        )
    ):
        raise ValueError(
            f"rng={rng!r:.60} must be None, one or several non-negative integers, or a NumPy "
            "SeedSequence, BitGenerator, Generator or RandomState"
        )
    return [int(number) for number in numbers]


def _joined(words: npt.NDArray[Any]) -> int:
    return int(words[0]) | int(words[1]) << 64


RngLike: TypeAlias = (
    int | np.integer | Sequence[int] | npt.NDArray[np.integer] | np.random.SeedSequence
    | np.random.Generator | np.random.BitGenerator | np.random.RandomState | Seed | None
)  # fmt: skip
