"""Numba's cache of a function, with our own files in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

from glasshouse.cache_file import CacheFile


def open_cache(function: Any, version: str) -> Any:
    """Return Numba's cache of a function, which reads and writes a `CacheFile`.

    Raises:
        RuntimeError: no folder can be written to.
        AttributeError: this Numba keeps its files in another way.
    """
    cache: Any = FunctionCache(function)
    cache._cache_file.save, cache._cache_file.load  # noqa: B018  # what is replaced must exist
    stamp = cache._impl.locator.get_source_stamp()
    cache._cache_file = CacheFile(
        Path(cache.cache_path), cache._impl.filename_base, f"{version}, {stamp}", dumps
    )
    return cache
