"""Certificates over monomials: both checkers agree with each other and with brute force."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from tests.certificates.mutations import rewrite
from tests.problems.test_polynomial import states

import glasshouse as gh
from glasshouse.certificates import (
    Branch,
    Certificate,
    CertificateError,
    Cover,
    Leaf,
    Squares,
    Tree,
    checker,
    verify,
)  # fmt: skip
from glasshouse.files import FileError, read_document, read_side_car
from glasshouse.files.certificate.writing import write_certificate
from glasshouse.problems.monomials import Monomials

WORDS = ["0", "1", "2", "3", "-1", "-3", "9", "12", "5", "99", "4", "7", "-", "1.5", "h", ""]


def some_polynomial(rng: random.Random) -> gh.Polynomial:
    size = rng.randint(1, 6)
    rows = [rng.sample(range(size), rng.randint(0, min(size, 5))) for _ in range(rng.randint(0, 7))]
    scale = rng.choice([1, 1, 1, 0.125])
    weights = [rng.choice([-3, -2, -1, 1, 2, 3]) * scale for _ in rows]
    kinds = np.array(weights, dtype=np.int64 if scale == 1 else np.float64)
    return gh.Polynomial.from_terms(size, rows, kinds, units=rng.choice(["spin", "binary"]))


def some_certificate(rng: random.Random, size: int) -> Certificate:
    """Any sound loops, squares and tree; most of them prove little."""
    number = rng.randint(0, 5) if size > 1 else 0
    wanted = [sorted(rng.sample(range(size), rng.randint(2, size))) for _ in range(number)]
    table = list(dict.fromkeys(map(tuple, wanted)))
    vertices = range(size + 1 + len(table))
    state = np.array([rng.choice([-1, 1]) for _ in range(size)], dtype=np.int8)
    loops = [rng.sample(vertices, rng.randint(3, min(5, len(vertices)))) for _ in
             range(rng.randint(0, 2)) if len(vertices) > 2]  # fmt: skip
    violated = []
    for loop in loops:
        marks = [rng.random() < 0.3 for _ in loop[:-1]]
        marks[0] ^= sum(marks) % 2 == 1
        violated += [*marks, True]
    squares = []
    for _ in range(rng.randint(0, 2)):
        chosen = rng.sample(vertices, rng.randint(1, min(4, len(vertices))))
        squares.append([(v, rng.choice([-2, -1, 1, 1, 3])) for v in chosen])
    counts = len(loops), len(squares)
    tree = None
    if rng.random() < 0.4:
        pair = rng.sample(range(size + 1), 2)
        leaf = Leaf(*counts) if rng.random() < 0.6 else Cover(tuple(range(size)))
        rows = [leaf] if rng.random() < 0.3 else [Branch(*pair), leaf, Cover(tuple(range(size)))]
        if isinstance(leaf, Cover):
            loops, squares, violated = [], [], []
        tree = Tree(tuple(rows))
    starts = np.concatenate([[0], np.cumsum([len(loop) for loop in loops], dtype=int)])
    return Certificate(
        state, [v for loop in loops for v in loop], starts,
        [rng.randint(1, 3) for _ in loops], rng.choice([1, 1, 2, 8]),
        np.array(violated, dtype=bool), Squares.of(squares), tree, Monomials.of(table),
    )  # fmt: skip


def damaged(rng: random.Random, text: str) -> str:
    """The text with one word or line changed."""
    lines = text.split("\n")
    k = rng.randrange(len(lines))
    words = lines[k].split(" ")
    spot, what = rng.randrange(len(words)), rng.randrange(6)
    if what == 0:
        words[spot] = rng.choice(WORDS)
    elif what == 1:
        words.insert(spot, rng.choice(WORDS))
    elif what == 2:
        del words[spot]
    elif what == 3 and words[spot].lstrip("-").isdigit():
        words[spot] = str(int(words[spot]) + rng.choice([-1, 1]))
    elif what == 4:
        other = rng.randrange(len(words))
        words[spot], words[other] = words[other], words[spot]
    else:
        lines.insert(k, lines[rng.randrange(len(lines))])
        return "\n".join(lines)
    lines[k] = " ".join(words)
    return "\n".join(lines)


def library(path):
    """The library's verdict: value and least possible value, or the reason of a refusal."""
    try:
        document = read_document(path)
        proven = document.examined(read_side_car(f"{path}.cert"))
    except (FileError, CertificateError) as fault:
        return None, str(fault)
    verdict = proven.verdict
    exact = verdict.exact_energy
    return exact, exact if verdict.optimal else verdict.lower_bound


