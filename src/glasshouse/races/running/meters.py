"""Meters for a run's memory and CPU time, which poll its processes or use cgroups.

With both, the runner itself handles the clock, the times of lines, SIGTERM and the grace time.
"""

from __future__ import annotations

import functools
import subprocess
import sys
from typing import Any, Literal, get_args

from glasshouse.extras import MissingPackageError, optional
from glasshouse.races.running import guardian, processes
from glasshouse.races.running.command import Limits

MeterName = Literal["process-group", "benchexec"]
METERS: tuple[MeterName, ...] = get_args(MeterName)


class ProcessGroup:
    """The meter that adds up the memory and CPU time of all processes of a run.

    Args:
        limits: the limits of the run.
    """

    name: MeterName = "process-group"
    cgroups: tuple[str, ...] = ()

    def __init__(self, limits: Limits) -> None:
        self._memory = limits.memory

    needs_to_prepare = False

    def prepare(self, pid: int) -> None:
        """Prepare a new process before it becomes the command; this meter does nothing."""

    def usage(self, pids: list[int], reaped: float) -> processes.Usage:
        """Return the processes' current memory use, and the run's CPU time so far.

        Args:
            pids: the IDs of the running processes.
            reaped: the CPU time of processes that have ended, in seconds.
        """
        return processes.usage_of(pids, reaped)

    def is_out_of_memory(self, usage: processes.Usage) -> bool:
        """Return whether the run has exceeded its memory limit."""
        return usage.memory > self._memory

    def members(self) -> list[int]:
        """Return the IDs of processes that only the meter can list; this meter lists none."""
        return []

    def close(self) -> None:
        """Release the system resources of the meter; this meter has none."""


class BenchExec(ProcessGroup):
    """The meter that runs a command in a BenchExec cgroup, which the kernel measures and limits.

    Args:
        limits: the limits of the run.

    Raises:
        ValueError: BenchExec is not installed, or cannot use a cgroup.
    """

    name: MeterName = "benchexec"
    needs_to_prepare = True

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        base = _base()
        try:
            self._cgroup = base.create_fresh_child_cgroup([base.CPU, base.FREEZE, base.MEMORY])
            self.cgroups = tuple(map(str, self._cgroup.paths))
            try:
                self._cgroup.write_memory_limit(limits.memory)
                self._cgroup.disable_swap()
            except BaseException:
                self.close()
                raise
        except (OSError, SystemExit) as fault:
            raise _unusable(fault) from None

    def prepare(self, pid: int) -> None:
        """Put the process into the cgroup, so that everything the command does is counted."""
        try:
            self._cgroup.add_task(pid)
        except OSError as fault:
            raise _unusable(fault) from None

    def usage(self, pids: list[int], reaped: float) -> processes.Usage:
        """Return the peak memory and the CPU time of all processes that were ever in the cgroup."""
        return processes.Usage(self._cgroup.read_max_mem_usage(), self._cgroup.read_cputime())

    def is_out_of_memory(self, usage: processes.Usage) -> bool:
        """Return whether the kernel has killed a process of the cgroup for lack of memory."""
        killed = self._cgroup.read_oom_kill_count()
        if killed is None:  # BenchExec does not read the count of cgroups v1
            told = dict(self._cgroup.get_key_value_pairs(self._cgroup.MEMORY, "oom_control"))
            killed = told.get("oom_kill", 0)
        return int(killed) > 0

    def members(self) -> list[int]:
        """Return the IDs of all processes in the cgroup."""
        return list(self._cgroup.get_all_tasks(self._cgroup.MEMORY))

    def close(self) -> None:
        """Kill all processes that are still in the cgroup, and remove the cgroup."""
        guardian.remove_cgroups(list(self.cgroups))


def new_meter(name: MeterName, limits: Limits) -> ProcessGroup:
    """Return a new meter of the named kind for one run."""
    return BenchExec(limits) if name == "benchexec" else ProcessGroup(limits)


@functools.cache
def best_meter() -> MeterName:
    """Return 'benchexec' if BenchExec's meter is usable here, otherwise 'process-group'."""
    return "process-group" if why_not("benchexec") else "benchexec"


@functools.cache
def why_not(name: MeterName) -> str:
    """Return the reason why a meter cannot be used on this computer; empty if it can be used.

    BenchExec is tried in its own process: on some computers it moves the process that uses it into
    another cgroup, and what works for the only process of a cgroup may fail for its workers.
    """
    if name not in METERS:
        raise ValueError(f"meter={name!r} is unknown; use one of {', '.join(METERS)}")
    if name == "process-group":
        return ""
    try:
        optional("benchexec.cgroups", "meter='benchexec'")
    except MissingPackageError as fault:
        return str(fault)
    tried = subprocess.run(
        [sys.executable, "-c", _TRIAL, *sys.path], capture_output=True, text=True, check=False
    )
    return (
        "" if tried.returncode == 0 else (tried.stderr.splitlines() or ["it gives no reason"])[-1]
    )


_TRIAL = """
import sys
sys.path[:] = sys.argv[1:]
from glasshouse.races.running.command import Limits
from glasshouse.races.running.runner import run
try:
    outcome = run([sys.executable, "-S", "-c", "pass"], Limits(), "benchexec")
    sys.exit(None if outcome.exit_code == 0 and outcome.memory else "it measures nothing")
except ValueError as fault:
    sys.exit(str(fault))
"""


@functools.cache
def _base() -> Any:
    """Return the cgroup of this process, below which BenchExec creates the cgroups of runs."""
    cgroups = optional("benchexec.cgroups", "meter='benchexec'")
    found = cgroups.Cgroups.initialize()
    missing = [
        name for name in (found.CPU, found.FREEZE, found.MEMORY)
        if not found.require_subsystem(name, log_method=lambda *_: None)
    ]  # fmt: skip
    if missing:
        raise _unusable(f"the cgroup controllers {', '.join(missing)} are not available here")
    return found


def _unusable(why: object) -> ValueError:
    return ValueError(f"BenchExec cannot be used here: {why}; use meter='process-group'")
