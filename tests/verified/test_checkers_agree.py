"""The verified checker, the stand-alone one and the library give the same verdicts."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.certificates import test_checker as clauses
from tests.certificates import test_graph_checker as graphs
from tests.certificates import test_square_files as squares
from tests.verified.corpus import Case, case, cases
from tests.verified.judges import library, stand_alone, verified_ones

AT_ONCE = 200  # cases of one call


def compare(verified: str, count: int, seed: int, attacks: int) -> Counter[str]:
    """Let three checkers judge `count` cases; count what they were and what came out."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with TemporaryDirectory(dir=memory) as folder:
        return compare_in(Path(folder), verified, count, seed, attacks)


def compare_in(folder: Path, verified: str, count: int, seed: int, attacks: int) -> Counter[str]:
    tally: Counter[str] = Counter()
    stream = (one for one in cases(folder, seed, attacks) if not one.has_floats)
    while tally["cases"] < count:
        some = list(itertools.islice(stream, min(AT_ONCE, count - tally["cases"])))
        for one, mine in zip(some, verified_ones(verified, some, folder), strict=True):
            assert mine == stand_alone(one) == library(one, folder), one
            tally.update(traits(one))
            tally["refused" if mine is None else "optimal" if mine[0] == mine[1] else "bounds"] += 1
    return tally


def traits(one: Case) -> list[str]:
    """The ingredients of a case."""
    words = {b"squares": b"\nsquares ", b"trees": b"\nbranch ", b"covers": b"\ncover ",
             b"monomials": b"\nmonomials ", b"cores": b"\ncores ",
             b"orders": b"\norder "}  # fmt: skip
    held = [name.decode() for name, word in words.items() if word in one.certificate]
    state, numbers = re.compile(rb"^state .*$", re.M), re.compile(rb"\d{20}")
    large = numbers.search(state.sub(b"", one.certificate)) is not None
    return ["cases", one.suffix, *held, *["large"] * large]


def test_three_checkers_agree(verified):
    tally = compare(verified, count=600, seed=1, attacks=12)
    kinds = ("squares", "trees", "covers", "large", "monomials", "cores", "orders")
    assert min(tally[kind] for kind in kinds) > 40
    assert min(tally[kind] for kind in ("refused", "optimal", "bounds")) > 50
    assert min(tally[suffix] for suffix in (".wcnf", ".mc", ".sparse", ".hubo")) > 20


def table(test: Callable[..., None]) -> list[tuple[str, str, bool]]:
    """The changes that a test of the other two checkers makes to its texts."""
    (mark,) = (mark for mark in test.pytestmark if mark.name == "parametrize")
    return mark.args[1]


def changed(suffix: str, problem: str, certificate: str, changes: list[tuple[str, str, bool]]):
    for old, new, _ in changes:
        texts = (problem.replace(old, new, 1), certificate.replace(old, new, 1))
        yield case(suffix, *(text.encode("latin1") for text in texts))


def test_three_checkers_know_one_grammar(verified, tmp_path):
    of_clauses = table(clauses.test_both_readers_know_one_grammar)
    of_squares = table(squares.test_both_checkers_read_alike)
    of_graphs = table(graphs.test_both_readers_know_one_grammar)
    some = [
        *changed(".wcnf", clauses.WCNF, clauses.CERT, of_clauses),
        *changed(".wcnf", squares.WCNF, squares.CERT, of_squares),
        *changed(".mc", graphs.GRAPH, graphs.CERT, of_graphs),
        *changed(".mc", graphs.GRAPH, graphs.OPEN, of_graphs),
    ]
    whole = [one for one in some if not one.has_floats]
    assert len(whole) > 180
    for one, mine in zip(whole, verified_ones(verified, whole, tmp_path), strict=True):
        assert mine == stand_alone(one) == library(one, tmp_path), one