def alone(path):
    """The verdict of the stand-alone checker."""
    texts = [path.read_text(), path.with_name(f"{path.name}.cert").read_text()]
    try:
        return checker.check(*texts, is_hubo=True)
    except ValueError as fault:
        return None, str(fault)


def compare(path, problem):
    """Both verdicts agree, and are true; returns whether anything was verified."""
    (value, least), (other, rest) = library(path), alone(path)
    assert (value is None) == (other is None), (least, rest)
    if value is None:
        return False
    assert value == other
    if problem.is_integer:
        assert least == rest
    truth = problem.energy(states(problem.num_variables, problem.units)).min()
    assert rest <= truth <= value
    return True


def attack(folder, seeds, damages):
    """Compare on undamaged and damaged files; returns how many were verified and refused."""
    verified = refused = 0
    path = folder / "a.hubo"
    for seed in seeds:
        rng = random.Random(seed)
        problem = some_polynomial(rng)
        gh.write(path, problem, overwrite=True)
        certificate = some_certificate(rng, problem.num_variables)
        write_certificate(f"{path}.cert", certificate, overwrite=True)
        assert compare(path, problem)
        good = path.with_name("a.hubo.cert").read_text()
        for _ in range(damages):
            rewrite(path.with_name("a.hubo.cert"), damaged(rng, good))
            is_fine = compare(path, problem)
            verified, refused = verified + is_fine, refused + (not is_fine)
    return verified, refused


def test_both_checkers_agree_on_mutations(tmp_path):
    verified, refused = attack(tmp_path, range(120), 10)
    assert verified > 100
    assert refused > 300


@pytest.mark.slow
def test_both_checkers_agree_on_ten_thousand_mutations(tmp_path):
    verified, refused = attack(tmp_path, range(1000, 1500), 20)
    assert verified + refused == 10_000


def test_mutated_polynomials_are_read_alike(tmp_path):
    path, seen = tmp_path / "a.hubo", set()
    for seed in range(400):
        rng = random.Random(seed)
        problem = some_polynomial(rng)
        gh.write(path, problem, overwrite=True)
        state = np.ones(problem.num_variables, dtype=np.int8)
        write_certificate(f"{path}.cert", Certificate(state, [], [0], []), overwrite=True)
        path.write_text(damaged(rng, path.read_text()))
        (value, least), (other, rest) = library(path), alone(path)
        assert (value is None) == (other is None), (path.read_text(), least, rest)
        seen.add(value is None)
        assert value is None or value == other
    assert seen == {True, False}


def test_a_frustrated_even_cover_proves_an_optimum():
    rows = [(0, 1, 2), (0, 3, 4), (1, 3, 5), (2, 4, 5)]
    problem = gh.Polynomial.from_terms(6, rows, [-3, -4, -5, 3])
    table = Monomials.of([(0, 1, 2), (1, 2, 3, 4), (2, 4, 5)])
    proof = Certificate(np.ones(6, np.int8), [6, 7, 8, 9], [0, 4], [3], monomials=table)
    assert verify(problem, proof).optimal
    bare = Certificate(np.ones(6, np.int8), [], [0], [])
    assert not verify(problem, bare).optimal


def test_squares_of_monomials_bound_pairs_too():
    """Pairs alone leave a gap that a square of products closes."""
    problem = gh.Polynomial.from_terms(4, {(0, 1): 2, (2, 3): 2, (0, 1, 2, 3): 2})
    square = Squares.of([[(4, 1), (5, 1), (6, 1)]])  # (1 + s0 s1 + s2 s3)² ≥ 1
    state = np.array([-1, 1, 1, 1], dtype=np.int8)
    table = Monomials.of([(0, 1), (2, 3)])
    proof = Certificate(state, [], [0], [], 1, None, square, None, table)
    assert verify(problem, proof).bound == problem.energy(state) == -2
    ising = gh.Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [-2, -2, -2])
    pairs = Certificate(
        np.array([-1, 1, 1]), [], [0], [], 1, None, Squares.of([[(3, 1), (4, 1), (5, 1)]]), None,
        Monomials.of([(0, 1), (0, 2)]),
    )  # fmt: skip
    assert verify(ising, pairs).optimal


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([(0,)], "at least two spins, not 1"),
        ([()], "at least two spins, not 0"),
        ([(0, 0)], "must be in ascending order"),
        ([(1, 0)], "must be in ascending order"),
        ([(0, 1), (0, 1)], "twice"),
        ([(0, 9)], "must be numbers from 0"),
    ],
)
def test_false_monomials_are_refused(table, message):
    with pytest.raises(ValueError, match=message):
        Certificate(np.ones(3, np.int8), [], [0], [], monomials=Monomials.of(table))


