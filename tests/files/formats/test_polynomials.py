"""Polynomials in files: `.hubo`, JSON and `.npz` keep them, other formats hold pairs."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.problems.test_polynomial import polynomials, states

import glasshouse as gh
from glasshouse.certificates import checker
from glasshouse.cli import main
from glasshouse.files import FileError, read_document, write

fresh = itertools.count()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("polynomials")


@given(polynomials(), st.sampled_from([".hubo", ".json", ".npz", ".hubo.gz"]), st.booleans())
def test_all_formats_of_polynomials_give_back_what_was_written(folder, drawn, suffix, named):
    size, rows, weights, units = drawn
    labels = [f"v{k}" for k in range(size)] if named else None
    kinds = np.array(weights, dtype=np.float64 if any(type(w) is float for w in weights) else int)
    problem = gh.Polynomial.from_terms(size, rows, kinds, labels=labels, units=units)
    path = folder / f"{next(fresh)}{suffix}"
    write(path, problem)
    assert gh.read(path) == problem


@settings(max_examples=40)
@given(polynomials(most=5, degree=4, floats=False), st.sampled_from([".wcnf", ".qubo", ".coo"]))
def test_other_formats_hold_pairs_with_the_same_optimum(folder, drawn, suffix):
    size, rows, weights, units = drawn
    problem = gh.Polynomial.from_terms(size, rows[:3], weights[:3], units=units)
    path = folder / f"{next(fresh)}{suffix}"
    reduction = write(path, problem).reduction
    if not size or (suffix == ".coo" and not problem.num_terms):
        return
    found = gh.brute_force(read_document(path).problem)
    assert reduction.source_energy(found.energy) == problem.energy(states(size, units)).min()


def test_pairs_become_polynomials(tmp_path):
    ising = gh.Ising.from_edges(3, [(0, 1), (1, 2)], [2, -1], [1, 0, 0], 7)
    for name in ("x.hubo", "x.coo"):
        write(tmp_path / name, ising)
    assert gh.read(tmp_path / "x.hubo") == gh.to_polynomial(ising)[0]
    write(tmp_path / "y.coo", gh.read(tmp_path / "x.hubo"))
    assert (tmp_path / "y.coo").read_text() == (tmp_path / "x.coo").read_text()
    write(tmp_path / "z.npz", ising, kind="polynomial")
    assert gh.read(tmp_path / "z.npz") == gh.to_polynomial(ising)[0]


def test_lists_of_chook_are_read_with_units(tmp_path):
    text, terms = tmp_path / "a.hubo", {"type": "hobo", "terms": [{"w": -2, "ids": [0, 1, 3]}]}
    text.write_text("0\t1\t3\t-2\n")
    with pytest.raises(FileError, match="no vartype; add"):
        gh.read(text)
    expected = gh.Polynomial.from_terms(4, {(0, 1, 3): -2}, units="binary")
    assert gh.read(text, units="binary") == expected
    (tmp_path / "a.json").write_text(json.dumps({"problem": terms}))
    assert gh.read(tmp_path / "a.json") == expected
    text.write_text("# vartype=SPIN\n0\t1\t3\t-2\n")
    with pytest.raises(FileError, match="states its own units"):
        gh.read(text, units="binary")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("0 1 x", "line 2: weight 'x' is not a finite number"),
        ("0 -1 2", "line 2: variable -1 is out of range"),
        ("0 1.5 2", "line 2: variable '1.5' is out of range"),
        ("1 0 4294967296 2", "line 2: variable 4294967296 is out of range"),
        ("# num-variables 1\n0 1 3", "must be an integer from 2 to"),
        ("# num-variables 2000000000\n0 1 3", "but only 1 terms"),
        ("0 1 9223372036854775807\n1 0 5", "above 2\\^63-1"),
        ("0 1 0.1\n1 0 0.2", "is not exact as a float"),
        ("0 1 1e999", "is not a finite number"),
        ("0 1 1.7e308\n0 2 1.7e308", "add up to"),
        ("# vartype=BINARY\n0 1", "must state exactly one vartype"),
        ("# planted-model 01\n0 1 2 3", "must have 3, one per variable"),
    ],
)
def test_numbers_of_a_list_are_hostile(tmp_path, body, message):
    path = tmp_path / "a.hubo"
    path.write_text(f"# vartype=SPIN\n{body}\n")
    with pytest.raises(FileError, match=message):
        gh.read(path)


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"cost_function": {"type": "ising", "terms": [{"c": 1, "ids": [0, -1]}]}}, "have ids"),
        ({"cost_function": {"type": "ising", "terms": [{"c": "1", "ids": [0]}]}}, "a finite"),
        ({"cost_function": {"type": "potts", "terms": []}}, "type 'potts' must be ising"),
        ({"cost_function": {"type": "ising", "terms": [{"ids": [0]}]}}, "has no 'c'"),
        ({"cost_function": {"type": "ising", "terms": 3}}, "not BQP-JSON"),
        (
            {"cost_function": {"type": "ising", "terms": [{"c": 1, "ids": [5]}]},
             "metadata": {"num_variables": 2}},
            "must be an integer from 6 to",
        ),
    ],
)  # fmt: skip
def test_json_of_terms_is_hostile(tmp_path, about, message):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(about))
    with pytest.raises(FileError, match=message):
        gh.read(path)


def test_an_archive_with_false_starts_is_refused(tmp_path):
    write(tmp_path / "a.npz", gh.Polynomial.from_terms(3, {(0, 1, 2): 1, (0,): 2}))
    held = dict(np.load(tmp_path / "a.npz"))
    for name, value in (("starts", [0, 2, 2]), ("starts", [0, -1, 4]), ("indices", [0, 0, 1, 9]),
                        ("weights", [1, 0]), ("indices", [1, 2, 2, 0])):  # fmt: skip
        np.savez(tmp_path / "b.npz", **held | {name: np.array(value)})
        with pytest.raises(FileError):
            gh.read(tmp_path / "b.npz")


def test_info_tells_the_degree():
    cubic = gh.Polynomial.from_terms(5, {(0, 1, 2): -1, (2, 3): 2, (0,): 1})
    seen = gh.overview(cubic)
    assert (seen.degree, seen.terms, seen.fields, seen.components) == (3, 3, 1, 2)
    assert "up to degree 3" in str(seen)


def test_a_constant_is_proven_and_both_checkers_agree(tmp_path):
    path = tmp_path / "constant.hubo"
    path.write_text("# vartype=SPIN\n5\n")
    assert main(["prove", str(path)]) == 0
    assert main(["check", str(path)]) == 0
    texts = path.read_text(), (tmp_path / "constant.hubo.cert").read_text()
    assert checker.check(*texts, is_hubo=True) == (5, 5)
