"""The table of verdicts in docs/races.md lists all verdicts, and says which are faults."""

from __future__ import annotations

import re
from pathlib import Path

from glasshouse.races.judging.clauses import RunVerdict

PAGE = Path(__file__).parents[2] / "docs" / "races.md"


def test_the_table_of_verdicts_is_complete():
    section = PAGE.read_text().split("\n## Verdicts\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([^|]+) \| (yes|no) \| ", section, re.MULTILINE)
    assert rows == [(one.value, "yes" if one.is_fault else "no") for one in RunVerdict]
