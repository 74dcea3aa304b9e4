"""Whatever bytes a file holds, reading gives a problem or a FileError, and nothing else."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.files.stating import write_stated

from glasshouse.files import Document, FileError, read, read_document, read_side_car, write
from glasshouse.planting.methods import random_loops
from glasshouse.problems import Ising, Max2Sat, Polynomial, Qubo, Rbm

PROBLEMS = {
    ".wcnf": Max2Sat.from_clauses(3, [[1, 2], [-3], [2, -3]], [3, 12, 1], hard=[[1, 3]]),
    ".cnf": Max2Sat.from_clauses(3, [[1, 2], [-3], [2, -3]], [1, 1, 1]),
    ".qubo": Qubo.from_edges(3, [(0, 1), (1, 2)], [2.5, -1e-9], [0.5, 0, 0], 1.5),
    ".mc": Ising.from_edges(3, [(0, 1), (1, 2)], [2, -10], [1, 0, -2], 7),
    ".coo": Ising.from_edges(3, [(0, 1), (1, 2)], [2, -1], [1, 0, 0], 7, [9, 4, 30]),
    ".bqm": Ising.from_edges(3, [(0, 1), (1, 2)], [2, -1], [1, 0, 0], 7, ["a", 3, (0, 1)]),
    ".qplib": Qubo.from_edges(3, [(0, 1), (1, 2)], [2.5, -1], [0.5, 0, 0], 1, ["a", 7, "x3"]),
    ".json": Ising.from_edges(3, [(0, 1), (1, 2)], [2, -1], [1, 0, 0], 7, [30, 31, 45]),
    ".hubo": Polynomial.from_terms(5, {(0, 1, 2): 2, (3,): -1, (1, 3): 40}, offset=7),
    ".npz": Rbm.from_edges(2, 2, [(0, 0), (1, 0), (1, 1)], [1, 2, -3], [1, 0]),
}
WORDS = [
    b"0", b"-1", b"9223372036854775807", b"9223372036854775808", b"99999999999999999999999", b"1.5",
    b"1e400", b"nan", b"h", b"c", b"p", b"#", b"\n", b"\r\n", b" ", b"p wcnf 2 2 9\n",
    b"c recipe {", b"c planted-cost 1\n", b"c planted-model 01\n", b"# offset 1e999\n",
    b"# ancilla 1\n", b"# labels [1,2,3]\n", b'c labels ["a","b"]\n', b'"', b"[", b"}", b",",
    b"\x00", b"\xff\xfe", b"-", b"+", b"4000000000", b"0 0 0",
]  # fmt: skip


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """The bytes of one good file of every kind, plants and archives included."""
    folder = tmp_path_factory.mktemp("good")
    for suffix, problem in PROBLEMS.items():
        write(folder / f"plain{suffix}", problem)
        write(folder / f"packed{suffix}.gz", problem)
    write(folder / "packed.wcnf.xz", PROBLEMS[".wcnf"])
    floats = Polynomial.from_terms(4, {(0, 1, 3): 2.5, (2,): -1e-9}, offset=1.5, labels="abcd")
    for name in ("cubic.hubo", "cubic.json", "cubic.npz"):
        write(folder / name, floats)
    write(folder / "new.wcnf", PROBLEMS[".wcnf"], dialect="mse22")
    matrix = np.array([[1.5, -2, 3], [0, 1, 1e-9]])
    np.save(folder / "plain.npy", matrix)
    np.savetxt(folder / "plain.csv", matrix, delimiter=",")
    np.savez(folder / "machine.npz", W=matrix, a=matrix[:, 0], b=matrix[0])
    plant = random_loops(4, 4, frustration="1/5", loops=3, rng=1)
    for suffix in PROBLEMS:
        if suffix != ".cnf":
            write(folder / f"plant{suffix}", plant)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


fresh = itertools.count()


def read_or_refuse(path: Path) -> None:
    """A file that is read is complete: its size and weights can be used and written again."""
    try:
        if path.suffix == ".cert":
            read_side_car(path)
            return
        if is_matrix(path):
            read(path, units="binary")
            return
        document = read_document(path)
        read(path, verify=False)
    except FileError:
        return
    assert np.isfinite(document.problem.total_weight)
    if document.problem.num_variables < 10_000:  # larger ones are valid, but writing takes long
        assert_rewritten(path, document)


def is_matrix(path: Path) -> bool:
    return path.suffix in (".npy", ".csv") or "machine" in path.name


def assert_rewritten(path: Path, document: Document) -> None:
    """A problem that was read can be written, and is read again unchanged."""
    again = path.with_name(f"again-{path.name}")
    write_stated(again, document)
    twin = read_document(again)
    assert twin.problem == document.problem
    assert twin.planted == document.planted
    if ".bqm" not in path.name:  # a .bqm file has no comments
        assert twin.stated == document.stated


@st.composite
def mutations(draw, data):
    """Some bytes changed, dropped, doubled, or replaced by words that mean trouble."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 12)))
        new = draw(
            st.one_of(
                st.binary(max_size=4),
                st.sampled_from(WORDS),
                st.just(data[start:end] * 2),
                st.integers(0, 2**66).map(lambda x: b"%d" % x),
            )
        )
        data = data[:start] + new + data[end:]
    if draw(st.booleans()):
        data = data[: draw(st.integers(0, len(data)))]
    return data


def fuzz_mutations(originals, folder, data):
    name = data.draw(st.sampled_from(sorted(originals)))
    path = folder / f"{next(fresh) % 50}-{name}"
    path.write_bytes(data.draw(mutations(originals[name])))
    read_or_refuse(path)


@given(st.data())
@settings(max_examples=800)
def test_mutated_files(originals, folder, data):
    fuzz_mutations(originals, folder, data)


@pytest.mark.slow
@given(st.data())
@settings(max_examples=15_000)
def test_many_mutated_files(originals, folder, data):
    fuzz_mutations(originals, folder, data)


SUFFIXES = [*PROBLEMS, ".npy", ".csv", ".cert", ".wcnf.gz", ".npz.xz"]


@given(st.sampled_from(SUFFIXES), st.binary(max_size=300))
def test_random_bytes(folder, suffix, data):
    path = folder / f"random{suffix}"
    path.write_bytes(data)
    read_or_refuse(path)


@given(
    st.sampled_from(SUFFIXES[:-2]),
    st.lists(st.one_of(st.sampled_from(WORDS), st.integers(-9, 9).map(lambda x: b"%d " % x))),
)
def test_random_words(folder, suffix, words):
    path = folder / f"words{suffix}"
    path.write_bytes(b"".join(words))
    read_or_refuse(path)
