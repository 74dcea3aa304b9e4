"""Plants from files: read whole, or grown again from the recipe and compared with the file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from glasshouse.files.document import Document, size_of
from glasshouse.files.errors import FileError
from glasshouse.files.reading import read_document, stated_plant
from glasshouse.files.registry import format_of
from glasshouse.planting import Planted, Recipe
from glasshouse.problems import Max2Sat, Problem
from glasshouse.problems.reduction import Reduction


def read_planted(path: str | os.PathLike[str], *, verify: bool = True) -> Planted:
    """The plant that a file holds: its own (`.npz`), or the one that its stated recipe grows.

    What was grown is compared with the file's problem; a recipe of another instance is an error.
    A plant that the file holds is verified, in linear time; a false one is a `CertificateError`.

    Args:
        path: the file.
        verify: False believes a plant as the file states it.
    """
    path = Path(path)
    document = read_document(path)
    if document.planted is not None:
        return stated_plant(document, verify)
    if document.metadata.recipe is None:
        raise FileError(path, "tells nothing of a plant; expected an .npz file, or a recipe")
    return regrow(path, document, document.metadata.recipe)[0]


def regrow(path: Path, held: Document, recipe: dict[str, Any]) -> tuple[Planted, Reduction]:
    """The plant that a recipe grows, if it is the file's, and its reduction to the file's form."""
    _refuse_size(path, held, recipe)
    try:
        planted = Planted.from_recipe(Recipe.from_json(json.dumps(recipe)))
    except ValueError as fault:
        raise FileError(path, f"its recipe grows nothing: {fault}") from None
    problem, reduction = format_of(path).convert(planted.problem)
    if _ordered(held.problem) != _ordered(problem):
        raise FileError(path, "does not hold the problem that its recipe grows")
    return planted, reduction


def _refuse_size(path: Path, held: Document, recipe: dict[str, Any]) -> None:
    """Before growing: a recipe for far more spins than the file has is not the file's."""
    asked = recipe.get("parameters")
    sizes = [asked.get(name) for name in ("n", "m")] if isinstance(asked, dict) else []
    grown = sum(size for size in sizes if isinstance(size, int))
    if grown > size_of(held.problem):
        raise FileError(path, f"its recipe grows {grown} spins; it holds {size_of(held.problem)}")


def _ordered(problem: Problem) -> Problem:
    """Clauses in one order, whatever order they stand in; other problems as they are."""
    return problem.simplified() if isinstance(problem, Max2Sat) else problem