def test_polynomials_are_read_by_one_grammar(verified, tmp_path):
    problem = "# vartype=SPIN\n# num-variables 5\n0 1 2 -3\n1 2 3 2\n0 3 1\n4\n"
    proof = "glasshouse-certificate 4\ndenominator 1\nstate 11111\nmonomials 1\nloops 1\n1 2 3\n"
    changes = [
        ("", ""), ("0 1 2", "0 1 1 2"), ("0 1 2", "0 -1 2"), ("0 1 2", "0 +1 2"), ("0 3 1", "1"),
        ("variables 5", "variables 4"), ("variables 5", "variables 6"), ("0 1 2 -3", "0 1 7 -3"),
        ("-3\n1", "-3\n\n1"), ("0 1 2 -3", "0 1 2 -9223372036854775808"), ("4\n", "4 x\n"),
        ("\n4\n", "\n4611686018427387904\n4611686018427387904\n"), ("monomials 1\n", ""),
        ("monomials 1\nloops 1\n1 2 3\n", "monomials 2\nloops 1\n1 2\n1 2\n1 0 1 6\n"),
        ("certificate 4", "certificate 3"), ("loops 1\n", "loops 0\nsquares 1\n"),
        ("loops 1", "loops 01"), ("state 11111\n", "state 11111\ntree 1\nleaf 1 0\n"),
        ("state 11111\n", "state 11111\ntree 1\ncover 1 2\n"),
    ]  # fmt: skip
    tables = ("2 1 3", "2", "1 2 6", "1 2 2", "0 1 2", "1 2 3\n1 1 2 6", "1 2 3\n1 0 1 7")
    tables += ("1 2 3\n1 0 6 6", "1 2 3\n1 -0 6 1", "1 2 3\n1 -6 0 1", "1 2 3\n1 6 -1 0")
    changes += [("1 2 3\n", f"{table}\n") for table in tables]
    proofs = [proof + "1 0 1 6\n", proof.replace("loops 1", "loops 0\nsquares 1") + "1 1 0 -1 6\n"]
    some = [
        Case(".hubo", problem.replace(old, new, 1).encode(), text.replace(old, new, 1).encode())
        for old, new in changes
        for text in proofs
    ]
    answers = verified_ones(verified, some, tmp_path)
    assert len([answer for answer in answers if answer]) > 10
    for one, mine in zip(some, answers, strict=True):
        assert mine == stand_alone(one) == library(one, tmp_path), one
    bits = Case(".hubo", problem.replace("SPIN", "BINARY").encode(), proofs[0].encode())
    assert verified_ones(verified, [bits], tmp_path) == [None]


