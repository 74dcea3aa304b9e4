"""The pages of the documentation, their code blocks, and what is noted above each of them.

A note is an HTML comment on the lines straight above a block, which no reader sees:

    <!-- file: peak.toml -->       the block is a file that later blocks of the page use
    <!-- output -->                the block is what the shell block before it prints
    <!-- before: touch a.txt -->   done before the lines of a shell block
    <!-- replace: 1000 => 4 -->    what is made smaller in the test
    <!-- ends with: 1 -->          an exit code other than 0 that is meant
    <!-- not run: it installs -->  why a block is not executed

A comment may hold several notes, one per line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")],
    key=lambda page: page.relative_to(ROOT).as_posix(),
)
NOTES = ("file", "output", "before", "replace", "ends with", "not run")
# A fence may be in a list, and so be indented.
_FENCE = re.compile(
    r"(?:^[ ]*<!--(?P<notes>(?:(?!-->).)*)-->[ ]*\n)?"
    r"^(?P<indent>[ ]*)```(?P<kind>[^\n`]*)\n(?P<text>.*?)^(?P=indent)```[ ]*$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    kind: str
    text: str
    notes: dict[str, list[str]] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def file(self) -> str | None:
        return self.notes.get("file", [None])[0]

    @property
    def script(self) -> str:
        """The lines of a shell block as the test runs them."""
        text = self.text
        for change in self.notes.get("replace", ()):
            old, new = change.split(" => ")
            assert old in text, f"{self}: nothing to replace: {old}"
            text = text.replace(old, new)
        return "\n".join([*self.notes.get("before", ()), text])

    @property
    def exit_codes(self) -> set[int]:
        return {0, *map(int, self.notes.get("ends with", ()))}


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text()
    found = []
    for match in _FENCE.finditer(text):
        indent = len(match["indent"])
        lines = [line[indent:] for line in match["text"].splitlines()]
        start = match.start() + (match[0].index("```") if match["notes"] is None else 0)
        number = text.count("\n", 0, start) + 1
        kind = match["kind"].strip()
        found.append(Block(page, number, kind, "\n".join(lines) + "\n", _notes(match["notes"])))
    return found


def _notes(comment: str | None) -> dict[str, list[str]]:
    notes: dict[str, list[str]] = {}
    for line in (comment or "").strip().splitlines():
        name, _, value = line.strip().partition(": ")
        assert name in NOTES, f"{name!r} is not a note; use one of {', '.join(NOTES)}"
        notes.setdefault(name, []).append(value)
    return notes


def without_code(text: str) -> str:
    """A page's words only: no fenced blocks, no `code`."""
    blank = _FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", blank)
