"""The Coq files hold no gaps and stay small, and the page quotes what they prove."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "verified").glob("*.v"))
GAPS = re.compile(r"\b(Admitted|admit|Axioms?|Parameters?|Conjecture|Unset)\b")


def test_no_file_has_a_gap():
    assert FILES
    assert [path.name for path in FILES if GAPS.search(path.read_text())] == []


def test_the_proof_stays_small():
    assert sum(len(path.read_text().splitlines()) for path in FILES) <= 3000
    statement = (ROOT / "verified" / "Statement.v").read_text().splitlines()
    assert len(statement) <= 110  # two pages


@pytest.mark.parametrize("file", ["Correctness.v", "Statement.v"])
def test_the_page_quotes_the_theorem(file):
    page = (ROOT / "docs" / "trust.md").read_text()
    (quoted,) = re.findall(rf"verified/{file} -->\n```coq\n(.*?)```", page, re.S)
    assert quoted in (ROOT / "verified" / file).read_text()


def test_the_build_lists_the_assumptions_that_the_page_shows(verified):
    log = Path(verified).with_name("Correctness.log")
    if not log.exists():
        pytest.skip("the verified checker was installed without the log of its build")
    assert log.read_text() == "Closed under the global context\n"
    assert log.read_text() in (ROOT / "docs" / "trust.md").read_text()
