"""One run of a command under limits, from its start until all its processes have ended.

The command gets its own session and an empty folder. Its output is read while it runs, so each line
has a time, and the usage of its processes is checked every few milliseconds. At a limit all
processes get SIGTERM, then SIGKILL; processes that outlive the command are killed. A keeper between
this process and the command ensures that the command cannot start, stop or kill any process of
glasshouse. If this process is killed, the keeper and a guardian clean up.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from glasshouse.races.running import guardian, processes
from glasshouse.races.running.command import LARGEST_FOLDER, MOST_PROCESSES, Limits
from glasshouse.races.running.keeper import Keeper, KeeperGoneError, a_keeper
from glasshouse.races.running.meters import MeterName, ProcessGroup, new_meter
from glasshouse.races.running.transcript import Transcript
from glasshouse.summaries import Summarised

Reason = Literal["time", "cpu", "memory", "output", "processes", "folder", "parent", "void"]

_CHUNK = 1 << 16
_FIRST_LOOK, _LONGEST_WAIT = 0.002, 0.02  # seconds between checks of the usage
_FOLDER_LOOK = 0.5  # seconds between checks of the folder
_LAST_WORDS = 0.1  # seconds to read the pipes after the command has ended
_REPORT = 10.0  # seconds for the keeper to report the end of a command that was killed


@dataclass(frozen=True, repr=False)
class Outcome(Summarised):
    """The outcome of one run: how it ended, what it used, and what it printed.

    Attributes:
        exit_code: the exit code of the command; negative for the signal that ended it.
        stopped: the limit that the run reached; None if it ended by itself, "parent" if it has
            killed the process that started it.
        seconds: wall-clock time until the command ended or was stopped.
        cpu_seconds: CPU time of all processes of the run, including the grace time.
        memory: the most bytes of memory, of all processes together.
        transcript: the output of the command.
        meter: the name of the meter.
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
        meter: the meter of the run.
        void: called repeatedly with the transcript so far; True stops the run, which then does not
            count.

    Raises:
        ValueError: the command cannot be started, or the meter cannot be used here.
    """
    if os.name != "posix":
        raise ValueError("commands can be raced only on Linux and macOS; here, use race_samplers")
    with (
        guardian.scratch_folder("glasshouse-") as folder,
        contextlib.closing(new_meter(meter, limits)) as opened,
        a_keeper() as keeper,
    ):
        return _Run(arguments, limits, folder, opened, keeper, void).outcome()


class _Run:
    """The state of one running command, from its start to its end."""

    def __init__(
        self, arguments: Sequence[str], limits: Limits, folder: Path, meter: ProcessGroup,
        keeper: Keeper, void: Callable[[Transcript], bool] | None,
    ) -> None:  # fmt: skip
        self.limits, self.folder, self.meter = limits, folder, meter
        self.keeper, self.void = keeper, void
        self.mark = uuid.uuid4().hex
        self.transcript = Transcript()
        self.stopped: Reason | None = None
        self.stopped_at = self.ended_at = 0.0
        self.memory, self.cpu_seconds = 0, 0.0
        self.reaped_before = processes.reaped_seconds(keeper.pid)
        self.folder_look = _FOLDER_LOOK
        self.exit_code: int | None = None
        self.is_abandoned = False  # the command has killed its keeper
        self.cleaned_up = {"mark": self.mark, "cgroups": meter.cgroups}
        self.processes = processes.RunProcesses(self.mark, heir=keeper.heir)
        guardian.tell(self.mark, self.cleaned_up)
        try:
            self.pipes = self._start(arguments)
        except BaseException:
            guardian.tell(self.mark, None)
            raise

    def _start(self, arguments: Sequence[str]) -> dict[str, int]:
        """Start the command, and return the read ends of its pipes, keyed by stream name."""
        (output, its_output), (errors, its_errors) = os.pipe(), os.pipe()
        environment = _environment() | {processes.MARK: self.mark}
        try:
            prepare = self.meter.prepare if self.meter.needs_to_prepare else None
            files = its_output, its_errors
            pid, self.start = self.keeper.start(
                arguments, environment, str(self.folder), files, prepare
            )
        except BaseException as fault:
            os.close(output)
            os.close(errors)
            if isinstance(fault, KeeperGoneError):
                raise ValueError(f"cannot start {arguments[0]}: {fault}") from None
            raise
        finally:
            os.close(its_output)
            os.close(its_errors)
        self.processes.group, self.processes.keeper = pid, self.keeper.pid
        guardian.tell(self.mark, self.cleaned_up | {"group": pid})
        _forbid_core_dumps(pid)
        return {"output": output, "errors": errors}

    def outcome(self) -> Outcome:
        """Wait for the end, remove all processes and files of the run, and return the outcome."""
        try:
            self._watch()
        except BaseException:
            self._end()
            raise
        finally:
            guardian.tell(self.mark, None)
            for pipe in self.pipes.values():
                os.close(pipe)
        code = -signal.SIGKILL if self.exit_code is None else self.exit_code
        self.transcript.is_cut = self.stopped is not None and code < 0
        return Outcome(
            code,
            self.stopped,
            self.ended_at if self.stopped is None else self.stopped_at,
            self.cpu_seconds,
            self.memory,
            self.transcript,
            self.meter.name,
        )

    def _now(self) -> float:
        return time.monotonic() - self.start

    def _watch(self) -> None:
        with selectors.DefaultSelector() as pipes:
            for stream, pipe in self.pipes.items():
                os.set_blocking(pipe, False)
                pipes.register(pipe, selectors.EVENT_READ, stream)
            pipes.register(self.keeper.channel, selectors.EVENT_READ, "end")
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
            pipes.unregister(self.keeper.channel)
            self._end()  # first, because any process that outlives the command holds the pipes open
            reason = self._overrun(self._look())
            if self.stopped is None and reason is not None:
                self.stopped, self.stopped_at = reason, self.ended_at
            self._last_words(pipes)

    def _end(self) -> None:
        has_ended = self.processes.end(self.meter.members) and self._wait(_REPORT)
        if self.is_abandoned or not (has_ended and self.processes.are_collected()):
            self.keeper.close()  # its remaining processes would be charged to the next run

    def _look(self) -> processes.Usage:
        """Measure and return the current usage, and record the maximum so far."""
        # This comes first: the time of a process that ends from here on would be counted twice.
        reaped = max(0.0, processes.reaped_seconds(self.keeper.pid) - self.reaped_before)
        self.living = self.processes.living()
        usage = self.meter.usage(self.living, reaped)
        self.memory = max(self.memory, usage.memory)
        self.cpu_seconds = max(self.cpu_seconds, usage.cpu_seconds)
        return usage

    def _overrun(self, usage: processes.Usage) -> Reason | None:
        """Return the limit on memory or CPU time that the run has exceeded, if any."""
        if self.meter.is_out_of_memory(usage):
            return "memory"
        most = self.limits.cpu_seconds
        return "cpu" if most is not None and self.cpu_seconds > most else None

    def _reason(self) -> Reason | None:
        """Return the reason to stop the run now, or None if there is no reason."""
        usage, limits = self._look(), self.limits
        if self.void is not None and self.void(self.transcript):
            return "void"
        if len(self.transcript.output) > limits.output:
            return "output"
        if (overrun := self._overrun(usage)) is not None:
            return overrun
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
        # Some runs would exhaust the computer during the grace time after SIGTERM.
        is_urgent = reason in ("memory", "processes", "folder")
        number = signal.SIGKILL if is_urgent else signal.SIGTERM
        self.processes.signal(number, [*self.processes.living(), *self.meter.members()])

    def _read(self, pipes: selectors.BaseSelector, wait: float) -> bool:
        """Wait up to `wait` seconds for output and read it; return whether there was output."""
        found = False
        for key, _ in pipes.select(wait):
            if key.data == "end":
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

    def _wait(self, seconds: float = 0.0) -> bool:
        """Wait up to `seconds`; return whether the command has ended or has killed its keeper."""
        if self.exit_code is None and not self.is_abandoned:
            self.keeper.resume()
            try:
                ended = self.keeper.ended(seconds)
            except KeeperGoneError:
                self.is_abandoned = True
                if self.stopped is None:
                    self.stopped, self.stopped_at = "parent", self._now()
                return True
            if ended is not None:
                self.exit_code, used = ended
                self.cpu_seconds = max(self.cpu_seconds, used)
        return self.exit_code is not None or self.is_abandoned


def _environment() -> dict[str, str]:
    """Return the environment of this process, with absolute paths in PYTHONPATH.

    Otherwise built-in solvers could import a different glasshouse.
    """
    found = dict(os.environ)
    if places := found.get("PYTHONPATH"):
        found["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, places.split(os.pathsep)))
    return found


def _forbid_core_dumps(pid: int) -> None:
    import resource  # it does not exist on Windows

    with contextlib.suppress(OSError, AttributeError):
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))


def _size_of(folder: Path) -> int:
    """Return the bytes on disk below a folder; counting stops after about 0.05 seconds."""
    total, deadline = 0, time.monotonic() + 0.05
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += 512 * os.lstat(f"{place}/{name}").st_blocks
        if time.monotonic() > deadline:
            break
    return total
