"""Numbers in the file's own words: a cut, an objective, a cost, added up from the file."""

from __future__ import annotations

import json
from fractions import Fraction

import dimod
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import problems

import glasshouse as gh
from glasshouse.cli import main
from glasshouse.files.formats import FORMATS
from glasshouse.problems.measure import Measure
from glasshouse.proofs import prover

NAMES = {
    ".mc": "cut", ".qubo": "objective", ".coo": "objective", ".bqm": "objective",
    ".json": "objective", ".qplib": "objective", ".wcnf": "cost", ".cnf": "cost",
    ".sparse": "objective", ".mqlib": "objective",
}  # fmt: skip


def value_in_file(path, model: str) -> Fraction:
    """The value of a state for a program that reads only the format's own fields."""
    bits = [int(bit) for bit in model]
    if path.suffix == ".bqm":
        with path.open("rb") as file:
            bqm = dimod.BinaryQuadraticModel.from_file(file)
        low = -1 if bqm.vartype is dimod.SPIN else 0
        return Fraction(bqm.energy({k: bit or low for k, bit in enumerate(bits)}))
    text = path.read_text()
    if path.suffix == ".json":
        return bqpjson_value(json.loads(text, parse_float=Fraction), bits)
    if path.suffix == ".qplib":
        return qplib_value([line for line in text.splitlines() if line[0] != "#"], bits)
    rows = [line.split() for line in text.splitlines() if line[0] not in "cp#"]
    if path.suffix in (".wcnf", ".cnf"):
        if path.suffix == ".cnf":
            rows = [["1", *row] for row in rows]
        return sum(
            (Fraction(weight) for weight, *clause, _ in rows if not satisfied(clause, bits)),
            Fraction(0),
        )
    if path.suffix == ".mc":
        size = int(rows.pop(0)[0])
        sides = [*bits, 1][:size]  # an ancilla is up
        edges = [(int(i) - 1, int(j) - 1, number(w)) for i, j, w in rows]
        return sum((w for i, j, w in edges if sides[i] != sides[j]), Fraction(0))
    if path.suffix in (".sparse", ".mqlib"):  # x'Qx: an entry off the diagonal stands for two
        entries = [(int(i) - 1, int(j) - 1, number(w)) for i, j, w in rows[1:]]
        return sum(((1 + (i != j)) * w * bits[i] * bits[j] for i, j, w in entries), Fraction(0))
    low = -1 if "vartype=SPIN" in text else 0
    x = [bit or low for bit in bits]
    terms = [(int(i), int(j), number(w)) for i, j, w in rows]
    return sum((w * x[i] * (x[j] if i != j else 1) for i, j, w in terms), Fraction(0))


def bqpjson_value(model: dict, bits: list[int]) -> Fraction:
    low = -1 if model["variable_domain"] == "spin" else 0
    x = {name: bit or low for name, bit in zip(model["variable_ids"], bits, strict=True)}
    total = Fraction(model["offset"])
    total += sum(Fraction(t["coeff"]) * x[t["id"]] for t in model["linear_terms"])
    pairs = model["quadratic_terms"]
    total += sum(Fraction(t["coeff"]) * x[t["id_head"]] * x[t["id_tail"]] for t in pairs)
    return Fraction(model["scale"]) * total


def qplib_value(lines: list[str], bits: list[int]) -> Fraction:
    """½ x·Q·x + b·x + c, with the lower triangle of Q in the file."""
    words = iter(line.split()[0] for line in lines[1:5])
    assert next(words).upper() == "QBN"
    assert next(words) in ("minimize", "maximize")
    size, terms = int(next(words)), int(next(words))
    x = dict(enumerate(bits, 1))
    assert size == len(bits)
    total = Fraction(0)
    for line in lines[5 : 5 + terms]:
        i, j, w = line.split()
        total += number(w) * x[int(i)] * x[int(j)] * (Fraction(1, 2) if i == j else 1)
    at = 5 + terms
    default, linear = number(lines[at].split()[0]), int(lines[at + 1].split()[0])
    stated = {}
    for line in lines[at + 2 : at + 2 + linear]:
        i, w = line.split()
        stated[int(i)] = number(w)
    total += sum(stated.get(i, default) * bit for i, bit in x.items())
    return total + number(lines[at + 2 + linear].split()[0])


def satisfied(clause: list[str], bits: list[int]) -> bool:
    return any(bits[abs(int(x)) - 1] == (int(x) > 0) for x in clause)


def number(text: str) -> Fraction:
    return Fraction(int(text)) if text.lstrip("-").isdigit() else Fraction(float(text))


