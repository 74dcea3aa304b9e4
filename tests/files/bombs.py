"""Files made to do harm: small, or cheap to make, they ask for gigabytes, hours or worse."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from tests.files.raw_files import (
    MIB,
    array,
    bqm,
    gzipped,
    npy,
    npz,
    planted,
    rbm,
    squared,
    wide_square,
)

BOMBS: dict[str, Callable[[Path], Path]] = {}


def bomb(suffix: str) -> Callable[[Callable[[], bytes]], Callable[[], bytes]]:
    """List a function that gives the bytes of a file; the file is called like the function."""

    def listed(content: Callable[[], bytes]) -> Callable[[], bytes]:
        def written(folder: Path) -> Path:
            path = folder / f"{content.__name__}{suffix}"
            path.write_bytes(content())
            return path

        BOMBS[content.__name__] = written
        return content

    return listed


@bomb(".npz")
def wrapping_row_starts() -> bytes:
    return npz(rbm(indptr=array([0, 2**62, 2**63 - 1, -(2**62), 3])))


@bomb(".npz")
def wrapping_loop_starts() -> bytes:
    return npz(planted(starts=array([0, 2**62, 2**63 - 1, -(2**62), 3])))


@bomb(".npz")
def far_loop_node() -> bytes:
    return npz(planted(nodes=array([0, 1, 2**31 - 2], "<i4")))


def certificate_of_a_square(size: int, multiplier: str = "1") -> bytes:
    head = f"glasshouse-certificate 2\ndenominator 1\nstate {'1' * size}\nloops 0\nsquares 1\n"
    pairs = " ".join(f"1 {k}" for k in range(1, size + 1))
    return f"{head}{multiplier} {pairs}\n".encode()


@bomb(".cert")
def square_of_a_million_million_pairs() -> bytes:
    return certificate_of_a_square(1_420_000)


@bomb(".cert.gz")
def packed_square_of_a_million_million_pairs() -> bytes:
    return gzip.compress(certificate_of_a_square(1_420_000), 1)


@bomb(".cert")
def square_of_long_numbers() -> bytes:
    return certificate_of_a_square(3000, "9" * 4300)


@bomb(".cert")
def many_squares_of_many_pairs() -> bytes:
    first, square = certificate_of_a_square(20_000).rsplit(b"\n", 2)[:2]
    return first.replace(b"squares 1", b"squares 60") + 60 * (b"\n" + square) + b"\n"


@bomb(".npz")
def archive_of_a_million_million_pairs() -> bytes:
    return npz(wide_square(1_420_000))


@bomb(".npz")
def square_within_the_limit() -> bytes:
    return npz(wide_square(40_000))


@bomb(".npz")
def wrapping_coefficients() -> bytes:
    return npz(squared(coefficients=array([2**63 - 1] * 3), multipliers=array([2**63 - 1])))


@bomb(".npz")
def far_square_node() -> bytes:
    return npz(squared(square_nodes=array([0, 1, 2**31 - 2], "<i4")))


@bomb(".npz")
def wrapping_square_starts() -> bytes:
    return npz(squared(square_starts=array([0, 2**62, 2**63 - 1, -(2**62), 3])))


@bomb(".npz")
def far_column() -> bytes:
    return npz(rbm(indices=array([0, 1, 2**31 - 1], "<i4")))


@bomb(".npz")
def unused_members_of_gigabytes() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in rbm().items():
            archive.writestr(f"{name}.npy", data)
        for k in range(2):
            with archive.open(f"unused{k}.npy", "w", force_zip64=True) as member:
                for _ in range(512):
                    member.write(bytes(MIB))
    return file.getvalue()


@bomb(".npz")
def used_member_of_a_gigabyte() -> bytes:
    size = 1 << 27
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in planted().items():
            if name != "single":
                archive.writestr(f"{name}.npy", data)
        with archive.open("single.npy", "w", force_zip64=True) as member:
            member.write(npy("<i8", (size,)))
            for _ in range(size // MIB):
                member.write(bytes(8 * MIB))
    return file.getvalue()


@bomb(".npz")
def directory_that_says_little() -> bytes:
    """The member unpacks to 32 MiB, the directory says 64 bytes."""
    data = npz(rbm() | {"weights": array([1, 2, 3]) + bytes(32 * MIB)})
    place = data.rindex(b"weights.npy") - 46
    return data[: place + 24] + struct.pack("<I", 64) + data[place + 28 :]


@bomb(".npz")
def directory_that_says_much() -> bytes:
    data = npz(rbm())
    place = data.rindex(b"weights.npy") - 46
    return data[: place + 24] + struct.pack("<I", 2**32 - 2) + data[place + 28 :]


@bomb(".npz")
def giant_directory() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for k in range(12_000):
            archive.writestr(f"{k}", b"")
    return file.getvalue()


@bomb(".npz")
def members_of_one_name() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in rbm().items():
            archive.writestr(f"{name}.npy", data)
            if name != "header":
                info = zipfile.ZipInfo(f"{name}.npy")
                archive.NameToInfo.clear()
                archive.writestr(info, data)
    return file.getvalue()


@bomb(".npz")
def unknown_compression() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("header.npy", bytes(8 * MIB))
    return file.getvalue()


@bomb(".npz")
def giant_shape() -> bytes:
    return npz(rbm(weights=npy("<i8", (2**40, 2**40))))


@bomb(".npz")
def giant_empty_shape() -> bytes:
    return npz(planted(edges=npy("<i4", (0, 10**17))))


@bomb(".npz")
def giant_text_header() -> bytes:
    return npz({"header": npy("<U100000000", (), bytes(4))})


@bomb(".npz")
def nested_descr() -> bytes:
    head = b"(" * 9000
    return npz(rbm(weights=b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head))


@bomb(".npz.gz")
def archive_of_zeros() -> bytes:
    return gzipped(bytes(1024), 2048 * MIB)


@bomb(".bqm.gz")
def bqm_of_zeros() -> bytes:
    return gzipped(bytes(1024), 2048 * MIB)


@bomb(".bqm")
def bqm_of_giant_shape() -> bytes:
    return bqm([2**31 - 1, 2**31 - 1], bytes(64))


@bomb(".bqm.gz")
def bqm_of_short_records() -> bytes:
    """Return the records that fit into 60 MiB; sorting them takes far more memory."""
    records = 6_000_000
    return gzip.compress(bqm([2, records], bytes(4 + 10 + 10 * records)), 1)


@bomb(".bqm.gz")
def bqm_of_idle_variables() -> bytes:
    size = 12_000_000
    return gzip.compress(bqm([size, 0], bytes(4 + 5 * size)), 1)


@bomb(".wcnf.gz")
def text_of_gigabytes() -> bytes:
    return gzipped(b"1 1 -2 0\n", 1024 * MIB)


@bomb(".cnf.gz")
def shortest_clauses() -> bytes:
    return gzip.compress(b"p cnf 1 33000000\n" + b"0\n" * 33_000_000, 1)


@bomb(".coo.gz")
def shortest_terms() -> bytes:
    return gzip.compress(b"# vartype=SPIN\n" + b"0 0 0\n" * 11_000_000, 1)


@bomb(".coo.gz")
def shortest_decimals() -> bytes:
    return gzip.compress(b"# vartype=SPIN\n" + b"0 0 .1\n" * 9_400_000, 1)


def zipped(content: bytes, times: int) -> bytes:
    """A zip archive of one graph, whose content is repeated."""
    file = io.BytesIO()
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("x.mc", "w", force_zip64=True) as member,
    ):
        for _ in range(times):
            member.write(content)
    return file.getvalue()


@bomb(".zip")
def zip_of_gigabytes() -> bytes:
    return zipped(b"1 2 1\n" * 175_000, 2048)


@bomb(".zip")
def zip_of_blank_lines() -> bytes:
    return zipped(b"\n" * MIB, 80)


@bomb(".mc.zip")
def zip_of_many_names() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for k in range(30_000):
            archive.writestr(f"{k}.mc", b"")
    return file.getvalue()


@bomb(".sparse")
def matrix_of_idle_variables() -> bytes:
    return b"2000000000 0\n"


@bomb(".txt")
def far_vertex_without_header() -> bytes:
    return b"1 2000000000 1\n"


@bomb(".wcnf.gz")
def spaces_of_gigabytes() -> bytes:
    return gzipped(b" ", 1024 * MIB)


@bomb(".wcnf.gz")
def many_gzip_members() -> bytes:
    return gzip.compress(b"", 1) * 500_000


@bomb(".wcnf.xz")
def many_xz_streams() -> bytes:
    return lzma.compress(b"") * 100_000


@bomb(".wcnf.xz")
def xz_of_gigabytes() -> bytes:
    packer = lzma.LZMACompressor(preset=0)
    pieces = [packer.compress(b"1 1 0\n" * (MIB // 6)) for _ in range(512)]
    return b"".join([*pieces, packer.flush()])


@bomb(".wcnf.xz")
def xz_of_a_giant_dictionary() -> bytes:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0}]
    data = bytearray(lzma.compress(b"1 1 0\n" * 100, filters=filters))
    # The dictionary's size is in the block header, whose check sum is then corrected.
    place = data.index(b"\x21\x01", 12)
    data[place + 2] = 39  # 3 GiB
    end = 12 + 4 * (data[12] + 1) - 4
    data[end : end + 4] = struct.pack("<I", zlib.crc32(bytes(data[12:end])))
    return bytes(data)


@bomb(".wcnf.gz")
def gzip_with_a_tail() -> bytes:
    return gzip.compress(b"1 1 0\n") + b"no gzip"


@bomb(".wcnf.xz")
def xz_with_a_tail() -> bytes:
    return lzma.compress(b"1 1 0\n") + b"no xz at all"


@bomb(".wcnf")
def words_in_one_line() -> bytes:
    return b"x " * (15 * MIB // 2)


@bomb(".wcnf")
def numbers_in_one_line() -> bytes:
    return b"1 " * (8 * MIB - 16)


@bomb(".mc")
def numbers_in_the_first_line() -> bytes:
    return b"1 " * (8 * MIB - 16)


@bomb(".wcnf")
def line_of_64_mebibytes() -> bytes:
    return b"1 " * (32 * MIB - 16)


@bomb(".wcnf")
def header_of_64_mebibytes() -> bytes:
    return b"p wcnf" + b" 1" * (32 * MIB - 16) + b"\n"


@bomb(".qubo")
def qubo_header_of_64_mebibytes() -> bytes:
    return b"p qubo" + b" 1" * (32 * MIB - 16) + b"\n"


@bomb(".coo")
def vartype_of_64_mebibytes() -> bytes:
    return b"# " + b"vartype " * (8 * MIB - 16) + b"\n"


@bomb(".wcnf")
def model_of_64_mebibytes() -> bytes:
    return b"1 1 0\nc planted-model " + b"01" * (32 * MIB - 32) + b"\n"


@bomb(".wcnf")
def model_of_many_words() -> bytes:
    return b"1 1 0\nc planted-model" + b" 1" * (32 * MIB - 32) + b"\n"


@bomb(".wcnf")
def recipe_of_many_values() -> bytes:
    return b'1 1 0\nc recipe {"a":[' + b"[]," * (20 * MIB) + b"[]]}\n"


@bomb(".wcnf")
def recipe_of_many_objects() -> bytes:
    return b'1 1 0\nc recipe {"a":[' + b"{}," * 1_000_000 + b"{}]}\n"


@bomb(".wcnf")
def recipe_of_a_long_text() -> bytes:
    return b'1 1 0\nc recipe {"a":"' + b"a" * (60 * MIB) + b'\\ud83d\\ude00"}\n'


@bomb(".wcnf")
def recipe_of_a_foreign_text() -> bytes:
    return b'1 1 0\nc recipe {"a":"' + b"a" * (60 * MIB) + "😀".encode() + b'"}\n'


@bomb(".wcnf")
def deep_recipe() -> bytes:
    return b'1 1 0\nc recipe {"a":' + b"[" * 900 + b"]" * 900 + b"}\n"


@bomb(".wcnf")
def very_deep_recipe() -> bytes:
    return b'1 1 0\nc recipe {"a":' + b"[" * 10**6 + b"]" * 10**6 + b"}\n"


@bomb(".wcnf")
def number_of_a_million_digits() -> bytes:
    return b"p wcnf 1 1 9\n" + b"9" * 10**6 + b" 1 0\nc planted-cost " + b"9" * 10**6 + b"\n"


@bomb(".wcnf")
def top_of_a_million_digits() -> bytes:
    return b"p wcnf 1 1 " + b"9" * 10**6 + b"\n1 1 0\n"


@bomb(".wcnf")
def idle_variables() -> bytes:
    return b"p wcnf 10000000 1 9\n3 1 0\n"


@bomb(".mc")
def idle_vertices() -> bytes:
    return b"10000000 0\n"


@bomb(".edges")
def graph_of_far_nodes() -> bytes:
    return b"0 16000000\n"


@bomb(".edges.gz")
def graph_of_gigabytes() -> bytes:
    return gzipped(b"0 1\n", 1024 * MIB)


@bomb(".edges.gz")
def graph_of_comments() -> bytes:
    return gzipped(b"0 1 # no\n", 60 * MIB)


@bomb(".cert.gz")
def certificate_of_gigabytes() -> bytes:
    return gzipped(b"1 1 2 3\n", 1024 * MIB)


@bomb(".jsonl.gz")
def manifest_of_gigabytes() -> bytes:
    line = {"file": "a.wcnf", "sha256": "", "recipe": {}, "optimum": 1}
    return gzipped(json.dumps(line).encode() + b"\n", 1024 * MIB)


@bomb(".jsonl")
def manifest_of_one_line() -> bytes:
    return b'{"file":[' + b"[]," * (20 * MIB) + b"[]]}\n"


@bomb(".cnf.gz")
def clauses_within_the_limit() -> bytes:
    return gzip.compress(b"p cnf 1 6600000\n" + b"0\n" * 6_600_000, 1)


@bomb(".coo.gz")
def decimals_within_the_limit() -> bytes:
    return gzip.compress(b"# vartype=SPIN\n" + b"0 0 .1\n" * 4_400_000, 1)


@bomb(".coo.gz")
def large_decimals() -> bytes:
    return gzip.compress(b"# vartype=SPIN\n" + b"0 0 1e19\n" * 3_700_000, 1)


def device(folder: Path) -> Path:
    path = folder / "device.bqm"
    path.symlink_to("/dev/zero")
    return path


BOMBS["endless_device"] = device
