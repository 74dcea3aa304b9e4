"""The native format: a NumPy archive that keeps every kind of problem, and a plant whole.

`header` is a JSON text with the format's version, the kind of problem, its size and offset; all
else is arrays. Nothing in it is code: no pickled objects are read or written.
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from glasshouse.files.document import Document, Metadata, size_of
from glasshouse.files.errors import FileError
from glasshouse.files.formats import Format, Sheet
from glasshouse.files.limits import check_size
from glasshouse.files.notes import parse_object
from glasshouse.files.streams import Source
from glasshouse.planting import Loops, Planted, Recipe
from glasshouse.problems import Ising, Max2Sat, Problem, Qubo, Rbm
from glasshouse.problems.convert import unchanged
from glasshouse.problems.reduction import Reduction

VERSION = 1

Arrays = dict[str, npt.NDArray[Any]]


def write(file: BinaryIO, sheet: Sheet) -> None:
    """Header and arrays, uncompressed; `.npz.gz` compresses them."""
    header, arrays = _problem_parts(sheet.problem)
    metadata = sheet.metadata
    header |= {"format": "glasshouse", "version": VERSION, "recipe": metadata.recipe}
    header["planted_cost"] = metadata.planted_cost
    if metadata.planted_model is not None:
        arrays["planted_model"] = metadata.planted_model
    if sheet.planted is not None:
        header["loop_weight"] = sheet.planted.loop_weight
        header["recipe"] = json.loads(sheet.planted.recipe.to_json())  # a part of the plant
        loops = sheet.planted.loops
        arrays |= {"nodes": loops.nodes, "starts": loops.starts, "loop_weights": loops.weights}
    arrays["header"] = np.array(json.dumps(header, sort_keys=True))
    archive = file if isinstance(file, io.BufferedWriter) else io.BytesIO()  # it must seek back
    np.savez(archive, **arrays)  # type: ignore[arg-type]  # a quirk of NumPy's stub
    if isinstance(archive, io.BytesIO):
        file.write(archive.getbuffer())


def read(source: Source) -> Document:
    """Whatever `write` was given, equal to it in every number."""
    try:
        header, arrays = _load(source)
        problem = _problem(header, arrays)
        if isinstance(problem, Max2Sat):  # the others have an array as long as they are large
            number = problem.num_clauses + problem.num_hard
            check_size(source, problem.num_variables, number, "clauses")
        metadata = _metadata(header, arrays, size_of(problem))
        planted = _planted(header, arrays, problem, metadata)
    except FileError:
        raise
    except KeyError as fault:
        raise source.error(f"the archive has no {fault}; expected a glasshouse .npz") from None
    except Exception as fault:  # zipfile, zlib and npy headers raise whatever a broken byte does
        raise source.error(f"is not a glasshouse .npz ({fault})") from None
    return Document(problem, metadata, planted)


def _load(source: Source) -> tuple[dict[str, Any], Arrays]:
    """The header and all arrays, each as long as its own bytes."""
    file = source.file if source.path.suffix.lower() == ".npz" else io.BytesIO(source.read())
    with zipfile.ZipFile(file) as archive:
        arrays = {
            name.removesuffix(".npy"): _array(archive.read(name), name)
            for name in archive.namelist()
        }
    text = arrays.pop("header")
    if text.dtype.kind != "U" or text.ndim:
        raise ValueError("its header is no text")
    header = parse_object(str(text).encode())
    if header is None or header.get("format") != "glasshouse":
        raise ValueError("its header is not ours")
    if header.get("version") != VERSION:
        raise ValueError(f"version {header.get('version')!r}, but this is a reader of {VERSION}")
    return header, arrays


def _array(data: bytes, name: str) -> npt.NDArray[Any]:
    """One .npy member, whose stated shape must match its bytes before memory is taken for it."""
    stream = io.BytesIO(data)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError(f"{name} is not an .npy of version 1.0")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    start = stream.tell()
    if dtype.hasobject or (fortran and len(shape) > 1):
        raise ValueError(f"{name} holds {dtype}; expected plain numbers in C order")
    count = 1
    for length in shape:
        count *= length
    if count * dtype.itemsize != len(data) - start:
        raise ValueError(f"{name} states shape {shape}, which is not what it holds")
    return np.frombuffer(data, dtype, offset=start).reshape(shape)


def _problem_parts(problem: Problem) -> tuple[dict[str, Any], Arrays]:
    header: dict[str, Any] = {"kind": type(problem).__name__}
    if isinstance(problem, Max2Sat):
        header["size"] = problem.num_variables
        parts = {"clauses": problem.clauses, "weights": problem.weights, "hard": problem.hard}
        return header, parts
    header["offset"] = problem.offset
    if isinstance(problem, Rbm):
        header["shape"] = list(problem.weights.shape)
        matrix: Any = problem.weights
        biases: Any = {"visible_bias": problem.visible_bias, "hidden_bias": problem.hidden_bias}
        if not problem.is_sparse:
            return header, biases | {"weights": matrix}
        stored = {"indptr": matrix.indptr, "indices": matrix.indices, "weights": matrix.data}
        return header, biases | stored
    header["size"] = size_of(problem)
    single = problem.fields if isinstance(problem, Ising) else problem.linear
    return header, {"edges": problem.edges, "weights": problem.weights, "single": single}


def _problem(header: dict[str, Any], arrays: Arrays) -> Problem:
    kind = header["kind"]
    weights: Any = arrays["weights"]
    if kind == "Max2Sat":
        return Max2Sat(header["size"], arrays["clauses"], weights, arrays["hard"])
    if kind == "Rbm":
        if "indptr" in arrays:
            weights = _sparse(weights, arrays, tuple(header["shape"]))
        return Rbm(weights, arrays["visible_bias"], arrays["hidden_bias"], header["offset"])
    if kind not in ("Ising", "Qubo"):
        raise ValueError(f"a problem of unknown kind {kind!r}")
    make = Ising if kind == "Ising" else Qubo
    return make(header["size"], arrays["edges"], weights, arrays["single"], header["offset"])


def _sparse(weights: Any, arrays: Arrays, shape: tuple[int, ...]) -> Any:
    from scipy.sparse import csr_array

    matrix = csr_array((weights, arrays["indices"], arrays["indptr"]), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


def _metadata(header: dict[str, Any], arrays: Arrays, size: int) -> Metadata:
    cost, recipe, model = header["planted_cost"], header["recipe"], arrays.get("planted_model")
    if not isinstance(cost, (int, float, type(None))) or isinstance(cost, bool):
        raise ValueError(f"planted_cost {cost!r} is not a number")
    if not isinstance(recipe, (dict, type(None))):
        raise ValueError("the recipe is not a JSON object")
    if model is not None and (
        model.dtype != np.int8 or model.shape != (size,) or not np.isin(model, (0, 1)).all()
    ):
        raise ValueError(f"planted_model is not a string of {size} values 0 and 1")
    return Metadata(cost, model, recipe)


def _planted(
    header: dict[str, Any], arrays: Arrays, problem: Problem, metadata: Metadata
) -> Planted | None:
    if "nodes" not in arrays:
        return None
    if not isinstance(problem, (Ising, Rbm)) or metadata.planted_model is None:
        raise ValueError("loops without a planted spin problem")
    cost, loop_weight = metadata.planted_cost, header["loop_weight"]
    if not all(isinstance(x, int) and not isinstance(x, bool) for x in (cost, loop_weight)):
        raise ValueError("planted_cost and loop_weight must be whole numbers")
    assert isinstance(cost, int)
    loops = Loops(arrays["nodes"], arrays["starts"], arrays["loop_weights"])
    recipe = Recipe.from_json(json.dumps(metadata.recipe))
    state = 2 * metadata.planted_model - np.int8(1)
    return Planted(problem, state, cost, loop_weight, loops, recipe)


def _any_problem(problem: Problem) -> tuple[Problem, Reduction]:
    return problem, unchanged(problem)


NPZ = Format("glasshouse archive", ".npz", _any_problem, write, read, native=True)
