"""Data from files: written data are read back, and files that are not data are refused."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from glasshouse.boltzmann.data import digits, load_data, read_data, split
from glasshouse.files.text.errors import FileError

ROWS = np.array([[1, 0, 1], [0, 0, 1]])


@pytest.mark.parametrize("low", [0, -1])
@pytest.mark.parametrize("kind", ["int8", "uint8", "int64", "float32", "float64"])
def test_data_come_back_from_every_format(tmp_path, low, kind):
    if low == -1 and kind == "uint8":
        return
    rows = np.where(ROWS == 1, 1, low).astype(kind)
    np.save(tmp_path / "x.npy", rows)
    np.savez(tmp_path / "x.npz", rows)
    np.savez_compressed(tmp_path / "named.npz", X=rows, y=np.arange(2))
    np.savetxt(tmp_path / "x.csv", rows, delimiter=",")
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress((tmp_path / "x.csv").read_bytes()))
    for name in ("x.npy", "x.npz", "named.npz", "x.csv", "x.csv.gz"):
        found = read_data(tmp_path / name)
        assert found.tolist() == ROWS.tolist(), name
        assert found.dtype == np.int8


BAD = {
    "grey.csv": (b"0,1\n0.5,1\n", "threshold it first"),
    "words.csv": (b"a,b\n0,1\n", "line 1"),
    "torn.csv": (b"0,1\n0\n", "line 2"),
    "nan.csv": (b"0,1\nnan,1\n", "line 2"),
    "both.csv": (b"0,1\n-1,1\n", "mixes 0 and -1"),
    "empty.csv": (b"", "no numbers"),
    "x.txt": (b"0 1\n", "end in .csv or .npy or .npz"),
    "x.npz": (b"PK\x03\x04 not really", "not an .npz file of data"),
    "x.npy": (b"\x93NUMPY\x01\x00", "not a plain matrix"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_data_is_refused_in_one_line(tmp_path, name):
    text, message = BAD[name]
    (tmp_path / name).write_bytes(text)
    with pytest.raises(FileError, match=message) as refused:
        read_data(tmp_path / name)
    assert "\n" not in str(refused.value)
    assert name in str(refused.value)


def test_archives_with_several_tables_or_code_are_refused(tmp_path):
    np.savez(tmp_path / "two.npz", a=ROWS, b=ROWS)
    with pytest.raises(FileError, match="has the arrays a, b"):
        read_data(tmp_path / "two.npz")
    np.savez(tmp_path / "code.npz", data=np.array([["a", None]], dtype=object))
    with pytest.raises(FileError, match=r"not an \.npz file of data"):
        read_data(tmp_path / "code.npz")
    np.savez_compressed(tmp_path / "bomb.npz", data=np.zeros((70_000, 1000), np.uint8))
    with pytest.raises(FileError, match="unpacks to more"):
        read_data(tmp_path / "bomb.npz")
    with pytest.raises(FileError, match="no such file"):
        read_data(tmp_path / "none.npz")


def test_names_and_their_options():
    assert load_data("bars").shape == (9, 9)
    assert load_data("bars", width=6, length=2, side=None).sum(axis=1).tolist() == [2] * 6
    with pytest.raises(ValueError, match="side=3 is not an option of bars; use only width, length"):
        load_data("bars", side=3)
    with pytest.raises(ValueError, match="one of bars, stripes, digits nor an existing file"):
        load_data("bras")


def test_digits():
    pytest.importorskip("sklearn")
    rows = digits()
    assert rows.shape == (1797, 64)
    assert set(np.unique(rows)) == {0, 1}
    assert digits(1).mean() > rows.mean() > digits(16).mean()
    with pytest.raises(ValueError, match="threshold=17"):
        digits(17)


def test_split_is_a_partition_that_depends_on_the_seed_alone():
    rows = (np.arange(20)[:, None] >> np.arange(5)) & 1
    learnt, kept = split(rows, 0.3, rng=5)
    assert (len(learnt), len(kept)) == (14, 6)
    joined = {tuple(row) for row in [*learnt.tolist(), *kept.tolist()]}
    assert joined == {tuple(row) for row in rows.tolist()}
    assert split(rows, 0.3, rng=5)[1].tolist() == kept.tolist()
    assert split(rows, 0.3, rng=6)[1].tolist() != kept.tolist()
    with pytest.raises(ValueError, match="leaves no training rows or no held-out rows"):
        split(rows, 0.01)
