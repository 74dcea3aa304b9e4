"""`python -m fuzz.replay [PATH ...]`: run inputs through their targets, each in its own process.

A path is `.../TARGET/INPUT`, as in `fuzz/corpus`, or `.../TARGET/findings/INPUT`, as written by a
run. By default, the whole corpus is replayed. A child process that crashes, hangs or exceeds its
memory is a fault, too. The replay does not need atheris, but an operating system with `fork`.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path

from fuzz.findings import kind_of
from fuzz.known import STILL_FAILING
from fuzz.promises import MOST_SECONDS, keep_promises, limit_addresses
from fuzz.targets import CORPUS, TARGETS, corpus_of

# Twice the promised time, for code that cannot be interrupted (compiled code, SQLite). Inputs that
# are known to fail get less time, which suffices once they are fixed.
_PATIENCE, _LITTLE_PATIENCE = 2 * MOST_SECONDS, 1.0


def replay(paths: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Yield each input with its fault, which is empty if the input keeps all promises."""
    with tempfile.TemporaryDirectory(prefix="replay-") as name:
        scratch = Path(name)
        for path in paths:
            folder = scratch / target_of(path)
            if not folder.exists():
                folder.mkdir()
                _warm_up(target_of(path), folder)
            yield path, _in_child(path, folder)


def target_of(path: Path) -> str:
    """Return the name of an input's target, which is that of its folder."""
    folder = path.resolve().parent
    name = folder.parent.name if folder.name == "findings" else folder.name
    if name not in TARGETS:
        raise ValueError(f"{path}: {name!r} is not a target; expected one of {', '.join(TARGETS)}")
    return name


def _warm_up(name: str, folder: Path) -> None:
    """Run the valid inputs of a target once, so that child processes need not load everything."""
    for path in corpus_of(name):
        if path.name.startswith("good"):
            try:
                keep_promises(TARGETS[name].run, path.read_bytes(), folder)
            except Exception:
                return  # the child process will report the fault


def _in_child(path: Path, folder: Path) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _run(path, folder, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as told:
        known = f"{target_of(path)}/{path.name}" in STILL_FAILING
        fault = _told(told.fileno(), child, _LITTLE_PATIENCE if known else _PATIENCE)
    _, status = os.waitpid(child, 0)
    if fault is None:
        return "hangs"
    if os.WIFSIGNALED(status):
        return f"ended by {signal.Signals(os.WTERMSIG(status)).name}"
    return fault


def _run(path: Path, folder: Path, writing: int) -> None:
    """Run an input in the child process, report its fault, and end the process."""
    fault = ""
    try:
        limit_addresses()
        accepted = keep_promises(TARGETS[target_of(path)].run, path.read_bytes(), folder)
        if path.name.startswith("good") and not accepted:
            fault = "a good input was refused"
    except BaseException as error:
        line = traceback.format_exception_only(error)[-1].strip()
        fault = f"{kind_of(error)}: {line}"
    os.write(writing, fault.encode(errors="backslashreplace")[:1000])
    os._exit(0)


def _told(descriptor: int, child: int, patience: float) -> str | None:
    """Return the fault that a child process reports; None if it was killed after `patience`."""
    deadline, told = time.monotonic() + patience, b""
    while select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0]:
        part = os.read(descriptor, 1000)
        if not part:
            return told.decode()
        told += part
    os.kill(child, signal.SIGKILL)
    return None


def main() -> int:
    """Print one JSON object per input, and return exit code 1 if an input fails."""
    paths = [Path(name) for name in sys.argv[1:]]
    failed = False
    for path, fault in replay(paths or [p for name in TARGETS for p in corpus_of(name)]):
        place = path.relative_to(CORPUS) if path.is_relative_to(CORPUS) else path
        print(json.dumps({"input": str(place), "fault": fault}), flush=True)
        failed |= bool(fault)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
