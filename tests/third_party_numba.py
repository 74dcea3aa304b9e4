"""Script that runs a user's Numba functions and inspects the process, in its own process.

It prints the results of strict, fastmath, overloaded and parallel functions as JSON. The functions
are compiled before and after glasshouse is used. With the argument "imported", glasshouse is only
imported, after the functions were compiled once.
"""

from __future__ import annotations

import gc
import importlib
import json
import locale
import logging
import os
import random
import signal
import sys
import threading
import time
import types
import warnings
from typing import Any

import numba
import numpy as np
import scipy.sparse  # noqa: F401  # adds a filter for warnings when it is imported
import threadpoolctl  # noqa: F401  # sets an environment variable when it is imported
from numba.core import event
from numba.extending import overload


def _half(x):
    return x / 2


@overload(_half)
def _overloaded_half(x):
    return lambda x: x / 2


def results() -> dict[str, Any]:
    """Compile all functions from scratch, and call them."""
    values = np.random.default_rng(1).normal(size=10_001) * 1e8
    found: dict[str, Any] = {}
    for fast in (True, False):
        for model in ("numpy", "python"):
            settings: Any = {"fastmath": fast, "error_model": model}
            total = numba.njit(**settings)(lambda x: np.sum(x))
            mean = numba.njit(**settings)(lambda x: x.mean() + x.std() + np.dot(x, x))
            divide = numba.njit(**settings)(lambda x, y: x / y + x // y)
            halved = numba.njit(**settings)(lambda x: _half(x[0]) + np.sqrt(x).sum())
            name = f"fastmath={fast} {model}"
            found[f"total {name}"] = float(total(values)).hex()
            found[f"mean {name}"] = float(mean(values)).hex()
            found[f"half {name}"] = float(halved(np.abs(values))).hex()
            try:
                found[f"divide {name}"] = repr(divide(1.0, 0.0))
            except ZeroDivisionError:
                found[f"divide {name}"] = "raised"
    parallel = numba.njit(parallel=True)(_parallel_sum)
    found["parallel"] = int(parallel(np.arange(1000)))
    for k, function in enumerate((lambda x: x**2 + 1, lambda x: (x << 2) % 7, lambda x: max(x, 3))):
        found[f"integers {k}"] = int(numba.njit(function)(11))
    return found


def _parallel_sum(x: Any) -> Any:
    total = 0
    for k in numba.prange(x.size):
        total += x[k]
    return total


def use_glasshouse() -> None:
    """Call a function of every package that compiles, or that uses a library with global state."""
    import glasshouse as gh

    planted = gh.random_loops(8, 8, frustration="1/5", loops=8, rng=1)
    gh.verify(planted.problem, planted.certificate)
    gh.anneal(planted, sweeps=20, rng=1)
    gh.anneal(planted, sweeps=20, runs=4, rng=1, threads=2)
    gh.temper(planted, sweeps=20, runs=2, rng=1)
    gh.descend(planted.problem, np.ones((2, 16), dtype=np.int8))
    gh.prove(planted.problem)
    gh.train(gh.bars_and_stripes(3), hidden=3, epochs=2, rng=1)
    gh.frustration_index(planted.problem, planted.state)


def _lasting_threads() -> list[str]:
    """Return the names of all threads, after waiting for threads that are about to end."""
    deadline = time.monotonic() + 60
    while threading.active_count() > 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    return [thread.name for thread in threading.enumerate()]


def process() -> dict[str, Any]:
    """Return the state of the process on which a user may rely, apart from Numba."""
    handlers = {int(k): repr(signal.getsignal(k)) for k in signal.valid_signals()}
    return {
        "gc": (gc.isenabled(), gc.get_threshold()),
        "threads": _lasting_threads(),
        "filters": repr(warnings.filters),
        "handlers": handlers,
        "locale": locale.setlocale(locale.LC_ALL),
        "errstate": np.geterr(),
        "hooks": [sys.excepthook is sys.__excepthook__,
                  sys.unraisablehook is sys.__unraisablehook__],
        "environment": dict(os.environ),
        "random": (hash(random.getstate()), np.random.get_state()[1].tolist()[:5]),  # noqa: NPY002
        "logging": (logging.root.level, repr(logging.root.handlers)),
        "limit": sys.getrecursionlimit(),
        "switch": sys.getswitchinterval(),
        "events": {kind: len(found) for kind, found in event._registered.items() if found},
    }  # fmt: skip


_CODE = (types.FunctionType, types.BuiltinFunctionType, property, staticmethod, classmethod)


def numba_attributes() -> dict[str, int]:
    """Return the identities of all functions, classes and methods of Numba."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] not in ("numba", "llvmlite") or module is None:
            continue
        for key, value in list(vars(module).items()):
            if isinstance(value, (type, *_CODE)):
                found[f"{name}:{key}"] = id(value)
            if isinstance(value, type) and value.__module__ == name:
                for inner, method in list(vars(value).items()):
                    if isinstance(method, _CODE):
                        found[f"{name}:{key}.{inner}"] = id(method)
    return found


def import_glasshouse() -> None:
    """Import the parts of glasshouse that define compiled functions."""
    for name in ("", ".compiled", ".kernels.arrays", ".solvers"):
        importlib.import_module(f"glasshouse{name}")


def main() -> None:
    """Print the results before and after the use of glasshouse, and the changes."""
    is_used, before = sys.argv[1:] != ["imported"], results()
    attributes, surroundings = numba_attributes(), process()
    use_glasshouse() if is_used else import_glasshouse()
    now, after = numba_attributes(), process()
    changed = [name for name, code in attributes.items() if now.get(name) != code]
    different = [name for name, value in surroundings.items() if after[name] != value]
    again = results() if is_used else None
    print(json.dumps({"before": before, "after": again, "changed": changed,
                      "process": different}))  # fmt: skip


if __name__ == "__main__":
    main()
