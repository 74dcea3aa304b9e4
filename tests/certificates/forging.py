"""Certificates forged out of true ones, in magnitudes at which machine integers wrap around."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from glasshouse.certificates import Certificate, Squares

MAGNITUDES = (1, 2**31, 2**32, 2**61, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30, 10**400)

Rng = np.random.Generator


def forged(certificate: Certificate, rng: Rng) -> Certificate | None:
    """The certificate with one to five changes; None if the result is not a certificate."""
    parts = _Parts.of(certificate)
    for _ in range(rng.integers(1, 6)):
        changes = CHANGES + SQUARE_CHANGES if parts.squares or rng.random() < 0.1 else CHANGES
        changes[rng.integers(len(changes))](parts, rng)
    try:
        return parts.certificate()
    except ValueError:
        return None


@dataclass
class _Parts:
    """A certificate taken to pieces, in Python numbers."""

    state: list[int]
    loops: list[tuple[int, list[int], list[bool]]]
    denominator: int
    squares: list[tuple[int, list[tuple[int, int]]]]

    @classmethod
    def of(cls, certificate: Certificate) -> _Parts:
        starts, marks = certificate.starts.tolist(), certificate.negative_edges.tolist()
        nodes = certificate.nodes.tolist()
        loops = [
            (int(m), nodes[a:b], marks[a:b])
            for m, a, b in zip(
                certificate.multipliers.tolist(), starts[:-1], starts[1:], strict=True
            )
        ]
        held = certificate.squares
        pairs = list(zip(held.nodes.tolist(), held.coefficients.tolist(), strict=True))
        squares = [
            (int(c), pairs[a:b])
            for c, (a, b) in zip(held.multipliers, itertools.pairwise(held.starts), strict=True)
        ]
        return cls(certificate.state.tolist(), loops, certificate.denominator, squares)

    def certificate(self) -> Certificate:
        starts = np.cumsum([0, *(len(nodes) for _, nodes, _ in self.loops)])
        multipliers = np.empty(len(self.loops), dtype=object)
        multipliers[:] = [m for m, _, _ in self.loops]
        nodes = np.array([n for _, nodes, _ in self.loops for n in nodes], dtype=np.int64)
        marks = np.array([m for _, _, marks in self.loops for m in marks], dtype=bool)
        weights = np.empty(len(self.squares), dtype=object)
        weights[:] = [c for c, _ in self.squares]
        squares = Squares.of([pairs for _, pairs in self.squares], weights)
        return Certificate(self.state, nodes, starts, multipliers, self.denominator, marks, squares)


def _flip(parts: _Parts, rng: Rng) -> None:
    if parts.state:
        parts.state[rng.integers(len(parts.state))] *= -1


def _multiplier(parts: _Parts, rng: Rng) -> None:
    if parts.loops:
        k = int(rng.integers(len(parts.loops)))
        old, nodes, marks = parts.loops[k]
        large = MAGNITUDES[rng.integers(len(MAGNITUDES))]
        new = [old + 1, old - 1, 2 * old, large, large + old, abs(large - old)][rng.integers(6)]
        parts.loops[k] = (new, nodes, marks)


def _all_multipliers(parts: _Parts, rng: Rng) -> None:
    """All by the same amount: sums over loops wrap around to what they were."""
    large = MAGNITUDES[rng.integers(len(MAGNITUDES))]
    parts.loops = [(m + large, nodes, marks) for m, nodes, marks in parts.loops]


def _repeat(parts: _Parts, rng: Rng) -> None:
    """One loop often, with shares that add up to a power of two more or less."""
    if parts.loops:
        _, nodes, marks = parts.loops[rng.integers(len(parts.loops))]
        times = int(rng.integers(2, 5))
        share = MAGNITUDES[rng.integers(len(MAGNITUDES))] // times
        parts.loops += [(max(1, share + int(rng.integers(-1, 2))), nodes, marks)] * times


def _drop(parts: _Parts, rng: Rng) -> None:
    if parts.loops:
        parts.loops.pop(int(rng.integers(len(parts.loops))))


def _denominator(parts: _Parts, rng: Rng) -> None:
    large = MAGNITUDES[rng.integers(len(MAGNITUDES))]
    parts.denominator = [large, 2 * parts.denominator, parts.denominator + 1][rng.integers(3)]


def _cancel(parts: _Parts, rng: Rng) -> None:
    """Multipliers and denominator by one factor: the same proof in larger numbers."""
    large = MAGNITUDES[rng.integers(len(MAGNITUDES))]
    parts.loops = [(m * large, nodes, marks) for m, nodes, marks in parts.loops]
    parts.squares = [(c * large, pairs) for c, pairs in parts.squares]
    parts.denominator *= large


def _marks(parts: _Parts, rng: Rng) -> None:
    if parts.loops:
        k = int(rng.integers(len(parts.loops)))
        m, nodes, marks = parts.loops[k]
        marks = list(marks)
        for place in rng.choice(len(marks) - 1, min(2, len(marks) - 1), replace=False):
            marks[place] = not marks[place]
        parts.loops[k] = (m, nodes, marks)


def _loop(parts: _Parts, rng: Rng) -> None:
    """A new loop through any spins and the ghost."""
    size = len(parts.state) + 1
    if size >= 3:
        length = int(rng.integers(3, min(size, 5) + 1))
        nodes = rng.permutation(size)[:length].tolist()
        large = MAGNITUDES[rng.integers(len(MAGNITUDES))] if rng.random() < 0.5 else 1
        parts.loops.append((large, nodes, [False] * (length - 1) + [True]))


def _node(parts: _Parts, rng: Rng) -> None:
    if parts.loops:
        k = int(rng.integers(len(parts.loops)))
        m, nodes, marks = parts.loops[k]
        nodes = list(nodes)
        nodes[rng.integers(len(nodes))] = int(rng.integers(len(parts.state) + 1))
        parts.loops[k] = (m, nodes, marks)


def _square(parts: _Parts, rng: Rng) -> None:
    """A new square over any spins and the ghost, some of its numbers large."""
    size = len(parts.state) + 1
    nodes = rng.permutation(size)[: rng.integers(1, size + 1)].tolist()
    large = MAGNITUDES[rng.integers(len(MAGNITUDES))] if rng.random() < 0.3 else 1
    pairs = [(node, int(rng.integers(1, 4)) * int(rng.choice([-1, 1]))) for node in nodes]
    parts.squares.append((large, pairs))


def _drop_square(parts: _Parts, rng: Rng) -> None:
    if parts.squares:
        parts.squares.pop(int(rng.integers(len(parts.squares))))


def _cancelling_squares(parts: _Parts, rng: Rng) -> None:
    """Two squares that add up to none, in large numbers."""
    if len(parts.state) > 1:
        large = MAGNITUDES[rng.integers(len(MAGNITUDES))]
        parts.squares += [(large, [(0, 1), (1, sign)]) for sign in (1, -1)]


def _square_multiplier(parts: _Parts, rng: Rng) -> None:
    if parts.squares:
        k = int(rng.integers(len(parts.squares)))
        old, pairs = parts.squares[k]
        large = MAGNITUDES[rng.integers(len(MAGNITUDES))]
        new = [old + 1, old - 1, 2 * old, large, large + old, abs(large - old)][rng.integers(6)]
        parts.squares[k] = (new, pairs)


def _coefficient(parts: _Parts, rng: Rng) -> None:
    if parts.squares:
        k = int(rng.integers(len(parts.squares)))
        c, pairs = parts.squares[k]
        place, pairs = int(rng.integers(len(pairs))), list(pairs)
        node, old = pairs[place]
        large = MAGNITUDES[rng.integers(len(MAGNITUDES))]
        new = [old + 1, old - 1, -old, 3 * old, large, -large, large - old][rng.integers(7)]
        pairs[place] = (node, new)
        parts.squares[k] = (c, pairs)


def _square_node(parts: _Parts, rng: Rng) -> None:
    if parts.squares:
        k = int(rng.integers(len(parts.squares)))
        c, pairs = parts.squares[k]
        place, pairs = int(rng.integers(len(pairs))), list(pairs)
        pairs[place] = (int(rng.integers(len(parts.state) + 1)), pairs[place][1])
        parts.squares[k] = (c, pairs)


CHANGES: list[Callable[[_Parts, Rng], None]] = [
    *[_flip] * 4, *[_multiplier] * 2, _all_multipliers, _repeat, _drop, _denominator, _cancel,
    _marks, _loop, _node,
]  # fmt: skip
SQUARE_CHANGES: list[Callable[[_Parts, Rng], None]] = [
    _square, _drop_square, _cancelling_squares, *[_square_multiplier] * 2, *[_coefficient] * 3,
    *[_square_node] * 2,
]  # fmt: skip
