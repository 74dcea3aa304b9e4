"""Exactly the file's numbers are verified: no number and no sum is rounded."""

from __future__ import annotations

import json

import numpy as np
import pytest

from glasshouse.certificates import Certificate, CertificateError, Proven
from glasshouse.cli import main
from glasshouse.files import (
    FileError,
    Stated,
    read,
    read_document,
    side_car,
    verify_file,
    write,
    write_certificate,
    write_if_better,
)
from glasshouse.problems import Ising, Rbm
from glasshouse.proofs import prove

ROUNDED_SUMS = {
    "f1.coo": "# vartype=SPIN\n0 0 1e17\n0 0 1.5\n0 0 -1e17\n",
    "f2.coo": "# vartype=SPIN\n0 1 1e17\n1 0 1.5\n0 1 -1e17\n",
    "f3.qubo": "p qubo 0 1 3 0\n0 0 1e17\n0 0 1.5\n0 0 -1e17\n",
    "f4.mc": "2 3\n1 2 1e17\n1 2 1.5\n1 2 -1e17\n",
}


@pytest.mark.parametrize("name", ROUNDED_SUMS)
def test_repeated_terms_whose_sum_would_be_rounded_are_refused(tmp_path, name):
    path = tmp_path / name
    path.write_text(ROUNDED_SUMS[name].replace("1e17\n", "1e16\n", 1))
    with pytest.raises(FileError, match="is not exact as a float"):
        read(path)


def test_repeated_terms_are_added_exactly_where_a_float_holds_the_sum(tmp_path):
    path = tmp_path / "x.coo"
    path.write_text(ROUNDED_SUMS["f2.coo"])
    assert read(path).weights.tolist() == [-1.5]
    path.write_text(ROUNDED_SUMS["f1.coo"])
    assert read(path).fields.tolist() == [-1.5]


@pytest.mark.parametrize("whole", ["9007199254740993", "9007199254740993.0"])
def test_whole_numbers_that_no_float_holds_are_refused_beside_decimals(tmp_path, whole):
    path = tmp_path / "x.coo"
    # More than a megabyte apart: blocks are read one after the other.
    filling = "".join(f"{k} {k} 1\n" for k in range(2, 120_000))
    for between in ("", filling):
        path.write_text(f"# vartype=SPIN\n0 0 {whole}\n{between}1 1 0.5\n")
        with pytest.raises(FileError, match="9007199254740993"):
            read(path)


def test_a_native_matrix_holds_every_weight_once(tmp_path):
    path = tmp_path / "x.npz"
    write(path, Rbm.from_edges(2, 2, [(0, 0), (0, 1), (1, 0)], [1, 2, 3]))
    arrays = dict(np.load(path))
    for columns, repeated in (([1, 0, 0], False), ([0, 0, 0], True)):
        np.savez(path, **arrays | {"indices": np.array(columns)})
        if repeated:
            with pytest.raises(FileError, match="stored twice"):
                read(path)
        else:
            read(path)


def test_floats_that_span_all_magnitudes_are_refused_before_they_fill_the_memory():
    size = 1200
    edges = np.column_stack(np.triu_indices(size, 1))
    weights = np.full(len(edges), 1e300)
    weights[0] = 5e-324
    problem = Ising(size, edges, weights, np.zeros(size))
    from glasshouse.certificates import verify

    with pytest.raises(ValueError, match="bits each"):
        verify(problem, Certificate(np.ones(size, dtype=np.int8), [], [0], []))


def test_what_rounding_made_unsure_is_not_stated_any_more(tmp_path, capsys):
    path, target = tmp_path / "c1.coo", tmp_path / "c1.qubo"
    path.write_text(
        "# vartype=SPIN\n# numbers float\n0 0 6.9\n1 1 0.3\n2 2 4.7\n0 1 -163478304295857760.0\n"
        "0 2 -27276877584472176.0\n1 2 123332866403077170.0\n"
    )
    proof = prove(read(path))
    model = "".join("1" if s > 0 else "0" for s in proof.state)
    stated = f"# planted-cost {proof.energy!r}\n# planted-model {model}\n"
    path.write_text(path.read_text() + stated)
    write_certificate(side_car(path), proof.certificate)
    assert verify_file(path).proven
    assert main(["convert", str(path), str(target)]) == 0
    assert not side_car(target).exists()
    assert read_document(target).stated == Stated()
    assert "left out: the certificate" in capsys.readouterr().err


