"""The native format `.npz`: a NumPy archive that stores any problem or a whole plant.

`header` is a JSON text with the format's version, the kind of problem, its size and offset; all
other data are arrays. No pickled objects are read or written. Arrays that the kind of problem does
not need are not read.
"""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import NO_CORES, NO_SQUARES, Cores, Squares
from glasshouse.certificates.products import NO_MONOMIALS, checked_table
from glasshouse.files.claims import Stated
from glasshouse.files.document import Document
from glasshouse.files.formats.format import Format, Sheet, register_format
from glasshouse.files.formats.matrices import archive_document
from glasshouse.files.text.archive import Archive, bounds_of, opened_archive, whole_between
from glasshouse.files.text.number_rows import is_sound
from glasshouse.files.text.plain_json import parse_object
from glasshouse.files.text.streams import Source
from glasshouse.planting import Loops, Planted, Recipe
from glasshouse.planting.loops import NO_LOOPS
from glasshouse.problems import (
    Clauses,
    Ising,
    Max2Sat,
    MaxSat,
    Polynomial,
    Problem,
    Qubo,
    Rbm,
    naming,
)
from glasshouse.problems.convert import unchanged
from glasshouse.problems.monomials import Monomials

# Version 2 has squares or a denominator; plants without either are written as version 1. Version 3
# has squares whose vertices are products of spins, or the cores of planted clauses.
VERSIONS = (1, 2, 3)

# Our plants need 1 or 2; plants of users may need more.
_MOST_DENOMINATOR = 2**31

Arrays = dict[str, npt.NDArray[Any]]


def write(file: BinaryIO, sheet: Sheet) -> None:
    """Write a problem or a plant as an uncompressed archive of a header and arrays."""
    header, arrays = _problem_parts(sheet.problem)
    stated = sheet.stated
    header |= {"format": "glasshouse", "version": VERSIONS[0], "recipe": stated.recipe}
    header["planted_cost"] = stated.cost
    if sheet.problem.labels is not None:
        arrays["labels"] = np.array(naming.to_json(sheet.problem.labels))
    if stated.model is not None:
        arrays["planted_model"] = stated.model
    if sheet.planted is not None:
        header["loop_weight"] = sheet.planted.loop_weight
        header["recipe"] = json.loads(sheet.planted.recipe.to_json())  # a part of the plant
        loops, cores = sheet.planted.loops, sheet.planted.cores
        arrays |= {"nodes": loops.nodes, "starts": loops.starts, "loop_weights": loops.weights}
        if sheet.planted.squares or sheet.planted.denominator > 1:
            header |= {"version": VERSIONS[1], "denominator": sheet.planted.denominator}
            arrays |= _square_parts(sheet.planted.squares)
        if isinstance(sheet.problem, MaxSat):
            header["version"] = VERSIONS[2]
            arrays |= {"core_tokens": cores.tokens, "core_starts": cores.starts}
            arrays["core_costs"] = cores.costs
        if isinstance(sheet.problem, Polynomial):
            header["version"] = VERSIONS[2]
            table = sheet.planted.monomials
            arrays |= {"product_spins": table.indices, "product_starts": table.starts}
            # The plant has no loops, so `starts` belongs to the polynomial.
            arrays["starts"] = sheet.problem.starts
    arrays["header"] = np.array(json.dumps(header, sort_keys=True))
    archive = file if isinstance(file, io.BufferedWriter) else io.BytesIO()  # it seeks back
    np.savez(archive, **arrays)  # type: ignore[arg-type]  # a quirk of NumPy's stub
    if isinstance(archive, io.BytesIO):
        file.write(archive.getbuffer())


def read(source: Source) -> Document:
    """Read an .npz file: a problem or plant written by glasshouse, or another program's arrays."""
    with opened_archive(source, "is not a glasshouse .npz ({})") as archive:
        if "header" not in archive:
            return archive_document(source, archive)
        source.refuse_units()
        try:
            return _document(source, archive)
        except KeyError as fault:
            raise source.error(f"has no array or key {fault}; expected a glasshouse .npz") from None


def _document(source: Source, archive: Archive) -> Document:
    header = parse_object(archive.text("header").encode())
    if header is None or header.get("format") != "glasshouse":
        raise ValueError("the header does not state the format 'glasshouse'")
    if header.get("version") not in VERSIONS:
        raise ValueError(f"version {header.get('version')!r} must be one of {VERSIONS}")
    problem = _problem(header, archive)
    if "labels" in archive:
        names = archive.text("labels").encode()
        problem = replace(problem, labels=naming.from_json(names, problem.num_variables))
    if isinstance(problem, (Max2Sat, MaxSat)):  # the others have an array as long as they are large
        number = problem.num_clauses + problem.num_hard
        source.refuse_idle(problem.num_variables, number, "clauses")
    if isinstance(problem, Polynomial):
        source.refuse_idle(problem.num_variables, problem.num_terms, "terms")
    stated = _stated(header, archive, problem.num_variables)
    planted = _planted(source, header, archive, problem, stated)
    return Document(problem, stated, planted)


