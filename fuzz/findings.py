"""Storage of failing inputs: the shortest input for each kind of fault, with its traceback."""

from __future__ import annotations

import traceback
from pathlib import Path

import glasshouse
from fuzz.promises import BrokenPromiseError

_PLACES = (str(Path(glasshouse.__file__).parent), str(Path(__file__).parent))


class Findings:
    """A folder of failing inputs, which grows during a run.

    Fuzzing continues after a Python exception, so that one run finds several faults. Only an input
    that ends the process ends the run.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._shortest = {
            path.stem: path.stat().st_size for path in folder.glob("*.input") if path.is_file()
        }

    def keep(self, fault: BaseException, data: bytes) -> None:
        """Save a failing input, unless a shorter input has shown the same kind of fault."""
        kind = kind_of(fault)
        if len(data) >= self._shortest.get(kind, 1 << 62):
            return
        self._shortest[kind] = len(data)
        (self.folder / f"{kind}.input").write_bytes(data)
        lines = traceback.format_exception(fault)
        (self.folder / f"{kind}.txt").write_text("".join(lines), errors="backslashreplace")


def kind_of(fault: BaseException) -> str:
    """Return a file name for a kind of fault: the exception, and the line of our code."""
    name = type(fault).__name__
    # The cause of a broken promise is more specific than the broken promise.
    told = isinstance(fault, BrokenPromiseError) and (fault.__cause__ or fault.__context__)
    frames = traceback.extract_tb((told or fault).__traceback__)
    places = [frame for frame in frames if frame.filename.startswith(_PLACES)]
    for frame in [frame for frame in places if Path(frame.filename).stem != "promises"][-1:]:
        return f"{name}-{Path(frame.filename).stem}-{frame.name.strip('<>')}-{frame.lineno}"
    return name
