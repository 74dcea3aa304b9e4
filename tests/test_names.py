"""All public names exist, are documented, are in the stub, and are not loaded too early."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import glasshouse
from glasshouse.planting import METHODS, methods

HEAVY = {"numpy", "scipy", "numba", "networkx", "highspy", "matplotlib", "dimod", "pysat", "dask"}


def loaded_modules(code: str) -> set[str]:
    script = f"{code}\nimport sys; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in result.stdout.split()}


@pytest.mark.parametrize("name", [n for n in glasshouse.__all__ if n != "__version__"])
def test_every_public_name_is_there_and_documented(name):
    thing = getattr(glasshouse, name)
    assert inspect.getdoc(thing)


def test_the_stub_names_the_same():
    tree = ast.parse(Path(glasshouse.__file__).with_suffix(".pyi").read_text())
    stub = {
        alias.asname: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    homes = {name: f"glasshouse.{home}" for name, home in glasshouse._HOME_OF.items()}
    homes |= {"__version__": "glasshouse.version", None: "glasshouse.planting.methods"}
    assert stub == homes


def test_every_planting_method_is_a_public_name():
    assert set(METHODS) <= set(vars(methods))
    for name, method in METHODS.items():
        assert getattr(glasshouse, name) is method.function
        assert name in glasshouse.__all__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        glasshouse.nonsense  # noqa: B018


def test_importing_the_package_loads_nothing_heavy():
    assert not loaded_modules("import glasshouse") & HEAVY


def test_help_loads_nothing_heavy():
    code = "from glasshouse.cli import main\nmain(['--help'])"
    assert not loaded_modules(code) & HEAVY


def test_cached_kernels_are_loaded_without_scipy():
    """SciPy takes longer to import than the rest of these calls together."""
    code = (
        "import sys, glasshouse as gh\n"
        "print(gh.random_loops(9, 9, frustration='1/5', loops=5, rng=1).summary())\n"
        "gh.graph_loops('torus:5x5', frustration='1/4', length=4, loops=5, rng=1)\n"
        "many = gh.random_loops_ensemble(9, 9, 3, frustration='1/5', loops=5, rng=1)\n"
        "gh.sweeps_to_solution(many, rng=1)\n"
        "gh.statistics.intervals.binomial_interval(9, 9)\n"
        "print({'scipy.linalg', 'scipy.special'} & set(sys.modules))"
    )
    call = [sys.executable, "-c", code]
    said = [subprocess.check_output(call, text=True) for _ in range(2)]  # the first may compile
    assert said[1].endswith("\nset()\n")