def _problem_parts(problem: Problem) -> tuple[dict[str, Any], Arrays]:
    header: dict[str, Any] = {"kind": type(problem).__name__}
    if isinstance(problem, Max2Sat):
        header["size"] = problem.num_variables
        parts = {"clauses": problem.clauses, "weights": problem.weights, "hard": problem.hard}
        return header, parts
    if isinstance(problem, MaxSat):
        header["size"] = problem.num_variables
        held: Arrays = {"literals": problem.literals, "clause_starts": problem.starts}
        must: Arrays = {
            "hard_literals": problem.hard_literals,
            "hard_clause_starts": problem.hard_starts,
        }
        return header, held | {"weights": problem.weights} | must
    header["offset"] = problem.offset
    if isinstance(problem, Rbm):
        header["shape"] = list(problem.matrix.shape)
        matrix: Any = problem.matrix
        biases: Any = {"visible_bias": problem.visible_bias, "hidden_bias": problem.hidden_bias}
        if not problem.is_sparse:
            return header, biases | {"weights": matrix}
        stored = {"indptr": matrix.indptr, "indices": matrix.indices, "weights": matrix.data}
        return header, biases | stored
    header["size"] = problem.num_variables
    if isinstance(problem, Polynomial):
        header["units"] = problem.units
        flat: Arrays = {"indices": problem.indices, "starts": problem.starts}
        return header, flat | {"weights": problem.weights}
    single = problem.fields if isinstance(problem, Ising) else problem.linear
    return header, {"edges": problem.edges, "weights": problem.weights, "single": single}


def _problem(header: dict[str, Any], archive: Archive) -> Problem:
    kind = header["kind"]
    if kind == "Rbm":
        visible, hidden = (archive.numbers(f"{side}_bias", 1) for side in ("visible", "hidden"))
        if "indptr" in archive:
            shape = len(visible), len(hidden)
            if header["shape"] != list(shape):
                raise ValueError(f"shape {header['shape']!r:.40} must match the biases: {shape}")
            return Rbm(_sparse(archive, shape), visible, hidden, header["offset"])
        return Rbm(archive.numbers("weights", 2), visible, hidden, header["offset"])
    weights = archive.numbers("weights", 1)
    if kind == "Max2Sat":
        clauses, hard = archive.numbers("clauses", 2), archive.numbers("hard", 2)
        return Max2Sat(header["size"], clauses, weights, hard)
    if kind == "MaxSat":
        soft, must = (
            Clauses(
                archive.numbers(f"{part}literals", 1), archive.numbers(f"{part}clause_starts", 1)
            )
            for part in ("", "hard_")
        )
        return MaxSat(header["size"], soft, weights, must)
    if kind == "Polynomial":
        flat = archive.numbers("indices", 1), archive.numbers("starts", 1)
        return Polynomial(
            header["size"], *flat, weights, header["offset"], units=header["units"]
        )  # fmt: skip
    if kind not in ("Ising", "Qubo"):
        raise ValueError(f"problems of kind {kind!r} are not known to this version of glasshouse")
    make = Ising if kind == "Ising" else Qubo
    edges, single = archive.numbers("edges", 2), archive.numbers("single", 1)
    return make(header["size"], edges, weights, single, header["offset"])


def _sparse(archive: Archive, shape: tuple[int, int]) -> Any:
    """Check the indices of the sparse weights of an RBM, and return the weights."""
    from scipy.sparse import csr_array  # its compiled code trusts indices

    weights = archive.numbers("weights", 1)
    indices = whole_between(archive.numbers("indices", 1), 0, shape[1] - 1, "a column")
    starts = bounds_of(archive.numbers("indptr", 1), len(indices), "a row's start")
    if len(weights) != len(indices) or len(starts) != shape[0] + 1:
        raise ValueError(
            f"it has {len(weights)} weights, {len(indices)} column indices and {len(starts) - 1} "
            f"rows; expected equally many weights and indices, and {shape[0]} rows"
        )
    places = np.repeat(np.arange(shape[0]), starts[1:] - starts[:-1]) * shape[1] + indices
    if not (places[1:] > places[:-1]).all() and len(np.unique(places)) < len(places):
        raise ValueError("a weight is stored twice; each must be stored once")
    return csr_array((weights, indices, starts), shape=shape)


