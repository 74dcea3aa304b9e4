"""The site is built without a warning, and has all public names and commands."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.docs.pages import ROOT
from tests.docs.test_command_line import COMMANDS

import glasshouse

pytest.importorskip("sphinx")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, and with `-W` no warning on the way."""
    folder = tmp_path_factory.mktemp("site")
    words = ["-m", "sphinx", "-E", "-W", "--keep-going", "-q", "-c", "docs", ".", str(folder)]
    run = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return folder


def test_every_public_name_is_in_the_reference(site):
    pages = [page.read_text() for page in (site / "docs" / "reference").glob("*.html")]
    text = "".join(pages)
    names = [name for name in dir(glasshouse) if name != "__version__"]
    assert [name for name in names if f'id="glasshouse.{name}"' not in text] == []


def test_every_command_is_in_the_reference(site):
    text = (site / "docs" / "reference" / "cli.html").read_text()
    assert [words for words in COMMANDS if f'id="glasshouse-{"-".join(words)}"' not in text] == []


def test_the_first_page_leads_to_the_documentation(site):
    assert "docs/index.html" in (site / "index.html").read_text()
    assert (site / "docs" / "index.html").is_file()