def test_orders_are_read_by_one_grammar(verified, tmp_path):
    problem = "5 6\n1 2 3\n2 3 -1\n3 4 2\n4 1 2\n4 5 1\n2 4 -2\n"
    proof = (
        "glasshouse-certificate 6\ndenominator 1\nstate 10101\ntree 3\nbranch 1 3\n"
        "order 1 2 3 4 5\norder 4 5 2 1\nloops 0\n"
    )
    changes = [
        ("", ""), ("order 1 2 3 4 5", "order 5 4 2 0 1"), ("order 1 2 3 4 5", "order 1 2 5"),
        ("order 4 5 2 1", "order 4 5 2 3"), ("order 4 5 2 1", "order 4 5 1 1"),
        ("order 4 5 2 1", "order 4 5 2 6"), ("order 4 5 2 1", "order 4 5 2 -1"),
        ("order 4 5 2 1", "order"), ("order 4 5 2 1", "cover 4 2"), ("ate 6", "ate 3"),
        ("ate 6", "ate 4"), ("ate 6", "ate 5"), ("ate 6", "ate 7"), ("tree 3", "tree 2"),
        ("loops 0\n", "loops 0\nsquares 1\n1 1 1\n"), ("loops 0\n", "loops 1\n1 1 2 4\n"),
        ("tree 3\nbranch 1 3\norder 1 2 3 4 5\norder 4 5 2 1\n", ""), ("5 2 1", "+5 2 1"),
        ("tree 3\nbranch 1 3\norder 1 2 3 4 5\norder 4 5 2 1\n", "tree 1\nleaf 0 0\n"),
        ("order 4 5 2 1", "leaf 0 0"), ("loops 0", "monomials 0\nloops 0"), ("4 5 2 1", "4 1 2 5"),
        ("order 4 5 2 1\n", "order 4 5 2 1\n\n"), ("order 1 2", "order 1 2 000000000003 3"),
    ]  # fmt: skip
    some = list(changed(".mc", problem, proof, [(*change, False) for change in changes]))
    answers = verified_ones(verified, some, tmp_path)
    assert len([answer for answer in answers if answer]) > 6
    for one, mine in zip(some, answers, strict=True):
        assert mine == stand_alone(one) == library(one, tmp_path), one
    clique = [f"{a} {b} 1" for a in range(1, 61) for b in range(1, a)]
    words = " ".join(map(str, range(1, 61)))
    wide = "\n".join(["60 1770", *clique, ""]), proof.replace("10101", "1" * 60)
    one = case(".mc", *(text.encode() for text in wide))
    tree = b"tree 3\nbranch 1 3\norder 1 2 3 4 5\norder 4 5 2 1\n"
    one = Case(
        ".mc", one.problem, one.certificate.replace(tree, f"tree 1\norder {words}\n".encode())
    )
    assert verified_ones(verified, [one], tmp_path) == [None]
    assert stand_alone(one) is library(one, tmp_path) is None


def test_terms_that_cancel_need_not_be_covered_or_ordered(verified, tmp_path):
    pairs = [f"1 {a} {sign * b} 0" for a in range(1, 31) for b in range(1, a) for sign in (1, -1)]
    clauses = "\n".join([f"p wcnf 30 {len(pairs) + 1} 999", *pairs, "1 -1 0", ""])
    edges = "4 5\n1 2 3\n1 2 -3\n2 3 1\n3 4 2\n1 4 0\n"
    terms = "# vartype=SPIN\n0 1 2 4\n0 1 3\n0 1 2 -4\n2 3 0\n"
    proof = "glasshouse-certificate 6\ndenominator 1\nstate {}\ntree 1\n{}\nloops 0\n"
    some = [
        Case(suffix, problem.encode(), proof.format("1" * size, row).encode())
        for suffix, size, problem, rows in (
            (".wcnf", 30, clauses, [f"order {' '.join(map(str, range(1, 31)))}", "cover"]),
            (".mc", 4, edges, ["order 4 3 2", "cover 3", "order 3 4"]),
            (".hubo", 4, terms, ["order 1 2", "order 2", "cover 2", "cover"]),
        )
        for row in rows
    ]
    answers = verified_ones(verified, some, tmp_path)
    assert [answer is None for answer in answers] == [False] * 4 + [True, False, True, False, True]
    for one, mine in zip(some, answers, strict=True):
        assert mine == stand_alone(one) == library(one, tmp_path), one


def test_what_comments_state_is_not_read(verified, tmp_path):
    lie = Case(".wcnf", b"c planted-cost 9\n" + clauses.WCNF.encode(), clauses.CERT.encode())
    assert verified_ones(verified, [lie], tmp_path) != [None]
    assert stand_alone(lie) is library(lie, tmp_path) is None


def test_floats_are_refused(verified, tmp_path):
    graph = Case(".mc", b"2 1\n1 2 0.5\n", graphs.OPEN.replace("111", "10").encode())
    assert verified_ones(verified, [graph], tmp_path) == [None]
    assert stand_alone(graph) == (Fraction(1, 2), Fraction(1, 2))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 7))
def test_thirty_thousand_verdicts_of_three_checkers_agree(verified, seed):
    tally = compare(verified, count=6000, seed=seed, attacks=40)
    print(dict(tally))
    assert tally["cases"] == 6000
