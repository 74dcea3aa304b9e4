"""What a solver printed, and when each line was there."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from glasshouse.files.text.errors import FileError
from glasshouse.races.running.command import Limits
from glasshouse.summaries import Summarised

_ERRORS_KEPT = 1 << 16  # bytes of standard error: the end of it
_MOMENT = 0.001  # seconds; bytes that come within a moment share its time


@dataclass(repr=False)
class Transcript(Summarised):
    """Standard output with the times of its parts, and the end of standard error.

    Attributes:
        output: all of standard output, up to the limit.
        errors: the last 64 KiB of standard error.
        is_cut: whether the solver was killed, so that the last line may be the start of a longer
            one; without its newline it does not count.
    """

    output: bytearray = field(default_factory=bytearray)
    errors: bytearray = field(default_factory=bytearray)
    is_cut: bool = False
    _ends: list[int] = field(default_factory=list)
    _times: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, text: bytes) -> Transcript:
        """A text whose times are unknown, from a file."""
        made = cls()
        made.print(text, 0.0)
        return made

    def print(self, data: bytes, seconds: float) -> None:
        """Take in some standard output that came after so many seconds."""
        self.output += data
        if self._times and seconds - self._times[-1] < _MOMENT:
            self._ends[-1] = len(self.output)
        else:
            self._ends.append(len(self.output))
            self._times.append(seconds)

    def complain(self, data: bytes) -> None:
        """Take in some standard error."""
        self.errors += data
        del self.errors[:-_ERRORS_KEPT]

    def lines(self) -> Iterator[tuple[float, str]]:
        """Each line with the time at which it was whole; other bytes than ASCII become ?."""
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
    """What a solver printed into a file, or into our standard input where the path is -.

    Raises:
        FileError: there is no such file, or more in it than a solver may print.
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
        raise FileError(path, f"more than {most} bytes; expected the output of one solver")
    return Transcript.of(data)
