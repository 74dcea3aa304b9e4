"""Exact solvers that run in a separate process, which can be killed.

Some solvers cannot be stopped, or only after a while: a thread left in their code can break
Python's own shutdown. Some hold Python's lock while they work, so that Ctrl-C is not handled. Some
libraries conflict: OR-Tools and highspy each bring a libhighs.so.1, and the one loaded second
breaks. A worker is kept for the next problem of the same thread, because a start takes about half a
second; the worker ends with the thread that started it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from threading import local
from typing import Any
from weakref import finalize

from glasshouse.pool import ignore, starting
from glasshouse.problems import Max2Sat, MaxSat
from glasshouse.proofs.exact.solver import Answer, ExactSolver, Tell
from glasshouse.waiting import interruptible

_SERVE = f"from {__name__} import serve; serve()"
_OURS_TO_HANDLE = (signal.SIGINT, signal.SIGTERM)
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_PATIENCE = 1.0  # seconds beyond the time limit for a solver that keeps the limit itself


class _Idle(local):
    """A thread's idle workers, which end together with the thread."""

    def __init__(self) -> None:
        self.workers: dict[tuple[int, str], list[_Worker]] = {}  # keyed by process and package


_idle = _Idle()


class _Worker:
    """A worker process that solves one problem after another."""

    def __init__(self) -> None:
        with starting(*_OURS_TO_HANDLE):
            self.process = subprocess.Popen(
                [sys.executable, "-c", _SERVE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
            # Called explicitly, or when the worker is no longer referenced.
            self.end = finalize(self, _end, self.process, os.getpid())
        self.hear()  # the message that it is ready

    def ask(self, *question: Any) -> tuple[str, Any]:
        """Send a call to the worker, and return its confirmation that the call has begun."""
        assert self.process.stdin is not None
        pickle.dump(question, self.process.stdin)
        self.process.stdin.flush()
        return self.hear()

    def hear(self) -> tuple[str, Any]:
        """Return the worker's next message, or ("gone", exit code) if the process has ended."""
        try:
            word: tuple[str, Any] = pickle.load(self.process.stdout)  # type: ignore[arg-type]
            return word
        except (EOFError, pickle.UnpicklingError):
            return "gone", self.process.wait()


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    """Kill a worker process and close its pipes, but only in the process that started it."""
    if os.getpid() != owner:
        return
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        with contextlib.suppress(OSError):
            pipe.close()


def solve_apart(
    known: ExactSolver, problem: Max2Sat | MaxSat, time_limit: float | None, tell: Tell
) -> Answer:
    """Run a solver in a separate process; return its answer, or its last assignment if killed.

    Raises:
        RuntimeError: the process ended by itself.
        KeyboardInterrupt: Ctrl-C was pressed; the process has ended.
    """
    worker = _free_worker(known.package)  # before the time limit begins, like compilation
    best: list[Any] = [None]

    def keep(bits: list[int]) -> None:
        best[0] = bits
        tell(bits)

    wall = None if time_limit is None else time_limit + _PATIENCE
    question = known.solve, known.tells, problem, time_limit
    answer: Answer | None = _asked(worker, known.package, question, keep, wall)
    return (best[0], False) if answer is None else answer


def call_apart(package: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a separate process, which Ctrl-C kills, and return the function's result.

    Args:
        package: the package that the function uses; its workers load nothing else.
        function: an importable function of a module.
        *arguments: the arguments of the function, which are pickled.

    Raises:
        RuntimeError: the process ended by itself.
        KeyboardInterrupt: Ctrl-C was pressed; the process has ended.
    """
    question = function, False, *arguments
    return _asked(_free_worker(package), package, question, lambda bits: None, None)


def _free_worker(package: str) -> _Worker:
    """Return an idle worker that this thread has for a package, or start a new worker."""
    idle = _idle.workers.setdefault((os.getpid(), package), [])
    worker = idle.pop() if idle else _Worker()
    if worker.process.poll() is not None:
        worker.end()
        worker = _Worker()
    return worker


def _asked(worker: _Worker, package: str, question: Any, tell: Tell, wall: float | None) -> Any:
    """Send a call to a worker; return its answer, or None if it was killed after `wall` seconds."""
    is_killed: list[bool] = []

    def work() -> Any:
        kind, value = worker.hear()
        while kind == "told":
            tell(value)
            kind, value = worker.hear()
        if kind == "fault":
            raise value
        if kind == "gone" and not is_killed:
            raise RuntimeError(f"the worker process ended with exit code {value}")
        return value if kind == "done" else None

    def stop() -> None:
        is_killed.append(True)
        worker.process.kill()

    try:
        interruptible(lambda: worker.ask(*question), stop)
        answer = interruptible(work, stop, wall)
    except BaseException:
        worker.end()
        raise
    if answer is None:
        worker.end()
    else:
        _idle.workers[os.getpid(), package].append(worker)
    return answer


def serve() -> None:
    """Run a worker: call the functions that arrive on standard input until the input ends."""
    ignore(*_OURS_TO_HANDLE)  # the parent process handles these signals
    if sys.platform == "linux":  # elsewhere the end of standard input ends an idle worker
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # solvers may print anything

    def say(kind: str, value: Any) -> None:
        pickle.dump((kind, value), answers)
        answers.flush()

    say("ready", None)
    while True:
        try:
            function, tells, *arguments = pickle.load(questions)
        except EOFError:
            return
        say("begins", None)
        try:
            more = (lambda bits: say("told", bits),) if tells else ()
            say("done", function(*arguments, *more))
        except Exception as fault:  # each solver has its own exceptions
            try:
                say("fault", pickle.loads(pickle.dumps(fault)))
            except Exception:  # an exception that cannot be pickled
                say("fault", RuntimeError(f"{type(fault).__name__}: {fault}"))
