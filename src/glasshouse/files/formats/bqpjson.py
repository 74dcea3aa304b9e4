"""BQP-JSON, the format of bqpjson and dwig: one JSON object per binary quadratic program.

Energies are `scale * (Σ c b_i b_j + Σ c b_i + offset)`, minimised, over spins or booleans.
The names of variables are integers, such as the qubits of a chip. The metadata contain other
labels, the recipe of a plant, and a mark if integers are floats. A plant is the solution with
the description `planted ground state`. Polynomials are lists of terms with ids instead; their keys
distinguish them (see `terms_json`).
"""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from glasshouse.files.claims import Stated
from glasshouse.files.document import Document
from glasshouse.files.formats import pair_terms, terms_json
from glasshouse.files.formats.coo import spin_or_binary
from glasshouse.files.formats.format import Format, Sheet, register_format
from glasshouse.files.text.errors import FileError
from glasshouse.files.text.number_rows import is_sound
from glasshouse.files.text.plain_json import JsonError, is_shallow, read_json
from glasshouse.files.text.streams import Source
from glasshouse.problems import (
    MOST_VARIABLES,
    Ising,
    Measure,
    Number,
    Polynomial,
    Problem,
    Qubo,
    Reduction,
    naming,
    to_bits,
)
from glasshouse.problems.convert import unchanged
from glasshouse.problems.pairs import single_terms
from glasshouse.problems.validation import as_array

_DOMAINS: dict[Any, Any] = {"spin": (Ising, -1), "boolean": (Qubo, 1)}
_PLANTED = "planted ground state"
# Approximate bytes of memory of one value, which count towards the allowance.
_VALUE_COST = 64
_AT_ONCE = 1 << 14


def read(source: Source) -> Document:
    """Read an Ising problem, a QUBO or (from a list of terms with ids) a polynomial."""
    try:
        data = _parsed(source)
        is_list = terms_json.holds_terms(data)
        return terms_json.document(source, data) if is_list else _document(source, data)
    except FileError:
        raise
    except JsonError as fault:
        raise source.error(str(fault)) from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as fault:
        what = f"it has no {fault}" if isinstance(fault, KeyError) else str(fault)
        raise source.error(f"is not BQP-JSON: {what}") from None


def _parsed(source: Source) -> dict[str, Any]:
    text = source.read_all()
    cost = _VALUE_COST * sum(map(text.count, (b",", b":", b"[", b"{")))
    if cost > source.allowance.unpacked:
        raise source.error(source.allowance.too_much)
    data = read_json(text)
    if not isinstance(data, dict):
        raise ValueError("it must consist of one JSON object")
    return data


def _document(source: Source, data: dict[str, Any]) -> Document:
    if data["variable_domain"] not in ("spin", "boolean"):
        raise ValueError("variable_domain must be spin or boolean")
    kind, sign = _DOMAINS[data["variable_domain"]]
    about = data.get("metadata", {})
    if not isinstance(about, dict) or not is_shallow(about):
        raise ValueError("metadata must be a JSON object that is not deeply nested")
    place = _places(data["variable_ids"])
    pairs, coefficients = _terms(data, place)
    scale = _number(data["scale"], "scale")
    if scale <= 0:
        raise ValueError(f"scale {scale} must be above 0")
    *scaled, offset = _scaled([*coefficients, _number(data["offset"], "offset")], scale)
    source.refuse_idle(len(place), len(pairs), "terms")
    is_whole = all(value == int(value) and abs(value) < 2.0**63 for value in (*scaled, offset))
    if about.get("numbers") != "float" and is_whole:
        weights, offset = as_array([int(value) for value in scaled], "coeff"), int(offset)
    else:
        weights = as_array(scaled, "coeff").astype(np.float64)
    if not len(weights):
        weights = weights.astype(np.int64 if isinstance(offset, int) else np.float64)
    problem = pair_terms.make(source, kind, len(place), pairs, weights, offset, sign)
    labels = naming.check(place, len(place))
    if "labels" in about:
        labels = naming.from_list(about["labels"], len(place))
    if labels is not None:
        problem = replace(problem, labels=labels)
    return Document(problem, _stated(data, about, place, problem))


def _places(ids: Any) -> dict[int, int]:
    """Return a mapping from each variable id to its index in the list of ids."""
    if not isinstance(ids, list) or not all(type(name) is int and name >= 0 for name in ids):
        raise ValueError("variable_ids must be a list of non-negative integers")
    place = {name: k for k, name in enumerate(ids)}
    if len(place) != len(ids) or len(ids) > MOST_VARIABLES:
        raise ValueError("variable_ids has too many or duplicate ids; list each id once")
    return place