def spins(weights, fields, offset=0) -> gh.Ising:
    edges = [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)]
    return gh.Ising.from_edges(4, edges, weights, fields, offset)


CASES = {
    "integers": spins([2, -1, 3, 1, -4], [0, 0, 0, 0]),
    "fields and offset": spins([2, -1, 3, 1, -4], [5, 0, -3, 2], 17),
    "large": spins([2**57, -(2**57), 2**56 + 1, 1, -4], [0, 3, 0, -(2**55)], 2**50),
    "floats": spins([0.1, -0.2, 0.3, 0.7, -1.1], [0.0, 0.0, 0.0, 0.0]),
    "floats, fields": spins([0.1, -0.2, 0.3, 1e-9, -1.1], [0.6, 0.0, -0.7, 0.0], 0.1),
}
PLAIN_CNF = "p cnf 3 5\n1 2 0\n-1 0\n-2 3 0\n-3 0\n1 -3 0\n"

MOST = "most\nQBN\nmaximize\n2\n1\n2 1 -6\n0\n2\n1 2\n2 3\n7\n0\n0\n0\n"
MATRIX = "3 5\n1 1 5\n2 2 3\n3 3 -1\n1 2 -6\n2 3 -1\n"


def files(folder):
    for name, problem in CASES.items():
        for suffix in NAMES:
            path = folder / f"{name.replace(' ', '-')}{suffix}"
            try:
                gh.write(path, problem)
            except ValueError:  # no floats in clauses, no weights in CNF, nothing above 2^53 in BQM
                continue
            yield path
    path = folder / "plain.cnf"
    path.write_text(PLAIN_CNF)
    yield path
    most = folder / "most.qplib"
    most.write_text(MOST)
    yield most
    for name in ("matrix.sparse", "matrix.mqlib", "floats.sparse"):
        path = folder / name
        path.write_text(MATRIX if "floats" not in name else MATRIX.replace("1 1 5", "1 1 0.1"))
        yield path
    qubo = folder / "binary.coo"
    gh.write(qubo, gh.Qubo.from_matrix([[1, -2], [0, 1]], offset=9))
    yield qubo


def answer_of(capsys, *words) -> dict:
    capsys.readouterr()
    main([*map(str, words), "--json"])
    return json.loads(capsys.readouterr().out)


def test_prove_check_and_solve_tell_what_the_file_adds_up_to(tmp_path, capsys):
    seen = set()
    for path in files(tmp_path):
        name = NAMES[path.suffix]
        proof = answer_of(capsys, "prove", path)
        shown = value_in_file(path, proof["model"])
        is_float = isinstance(proof[name], float)
        assert proof[name] == (float(shown) if is_float else shown), path
        assert proof["measure"] == name
        energy = gh.read(path).energy(state_of(path, proof["model"]))
        assert proof["energy"] == pytest.approx(energy, rel=1e-15)
        assert proof["optimal"]
        assert proof[f"{name}_bound"] == proof[name]
        checked = answer_of(capsys, "check", path)
        assert (checked[name], checked["measure"]) == (proof[name], name)
        solved = answer_of(capsys, "solve", path, "--seed", "1", "--runs", "8")
        assert solved[name] == proof[name] == solved["certified_optimum"] == solved["target"]
        assert float(value_in_file(path, solved["model"])) == pytest.approx(float(shown), rel=1e-12)
        assert solved["success_probability"] == 1
        main(["solve", str(path), "--runs", "8"])
        assert capsys.readouterr().out.splitlines()[0].split() == [name, str(proof[name])]
        seen.add(path.suffix)
    assert seen == set(NAMES)


def state_of(path, model: str):
    return gh.read(path).space.from_bits(np.array([int(bit) for bit in model]))


def test_every_readable_format_is_told_of_here():
    readable = {suffix for suffix, format_ in FORMATS.items() if format_.read is not None}
    assert readable - {".npz", ".npy", ".csv", ".hubo"} <= set(NAMES)  # others report energies


def test_what_a_file_maximises_is_stated_and_bounded_so(tmp_path, capsys):
    path = tmp_path / "most.qplib"
    path.write_text(f"{MOST}# planted-cost 10\n")
    assert answer_of(capsys, "info", path)["planted_objective"] == 10
    answer = answer_of(capsys, "prove", path)
    assert answer["objective"] == answer["objective_bound"] == 10
    assert (answer["energy"], answer["false_claim"]) == (-10, False)
    main(["prove", str(path), "--force"])
    assert "objective    10\nupper bound  10\n" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", [".mc", ".qubo", ".coo", ".wcnf"])
