"""Files as the libraries of the field have them: other names, no header, matrices, archives."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import zipfile
from itertools import product

import numpy as np
import pytest

from glasshouse.files import FileError, read, read_document, write
from glasshouse.planting.methods import random_loops
from glasshouse.problems import Ising, Qubo

GRAPH = "3 2\n1 2 3\n2 3 -2\n"
ISING = Ising.from_edges(3, [(0, 1), (1, 2)], [-3, 2])
MQLIB = (
    "# Sample QUBO problem instance\n3 5\n# terms i i\n1 1 5\n2 2 3\n3 3 1\n# terms i j\n"
    "1 2 -6\n2 3 -1\n"
)
NAMES = ("g05_60.0", "ising2.5-100_5555", "torus.dat", "G62.txt", "G62", "a.rud", "w09_100.9")


@pytest.mark.parametrize("name", NAMES)
def test_graphs_are_recognised_by_their_first_line(tmp_path, name):
    (tmp_path / name).write_text(f"# a comment\n\n{GRAPH}")
    document = read_document(tmp_path / name)
    assert document.problem == ISING
    assert (document.suffix, document.measure.name) == (".mc", "cut")


@pytest.mark.parametrize("suffix", [".mc", ".txt", ""])
def test_a_graph_may_have_no_header(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    path.write_text(GRAPH.partition("\n")[2])
    assert read(path) == ISING


def test_what_has_an_opening_line_of_its_own_is_recognised_by_it(tmp_path):
    planted = random_loops(5, 5, frustration="1/5", loops=3, rng=1)
    for suffix in (".wcnf", ".qubo", ".coo", ".mc"):
        write(tmp_path / f"x{suffix}", planted, blind=True)
        (tmp_path / "named_otherwise.1").write_bytes((tmp_path / f"x{suffix}").read_bytes())
        assert read(tmp_path / "named_otherwise.1") == read(tmp_path / f"x{suffix}")


def test_entries_off_the_diagonal_are_listed_once_and_count_twice(tmp_path):
    rng = np.random.default_rng(5)
    for size in range(1, 7):
        upper = np.triu(rng.integers(-9, 10, (size, size)))
        rows = [f"{i + 1} {j + 1} {upper[i, j]}" for i, j in zip(*np.nonzero(upper), strict=True)]
        rows = rng.permutation(rows).tolist()
        (tmp_path / "x.sparse").write_text("\n".join([f"{size} {len(rows)}", *rows]))
        problem = read(tmp_path / "x.sparse")
        symmetric = upper + upper.T - np.diag(np.diag(upper))
        for state in product((0, 1), repeat=size):
            x = np.array(state)
            assert problem.energy(x) == x @ symmetric @ x


def test_mqlib_maximises_the_matrix_that_biq_mac_minimises(tmp_path):
    for name in ("sample.mqlib", "sample.sparse"):
        (tmp_path / name).write_text(MQLIB)
    most, least = (read_document(tmp_path / f"sample.{x}") for x in ("mqlib", "sparse"))
    assert least.problem == Qubo.from_matrix([[5, -12, 0], [0, 3, -2], [0, 0, 1]])
    states = [np.array(x) for x in product((0, 1), repeat=3)]
    assert max(most.value_of(x) for x in states) == 6  # as MQLib's own guide says
    assert [most.value_of(x) for x in states] == [least.value_of(x) for x in states]
    assert min(states, key=most.problem.energy).tolist() == [1, 0, 1]
    (tmp_path / "sample.txt").write_text(MQLIB)
    assert read(tmp_path / "sample.txt", format="mqlib") == most.problem


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return file.getvalue()


@pytest.mark.parametrize("name", ["G62.zip", "x.mc.zip", "x.txt.zip"])
def test_a_zip_archive_of_one_file_is_read(tmp_path, name):
    (tmp_path / name).write_bytes(zipped(G62__txt=GRAPH.encode()))
    assert read(tmp_path / name) == ISING


def test_packed_files_are_recognised_by_what_is_in_them(tmp_path):
    for name, pack in (("a.gz", gzip.compress), ("b.1.xz", lzma.compress)):
        (tmp_path / name).write_bytes(pack(GRAPH.encode()))
        assert read(tmp_path / name) == ISING
    matrix = zipped(be100__1__sparse=MQLIB.encode())  # the name of the one file gives the format
    (tmp_path / "c.zip").write_bytes(matrix)
    assert read_document(tmp_path / "c.zip").suffix == ".sparse"


def test_a_zip_archive_may_have_folders_and_come_down_a_pipe(tmp_path):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.mkdir("folder")
        archive.writestr("folder/x.mc", GRAPH)
    (tmp_path / "x.zip").write_bytes(file.getvalue())
    assert read(tmp_path / "x.zip") == ISING

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    assert read(Pipe(file.getvalue()), format="mc.zip") == ISING


def damaged_archives() -> dict[str, tuple[bytes, str]]:
    whole = zipped(x__mc=GRAPH.encode() * 1)
    place = whole.index(b"x.mc") + 8
    lzma_file = io.BytesIO()
    with zipfile.ZipFile(lzma_file, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("x.mc", GRAPH)
    locked = bytearray(whole)
    locked[whole.rindex(b"PK\x01\x02") + 8] |= 1
    return {
        "two files": (zipped(a__mc=GRAPH.encode(), b__mc=b""), "zip archive with 2 files"),
        "no file": (zipped(), "zip archive with 0 files"),
        "damaged": (whole[:place] + b"\xff\xff" + whole[place + 2 :], "cannot be read"),
        "truncated": (whole[: len(whole) // 2], "cannot be read"),
        "another method": (lzma_file.getvalue(), "an unsupported method"),
        "encrypted": (bytes(locked), "is encrypted"),
    }


@pytest.mark.parametrize("kind", damaged_archives())
@pytest.mark.parametrize("name", ["x.zip", "x.mc.zip"])
def test_damaged_archives_are_refused_in_one_line(tmp_path, name, kind):
    content, words = damaged_archives()[kind]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError, match=words) as caught:
        read(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_an_archive_with_one_changed_byte_is_the_same_or_refused(tmp_path):
    path = tmp_path / "x.zip"
    whole = zipped(x__mc=GRAPH.encode())
    refused = 0
    for place in range(len(whole)):
        for change in (1, 0x80, 0xFF):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ change]) + whole[place + 1 :])
            try:
                assert read(path) == ISING
            except FileError:  # always one line, see test_errors.py
                refused += 1
    assert refused > len(whole)


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("GLASSHOUSE_READ_LIMIT", "1M")
    (tmp_path / "x.zip").write_bytes(zipped(x__mc=GRAPH.encode() + b"\n" * (2 << 20)))
    with pytest.raises(FileError, match="unpacks to more than 32 times"):
        read(tmp_path / "x.zip")


def test_zip_archives_are_not_written(tmp_path):
    with pytest.raises(FileError, match="zip archives cannot be written"):
        write(tmp_path / "x.mc.zip", ISING)
    with pytest.raises(FileError, match="zip archives cannot be written"):
        write(io.BytesIO(), ISING, format="mc.zip")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".sparse", ".mqlib"])
def test_symmetric_matrices_are_not_written(tmp_path, suffix):
    with pytest.raises(FileError, match="cannot be written"):
        write(tmp_path / f"x{suffix}", ISING)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_must_have_a_name_that_tells_its_format(tmp_path):
    os.mkfifo(tmp_path / "x.txt")
    with pytest.raises(FileError, match="is a pipe, which can be read only once"):
        read(tmp_path / "x.txt")
