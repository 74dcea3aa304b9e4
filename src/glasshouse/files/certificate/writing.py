"""The writer of certificate files (`.cert`); `docs/certificate.md` describes the format."""

from __future__ import annotations

import os
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Certificate
from glasshouse.files.certificate.reading import TITLE
from glasshouse.files.certificate.trees import tree_lines
from glasshouse.files.text.number_rows import MOST_DIGITS, bit_string, write_rows
from glasshouse.files.text.streams import replacing
from glasshouse.problems import IntArray, Max2Sat, MaxSat, Number, Problem


def loop_units(problem: Problem) -> int:
    """Return the factor that converts a problem's cost to the units of certificate multipliers."""
    return 2 if isinstance(problem, (Max2Sat, MaxSat)) else 1


def rescaled(certificate: Certificate, factor: Fraction) -> Certificate:
    """Return a certificate in which all multipliers are scaled by `factor`."""
    if factor == 1:
        return certificate
    squares = certificate.squares
    loops, others = (
        part.multipliers.astype(object) * factor.numerator for part in (certificate, squares)
    )
    denominator = certificate.denominator * factor.denominator
    divisor = int(np.gcd.reduce(np.concatenate([loops, others]), initial=denominator))
    return replace(
        certificate,
        multipliers=loops // divisor,
        denominator=denominator // divisor,
        squares=replace(squares, multipliers=others // divisor),
    )


def write_certificate(
    path: str | os.PathLike[str],
    certificate: Certificate,
    *,
    cost: Number | None = None,
    names: npt.NDArray[np.integer[Any]] | None = None,
    overwrite: bool = False,
) -> None:
    """Write a certificate file; `SideCar` explains `cost` and `names`."""
    multipliers = (certificate.multipliers, certificate.squares.multipliers)
    largest = max(certificate.denominator, *(int(m.max(initial=0)) for m in multipliers))
    if largest >= 10**MOST_DIGITS:
        raise ValueError(f"the certificate has an integer with more than {MOST_DIGITS} digits")
    version = _version_of(certificate)
    head = [f"{TITLE} {version}", f"denominator {certificate.denominator}"]
    if cost is not None:
        head.append(f"cost {cost}")
    head.append(f"state {bit_string((certificate.state > 0).astype(np.int8))}")
    if names is not None:
        head.append(f"names {' '.join(map(str, (names + 1).tolist()))}")
    head += [] if certificate.tree is None else tree_lines(certificate.tree, len(certificate.state))
    if certificate.num_monomials:
        head.append(f"monomials {certificate.num_monomials}")
    if certificate.num_cores:
        head.append(f"cores {certificate.num_cores}")
    else:
        head.append(f"loops {certificate.num_loops}")
    if certificate.num_squares:
        head.append(f"squares {certificate.num_squares}")
    with replacing(Path(path), overwrite=overwrite) as file:
        file.write("\n".join([*head, ""]).encode("ascii"))
        if certificate.num_monomials:
            table = certificate.monomials
            write_rows(file, table.indices.astype(np.int64) + 1, table.starts[1:])
        _write_loops(file, certificate)
        _write_squares(file, certificate)
        if certificate.num_cores:
            cores = certificate.cores
            _write_parts(file, cores.costs, cores.tokens, cores.starts)


def _version_of(certificate: Certificate) -> int:
    """Return the lowest version that can contain all parts of a certificate."""
    if certificate.num_cores:
        return 5
    has_orders = certificate.tree is not None and certificate.tree.num_orders > 0
    if certificate.num_monomials:
        if has_orders:
            raise ValueError("a certificate with monomials cannot contain elimination orders")
        return 4
    if certificate.tree is not None:
        return 6 if has_orders else 3
    return 2 if certificate.num_squares else 1


def _write_loops(file: BinaryIO, certificate: Certificate) -> None:
    if not certificate.num_loops:
        return
    vertices = _vertices(certificate.nodes, len(certificate.state))
    if certificate.violated is not None:
        vertices = _signed(vertices, certificate)
    _write_parts(file, certificate.multipliers, vertices, certificate.starts)


def _write_squares(file: BinaryIO, certificate: Certificate) -> None:
    squares = certificate.squares
    if not squares.num_squares:
        return
    vertices = _vertices(squares.nodes, len(certificate.state))
    pairs = np.column_stack([squares.coefficients, vertices])
    _write_parts(file, squares.multipliers, pairs.reshape(-1), 2 * squares.starts)


def _vertices(nodes: npt.NDArray[Any], ghost: int) -> IntArray:
    """Convert nodes to vertex numbers of a file: the ghost is 0; spins precede monomials."""
    vertices: IntArray = np.where(nodes == ghost, 0, np.where(nodes < ghost, nodes + 1, nodes))
    return vertices.astype(np.int64)


def _write_parts(
    file: BinaryIO, multipliers: npt.NDArray[Any], values: IntArray, starts: IntArray
) -> None:
    """Write one line per loop, square or core: first its multiplier or cost, then its entries."""
    if multipliers.dtype != np.int64:
        for k, multiplier in enumerate(multipliers.tolist()):
            row = values[starts[k] : starts[k + 1]].tolist()
            file.write(f"{multiplier} {' '.join(map(str, row))}\n".encode())
        return
    ends = starts[1:] + np.arange(1, len(starts))
    write_rows(file, np.insert(values, starts[:-1], multipliers), ends)


def _signed(vertices: IntArray, certificate: Certificate) -> IntArray:
    """Negate each node whose edge to the next node is violated, except at the end of a loop.

    The ghost, 0, has no sign; if its edge is violated, the loop is rotated to end with the ghost.
    """
    assert certificate.violated is not None
    signed = np.where(certificate.violated, -vertices, vertices)
    starts = certificate.starts
    ends = np.zeros(len(signed), dtype=np.bool_)
    ends[starts[1:] - 1] = True
    for place in np.flatnonzero(certificate.violated & (vertices == 0) & ~ends).tolist():
        loop = int(np.searchsorted(starts, place, side="right")) - 1
        part = slice(starts[loop], starts[loop + 1])
        signed[part] = np.roll(signed[part], int(starts[loop + 1]) - 1 - place)
    signed[ends] = np.abs(signed[ends])
    return signed
