"""Ensembles of problems that are not planted: lattices, random graphs, files, user functions.

    [[family]]
    method = "lattice"
    parameters = { geometry = "cubic", couplings = "bimodal" }
    grid = { L = [4, 6] }

A family's `method` is a planting method, one of `ENSEMBLES`, or `module:function`, a function of
the user.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from glasshouse.catalogue import Catalogue
from glasshouse.files import read
from glasshouse.planting import METHODS, Planted, Seed
from glasshouse.problems import Problem, given_problem
from glasshouse.studies.glasses import complete, lattice, random_graph
from glasshouse.suites.family import exact_parameters, exact_value
from glasshouse.suites.grammar import is_own

ENSEMBLES = Catalogue["Ensemble"]("ensemble")
_LARGEST_FILE = 1 << 28
_CERTIFICATE = ".cert"


@dataclass(frozen=True)
class Ensemble:
    """A family of problems that differ only in their seeds.

    Attributes:
        name: the `method` of a family.
        draw: draws a problem from the parameters and `seed`; errors are ValueErrors.
        size: the parameter that is the size in figures and fits.
    """

    name: str
    draw: Callable[..., Problem]
    size: str

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The parameters of the family."""
        known = inspect.signature(self.draw).parameters
        return {name: known[name] for name in known if name != "seed"}

    def completed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters unchanged."""
        return dict(given)


def own_function(name: str) -> Callable[..., Any]:
    """Import a user's function, which is named as `module:function`.

    >>> own_function("math:sqrt")(4)
    2.0

    Raises:
        ValueError: there is no such module or function, or its import fails.
    """
    module, _, attribute = name.partition(":")
    try:
        found = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:  # a module can raise anything when it is imported
        raise ValueError(
            f"{name} cannot be imported ({type(error).__name__}: {error}); use module:function, "
            "with the module next to the study or on PYTHONPATH"
        ) from error
    if not callable(found):
        raise ValueError(f"{name} does not name a function; use module:function")
    return found


def family_parameters(method: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Check the parameters of a family that is not planted; return them as exact values.

    >>> dict(family_parameters("lattice", {"L": 4, "geometry": "cubic", "dilution": 0.25}))
    {'L': 4, 'dilution': '1/4', 'geometry': 'cubic'}
    """
    if is_own(method):
        return MappingProxyType({name: exact_value(given[name], name) for name in sorted(given)})
    found = source_of(method)
    kept = exact_parameters(found, given)
    if method == "files" and "digest" not in kept:
        listed = _listed(kept["folder"])
        kept = MappingProxyType(dict(kept) | {"digest": listed[0], "files": len(listed[1])})
    if method != "files":
        found.draw(**kept, seed=None)
    return kept


def source_of(method: str) -> Ensemble:
    """Return a built-in ensemble; if the name is unknown, raise and list all methods."""
    if not isinstance(method, str) or method not in ENSEMBLES:
        known = ", ".join([*METHODS, *ENSEMBLES])
        raise ValueError(f"method={method!r:.60} must be module:function or one of {known}")
    return ENSEMBLES[method]


def family_size(method: str, parameters: Mapping[str, Any]) -> float:
    """Return the size of a family for figures and fits: its L or n; 1 if it has neither."""
    names = ("L", "n", "size") if is_own(method) else (source_of(method).size,)
    for name in names:
        value = parameters.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
            return float(value)
    return 1.0


def grown(method: str, parameters: Mapping[str, Any], seed: Seed, index: int) -> Problem | Planted:
    """Draw instance `index` of a family that is not planted; `seed` is the seed of the family."""
    if is_own(method):
        made = own_function(method)(
            np.random.default_rng(seed.child(index).sequence()), **parameters
        )
        return made if isinstance(made, Planted) else given_problem(made)
    if method == "files":
        return _file(parameters, index)
    return source_of(method).draw(**parameters, seed=seed.child(index))


def files(folder: str, *, digest: str = "", files: int = 0, seed: Seed | None = None) -> Problem:
    """Use the files in a folder as instances; instance k is the k-th file in order of name.

    Args:
        folder: the folder, with files of any format that `glasshouse info` reads.
        digest: the SHA-256 of all names and contents; computed when a study is read.
        files: the number of files; counted when a study is read.
        seed: not used.
    """
    raise NotImplementedError("files are read by index, not drawn from a seed")


@lru_cache(maxsize=4)
def _listed(folder: str) -> tuple[str, tuple[Path, ...]]:
    """Return the digest of a folder's files, and their paths in order of name."""
    place = Path(folder)
    if not place.is_dir():
        raise ValueError(
            f"folder={folder!r:.60} is not a folder; use the path of a folder of files"
        )
    paths = tuple(
        sorted(
            path for path in place.iterdir()
            if path.is_file() and not path.name.startswith(".") and _CERTIFICATE not in path.name
        )
    )  # fmt: skip
    if not paths:
        raise ValueError(f"folder={folder!r:.60} has no files")
    digest = hashlib.sha256()
    for path in paths:
        if path.stat().st_size > _LARGEST_FILE:
            raise ValueError(f"{path} is larger than {_LARGEST_FILE} bytes; remove it")
        digest.update(f"{path.name}\n{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest(), paths


def _file(parameters: Mapping[str, Any], index: int) -> Problem:
    digest, paths = _listed(parameters["folder"])
    if digest != parameters["digest"]:
        raise ValueError(f"{parameters['folder']} has changed since the study began; restore it")
    if index >= len(paths):
        raise ValueError(f"{parameters['folder']} has only {len(paths)} files, not {index + 1}")
    return given_problem(read(paths[index]))


for _name, _draw, _size in (
    ("lattice", lattice, "L"),
    ("random-graph", random_graph, "n"),
    ("complete", complete, "n"),
    ("files", files, "files"),
):
    ENSEMBLES.add(_name, Ensemble(_name, _draw, _size))
