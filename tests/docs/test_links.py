"""Every link leads to an existing file and heading. Offline."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.docs.pages import PAGES, ROOT, without_code

LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\((?P<target>[^()\s]+(?:\([^()]*\))?)[^)]*\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


def anchors_of(page: Path) -> set[str]:
    """The names that GitHub and MyST give to the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    found: set[str] = set()
    for heading in HEADING.findall(text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        name = re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-")
        found.add(name if name not in found else f"{name}-1")
    return found


def links_of(page: Path) -> list[str]:
    return [match["target"] for match in LINK.finditer(without_code(page.read_text()))]


def where(page: Path, link: str) -> str | None:
    """Return the fault of a link, or an empty text."""
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists():
        return f"{link}: there is no {path}"
    if not target.is_relative_to(ROOT):
        return f"{link} leaves the repository"
    if anchor and (target.suffix != ".md" or anchor not in anchors_of(target)):
        return f"{link}: there is no heading #{anchor}"
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_link_is_dead(page):
    inside = [link for link in links_of(page) if not re.match(r"[a-z]+:", link)]
    assert not [fault for link in inside if (fault := where(page, link))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_to_other_places_are_encrypted(page):
    outside = [link for link in links_of(page) if re.match(r"[a-z]+:", link)]
    assert not [link for link in outside if not link.startswith(("https://", "mailto:"))]


def test_a_dead_link_is_seen(tmp_path):
    page = ROOT / "docs" / "problems.md"
    assert where(page, "files.md") is None
    assert where(page, "files.md#pipes") is None
    assert "no heading" in where(page, "files.md#nonsense")
    assert "there is no nonsense.md" in where(page, "nonsense.md")
    assert "leaves" in where(page, "../../../")
