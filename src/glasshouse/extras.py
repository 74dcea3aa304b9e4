"""Packages that not everybody has: imported when they are needed, through this one door."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# What pip is to install, by the name that Python imports.
REMEDIES = {
    "benchexec": '"glasshouse[meter]"',
    "dimod": '"glasshouse[solvers]"',
    "distributed": '"glasshouse[distributed]"',
    "dwave": '"glasshouse[solvers]"',
    "dwave_networkx": '"glasshouse[graphs]"',
    "matplotlib": '"glasshouse[figures]"',
    "openjij": "openjij",
    "ortools": "ortools",
    "polars": '"glasshouse[tables]"',
    "pyscipopt": "pyscipopt",
    "pysat": '"glasshouse[solvers]"',
    "pytoulbar2": "pytoulbar2",
    "sklearn": '"glasshouse[learning]"',
    "vl_convert": '"glasshouse[report]"',
}


class MissingPackageError(ImportError):
    """An optional package is not there; the message says what for and how to install it.

    >>> try:
    ...     optional("pysat.a_module_that_nobody_has", "this example")
    ... except MissingPackageError as error:
    ...     print(error)
    this example needs pysat, which is not installed; pip install "glasshouse[solvers]"
    """


def optional(module: str, purpose: str) -> Any:
    """A module of an optional package.

    Args:
        module: its full name, such as "pysat.formula".
        purpose: what needs it, for the message.

    Raises:
        MissingPackageError: if it cannot be imported.
    """
    package = module.split(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        is_there = not isinstance(error, ModuleNotFoundError)
        state = f"cannot be imported ({error})" if is_there else "is not installed"
        raise MissingPackageError(
            f"{purpose} needs {package}, which {state}; pip install {REMEDIES[package]}",
            name=package,
        ) from error
