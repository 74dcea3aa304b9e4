"""Files byte by byte: archives, arrays and models as they are written, or should never be."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from typing import Any

import numpy as np

MIB = 1 << 20


def zeros(size: int) -> bytes:
    return bytes(size)


def gzipped(unit: bytes, size: int) -> bytes:
    """A long text of one unit, compressed in pieces: never whole in memory."""
    packer = zlib.compressobj(9, wbits=31)
    times = MIB // len(unit) + 1
    pieces = [packer.compress(unit * times) for _ in range(size // (times * len(unit)))]
    return b"".join([*pieces, packer.flush()])


def npy(kind: str, shape: tuple[int, ...], data: bytes = b"") -> bytes:
    """An .npy file that states any type and shape."""
    head = f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {shape!r}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + data


def array(values: Any, kind: str = "<i8") -> bytes:
    data = np.array(values, dtype=kind)
    return npy(kind, data.shape, data.tobytes())


def text_array(text: str) -> bytes:
    return npy(f"<U{len(text)}", (), np.array(text).tobytes())


def npz(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return file.getvalue()


def header(**values: Any) -> bytes:
    known = {"format": "glasshouse", "version": 1, "recipe": None, "planted_cost": None}
    return text_array(json.dumps(known | {"offset": 0} | values))


def rbm(**changed: bytes) -> dict[str, bytes]:
    """A sparse RBM of 4 × 3 with three weights."""
    members = {
        "header": header(kind="Rbm", shape=[4, 3]),
        "visible_bias": array([0, 0, 0, 0]),
        "hidden_bias": array([0, 0, 0]),
        "indptr": array([0, 1, 2, 3, 3]),
        "indices": array([0, 1, 2], "<i4"),
        "weights": array([1, 2, 3]),
    }
    return members | changed


def planted_header(**values: Any) -> bytes:
    recipe = {"method": "x", "parameters": {}, "seed": 1, "spawn_key": [], "version": "1"}
    known = {"kind": "Ising", "size": 3, "recipe": recipe, "planted_cost": -1, "loop_weight": 1}
    return header(**known | values)


def planted(**changed: bytes) -> dict[str, bytes]:
    """A triangle with its loop."""
    members = {
        "header": planted_header(),
        "edges": array([[0, 1], [0, 2], [1, 2]], "<i4"),
        "weights": array([1, -1, 1]),
        "single": array([0, 0, 0]),
        "planted_model": array([1, 1, 1], "|i1"),
        "nodes": array([0, 1, 2], "<i4"),
        "starts": array([0, 3]),
        "loop_weights": array([1, 1, -1]),
    }
    return members | changed


def squared(**changed: bytes) -> dict[str, bytes]:
    """A triangle, antiferromagnetic, with its square."""
    header = planted_header(version=2, denominator=2)
    members = {
        "header": header,
        "weights": array([-1, -1, -1]),
        "planted_model": array([1, 1, 0], "|i1"),
        "nodes": array([], "<i4"),
        "starts": array([0]),
        "loop_weights": array([]),
        "square_nodes": array([0, 1, 2], "<i4"),
        "square_starts": array([0, 3]),
        "coefficients": array([1, 1, 1]),
        "multipliers": array([1]),
    }
    return planted() | members | changed


def wide_square(size: int) -> dict[str, bytes]:
    """One square over many spins of a problem without weights."""
    return squared(
        header=planted_header(version=2, denominator=2, size=size),
        edges=npy("<i4", (0, 2)),
        weights=array([]),
        single=array(np.zeros(size)),
        planted_model=array(np.ones(size), "|i1"),
        square_nodes=array(np.arange(size), "<i4"),
        square_starts=array([0, size]),
        coefficients=array(np.ones(size)),
    )


def bqm(shape: Any, data: bytes, **values: Any) -> bytes:
    known = {
        "shape": shape,
        "dtype": "float32",
        "itype": "int8",
        "ntype": "int8",
        "vartype": "SPIN",
    }
    head = json.dumps(known | values).encode()
    return b"DIMODBQM\2\0" + struct.pack("<I", len(head)) + head + data
