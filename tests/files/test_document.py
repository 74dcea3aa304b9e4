"""Proofs that go from file to file, and the reductions that `write` returns."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import strategies as some
from tests.oracles import energies_of, states_of

from glasshouse.certificates import Certificate, CertificateError
from glasshouse.files import (
    Document,
    FileError,
    Stated,
    carry,
    read,
    read_document,
    read_side_car,
    side_car,
    verify_file,
    write,
)
from glasshouse.planting import shuffle
from glasshouse.planting.methods import bias_loops, random_loops
from glasshouse.problems import Max2Sat
from glasshouse.problems.convert import to_ising, to_max2sat, to_maxcut, to_qubo, to_rbm

FORMATS = [".wcnf", ".qubo", ".mc", ".coo", ".bqm", ".npz", ".wcnf.gz"]
PLANTS = {
    "rbm": lambda: random_loops(8, 7, frustration="1/5", loops=6, rng=2),
    "fields": lambda: bias_loops(5, 4, frustration="1/5", loops=6, rng=2),
    "shuffled": lambda: shuffle(random_loops(8, 7, frustration="1/5", loops=6, rng=2)),
}


@pytest.mark.parametrize("kind", PLANTS)
def test_a_proof_goes_from_format_to_format(tmp_path, kind):
    plant = PLANTS[kind]()
    for first, second in itertools.permutations(FORMATS, 2):
        source, target = tmp_path / f"a{first}", tmp_path / f"b{second}"
        write(source, plant, overwrite=True)
        document = read_document(source)
        reduction = write(target, document, overwrite=True).reduction
        result = verify_file(target)
        assert result.proven, (first, second)
        assert result.loops in (plant.certificate.num_loops, plant.loops.num_loops)
        assert result.cost == reduction.target_energy(verify_file(source).cost)
        if kind == "shuffled" and second != ".npz":
            names = read_side_car(side_car(target)).names
            assert sorted(names.tolist()) == list(range(15))


@pytest.mark.parametrize("suffix", FORMATS)
def test_rewriting_a_file_keeps_its_proof(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    write(path, PLANTS["fields"]())
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    write(path, read_document(path), overwrite=True)
    after = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    assert after.keys() == before.keys()
    assert verify_file(path).proven
    for beside in tmp_path.glob("*.cert"):
        assert after[beside.name] == before[beside.name]


def test_blind_files_carry_nothing(tmp_path):
    write(tmp_path / "x.wcnf", PLANTS["rbm"]())
    write(tmp_path / "y.qubo", read_document(tmp_path / "x.wcnf"), blind=True)
    assert not side_car(tmp_path / "y.qubo").exists()


def without_recipe(path):
    path.write_text("".join(x for x in path.read_text().splitlines(True) if " recipe " not in x))


def test_a_weaker_proof_is_carried_as_what_it_is_and_a_broken_one_is_named(tmp_path):
    path, target = tmp_path / "x.wcnf", tmp_path / "y.qubo"
    write(path, PLANTS["rbm"]())
    without_recipe(path)
    text = side_car(path).read_text()
    side_car(path).write_text(text.replace("\n3 ", "\n9 ", 1))
    document = read_document(path)
    _, left_out = document.kept
    assert left_out == (f"the optimum that {path} states (the certificate proves only a bound)",)
    write(target, document)
    assert read_document(target).stated == Stated()
    with pytest.raises(CertificateError, match="no optimum is proven"):
        verify_file(target)
    side_car(path).write_text("no certificate")
    assert read_document(path).problem == read(path)  # the proof was not requested
    with pytest.raises(FileError, match=r"x\.wcnf\.cert"):
        write(target, read_document(path), overwrite=True)
    write(target, read_document(path), overwrite=True, blind=True)


def test_a_bare_problem_takes_the_old_proof_away(tmp_path):
    path = tmp_path / "x.wcnf"
    write(path, PLANTS["rbm"]())
    write(path, read(path), overwrite=True)
    assert not side_car(path).exists()


def test_carrying_through_a_reduction():
    plant = PLANTS["rbm"]()
    document = Document.of(plant)
    for convert in (to_ising, to_qubo, to_max2sat):
        problem, reduction = convert(plant.problem)
        moved = carry(document, problem, reduction)
        assert moved.stated.cost == reduction.target_energy(plant.energy)
        assert isinstance(moved.load_proof().certificate, Certificate)
        assert moved.proven.verdict.optimal
    doubled, reduction = to_rbm(to_qubo(plant.problem)[0])
    first = carry(document, *to_qubo(plant.problem))
    moved = carry(first, doubled, reduction)
    assert moved.stated.cost_of_model(doubled) == moved.stated.cost
    assert moved.load_proof is None  # other variables


@given(
    some.max2sats(max_variables=4)
    | some.max2sats(max_variables=4, exact=False)
    | some.isings(max_spins=4, exact=None),
    st.sampled_from(FORMATS[:-1]),
)
def test_write_returns_the_way_to_what_the_file_holds(tmp_path_factory, problem, suffix):
    path = tmp_path_factory.mktemp("way") / f"x{suffix}"
    if suffix == ".wcnf" and (to_max2sat(problem)[0].weights % 1).any():
        with pytest.raises(ValueError, match=r"but clause \d+ has weight .*; multiply all weights"):
            write(path, problem)
        assert not list(path.parent.iterdir())
        return
    reduction = write(path, problem).reduction
    held = read(path)
    images = reduction.forward(states_of(problem))
    costs = held.cost(images) if isinstance(held, Max2Sat) else held.energy(images)
    assert np.array_equal(costs, reduction.target_energy(energies_of(problem)))
    assert np.array_equal(reduction.back(images), states_of(problem))


@pytest.mark.parametrize("suffix", [one for one in FORMATS if one != ".wcnf.gz"])
@pytest.mark.parametrize("kind", PLANTS)
def test_write_returns_what_reading_finds(tmp_path, kind, suffix):
    """Measure and certificate are known without reading the file."""
    path, plant = tmp_path / f"x{suffix}", PLANTS[kind]()
    written = write(path, plant)
    document = read_document(path)
    assert written.measure == document.measure
    assert written.certificate == (None if suffix == ".npz" else side_car(path))
    assert written.is_whole == (document.planted is not None)
    assert written.reduction.target_energy(plant.energy) == document.stated.cost or suffix == ".bqm"
    elsewhere = write(tmp_path / f"y{suffix}", plant, blind=True, certificate=tmp_path / "y.cert")
    assert elsewhere.certificate == tmp_path / "y.cert"
    assert write(tmp_path / f"z{suffix}", plant, blind=True).certificate is None


@pytest.mark.parametrize("kind", ["ising", "rbm", "qubo", "max2sat", "maxcut"])
def test_a_kind_is_written_as_if_it_had_been_converted_before(tmp_path, kind):
    convert = {"ising": to_ising, "rbm": to_rbm, "qubo": to_qubo, "max2sat": to_max2sat,
               "maxcut": to_maxcut}[kind]  # fmt: skip
    plant = PLANTS["fields"]()
    problem, reduction = convert(plant.problem)
    write(tmp_path / "x.npz", problem)
    written = write(tmp_path / "y.npz", plant, kind=kind)
    assert read_document(tmp_path / "y.npz").problem == problem
    energy = reduction.target_energy(plant.energy)
    assert written.reduction.target_energy(plant.energy) == energy
    assert read_document(tmp_path / "y.npz").stated.cost == energy


def test_the_top_weight_is_that_of_the_weights_written(tmp_path):
    weights = [2.0**53 - 1] * 3
    path = tmp_path / "x.wcnf"
    write(path, Max2Sat(2, [[1, 2], [1, 0], [2, 0]], weights, [[-1, -2]]))
    top = int(path.read_text().split()[4])
    assert top == 1 + 3 * (2**53 - 1)
    problem = read(path)
    assert problem.weights.tolist() == [2**53 - 1] * 3
    assert problem.num_hard == 1
    with pytest.raises(ValueError, match=r"add up to .* above 2\^63-1"):
        write(path, Max2Sat(2, [[1, 2]] * 1100, [2.0**53 - 1] * 1100), overwrite=True)


def test_a_small_archive_of_very_many_variables_is_refused(tmp_path):
    path = tmp_path / "x.npz"
    write(path, Max2Sat(2_000_000_000, [[1, 0]], [1]))
    with pytest.raises(FileError, match="2000000000 variables but only 1 clauses"):
        read(path)


def test_names_too_long_for_a_side_car_are_read(tmp_path):
    path = tmp_path / ("x" * 248 + ".wcnf")
    path.write_text("p wcnf 1 1 2\n1 1 0\n")
    assert read_document(path).load_proof is None
