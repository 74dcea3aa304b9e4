"""One version: what the module says is what everything else says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import glasshouse as gh

ROOT = Path(__file__).parents[2]


def test_the_build_reads_it_from_the_module():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    source = ROOT / project["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{gh.__version__}"' in source.read_text()


def test_the_citation_agrees():
    text = (ROOT / "CITATION.cff").read_text()
    (stated,) = re.findall(r"^version: (\S+)$", text, re.MULTILINE)
    assert stated == gh.__version__


def test_the_changelog_begins_with_it_or_with_what_is_to_come():
    text = (ROOT / "CHANGELOG.md").read_text()
    newest = re.search(r"^## \[?([\w.]+)", text, re.MULTILINE)
    assert newest is not None
    assert newest[1] in (gh.__version__, "Unreleased")
    assert re.search(rf"^## \[?{re.escape(gh.__version__)}", text, re.MULTILINE)


def test_recipes_state_it():
    planted = gh.random_loops(4, 4, frustration="1/5", loops=1, rng=1)
    assert planted.recipe.version == gh.__version__
