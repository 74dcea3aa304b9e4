"""The only modules of glasshouse that use private names of Numba.

A release of Numba may rename any private name. If the import of a module fails here, its exports
are None, and callers do without them: kernels are then compiled by Numba's own steps, or are not
cached. The results have the same bits.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numba

_log = logging.getLogger("glasshouse")


def _or_nothing(offered: Callable[[], tuple[Any, ...]], count: int) -> tuple[Any, ...]:
    """Return `offered()`, or a tuple of `count` Nones if a private name of Numba is missing."""
    try:
        return offered()
    except (ImportError, AttributeError, TypeError) as error:
        _log.warning(
            "Numba %s has changed: kernels work, but compilation takes longer (%s)",
            numba.__version__,
            error,
        )
        return (None,) * count


def _compilers() -> tuple[Any, ...]:
    from glasshouse.numba_private.self_test import KernelCompiler, LinkedCompiler

    return KernelCompiler, LinkedCompiler


def _arrays() -> tuple[Any, ...]:
    from glasshouse.numba_private.arrays import new_array, set_fields

    return new_array, set_fields


def _caches() -> tuple[Any, ...]:
    from glasshouse.numba_private.caches import open_cache

    return (open_cache,)


def _dispatching() -> tuple[Any, ...]:
    from glasshouse.numba_private.dispatching import Kernel

    return (Kernel,)


KernelCompiler, LinkedCompiler = _or_nothing(_compilers, 2)
new_array, set_fields = _or_nothing(_arrays, 2)
(open_cache,) = _or_nothing(_caches, 1)
(Kernel,) = _or_nothing(_dispatching, 1)
