"""The random number generator xoshiro256++ (Blackman and Vigna, 2021), and two variants.

A stream is an array of four uint64 words, changed in place. Only integer arithmetic is used, so a
seed yields the same numbers on every computer and with every version of NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inlined, inner

# Numba turns int64 mixed with uint64 into float64; every constant here is therefore a uint64.
_U17, _U19, _U23, _U32, _U41, _U45 = map(np.uint64, (17, 19, 23, 32, 41, 45))
_U24, _U27, _U37, _U40 = map(np.uint64, (24, 27, 37, 40))
_ONE, _TWO, _FOUR, _EIGHT, _U16 = map(np.uint64, (1, 2, 4, 8, 16))
_LOW_HALF = np.uint64(0xFFFFFFFF)


@inner
def advance(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return a random word and the next state of xoshiro256++, for scalars or vectors of uint64."""
    word = a + d
    word = ((word << _U23) | (word >> _U41)) + a
    shifted = b << _U17
    c = c ^ a
    d = d ^ b
    b = b ^ c
    a = a ^ d
    c = c ^ shifted
    d = (d << _U45) | (d >> _U19)
    return word, a, b, c, d


@inner
def advance_small(a: Any, b: Any) -> Any:
    """Return a random word and the next state of xoroshiro128+, whose state is two words.

    Use it for floats, because the lowest three bits of a word are weak. Works on vectors.
    """
    word = a + b
    b = b ^ a
    a = ((a << _U24) | (a >> _U40)) ^ b ^ (b << _U16)
    b = (b << _U37) | (b >> _U27)
    return word, a, b


@inner
def advance_plus(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Return a random word and the next state of xoshiro256+, which is faster than xoshiro256++.

    Use it for floats, because the lowest three bits of a word are weak. Works on vectors.
    """
    word = a + d
    shifted = b << _U17
    c = c ^ a
    d = d ^ b
    b = b ^ c
    a = a ^ d
    c = c ^ shifted
    d = (d << _U45) | (d >> _U19)
    return word, a, b, c, d


@compiled
def next_word(stream: Any) -> Any:
    """Return the next 64 random bits of a stream, as a uint64."""
    word, a, b, c, d = advance(stream[0], stream[1], stream[2], stream[3])
    stream[0], stream[1], stream[2], stream[3] = a, b, c, d
    return word


@inlined
def below(stream: Any, bound: int) -> Any:
    """Return a uniform integer in [0, bound) for 1 ≤ bound < 2^32, without bias (Lemire, 2019)."""
    width = np.uint64(bound)
    product = (next_word(stream) >> _U32) * width
    remainder = product & _LOW_HALF
    if remainder < width:
        threshold = (_LOW_HALF - width + _ONE) % width
        while remainder < threshold:
            product = (next_word(stream) >> _U32) * width
            remainder = product & _LOW_HALF
    return np.int64(product >> _U32)


@inlined
def below_wide(stream: Any, bound: int) -> Any:
    """Return a uniform integer in [0, bound) for 1 ≤ bound < 2^63, by masking and rejection."""
    last = np.uint64(bound - 1)
    mask = last | _ONE
    mask |= mask >> _ONE  # every bit below the highest, in six steps
    mask |= mask >> _TWO
    mask |= mask >> _FOUR
    mask |= mask >> _EIGHT
    mask |= mask >> _U16
    mask |= mask >> _U32
    word = next_word(stream) & mask
    while word > last:
        word = next_word(stream) & mask
    return np.int64(word)


@compiled
def fill_spins(stream: Any, spins: Any) -> None:
    """Fill an int8 array with uniformly random spins ±1, 64 spins from each random word."""
    word = np.uint64(0)
    for i in range(spins.size):
        if i & 63 == 0:
            word = next_word(stream)
        spins[i] = 1 if word & _ONE else -1
        word >>= _ONE