def test_info_and_check_repeat_the_number_that_the_file_states(suffix, tmp_path, capsys):
    path = tmp_path / f"x{suffix}"
    gh.write(path, gh.random_loops(12, 12, frustration="1/5", loops=8, rng=4))
    word = "planted-cut" if suffix == ".mc" else "planted-cost"
    stated = int(path.read_text().partition(f"{word} ")[2].split()[0])
    name = NAMES[suffix]
    info = answer_of(capsys, "info", path)
    assert (info["measure"], info[f"planted_{name}"]) == (name, stated)
    assert info["planted_energy"] == gh.read_document(path).stated.cost
    main(["info", str(path)])
    assert f"planted {name}" in (text := capsys.readouterr().out)
    assert str(stated) in text
    assert main(["check", str(path)]) == 0
    assert f"VERIFIED, {stated} is the optimum {name}" in capsys.readouterr().out


def test_a_decimal_cut_is_repeated_as_it_is_spelled(tmp_path, capsys):
    # Its energy is a sum that no float holds: the way back would end elsewhere.
    path = tmp_path / "x.mc"
    path.write_text("3 3\n1 2 0.1\n2 3 0.7\n1 3 0.2\n# planted-cut 0.9\n")
    assert answer_of(capsys, "info", path)["planted_cut"] == 0.9


def test_the_bound_on_a_cut_is_an_upper_one(tmp_path, capsys, monkeypatch):
    # All cuts of K6 have at most 9 edges; the relaxation allows 10.
    path = tmp_path / "k6.mc"
    pairs = [f"{i} {j} 1" for i in range(1, 7) for j in range(1, i)]
    path.write_text("\n".join(["6 15", *pairs, ""]))
    monkeypatch.setattr(prover.Prover, "exact_methods", lambda self: (None, None))
    assert main(["prove", str(path), "--node-limit", "1"]) == 1
    captured = capsys.readouterr()
    assert captured.out.startswith("cut          9\nupper bound  10\n")
    assert "energy       -3 (lower bound -5)" in captured.out
    assert "a gap of 1 remains" in captured.err
    other = ("--certificate", tmp_path / "other.cert", "--node-limit", "1")
    answer = answer_of(capsys, "prove", path, *other)
    assert (answer["cut"], answer["cut_bound"]) == (9, 10)
    assert (answer["energy"], answer["lower_bound"]) == (-3, -5)


def test_lies_are_told_in_the_files_own_words(tmp_path, capsys):
    path = tmp_path / "k3.mc"
    path.write_text("3 3\n1 2 1\n2 3 1\n1 3 1\n# planted-cut 3\n# planted-model 010\n")
    assert main(["check", str(path)]) == 1
    assert "states a cut of 3, but its model has a cut of 2" in capsys.readouterr().err
    assert main(["prove", str(path)]) == 3
    assert "states a cut of 3, but the optimum is 2" in capsys.readouterr().err
    assert main(["check", str(path)]) == 1
    assert "states a cut of 3, but the largest cut is 2" in capsys.readouterr().err


def test_a_target_is_a_number_of_the_file(tmp_path, capsys):
    path = tmp_path / "k3.mc"
    path.write_text("3 3\n1 2 1\n2 3 1\n1 3 1\n")
    answer = answer_of(capsys, "solve", path, "--target", "2", "--seed", "1")
    assert (answer["target"], answer["success_probability"]) == (2, 1)
    answer = answer_of(capsys, "solve", path, "--target", "3", "--seed", "1")
    assert (answer["target"], answer["success_probability"]) == (3, 0)


@given(
    energy=st.integers(-(2**62), 2**62),
    factor=st.sampled_from([Fraction(1), Fraction(-1, 2), Fraction(1, 3)]),
    shift=st.fractions(max_denominator=64),
)
def test_bounds_are_rounded_to_the_side_that_stays_true(energy, factor, shift):
    measure = Measure("cut", False, factor, shift)
    exact, bound = factor * energy + shift, measure.bound(energy)
    assert (bound <= exact) if factor > 0 else (bound >= exact)
    assert abs(bound - exact) <= abs(exact) / 2**50
    whole = Measure("cut", True, Fraction(-1, 2), Fraction(energy, 2))
    assert whole.energy_of(whole.of(energy)) == energy


@given(problems)
def test_a_problem_of_nobodys_file_has_its_own_energy(problem):
    document = gh.files.Document.of(problem)
    state = problem.space.from_bits(np.ones(problem.num_variables, dtype=np.int8))
    assert document.value_of(state) == pytest.approx(problem.energy(state), rel=1e-12, abs=1e-12)
    assert document.measure.is_energy