def _stated(header: dict[str, Any], archive: Archive, size: int) -> Stated:
    cost, recipe = header["planted_cost"], header["recipe"]
    if cost is not None and not is_sound(cost):
        raise ValueError(f"planted_cost {cost!r:.40} must be a finite number")
    if not isinstance(recipe, (dict, type(None))):
        raise ValueError("the recipe must be a JSON object")
    if "planted_model" not in archive:
        return Stated(cost, None, recipe)
    model = archive.numbers("planted_model", 1)
    if model.dtype != np.int8 or model.shape != (size,) or not ((model == 0) | (model == 1)).all():
        raise ValueError(f"planted_model must be {size} values 0 or 1 of type int8")
    return Stated(cost, model, recipe)


def _square_parts(squares: Squares) -> Arrays:
    if squares.multipliers.dtype != np.int64:
        raise ValueError("an .npz file needs multipliers below 2^63; write .coo or .wcnf instead")
    return {
        "square_nodes": squares.nodes, "square_starts": squares.starts,
        "coefficients": squares.coefficients, "multipliers": squares.multipliers,
    }  # fmt: skip


def _squares(source: Source, archive: Archive, last: int, table: Monomials) -> Squares:
    nodes = whole_between(archive.numbers("square_nodes", 1), 0, last, "a square's node")
    starts = bounds_of(archive.numbers("square_starts", 1), len(nodes), "a square's start")
    numbers = (archive.numbers(name, 1) for name in ("coefficients", "multipliers"))
    squares = Squares(nodes.astype(np.int32), starts, *numbers)
    source.refuse_pairs(squares, 1 + int(table.degrees.max(initial=0)))
    return squares


def _planted(
    source: Source,
    header: dict[str, Any],
    archive: Archive,
    problem: Problem,
    stated: Stated,
) -> Planted | None:
    if "nodes" not in archive:
        return None
    if not isinstance(problem, (Ising, Rbm, Polynomial, MaxSat)) or stated.model is None:
        raise ValueError("there are loops or cores, but no planted problem to which they belong")
    is_newest = header["version"] == VERSIONS[2]
    if is_newest != isinstance(problem, (Polynomial, MaxSat)):
        raise ValueError("version must be 3 for planted polynomials and clauses, else 1 or 2")
    squares, denominator, table, cores = NO_SQUARES, 1, NO_MONOMIALS, NO_CORES
    if isinstance(problem, MaxSat):
        rows = (archive.numbers(f"core_{name}", 1) for name in ("tokens", "starts", "costs"))
        cores = Cores(*rows)
    elif header["version"] != VERSIONS[0]:
        table = _table(archive, problem) if is_newest else table
        last = problem.num_variables + len(table.starts) - 1
        squares = _squares(source, archive, last, table)
        denominator = header["denominator"]
    cost, loop_weight = stated.cost, header["loop_weight"]
    if not isinstance(cost, int) or type(loop_weight) is not int:
        raise ValueError("planted_cost and loop_weight must be integers")
    if type(denominator) is not int or not 1 <= denominator <= _MOST_DENOMINATOR:
        raise ValueError(f"denominator {denominator!r:.40} must be from 1 to {_MOST_DENOMINATOR}")
    # A node is a spin, or the ghost, which follows the last spin.
    nodes = whole_between(archive.numbers("nodes", 1), 0, problem.num_variables, "a node")
    if isinstance(problem, Polynomial):
        if len(nodes):
            raise ValueError("the plant of a polynomial must have squares only, but has loops")
        loops = NO_LOOPS
    else:
        starts = bounds_of(archive.numbers("starts", 1), len(nodes), "a loop's start")
        loops = Loops(nodes.astype(np.int32), starts, archive.numbers("loop_weights", 1))
    recipe = Recipe.from_json(json.dumps(stated.recipe))
    state = 2 * stated.model - np.int8(1)
    parts = (squares, denominator, cores, table)
    return Planted(problem, state, cost, loop_weight, loops, recipe, *parts)


def _table(archive: Archive, problem: Problem) -> Monomials:
    """Return the vertices of a planted polynomial's squares; each vertex is a product of spins."""
    if not isinstance(problem, Polynomial):
        raise ValueError("there are products of spins, but the problem is not a polynomial")
    size = problem.num_variables
    spins = whole_between(archive.numbers("product_spins", 1), 0, size - 1, "a product's spin")
    starts = bounds_of(archive.numbers("product_starts", 1), len(spins), "a product's start")
    return checked_table(Monomials(spins.astype(np.int32), starts), size)


NPZ = register_format(
    Format("glasshouse archive", ".npz", unchanged, write, read, native=True, takes_units=True)
)
