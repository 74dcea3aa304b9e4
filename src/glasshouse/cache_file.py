"""A disk cache of machine code; it verifies a digest before it loads code.

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
from collections.abc import Callable
from pathlib import Path
from typing import Any

_DIGEST_SIZE = 32  # bytes


class CacheFile:
    """The disk cache of one function, with one file per combination of argument types.

    Args:
        folder: the folder of the cache files.
        base: the beginning of the file names.
        version: a text that changes with everything that the machine code depends on, except the
            key: versions of the compiler, source of the kernels.
        dump: a function that pickles machine code.
    """

    def __init__(self, folder: Path, base: str, version: str, dump: Callable[[Any], bytes]) -> None:
        self._folder, self._base, self._version, self._dump = folder, base, version, dump

    def save(self, key: Any, data: Any) -> None:
        """Write the machine code for a key to disk; ignore disk errors."""
        payload = self._dump((key, data))
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