def test_wrong_parities_are_refused():
    table = Monomials.of([(0, 1), (1, 2)])
    for marks in ([True, False, True], [False, True, False]):
        with pytest.raises(ValueError, match="an odd number"):
            Certificate(np.ones(3, np.int8), [3, 4, 5], [0, 3], [1], 1, np.array(marks),
                        monomials=table)  # fmt: skip


@pytest.mark.parametrize("size", [1, 5, 18])
def test_a_cover_looks_at_all_states(size):
    rng = np.random.default_rng(size)
    rows = [rng.choice(size, rng.integers(1, min(size, 5) + 1), replace=False) for _ in range(30)]
    problem = gh.Polynomial.from_terms(size, rows, rng.integers(1, 9, 30) * rng.choice([-1, 1], 30))
    table = states(size, "spin")
    energies = problem.energy(table)
    best = table[np.argmin(energies)]
    proof = Certificate(best, [], [0], [], tree=Tree((Cover(tuple(range(size))),)))
    verdict = verify(problem, proof)
    assert verdict.optimal
    assert verdict.bound == Fraction(int(energies.min()))
    short = Certificate(best, [], [0], [], tree=Tree((Cover(()),)))
    if problem.degree > 1:
        with pytest.raises(CertificateError, match="lacks two or more spins of the monomial"):
            verify(problem, short)


def test_small_files_that_ask_for_much_are_refused_at_once(tmp_path):
    size = 3000
    path = tmp_path / "a.hubo"
    gh.write(path, gh.Polynomial.from_terms(size, {(0, 1, 2): 1, (size - 1,): 1}))
    head = f"denominator 1\nstate {'1' * size}\n"
    wide = " ".join(str(k) for k in range(1, size + 1))
    loops = "".join(f"1 0 {k} {size + 1}\n" for k in range(1, size)) * 2
    text = f"glasshouse-certificate 4\n{head}monomials 1\nloops {loops.count(chr(10))}\n{wide}\n"
    side = path.with_name("a.hubo.cert")
    side.write_text(text + loops)
    with pytest.raises(FileError, match="too many to check"):
        read_side_car(side)
    few = 60
    gh.write(path, gh.Polynomial.from_terms(few, {(0, 1, 2): 1}), overwrite=True)
    cover = " ".join(str(k) for k in range(1, 25))
    state = "1" * few
    side.write_text(
        f"glasshouse-certificate 3\ndenominator 1\nstate {state}\ntree 1\ncover {cover}\nloops 0\n"
    )
    assert "too long to check" in library(path)[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("monomials 3", "monomials 2"), "at least 3 nodes"),
        (("certificate 4", "certificate 3"), "must not be in a certificate of version"),
        (("monomials 3\n", ""), "at least 3 nodes"),
        (("2 3 4 5\n", "3 2 4 5\n"), "must be in ascending order"),
        (("2 3 4 5\n", "2 2 4 5\n"), "must be in ascending order"),
        (("2 3 4 5\n", "1 2 3\n"), "twice"),
        (("2 3 4 5\n", "2\n"), "at least two spins, not 1"),
        (("2 3 4 5\n", "0 3 4 5\n"), "positive integers"),
        (("2 3 4 5\n", "2 3 4 9\n"), "has vertex 9, but there are only 6 variables"),
        (("3 0 7 8 9", "3 0 7 8 10"), "has vertex 10"),
        (("3 0 7 8 9", "3 0 -7 8 9"), "an odd number"),
        (("3 0 7 8 9", "3 7 8"), "at least 3 nodes"),
        (("3 0 7 8 9", "3 0 7 8 7"), "visits a node twice"),
    ],
)
def test_forged_covers_are_refused_by_both(tmp_path, change, message):
    rows = [(0, 1, 2), (0, 3, 4), (1, 3, 5), (2, 4, 5)]
    path = tmp_path / "a.hubo"
    gh.write(path, gh.Polynomial.from_terms(6, rows, [-3, -4, -5, 3]))
    table = Monomials.of([(0, 1, 2), (1, 2, 3, 4), (2, 4, 5)])
    proof = Certificate(np.ones(6, np.int8), [6, 7, 8, 9], [0, 4], [3], monomials=table)
    side = path.with_name("a.hubo.cert")
    write_certificate(side, proof)
    assert library(path) == alone(path) == (-9, -9)
    assert change[0] in side.read_text()
    side.write_text(side.read_text().replace(*change))
    value, reason = library(path)
    assert value is None
    assert message in reason
    assert alone(path)[0] is None
