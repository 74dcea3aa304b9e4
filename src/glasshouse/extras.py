"""Lazy imports of optional packages, with installation instructions for missing packages."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

# The argument of `pip install` for each package, by the name that Python imports.
REMEDIES = {
    "benchexec": '"glasshouse[meter]"',
    "dimod": '"glasshouse[solvers]"',
    "distributed": '"glasshouse[distributed]"',
    "dwave.graphs": '"glasshouse[graphs]"',
    "dwave_networkx": "dwave-networkx",  # if dwave-graphs is missing
    "dwave.samplers": '"glasshouse[solvers]"',
    "matplotlib": '"glasshouse[figures]"',
    "openjij": "openjij",
    "ortools": "ortools",
    "pandas": "pandas",
    "polars": '"glasshouse[tables]"',
    "pyscipopt": "pyscipopt",
    "pysat": '"glasshouse[solvers]"',
    "pytoulbar2": "pytoulbar2",
    "sklearn": '"glasshouse[learning]"',
    "vl_convert": '"glasshouse[report]"',
}


class MissingPackageError(ImportError):
    """Raised with installation instructions if an optional package cannot be imported.

    >>> try:
    ...     optional("pysat.a_module_that_nobody_has", "this example")
    ... except MissingPackageError as error:
    ...     print(error)
    this example needs pysat, which is not installed; run pip install "glasshouse[solvers]"

    Attributes:
        names_arguments: whether the message names arguments, which a command shows as options.
    """

    names_arguments = True


def optional(module: str, purpose: str) -> Any:
    """Import a module of an optional package, or raise a `MissingPackageError`.

    Args:
        module: the full name of the module, such as "pysat.formula".
        purpose: what needs the module, for the message.

    Raises:
        MissingPackageError: the module cannot be imported.
    """
    package = next(name for name in REMEDIES if f"{module}.".startswith(f"{name}."))
    try:
        return import_module(module)
    except ImportError as error:
        is_there = not isinstance(error, ModuleNotFoundError)
        state = f"cannot be imported ({error})" if is_there else "is not installed"
        raise MissingPackageError(
            f"{purpose} needs {package}, which {state}; run pip install {REMEDIES[package]}",
            name=package,
        ) from error


def extras_by_presence() -> tuple[list[str], list[str]]:
    """Return the names of glasshouse's extras in two lists: the installed, and the missing extras.

    >>> there, missing = extras_by_presence()
    >>> sorted(there + missing)
    ['distributed', 'figures', 'graphs', 'learning', 'meter', 'report', 'solvers', 'tables']
    """
    packages: dict[str, list[str]] = {}
    for package, remedy in REMEDIES.items():
        if remedy.startswith('"'):
            extra = remedy.removeprefix('"glasshouse[').removesuffix(']"')
            packages.setdefault(extra, []).append(package)
    there = [extra for extra, needed in packages.items() if all(map(is_there, needed))]
    return sorted(there), sorted(set(packages) - set(there))


def is_there(package: str) -> bool:
    """Return whether a package is installed, without importing the package.

    >>> is_there("numpy"), is_there("nobody.has.this")
    (True, False)
    """
    try:
        return find_spec(package) is not None
    except (ValueError, ModuleNotFoundError):  # the package has no spec, or its parent is missing
        return False
