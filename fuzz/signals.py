"""`python -m fuzz.signals [--count N] [--seed N] [--cold SHARE] [--jobs N] [SCENE ...]`.

Send SIGINT and SIGTERM to commands at random moments, with warm and with cold caches. Check exit
codes, remaining processes and files, and that a model costs what the last `o` line states. This
needs Linux: `/proc` shows when a command handles signals, and which processes remain.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.scenes import SCENES, Scene, known_notices, left_wrong

_NAMES = {signal.SIGINT: ("interrupted", 130), signal.SIGTERM: ("terminated", 143)}
_START = 120.0  # seconds until a command handles signals, on a busy machine
_SLOWEST = 20.0  # the largest ratio of elapsed to processor time, on a busy computer
_LONGEST = 120.0  # seconds after the signal until a command counts as hanging
_LINGER = 5.0  # seconds in which child processes must end after their parent


@dataclass(frozen=True)
class Shot:
    """A signal that was sent, and its outcome.

    Attributes:
        scene: the command.
        number: the signal.
        is_cold: whether nothing was compiled before.
        moment: the processor time of the command and its children when the signal was sent.
        code: the exit code; None if the command did not end.
        seconds: wall-clock time from the signal to the end.
        work: processor time from the signal to the end.
        faults: the promises that were broken.
    """

    scene: str
    number: signal.Signals
    is_cold: bool
    moment: float
    code: int | None
    seconds: float
    work: float
    faults: tuple[str, ...]

    def __str__(self) -> str:
        cache = "cold" if self.is_cold else "warm"
        head = f"{self.scene}, {cache}, {self.number.name} after {self.moment:.3f} s"
        took = f"{self.seconds:.1f} s ({self.work:.1f} s of processor time)"
        return f"{head}: code {self.code}, {took}; {'; '.join(self.faults)}"


@dataclass
class Tally:
    """The outcomes of all signals."""

    shots: list[Shot] = field(default_factory=list)

    @property
    def failures(self) -> list[Shot]:
        """The signals after which a promise was broken."""
        return [shot for shot in self.shots if shot.faults]

    def table(self) -> str:
        """Return a table with one line per scene: counts, exit codes and longest times."""
        lines = [
            f"{'scene':<22} {'SIGINT':>7} {'SIGTERM':>8} {'cold':>5} {'longest':>8}  exit codes"
        ]
        for name in sorted({shot.scene for shot in self.shots}):
            shots = [shot for shot in self.shots if shot.scene == name]
            numbers = Counter(shot.number for shot in shots)
            codes = Counter(shot.code for shot in shots)
            told = ", ".join(f"{code}: {count}" for code, count in codes.most_common())
            lines.append(
                f"{name:<22} {numbers[signal.SIGINT]:>7} {numbers[signal.SIGTERM]:>8} "
                f"{sum(shot.is_cold for shot in shots):>5} "
                f"{max(shot.seconds for shot in shots):>6.1f} s "
                f"{max(shot.work for shot in shots):>5.1f} s  {told}"
            )
        return "\n".join(lines)


def shoot(scene: Scene, number: signal.Signals, share: float, is_cold: bool) -> Shot:
    """Start a scene, send a signal after a fraction of its time, and check what it leaves."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "scene")
        folder.mkdir()
        scene.prepare(folder)
        environment = dict(os.environ)
        if is_cold:
            environment["NUMBA_CACHE_DIR"] = str(Path(name, "cache"))
        moment = share * (scene.cold_seconds if is_cold else scene.seconds)
        with _started(scene.words, folder, environment) as process:
            if _handles_signals(process):
                _wait(process, moment)
            began, before = time.monotonic(), _work(process.pid)
            process.send_signal(number)
            code, after = _ended(process)
            seconds = time.monotonic() - began
            left = _left_behind(process.pid)
        output = (folder.parent / "out").read_text(), (folder.parent / "err").read_text()
        faults = [*_spoken(scene, number, code, *output), *left_wrong(scene, folder, output[0])]
        if left:
            faults.append(f"processes left: {left}")
    work = max(after - before, 0.0)
    return Shot(scene.name, number, is_cold, moment, code, seconds, work, tuple(faults))


