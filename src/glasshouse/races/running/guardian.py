"""The guardian: a process that ends solvers and removes their files if its owner is killed.

Each process that runs commands has a guardian: a small process that receives, through a pipe, what
must be cleaned up. It waits until its owner has ended, even by `kill -9`. A parent-death signal
would reach the solver, but neither the processes that the solver started nor its files.

This file is also the guardian's program; it imports only the standard library and processes.py.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import runpy
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_TRIES, _PAUSE = 100, 0.01


class _Guardian:
    """The owner's end of the pipe to its guardian; a fork of the owner gets its own guardian."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._known: dict[str, Any] = {}

    def tell(self, key: str, what: dict[str, Any] | None) -> None:
        """Register a clean-up in case this process is killed; if `what` is None, cancel it."""
        with self._lock:
            if self._owner != os.getpid():
                self._process, self._owner, self._known = None, os.getpid(), {}
            self._known[key] = what
            if what is None:
                del self._known[key]
            try:
                self._write({key: what})
            except OSError:  # the guardian was killed
                self._process = None
                self._write(self._known)

    def _write(self, news: dict[str, Any]) -> None:
        if self._process is None:
            self._process = _start()
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(news).encode() + b"\n")

    def close(self) -> None:
        """Dismiss the guardian when this process ends normally."""
        if self._process is not None and self._owner == os.getpid():
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                self._process.communicate(timeout=1)


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        cwd="/",
        start_new_session=True,
    )


_guardian = _Guardian()
atexit.register(_guardian.close)
tell = _guardian.tell


@contextlib.contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """Create an empty folder that is removed after the block, even if this process is killed."""
    made = tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True)
    folder = made.name
    tell(folder, {"folder": folder})
    try:
        yield Path(folder)
    finally:
        _remove(folder)
        tell(folder, None)
        with contextlib.suppress(Exception):  # a folder that stays must not fail the run
            made.cleanup()


def remove_cgroups(paths: list[str]) -> None:
    """Kill all processes in cgroups, and remove the cgroups and their descendants."""
    for path in paths:
        for place, _, _ in os.walk(path, topdown=False):
            _remove_cgroup(place)


def _remove_cgroup(path: str) -> None:
    for _ in range(_TRIES):
        with contextlib.suppress(OSError):
            Path(path).rmdir()
        if not Path(path).exists():
            return
        with contextlib.suppress(OSError):
            for pid in (Path(path) / "cgroup.procs").read_text().split():
                os.kill(int(pid), signal.SIGKILL)
        time.sleep(_PAUSE)


def _remove(folder: str) -> None:
    """Remove a folder, even if it is nested too deeply for `shutil.rmtree`.

    A solver may have replaced the folder by a link; the target of a link is not removed.
    """
    with contextlib.suppress(OSError):
        if not Path(folder).is_dir() or Path(folder).is_symlink():
            Path(folder).unlink()
            return
        try:
            shutil.rmtree(folder)
        except RecursionError:
            subprocess.run(["rm", "-rf", "--", folder], check=False)


def _wait_for_the_end_of(owner: int) -> dict[str, Any]:
    """Wait until the owner has ended or closed the pipe, and return what must be cleaned up."""
    known: dict[str, Any] = {}
    rest = b""
    watched: list[int] = [0]
    with contextlib.suppress(OSError, AttributeError):
        watched.append(os.pidfd_open(owner))
    os.set_blocking(0, False)
    is_over = False
    while not is_over:
        ready, _, _ = select.select(watched, [], [])
        # A fork of the owner may keep the pipe open longer than the owner lives.
        is_over = ready != [0] or os.getppid() != owner
        with contextlib.suppress(BlockingIOError):
            while True:
                data = os.read(0, 1 << 16)
                if not data:
                    is_over = True
                    break
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    known |= json.loads(line)
                known = {key: what for key, what in known.items() if what is not None}
    return known


def _clean_up(left: dict[str, Any]) -> None:
    runs = runpy.run_path(str(Path(__file__).with_name("processes.py")))["RunProcesses"]
    for what in left.values():
        if "mark" in what:
            runs(what["mark"], what.get("group")).end()
            remove_cgroups(what.get("cgroups", []))
    for what in left.values():
        if "folder" in what:
            _remove(what["folder"])


if __name__ == "__main__":
    for _number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(_number, signal.SIG_IGN)  # the guardian ends with its owner
    _clean_up(_wait_for_the_end_of(int(sys.argv[1])))
