"""Private names of Numba are used in one package only, each with a fallback of equal bits."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import numba
import pytest
from tests.warm import Warm

import glasshouse
from glasshouse.numba_private import self_test

ROOT = Path(__file__).parents[1]
PACKAGE = Path(glasshouse.__file__).parent
PRIVATE = PACKAGE / "numba_private"
# What Numba documents for extensions.
PUBLIC = {
    "numba", "numba.extending", "numba.core:cgutils", "numba.core.errors:RequireLiteralValue",
    "numba.core.errors:TypingError",
}  # fmt: skip


def imported(path: Path) -> set[str]:
    """Return the names of Numba that a module imports, in the form module:name."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "numba":
            found |= {f"{node.module}:{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.split(".")[0] == "numba"}
    return found


NAMES = sorted({name.split(":")[1] for path in PRIVATE.glob("*.py") for name in imported(path)
                if ":" in name})  # fmt: skip


def test_private_names_are_imported_in_one_package_only():
    for path in PACKAGE.rglob("*.py"):
        if path.parent != PRIVATE:
            names = {x for x in imported(path) if x.split(":")[0] not in PUBLIC} - PUBLIC
            assert names == set(), path


def run(warm: Warm, size: str, *hidden: str) -> tuple[object, list[str], str]:
    out, err = warm(
        f"import runpy, sys\nsys.argv[1:] = {[size, *hidden]}\n"
        "runpy.run_module('tests.hidden_names', run_name='__main__')",
        ROOT,
    )
    said = json.loads(out)
    return said["results"], said["offered"], err


normal = cache(run)


@pytest.mark.parametrize("name", NAMES)
def test_without_a_private_name_the_bits_are_the_same(warm, name):
    results, offered, said = run(warm, "small", name)
    assert results == normal(warm, "small")[0]
    assert offered != normal(warm, "small")[1]  # a private name is missing
    assert name in said  # and that is reported
    assert f"Numba {numba.__version__} has changed" in said


def test_without_any_private_name_the_bits_are_the_same(warm):
    results, offered, _ = run(warm, "small", *NAMES)
    assert results == normal(warm, "small")[0]
    assert offered == []


def test_a_self_test_that_fails_leads_to_the_same_bits(warm):
    results, _, said = run(warm, "small", "self-test")
    assert results == normal(warm, "small")[0]
    assert "does not support glasshouse's compiler" in said


@pytest.mark.slow
@pytest.mark.parametrize("hidden", [NAMES, ["self-test"], ["JITCodeLibrary"], ["_empty_nd_impl"]])
def test_the_library_gives_the_same_bits_without_private_names(warm, hidden):
    assert run(warm, "full", *hidden)[0] == normal(warm, "full")[0]


def test_the_self_test_passes_here():
    assert self_test.passes()


@pytest.mark.parametrize("missing", ["_cache_file", "_impl"])
def test_a_cache_of_unknown_form_is_not_used(missing, monkeypatch, tmp_path):
    """Stale machine code must never run, so nothing is cached without a version of glasshouse."""
    script = f"""
from numba.core import caching
from glasshouse.numba_private import caches
class Other(caching.FunctionCache):
    def __getattribute__(self, name):
        if name == {missing!r}:
            raise AttributeError(name)
        return super().__getattribute__(name)
    def __setattr__(self, name, value):
        if name != {missing!r}:
            super().__setattr__(name, value)
    def __init__(self, function):
        self._cache_path = {str(tmp_path)!r}
caches.FunctionCache = Other
from glasshouse.compiled import compiled
@compiled
def twice(x):
    return 2 * x
print(twice(21), twice.stats.cache_path)
"""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    said = subprocess.check_output([sys.executable, "-c", script], text=True, env=environment)
    assert said == "42 None\n"
    assert list(tmp_path.rglob("*.nb?")) == []


def test_the_installed_numba_is_one_that_the_limit_allows():
    """A newer Numba must be tried before it is allowed.

    If this fails: run all tests with the new version, and the slow ones of this file, then raise
    the upper limit of numba in pyproject.toml.
    """
    (limit,) = (
        text for text in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
            "dependencies"] if text.startswith("numba")
    )  # fmt: skip
    lowest, highest = (
        tuple(map(int, re.search(sign + r"(\d+)\.(\d+)", limit).groups())) for sign in (">=", "<")
    )
    installed = tuple(map(int, numba.__version__.split(".")[:2]))
    assert lowest <= installed < highest, f"{limit}, but {numba.__version__} is installed"
    assert highest == (installed[0], installed[1] + 1), (
        f"{limit} was last tried with an older Numba than {numba.__version__}; "
        "run `make test test-slow` with the newest one and name the next release as the limit"
    )
