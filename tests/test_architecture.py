"""Imports point one way: each room uses only the rooms before it."""

from __future__ import annotations

import ast
from itertools import groupby
from pathlib import Path

import pytest

import glasshouse

ROOT = Path(glasshouse.__file__).parent
ORDER = [
    "problems",
    "landscape",
    "certificates",
    "planting",
    "files",
    "library",
    "statistics",
    "solvers",
    "proofs",
    "suites",
    "questions",
    "store",
    "charts",
    "studies",
    "boltzmann",
    "races",
    "fuzzing",
    "reports",
    "precompiled",
    "cli",
]
# Every room uses these.
GROUND = {
    "catalogue",
    "compiled",
    "extras",
    "kernels",
    "numba_private",
    "pool",
    "randomness",
    "stopping",
    "summaries",
    "version",
    "waiting",
}
BESIDE = {("boltzmann", "races"), ("races", "boltzmann")}  # packages that do not use each other
MODULES = sorted(ROOT.rglob("*.py"))


def room_of(path: Path) -> str:
    """Return the package of a module, or the name of a module that is in no package."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


# One test for each package: a thousand tests, one for each module, would take longer to run.
ROOMS = {room: list(paths) for room, paths in groupby(MODULES, room_of)}


def imported_rooms(path: Path) -> set[str]:
    """Return the packages of glasshouse that a module imports, anywhere in its code."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} uses a relative import"
            names = [node.module or ""]
            if node.module == "glasshouse":
                names = [f"glasshouse.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        rooms |= {name.split(".")[1] for name in names if name.startswith("glasshouse.")}
    return rooms


@pytest.mark.parametrize("room", sorted(ROOMS.keys() - {"__init__", "__main__"}))
def test_a_module_imports_only_from_earlier_rooms(room):
    assert room in GROUND or room in ORDER, f"{room} is not a room of the house"
    for path in ROOMS[room]:
        rooms = imported_rooms(path) - GROUND
        assert not (room in GROUND and rooms), f"{path} is ground, but imports {rooms}"
        for other in rooms:
            assert other in ORDER, f"{path} imports {other}, which is not a room of the house"
            assert ORDER.index(other) <= ORDER.index(room), f"{path} imports {other} from above"
            assert (room, other) not in BESIDE, f"{path} imports {other}, which is beside it"


def imported_names(path: Path) -> set[str]:
    """Return the modules that a module imports, anywhere in its code."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def test_compiled_code_imports_nothing_of_ours_but_the_decorator():
    compiled = [p for p in MODULES if p.stem.endswith("kernels") or p.parent.name == "kernels"]
    assert len(compiled) > 70
    for path in compiled:
        for name in imported_names(path):
            if name == "glasshouse" or name.startswith("glasshouse."):
                beside = name.startswith(f"glasshouse.{room_of(path)}.") and "kernels" in name
                ground = name in (
                    "glasshouse.compiled", "glasshouse.catalogue", "glasshouse.numba_private"
                )  # fmt: skip
                ground = ground or name.startswith("glasshouse.kernels.")
                assert ground or beside, f"{path} imports {name}"


def test_kernels_return_no_named_tuples():
    """Making a named tuple runs Python code; Ctrl-C then crashes the process in Numba's code."""
    kernels = 0
    for path in MODULES:
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef):
                continue
            if not any(ast.unparse(d).startswith("compiled") for d in function.decorator_list):
                continue
            kernels += 1
            returns = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
            calls = [call for value in returns if value for call in ast.walk(value)]
            named = [call for call in calls if isinstance(call, ast.Call)]
            classes = [name for call in named if (name := ast.unparse(call.func))[0].isupper()]
            assert not classes, f"{path}: {function.name} returns {classes}"
    assert kernels > 100


def imported_modules(path: Path) -> set[Path]:
    """Return the modules of glasshouse that a module imports when it runs, anywhere in its code."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            node.body = []
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    files = {ROOT.parent.joinpath(*name.split(".")).with_suffix(".py") for name in names}
    return files & set(MODULES)


def test_no_module_needs_itself():
    """No module may import itself, directly or indirectly; packages only collect names."""
    left = {path: imported_modules(path) for path in MODULES if path.name != "__init__.py"}
    while free := [path for path, needed in left.items() if not needed & set(left)]:
        for path in free:
            del left[path]
    assert not left, sorted(str(path.relative_to(ROOT)) for path in left)


def test_no_module_is_imported_behind_the_back_of_this_test():
    # The map of the library, third-party packages, and a user's MODULE:CLASS or module:function.
    allowed = {
        ROOT / "__init__.py",
        ROOT / "extras.py",
        ROOT / "races" / "samplers" / "entering.py",
        ROOT / "studies" / "ensembles.py",
    }
    assert not {path for path in MODULES if "import_module" in path.read_text()} - allowed


def test_the_map_stays_short():
    assert len((ROOT / "__init__.py").read_text().splitlines()) < 80