def test_a_false_recipe_is_passed_on_as_stated_and_refused_where_it_is_grown(tmp_path, capsys):
    from dataclasses import replace

    from glasshouse.planting import Seed
    from glasshouse.planting.methods import random_loops

    grown = random_loops(6, 6, frustration="1/5", loops=5, rng=1)
    path, target = tmp_path / "x.npz", tmp_path / "y.npz"
    recipe = replace(grown.recipe, seed=Seed(99), parameters={**grown.recipe.parameters})
    write(path, replace(grown, recipe=recipe))
    document = read_document(path)
    assert document.kept == (document.stated, ())
    write(target, document)
    assert read_document(target).stated.recipe == json.loads(recipe.to_json())
    assert verify_file(target).cost == grown.energy
    for file in (path, target):
        with pytest.raises(CertificateError, match="the recipe grows a problem that differs"):
            verify_file(file, recipe=True)
        assert main(["check", str(file)]) == 0
        assert main(["check", str(file), "--recipe"]) == 1
        assert "the recipe grows a problem that differs" in capsys.readouterr().err


def test_a_higher_bound_is_not_given_up_for_a_lower_energy(tmp_path):
    edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (2, 4)]
    problem = Ising.from_edges(5, edges, [-1] * 6)
    path = tmp_path / "x.cert"
    up = Certificate([1] * 5, [0, 1, 2], [0, 3], [1], violated=[True] * 3)
    assert write_if_better(path, Proven(problem, up))
    other = Certificate([1, 1, -1, 1, 1], [], [0], [])
    assert not write_if_better(path, Proven(problem, other))
    assert write_if_better(path, prove(problem).proven)
    assert not write_if_better(path, Proven(problem, up))


def test_a_certificate_with_a_false_cost_is_none_of_the_file(tmp_path):
    path = tmp_path / "x.wcnf"
    path.write_text("p wcnf 1 2\n1 1 0\n2 -1 0\n")
    text = "glasshouse-certificate 1\ndenominator 1\ncost 7\nstate 0\nloops 0\n"
    side_car(path).write_text(text)
    assert main(["prove", str(path)]) == 2
    assert side_car(path).read_text() == text
    with pytest.raises(CertificateError, match="states a cost of 7"):
        verify_file(path)


def test_false_claims_are_compared_exactly(tmp_path):
    path = tmp_path / "x.wcnf"
    clauses = "p wcnf 1 2\n10000000000 1 0\n20000000000 -1 0\n"
    path.write_text(f"c planted-cost 10000000001.0\n{clauses}")
    assert main(["solve", str(path), "--solver", "brute"]) == 3
    assert main(["prove", str(path)]) == 3
    tiny = tmp_path / "x.coo"
    tiny.write_text("# vartype=SPIN\n# planted-cost 1e-13\n# planted-model 11\n0 1 1e-13\n")
    assert main(["solve", str(tiny), "--solver", "brute"]) == 3


def write_slowly(path, meanwhile):
    from glasshouse.files.text.streams import replacing

    with replacing(path, overwrite=False) as file:
        file.write(b"ours")
        meanwhile()


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path):
    path = tmp_path / "x.txt"
    with pytest.raises(FileError, match="in the meantime"):
        write_slowly(path, lambda: path.write_text("theirs"))
    assert path.read_text() == "theirs"
    assert [p.name for p in tmp_path.iterdir()] == ["x.txt"]
    link = tmp_path / "link.txt"
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileError, match="in the meantime"):
        write_slowly(link, lambda: None)
    assert link.is_symlink()
