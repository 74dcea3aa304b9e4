"""The numbers of files and lines of the library may only fall."""

from __future__ import annotations

from pathlib import Path

import glasshouse

ROOT = Path(glasshouse.__file__).parent

# Lower these numbers with every commit that removes files or lines. They rise only in a commit
# whose message gives the reason.
MOST_FILES = 520
MOST_LINES = 86_717
LONGEST = 400  # lines of one module


def lines_of_modules() -> dict[str, int]:
    return {
        path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines())
        for path in ROOT.rglob("*.py")
    }


def test_the_library_has_no_more_files_and_lines_than_before():
    lines = lines_of_modules()
    assert len(lines) <= MOST_FILES
    assert sum(lines.values()) <= MOST_LINES


def test_no_module_is_longer_than_one_reader_can_keep_in_mind():
    lines = lines_of_modules()
    lines.pop("certificates/checker.py")  # one file on purpose; its own test limits it
    assert not {name: size for name, size in lines.items() if size > LONGEST}
