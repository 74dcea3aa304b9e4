"""The one decorator for compiled code: Numba, cached on disk where the disk allows it.

The ground floor of the house: every `kernels` module imports this and nothing else of ours.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function in nopython mode, without the GIL, and keep the machine code on disk.

    Where neither the package's folder nor the user's cache can be written (a read-only
    installation, a cluster node without a home), Numba refuses to cache; then the function is
    compiled anew in each process.

    >>> @compiled
    ... def twice(x):
    ...     return 2 * x
    >>> twice(21)
    42
    """
    if function is None:
        return lambda inner: compiled(inner, **options)
    settings: dict[str, Any] = {"nogil": True, "error_model": "numpy"} | options
    try:
        return numba.njit(cache=True, **settings)(function)
    except RuntimeError:  # "cannot cache function: no locator available"
        return numba.njit(**settings)(function)


def is_ready(function: Any) -> bool:
    """Tell whether a compiled function needs no (long) compilation: loaded, or cached on disk."""
    if function.signatures:
        return True
    cache = getattr(function, "_cache", None)
    index = getattr(getattr(cache, "_cache_file", None), "_index_path", None)
    if index is None:
        return False
    return Path(index).exists()
