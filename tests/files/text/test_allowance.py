"""The allowance for reading, limit by limit: each of these files did harm once."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.files.bombs import certificate_of_a_square
from tests.files.raw_files import array, npy, npz, planted, planted_header, rbm, squared
from tests.files.recipe_bombs import recipe_text

from glasshouse.certificates import CertificateError
from glasshouse.files import FileError, read, read_certificate, read_document, read_planted, write
from glasshouse.files.graphs import read_graph
from glasshouse.files.text.allowance import VARIABLE, Allowance, read_limit
from glasshouse.planting.methods import random_loops
from glasshouse.problems import Rbm
from glasshouse.suites import check_suite
from glasshouse.suites.manifest import read_manifest
from glasshouse.suites.writing import write_suite

MIB = 1 << 20


def refusal(path: Path, reader=read_document) -> str:
    with pytest.raises(FileError) as caught:
        reader(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def written(path: Path, data: bytes | str) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def peak_of(work) -> float:
    """MiB of Python and NumPy while something is done."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / MIB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("text", "size"),
    [("5000", 5000), ("64K", 65536), ("3m", 3 * MIB), ("2G", 2 << 30), ("", 64 * MIB)],
)
def test_the_environment_sets_the_limit(monkeypatch, text, size):
    monkeypatch.setenv(VARIABLE, text)
    assert read_limit() == size


@pytest.mark.parametrize("text", ["0", "-1", "64MB", "1e9", "two", "9" * 99, "1.5G", "²"])
def test_a_limit_that_is_no_size_is_refused(monkeypatch, tmp_path, text):
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(ValueError, match=r"GLASSHOUSE_READ_LIMIT=.* is not a size; expected bytes"):
        read(written(tmp_path / "x.wcnf", "1 1 0\n"))


def test_what_a_file_may_unpack_to_grows_with_it():
    assert Allowance(0, 1000).unpacked == 1000
    assert Allowance(10**6, 1000).unpacked == 32 * 10**6


BOMB = b"1 1 -2 0\n" * 200_000


def _xz(data: bytes, preset: int = 6) -> bytes:
    return lzma.compress(data, preset=preset)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.wcnf.gz", gzip.compress(BOMB)),
        ("x.wcnf.xz", lzma.compress(BOMB)),
        ("x.bqm.gz", gzip.compress(bytes(2 * MIB))),
        ("x.npz.xz", lzma.compress(bytes(2 * MIB))),
        ("x.npz", npz(planted(single=npy("<i8", (2**18,), bytes(2 * MIB))))),
        ("x.edges.gz", gzip.compress(b"0 1\n" * 500_000)),
        ("x.jsonl.gz", gzip.compress(b" " * 2 * MIB)),
    ],
)
def test_bombs_are_refused_with_the_limit_and_a_way_out(tmp_path, monkeypatch, name, data):
    readers = {"edges": read_graph, "jsonl": lambda path: list(read_manifest(path))}
    path = written(tmp_path / name, data)
    reader = readers.get(name.split(".")[1], read_document)
    monkeypatch.setenv(VARIABLE, "1M")
    message = refusal(path, reader)
    assert "GLASSHOUSE_READ_LIMIT=1M; raise it" in message
    monkeypatch.setenv(VARIABLE, "64M")
    if "wcnf" in name or "edges" in name:
        reader(path)
    else:
        assert VARIABLE not in refusal(path, reader)


def test_short_lines_count_for_what_they_become(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, "1M")
    path = written(tmp_path / "x.cnf.gz", gzip.compress(b"p cnf 1 400000\n" + b"0\n" * 400_000))
    assert "and to more than 1M" in refusal(path)


