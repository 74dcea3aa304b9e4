"""Hostile files by the thousand: good ones damaged, and bad ones made up, for every reader.

`python -m tests.files.hostile FIRST COUNT FOLDER` reads files FIRST to FIRST + COUNT - 1 in a
separate process, and prints the outcome as JSON.
"""

from __future__ import annotations

import gzip
import json
import lzma
import random
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.files.raw_files import (
    array,
    bqm,
    header,
    npy,
    npz,
    planted,
    planted_header,
    rbm,
    squared,
)
from tests.files.recipe_bombs import recipe_text

from glasshouse.files import read_document, read_planted, read_side_car, verify_file, write
from glasshouse.files.graphs import read_graph
from glasshouse.planting import METHODS as PLANTING_METHODS
from glasshouse.planting.methods import classic_loops, graph_loops, random_loops, wishart
from glasshouse.problems import Ising, Max2Sat, Qubo, Rbm
from glasshouse.suites import check_suite
from glasshouse.suites.manifest import sha256_of
from glasshouse.suites.writing import write_suite

WORDS = [
    b"0", b"1", b"-1", b"-0", b"9223372036854775807", b"-9223372036854775808",
    b"18446744073709551616",
    b"2147483647", b"2147483648", b"4294967296", b"1048577", b"99999999999999999999999", b"1.5",
    b"1e308", b"-1e308", b"1e400", b"5e-324", b"nan", b"inf", b"0x10", b"1_0", b"h", b"c", b"p",
    b"#",
    b"\n", b"\r\n", b"\r", b" ", b"\t", b"\x0b", b"\x00", b"\xff\xfe", b"-", b"+", b"+-1", b"0 0 0",
    b"p wcnf 2 2 9\n", b"p wcnf 1000000 1 2\n", b"p qubo 0 3 1 1\n", b"p cnf 3 1\n",
    b"# vartype=SPIN\n",
    b"c recipe {", b"c recipe for disaster\n", b"c planted-cost 1e308\n", b"c planted-model 01\n",
    b"# offset 1e308\n", b"# offset -1e308\n", b"# ancilla 1\n", b"c numbers float\n",
    b"# planted-cut 1e308\n",
    b"c num-variables 2147483647\n", b"c num-clauses 4611686018427387904\n", b"names 1 2 3\n",
    b"loops 0\n",
    b"denominator 0\n", b"cost 1e99\n", b"state 01\n", b"{", b"}", b"[", b'"', b"\\ud800",
    b"," * 9, b"9" * 400,
]  # fmt: skip
NUMBERS = [
    0, 1, -1, 2, 3, 2**31 - 1, 2**31, -(2**31), 2**32, 2**53, 2**53 + 1, 2**61, 2**62, -(2**62),
    2**63 - 1,
    -(2**63), 2**63, 2**64 - 1, 10**30, 10**400, 0.5, -1.5, 1e308, 5e-324, True, None, "1", [],
    {}, [0], "x" * 99,
]  # fmt: skip
KINDS = ["|i1", "<i2", "<i4", "<i8", ">i4", ">i8", "|u1", "<u4", "<u8", ">u8", "<f4", "<f8", ">f8"]
ODD_KINDS = ["|b1", "<f2", "<f16", "<c16", "|O", "|S3", "<U3", "<M8[s]", "|V8", [("a", "<i8")]]
PARAMETERS = {
    "n": [2, 3, 4, 10, 1000], "m": [2, 4, 10, 500], "loops": [1, 3, 10, 10**4, 10**9],
    "loop_density": ["1/2", "3", "1e9", 0.5], "frustration": ["1/5", "1/4", "1/3", 0, "0.3",
    "1/999999999"],
    "graph": ["torus:3x3", "complete:6", "torus:4", "lattice:2x9", "layers:2x3x2", "deep:2x2x2",
    "pegasus:2",
              "chimera:1", "zephyr:1", "edges:6 0-1 1-2 0-2 3-4", "complete:7 without 3", [3, 3],
              "torus:0",
              "complete:100000", "edges:9", "torus:3x3 without 99", "x:1"],
    "length": [3, 4, 6, 100, 10**9], "max_length": [3, 4, 9], "min_length": [3, 5, 10**6],
    "overlap": ["none", "constructive", "x"], "max_weight": [1, 2, 10, 2**63, 10**30],
    "weights": ["equal", "normal", "x"], "spread": ["1/10", "1/3", "9"], "resolution": [1, 100,
    10**6, 10**400],
    "block": ["1/2", "1", "0", "1/999"], "left": ["1/2", 1, 0], "upper": ["1/2", 0],
    "center": ["1/2", 1],
    "block_rule": ["paper", "authors"], "ghosts": [1, 2, 3], "bias_strength": [1, "3/2", "1e99"],
    "clause_density": [1, "3", "1e9"], "state": ["+-+-", "+" * 20, "x"], "shuffled": [True, False],
}  # fmt: skip
METHODS = {
    name: [known for known in method.parameters if known in PARAMETERS and known != "loop_density"]
    for name, method in PLANTING_METHODS.items()
}


