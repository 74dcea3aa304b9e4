"""All processes of a run, wherever they hide: its tree, its session, its marked environment.

A solver may start others, which may outlive it, start a session of their own, or be handed to
another parent. Every process of a run inherits one environment variable, so a last look through
/proc finds what the tree no longer shows. Where there is no /proc (macOS), the process group is all
that can be reached.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

MARK = "GLASSHOUSE_RUN"
_PROC = Path("/proc")
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_TRIES, _PAUSE = 200, 0.005  # what cannot be killed within a second is left to the machine
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_adopting, _adopting_lock = 0, threading.Lock()  # how many runs there are in this process


@dataclass(frozen=True)
class Usage:
    """What processes use at one moment: bytes of resident memory and seconds of processor time."""

    memory: int
    cpu_seconds: float


@contextlib.contextmanager
def adopting_orphans() -> Iterator[None]:
    """Be the parent of processes whose own parents end, so that they can be waited for.

    For no longer than commands run here: whoever never waits for them would collect zombies.
    """
    _adopt(1)
    try:
        yield
    finally:
        _adopt(-1)


def _adopt(more: int) -> None:
    global _adopting
    with _adopting_lock, contextlib.suppress(OSError, AttributeError):
        _adopting += more
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_SUBREAPER, int(_adopting > 0), 0, 0, 0)


def tree_of(pid: int) -> list[int]:
    """A process and all that descend from it."""
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
    """What the kernel tells of a process, from its state on.

    The name before that, in parentheses, may hold spaces; what follows it does not.
    """
    return (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()


def usage_of(pids: list[int]) -> Usage:
    """What processes use together; those that are gone count as nothing."""
    memory, ticks = 0, 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            words = _stat(pid)
            ticks += int(words[11]) + int(words[12]) + int(words[13]) + int(words[14])
            memory += int(words[21]) * _PAGE
    return Usage(memory, ticks / _TICK)


def _belongs(pid: int, entry: bytes, group: int | None) -> bool:
    """Whether a process has an entry in its environment, or is of a process group or session."""
    try:
        words = _stat(pid)
        if group in (int(words[2]), int(words[3])):
            return True
        return entry in (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except (OSError, ValueError, IndexError):
        return False


class RunProcesses:
    """The processes of one run.

    Args:
        mark: that each of them has in its environment, unless it has cleared that.
        group: the first one's number, which is also that of its process group and session; it is
            its starter's to wait for. None until it is started.
        alone: whether this process starts nothing else, so that every orphan that comes to it is
            of the run.
    """

    def __init__(self, mark: str, group: int | None = None, *, alone: bool = False) -> None:
        self.mark, self.group = mark, group
        self._entry = f"{MARK}={mark}".encode()
        self._before = set(_children_of(os.getpid())) if alone else None
        self._orphans: set[int] = set()

    def living(self) -> list[int]:
        """The tree of the first one, and the trees of the orphans that have come to us."""
        assert self.group is not None
        for pid in _children_of(os.getpid()):
            if pid != self.group and pid not in self._orphans and self._is_ours(pid):
                self._orphans.add(pid)
        return [p for root in (self.group, *self._orphans) for p in tree_of(root)]

    def _is_ours(self, child: int) -> bool:
        if self._before is not None:
            return child not in self._before
        return _belongs(child, self._entry, self.group)

    def _anywhere(self) -> list[int]:
        """All but the first one, by a look at every process of the machine."""
        if not _PROC.is_dir():
            return []
        pids = [int(path.name) for path in _PROC.iterdir() if path.name.isdigit()]
        found = {p for p in pids if _belongs(p, self._entry, self.group)}
        if self.group is not None:
            found |= set(self.living())
        return [p for p in found - {os.getpid(), self.group} if _is_there(p)]

    def signal(self, number: signal.Signals, pids: list[int]) -> None:
        """Send a signal to the process group and to processes that have left it: once to each.

        A second one could end a solver that is printing its model because of the first.
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

    def end(self, more: Callable[[], list[int]] = list) -> None:
        """Kill whatever is left, until nothing is.

        Args:
            more: finds processes of the run in another way.
        """
        self.signal(signal.SIGKILL, [])
        killed: set[int] = set()
        for _ in range(_TRIES):
            left = [*self._anywhere(), *(p for p in more() if p != self.group)]
            killed.update(left, self._orphans)
            for pid in killed:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)  # it may have come to us, else stays a zombie
            killed = {pid for pid in killed if (_PROC / str(pid)).exists()}
            if not left and not killed:
                return
            self.signal(signal.SIGKILL, left)
            time.sleep(_PAUSE)


def _is_there(pid: int) -> bool:
    """Whether a process runs, or is our own to wait for."""
    try:
        words = _stat(pid)
        return words[0] not in (b"Z", b"X") or int(words[1]) == os.getpid()
    except (OSError, ValueError, IndexError):
        return False
