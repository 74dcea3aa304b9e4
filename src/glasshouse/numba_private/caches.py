"""Numba's cache for a compiled function, with files that are verified before code is loaded.

Numba's own cache has an index but no digest. One flipped bit in its files crashes every later
process, and two processes that write at once can leave an index that names code for other types.
In this cache, one file contains one compiled function. The file begins with a digest of the code
and of its purpose: the versions, the source, the types of the arguments and the processor. Nothing
is unpickled before the digest matches. The digest protects against accidents, not against an
attacker who can write the file.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import uuid
from functools import partial
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

_DIGEST_SIZE = 32  # bytes


class CacheFile:
    """The disk cache of one function, with one file per combination of argument types.

    Args:
        folder: the folder of the cache files.
        base: the beginning of the file names.
        version: a text that changes with everything that the machine code depends on, except the
            key: versions of the compiler, source of the kernels.
    """

    def __init__(self, folder: Path, base: str, version: str) -> None:
        self._folder, self._base, self._version = folder, base, version

    def save(self, key: Any, data: Any) -> None:
        """Write the machine code for a key to disk; ignore disk errors."""
        payload = dumps((key, data))
        path = self._path(key)
        partial = path.with_name(f"{path.name}.tmp.{uuid.uuid4().hex[:16]}")
        with contextlib.suppress(OSError):
            try:
                partial.write_bytes(self._digest(key, payload) + payload)
                partial.replace(path)
            finally:
                partial.unlink(missing_ok=True)

    def load(self, key: Any) -> Any:
        """Return the cached machine code for a key, or None if no valid file contains it."""
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        payload = memoryview(content)[_DIGEST_SIZE:]
        if content[:_DIGEST_SIZE] != self._digest(key, payload):
            return None
        found, data = pickle.loads(payload)
        return data if found == key else None

    def flush(self) -> None:
        """Remove all cache files of the function, as Numba requires before it compiles again."""
        for path in self._folder.glob(f"{self._base}.*.nbc"):
            with contextlib.suppress(OSError):
                path.unlink()

    def _path(self, key: Any) -> Path:
        name = hashlib.blake2b(str(key).encode(), digest_size=8).hexdigest()
        return self._folder / f"{self._base}.{name}.nbc"

    def _digest(self, key: Any, payload: bytes | memoryview) -> bytes:
        """Return a digest of the machine code, the version and the key."""
        purpose = repr((self._version, str(key))).encode()
        digest = hashlib.blake2b(len(purpose).to_bytes(8, "little"), digest_size=_DIGEST_SIZE)
        digest.update(purpose)
        digest.update(payload)
        return digest.digest()


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
        Path(cache.cache_path), cache._impl.filename_base, f"{version}, {stamp}"
    )
    cache.load_overload = partial(_load, cache)
    return cache


def _load(cache: Any, signature: Any, target: Any) -> Any:
    """Return the executable machine code for a signature, or None if it is not cached."""
    rtsys.initialize(target)
    return cache._load_overload(signature, target)
