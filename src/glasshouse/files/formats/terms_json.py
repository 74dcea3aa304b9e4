"""Polynomials as JSON lists of terms with ids, as chook and HUBO optimisers write them.

Files contain `{"cost_function": {"type": "ising" or "pubo", "terms": [{"c": w, "ids": [i, j]}]}}`.
The reader also accepts `{"problem": {"type": "ising" or "hobo", "terms": [{"w": w, "ids": [i]}]}}`.
Energies are minimised, with these signs. The metadata contain all other data, as in BQP-JSON.
"""

from __future__ import annotations

import json
from typing import Any, BinaryIO

import numpy as np

from glasshouse.files.claims import Stated
from glasshouse.files.document import Document
from glasshouse.files.formats.format import Sheet
from glasshouse.files.formats.hubo import make
from glasshouse.files.text.number_rows import bit_string, is_sound, parse_bits
from glasshouse.files.text.plain_json import is_shallow
from glasshouse.files.text.streams import Source
from glasshouse.problems import Monomials, Polynomial, Units, naming
from glasshouse.problems.validation import MOST_VARIABLES, as_array

_UNITS: dict[Any, Units] = {"ising": "spin", "pubo": "binary", "hobo": "binary"}
_KEYS = {"cost_function": "c", "problem": "w"}


def holds_terms(data: dict[str, Any]) -> bool:
    """Return whether a JSON object contains a list of terms with ids."""
    return any(isinstance(data.get(key), dict) and "terms" in data[key] for key in _KEYS)


def document(source: Source, data: dict[str, Any]) -> Document:
    """Return the polynomial in a list of terms, with the file's statements about it."""
    key = next(key for key in _KEYS if key in data)
    kind = data[key].get("type")
    if kind not in ("ising", "pubo", "hobo"):
        raise ValueError(f"type {kind!r:.40} must be ising, pubo or hobo")
    about = data.get("metadata", {})
    if not isinstance(about, dict) or not is_shallow(about):
        raise ValueError("metadata must be a JSON object that is not deeply nested")
    rows, numbers = [], []
    for term in data[key]["terms"]:
        ids, weight = term["ids"], term[_KEYS[key]]
        if not isinstance(ids, list) or not all(type(k) is int and k >= 0 for k in ids):
            raise ValueError(f"{term!r:.60} must have ids, a list of non-negative integers")
        if not is_sound(weight):
            raise ValueError(f"weight {weight!r:.40} must be a finite number")
        rows.append(ids)
        numbers.append(weight)
    weights = as_array(numbers, key) if numbers else np.empty(0, dtype=np.int64)
    is_whole = weights.dtype.kind in "iu" or bool(
        (weights == np.rint(weights)).all() and (np.abs(weights) < 2.0**53).all()
    )
    is_whole &= about.get("numbers") != "float"
    weights = weights.astype(np.int64 if is_whole else np.float64)
    held = Monomials.of(rows)
    used = int(held.indices.max(initial=-1)) + 1
    size = about.get("num_variables", used)
    if type(size) is not int or not used <= size <= MOST_VARIABLES:
        raise ValueError(f"num_variables {size!r:.40} must be an integer from {used} to 2^31 - 1")
    source.refuse_idle(size, len(rows), "terms")
    labels = naming.from_list(about["labels"], size) if "labels" in about else None
    problem = make(source, size, held, weights, labels, _UNITS[kind])
    return Document(problem, _stated(about, size))


def _stated(about: dict[str, Any], size: int) -> Stated:
    recipe, cost, model = (about.get(key) for key in ("recipe", "planted_cost", "planted_model"))
    if not isinstance(recipe, (dict, type(None))):
        raise ValueError("the recipe in metadata must be a JSON object")
    if cost is not None and not is_sound(cost):
        raise ValueError(f"planted_cost {cost!r:.40} must be a finite number")
    bits = None if model is None else parse_bits(str(model).encode("ascii", "replace"))
    if model is not None and (bits is None or len(bits) != size):
        raise ValueError(f"planted_model must be a string of {size} digits, 0 or 1")
    return Stated(cost, bits, recipe)


def write(file: BinaryIO, sheet: Sheet) -> None:
    """Write a polynomial as a JSON list of terms, one per line, the constant first."""
    problem: Polynomial = sheet.problem
    naming.refuse_odd(problem.labels)
    stated = sheet.stated
    about = {
        "num_variables": problem.num_variables, "labels": problem.labels, "recipe": stated.recipe,
        "numbers": None if problem.is_integer else "float", "planted_cost": stated.cost,
        "planted_model": None if stated.model is None else bit_string(stated.model),
        "remarks": " ".join(sheet.remarks) or None,
    }  # fmt: skip
    about = {key: value for key, value in about.items() if value is not None}
    kind = "ising" if problem.units == "spin" else "pubo"
    file.write(f'{{"metadata": {json.dumps(about, sort_keys=True)},\n"cost_function": '.encode())
    file.write(f'{{"version": "1.1", "type": "{kind}", "terms": ['.encode())
    terms = {(): problem.offset} if problem.offset else {}
    lines = [f'{{"c": {w!r}, "ids": {list(row)}}}' for row, w in (terms | problem.terms()).items()]
    file.write(("\n" + ",\n".join(lines) + "]}}\n").encode("ascii"))
