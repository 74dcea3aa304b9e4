"""Processes that tests start, with default signals, and that are ended after each test.

    child = start([sys.executable, "-c", script])
    until(path.exists, child)  # an event, not a number of seconds
    child.send_signal(signal.SIGINT)
    out, err = child.heard()

`tests/conftest.py` calls `default_signals` first and `end_all` after every test. A child that is
still running is killed with its descendants. A child that has ended must not leave descendants.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

# Seconds. Only a real failure takes this long, even on a computer that is busy with other things.
PATIENCE = 600.0
# Seconds that descendants have to notice that their parent has ended.
_FAREWELL = 120.0

_NUMBERS = itertools.count()
_CHILDREN: list[Child] = []


def default_signals() -> None:
    """Restore signals that the parent ignores, because child processes inherit ignored signals.

    A signal with a handler has its default action in every program that is started. SIGHUP gets a
    handler that does nothing, so that tests under `nohup` survive the end of the terminal.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    wanted: dict[str, Any] = {
        "SIGINT": signal.default_int_handler,
        "SIGTERM": signal.SIG_DFL,
        "SIGHUP": lambda *_: None,
    }
    for name, handler in wanted.items():
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


class Child(subprocess.Popen):
    """A process in its own session, with text pipes unless the options say otherwise."""

    def __init__(self, command: list[Any], **options: Any) -> None:
        # Descendants inherit the variable, wherever they move. Each child has its own name for it,
        # because a child may be a run of tests, whose children must not hide from this one.
        self._mark = f"GLASSHOUSE_TEST_CHILD_{os.getpid()}_{next(_NUMBERS)}"
        pipe = subprocess.PIPE
        usual = {"stdin": subprocess.DEVNULL, "stdout": pipe, "stderr": pipe, "text": True,
                 "start_new_session": True}  # fmt: skip
        options["env"] = {**(options.get("env") or os.environ), self._mark: "1"}
        super().__init__([str(word) for word in command], **(usual | options))

    def heard(self) -> tuple[Any, Any]:
        """Wait for the end, and return the remaining standard output and standard error.

        `communicate` would lose text that `readline` has read from the pipe beyond its line.
        """
        streams = (self.stdout, self.stderr)
        with ThreadPoolExecutor(2) as pool:
            said = [pool.submit(stream.read) if stream else None for stream in streams]
            try:
                self.wait(PATIENCE)
                out, err = (text and text.result(_FAREWELL) for text in said)
            except BaseException:
                self.end()  # which also closes the other ends of the pipes
                raise
        return out, err

    def work(self, seconds: float) -> None:
        """Wait until the family has used `seconds` more seconds of processor time (Linux)."""
        before = self.busy_seconds()
        until(lambda: self.busy_seconds() >= before + seconds, self)

    def busy_seconds(self) -> float:
        """Return the user and system processor time of the whole family, in seconds."""
        ticks = 0
        for process in self.family():
            with suppress(OSError):
                fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def family(self) -> dict[int, str]:
        """Return the command lines of all descendants of this process, by process id (Linux)."""
        return processes_with(self._mark)

    def end(self) -> None:
        """Kill the process and all its descendants, even those in other sessions."""
        if self.poll() is None:
            self.kill()
        kill_all(self.family)
        self.wait(PATIENCE)
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


def start(command: list[Any], **options: Any) -> Child:
    """Start a command with options of Popen; it is killed at the end of the test at the latest."""
    child = Child(command, **options)
    _CHILDREN.append(child)
    return child


def run(command: list[Any], **options: Any) -> subprocess.CompletedProcess[Any]:
    """Start a command and wait for its end."""
    child = start(command, **options)
    out, err = child.heard()
    return subprocess.CompletedProcess(child.args, child.returncode, out, err)


def until(happened: Callable[[], Any], child: subprocess.Popen[Any] | None = None) -> Any:
    """Wait until an event is true and return its value; fail if the child ends before."""
    deadline = time.monotonic() + PATIENCE
    while True:
        asked = time.monotonic()
        has_ended = child is not None and child.poll() is not None
        if found := happened():
            return found
        assert not has_ended, f"{child.args} ended with {child.returncode} too early"
        assert time.monotonic() < deadline, f"nothing happened within {PATIENCE:.0f} seconds"
        # Listing all processes takes time that the child needs, so it is done less often.
        time.sleep(min(max(0.005, 3 * (time.monotonic() - asked)), 0.1))


def end_all() -> None:
    """Kill the children of the last test; fail if a child that had ended left processes behind."""
    left: dict[int, str] = {}
    while _CHILDREN:
        child = _CHILDREN.pop()
        if child.poll() is not None:
            left |= stubborn(child.family)
        child.end()
    assert not left, f"processes were left behind: {left}"


def processes_with(variable: str) -> dict[int, str]:
    """Return the command lines of live processes with an environment variable (Linux)."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"\0{variable}=".encode() in b"\0" + (place / "environ").read_bytes():
                words = (place / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(place.name)] = words.decode(errors="replace").strip()[:200]
    found.pop(os.getpid(), None)
    return found


def stubborn(look: Callable[[], dict[int, str]]) -> dict[int, str]:
    """Return processes that do not end by themselves within a few seconds."""
    deadline = time.monotonic() + _FAREWELL
    while (found := look()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def kill_all(look: Callable[[], dict[int, str]]) -> None:
    """Kill processes until none is left, because a process may start another before it dies."""
    deadline = time.monotonic() + _FAREWELL
    while (found := look()) and time.monotonic() < deadline:
        for process in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.01)
