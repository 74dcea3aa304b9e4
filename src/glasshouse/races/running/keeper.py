"""The keeper: a small process that starts commands and adopts the processes they leave behind.

A solver may start processes that leave its session, clear their environment and outlive their
parents. Linux gives such orphans to the nearest ancestor that has asked for them
(PR_SET_CHILD_SUBREAPER): the keeper, which runs one command at a time and nothing else. So all
descendants of a keeper belong to the run, whatever else the caller's process does. A solver that
stops or kills its parent stops or kills the keeper, while the caller's clock continues. For this
case the keeper has its own parent, its heir, which adopts in its place and kills what it gets.

This file is also the keeper's program; it imports only the standard library.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

_PATIENCE = 60.0  # seconds for a keeper to start a command, on a very busy computer
_ENDING = 5.0  # seconds for a keeper to end by itself
_TRIES, _PAUSE = 200, 0.005  # one second in which a keeper kills what its owner has left
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_HEAD = 8  # bytes: the length of a message


class KeeperGoneError(Exception):
    """Raised if the keeper has ended although its owner did not end it."""


class Keeper:
    """The owner's end of the channel to one keeper, which runs one command at a time."""

    def __init__(self) -> None:
        self.channel, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__, str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                cwd="/",
                start_new_session=True,
            )
        self.channel.settimeout(_PATIENCE)
        self.pid: int | None = None  # the parent of the command; known once the command has started

    @property
    def heir(self) -> int:
        """The process ID of the heir, which adopts the processes of a killed keeper."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the keeper and its heir are still running."""
        return self._process.poll() is None

    def start(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        folder: str,
        pipes: tuple[int, int],
        prepare: Callable[[int], None] | None = None,
    ) -> tuple[int, float]:
        """Start a command in its own session, and return its process ID and start time.

        Args:
            words: program and arguments.
            environment: all environment variables of the command.
            folder: the working folder.
            pipes: file descriptors for standard output and standard error.
            prepare: called with the process ID before the process becomes the command; None is
                faster.

        Raises:
            ValueError: the command cannot be started.
            KeeperGoneError: the keeper has ended.
        """
        asked = {"words": list(words), "environment": dict(environment), "folder": folder}
        told = self._asked({**asked, "waits": prepare is not None}, pipes)
        if prepare is not None and "ready" in told:
            prepare(int(told["ready"]))
            told = self._asked({})  # start now
        if "error" in told:
            raise ValueError(f"cannot start {words[0]}: {told['error']}")
        self.pid = int(told["keeper"])
        return int(told["pid"]), float(told["start"])

    def ended(self, seconds: float = 0.0) -> tuple[int, float] | None:
        """Return the command's exit code and CPU seconds, or None if the command still runs.

        Args:
            seconds: the longest time to wait for the end.

        Raises:
            KeeperGoneError: the keeper has ended.
        """
        deadline = time.monotonic() + seconds
        while not select.select([self.channel], [], [], 0.0)[0]:
            if not self.is_alive:
                raise KeeperGoneError("the command's supervisor was killed; run the command again")
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            self.resume()  # on every check, because the command may stop it again
            select.select([self.channel], [], [], min(left, _PAUSE))
        told = self._told()
        return int(told["exit_code"]), float(told["cpu_seconds"])

    def resume(self) -> None:
        """Resume the keeper's process, which the command may have stopped with SIGSTOP."""
        if self.is_alive:
            with contextlib.suppress(OSError):
                os.killpg(self.heir, signal.SIGCONT)

    def close(self) -> None:
        """End the keeper, which first kills all processes that its command has left behind."""
        self.channel.close()
        self.resume()
        try:
            self._process.wait(_ENDING)
        except subprocess.TimeoutExpired:
            os.killpg(self.heir, signal.SIGKILL)
            self._process.wait()

    def _asked(self, what: dict[str, Any], files: Sequence[int] = ()) -> dict[str, Any]:
        try:
            _send(self.channel, what, files)
        except OSError as fault:
            raise KeeperGoneError(str(fault)) from None
        return self._told()

    def _told(self) -> dict[str, Any]:
        try:
            told, _ = _receive(self.channel)
        except OSError as fault:
            raise KeeperGoneError(str(fault)) from None
        if told is None:
            raise KeeperGoneError("the command's supervisor has ended; run the command again")
        return told


