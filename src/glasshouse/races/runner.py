"""Run one command under limits, with all that it starts, and leave nothing behind.

The command gets a session of its own and an empty folder. We read what it prints while it runs, so
each line has its time, and look every few milliseconds at what its processes use together. At a
limit everything gets SIGTERM, then SIGKILL; whatever outlives the command is killed too.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from glasshouse.races import processes
from glasshouse.races.limits import Limits
from glasshouse.races.transcript import Transcript

Reason = Literal["time", "cpu", "memory", "output"]

_CHUNK = 1 << 16
_FIRST_LOOK, _LONGEST_WAIT = 0.002, 0.02  # seconds between looks at what processes use
_LAST_WORDS = 0.1  # seconds to read what is in the pipes once the command has ended


@dataclass(frozen=True)
class Outcome:
    """How a run went.

    Attributes:
        exit_code: of the command; negative for the signal that ended it.
        stopped: the limit that it ran into, None where it ended by itself.
        seconds: wall-clock time until the command had ended or was told to stop.
        cpu_seconds: processor time of the command and of the children it waited for.
        memory: the most bytes of resident memory seen, of all processes together.
        transcript: what it printed.
        meter: what measured it.
    """

    exit_code: int
    stopped: Reason | None
    seconds: float
    cpu_seconds: float
    memory: int
    transcript: Transcript = field(repr=False)
    meter: str = "process group"


def run(arguments: Sequence[str], limits: Limits) -> Outcome:
    """Run a command, without a shell, in an empty folder that is removed afterwards.

    Raises:
        ValueError: the command cannot be started.
    """
    if os.name != "posix":
        raise ValueError("commands are raced on Linux and macOS only; use a sampler in Python here")
    processes.adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="glasshouse-", ignore_cleanup_errors=True) as folder:
        return _Run(arguments, limits, Path(folder)).outcome()


class _Run:
    """One command from its start to its end."""

    def __init__(self, arguments: Sequence[str], limits: Limits, folder: Path) -> None:
        self.limits = limits
        self.mark = uuid.uuid4().hex
        self.transcript = Transcript()
        self.stopped: Reason | None = None
        self.memory, self.cpu_seconds = 0, 0.0
        self.status: tuple[int, Any] | None = None
        self.start = time.monotonic()
        try:
            self.process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env=os.environ | {processes.MARK: self.mark},
                start_new_session=True,
            )
        except (OSError, ValueError) as fault:
            raise ValueError(f"cannot start {arguments[0]}: {fault}") from None
        _forbid_core_dumps(self.process.pid)

    def outcome(self) -> Outcome:
        """Wait for the end and tell of it; nothing of the run is left then, whatever happens."""
        with self.process:  # closes the pipes
            try:
                self._watch()
            except BaseException:
                self._end()
                raise
        assert self.status is not None
        code, used = self.status
        return Outcome(
            os.waitstatus_to_exitcode(code),
            self.stopped,
            self.ended_at if self.stopped is None else self.stopped_at,
            max(self.cpu_seconds, used.ru_utime + used.ru_stime),
            self.memory,
            self.transcript,
        )

    def _now(self) -> float:
        return time.monotonic() - self.start

    def _watch(self) -> None:
        with selectors.DefaultSelector() as pipes, _end_of(self.process.pid) as end:
            for pipe, stream in ((self.process.stdout, "output"), (self.process.stderr, "errors")):
                assert pipe is not None
                os.set_blocking(pipe.fileno(), False)
                pipes.register(pipe, selectors.EVENT_READ, stream)
            if end is not None:
                pipes.register(end, selectors.EVENT_READ, "end")
            wait, deadline = _FIRST_LOOK, self.limits.seconds
            while not self._wait():
                self._read(pipes, min(wait, max(0.0, deadline - self._now())))
                wait = min(2 * wait, _LONGEST_WAIT)
                reason = self._reason()
                if self.stopped is None and reason is not None:
                    self._stop(reason)
                    deadline = self.stopped_at + self.limits.grace
                if self.stopped is not None and self._now() >= deadline:
                    break
            self.ended_at = self._now()
            self._end()  # first, because whatever outlived the command holds the pipes open
            self._last_words(pipes)

    def _end(self) -> None:
        processes.end_all(self.mark, self.process.pid)
        self._wait(block=True)

    def _reason(self) -> Reason | None:
        """The limit that is passed now, if any."""
        usage = processes.usage_of(processes.tree_of(self.process.pid))
        self.memory = max(self.memory, usage.memory)
        self.cpu_seconds = max(self.cpu_seconds, usage.cpu_seconds)
        limits = self.limits
        if len(self.transcript.output) > limits.output:
            return "output"
        if usage.memory > limits.memory:
            return "memory"
        if limits.cpu_seconds is not None and usage.cpu_seconds > limits.cpu_seconds:
            return "cpu"
        return "time" if self._now() >= limits.seconds else None

    def _stop(self, reason: Reason) -> None:
        self.stopped, self.stopped_at = reason, self._now()
        # Memory is given back at once: the rest of the machine may not live to see a polite end.
        number = signal.SIGKILL if reason == "memory" else signal.SIGTERM
        tree = processes.tree_of(self.process.pid)
        processes.signal_all(self.process.pid, tree, number)

    def _read(self, pipes: selectors.BaseSelector, wait: float) -> bool:
        """Take in what is there, after waiting for it; tell whether there was something."""
        found = False
        for key, _ in pipes.select(wait):
            if key.data == "end":
                pipes.unregister(key.fileobj)
                continue
            data = os.read(key.fd, _CHUNK)
            found = found or bool(data)
            if not data:
                pipes.unregister(key.fileobj)
            elif key.data == "errors":
                self.transcript.complain(data)
            elif len(self.transcript.output) <= self.limits.output:
                self.transcript.print(data, self._now())
        return found

    def _last_words(self, pipes: selectors.BaseSelector) -> None:
        deadline = self._now() + _LAST_WORDS
        while pipes.get_map() and self._now() < deadline and self._read(pipes, 0):
            pass

    def _wait(self, block: bool = False) -> bool:
        """Whether the command has ended; its status and usage are kept."""
        if self.status is None:
            pid, code, used = os.wait4(self.process.pid, 0 if block else os.WNOHANG)
            if pid:
                self.status = code, used
                self.process.returncode = os.waitstatus_to_exitcode(code)
        return self.status is not None


@contextlib.contextmanager
def _end_of(pid: int) -> Any:
    """Something that can be waited for until a process ends; None where there is no such thing."""
    handle = None
    if hasattr(os, "pidfd_open"):
        with contextlib.suppress(OSError):
            handle = os.pidfd_open(pid)
    try:
        yield handle
    finally:
        if handle is not None:
            os.close(handle)


def _forbid_core_dumps(pid: int) -> None:
    import resource  # there is none on Windows

    with contextlib.suppress(OSError, AttributeError):
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
