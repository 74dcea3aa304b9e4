"""A `Proven` exists only where the verifier has just accepted its problem and certificate."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.certificates import Certificate, CertificateError, Proven, verdict
from glasshouse.planting.methods import random_loops, wishart
from glasshouse.problems import Ising

EDGES = [(0, 1), (1, 2), (2, 3), (0, 3)]
SQUARE = Ising.from_edges(4, EDGES, [4, 4, 4, -3])
LOOP = Certificate([1, 1, 1, 1], [0, 1, 2, 3], [0, 4], [3])
OTHER = Ising.from_edges(4, EDGES, [4, 4, 4, 3])
COPIES = {
    "a call": lambda one: Proven(one.problem, one.certificate),
    "replace": dataclasses.replace,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{
        f"pickle {protocol}": lambda one, p=protocol: pickle.loads(pickle.dumps(one, p))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    },
}


@pytest.fixture
def calls(monkeypatch):
    """Count the calls of the verifier."""
    seen, real = [], verdict.examined
    monkeypatch.setattr(verdict, "examined", lambda *given: seen.append(given) or real(*given))
    return seen


@pytest.mark.parametrize("way", COPIES)
def test_every_copy_is_verified_again(way, calls):
    first = Proven(SQUARE, LOOP)
    again = COPIES[way](first)
    assert len(calls) == 2
    assert again.verdict == first.verdict == gh.verify(SQUARE, LOOP)


@pytest.mark.parametrize("way", COPIES)
def test_no_copy_is_made_of_what_the_verifier_refuses(way, monkeypatch):
    first = Proven(SQUARE, LOOP)

    def refuse(*_):
        raise CertificateError("the verifier says no")

    monkeypatch.setattr(verdict, "examined", refuse)
    with pytest.raises(CertificateError, match="says no"):
        COPIES[way](first)


def test_no_verdict_can_be_handed_over():
    first = Proven(SQUARE, LOOP)
    with pytest.raises(TypeError):
        Proven(OTHER, LOOP, first.verdict)
    with pytest.raises(ValueError, match="verdict"):
        dataclasses.replace(first, verdict=first.verdict)
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.verdict = dataclasses.replace(first.verdict, optimal=True)
    other = dataclasses.replace(first, problem=OTHER)
    assert other.verdict == gh.verify(OTHER, LOOP) != first.verdict


def test_a_forged_pickle_is_verified():
    """The bytes of a pickle name the problem; another one in its place is another verdict."""
    first = Proven(SQUARE, LOOP)
    forged = pickle.dumps(first, 5).replace(SQUARE.weights.tobytes(), OTHER.weights.tobytes())
    assert forged != pickle.dumps(first, 5)
    read = pickle.loads(forged)
    assert read.problem == OTHER
    assert read.verdict == gh.verify(OTHER, LOOP)


def test_there_are_no_subclasses():
    with pytest.raises(TypeError, match="skip the verifier"):

        class Believed(Proven):
            def __post_init__(self):
                pass


@pytest.mark.parametrize("plant", [
    random_loops(6, 6, frustration="1/5", loops=5, rng=1),
    random_loops(400, 400, frustration="1/5", loops=30, rng=1),  # a sparse matrix
    wishart(12, columns=4, rng=1),
])  # fmt: skip
def test_nobody_writes_to_the_arrays_of_a_proof(plant):
    """Unpickled problems and certificates have arrays that can be written to."""
    problem, certificate = pickle.loads(pickle.dumps((plant.problem, plant.certificate)))
    proven = Proven(problem, certificate)
    for thing in (problem, certificate, certificate.squares):
        for array in vars(thing).values():
            array = getattr(array, "data", array)
            if isinstance(array, np.ndarray) and array.size and array.flags.writeable:
                array[...] = 1
    assert gh.verify(proven.problem, proven.certificate) == proven.verdict
    assert proven.verdict.energy == plant.energy


def test_views_of_the_callers_memory_are_copied():
    memory = bytearray(np.array([4, 4, 4, -3]).tobytes())
    weights = np.frombuffer(memory, dtype=np.int64)
    proven = Proven(Ising.from_edges(4, EDGES, weights), LOOP)
    memory[:] = np.array([1, 1, 1, 1]).tobytes()
    assert proven.verdict == gh.verify(proven.problem, proven.certificate)
    assert proven.problem == SQUARE


def test_a_matrix_that_is_exchanged_is_not_that_of_the_proof():
    """SciPy's sparse arrays let their numbers be exchanged, even in a frozen problem."""
    plant = random_loops(400, 400, frustration="1/5", loops=30, rng=1)
    proven = plant.proven
    plant.problem.matrix.data = np.zeros_like(plant.problem.matrix.data)
    assert gh.verify(proven.problem, proven.certificate) == proven.verdict
    with pytest.raises(CertificateError):
        plant.verify()


class TestPlant:
    def test_the_proof_of_a_plant_is_made_once(self, calls):
        plant = random_loops(6, 6, frustration="1/5", loops=5, rng=1)
        assert not calls
        assert plant.proven is plant.proven
        assert len(calls) == 1
        assert plant.proven.verdict.optimal
        assert plant.proven.verdict.energy == plant.energy
        assert plant.proven.problem == plant.problem
        plant.verify()
        assert len(calls) == 2

    @pytest.mark.parametrize(
        "change", [{}, {"energy": 0}, {"problem": "other"}, {"state": "other"}]
    )
    def test_the_proof_does_not_survive_a_change(self, change, calls):
        plant = random_loops(6, 6, frustration="1/5", loops=5, rng=1)
        other = random_loops(6, 6, frustration="1/5", loops=5, rng=2)
        assert plant.proven
        change = {name: getattr(other, name) if value == "other" else value
                  for name, value in change.items()}  # fmt: skip
        changed = dataclasses.replace(plant, **change)
        if not change:
            assert changed.proven is not plant.proven
            assert len(calls) == 2
            return
        with pytest.raises(CertificateError):
            _ = changed.proven

    def test_a_shuffled_or_turned_plant_has_its_own_proof(self):
        plant = random_loops(6, 6, frustration="1/5", loops=5, rng=1)
        assert plant.proven
        for changed in (gh.shuffle(plant), plant.regauge([1] * 12)):
            assert changed.proven.problem == changed.problem != plant.problem
