"""The package of the certified library, made from a small run that the test makes itself."""

from __future__ import annotations

import hashlib
import lzma

import pytest
from benchmarks.library_page import better_by, page_text

from benchmarks import library_package


def a_row(name, content=b"a certificate", **changed):
    return {
        "name": name, "family": "gset", "variables": "8", "edges": "16", "vertices": "8",
        "sense": "largest cut", "value": "12", "bound": "12", "proven": "yes", "seconds": "0.5",
        "nodes": "0", "limit": "60.0", "version": "0.1.0", "date": "2026-11-18",
        "fingerprint": "f" * 64, "factor": "-1/2", "shift": "3",
        "certificate": hashlib.sha256(content).hexdigest(), "bytes": str(len(content)),
        "table_1": "", "table_2": "", "file": "",
    } | changed  # fmt: skip


def laid_out(folder, contents):
    (folder / "gset").mkdir(parents=True)
    for name, content in contents.items():
        (folder / "gset" / f"{name}.cert").write_bytes(content)


def test_the_smallest_certificates_are_kept_and_proven_ones_come_first(tmp_path):
    contents = {"A": b"a" * 10, "B": b"b" * 20, "C": b"c" * 5, "D": bytes(range(256)) * 40}
    laid_out(tmp_path / "run", contents)
    rows = [a_row(name, content) for name, content in contents.items()]
    rows[2] |= {"proven": "no", "bound": "13"}
    limit = sum(len(lzma.compress(contents[k], preset=9)) for k in "AB") / 1e6
    library_package.keep_certificates(rows, tmp_path / "run", tmp_path / "out", limit)
    assert [row["file"] for row in rows] == [
        "certificates/gset/A.cert.xz", "certificates/gset/B.cert.xz", "", ""
    ]  # fmt: skip
    assert lzma.decompress((tmp_path / "out" / rows[0]["file"]).read_bytes()) == contents["A"]


def test_a_certificate_of_another_row_is_left_out(tmp_path, capsys):
    laid_out(tmp_path / "run", {"A": b"the search continues"})
    rows = [a_row("A")]
    library_package.keep_certificates(rows, tmp_path / "run", tmp_path / "out", 1)
    assert rows[0]["file"] == ""
    assert "left out" in capsys.readouterr().out


def test_what_is_kept_stays_without_the_run_and_goes_when_it_is_old(tmp_path):
    laid_out(tmp_path / "run", {"A": b"first"})
    rows = [a_row("A", b"first")]
    library_package.keep_certificates(rows, tmp_path / "run", tmp_path / "out", 1)
    kept = tmp_path / "out" / rows[0]["file"]
    library_package.keep_certificates(rows, tmp_path / "nowhere", tmp_path / "out", 1)
    assert kept.exists()
    rows = [a_row("A", b"second")]
    library_package.keep_certificates(rows, tmp_path / "nowhere", tmp_path / "out", 1)
    assert rows[0]["file"] == ""
    assert not kept.exists()


@pytest.mark.parametrize(
    ("changed", "by"),
    [
        ({}, None),
        ({"table_1": "10", "table_2": "11"}, 1),
        ({"table_1": "12"}, 0),
        ({"table_2": "14"}, -2),
        ({"sense": "least objective", "value": "-5", "table_1": "-4"}, 1),
    ],
)
def test_better_by_is_positive_where_all_tables_are_worse(changed, by):
    assert better_by(a_row("A", **changed)) == by


def test_the_page_names_what_is_open_and_what_differs():
    rows = [
        a_row("A", table_1="10"),
        a_row("B", bound="13", proven="no", limit="600.0", table_1="14", family="biqmac:gka"),
    ]
    page = page_text(rows, "a computer")
    assert "lists 2 standard instances of Max-Cut and QUBO. For 1 of them, the optimum" in page
    assert "| 60 s | 1 | 1 |\n| 600 s | 1 | 0 |" in page
    assert "It is positive for A. It is negative for B: a table has a better value." in page
    assert "The bound here refutes the value of a table for B." in page
    assert "| B | biqmac:gka | 8 | 16 | 12 | 13 | 8.33% | no | 0.5 | 600 | 0 |" in page