@pytest.mark.parametrize(
    ("name", "data"),
    [("x.npz", npz({"weights": npy("|i1", (1500, 1500), bytes(1500**2))})),
     ("x.npy.gz", gzip.compress(npy("|i1", (1500, 1500), bytes(1500**2)))),
     ("x.csv.gz", gzip.compress(b"\n".join([b",".join([b"0"] * 1500)] * 1500)))],
)  # fmt: skip
def test_short_numbers_count_for_the_eight_bytes_that_they_take(tmp_path, monkeypatch, name, data):
    monkeypatch.setenv(VARIABLE, "8M")  # each unpacks to less than that
    path = written(tmp_path / name, data)
    told: list[str] = []
    peak = peak_of(lambda: told.append(refusal(path, lambda place: read(place, units="spin"))))
    assert "more than 8M" in told[0]
    assert peak < (64 if name == "x.csv.gz" else 16)  # a block of text is read before it counts


def test_plain_files_are_read_whatever_the_limit(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, "1K")
    path = written(tmp_path / "x.wcnf", BOMB)
    assert read(path).num_clauses == 200_000
    write(tmp_path / "x.npz", read(path))
    assert read(tmp_path / "x.npz").num_clauses == 200_000


@pytest.mark.parametrize(
    "bad", [[0, 2**62, 2**63 - 1, -(2**62), 3], [0, 3, 1, 2, 3], [0, 1, 2, 3, 4]]
)
def test_row_starts_that_wrap_around_are_refused(tmp_path, bad):
    message = refusal(written(tmp_path / "x.npz", npz(rbm(indptr=array(bad)))))
    assert "a row's start" in message


@pytest.mark.parametrize("bad", [[0, 2**62, 2**63 - 1, -(2**62), 3], [0, 4], [1, 3], []])
def test_loop_starts_that_wrap_around_are_refused(tmp_path, bad):
    assert "a loop's start" in refusal(written(tmp_path / "x.npz", npz(planted(starts=array(bad)))))


@pytest.mark.parametrize(("name", "bad", "words"), [
    ("nodes", array([0, 1, 2**31 - 2], "<i4"), "a node is 2147483646; expected 0 to 3"),
    ("indices", array([0, 1, 3], "<i4"), "a column is 3; expected 0 to 2"),
    ("indices", array([0, 1, 2**64 - 1], "<u8"), "a column is 18446744073709551615"),
    ("indices", array([0.0, 1.0, 2.0], "<f8"), "integers, not float64"),
    ("weights", array([[1, 2, 3]]), "weights has shape (1, 3); expected 1 dimensions"),
    ("weights", array(7), "weights has shape (); expected 1 dimensions"),
    ("weights", npy("|b1", (3,), bytes(3)), "weights has type b1; expected numbers"),
    ("weights", npy("<f8", (3,), struct.pack("<3d", 1, float("nan"), 2)), "must be finite"),
    ("weights", npy([("a", "<i8")], (3,), bytes(24)), "weights is not a plain array"),
    ("weights", npy("<i8", (2**40, 2**40)), "number of bytes"),
])  # fmt: skip
def test_arrays_that_are_not_what_they_should_be(tmp_path, name, bad, words):
    members = planted() if name == "nodes" else rbm()
    assert words in refusal(written(tmp_path / "x.npz", npz(members | {name: bad})))


@pytest.mark.parametrize(("name", "bad", "words"), [
    ("square_nodes", array([0, 1, 4], "<i4"), "a square's node is 4; expected 0 to 3"),
    ("square_nodes", array([0, 1, 1], "<i4"), "square 0 has node 1 twice"),
    ("square_nodes", array([0.0, 1.0, 2.0], "<f8"), "integers, not float64"),
    ("square_starts", array([0, 2**62, 2**63 - 1, -(2**62), 3]), "a square's start"),
    ("square_starts", array([0, 3, 3]), "2 squares need 2 multipliers, not 1"),
    ("square_starts", array([0, 2]), "a square's start"),
    ("coefficients", array([1, 0, 1]), "with the coefficient 0"),
    ("coefficients", array([1, 1]), "3 nodes need 3 coefficients, not 2"),
    ("coefficients", array([1, 2**63, 1], "<u8"), "the limit of 2^63-1"),
    ("coefficients", array([1, -(2**63), 1]), "-2^63"),
    ("coefficients", array([1.5, 1, 1], "<f8"), "must be integers"),
    ("multipliers", array([0]), "multiplier 0 must be above 0"),
    ("multipliers", array([1, 1]), "1 squares need 1 multipliers, not 2"),
    ("header", planted_header(version=2), "has no array or key 'denominator'"),
    ("header", planted_header(version=2, denominator=0), "denominator 0 must be from 1 to"),
    ("header", planted_header(version=2, denominator=True), "denominator True must be from 1 to"),
    ("header", planted_header(version=2, denominator=2.0), "denominator 2.0 must be from 1 to"),
    ("header", planted_header(version=2, denominator=2**31 + 1), "from 1 to 2147483648"),
    ("header", planted_header(version=3, denominator=1), "version must be 3"),
])  # fmt: skip
def test_squares_that_are_not_what_they_should_be(tmp_path, name, bad, words):
    assert words in refusal(written(tmp_path / "x.npz", npz(squared(**{name: bad}))))


