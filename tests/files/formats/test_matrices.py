"""Matrices from elsewhere: read as what the caller says they are, never by a guess."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import glasshouse as gh
from glasshouse.files import FileError, read, write
from glasshouse.problems import Ising, Qubo, Rbm

W = np.array([[1.5, -2.0], [0.25, 3.0], [1.0, 1.0]])
A, B = np.array([1.0, -0.5, 2.0]), np.array([0.5, -4.0])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("matrices")


numbers = st.one_of(
    arrays.arrays(
        st.sampled_from([np.int8, np.int32, np.int64, np.float32, np.float64]),
        st.tuples(st.integers(1, 4), st.integers(1, 4)),
        elements=st.integers(-99, 99),
    ),
    arrays.arrays(
        np.float64,
        st.tuples(st.integers(1, 4), st.integers(1, 4)),
        elements=st.floats(-1e9, 1e9, allow_subnormal=False),
    ),
)


def expected(matrix, units):
    square = matrix.shape[0] == matrix.shape[1] > 1
    one_sided = not np.tril(matrix, -1).any() or not np.triu(matrix, 1).any()
    if square and (one_sided or (matrix == matrix.T).all()):
        return Ising.from_matrix(matrix) if units == "spin" else Qubo.from_matrix(matrix)
    return Rbm(matrix) if units == "spin" else Rbm.from_binary(matrix)


@given(numbers, st.sampled_from(["spin", "binary"]), st.booleans())
def test_npy(folder, matrix, units, turned):
    matrix = np.asfortranarray(matrix) if turned else matrix
    np.save(folder / "w.npy", matrix)
    try:
        wanted = expected(matrix, units)
    except ValueError as error:
        with pytest.raises(FileError, match=str(error)[:20]):
            read(folder / "w.npy", units=units)
        return
    assert read(folder / "w.npy", units=units) == wanted


@given(numbers, st.sampled_from([",", " ", ", ", "\t"]), st.booleans())
def test_csv(folder, matrix, delimiter, plain):
    path = folder / "w.csv"
    matrix = matrix.astype(np.float64)
    # A square matrix that is not an RBM's has its own test.
    matrix = np.vstack([matrix, matrix[:1]]) if matrix.shape[0] == matrix.shape[1] else matrix
    spelling = "%d" if plain and (matrix == np.rint(matrix)).all() else "%.17g"
    np.savetxt(path, matrix, spelling, delimiter)
    found = read(path, units="spin")
    assert np.array_equal(found.matrix, matrix)
    assert found.is_integer == bool((matrix == np.rint(matrix)).all())


def test_couplings_and_qubos(tmp_path):
    np.save(tmp_path / "j.npy", np.array([[0, 2], [2, 0]]))
    assert read(tmp_path / "j.npy", units="spin") == Ising.from_edges(2, [(0, 1)], [2])
    (tmp_path / "q.csv").write_text("-1,2\n0,-1\n")
    assert read(tmp_path / "q.csv", units="binary") == Qubo.from_matrix([[-1, 2], [0, -1]])
    with pytest.raises(FileError, match="diagonal of J must be zero"):
        read(tmp_path / "q.csv", units="spin")


@pytest.mark.parametrize("names", ["W a b", "weights visible_bias hidden_bias", "W v_bias h_bias"])
@pytest.mark.parametrize("turned", [False, True])
def test_archives_of_weights_and_biases(tmp_path, names, turned):
    matrix = W.T if turned else W
    np.savez(tmp_path / "w.npz", **dict(zip(names.split(), (matrix, A, B), strict=True)))
    assert read(tmp_path / "w.npz", units="spin") == Rbm(W, A, B)
    assert read(tmp_path / "w.npz", units="binary") == Rbm.from_binary(W, A, B)


def test_archives_of_weights_alone_are_matrices(tmp_path):
    np.savez_compressed(tmp_path / "w.npz", W=W)
    assert read(tmp_path / "w.npz", units="spin") == Rbm(W)


def test_archives_of_scikit_learn_say_their_units(tmp_path):
    path = tmp_path / "w.npz"
    np.savez(path, components_=W.T, intercept_visible_=A, intercept_hidden_=B)
    assert read(path) == read(path, units="binary") == Rbm.from_binary(W, A, B)
    with pytest.raises(FileError, match="units are 0 and 1; omit"):
        read(path, units="spin")


def test_units_are_never_guessed(tmp_path):
    np.save(tmp_path / "w.npy", W)
    np.savetxt(tmp_path / "w.csv", W, delimiter=",")
    np.savez(tmp_path / "w.npz", W=W, a=A, b=B)
    for name in ("w.npy", "w.csv", "w.npz"):
        with pytest.raises(FileError, match='pass units="spin" or units="binary"'):
            read(tmp_path / name)
    with pytest.raises(ValueError, match="must be 'spin' or 'binary'"):
        read(tmp_path / "w.npy", units="ising")


def test_units_are_not_for_files_that_state_them(tmp_path):
    for name in ("x.qubo", "x.npz", "x.coo"):
        write(tmp_path / name, Qubo.from_edges(2, [(0, 1)], [1]))
        with pytest.raises(FileError, match="states its own units"):
            read(tmp_path / name, units="binary")


BAD = [
    ("x.csv", b"1,2\n3\n", "1 entries; the rows above have 2"),
    ("x.csv", b"1,,2\n", "an entry is empty"),
    ("x.csv", b"1,2,\n3,4,\n", "an entry is empty"),
    ("x.csv", b"v1,v2\n1,2\n", "not a finite number"),
    ("x.csv", b"1,nan\n", "not a finite number"),
    ("x.csv", b"1.5,9007199254740993\n", "not a finite number"),
    ("x.csv", b"1.5,2\n9007199254740993,1\n", "not a finite number"),
    ("x.csv", b"1;2\n", "not a finite number"),
    ("x.csv", b"", "contains no numbers"),
    ("x.npy", b"", "is not an .npy"),
    ("x.npy", b"\x93NUMPY\1\0", "is not an .npy"),
]


@pytest.mark.parametrize(("name", "content", "words"), BAD)
def test_what_is_no_matrix_is_refused(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError, match=words):
        read(tmp_path / name, units="spin")


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"W": W, "a": A}, "expected those of glasshouse, or one each of"),
        ({"W": W, "a": A, "b": B, "c": B}, "expected those of glasshouse, or one each of"),
        ({"W": W, "weights": W, "a": A, "b": B}, "expected those of glasshouse, or one each of"),
        ({"W": W, "a": A, "b": A}, "2 hidden spins but 3 biases"),
        ({"x": W}, "arrays x; expected"),
        ({"W": W[0]}, "2 dimensions"),
    ],
)
def test_what_is_no_machine_is_refused(tmp_path, arrays, words):
    np.savez(tmp_path / "w.npz", **arrays)
    with pytest.raises(FileError, match=words):
        read(tmp_path / "w.npz", units="spin")


@pytest.mark.parametrize("array", [np.zeros(3), np.zeros((2, 2, 2)), np.array(["a"])])
def test_other_arrays_are_no_matrices(tmp_path, array):
    np.save(tmp_path / "w.npy", array)
    with pytest.raises(FileError, match="is not a plain matrix"):
        read(tmp_path / "w.npy", units="spin")
    whole = (tmp_path / "w.npy").read_bytes()
    (tmp_path / "w.npy").write_bytes(whole[:-1])
    with pytest.raises(FileError, match="is not a plain matrix"):
        read(tmp_path / "w.npy", units="spin")


def test_matrices_are_read_only(tmp_path):
    with pytest.raises(FileError, match="cannot be written; use"):
        write(tmp_path / "w.npy", Rbm(W))


def test_the_energies_are_those_of_the_units(tmp_path):
    np.savez(tmp_path / "w.npz", W=W, a=A, b=B)
    found = gh.brute_force(read(tmp_path / "w.npz", units="binary"))
    bits = np.array(list(found.sample(units="binary").values()), dtype=float)
    v, h = bits[:3], bits[3:]
    assert found.energy == -(v @ W @ h + A @ v + B @ h)