def _terms(data: dict[str, Any], place: dict[int, int]) -> tuple[npt.NDArray[np.int32], list[Any]]:
    """Return the index pairs of all terms (i, i for a linear term), and the coefficients."""
    ends: list[tuple[int, int]] = []
    numbers: list[Any] = []
    for group, first, second in (
        ("linear_terms", "id", "id"),
        ("quadratic_terms", "id_tail", "id_head"),
    ):
        for term in data[group]:
            try:
                ends.append((place[term[first]], place[term[second]]))
            except (LookupError, TypeError):
                raise ValueError(
                    f"{term!r:.60} in {group} contains a variable that is not in variable_ids"
                ) from None
            if first != second and ends[-1][0] == ends[-1][1]:
                raise ValueError(f"{term!r:.60} in {group} must contain two different variables")
            numbers.append(_number(term["coeff"], "coeff"))
    return np.array(ends, dtype=np.int32).reshape(-1, 2), numbers


def _number(value: Any, name: str) -> Number:
    if not is_sound(value):
        raise ValueError(f"{name} {value!r:.40} must be a finite number")
    number: Number = value
    return number


def _scaled(values: list[Any], scale: Number) -> list[Any]:
    """Multiply values by the scale exactly; round each non-integer product to a float."""
    if scale == 1:
        return values
    products = [Fraction(value) * Fraction(scale) for value in values]
    return [int(x) if x.denominator == 1 else float(x) for x in products]


def _stated(
    data: dict[str, Any], about: dict[str, Any], place: dict[int, int], problem: Ising | Qubo
) -> Stated:
    """Return the cost, model and recipe of a plant; ignore solutions found by other programs."""
    recipe = about.get("recipe")
    if not isinstance(recipe, (dict, type(None))):
        raise ValueError("the recipe in metadata must be a JSON object")
    for solution in data.get("solutions", []):
        if solution.get("description") != _PLANTED:
            continue
        values = {place[item["id"]]: item["value"] for item in solution["assignment"]}
        state = [values[k] for k in range(len(place))]
        model = to_bits(problem.space.check(np.array(state, dtype=np.int64).reshape(len(place))))
        cost = solution.get("evaluation")
        return Stated(None if cost is None else _number(cost, "evaluation"), model, recipe)
    return Stated(recipe=recipe)


def write(file: BinaryIO, sheet: Sheet) -> None:
    """Write a problem as BQP-JSON, with one term per line and a scale of 1."""
    if isinstance(sheet.problem, Polynomial):
        terms_json.write(file, sheet)
        return
    problem: Ising | Qubo = sheet.problem
    is_spin = isinstance(problem, Ising)
    sign = -1 if is_spin else 1
    labels, about = problem.labels, dict[str, Any]()
    ids = np.arange(problem.num_variables)
    if labels is not None and naming.are_indices(labels, 2**63 - 1):
        ids = np.array(labels)
    elif labels is not None:
        naming.refuse_odd(labels)
        about["labels"] = labels
    if not problem.is_integer:
        about["numbers"] = "float"
    if sheet.stated.recipe is not None:
        about["recipe"] = sheet.stated.recipe
    head = {
        "version": "1.0.0", "id": 0, "metadata": about, "description": " ".join(sheet.remarks),
        "variable_domain": "spin" if is_spin else "boolean", "scale": 1, "offset": problem.offset,
    }  # fmt: skip
    file.write(json.dumps(head, sort_keys=True)[:-1].encode("ascii"))
    _write_list(file, "variable_ids", "%s", [ids.tolist()])
    singles = single_terms(problem)
    used = np.flatnonzero(singles)
    numbers = [ids[used].tolist(), (sign * singles[used]).tolist()]
    _write_list(file, "linear_terms", '{"id": %s, "coeff": %r}', numbers)
    tails, heads = ids[problem.edges].reshape(-1, 2).T.tolist()
    couplings = [tails, heads, (sign * problem.weights).tolist()]
    _write_list(file, "quadratic_terms", '{"id_tail": %s, "id_head": %s, "coeff": %r}', couplings)
    if sheet.stated.model is not None:
        stated = {"id": 0, "description": _PLANTED, "evaluation": sheet.stated.cost}
        opening = json.dumps({k: v for k, v in stated.items() if v is not None})[:-1]
        file.write(f',\n"solutions": [{opening}'.encode())
        values = problem.space.from_bits(sheet.stated.model).tolist()
        _write_list(file, "assignment", '{"id": %s, "value": %s}', [ids.tolist(), values])
        file.write(b"}]")
    file.write(b"}\n")


def _write_list(file: BinaryIO, name: str, item: str, columns: list[list[Any]]) -> None:
    """Write one list of the JSON object, with one item per line and exact floats."""
    file.write(f',\n"{name}": ['.encode())
    rows: list[tuple[Any, ...]] = list(zip(*columns, strict=True))
    for start in range(0, len(rows), _AT_ONCE):
        text = ",\n".join(item % row for row in rows[start : start + _AT_ONCE])
        file.write((",\n" if start else "\n").encode() + text.encode())
    file.write(b"]")


def _held(problem: Problem) -> tuple[Ising | Qubo | Polynomial, Reduction]:
    """Convert a problem to a kind that BQP-JSON can store: Ising, QUBO or polynomial."""
    if isinstance(problem, Polynomial):
        return unchanged(problem)
    return spin_or_binary(problem)


BQPJSON = register_format(
    Format("BQP-JSON", ".json", _held, write, read, measure=Measure.objective)
)