def test_squares_as_they_should_be_are_read(tmp_path):
    read_planted(written(tmp_path / "x.npz", npz(squared())))
    for name, bad in (("coefficients", array([1, 1, 3])), ("multipliers", array([2**63 - 1]))):
        path = written(tmp_path / "x.npz", npz(squared(**{name: bad})))
        with pytest.raises(CertificateError, match="not the sum of its 1 square"):
            read_planted(path)


def test_long_multipliers_count_for_the_time_they_take(tmp_path):
    """A square of 3000 spins is fine, one of long numbers would take half a minute."""
    path = written(tmp_path / "x.cert", certificate_of_a_square(3000))
    assert read_certificate(path).num_squares == 1
    path = written(path, certificate_of_a_square(3000, "9" * 4300))
    assert "4498500 pairs of nodes, too many to check" in refusal(path, read_certificate)


def test_arrays_of_the_other_byte_order_are_read(tmp_path):
    path = written(tmp_path / "x.npz", npz(rbm(weights=array([1, 2, 3], ">i8"))))
    problem = read(path)
    assert isinstance(problem, Rbm)
    assert problem.matrix.data.tolist() == [1, 2, 3]
    assert problem.matrix.data.dtype.isnative


def test_members_that_are_not_named_are_not_unpacked(tmp_path):
    path = written(tmp_path / "x.npz", npz(rbm() | {"other": bytes(64 * MIB)}))
    assert peak_of(lambda: read(path)) < 16


def test_an_archive_with_two_members_of_a_name_is_refused(tmp_path):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in rbm().items():
            archive.writestr(f"{name}.npy", data)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("weights.npy", array([9, 9, 9]))
    assert "2 members are called 'weights.npy'" in refusal(
        written(tmp_path / "x.npz", file.getvalue())
    )


def test_a_directory_longer_than_ours_is_refused_unread(tmp_path):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for k in range(6000):
            archive.writestr(str(k), b"")
    assert "directory is longer" in refusal(written(tmp_path / "x.npz", file.getvalue()))


@pytest.mark.parametrize(("pack", "suffix"), [(gzip.compress, ".gz"), (_xz, ".xz")])
def test_joined_parts_are_read_and_tails_are_not(tmp_path, monkeypatch, pack, suffix):
    path = tmp_path / f"x.wcnf{suffix}"
    parts = [b"1 1 0\n", b"", b"2 2", b" 0\n"]
    written(path, b"".join(map(pack, parts)) + bytes(8))
    assert read(path).clauses.tolist() == [[1, 0], [2, 0]]
    for tail in (b"no archive", pack(b"3 3 0\n")[:-3], b"\0\0x"):
        assert "\n" not in refusal(written(path, pack(b"1 1 0\n") + tail))
    monkeypatch.setenv(VARIABLE, "8M")
    message = refusal(written(path, pack(b"1 1 0\n", 1) + pack(b"", 1) * 3000))
    assert "consists of more than" in message
    assert VARIABLE in message


def test_a_dictionary_larger_than_the_limit_is_refused(tmp_path, monkeypatch):
    path = written(tmp_path / "x.wcnf.xz", lzma.compress(b"1 1 0\n", preset=9))
    assert read(path).num_clauses == 1  # 64 MiB, the largest of the xz command
    monkeypatch.setenv(VARIABLE, "8M")
    assert "needs more than 16777216 bytes to unpack" in refusal(path)


