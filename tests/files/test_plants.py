"""Plants in files: what is stated, what is hidden, and what the files alone can prove."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import strategies as some
from tests.oracles import optimum

from glasshouse.certificates import Certificate, CertificateError, verify
from glasshouse.files import (
    Document,
    FileError,
    read,
    read_certificate,
    read_document,
    read_planted,
    read_side_car,
    side_car,
    verify_file,
    write,
    write_certificate,
)
from glasshouse.files.certificate.writing import rescaled
from glasshouse.planting import Planted, shuffle
from glasshouse.planting.loops import Loops
from glasshouse.planting.methods import random_loops
from glasshouse.planting.recipe import Recipe
from glasshouse.problems import Ising, Max2Sat
from glasshouse.problems.convert import to_max2sat, to_qubo
from glasshouse.proofs import prove
from glasshouse.randomness import Seed

TEXT = [".wcnf", ".qubo", ".mc", ".coo", ".bqm", ".wcnf.gz", ".mc.xz"]


def with_fields() -> Planted:
    """A plant whose loops run over the ghost, and one over a cancelled edge."""
    loops = Loops.from_cycles(
        [[0, 1, 5], [5, 2, 3], [4, 3, 2, 1], [0, 1, 2]], positive=4, negatives=[-3, -4, -1, 0]
    )
    state = np.array([1, -1, -1, 1, -1], dtype=np.int8)
    return Planted.of_ising(5, loops, state, 4, Recipe("by_hand", {}, Seed(0)))


@pytest.fixture(params=["rbm", "fields", "shuffled"])
def plant(request):
    if request.param == "fields":
        return with_fields()
    grown = random_loops(8, 7, frustration="1/5", loops=6, rng=2)
    return shuffle(grown) if request.param == "shuffled" else grown


@pytest.mark.parametrize("suffix", TEXT)
def test_a_plant_is_proven_from_the_file_and_its_side_car(tmp_path, plant, suffix):
    path = tmp_path / f"x{suffix}"
    write(path, plant)
    result = verify_file(path)
    assert result.proven
    assert result.certificate == side_car(path) == tmp_path / f"x{suffix}.cert"
    assert result.loops == plant.certificate.num_loops
    convert = {".wcnf": to_max2sat, ".qubo": to_qubo}.get(suffix.split(".gz")[0])
    reduction = convert(plant.problem)[1] if convert else None
    expected = reduction.target_energy(plant.energy) if reduction else plant.energy
    assert result.cost == expected
    if suffix != ".bqm":
        stated = read_document(path).stated
        assert stated.cost == expected
        assert stated.recipe == json.loads(plant.recipe.to_json())
        assert np.array_equal(stated.model, plant.state > 0)


@pytest.mark.parametrize("suffix", [".npz", ".npz.gz"])
def test_a_native_file_holds_the_plant_whole(tmp_path, plant, suffix):
    path = tmp_path / f"x{suffix}"
    write(path, plant)
    assert read(path) == plant
    assert not side_car(path).exists()
    assert verify_file(path).proven
    again = tmp_path / f"y{suffix}"
    write(again, read_document(path))
    assert again.read_bytes() == path.read_bytes()


def test_a_native_plant_is_believed_only_on_demand(tmp_path):
    grown = random_loops(8, 7, frustration="1/5", loops=6, rng=2)
    path = tmp_path / "x.npz"
    flipped = grown.state * np.where(np.arange(15) == 3, -1, 1)
    for false in (replace(grown, energy=grown.energy + 10), replace(grown, state=flipped)):
        write(path, false, overwrite=True)
        for reader in (read, read_planted):
            with pytest.raises(CertificateError, match=r"x\.npz"):
                reader(path)
            assert reader(path, verify=False) == false
        with pytest.raises(CertificateError, match=r"x\.npz"):
            write(tmp_path / "y.wcnf", read_document(path))
        assert not (tmp_path / "y.wcnf").exists()


@pytest.mark.parametrize("suffix", [*TEXT, ".npz", ".opb"])
def test_blind_files_tell_nothing(tmp_path, plant, suffix):
    path = tmp_path / f"x{suffix}"
    write(path, plant, blind=True)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    plain = tmp_path / f"y{suffix}"
    told = Document(plant.problem)
    write(plain, told)
    if "shuffled" not in plant.recipe.parameters:  # shuffling changes the order of clauses
        assert path.read_bytes() == plain.read_bytes()
    if suffix != ".opb":
        assert read_document(path).planted is None
        with pytest.raises(FileError, match="pass a certificate"):
            verify_file(path)


def test_shuffled_clauses_are_the_same_in_another_order(tmp_path):
    plant = shuffle(random_loops(8, 8, frustration="1/5", loops=9, rng=2))
    path = tmp_path / "x.wcnf"
    write(path, plant)
    written, straight = read(path), to_max2sat(plant.problem)[0]
    assert written != straight
    assert written.simplified() == straight.simplified()
    write(path, plant, overwrite=True, blind=True)
    assert read(path) == written


def test_the_side_car_of_a_shuffled_plant_undoes_the_renaming(tmp_path):
    before = random_loops(8, 8, frustration="1/5", loops=9, rng=2)
    path = tmp_path / "x.wcnf"
    write(path, shuffle(before))
    names = read_side_car(side_car(path)).names
    state = read_certificate(side_car(path)).state
    restored = np.empty_like(state)
    restored[names] = state
    assert np.array_equal(restored, before.state)


def test_a_file_by_edges_has_no_side_car(tmp_path, plant):
    write(tmp_path / "x.wcnf", plant, encoding="edge")
    assert [path.name for path in tmp_path.iterdir()] == ["x.wcnf"]


def test_nothing_is_overwritten_by_accident(tmp_path, plant):
    path = tmp_path / "x.wcnf"
    write(path, plant)
    before = path.read_bytes()
    with pytest.raises(FileError, match="already exists; pass overwrite=True"):
        write(path, plant)
    path.unlink()
    with pytest.raises(FileError, match=r"x\.wcnf\.cert: already exists"):
        write(path, plant)
    write(path, plant, overwrite=True)
    assert path.read_bytes() == before
    write(path, plant, overwrite=True, blind=True)  # the old side-car would reveal the answer
    assert not side_car(path).exists()


def test_a_failed_write_leaves_the_old_file_and_no_traces(tmp_path, plant):
    path = tmp_path / "x.cnf"
    path.write_text("p cnf 1 1\n1 0\n")
    with pytest.raises(ValueError, match="CNF cannot store a weight"):
        write(path, plant, overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["x.cnf"]
    assert path.read_text() == "p cnf 1 1\n1 0\n"


def test_without_side_car_only_the_stated_model_is_checked(tmp_path):
    path = tmp_path / "x.wcnf"
    plant = with_fields()
    write(path, plant)
    side_car(path).unlink()
    assert not verify_file(path).proven
    text = path.read_text()
    cost = read_document(path).stated.cost
    path.write_text(text.replace(f"planted-cost {cost}", f"planted-cost {cost - 1}"))
    with pytest.raises(CertificateError, match=r"x\.wcnf: the file states a cost of"):
        verify_file(path)


def test_a_certificate_can_be_named(tmp_path):
    plant = with_fields()
    for name in "xy":
        write(tmp_path / f"{name}.wcnf", plant)
    side_car(tmp_path / "x.wcnf").unlink()
    result = verify_file(tmp_path / "x.wcnf", tmp_path / "y.wcnf.cert")
    assert result.proven
    with pytest.raises(FileError, match="there is no such file"):
        verify_file(tmp_path / "x.wcnf", tmp_path / "z.cert")


def test_a_certificate_of_another_file_is_refused(tmp_path):
    for name, seed in (("x", 1), ("y", 2)):
        grown = random_loops(6, 6, frustration="1/5", loops=5, rng=seed)
        write(tmp_path / f"{name}.wcnf", grown)
    with pytest.raises(CertificateError, match=r"no optimum is proven|states a cost"):
        verify_file(tmp_path / "x.wcnf", tmp_path / "y.wcnf.cert")


def changed_numbers(text: str) -> list[str]:
    """The text with one number one higher or lower, or one state flipped, for each of them."""
    found = []
    lines = text.splitlines()
    for k, line in enumerate(lines):
        words = line.split(" ")
        for place, word in enumerate(words):
            if word in ("c", "p") or "recipe" in words or words[:1] == ["glasshouse-certificate"]:
                continue
            if words[-2:-1] in (["planted-model"], ["state"]) and set(word) <= {"0", "1"}:
                flips = [word[:i] + str(1 - int(b)) + word[i + 1 :] for i, b in enumerate(word)]
            elif word.lstrip("-").isdigit():
                flips = [str(int(word) + 1), str(int(word) - 1)]
            else:
                continue
            for flip in flips:
                row = " ".join([*words[:place], flip, *words[place + 1 :]])
                found.append("\n".join([*lines[:k], row, *lines[k + 1 :]]) + "\n")
    return found


def changed_line(original: str, text: str) -> tuple[str, str]:
    lines = zip(original.splitlines(), text.splitlines(), strict=True)
    return next((old, new) for old, new in lines if old != new)


@pytest.mark.parametrize("target", ["file", "certificate"])
def test_changed_numbers_are_refused_or_still_true(tmp_path, target):
    """For any change of one number, all accepted statements are true, by enumeration."""
    path = tmp_path / "x.wcnf"
    write(path, with_fields())
    changed = path if target == "file" else side_car(path)
    original = changed.read_text()
    passed = []
    for text in changed_numbers(original):
        changed.write_text(text)
        try:
            result = verify_file(path)
        except (CertificateError, FileError):
            continue
        passed.append(changed_line(original, text))
        document, proof = read_document(path), read_side_car(side_car(path))
        least = optimum(document.problem)[0]
        assert result.cost == document.stated.cost == proof.cost == least
        assert document.stated.cost_of_model(document.problem) == least
        assert document.problem.cost(proof.certificate.state > 0) == least
    if target == "certificate":
        # Loops over weights that others hold in part may weigh a little more.
        assert passed == [("3 1 2 0", "4 1 2 0"), ("1 5 4 3 2", "2 5 4 3 2")]
    else:
        # A word for readers; a top that no weight reaches; and clauses that the plant satisfies.
        assert {old.split()[0] for old, _ in passed if old[0] in "cp"} == {"c", "p"}
        assert {old for old, _ in passed if old[0] == "c"} == {original.splitlines()[0]}
        assert {old for old, _ in passed if old[0] == "p"} == {"p wcnf 5 14 74"}
        violated = {"1 2 5 0", "3 -1 0", "4 -4 0"}
        assert not {old for old, _ in passed} & violated


# Certificates as text --------------------------------------------------------------------------


@st.composite
def certificates(draw):
    """Any cycles over 6 spins and their ghost; some violate three edges, some are huge."""
    loops = draw(st.lists(st.permutations(range(7)).flatmap(_cycle), max_size=5))
    starts = np.cumsum([0, *(len(nodes) for nodes, _ in loops)])
    most = draw(st.sampled_from([9, 2**63 - 1, 2**90]))
    multipliers = [draw(st.integers(1, most)) for _ in loops]
    kind = object if max(multipliers, default=0) > 2**63 - 1 else np.int64
    state = draw(st.lists(st.sampled_from([-1, 1]), min_size=6, max_size=6))
    return Certificate(
        np.array(state, dtype=np.int8),
        np.array([x for nodes, _ in loops for x in nodes], dtype=np.int32),
        starts.astype(np.int64),
        np.array(multipliers, dtype=kind),
        draw(st.integers(1, 9)),
        np.array([x for _, marks in loops for x in marks], dtype=np.bool_),
    )


@st.composite
def _cycle(draw, order):
    nodes = order[: draw(st.integers(3, 7))]
    marks = draw(st.lists(st.booleans(), min_size=len(nodes) - 1, max_size=len(nodes) - 1))
    if sum(marks) % 2:  # with the last edge their number shall be odd
        marks[marks.index(True)] = False
    return nodes, [*marks, True]


def canonical(certificate: Certificate) -> list[tuple[object, ...]]:
    """Loops as sets of marked edges, which turning a loop leaves as they are."""
    marks = certificate.violated
    result = []
    for k, multiplier in enumerate(certificate.multipliers.tolist()):
        part = slice(int(certificate.starts[k]), int(certificate.starts[k + 1]))
        nodes = certificate.nodes[part].tolist()
        signs = [False] * (len(nodes) - 1) + [True] if marks is None else marks[part].tolist()
        edges = zip(nodes, nodes[1:] + nodes[:1], signs, strict=True)
        result.append((multiplier, frozenset(edges)))
    return result


@given(certificates(), st.one_of(st.none(), st.integers(-9, 9)), st.booleans())
def test_certificates_come_back(tmp_path_factory, certificate, cost, named):
    path = tmp_path_factory.getbasetemp() / "round-trip.cert"
    names = np.array([3, 1, 0, 2, 5, 4]) if named else None
    write_certificate(path, certificate, cost=cost, names=names, overwrite=True)
    again = read_side_car(path)
    assert canonical(again.certificate) == canonical(certificate)
    assert np.array_equal(again.certificate.state, certificate.state)
    assert again.certificate.denominator == certificate.denominator
    assert again.cost == cost
    assert again.names is None if names is None else np.array_equal(again.names, names)


@settings(max_examples=30)
@given(some.isings(max_spins=6, min_spins=6), certificates())
def test_a_rescaled_certificate_proves_the_same(problem, certificate):
    for factor in (Fraction(1, 2), Fraction(3), Fraction(4, 6)):
        scaled = rescaled(certificate, factor)
        before, after = (
            [Fraction(int(x), proof.denominator) for x in proof.multipliers]
            for proof in (certificate, scaled)
        )
        assert after == [factor * x for x in before]
        assert verify(problem, rescaled(scaled, 1 / factor)) == verify(problem, certificate)


def test_hard_clauses_that_the_certified_state_breaks(tmp_path):
    path = tmp_path / "x.wcnf"
    problem = Max2Sat.from_clauses(3, [[1]], [1], hard=[[-1], [2, 3]])
    write(path, problem)
    state = np.array([1, 1, 1], dtype=np.int8)
    proof = Certificate(state, [], [0], [])
    write_certificate(side_car(path), proof)
    with pytest.raises(CertificateError, match="violates 1 hard clause"):
        verify_file(path)


@pytest.mark.parametrize("suffix", [".coo", ".qubo", ".mc", ".bqm", ".npz"])
def test_float_problems_are_verified_like_all_others(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    write(path, Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [-0.1, -0.7, -0.25], offset=0.3))
    proof = prove(read(path))
    write_certificate(side_car(path), proof.certificate, cost=proof.energy)
    assert verify_file(path).cost == proof.energy
    write_certificate(side_car(path), proof.certificate, cost=proof.energy + 1e-9, overwrite=True)
    with pytest.raises(CertificateError, match="states a cost of"):
        verify_file(path)
    other = np.where(proof.certificate.state == proof.certificate.state[0], -1, 1)
    other[0] = 1
    write_certificate(side_car(path), Certificate(other, [], [0], []), overwrite=True)
    with pytest.raises(CertificateError, match="no optimum is proven"):
        verify_file(path)
