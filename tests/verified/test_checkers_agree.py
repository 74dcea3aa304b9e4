"""The verified checker, the stand-alone one and the library give the same verdicts."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import pytest
from tests.verified.corpus import Case, cases
from tests.verified.judges import library, stand_alone, verified_ones

AT_ONCE = 200  # cases of one call


def compare(verified: str, folder: Path, count: int, seed: int, attacks: int) -> Counter[str]:
    """Let three checkers judge `count` cases; count what they were and what came out."""
    tally: Counter[str] = Counter()
    stream = (case for case in cases(folder, seed, attacks) if not case.has_floats)
    while tally["cases"] < count:
        some = list(itertools.islice(stream, min(AT_ONCE, count - tally["cases"])))
        for case, mine in zip(some, verified_ones(verified, some, folder), strict=True):
            alone = stand_alone(case)
            assert mine == alone, case
            assert mine == library(case, folder), case
            tally.update(traits(case))
            tally["refused" if mine is None else "optimal" if mine[0] == mine[1] else "bounds"] += 1
    return tally


def traits(case: Case) -> list[str]:
    """What a case is made of."""
    words = {b"squares": b"\nsquares ", b"trees": b"\nbranch ", b"covers": b"\ncover "}
    held = [name.decode() for name, word in words.items() if word in case.certificate]
    large = any(len(word) > 19 for word in case.certificate.split() if b"state" not in word)
    return ["cases", case.suffix, *held, *["large"] * large]


def test_three_checkers_agree(verified, tmp_path):
    tally = compare(verified, tmp_path, count=600, seed=1, attacks=20)
    assert min(tally[kind] for kind in ("squares", "trees", "covers", "large")) > 50
    assert min(tally[kind] for kind in ("refused", "optimal", "bounds")) > 50
    assert min(tally[suffix] for suffix in (".wcnf", ".mc", ".sparse")) > 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 7))
def test_thirty_thousand_verdicts_of_three_checkers_agree(verified, tmp_path, seed):
    tally = compare(verified, tmp_path, count=6000, seed=seed, attacks=40)
    print(dict(tally))
