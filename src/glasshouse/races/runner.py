"""Run one command under limits, with all that it starts, and leave nothing behind.

The command gets a session of its own and an empty folder. We read what it prints while it runs, so
each line has its time, and look every few milliseconds at what its processes use together. At a
limit everything gets SIGTERM, then SIGKILL; whatever outlives the command is killed too. If we are
killed ourselves, a guardian does it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import selectors
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from glasshouse.races import guardian, processes
from glasshouse.races.limits import LARGEST_FOLDER, MOST_PROCESSES, Limits
from glasshouse.races.meters import MeterName, ProcessGroup, new_meter
from glasshouse.races.transcript import Transcript
from glasshouse.summaries import Summarised

Reason = Literal["time", "cpu", "memory", "output", "processes", "folder", "void"]

_CHUNK = 1 << 16
_FIRST_LOOK, _LONGEST_WAIT = 0.002, 0.02  # seconds between looks at what processes use
_FOLDER_LOOK = 0.5  # seconds between looks at what is in its folder
_LAST_WORDS = 0.1  # seconds to read what is in the pipes once the command has ended


@dataclass(frozen=True, repr=False)
class Outcome(Summarised):
    """How a run went.

    Attributes:
        exit_code: of the command; negative for the signal that ended it.
        stopped: the limit that it ran into, None where it ended by itself.
        seconds: wall-clock time until the command had ended or was told to stop.
        cpu_seconds: processor time of all processes that the meter has seen.
        memory: the most bytes of memory, of all processes together.
        transcript: what it printed.
        meter: what measured it.
    """

    exit_code: int
    stopped: Reason | None
    seconds: float
    cpu_seconds: float
    memory: int
    transcript: Transcript = field(repr=False)
    meter: MeterName = "process-group"


def run(
    arguments: Sequence[str],
    limits: Limits,
    meter: MeterName = "process-group",
    void: Callable[[Transcript], bool] | None = None,
) -> Outcome:
    """Run a command, without a shell, in an empty folder that is removed afterwards.

    Args:
        arguments: the command.
        limits: the limits of the run.
        meter: what measures the run.
        void: is asked again and again what it makes of the transcript so far; True stops the run,
            which then counts for nothing.

    Raises:
        ValueError: the command cannot be started, or the meter cannot be used here.
    """
    if os.name != "posix":
        raise ValueError("commands are raced on Linux and macOS only; use a sampler in Python here")
    with (
        processes.adopting_orphans(),
        guardian.scratch_folder("glasshouse-") as folder,
        contextlib.closing(new_meter(meter, limits)) as opened,
    ):
        return _Run(arguments, limits, folder, opened, void).outcome()


class _Run:
    """One command from its start to its end."""

    def __init__(
        self, arguments: Sequence[str], limits: Limits, folder: Path, meter: ProcessGroup,
        void: Callable[[Transcript], bool] | None,
    ) -> None:  # fmt: skip
        self.limits, self.folder, self.meter, self.void = limits, folder, meter, void
        self.mark = uuid.uuid4().hex
        self.transcript = Transcript()
        self.stopped: Reason | None = None
        self.stopped_at = self.ended_at = 0.0
        self.memory, self.cpu_seconds = 0, 0.0
        self.folder_look = _FOLDER_LOOK
        self.status: tuple[int, Any] | None = None
        cleaned_up = {"mark": self.mark, "cgroups": meter.cgroups}
        guardian.tell(self.mark, cleaned_up)
        self.processes = processes.RunProcesses(self.mark, alone=_is_worker_of_ours())
        self.start = time.monotonic()
        try:
            self.process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env=_environment() | {processes.MARK: self.mark},
                start_new_session=True,
                preexec_fn=meter.on_start,  # as in BenchExec's own runs
            )
        except (OSError, ValueError, subprocess.SubprocessError) as fault:
            guardian.tell(self.mark, None)
            raise ValueError(f"cannot start {arguments[0]}: {fault}") from None
        self.processes.group = self.process.pid
        guardian.tell(self.mark, cleaned_up | {"group": self.process.pid})
        _forbid_core_dumps(self.process.pid)

    def outcome(self) -> Outcome:
        """Wait for the end and tell of it; nothing of the run is left then, whatever happens."""
        with self.process:  # closes the pipes
            try:
                self._watch()
            except BaseException:
                self._end()
                raise
            finally:
                guardian.tell(self.mark, None)
        assert self.status is not None
        code, used = self.status
        return Outcome(
            os.waitstatus_to_exitcode(code),
            self.stopped,
            self.ended_at if self.stopped is None else self.stopped_at,
            max(self.cpu_seconds, used.ru_utime + used.ru_stime),
            self.memory,
            self.transcript,
            self.meter.name,
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
            if self.stopped is None and self.meter.is_out_of_memory(self._look()):
                self.stopped, self.stopped_at = "memory", self.ended_at
            self._last_words(pipes)

    def _end(self) -> None:
        self.processes.end(self.meter.members)
        self._wait(block=True)

    def _look(self) -> processes.Usage:
        """What is used now; the most of it is kept."""
        self.living = self.processes.living()
        usage = self.meter.usage(self.living)
        self.memory = max(self.memory, usage.memory)
        self.cpu_seconds = max(self.cpu_seconds, usage.cpu_seconds)
        return usage

    def _reason(self) -> Reason | None:
        """The limit that is passed now, if any."""
        usage, limits = self._look(), self.limits
        if self.void is not None and self.void(self.transcript):
            return "void"
        if len(self.transcript.output) > limits.output:
            return "output"
        if self.meter.is_out_of_memory(usage):
            return "memory"
        if limits.cpu_seconds is not None and usage.cpu_seconds > limits.cpu_seconds:
            return "cpu"
        if len(self.living) > MOST_PROCESSES:
            return "processes"
        now = self._now()
        if now >= self.folder_look:
            self.folder_look = now + _FOLDER_LOOK
            if _size_of(self.folder) > LARGEST_FOLDER:
                return "folder"
        return "time" if now >= limits.seconds else None

    def _stop(self, reason: Reason) -> None:
        self.stopped, self.stopped_at = reason, self._now()
        # The rest of the machine may not live to see a polite end of some.
        is_urgent = reason in ("memory", "processes", "folder")
        number = signal.SIGKILL if is_urgent else signal.SIGTERM
        self.processes.signal(number, [*self.processes.living(), *self.meter.members()])

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


def _environment() -> dict[str, str]:
    """Ours; relative places of Python modules, meant from our folder, hold in the empty one, too.

    Else built-in solvers would come from another glasshouse than this one, if there is one.
    """
    found = dict(os.environ)
    if places := found.get("PYTHONPATH"):
        found["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, places.split(os.pathsep)))
    return found


def _forbid_core_dumps(pid: int) -> None:
    import resource  # there is none on Windows

    with contextlib.suppress(OSError, AttributeError):
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))


def _is_worker_of_ours() -> bool:
    """Whether this process runs nothing but commands, one at a time."""
    is_child = multiprocessing.parent_process() is not None
    return is_child and threading.current_thread() is threading.main_thread()


def _size_of(folder: Path) -> int:
    """Bytes on disk below a folder, as far as they can be counted within a moment."""
    total, deadline = 0, time.monotonic() + 0.05
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += 512 * os.lstat(f"{place}/{name}").st_blocks
        if time.monotonic() > deadline:
            break
    return total