def test_a_long_line_of_words_is_refused_before_they_are_kept(tmp_path):
    path = written(tmp_path / "x.wcnf", b"x " * (3 * MIB))
    assert peak_of(lambda: refusal(path)) < 140  # a dictionary of them takes 400
    assert "more than 262144 entries that are not integers" in refusal(path)


def test_a_long_line_of_numbers_is_refused_but_a_long_comment_is_not(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, "12M")
    path = written(tmp_path / "x.wcnf", b"1 1 0\n" + b"1 " * (2 * MIB) + b"0\n")
    assert "line 2: a line of numbers is longer than 3145728 bytes" in refusal(path)
    assert read(written(path, b"1 1 0\nc " + b"1 " * (2 * MIB) + b"\n2 1 0\n")).num_clauses == 2


@pytest.mark.parametrize("text", [
    "p wcnf 1048577 1 9\n3 1 0\n", "1048577 0\n", "p qubo 0 1048577 0 0\n",
])  # fmt: skip
def test_idle_variables_have_a_limit(tmp_path, text):
    kinds = {"p w": ".wcnf", "p q": ".qubo", "104": ".mc"}
    path = written(tmp_path / f"x{kinds[text[:3]]}", text)
    message = refusal(path, read_document)
    assert "1048577 variables but only" in message
    assert VARIABLE in message


def test_only_the_numbers_in_a_list_of_edges_are_nodes(tmp_path):
    """A chip's dead qubits are left out, and the others keep their numbers."""
    graph = read_graph(written(tmp_path / "x.edges", "12 10\n10 999999999\n12 999999999 # c\n"))
    assert graph.labels == (10, 12, 999_999_999)
    assert graph.edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert read_graph(written(tmp_path / "y.edges", "0 1\n1 2\n")).labels is None


def test_a_table_is_no_graph(tmp_path):
    """Edges with commas in a .csv are refused; they would be read as weights of an RBM."""
    for name in ("x.csv", "x.csv.gz", "x.npy"):
        message = refusal(written(tmp_path / name, "1,2\n2,3\n3,1\n"), read_graph)
        assert "is a matrix file, not a graph; pass a .txt file with two node numbers" in message
    message = refusal(written(tmp_path / "x.txt", "1,2\n"), read_graph)
    assert "line 1: an edge must be two non-negative node numbers, separated by a space" in message


def test_a_graph_is_read_as_it_comes(tmp_path):
    path = written(
        tmp_path / "x.edges", b"".join(b"%d %d # e\n" % (k, k + 1) for k in range(600_000))
    )
    assert read_graph(path).edges[-1].tolist() == [599_999, 600_000]
    assert peak_of(lambda: read_graph(path)) < 80  # as a list of pairs it takes more than 130


def test_a_manifest_is_read_as_it_comes(tmp_path):
    entry = {"file": "x.wcnf", "sha256": "0" * 64, "recipe": {"a": 1}, "optimum": 3}
    path = written(tmp_path / "m.jsonl", (json.dumps(entry) + "\n") * 20_000)
    assert peak_of(lambda: sum(1 for _ in read_manifest(path))) < 8  # kept, they take 12
    assert sum(1 for _ in read_manifest(path)) == 20_000


def test_a_recipe_is_what_begins_with_a_brace(tmp_path):
    text = "p wcnf 1 1 9\n3 1 0\nc recipe for disaster\nc recipe 7\nc recipe\n"
    path = written(tmp_path / "x.wcnf", text)
    assert read_document(path).stated.recipe is None
    written(path, text + 'c recipe {"a": 1}\n')
    assert read_document(path).stated.recipe == {"a": 1}
    assert "line 6: recipe '{for disaster' is not valid: a recipe must be a JSON" in refusal(
        written(path, text + "c recipe {for disaster\n")
    )