class _Idle:
    """This process's idle keepers, which wait for commands; a fork gets its own keepers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = 0
        self._keepers: list[Keeper] = []

    def take(self) -> Keeper:
        """Return an idle keeper, or a new keeper if none is idle."""
        with self._lock:
            if self._owner != os.getpid():
                self._owner, self._keepers = os.getpid(), []
            while self._keepers:
                keeper = self._keepers.pop()
                if keeper.is_alive:
                    return keeper
        return Keeper()

    def give_back(self, keeper: Keeper) -> None:
        """Store a keeper for the next command; its own command and descendants must have ended."""
        with self._lock:
            self._keepers.append(keeper)

    def close(self) -> None:
        """End all keepers when this process ends normally."""
        while self._keepers and self._owner == os.getpid():
            self._keepers.pop().close()


_idle = _Idle()
atexit.register(_idle.close)


@contextlib.contextmanager
def a_keeper() -> Iterator[Keeper]:
    """Yield a keeper for one command; unless an error occurs, the next command reuses it."""
    keeper = _idle.take()
    try:
        yield keeper
    except BaseException:
        keeper.close()
        raise
    if keeper.is_alive:
        _idle.give_back(keeper)
    else:
        keeper.close()


# Messages --------------------------------------------------------------------------------------


def _send(channel: socket.socket, what: dict[str, Any], files: Sequence[int] = ()) -> None:
    text = json.dumps(what).encode()
    socket.send_fds(channel, [len(text).to_bytes(_HEAD, "big")], list(files))
    channel.sendall(text)


def _receive(channel: socket.socket) -> tuple[dict[str, Any] | None, list[int]]:
    """Receive a message and its file descriptors; the message is None if the sender has ended."""
    head, files, _, _ = socket.recv_fds(channel, _HEAD, 2)
    text = b""
    size = int.from_bytes(head, "big")
    while len(text) < size:
        more = channel.recv(size - len(text))
        if not more:
            return None, files
        text += more
    return (json.loads(text) if head else None), files


# The keeper's program --------------------------------------------------------------------------


class _Service:
    """The keeper's end of the channel, which starts commands and reports how they end."""

    def __init__(self, channel: socket.socket, owner: int, parent: int) -> None:
        self._channel, self._owner, self._parent = channel, owner, parent
        self._command: subprocess.Popen[bytes] | None = None
        self._start = 0.0
        self._woken, wakes = os.pipe()
        os.set_blocking(wakes, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # with a handler, the pipe is written to
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)

    def run(self) -> None:
        """Start commands for the owner until the owner has ended or closed the channel."""
        watched: list[Any] = [self._channel, self._woken]
        with contextlib.suppress(OSError, AttributeError):
            watched.append(os.pidfd_open(self._owner))
        while True:
            ready, _, _ = select.select(watched, [], [])
            # A fork of the owner may keep the channel open longer than the owner lives.
            if any(end in ready for end in watched[2:]) or os.getppid() != self._parent:
                return
            if self._woken in ready:
                os.read(self._woken, 4096)
                self._collect()
            if self._channel in ready and not self._obey():
                return

    def _obey(self) -> bool:
        asked, files = _receive(self._channel)
        if asked is None:
            return False
        self._command, self._start = None, time.monotonic()
        try:
            self._command = subprocess.Popen(
                asked["words"],
                stdin=subprocess.DEVNULL,
                stdout=files[0],
                stderr=files[1],
                cwd=asked["folder"],
                env=asked["environment"],
                start_new_session=True,
                preexec_fn=self._wait_for_go if asked["waits"] else None,
            )
        except (OSError, ValueError, subprocess.SubprocessError) as fault:
            _send(self._channel, {"error": str(fault)})
        else:
            # All processes of a computer share this clock.
            start = time.monotonic() if asked["waits"] else self._start
            pids = {"pid": self._command.pid, "keeper": os.getpid()}
            _send(self._channel, pids | {"start": start})
        for file in files:
            os.close(file)
        self._collect()  # children that ended before the owner knew their start
        return True

    def _wait_for_go(self) -> None:
        """Wait, in the new process, until the owner has prepared this process from outside."""
        _send(self._channel, {"ready": os.getpid()})
        if _receive(self._channel)[0] is None:
            raise ValueError("the owner has ended, so the command was not started")

    def _collect(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, code, used = os.wait4(-1, os.WNOHANG)
                if not pid:
                    return
                if self._command is not None and pid == self._command.pid:
                    self._command.returncode = os.waitstatus_to_exitcode(code)
                    cpu = used.ru_utime + used.ru_stime
                    said = {"exit_code": self._command.returncode, "cpu_seconds": cpu}
                    _send(self._channel, said)

    def end_all(self) -> None:
        """Kill the command and all descendants of the keeper."""
        _end_all(None if self._command is None else self._command.pid)


def _end_all(group: int | None = None) -> None:
    """Kill a process group and all descendants of this process, including newly adopted ones."""
    for _ in range(_TRIES):
        if group is not None:
            with contextlib.suppress(OSError):
                os.killpg(group, signal.SIGKILL)
        for pid in _children():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(_PAUSE)


_IGNORED = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


def _children() -> list[int]:
    own = os.getpid()
    with contextlib.suppress(OSError), open(f"/proc/{own}/task/{own}/children") as file:  # noqa: PTH123
        return list(map(int, file.read().split()))
    return []


def _adopts_orphans() -> bool:
    """Make this process adopt orphans among its descendants; return whether that succeeded."""
    with contextlib.suppress(OSError, AttributeError):
        return int(ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)) == 0
    return False


def _serve(channel: int, owner: int, parent: int) -> None:
    with socket.socket(fileno=channel) as opened:
        os.set_inheritable(channel, False)
        service = _Service(opened, owner, parent)
        try:
            service.run()
        except OSError:  # the owner ended in the middle of a message
            pass
        finally:
            service.end_all()


def _main(channel: int, owner: int) -> None:
    for number in _IGNORED:  # because the keeper ends with its owner
        signal.signal(number, lambda *_: None)  # a command would inherit SIG_IGN
    heir = os.getpid()
    if not _adopts_orphans():
        _serve(channel, owner, parent=owner)
    elif keeper := os.fork():
        os.close(channel)
        os.waitpid(keeper, 0)
        _end_all()
    else:
        _adopts_orphans()  # a fork does not inherit this
        _serve(channel, owner, parent=heir)


if __name__ == "__main__":
    _main(int(sys.argv[1]), int(sys.argv[2]))
