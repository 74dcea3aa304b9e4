"""Numba's cache for a compiled function, with glasshouse's own file format."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from glasshouse.cache_file import CacheFile


def open_cache(function: Any, version: str) -> Any:
    """Return Numba's cache for a function, modified to store the code in a `CacheFile`.

    Before Numba loads machine code, it fills its tables of everything that can be compiled, for
    which it imports `scipy.linalg` and a hundred other modules. The modified cache skips this:
    machine code needs only the runtime of arrays. Numba still fills the tables before it compiles.

    Raises:
        RuntimeError: no folder can be written.
        AttributeError: this version of Numba stores its files differently.
    """
    cache: Any = FunctionCache(function)
    cache._cache_file.save, cache._cache_file.load  # noqa: B018  # replaced methods must exist
    cache._load_overload, rtsys.initialize  # noqa: B018  # and so must functions called later
    stamp = cache._impl.locator.get_source_stamp()
    cache._cache_file = CacheFile(
        Path(cache.cache_path), cache._impl.filename_base, f"{version}, {stamp}", dumps
    )
    cache.load_overload = partial(_load, cache)
    return cache


def _load(cache: Any, signature: Any, target: Any) -> Any:
    """Return the executable machine code for a signature, or None if it is not cached."""
    rtsys.initialize(target)
    return cache._load_overload(signature, target)
