"""Plants from files: read directly, or grown again from a recipe and compared with the file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from glasshouse.certificates import CertificateError
from glasshouse.files.document import Document, scaled_proof
from glasshouse.files.formats import format_of
from glasshouse.files.reading import read_document
from glasshouse.files.text.allowance import Allowance
from glasshouse.files.text.errors import FileError
from glasshouse.files.text.streams import Place, name_of
from glasshouse.planting import Plan, Planted, Recipe
from glasshouse.planting.demand import EffortError
from glasshouse.problems import Max2Sat, MaxSat, Problem, Reduction, to_max2sat

_ANOTHER = "the recipe grows a problem that differs from the problem in the file"


def read_planted(place: Place, *, format: str | None = None, verify: bool = True) -> Planted:
    """Return the plant in a file (`.npz`), or grow the plant from the recipe in the file.

    A grown plant is compared with the file's problem; the recipe of another instance is an error. A
    plant in the file is verified in linear time; if it is false, a `CertificateError` is raised.

    Args:
        place: the file, or an open stream of bytes.
        format: the format, if the file has no suffix.
        verify: False trusts a plant as the file states it.

    >>> import tempfile
    >>> from glasshouse.files import write
    >>> from glasshouse.planting import random_loops
    >>> folder = tempfile.TemporaryDirectory()
    >>> place = Path(folder.name) / "inst.wcnf"
    >>> plant = random_loops(4, 4, frustration="1/5", loops=3, rng=1)
    >>> _ = write(place, plant)
    >>> read_planted(place) == plant
    True
    >>> folder.cleanup()
    """
    path, document = name_of(place), read_document(place, format=format)
    if document.planted is not None:
        _ = verify and document.proven  # raises if the plant is false
        return document.planted
    return regrow(path, document)[0]


def regrown(document: Document) -> tuple[Planted, Document]:
    """Grow a plant from a document's recipe; return it and the document, with a proof if possible.

    Raises:
        FileError: there is no recipe, or the recipe does not grow the document's problem.
        CertificateError: the document's own proof is false, or refutes a statement; or the grown
            plant is false.
    """
    planted, reduction = regrow(document.path or Path("document"), document)
    source = replace(Document.of(planted), path=document.path)
    _ = source.proven  # raises if the plant is false
    proof = scaled_proof(source, document.problem, reduction)
    if proof is None or (document.proven is not None and document.proven.verdict.optimal):
        return planted, document
    return planted, replace(document, planted=None, load_proof=lambda: proof)


def grown(document: Document) -> Document:
    """Grow a plant from a document's recipe; return the document, with the plant's proof if needed.

    Raises:
        CertificateError: the recipe does not grow the document's problem, or a statement is false.
    """
    _ = document.proven  # A wrong certificate is reported first, by its own error.
    try:
        return regrown(document)[1]
    except FileError as fault:
        raise CertificateError(str(fault)) from None


def regrow(
    path: Path, held: Document, recipe: dict[str, Any] | None = None
) -> tuple[Planted, Reduction]:
    """Grow a plant from its recipe; return it with its reduction to the problem in the file.

    Args:
        path: the file.
        held: the contents of the file.
        recipe: the recipe; by default the one that the file states.
    """
    recipe = held.stated.recipe if recipe is None else recipe
    if recipe is None:
        raise FileError(
            path,
            "contains no plant; expected an .npz file with a plant, or a recipe in comments",
        )
    terms = _num_terms(held.problem)
    allowance = Allowance()
    try:
        parsed = Recipe.from_json(json.dumps(recipe))
        _refuse_beyond(path, held.problem, Plan.of(parsed), allowance)
        planted = Planted.from_recipe(parsed, allowance.steps(terms))
        # As pairs, clauses of the same variables add up to fewer terms.
        if planted.problem.num_edges > terms and not isinstance(planted.problem, MaxSat):
            raise FileError(path, _ANOTHER)
        problem, reduction = format_of(path, held.suffix or None).convert(planted.problem)
    except FileError:
        raise
    except EffortError as fault:
        raise FileError(
            path, f"cannot grow an instance from the recipe: {fault}; {allowance.remedy}"
        ) from None
    except (ValueError, ArithmeticError) as fault:
        raise FileError(path, f"cannot grow an instance from the recipe: {fault}") from None
    if isinstance(held.problem, Max2Sat) and isinstance(problem, MaxSat) and problem.longest <= 2:
        problem, shorter = to_max2sat(problem)  # as files read clauses of two literals
        reduction = reduction.then(shorter)
    # Cores name clauses by their numbers, so their clauses must be in the same order.
    form = _unlabelled if planted.cores else ordered
    if form(held.problem) != form(problem):
        raise FileError(path, _ANOTHER)
    if held.problem.labels not in (None, problem.labels):
        raise FileError(path, "the recipe grows a problem whose labels are not those in the file")
    return planted, reduction


def _refuse_beyond(path: Path, held: Problem, plan: Plan, allowance: Allowance) -> None:
    """Raise if growing a recipe would give an instance that does not fit the size of the file."""
    asked = plan.demand
    has_room = plan.method.grows_on == "clauses" and asked.spins < held.num_variables  # ancillas
    if asked.spins != held.num_variables and not has_room:
        raise FileError(
            path, f"the recipe grows {asked.spins} spins, but the file has {held.num_variables}"
        )
    terms = _num_terms(held)
    if asked.memory > allowance.grown(terms):
        raise FileError(
            path,
            f"the recipe needs {asked.memory} bytes to grow, but a file of {terms} terms may use "
            f"at most {allowance.grown(terms)}; {allowance.remedy}",
        )


def _num_terms(problem: Problem) -> int:
    """Return the number of couplings or clauses, which bounds the number of planted edges."""
    if isinstance(problem, Max2Sat):
        return problem.num_clauses + problem.num_hard
    return problem.num_edges


def ordered(problem: Problem) -> Problem:
    """Return a problem without labels and, if it is a `Max2Sat`, with sorted clauses.

    Not every file has labels, so variables are compared by index.
    """
    plain = _unlabelled(problem)
    return plain.simplified() if isinstance(plain, Max2Sat) else plain


def _unlabelled(problem: Problem) -> Problem:
    return problem if problem.labels is None else replace(problem, labels=None)
