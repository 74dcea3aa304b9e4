"""The transcript of a run: the output of a solver, with the time of each line."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from glasshouse.files.text.errors import FileError
from glasshouse.races.running.command import Limits
from glasshouse.summaries import Summarised

_ERRORS_KEPT = 1 << 16  # bytes of standard error that are kept: its end
_MOMENT = 0.001  # seconds; bytes that arrive within this time share one time


@dataclass(repr=False)
class Transcript(Summarised):
    """Standard output with the arrival time of each part, and the last 64 KiB of standard error.

    Attributes:
        output: all of standard output, up to the limit.
        errors: the last 64 KiB of standard error.
        is_cut: whether the solver was killed; then a last line without a newline does not count,
            because it may be incomplete.
    """

    output: bytearray = field(default_factory=bytearray)
    errors: bytearray = field(default_factory=bytearray)
    is_cut: bool = False
    _ends: list[int] = field(default_factory=list)
    _times: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, text: bytes) -> Transcript:
        """Return a transcript of output that was read from a file; all its times are 0."""
        made = cls()
        made.print(text, 0.0)
        return made

    def print(self, data: bytes, seconds: float) -> None:
        """Record data that arrived on standard output `seconds` seconds after the start."""
        self.output += data
        if self._times and seconds - self._times[-1] < _MOMENT:
            self._ends[-1] = len(self.output)
        else:
            self._ends.append(len(self.output))
            self._times.append(seconds)

    def complain(self, data: bytes) -> None:
        """Record data from standard error, of which only the last 64 KiB are kept."""
        self.errors += data
        del self.errors[:-_ERRORS_KEPT]

    def lines(self) -> Iterator[tuple[float, str]]:
        """Yield each line as ASCII text, with the time at which the line was complete."""
        start = 0
        while start < len(self.output):
            end = self.output.find(b"\n", start)
            if end < 0 and self.is_cut:
                return
            end = len(self.output) if end < 0 else end
            time = self._times[bisect_left(self._ends, min(end + 1, len(self.output)))]
            yield time, self.output[start:end].decode("ascii", "replace").rstrip("\r")
            start = end + 1


def read_transcript(path: Path) -> Transcript:
    """Read a solver's output from a file, or from standard input if the path is `-`.

    Raises:
        FileError: there is no such file, or it is longer than a solver may print.
    """
    most = Limits.output
    try:
        if str(path) == "-":
            data = sys.stdin.buffer.read(most + 1)
        else:
            with path.open("rb") as file:
                data = file.read(most + 1)
    except OSError as fault:
        raise FileError(path, f"cannot be read: {fault.strerror}") from None
    if len(data) > most:
        raise FileError(path, f"has more than {most} bytes; expected the output of one solver")
    return Transcript.of(data)
