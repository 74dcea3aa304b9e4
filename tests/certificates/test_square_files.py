"""Certificates of version 2 as files: what is refused, and that both checkers agree."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.certificates.mutations import every_number
from tests.certificates.square_instances import square_sum
from tests.certificates.test_checker import library, stand_alone
from tests.oracles import optimum

from glasshouse import files
from glasshouse.files.certificate.writing import rescaled
from glasshouse.planting.methods import wishart
from glasshouse.problems import Ising
from glasshouse.problems.convert import to_max2sat

# (s1 + s2 - s3 + ghost)² ≥ 0 and a triangle, which has the same couplings between spins.
WCNF = (
    "p wcnf 3 9 99\n3 1 2 0\n3 -1 -2 0\n3 2 -3 0\n3 -2 3 0\n3 1 -3 0\n3 -1 3 0\n"
    "2 -1 0\n2 -2 0\n2 3 0\n"
)
CERT = (
    "glasshouse-certificate 2\ndenominator 1\nstate 011\nloops 1\nsquares 1\n"
    "1 3 2 1\n1 1 1 1 2 -1 3 1 0\n"
)
SQUARE = "1 1 1 1 2 -1 3 1 0"


def test_the_example_is_proven():
    assert stand_alone(WCNF, CERT) == (5, 5)


@pytest.mark.parametrize(
    ("old", "new", "accepted"),
    [
        ("certificate 2", "certificate 1", False),
        ("certificate 2", "certificate 3", False),
        ("squares 1\n", "squares 01\n", True),
        ("squares 1\n", "squares +1\n", True),
        ("squares 1\n", "squares -1\n", False),
        ("squares 1\n", "squares 0\n", False),
        ("squares 1\n", "squares 2\n", False),
        ("squares 1\n", "squares\n", False),
        ("squares 1\n", "squares 1\nsquares 1\n", False),
        ("squares 1\n", "", False),
        ("loops 1\nsquares 1\n", "squares 1\nloops 1\n", True),
        ("loops 1\nsquares 1\n", "squares 2\nloops 0\n", False),
        ("loops 1\nsquares 1\n", "squares 0\nloops 2\n", False),
        ("loops 1\nsquares 1\n", "loops -1\nsquares 3\n", False),
        ("loops 1\nsquares 1\n", f"loops 1\nsquares {2**64 + 1}\n", False),
        (f"1 3 2 1\n{SQUARE}", f"{SQUARE}\n1 3 2 1", False),
        (f"1 3 2 1\n{SQUARE}", f"1 3 2 1\nsquares 1\n{SQUARE}", False),
        (SQUARE, "1 1 0 -1 3 1 2 1 1", True),
        (SQUARE, "1 +1 1 01 +2 -1 3 +1 -0", True),
        (SQUARE, "2 1 1 1 2 -1 3 1 0", True),
        (SQUARE, f"{10**400} 1 1 1 2 -1 3 1 0", True),
        (SQUARE, "0 1 1 1 2 -1 3 1 0", False),
        (SQUARE, "-1 1 1 1 2 -1 3 1 0", False),
        (SQUARE, "1 1 1 1 2 0 3 1 0", False),
        (SQUARE, "1 1 1 1 2 -0 3 1 0", False),
        (SQUARE, "1 1 1 1 2 -1 2 1 0", False),
        (SQUARE, "1 1 1 1 2 -1 4 1 0", False),
        (SQUARE, "1 1 1 1 2 -1 -3 1 0", False),
        (SQUARE, f"1 1 1 1 2 -1 {2**31} 1 0", False),
        (SQUARE, f"1 1 1 1 2 -1 {2**64} 1 0", False),
        (SQUARE, "1 1 1 1 2 -1 3 1", False),
        (SQUARE, "1", False),
        (SQUARE, "1 1", False),
        (SQUARE, "1 1 1", True),
        (SQUARE, "1 h 1 1 2 -1 3 1 0", False),
        (SQUARE, "1 1 h 1 2 -1 3 1 0", False),
        (SQUARE, "1 1.0 1 1 2 -1 3 1 0", False),
        (SQUARE, f"1 {2**63 - 1} 1 1 2", True),
        (SQUARE, f"1 {1 - 2**63} 1 {2**63 - 1} 2", True),
        (SQUARE, f"1 {2**63} 1 1 2", False),
        (SQUARE, f"1 -{2**63} 1 1 2", False),
        (SQUARE, f"1 {2**64 + 1} 1 1 2", False),
    ],
)
def test_both_checkers_read_alike(tmp_path, old, new, accepted):
    assert CERT.count(old) == 1
    certificate = CERT.replace(old, new)
    (tmp_path / "a.wcnf").write_text(WCNF)
    (tmp_path / "a.cert").write_text(certificate)
    verdict = stand_alone(WCNF, certificate)
    assert (verdict is not None) == accepted
    assert verdict == library(tmp_path / "a.wcnf", tmp_path / "a.cert")
    assert verdict is None or verdict[1] <= 5


def write_some(folder: Path, rng: np.random.Generator) -> tuple[Path, Path]:
    """A sum of squares, or a Wishart plant, as WCNF with its certificate."""
    path = folder / "some.wcnf"
    if rng.random() < 0.3:
        files.write(path, wishart(4, columns=2, rng=int(rng.integers(99))), overwrite=True)
        return path, files.side_car(path)
    problem, certificate = square_sum(int(rng.integers(3, 6)), rng, squares=3)
    clauses, reduction = to_max2sat(problem)
    files.write(path, clauses, overwrite=True)
    scaled = rescaled(certificate, Fraction(reduction.factor) * 2)
    files.write_certificate(files.side_car(path), scaled, overwrite=True)
    return path, files.side_car(path)


def change_every_number(folder: Path, least: int, seed: int) -> tuple[int, int]:
    """Certificates with one number changed: refused or true. Returns how many of both."""
    rng = np.random.default_rng(seed)
    refused = true = 0
    while refused + true < least:
        wcnf, cert = write_some(folder, rng)
        text, certificate, best = wcnf.read_text(), cert.read_text(), optimum(files.read(wcnf))[0]
        assert stand_alone(text, certificate) == (best, best)
        for changed in every_number(certificate):
            cert.write_text(changed)
            verdict = stand_alone(text, changed)
            assert verdict == library(wcnf, cert), changed
            assert verdict is None or verdict[1] <= best <= verdict[0], changed
            refused += verdict is None
            true += verdict is not None
    return refused, true


def test_certificates_with_one_number_changed_are_refused_or_true(tmp_path):
    refused, true = change_every_number(tmp_path, 800, seed=1)
    assert min(refused, true) > 100


@pytest.mark.slow
def test_ten_thousand_certificates_with_one_number_changed_are_refused_or_true(tmp_path):
    change_every_number(tmp_path, 12_000, seed=2)


def test_squares_of_certificates_hold_no_decimals_and_no_far_nodes():
    from glasshouse.certificates import Squares
    from glasshouse.certificates.square_sums import SquareSums

    with pytest.raises(ValueError, match="coefficients must be integers"):
        Squares.of([[(0, 1.5), (1, 1)]])
    with pytest.raises(ValueError, match="2\\^63"):
        Squares.of([[(0, 2**63), (1, 1)]])
    with pytest.raises(ValueError, match="node 9, but the last node is 2"):
        SquareSums(Squares.of([[(0, 1), (9, 1)]]), 3)


def test_numbers_beyond_floats_are_wide():
    from glasshouse.certificates import Squares

    squares = Squares.of([[(0, 2**62), (1, 1)]], np.array([10**300], dtype=object))
    assert squares.magnitude == float("inf")
    assert squares.is_wide


def test_a_plant_whose_squares_are_elsewhere_is_refused():
    from dataclasses import replace

    from glasshouse.certificates import CertificateError, Squares

    plant = wishart(4, columns=2, rng=1)
    with pytest.raises(CertificateError, match="a square names node 7"):
        replace(plant, squares=Squares.of([[(0, 1), (7, 1)]])).verify()


def test_long_numbers_take_little_memory():
    """Each of 10^5 edges times a denominator of 4300 digits would be 180 MB."""
    import tracemalloc

    from glasshouse.certificates import Certificate, Squares, verify

    size = 100_000
    problem = Ising.from_edges(size, [(i, i + 1) for i in range(size - 1)], np.ones(size - 1, int))
    squares = Squares.of([[(0, 1), (1, -1)]])
    loops = (np.arange(size), [0, size], np.array([10**4299], dtype=object))
    certificate = Certificate(np.ones(size, int), *loops, 10**4298, None, squares)
    tracemalloc.start()
    try:
        assert verify(problem, certificate).optimal
        assert tracemalloc.get_traced_memory()[1] < 150 << 20
    finally:
        tracemalloc.stop()
