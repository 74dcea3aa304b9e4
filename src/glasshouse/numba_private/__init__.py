"""The only door to names of Numba that are not part of its public interface.

A release of Numba may rename any of them. Each module here imports some; if that fails, what it
offers is None, and callers do without: kernels are then compiled by Numba's own steps, or not
cached. The results have the same bits.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import Any

import numba

_log = logging.getLogger("glasshouse")


def _offered(module: str, *names: str) -> list[Any]:
    """Return what a module here defines, or a None for each name if Numba has changed."""
    try:
        found = import_module(f"{__name__}.{module}")
        return [getattr(found, name) for name in names]
    except (ImportError, AttributeError, TypeError) as error:
        _log.warning(
            "Numba %s has changed: kernels work, but are compiled more slowly (%s)",
            numba.__version__,
            error,
        )
        return [None] * len(names)


KernelCompiler, LinkedCompiler = _offered("self_test", "KernelCompiler", "LinkedCompiler")
new_array, set_fields = _offered("arrays", "new_array", "set_fields")
(open_cache,) = _offered("caches", "open_cache")
(Kernel,) = _offered("dispatching", "Kernel")
