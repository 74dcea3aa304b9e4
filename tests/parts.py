"""The imports between parts of packages and between packages, read from the source.

A part is a module or a subpackage directly below a package of the library. `python -m tests.parts`
prints the two tables of `tests/test_parts.py` for the current code.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from pprint import pprint

import glasshouse

ROOT = Path(glasshouse.__file__).parent
# Every package may use these, including their modules.
FLOOR = ("kernels", "numba_private")
ROOMS = sorted(
    path.parent.name for path in ROOT.glob("*/__init__.py") if path.parent.name not in FLOOR
)

# The `__init__` of the command line is the whole application, which completion, the demonstration
# and messages about options use, so imports of this `__init__` do not count.
APPLICATION = "cli"


@cache
def imported(path: Path) -> set[str]:
    """Return the modules of glasshouse that a module imports when it runs, without the prefix."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            node.body = []
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                longer = f"{node.module}.{alias.name}"
                found.add(longer if is_module(longer) else node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name.partition(".")[2] for name in found if name.startswith("glasshouse.")}


def is_module(name: str) -> bool:
    """Return whether a dotted name is a module or a package of the library."""
    place = ROOT.parent.joinpath(*name.split("."))
    return place.with_suffix(".py").exists() or (place / "__init__.py").exists()


@cache
def parts_of(room: str) -> dict[str, set[str]]:
    """Return the parts of a package, each with the other parts that it imports.

    The package itself, its `__init__`, is a part if another part imports it.
    """
    needs: dict[str, set[str]] = {}
    for path in sorted((ROOT / room).rglob("*.py")):
        part = path.relative_to(ROOT / room).parts[0].removesuffix(".py")
        names = [name.split(".") for name in imported(path)]
        others = {(*name, "__init__")[1] for name in names if name[0] == room}
        needs.setdefault(part, set()).update(others - {part})
    if room == APPLICATION or not any("__init__" in others for others in needs.values()):
        del needs["__init__"]
        needs = {part: others - {"__init__"} for part, others in needs.items()}
    return needs


def order_of(room: str) -> list[str] | None:
    """Return the parts of a package in an order in which each part imports only earlier parts.

    None if there are circular imports.
    """
    left, order = dict(parts_of(room)), []
    while left:
        free = sorted(part for part, needed in left.items() if not needed & set(left))
        if not free:
            return None
        order += free
        for part in free:
            del left[part]
    return order


@cache
def entrances() -> list[tuple[Path, str]]:
    """Return the modules that import from inside other packages, and what they import."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        own = path.relative_to(ROOT).parts[0]
        for name in imported(path):
            room, _, inner = name.partition(".")
            if room in ROOMS and room != own and inner:
                found.append((path, name))
    return found


def second_doors() -> list[str]:
    """Return the modules that other packages import, apart from the packages themselves."""
    return sorted({name for _, name in entrances()})


if __name__ == "__main__":
    orders = {room: order_of(room) for room in ROOMS}
    pprint({room: " ".join(order) for room, order in orders.items() if order}, width=98)
    print("in circles:", [room for room, order in orders.items() if not order])
    pprint(second_doors(), width=98)
    print(len(second_doors()))
