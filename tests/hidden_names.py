"""Script that prints results without certain private names of Numba, in its own process.

Arguments: "small" or "full", then the names to hide, or "self-test" for a failing self-test.
"""

from __future__ import annotations

import builtins
import json
import sys
from typing import Any


def hide(names: set[str]) -> None:
    """Make imports of names of Numba fail in our package, as if Numba had renamed them."""
    find = builtins.__import__

    def without(name: str, scope: Any = None, local: Any = None, items: Any = (), level: int = 0):
        asker = (scope or {}).get("__name__", "")
        if asker.startswith("glasshouse.numba_private") and names & set(items or ()):
            raise ImportError(f"cannot import name {sorted(names & set(items))[0]!r}")
        return find(name, scope, local, items, level)

    builtins.__import__ = without


def small() -> Any:
    """Compile one kernel that uses inner functions and all our operations on arrays."""
    import numpy as np

    from glasshouse.compiled import compiled, inner
    from glasshouse.kernels.arrays import empty, enlarged, seen_as, zero_table, zeros

    @inner
    def filled(size: Any) -> Any:
        values = empty(size, np.float64)
        for k in range(size):
            values[k] = 1 / (k + 3)
        return values

    @compiled
    def kernel(size: Any) -> Any:
        values, table = filled(size), zero_table(size, 2, np.float64)
        words = seen_as(enlarged(values, size), np.uint8)
        counts = zeros(256, np.int64)
        for k in range(words.size):
            counts[words[k]] += 1
        for k in range(size):
            table[k, k % 2] = values[k] * counts[k]
        return table, counts, words

    return [part.tobytes().hex() for part in kernel(9)]


def full() -> Any:
    """Call the main functions of the library."""
    import numpy as np

    import glasshouse as gh

    planted = gh.random_loops(6, 6, frustration="1/5", loops=6, rng=1)
    draws = np.random.default_rng(1)
    floats = gh.Ising.from_edges(12, [(k, (k + 1) % 12) for k in range(12)], draws.normal(size=12))
    return [
        small(),
        planted.problem.weights.tolist(),
        str(gh.verify(planted.problem, planted.certificate).bound),
        gh.anneal(planted, sweeps=20, rng=1).energies.tolist(),
        [float(x).hex() for x in gh.anneal(floats, sweeps=20, runs=8, rng=1).energies],
        gh.temper(planted, sweeps=20, runs=2, rng=1).energies.tolist(),
        str(gh.prove(planted.problem).bound),
    ]


if __name__ == "__main__":
    size, *hidden = sys.argv[1:]
    hide(set(hidden))
    import glasshouse.numba_private as private

    if "self-test" in hidden:
        import glasshouse.numba_private.self_test

        glasshouse.numba_private.self_test._compare = lambda: False
    results = {"small": small, "full": full}[size]()
    offered = [name for name in ("KernelCompiler", "LinkedCompiler", "new_array", "set_fields",
                                 "open_cache", "Kernel") if getattr(private, name)]  # fmt: skip
    print(json.dumps({"results": results, "offered": offered}))
