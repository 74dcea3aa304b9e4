"""Machine code on disk that is run only if it is undamaged and was compiled for this purpose.

Numba's own files have an index and no digest. One flipped bit in them crashes every later process,
and two processes that write at once can leave an index that names code for other types. Here one
file holds one compiled function. It begins with a digest of the code and of its purpose: the
versions, the source, the types of the arguments and the processor. Nothing is unpickled before the
digest matches. The digest protects against accidents, not against an attacker who can write the
file.
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
    """The cached machine code of one function: a file for each combination of types.

    Args:
        folder: the folder of the files.
        base: the beginning of the file names.
        version: a text that changes with everything that the machine code depends on, except the
            key: versions of the compiler, source of the kernels.
        dump: a function that pickles machine code.
    """

    def __init__(self, folder: Path, base: str, version: str, dump: Callable[[Any], bytes]) -> None:
        self._folder, self._base, self._version, self._dump = folder, base, version, dump

    def save(self, key: Any, data: Any) -> None:
        """Write machine code to its file; do nothing if the disk cannot be written."""
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
        """Return the machine code for this key, or None if there is none that can be trusted."""
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
        """Remove all files of the function: Numba asks for this before it compiles again."""
        for path in self._folder.glob(f"{self._base}.*.nbc"):
            with contextlib.suppress(OSError):
                path.unlink()

    def _path(self, key: Any) -> Path:
        name = hashlib.blake2b(str(key).encode(), digest_size=8).hexdigest()
        return self._folder / f"{self._base}.{name}.nbc"

    def _digest(self, key: Any, payload: bytes | memoryview) -> bytes:
        """Return the digest of machine code and of its purpose."""
        purpose = repr((self._version, str(key))).encode()
        digest = hashlib.blake2b(len(purpose).to_bytes(8, "little"), digest_size=_DIGEST_SIZE)
        digest.update(purpose)
        digest.update(payload)
        return digest.digest()
