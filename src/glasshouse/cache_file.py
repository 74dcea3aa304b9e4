"""Machine code on disk, believed only where it is whole and was made for what is asked.

Numba keeps an index of a function's machine code, and numbered files of the code itself. It writes
first the one, then the other. Where two processes write at once, for other types or processors, or
where the second does not come to be (Ctrl-C, a full disk), the index names a file that holds
something else, and that would be run with the wrong types. So each file says what it is for.
"""

from __future__ import annotations

import contextlib
from typing import Any

from numba.core.caching import IndexDataCacheFile


class CacheFile(IndexDataCacheFile):
    """An index and its files; whatever is wrong with them, code is then compiled anew."""

    def __init__(self, *place: Any) -> None:
        super().__init__(*place)  # type: ignore[no-untyped-call]
        self._version += ", with a purpose"  # whoever expects none is not to read these

    def save(self, key: Any, data: Any) -> None:
        """Write machine code, if the disk takes it."""
        with contextlib.suppress(OSError):
            super().save(key, (self._purpose(key), data))  # type: ignore[no-untyped-call]

    def load(self, key: Any) -> Any:
        """Machine code for this key, or None."""
        found = super().load(key)  # type: ignore[no-untyped-call]
        is_meant = isinstance(found, tuple) and found[:1] == (self._purpose(key),)
        return found[1] if is_meant else None

    def _purpose(self, key: Any) -> Any:
        """Types and processor, and the source: whatever must be the same."""
        return self._version, self._source_stamp, key

    def _load_index(self) -> Any:
        try:
            return super()._load_index()  # type: ignore[no-untyped-call]
        except Exception:  # of a damaged pickle nearly any
            return {}

    def _load_data(self, name: str) -> Any:
        try:
            return super()._load_data(name)  # type: ignore[no-untyped-call]
        except Exception as error:
            raise OSError(f"{name} is damaged") from error  # Numba takes it for a missing file
