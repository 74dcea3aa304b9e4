"""QPLIB and BQP-JSON: there and back, files from elsewhere, and what is refused."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.files.test_labels import CHIPS, plain, plant_on
from tests.files.test_round_trips import wild
from tests.oracles import all_states, energies_of

from glasshouse.files import FileError, read, read_document, read_planted, verify_file, write
from glasshouse.problems import Ising, Qubo

fresh = itertools.count()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@st.composite
def labelled(draw, problems):
    problem = draw(problems)
    size = problem.num_variables
    elements = draw(st.sampled_from([plain, st.integers(0, 40), st.text("xyz_1#", min_size=1)]))
    labels = st.none() | st.lists(elements, min_size=size, max_size=size, unique=True)
    return replace(problem, labels=draw(labels))


@given(labelled(wild(Qubo)), st.sampled_from([".qplib", ".qplib.gz"]))
def test_qplib(folder, problem, suffix):
    path = folder / f"{next(fresh)}{suffix}"
    write(path, problem)
    assert read(path) == problem


@given(labelled(wild(Qubo) | wild(Ising)), st.sampled_from([".json", ".json.xz"]))
def test_bqpjson(folder, problem, suffix):
    path = folder / f"{next(fresh)}{suffix}"
    write(path, problem)
    assert read(path) == problem
    assert read(path).labels == problem.labels


@pytest.mark.parametrize("suffix", [".qplib", ".json"])
@pytest.mark.parametrize("chip", CHIPS)
def test_plants_on_chips(tmp_path, chip, suffix):
    plant = plant_on(chip)
    path = tmp_path / f"chip{suffix}"
    write(path, plant)
    assert read(path).labels == plant.problem.labels
    assert read_planted(path) == plant
    assert verify_file(path).proven
    write(tmp_path / f"blind{suffix}", plant, blind=True)
    blind = read_document(tmp_path / f"blind{suffix}")
    assert (blind.stated.cost, blind.stated.recipe) == (None, None)
    assert "plant" not in (tmp_path / f"blind{suffix}").read_text()


def test_the_variables_of_bqpjson_are_the_qubits(tmp_path):
    chip = "pegasus:3 without 4,5,31,40,77"
    write(tmp_path / "chip.json", plant_on(chip))
    data = json.loads((tmp_path / "chip.json").read_text())
    needed = {"version", "id", "variable_ids", "variable_domain", "scale", "offset"}
    assert needed | {"linear_terms", "quadratic_terms", "metadata"} <= set(data)
    assert all(
        CHIPS[chip].has_edge(term["id_tail"], term["id_head"]) for term in data["quadratic_terms"]
    )
    values = {item["id"]: item["value"] for item in data["solutions"][0]["assignment"]}
    energy = sum(
        term["coeff"] * values[term["id_tail"]] * values[term["id_head"]]
        for term in data["quadratic_terms"]
    )
    assert energy == data["solutions"][0]["evaluation"]


FOREIGN = """
! a maximised problem as the library has it
QPLIB_0000
QBN
Maximize
3 # number of variables
3 # number of quadratic terms in objective
2 1 4
3 3 6
3 2 -1.5
2 # default value for linear coefficients in objective
1 # number of non-default linear coefficients in objective
1 -7 # of the first
10 # objective constant
1.79769313486232E+308 # value for infinity
0 # default variable primal value in starting point
1 # number of non-default variable primal values in starting point
2 1
0 # default variable bound dual value in starting point
0 # number of non-default variable bound dual values in starting point
2 # number of non-default variable names
1 b1
3 b3
0 # number of non-default constraint names
"""


def test_a_qplib_file_from_elsewhere(tmp_path):
    path = tmp_path / "x.qplib"
    path.write_text(FOREIGN)
    problem = read(path)
    assert problem.labels == ("b1", "x2", "b3")
    hessian = np.array([[0, 4, 0], [4, 0, -1.5], [0, -1.5, 6]])
    x = all_states(3, 0).astype(float)
    objective = 0.5 * np.einsum("ki,ij,kj->k", x, hessian, x) + x @ [-7, 2, 2] + 10
    assert np.array_equal(energies_of(problem), -objective)
    for end in ("10 # objective constant\n", "+308 # value for infinity\n"):
        path.write_text(FOREIGN[: FOREIGN.index(end) + len(end)])
        assert replace(problem, labels=None) == read(path)


def test_halves_of_odd_integers_are_exact(tmp_path):
    path = tmp_path / "x.qplib"
    path.write_text("x\nQBN\nminimize\n1\n1\n1 1 3\n0\n0\n0\n")
    assert read(path).linear.tolist() == [1.5]
    path.write_text("x\nQBN\nminimize\n1\n1\n1 1 9007199254740993\n0\n0\n0\n")
    with pytest.raises(FileError, match="to be exact as floats"):
        read(path)


HEAD = "x\nQBN\nminimize\n"
BAD_QPLIB = [
    ("", None, "ends before the name"),
    ("x\nQCL\nminimize\n", 2, "type 'QCL'; expected QBN"),
    ("x\nLBN\nminimize\n", 2, "expected QBN"),
    ("x\nQBN\nmin\n", 3, "must be minimize or maximize"),
    (HEAD + "-1\n", 4, "expected the number of variables"),
    (HEAD + "many\n", 4, "expected the number of variables"),
    (HEAD + "99999999999\n", 4, "expected the number of variables"),
    (HEAD + "2147483647\n0\n0\n0\n0\n", None, "variables but only 0 terms"),
    (HEAD + "2\n2\n2 1 4\n", None, "ends before quadratic terms"),
    (HEAD + "2\n1\n3 1 4\n", 6, "variable 3 is out of range"),
    (HEAD + "2\n1\n2 1 x\n", 6, "weight 'x'"),
    (HEAD + "2\n0\n0\n1\n1\n", 8, "a variable number and its coefficient"),
    (HEAD + "2\n0\n0\n2\n1 1\n1 1\n0\n", None, "stated twice"),
    (HEAD + "2\n0\n0\n0\n9999999999999999999\n", 8, "expected the constant"),
    (HEAD + "2\n0\n0\n0\n0\n1\n0\n0\n0\n0\n2\n1 a\n2 a\n", None, "only 1 of 2 labels"),
    (HEAD + "2\n0\n0\n0\n0\n1\n0\n0\n0\n0\n1\n3 a\n", 15, "a variable number and its name"),
    (HEAD + "2\n0\n0\n0\n0\n1\n0\n0\n0\n0\n1\n", None, "ends before names"),
    (HEAD + "1\n1\n1 1 1e308\n1e308\n0\n0\n", None, "add up"),
]


@pytest.mark.parametrize(("text", "line", "words"), BAD_QPLIB)
def test_bad_qplib_files_are_refused(tmp_path, text, line, words):
    path = tmp_path / "x.qplib"
    path.write_text(text)
    with pytest.raises(FileError) as caught:
        read(path)
    assert words in str(caught.value)
    assert caught.value.line == line


GOOD = {
    "version": "1.0.0", "id": 0, "metadata": {}, "variable_ids": [2, 4, 6],
    "variable_domain": "spin", "scale": 2.7, "offset": 1.23,
    "linear_terms": [{"id": 2, "coeff": 1.3}, {"id": 6, "coeff": -0.7}],
    "quadratic_terms": [
        {"id_tail": 2, "id_head": 4, "coeff": -0.2}, {"id_tail": 6, "id_head": 2, "coeff": 1.5},
    ],
    "solutions": [{"id": 0, "evaluation": -123.0, "assignment": []}],
}  # fmt: skip


def test_a_bqpjson_file_from_elsewhere(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(GOOD, indent=2))
    document = read_document(path)
    assert document.stated.cost is None  # a solution is not yet an optimum
    assert document.problem.labels == (2, 4, 6)
    s = all_states(3, -1).astype(float)
    inner = 1.3 * s[:, 0] - 0.7 * s[:, 2] - 0.2 * s[:, 0] * s[:, 1] + 1.5 * s[:, 0] * s[:, 2] + 1.23
    assert energies_of(document.problem) == pytest.approx(2.7 * inner)


def test_whole_numbers_of_bqpjson_are_integers(tmp_path):
    path = tmp_path / "x.json"
    whole = GOOD | {"scale": 0.5, "offset": 2.0, "variable_domain": "boolean", "linear_terms": []}
    whole["quadratic_terms"] = [{"id_tail": 2, "id_head": 4, "coeff": 2**54 + 4}]
    path.write_text(json.dumps(whole))
    problem = read(path)
    assert isinstance(problem, Qubo)
    assert (problem.weights.tolist(), problem.offset) == ([2**53 + 2], 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"variable_domain": "qubit"}, "must be spin or boolean"),
        ({"variable_domain": []}, "must be spin or boolean"),
        ({"variable_ids": [2, 2, 6]}, "has too many or duplicate ids"),
        ({"variable_ids": [2, -4, 6]}, "non-negative integers"),
        ({"variable_ids": [2, "4", 6]}, "non-negative integers"),
        ({"variable_ids": [2, 4]}, "contains a variable that is not in variable_ids"),
        ({"scale": 0}, "must be above 0"),
        ({"scale": "1"}, "must be a finite number"),
        ({"offset": None}, "must be a finite number"),
        ({"offset": True}, "must be a finite number"),
        ({"linear_terms": [{"id": 2}]}, "has no 'coeff'"),
        (
            {"linear_terms": [{"id": [], "coeff": 1}]},
            "contains a variable that is not in variable_ids",
        ),
        ({"linear_terms": 3}, "is not BQP-JSON"),
        (
            {"quadratic_terms": [{"id_tail": 2, "id_head": 2, "coeff": 1}]},
            "two different variables",
        ),
        ({"metadata": []}, "metadata must be"),
        ({"metadata": {"labels": ["a"]}}, "1 labels but 3"),
        ({"metadata": {"recipe": 3}}, "recipe in metadata"),
        ({"solutions": [3]}, "is not BQP-JSON"),
        ({"solutions": [{"description": "planted ground state", "assignment": []}]}, "has no 0"),
        ({"scale": 1e308, "offset": 1e300}, "exceeds the float range"),
    ],
)
def test_bad_bqpjson_files_are_refused(tmp_path, change, words):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(GOOD | change))
    with pytest.raises(FileError, match=words):
        read(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("\xff", "is not JSON"),
        ("[]", "is not BQP-JSON: it must consist of one JSON object"),
        ("{}", "is not BQP-JSON: it has no 'variable_domain'"),
        ("[" * 100_000, "too deep"),
        ('{"scale": NaN}', "the number NaN is not finite"),
        ('{"scale": -Infinity}', "the number -Infinity is not finite"),
        ('{"scale": 1e999}', "the number 1e999 is not finite"),
        ('{"scale": 1%s}' % ("0" * 5000), "an integer with too many digits"),
        ('{"scale": 1, "scale": 2}', "a key occurs twice"),
        ('{"id": "ä%s"}' % (" " * (1 << 20)), "must be ASCII"),
    ],
)
def test_what_is_no_bqpjson_is_refused(tmp_path, text, words):
    path = tmp_path / "x.json"
    path.write_bytes(text.encode("latin1"))
    with pytest.raises(FileError, match=words) as refused:
        read(path)
    assert len(str(refused.value)) < 300


def test_a_small_file_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setenv("GLASSHOUSE_READ_LIMIT", "1M")
    path = tmp_path / "x.json"
    path.write_text('{"variable_ids": [' + ",".join(["[]"] * 100_000) + "]}")
    with pytest.raises(FileError, match="GLASSHOUSE_READ_LIMIT"):
        read(path)
