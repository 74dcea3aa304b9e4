"""Mutators of archives, which change one member and write valid checksums."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from random import Random
from typing import Any

import numpy as np

from fuzz.mutators import Mutate, bqms, texts, trees, words
from fuzz.packing import first_bytes, packed

_MOST_UNPACKED = 1 << 16
_NAMES = ("indptr", "indices", "weights", "nodes", "starts", "hard", "planted_model", "other")


def mutate_npz(data: bytes, random: Random) -> bytes:
    """Change one array, or one value of the header, of a NumPy archive."""
    try:
        members = _members(data)
        name = random.choice(list(members))
        if random.random() < 0.1:
            _rename(members, name, random)
        elif name == "header.npy":
            members[name] = _changed_header(members[name], random)
        else:
            members[name] = _changed_array(members[name], random)
    except Exception:  # zipfile, NumPy and JSON raise many errors for changed archives
        return bqms.with_number(data, random)
    return _archive(members, random)


def mutate_gz(data: bytes, random: Random) -> bytes:
    """Change the unpacked content of a .gz file, or its bytes."""
    return _repacked(data, random, ".gz")


def mutate_xz(data: bytes, random: Random) -> bytes:
    """Change the unpacked content of a .xz file, or its bytes."""
    return _repacked(data, random, ".xz")


def _repacked(data: bytes, random: Random, kind: str) -> bytes:
    inner = first_bytes(data, kind, _MOST_UNPACKED)
    if not inner or random.random() < 0.3:
        return bqms.with_number(data, random)
    mutate: Mutate = texts.mutate
    if inner.startswith(b"PK"):
        mutate = mutate_npz
    elif inner.startswith(b"DIMOD"):
        mutate = bqms.mutate
    new = packed(mutate(inner, random), kind)
    return new + new if random.random() < 0.05 else new  # a file may have several members


def _members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(info.file_size for info in archive.infolist()) > _MOST_UNPACKED:
            raise ValueError("the archive is too large to change")
        return {name: archive.read(name) for name in archive.namelist()}


def _archive(members: dict[str, bytes], random: Random) -> bytes:
    kind = zipfile.ZIP_STORED if random.random() < 0.8 else zipfile.ZIP_DEFLATED
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", kind) as archive:
        for name, member in members.items():
            archive.writestr(zipfile.ZipInfo(name), member, compress_type=kind)
    return file.getvalue()


def _rename(members: dict[str, bytes], name: str, random: Random) -> None:
    """Rename a member of an archive, or copy it to another name."""
    other = f"{random.choice(_NAMES)}.npy"
    members[other] = members[name]
    if random.random() < 0.5:
        del members[name]


def _changed_header(member: bytes, random: Random) -> bytes:
    text = str(np.load(io.BytesIO(member), allow_pickle=False))
    return _npy(np.array(trees.dumped(trees.changed(json.loads(text), random)).decode()))


def _changed_array(member: bytes, random: Random) -> bytes:
    kind = random.random()
    if kind < 0.1:
        return bqms.with_number(member, random)
    array = np.array(np.load(io.BytesIO(member), allow_pickle=False))
    if kind < 0.2:
        return _npy(_of_another_type(array, random))
    if kind < 0.35:
        longer = np.repeat(array, 2, axis=0) if array.ndim else array
        return _npy(random.choice((array[:-1], array[1:], longer, array[::-1], array.reshape(-1))))
    for _ in range(random.choice((1, 1, 2, 4))):
        _set_one(array.reshape(-1), random)
    return _npy(array)


def _set_one(flat: Any, random: Random) -> None:
    if not len(flat):
        return
    here = random.randrange(len(flat))
    try:
        flat[here] = words.number(random)
    except OverflowError:
        flat[here] = np.iinfo(flat.dtype).min


def _of_another_type(array: Any, random: Random) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return array.astype(
            random.choice(("int8", "int32", "uint64", "float64", "bool", ">i8", "U3"))
        )


def _npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)
    return file.getvalue()
