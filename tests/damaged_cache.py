"""Script that damages machine code on disk and calls kernels, in its own process.

Arguments: a seed and the number of rounds. In each round, all files in NUMBA_CACHE_DIR are damaged.
A new kernel of the same source must be compiled again, give the same result and be cached again.
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from collections.abc import Callable
from importlib import reload
from pathlib import Path
from typing import Any

import numpy as np

Damage = Callable[[bytes, random.Random], bytes]


def _flipped(data: bytes, draws: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draws.choice([1, 1, 8])):
        changed[draws.randrange(len(data))] ^= 1 << draws.randrange(8)
    return bytes(changed)


def _hole(data: bytes, draws: random.Random) -> bytes:
    begin = draws.randrange(len(data))
    size = draws.randrange(1, 4096)
    return data[:begin] + bytes(len(data[begin : begin + size])) + data[begin + size :]


def _shifted(data: bytes, draws: random.Random) -> bytes:
    begin = draws.randrange(len(data))
    return data[:begin] + draws.randbytes(1) + data[begin:]


DAMAGES: dict[str, Damage] = {
    "flipped bits": _flipped,
    "hole": _hole,
    "truncated": lambda data, draws: data[: draws.randrange(len(data))],
    "empty": lambda data, draws: b"",
    "longer": lambda data, draws: data + draws.randbytes(draws.randrange(1, 100)),
    "shifted": _shifted,
    "noise": lambda data, draws: draws.randbytes(len(data)),
}


def damage(folder: Path, draws: random.Random) -> str:
    """Damage all cache files in one random way, or swap two files; return the kind of damage."""
    files = sorted(folder.rglob("*.nbc"))
    name = draws.choice([*DAMAGES, "exchanged"])
    contents = [path.read_bytes() for path in files]
    if name == "exchanged":
        damaged = contents[1:] + contents[:1]
    else:
        damaged = [DAMAGES[name](data, draws) for data in contents]
    for path, data, before in zip(files, damaged, contents, strict=True):
        if data == before:  # a hole where there were zeros
            data = b""
        path.write_bytes(data)
    return name


def main() -> None:
    """Damage the cache, call a kernel and compare, repeatedly; print the counts of each damage."""
    seed, tries = map(int, sys.argv[1:])
    folder, draws = Path(os.environ["NUMBA_CACHE_DIR"]), random.Random(seed)
    (folder / "damaged_kernels.py").write_text(
        "from glasshouse.compiled import compiled\n@compiled\ndef total(x):\n    s = x[0]\n"
        "    for k in range(1, x.size):\n        s += x[k]\n    return s\n"
    )
    sys.path.insert(0, str(folder))
    module: Any = __import__("damaged_kernels")
    values = [np.arange(5, dtype=kind) for kind in (np.int32, np.float64)]
    counts = Counter[str]()

    def hits() -> int:
        assert [module.total(x) for x in values] == [10, 10.0]
        return sum(module.total.stats.cache_hits.values())

    assert hits() == 0
    for _ in range(tries):
        kind = damage(folder, draws)
        reload(module)
        assert hits() == 0, kind
        counts[kind] += 1
        if counts[kind] == 1:
            reload(module)
            assert hits() == 2, kind
    print(dict(counts))


if __name__ == "__main__":
    main()