@contextmanager
def _started(
    words: list[str], folder: Path, environment: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a command in its own session with default signals, and kill the session afterwards."""
    with (folder.parent / "out").open("wb") as out, (folder.parent / "err").open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "glasshouse", *words], cwd=folder, env=environment,
            stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
            preexec_fn=_default_signals,
        )  # fmt: skip
    try:
        yield process
    finally:
        for pid in [process.pid, *_session(process.pid)]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        process.wait()


def _default_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def _handles_signals(process: subprocess.Popen[bytes]) -> bool:
    """Wait until a command has installed its signal handlers, and return whether it has."""
    deadline = time.monotonic() + _START
    while process.poll() is None and time.monotonic() < deadline:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            return False
        caught = int(status.partition("SigCgt:")[2].split()[0], 16)
        if caught >> (signal.SIGTERM - 1) & 1:
            return True
        time.sleep(0.001)
    return False


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait until a command has used processor time of `seconds`, or has ended.

    On a busy computer, a wall-clock delay could end before the command has started.
    """
    deadline = time.monotonic() + _SLOWEST * (seconds + 1)
    while process.poll() is None and time.monotonic() < deadline:
        if _work(process.pid) >= seconds:
            return
        time.sleep(0.02)


def _ended(process: subprocess.Popen[bytes]) -> tuple[int | None, float]:
    """Wait for the end, and return the exit code (or None) and the last processor time."""
    deadline, work = time.monotonic() + _LONGEST, 0.0
    while process.poll() is None and time.monotonic() < deadline:
        work = max(work, _work(process.pid))
        time.sleep(0.02)
    return process.poll(), work


def _work(leader: int) -> float:
    """Return the processor time, in seconds, of a session's processes and ended children."""
    ticks = 0
    for pid in [leader, *_session(leader)]:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _left_behind(session: int) -> list[str]:
    """Return the commands of a session's processes that do not end within a few seconds."""
    deadline = time.monotonic() + _LINGER
    while (left := _session(session)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return [_command(pid) for pid in left]


def _session(session: int) -> list[int]:
    """Return the live processes of a session, without its leader."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == session:
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(entry.name))
    return found


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()[:80]
    except OSError:
        return "gone"


def _spoken(
    scene: Scene, number: signal.Signals, code: int | None, out: str, err: str
) -> Iterator[str]:
    """Yield the faults of a command's exit code and of its standard error."""
    word, expected = _NAMES[number]
    allowed = {expected, *scene.codes}
    if scene.is_evaluated:
        allowed.discard(expected)
    if code not in allowed:
        yield f"exit code {code}, not one of {sorted(allowed)}"
    said = known_notices(err)
    if "Traceback" in err or "Fatal Python error" in err:
        yield f"said {err[-2000:]!r}"
    elif code == expected and not said.startswith(f"glasshouse: {word}"):
        yield f"said {said!r:.200} with exit code {code}"


def main() -> int:
    """Send the signals, print the counts, and return 1 if a promise was broken."""
    arguments = _arguments()
    chance = random.Random(arguments.seed)
    scenes = [scene for scene in SCENES if not arguments.scenes or scene.name in arguments.scenes]
    scenes = [scene for scene in scenes if scene.is_possible()]
    tally, plan = Tally(), []
    for k in range(arguments.count):
        number = (signal.SIGINT, signal.SIGTERM)[k % 2]
        scene = scenes[k // 2 % len(scenes)]
        plan.append((scene, number, chance.random() * 1.1, chance.random() < arguments.cold))
    with ThreadPoolExecutor(arguments.jobs) as pool, suppress(KeyboardInterrupt):
        for shot in pool.map(lambda one: shoot(*one), plan):
            tally.shots.append(shot)
            if shot.faults:
                print(shot, flush=True)
            if len(tally.shots) % 100 == 0:
                print(f"{len(tally.shots)} of {len(plan)} signals", file=sys.stderr, flush=True)
    print(tally.table())
    sent = Counter(shot.number.name for shot in tally.shots)
    print(f"{dict(sent)}: {len(tally.failures)} failures")
    return 1 if tally.failures else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[2])
    parser.add_argument("--count", type=int, default=100, help="the number of signals")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cold", type=float, default=0.25, help="fraction with empty caches")
    parser.add_argument("--jobs", type=int, default=1, help="commands at the same time")
    parser.add_argument("scenes", nargs="*", help=", ".join(scene.name for scene in SCENES))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
