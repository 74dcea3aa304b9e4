"""Named arrays from an .npz archive, and checks of the integers in them.

Only requested arrays are read. The directory of an archive is not trusted: at most
100 members of it are read, sizes are compared with the allowance before memory is allocated, and a
member is unpacked no further than its stated size.

Differences and casts of integers wrap around silently, and compiled code trusts them as indices.
They are therefore compared, as Python integers if types differ, and only then cast.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.files.text.errors import FileError
from glasshouse.files.text.streams import BLOCK, Source
from glasshouse.files.text.unpacking import MeteredFile
from glasshouse.problems import IntArray

_MOST_MEMBERS = 100  # our archives have about 12

_NPY_HEAD = re.compile(
    rb"\{'descr': ?'([<>|]?)([a-zA-Z])([0-9]{1,9})', ?'fortran_order': ?(True|False), ?"
    rb"'shape': ?\(([0-9]{1,18}(?:, ?[0-9]{1,18})*)?,?\),? ?\} *\n"
)
_NUMBERS = {"i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"}
_LONGEST_HEAD = 10_000
NUMBER = 8  # bytes of a number in memory


@contextmanager
def opened_archive(source: Source, otherwise: str) -> Iterator[Archive]:
    """Open an .npz file, and report any fault in it as a `FileError`.

    Args:
        source: the file.
        otherwise: the error message, with `{}` in place of the fault.
    """
    try:
        with Archive(source) as archive:
            yield archive
    except (FileError, MemoryError):  # a lack of memory is not a fault of the file
        raise
    except Exception as fault:  # zipfile and zlib raise many types of errors for corrupt bytes
        raise source.error(otherwise.format(fault)) from None


class Archive:
    """An open .npz file, whose arrays are read by name; see `opened_archive`.

    Args:
        source: the file.

    Raises:
        ValueError: the file is not an archive, or is larger than glasshouse writes. `zipfile` and
            `zlib` raise their own errors for corrupt bytes.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._file = MeteredFile(source.seekable())
        self._zip = zipfile.ZipFile(self._file)
        self._file.bytes_left = None
        self._left = source.allowance.unpacked
        members = self._zip.infolist()
        if len(members) > _MOST_MEMBERS:
            raise ValueError(f"there are {len(members)} members; expected at most {_MOST_MEMBERS}")
        counts = Counter(member.filename for member in members)
        for name, count in counts.items():
            if count > 1:
                raise ValueError(f"{count} members are called {name[:40]!r}; expected one")
        self._members = {member.filename: member for member in members}

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._zip.close()

    @property
    def names(self) -> set[str]:
        """The names of the arrays."""
        return {name.removesuffix(".npy") for name in self._members}

    def __contains__(self, name: str) -> bool:
        return f"{name}.npy" in self._members

    def text(self, name: str) -> str:
        """Read an array that contains a single string."""
        array = self._read(name, text=True)
        if array.ndim:
            raise ValueError(f"{name} must be a single string, not an array")
        return str(array)

    def numbers(self, name: str, dimensions: int) -> npt.NDArray[Any]:
        """Read an array of numbers with `dimensions` dimensions, in native byte order."""
        array = self._read(name, text=False)
        if array.ndim != dimensions:
            raise ValueError(f"{name} has shape {array.shape}; expected {dimensions} dimensions")
        return array.astype(array.dtype.newbyteorder("="), copy=False)

    def _read(self, name: str, *, text: bool) -> npt.NDArray[Any]:
        if name not in self:
            raise KeyError(name)
        member = self._members[f"{name}.npy"]
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"{name} must be uncompressed or compressed with deflate")
        self._left -= member.file_size
        if self._left < 0:
            raise self._source.error(self._source.allowance.too_much)
        with self._zip.open(member) as data:
            kind, shape, is_fortran, start = npy_head(data, name, text=text)
            count = 1
            for length in shape:
                count *= length
            if count * kind.itemsize != member.file_size - start:
                raise ValueError(f"{name} of shape {shape} has the wrong number of bytes")
            if not text:
                # Problems and machines store numbers in eight bytes, even if the file has shorter
                # ones.
                self._left -= count * max(0, NUMBER - kind.itemsize)
            if self._left < 0:
                raise self._source.error(self._source.allowance.too_much)
            array = np.empty(count, kind)
            _fill(array.view(np.uint8), data, name)
        return array.reshape(shape, order="F" if is_fortran else "C")


def npy_head(
    data: Any, name: str, *, text: bool
) -> tuple[np.dtype[Any], tuple[int, ...], bool, int]:
    """Parse the header of an .npy file of version 1.0, as NumPy writes it.

    Returns:
        The type, the shape, whether the array is stored by columns, and the header's length.
    """
    magic = data.read(10)
    length = int.from_bytes(magic[8:], "little")
    if magic[:8] != b"\x93NUMPY\1\0" or len(magic) != 10 or length > _LONGEST_HEAD:
        raise ValueError(f"{name} is not an .npy file of version 1.0")
    head = data.read(length)
    found = _NPY_HEAD.fullmatch(head)
    if not found or len(head) != length:
        raise ValueError(f"{name} is not a plain array of {'text' if text else 'numbers'}")
    order, kind, width, fortran, lengths = found.groups()
    spelled = (kind + width).decode()
    if spelled not in _NUMBERS if not text else kind != b"U":
        raise ValueError(f"{name} has type {spelled}; expected {'text' if text else 'numbers'}")
    shape = tuple(map(int, lengths.split(b","))) if lengths else ()
    return np.dtype(order.decode() + spelled), shape, fortran == b"True", 10 + length


def _fill(memory: npt.NDArray[np.uint8], data: Any, name: str) -> None:
    """Read a whole archive member into `memory`; reading to its end verifies the checksum."""
    place = 0
    while place < len(memory):
        piece = data.read(min(BLOCK, len(memory) - place))
        if not piece:
            raise ValueError(f"{name} is shorter than the archive states")
        memory[place : place + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
        place += len(piece)
    if data.read(1):
        raise ValueError(f"{name} is longer than the archive states")


def whole_between(array: npt.NDArray[Any], least: int, most: int, what: str) -> IntArray:
    """Check that a flat array contains integers from `least` to `most`; return it as int64.

    Raises:
        ValueError: the array has another shape or type, or a number is outside that range.

    >>> whole_between(np.array([2, 2**64 - 1], dtype=np.uint64), 0, 9, "a place")
    Traceback (most recent call last):
    ...
    ValueError: a place is 18446744073709551615; expected 0 to 9
    """
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(
            f"{what} must be in a flat array of integers, not {array.dtype} of shape {array.shape}"
        )
    if array.size:
        for extreme in (int(array.min()), int(array.max())):
            if not least <= extreme <= most:
                raise ValueError(f"{what} is {extreme}; expected {least} to {most}")
    return array.astype(np.int64, copy=False)


def bounds_of(array: npt.NDArray[Any], end: int, what: str) -> IntArray:
    """Check that the boundaries of parts are in ascending order, 0 to `end`; return them as int64.

    Raises:
        ValueError: the boundaries are not in ascending order from 0 to `end`.
    """
    bounds = whole_between(array, 0, end, what)
    if not bounds.size or bounds[0] != 0 or bounds[-1] != end:
        raise ValueError(f"{what} is wrong: the first must be 0 and the last {end}")
    if (bounds[1:] < bounds[:-1]).any():
        raise ValueError(f"{what} is below its predecessor; all must be in ascending order")
    return bounds