class Originals:
    """Good files of every kind, to be damaged."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        clauses = Max2Sat.from_clauses(3, [[1, 2], [-3], [2, -3]], [1, 1, 1])
        hard = Max2Sat.from_clauses(3, [[1, 2], [-3]], [3, 12], hard=[[1, 3]])
        floats = Qubo.from_edges(3, [(0, 1), (1, 2)], [2.5, -1e-9], [0.5, 0, 0], 1.5)
        spins = Ising.from_edges(3, [(0, 1), (1, 2)], [2, -10], [1, 0, -2], 7)
        spins = replace(spins, labels=[30, 31, 45])
        sparse = Rbm.from_edges(2, 2, [(0, 0), (1, 0), (1, 1)], [1, 2, -3], [1, 0])
        plants = [
            random_loops(4, 4, frustration="1/5", loops=3, rng=1),
            graph_loops("torus:3x3", frustration="1/4", loops=3, rng=2),
            classic_loops((3, 3), loops=3, rng=3),
            wishart(4, columns=2, rng=4),
        ]
        write(folder / "a.cnf", clauses)
        write(folder / "new.wcnf", hard, dialect="mse22")
        for k, thing in enumerate([clauses, hard, floats, spins, sparse, *plants]):
            for suffix in (".wcnf", ".qubo", ".mc", ".coo", ".bqm", ".npz", ".qplib", ".json"):
                if thing is not floats or suffix != ".wcnf":
                    write(folder / f"{k}{suffix}", thing)
        write_suite(folder, plants[:2], suffix=".mc", stem="suite")
        (folder / "a.edges").write_text("0 1\n1 2 {'weight': 3}\n# none\n2 0\n")
        self.files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}

    def damaged(self, rng: random.Random) -> tuple[str, bytes]:
        """One of them with some bytes changed, packed again or before."""
        name = rng.choice(list(self.files))
        data, packing = self.files[name], rng.choice(["", "", "", ".gz", ".xz"])
        pack = {"": bytes, ".gz": _gzip, ".xz": lzma.compress}[packing]
        if rng.random() < 0.2:
            return name + packing, mutated(rng, pack(data))
        return name + packing, pack(mutated(rng, data))


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, 1)


def mutated(rng: random.Random, data: bytes) -> bytes:
    """Some bytes changed, dropped, doubled, or replaced by words that mean trouble."""
    for _ in range(rng.randint(1, 4)):
        start = rng.randint(0, len(data))
        end = min(len(data), start + rng.choice([0, 1, 2, 4, 8, 30]))
        new = rng.choice([
            rng.randbytes(rng.randint(0, 8)), rng.choice(WORDS), data[start:end] * 2,
            str(rng.choice(NUMBERS)).encode(), b" " + rng.choice(WORDS) + b"\n",
        ])  # fmt: skip
        data = data[:start] + new + data[end:]
    return data[: rng.randint(0, len(data))] if rng.random() < 0.1 else data


def made_up_text(rng: random.Random) -> tuple[str, bytes]:
    """Lines of words that mean trouble, under a header that may even be right."""
    suffix, head = rng.choice([
        (".wcnf", b"p wcnf %d %d 9\n"), (".wcnf", b""), (".cnf", b"p cnf %d %d\n"),
        (".qubo", b"p qubo 0 %d %d 0\n"), (".mc", b"%d %d\n"), (".coo", b"# vartype=SPIN\n"),
        (".coo", b"# vartype=BINARY\n"), (".edges", b""), (".jsonl", b""),
        (".qplib", b"x\nQBN\nminimize\n%d\n%d\n"), (".csv", b""),
        (".cert", b"glasshouse-certificate 1\ndenominator 1\nstate 0101\nloops 2\n"),
    ])  # fmt: skip
    lines = rng.randint(0, 5)
    if b"%d" in head:
        head %= (rng.choice([1, 3, 9, 10**5, 2**31 - 1, 2**40]), rng.choice([lines, 1, 10**9]))
    body = [
        b" ".join(
            rng.choice(WORDS) if rng.random() < 0.3 else b"%d" % rng.randint(-3, 9)
            for _ in range(rng.choice([1, 2, 3, 3, 3, 4, 5, 50]))
        )
        for _ in range(lines)
    ]
    return suffix, head + b"\n".join(body) + b"\n"


def hostile_array(rng: random.Random, good: bytes) -> bytes:
    """An array of a different type, shape or content, or one whose head disagrees with it."""
    if rng.random() < 0.2:
        return mutated(rng, good)
    if rng.random() < 0.2:
        kind: Any = rng.choice(ODD_KINDS + KINDS)
        shape = rng.choice([(), (3,), (0,), (2, 2), (10**9,), (2**40, 2**40), (-1,), (0, 10**17)])
        return npy(kind, shape, rng.randbytes(rng.choice([0, 1, 8, 24, 32])))
    size = rng.choice([0, 1, 2, 3, 3, 3, 4, 5, 8])
    kind = rng.choice(KINDS)
    values = [
        rng.choice(NUMBERS[:18]) if rng.random() < 0.3 else rng.randint(0, 3) for _ in range(size)
    ]
    bits = 8 * int(kind[2:])
    if "f" in kind:
        values = [rng.choice([0.0, 1.5, -1.0, 1e300, float("nan"), float("inf")]) for _ in values]
        if bits == 32:
            values = [min(abs(x), 1e38) for x in values]
    elif "u" in kind:
        values = [x % 2**bits for x in values]
    else:
        values = [(x + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) for x in values]
    made = array(values, kind)
    if size % 2 == 0 and rng.random() < 0.4:
        made = npy(kind, (size // 2, 2), made[-size * int(kind[2:]) or len(made) :])
    return made


def made_up_archive(rng: random.Random) -> tuple[str, bytes]:
    """A glasshouse archive with some members changed, dropped or added."""
    members = rng.choice([rbm, planted, squared])()
    if rng.random() < 0.2 and "multipliers" in members:
        members["header"] = planted_header(version=2, denominator=rng.choice(NUMBERS))
    elif rng.random() < 0.5:
        known = {"kind": rng.choice(["Ising", "Rbm", "Qubo", "Max2Sat", "x"]), "size": 3,
        "shape": [4, 3],
                 "loop_weight": 1, "planted_cost": -1, "recipe": None}  # fmt: skip
        for name in rng.sample(sorted(known), rng.randint(0, 2)):
            known[name] = rng.choice(NUMBERS)
        if rng.random() < 0.3:
            known["offset"] = rng.choice(NUMBERS)
        members["header"] = header(**known)
        members |= {"clauses": array([[1, 2], [-3, 0]], "<i4"), "hard": npy("<i4", (0, 2))}
        members |= {"edges": array([[0, 1], [0, 2], [1, 2]], "<i4"), "single": array([0, 0, 0])}
    for name in rng.sample(sorted(members), rng.randint(0, 3)):
        if rng.random() < 0.1:
            del members[name]
        else:
            members[name] = hostile_array(rng, members[name])
    data = npz(members, rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
    if rng.random() < 0.2:
        data = mutated(rng, data)
    return (".npz", data) if rng.random() < 0.9 else (".npz.gz", _gzip(data))


def made_up_bqm(rng: random.Random) -> tuple[str, bytes]:
    """A model with any shape and types."""
    shape = [rng.choice([0, 1, 2, 3, 2**31 - 1, -1, 2**70, 1.5, None]) for _ in range(2)]
    values = {"dtype": rng.choice(["float32", "float64", "int8", None]),
              "itype": rng.choice(["int8", "uint64", "int64", "x"]),
              "ntype": rng.choice(["int8", "uint64", "int64", []]),
              "variables": rng.choice([True, False]), "vartype": rng.choice(["SPIN", "BINARY",
              1])}  # fmt: skip
    for name in rng.sample(sorted(values), rng.randint(0, 3)):
        del values[name]
    data = bqm(shape, rng.randbytes(rng.choice([0, 4, 14, 30, 60])), **values)
    return ".bqm", mutated(rng, data) if rng.random() < 0.3 else data


def made_up_recipe(rng: random.Random) -> tuple[str, bytes]:
    """A file with the recipe of something else."""
    method = rng.choice(list(METHODS))
    names = [name for name in METHODS[method] if rng.random() < 0.85]
    if rng.random() < 0.2:
        names.append(rng.choice(list(PARAMETERS)))
    asked: dict[str, Any] = {name: rng.choice(PARAMETERS[name]) for name in names}
    if rng.random() < 0.2:
        asked[rng.choice(list(PARAMETERS))] = rng.choice(NUMBERS)
    recipe: dict[str, Any] = {"method": method, "parameters": asked}
    if rng.random() < 0.1:
        recipe[rng.choice(["seed", "spawn_key", "version", "method"])] = rng.choice(NUMBERS)
    sizes = [20, 8, 9, 6, 7, 4, 1010, 1500]
    layers = [asked.get("n"), asked.get("m")]
    if all(type(x) is int and 2 <= x <= 10**4 for x in layers):
        sizes = [sum(layers)] * 9 + sizes
    text = recipe_text(rng.choice(sizes), recipe)
    return ".mc", text.encode("ascii")


def made_up_manifest(rng: random.Random, originals: Originals, folder: Path) -> tuple[str, bytes]:
    """A line about an existing file, with the right check sum and any other values."""
    entry = json.loads(originals.files["manifest.jsonl"].splitlines()[0])
    target = folder / "listed.mc"
    target.write_bytes(mutated(rng, originals.files[entry["file"]]))
    entry |= {"file": "listed.mc", "sha256": sha256_of(target)}
    for name in rng.sample(sorted(entry), rng.choice([0, 0, 1])):
        entry[name] = rng.choice(NUMBERS)
    if rng.random() < 0.3 and isinstance(entry["recipe"], dict) and entry["recipe"]:
        entry["recipe"][rng.choice(list(entry["recipe"]))] = rng.choice(NUMBERS)
    return ".jsonl", json.dumps(entry).encode() + b"\n"


def hostile_file(number: int, originals: Originals, folder: Path) -> Path:
    """File number so-and-so, always the same one."""
    rng = random.Random(number)
    kind = rng.random()
    if kind < 0.4:
        name, data = originals.damaged(rng)
    elif kind < 0.6:
        name, data = made_up_text(rng)
    elif kind < 0.8:
        name, data = made_up_archive(rng)
    elif kind < 0.85:
        name, data = made_up_bqm(rng)
    elif kind < 0.95:
        name, data = made_up_recipe(rng)
    else:
        name, data = made_up_manifest(rng, originals, folder)
    path = folder / f"x-{name}"
    path.write_bytes(data)
    return path


def readers_of(path: Path) -> Iterator[Callable[[Path], Any]]:
    """All that might be done with a file of this name."""
    if ".cert" in path.name:
        yield read_side_car
    elif ".jsonl" in path.name:
        yield lambda manifest: check_suite(manifest)
    elif ".edges" in path.name:
        yield read_graph
    else:
        yield read_document
        yield read_planted
        yield verify_file


def attack(path: Path) -> tuple[int, float]:
    """Read a file in every way, where all errors must be a ValueError of one line.

    Returns:
        How often it was good, and the seconds (of this process) that the slowest way took.
    """
    good, longest = 0, 0.0
    for reader in readers_of(path):
        start = time.process_time()
        try:
            reader(path)
            good += 1
        except ValueError as refused:
            message = str(refused)
            if "\n" in message or not message.isprintable() or len(message) > 2000:
                raise AssertionError(f"not one line: {message!r}") from None
        longest = max(longest, time.process_time() - start)
    return good, longest


def peak_memory() -> float:
    """The most memory that this process ever had, in MiB (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def attack_many(numbers: range, folder: Path) -> dict[str, Any]:
    """Read hostile files; how many were good, what took longest, what went wrong."""
    originals = Originals(folder / "good")
    result: dict[str, Any] = {"good": 0, "longest": 0.0, "slowest": None, "faults": []}
    for number in [*numbers[:1], *numbers]:  # the first one twice: it may compile
        path = hostile_file(number, originals, folder)
        seconds = 0.0
        try:
            good, seconds = attack(path)
            result["good"] += good > 0
        except Exception as fault:
            result["faults"].append(f"{number}: {type(fault).__name__}: {fault}"[:300])
        if seconds > result["longest"]:
            result |= {"longest": seconds, "slowest": number}
        path.unlink()
    return result | {"peak": peak_memory()}


if __name__ == "__main__":
    first, count, where = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    print(json.dumps(attack_many(range(first, first + count), where)))