@pytest.mark.parametrize(("size", "asked", "words"), [
    (20_000, {"graph": "complete:20000", "loops": 5}, "12800641344 bytes to grow"),
    (9, {"graph": "torus:3x3", "loops": 250_000_000}, "bytes to grow"),
    (9, {"graph": "torus:30x30", "loops": 5}, "grows 900 spins, but the file has 9"),
    (9, {"graph": "torus:5 without 1,2", "loops": 5}, "grows 3 spins, but the file has 9"),
    (9, {"graph": [[0, 1]], "loops": 5}, "grows 2 spins, but the file has 9"),
    (9, {"graph": [[0, "1"]], "loops": 5}, "a name such as 'torus:8x8'"),
    (9, {"graph": "torus:3x3"}, "loops=NUMBER and loop_density=RATIO; neither"),
])  # fmt: skip
def test_recipes_far_beyond_their_file_are_not_grown(tmp_path, size, asked, words):
    recipe = {"method": "graph_loops", "parameters": {"frustration": "1/4"} | asked}
    path = written(tmp_path / "x.mc", recipe_text(size, recipe))
    assert words in refusal(path, read_planted)


def test_a_manifest_has_no_more_of_a_recipe_than_a_file(tmp_path):
    write_suite(tmp_path, [random_loops(5, 5, frustration="1/5", loops=3, rng=1)])
    manifest = tmp_path / "manifest.jsonl"
    entry = json.loads(manifest.read_text())
    entry["recipe"]["parameters"]["loops"] = 250_000_000
    written(manifest, json.dumps(entry) + "\n")
    assert "bytes to grow" in refusal(manifest, lambda path: check_suite(path))


def test_a_search_that_takes_too_long_is_given_up(tmp_path):
    parameters = {"n": 1000, "m": 1000, "clause_density": "999"}
    recipe = {"method": "uniform_max2sat", "parameters": parameters}
    message = refusal(written(tmp_path / "x.mc", recipe_text(2000, recipe)), read_planted)
    assert "not found within the allowed number of steps" in message
    assert VARIABLE in message


@pytest.mark.parametrize("offset", ["0.5", "1e3"])
def test_whole_numbers_that_no_float_holds_are_not_changed(tmp_path, offset):
    text = f"# vartype=SPIN\n# offset {offset}\n0 1 9007199254740993\n"
    path = written(tmp_path / "x.coo", text)
    if offset == "1e3":
        assert read(path).weights.tolist() == [-9007199254740993]
    else:
        assert "weight 9007199254740993 is not exact as a float" in refusal(path)
    assert "9007199254740993 is not exact as a float" in refusal(written(path, text + "1 2 0.5\n"))


@pytest.mark.parametrize(("name", "text", "words"), [
    ("x.coo", "# vartype=SPIN\n# offset 1e308\n# planted-cost 1e308\n0 1 .5\n", "above 1.12e+307"),
    ("x.mc", "2 1\n1 2 1.5\n# planted-cut 1e308\n", "beyond the range of floats"),
    ("x.mc", "0 0\n# ancilla 0\n", "must be an integer from 1 to 0"),
])  # fmt: skip
def test_numbers_beyond_floats_are_refused(tmp_path, name, text, words):
    assert words in refusal(written(tmp_path / name, text))


def test_messages_are_one_line_whatever_the_file_says(tmp_path):
    recipe = {"method": "x\ny\u2028\ud800", "parameters": {"n": 5, "m": 5, "loops": 1}}
    message = refusal(written(tmp_path / "x.mc", recipe_text(10, recipe)), read_planted)
    assert message.isprintable()


def test_a_device_is_refused(tmp_path):
    (tmp_path / "y.bqm").symlink_to("/dev/zero")
    assert "is a device" in refusal(tmp_path / "y.bqm")


def test_weights_of_every_type_are_the_same(tmp_path):
    for kind in ("|i1", "<i2", "<i4", "<u8", ">u2", "|u1"):
        path = written(tmp_path / "x.npz", npz(rbm(weights=array([1, 2, 3], kind))))
        assert np.array_equal(read(path).matrix.data, [1, 2, 3])
