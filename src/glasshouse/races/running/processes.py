"""The processes of a run, found by their parents, their session and an environment variable.

A solver may start other processes, which may outlive it or start their own session. All of them
descend from the run's keeper, which adopts the orphans among them. Every process of a run also
inherits one environment variable, so a last scan of /proc finds most of them if the keeper and its
heir were killed. Without /proc (macOS), only the process group can be reached.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

MARK = "GLASSHOUSE_RUN"
_PROC = Path("/proc")
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_ENDED = (b"Z", b"X")  # states of ended processes, waited for or not
_KERNEL_THREAD = 0x200000  # PF_KTHREAD, a flag of processes without memory and environment
_LOOKS = 8
_TRIES, _PAUSE = 200, 0.005  # a process that survives a second of SIGKILL is left alone


@dataclass(frozen=True)
class Usage:
    """The resources that processes use: bytes of resident memory and seconds of CPU time."""

    memory: int
    cpu_seconds: float


def tree_of(pid: int) -> list[int]:
    """Return the IDs of a process and of all its descendants, parents before their children."""
    found, todo = [], [pid]
    while todo:
        pid = todo.pop()
        found.append(pid)
        todo += _children_of(pid)
    return found


def _children_of(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - far faster, at every look
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children") as file:  # noqa: PTH123
                found += map(int, file.read().split())
    return found


def _stat(pid: int) -> list[bytes]:
    """Return the kernel's status fields of a process, starting with its state.

    The name before it, in parentheses, may contain spaces; the later fields do not.
    """
    return (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()


def usage_of(pids: list[int], reaped: float = 0.0) -> Usage:
    """Return the total memory and CPU time of processes; ended processes count as zero.

    Args:
        pids: the processes, each after its ancestors. The time of a process that ends moves to the
            process that waits for it; in this order no time is counted twice.
        reaped: the CPU time of processes that have ended, in seconds.
    """
    memory, ticks = 0, 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            words = _stat(pid)
            ticks += int(words[11]) + int(words[12]) + int(words[13]) + int(words[14])
            memory += int(words[21]) * _PAGE
    return Usage(memory, reaped + ticks / _TICK)


def reaped_seconds(pid: int | None) -> float:
    """Return the CPU seconds of all ended descendants that a process has waited for."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        words = _stat(pid) if pid is not None else []
        return (int(words[13]) + int(words[14])) / _TICK
    return 0.0


def _belongs(pid: int, entry: bytes, group: int | None) -> bool:
    """Return whether a process has `entry` in its environment, or belongs to `group`."""
    try:
        words = _stat(pid)
        if group in (int(words[2]), int(words[3])):
            return True
        return entry in _environment(pid).split(b"\0")
    except (OSError, ValueError, IndexError):
        return False


def _environment(pid: int) -> bytes:
    """Return the environment of a process, with a zero byte after each variable.

    While Linux loads a program, the environment is empty, and for a moment its length is 0, too.
    So an environment counts as empty only if several reads in a row find it empty.
    """
    empty = 0
    for _ in range(_TRIES):
        text = (_PROC / str(pid) / "environ").read_bytes()
        words = _stat(pid)
        empty = empty + 1 if 0 < int(words[47]) == int(words[48]) else 0  # begin and end in memory
        if text or empty > _LOOKS or words[0] in _ENDED or int(words[6]) & _KERNEL_THREAD:
            return text
        time.sleep(_PAUSE)
    return b""


class RunProcesses:
    """All processes of one run, with methods that find, signal and kill them.

    Args:
        mark: an environment entry of each process, unless the process has cleared it.
        group: the ID of the first process, of its process group and of its session; None until
            it is started.
        keeper: the ID of the process that started the first one and adopts all orphans of the
            run; None before the start, or if the keeper has ended.
        heir: the ID of the process that adopts the orphans if the keeper was killed, if any.
    """

    def __init__(
        self,
        mark: str,
        group: int | None = None,
        keeper: int | None = None,
        heir: int | None = None,
    ) -> None:
        self.mark, self.group, self.keeper, self.heir = mark, group, keeper, heir
        self._entry = f"{MARK}={mark}".encode()
        self._born: dict[int, bytes] = {}  # by process number, which can be reused

    def living(self) -> list[int]:
        """Return the IDs of the run's processes, which descend from the keeper or from its heir."""
        found = [] if self.keeper is None else tree_of(self.keeper)[1:]
        for pid in found:
            if pid not in self._born and (birth := _birth(pid)) is not None:
                self._born[pid] = birth
        # This comes last: the processes of a killed keeper move to the heir.
        return found if self.keeper is not None and _runs(self.keeper) else self._orphans()

    def _orphans(self) -> list[int]:
        roots = {pid for pid, birth in self._born.items() if _birth(pid) == birth}
        roots |= set() if self.group is None else {self.group}
        roots |= set() if self.heir is None else set(_children_of(self.heir))
        return list({one for root in roots for one in tree_of(root)} - {self.keeper})

    def _anywhere(self) -> Iterator[int]:
        """Scan all processes on the computer, and yield the IDs of the run's living processes.

        A process may start another one and end before its turn comes, so this continues until there
        are no new processes.
        """
        if not _PROC.is_dir():
            return
        seen = {os.getpid(), self.keeper, self.heir}
        yield from (pid for pid in self.living() if pid not in seen and _runs(pid))
        for _ in range(_TRIES):
            new = {int(path.name) for path in _PROC.iterdir() if path.name.isdigit()} - seen
            if not new:
                return
            yield from (p for p in new if _belongs(p, self._entry, self.group) and _runs(p))
            seen |= new

    def signal(self, number: signal.Signals, pids: list[int]) -> None:
        """Send a signal once to the process group and to each process that has left it.

        A second signal could end a solver that prints its model because of the first.
        """
        gone = (ProcessLookupError, PermissionError)
        outside = []
        for pid in pids:
            with contextlib.suppress(*gone):
                if os.getpgid(pid) != self.group:
                    outside.append(pid)
        if self.group is not None:
            with contextlib.suppress(*gone):
                os.killpg(self.group, number)
        for pid in outside:
            with contextlib.suppress(*gone):
                os.kill(pid, number)

    def are_collected(self) -> bool:
        """Wait until the keeper has collected all ended processes; return whether it has.

        The keeper counts their processor time, which must not be charged to its next command.
        """
        for _ in range(_TRIES):
            if self.keeper is None or not _children_of(self.keeper):
                return True
            time.sleep(_PAUSE)
        return False

    def end(self, more: Callable[[], list[int]] = list) -> bool:
        """Kill all remaining processes of the run; return whether all of them have ended.

        Args:
            more: a function that finds processes of the run in another way.
        """
        self.signal(signal.SIGKILL, [])
        for _ in range(_TRIES):
            is_over = True
            for pid in itertools.chain(self._anywhere(), filter(_runs, more())):
                self.signal(signal.SIGKILL, [pid])  # at once, before it starts another process
                is_over = False
            if is_over:
                return True
            time.sleep(_PAUSE)
        return False


def _birth(pid: int) -> bytes | None:
    """Return the time at which a process began, or None if the process has ended."""
    try:
        return _stat(pid)[19]
    except (OSError, IndexError):
        return None


def _runs(pid: int) -> bool:
    """Return whether a process is running; a zombie process has ended and does not count."""
    try:
        return _stat(pid)[0] not in _ENDED
    except (OSError, IndexError):
        return False
