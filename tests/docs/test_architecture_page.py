"""The page on the architecture names every file of the library, each in its room."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import glasshouse

ROOT = Path(glasshouse.__file__).parent
PAGE = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text()
BOLD = re.compile(r"\*\*(\w+/?)\*\*")


def sections() -> dict[str, str]:
    """Return the text of each room: the lines below its heading, up to the next heading."""
    rooms = PAGE.split("## The rooms", 1)[1].split("\n## ", 1)[0]
    found = re.split(r"^### (\w+):.*$", rooms, flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


def named(section: str) -> set[str]:
    """The files that a section names, with the folder that their bullet starts with or reaches."""
    names = set()
    for bullet in re.findall(r"^\* .*$", section, flags=re.MULTILINE):
        for piece in bullet.split(" · "):
            folder = ""
            for word in BOLD.findall(piece):
                if word.endswith("/"):
                    folder = word
                names.add(word if word == folder else folder + word)
    return names


def there(folder: Path) -> set[str]:
    """The files of a room and of its folders; a folder of kernels counts as one."""
    names = set()
    for path in folder.iterdir():
        if path.suffix == ".py" and path.stem != "__init__":
            names.add(path.stem)
        elif (path / "__init__.py").exists():
            names.add(f"{path.name}/")
            if path.name != "kernels":
                names |= {f"{path.name}/{name.rstrip('/')}" for name in there(path)}
    return names


SECTIONS = sections()
FLOOR = {"numba_private", "kernels"}
ROOMS = {p.parent.name for p in ROOT.glob("*/__init__.py")} - FLOOR


def test_every_room_has_a_section():
    assert set(SECTIONS) == ROOMS | {"floor"}


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_section_names_the_files_of_its_room(room):
    assert named(SECTIONS[room]) == there(ROOT / room)


def test_the_floor_is_named():
    expected = {name for name in there(ROOT) if name.split("/")[0] not in ROOMS}
    assert named(SECTIONS["floor"]) == expected


def test_the_page_stays_short():
    assert len(PAGE.splitlines()) <= 200
