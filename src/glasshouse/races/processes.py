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
import time
from dataclasses import dataclass
from pathlib import Path

MARK = "GLASSHOUSE_RUN"
_PROC = Path("/proc")
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_TRIES, _PAUSE = 200, 0.005  # what cannot be killed within a second is left to the machine
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER


@dataclass(frozen=True)
class Usage:
    """What processes use at one moment: bytes of resident memory and seconds of processor time."""

    memory: int
    cpu_seconds: float


def adopt_orphans() -> None:
    """Become the parent of processes whose own parents end, so that they can be waited for."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def tree_of(pid: int) -> list[int]:
    """A process and all that descend from it."""
    found, todo = [], [pid]
    while todo:
        pid = todo.pop()
        found.append(pid)
        with contextlib.suppress(OSError):
            for path in (_PROC / str(pid) / "task").iterdir():
                todo += map(int, (path / "children").read_text().split())
    return found


def usage_of(pids: list[int]) -> Usage:
    """What processes use together; those that are gone count as nothing."""
    memory, ticks = 0, 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            # The name in parentheses may hold spaces; what follows it does not.
            words = (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
            ticks += int(words[11]) + int(words[12]) + int(words[13]) + int(words[14])
            memory += int(words[21]) * _PAGE
    return Usage(memory, ticks / _TICK)


def survivors(mark: str, group: int) -> list[int]:
    """Processes of a run that are still there: by its mark, its process group or its session.

    The first one, whose number is the group's, is its starter's to wait for and not among them.
    """
    if not _PROC.is_dir():
        return []
    entry = f"{MARK}={mark}".encode()
    pids = [int(path.name) for path in _PROC.iterdir() if path.name.isdigit()]
    return [p for p in pids if p not in (os.getpid(), group) and _belongs(p, entry, group)]


def _belongs(pid: int, entry: bytes, group: int) -> bool:
    try:
        words = (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
        if group in (int(words[2]), int(words[3])):
            return True
        if words[0] == b"Z":
            return False
        return entry in (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except (OSError, ValueError, IndexError):
        return False


def signal_all(group: int, pids: list[int], number: signal.Signals) -> None:
    """Send a signal to a process group and to processes that have left it: once to each.

    A second one could end a solver that is printing its model because of the first.
    """
    gone = (ProcessLookupError, PermissionError)
    outside = []
    for pid in pids:
        with contextlib.suppress(*gone):
            if os.getpgid(pid) != group:
                outside.append(pid)
    with contextlib.suppress(*gone):
        os.killpg(group, number)
    for pid in outside:
        with contextlib.suppress(*gone):
            os.kill(pid, number)


def end_all(mark: str, group: int) -> None:
    """Kill whatever is left of a run, until nothing is."""
    signal_all(group, [], signal.SIGKILL)
    for _ in range(_TRIES):
        left = survivors(mark, group)
        if not left:
            return
        signal_all(group, left, signal.SIGKILL)
        for pid in left:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)  # an orphan that we have adopted
        time.sleep(_PAUSE)
