"""The certified library in docs/library: hashes everywhere, proofs where the instances are at hand.

The instances are third-party data and not in the repository. With GLASSHOUSE_INSTANCES, the name of
a folder with their files, the certificates are checked against them.
"""

from __future__ import annotations

import csv
import hashlib
import lzma
import os
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.library_package import MOST_MEGABYTES
from benchmarks.library_page import page_text

from glasshouse.certificates import checker
from glasshouse.files import FileError, read_document
from glasshouse.library import recognise
from glasshouse.library.table import table_text

FOLDER = Path(__file__).parents[2] / "docs" / "library"
RENEW = "`python -m benchmarks library_page` writes it again"
with (FOLDER / "instances.csv").open(newline="") as _file:
    ROWS = list(csv.DictReader(_file))
KEPT = sorted((row for row in ROWS if row["file"]), key=lambda row: int(row["bytes"]))
SAMPLE = KEPT[:: max(1, len(KEPT) // 12)]
DIFFERING = [
    row for row in ROWS if any(row[k] not in ("", row["value"]) for k in ("table_1", "table_2"))
]


@pytest.fixture(scope="module")
def files():
    """The files of the standard instances at hand, by name of the instance."""
    folder = os.environ.get("GLASSHOUSE_INSTANCES")
    if not folder:
        pytest.skip("GLASSHOUSE_INSTANCES does not name a folder with the standard instances")
    found = {}
    for path in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
        try:
            known = recognise(read_document(path).problem)
        except FileError:
            continue
        if known is not None:
            found[known.instance.name] = path
    return found


def of(row, files):
    """The file of a row, unpacked already: the checker reads plain files."""
    if row["name"] not in files:
        pytest.skip(f"{row['name']} is not at hand")
    return files[row["name"]]


def certificate_of(row):
    return lzma.decompress((FOLDER / row["file"]).read_bytes())


def test_the_page_and_the_checker_are_of_today():
    page = (FOLDER / "README.md").read_text()
    computer = page.split("Computer: ")[1].split(";")[0]
    assert page == page_text(ROWS, computer), RENEW
    assert (FOLDER / "checker.py").read_bytes() == Path(checker.__file__).read_bytes(), RENEW


def test_the_table_is_the_one_in_the_wheel():
    wheel = list(csv.DictReader(table_text().splitlines()))
    assert [{name: row[name] for name in wheel[0]} for row in ROWS] == wheel, RENEW


def test_the_certificates_are_those_of_the_table():
    for row in KEPT:
        content = certificate_of(row)
        assert (len(content), hashlib.sha256(content).hexdigest()) == (
            int(row["bytes"]), row["certificate"]
        ), row["name"]  # fmt: skip
    listed = {FOLDER / row["file"] for row in KEPT}
    assert set((FOLDER / "certificates").rglob("*.*")) == listed
    assert sum(path.stat().st_size for path in listed) <= MOST_MEGABYTES * 1e6


def test_a_row_is_proven_if_its_bound_is_its_value():
    for row in ROWS:
        assert (row["proven"] == "yes") == (row["value"] == row["bound"]), row["name"]


def checked(row, path, folder):
    certificate = folder / "certificate"
    certificate.write_bytes(certificate_of(row))
    command = [sys.executable, "-I", FOLDER / "checker.py", path, certificate]
    answer = subprocess.run(command, capture_output=True, text=True)
    if row["proven"] == "yes":
        assert (answer.returncode, answer.stdout) == (0, f"VERIFIED optimum {row['value']}\n")
    else:
        assert answer.returncode == 2, answer.stderr
        assert f"bound: {row['bound']}" in answer.stdout
        assert answer.stdout.split()[-1] == row["value"]


@pytest.mark.parametrize("row", SAMPLE, ids=lambda row: row["name"])
def test_the_checker_accepts_a_sample(row, files, tmp_path):
    checked(row, of(row, files), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("row", KEPT, ids=lambda row: row["name"])
def test_the_checker_accepts_all(row, files, tmp_path):
    checked(row, of(row, files), tmp_path)


@pytest.mark.parametrize("row", DIFFERING, ids=lambda row: row["name"])
def test_a_value_that_differs_from_a_public_table_is_evaluated_again(row, files):
    """Compute values by a few lines that share no code with glasshouse."""
    path = of(row, files)
    if not row["file"]:
        pytest.skip(f"the certificate of {row['name']}, which has the state, is not in the package")
    lines = certificate_of(row).decode().splitlines()
    state = next(line.split()[1] for line in lines if line.startswith("state "))
    terms = [line.split() for line in path.read_text().splitlines()[1:] if line.strip()]
    if row["sense"] == "largest cut":
        value = sum(int(w) for a, b, w in terms if state[int(a) - 1] != state[int(b) - 1])
    else:
        ones = {k for k, bit in enumerate(state, 1) if bit == "1"}
        value = sum((1 if a == b else 2) * int(w) for a, b, w in terms if {int(a), int(b)} <= ones)
    assert str(value) == row["value"]
