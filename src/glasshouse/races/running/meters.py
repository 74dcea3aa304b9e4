"""What measures a run and keeps its memory limit: a look at every process, or the kernel's cgroups.

The clock, the times of lines, SIGTERM and the time of grace are the runner's own with either.
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
    """Every few milliseconds, what all processes of a run use together.

    Args:
        limits: of the run.
    """

    name: MeterName = "process-group"
    cgroups: tuple[str, ...] = ()

    def __init__(self, limits: Limits) -> None:
        self._memory = limits.memory

    needs_to_prepare = False

    def prepare(self, pid: int) -> None:
        """Prepare the command's process, before it becomes the command."""

    def usage(self, pids: list[int], reaped: float) -> processes.Usage:
        """The memory of processes at this moment, and the processor time of the run so far.

        Args:
            pids: the processes that run.
            reaped: processor time of those that have ended.
        """
        return processes.usage_of(pids, reaped)

    def is_out_of_memory(self, usage: processes.Usage) -> bool:
        """Whether the run has come to its memory limit."""
        return usage.memory > self._memory

    def members(self) -> list[int]:
        """Processes of the run, as far as the meter knows them."""
        return []

    def close(self) -> None:
        """Take away what was set up."""


class BenchExec(ProcessGroup):
    """A cgroup of BenchExec's around the run: the kernel counts, limits memory, and lets none out.

    Args:
        limits: of the run.

    Raises:
        ValueError: there is no BenchExec, or no cgroup that it can use.
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
        """Put the process into the cgroup, so that nothing that the command does is outside."""
        try:
            self._cgroup.add_task(pid)
        except OSError as fault:
            raise _unusable(fault) from None

    def usage(self, pids: list[int], reaped: float) -> processes.Usage:
        """Of all that is or was in the cgroup: its processor time, and the most memory so far."""
        return processes.Usage(self._cgroup.read_max_mem_usage(), self._cgroup.read_cputime())

    def is_out_of_memory(self, usage: processes.Usage) -> bool:
        """Whether the kernel has killed a process for want of memory."""
        killed = self._cgroup.read_oom_kill_count()
        if killed is None:  # cgroups v1, whose count BenchExec does not read
            told = dict(self._cgroup.get_key_value_pairs(self._cgroup.MEMORY, "oom_control"))
            killed = told.get("oom_kill", 0)
        return int(killed) > 0

    def members(self) -> list[int]:
        """All that is in the cgroup."""
        return list(self._cgroup.get_all_tasks(self._cgroup.MEMORY))

    def close(self) -> None:
        """Remove the cgroup; whatever is still in it is killed."""
        guardian.remove_cgroups(list(self.cgroups))


def new_meter(name: MeterName, limits: Limits) -> ProcessGroup:
    """The meter of one run."""
    return BenchExec(limits) if name == "benchexec" else ProcessGroup(limits)


@functools.cache
def best_meter() -> MeterName:
    """BenchExec where it can be used, else our own."""
    return "process-group" if why_not("benchexec") else "benchexec"


@functools.cache
def why_not(name: MeterName) -> str:
    """Why a meter cannot be used here; empty where it can.

    It is tried in a process of its own: on some machines BenchExec moves the process that uses it
    into another cgroup, and what works for the only process of a cgroup may not for its workers.
    """
    if name not in METERS:
        raise ValueError(f"meter={name!r} is unknown; expected one of {', '.join(METERS)}")
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
        "" if tried.returncode == 0 else (tried.stderr.splitlines() or ["it does not say why"])[-1]
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
    """The cgroup of BenchExec's below which those of runs are made: one per process."""
    cgroups = optional("benchexec.cgroups", "meter='benchexec'")
    found = cgroups.Cgroups.initialize()
    missing = [
        name for name in (found.CPU, found.FREEZE, found.MEMORY)
        if not found.require_subsystem(name, log_method=lambda *_: None)
    ]  # fmt: skip
    if missing:
        raise _unusable(f"no {', '.join(missing)} cgroup may be made here")
    return found


def _unusable(why: object) -> ValueError:
    return ValueError(f"BenchExec cannot be used here: {why}; use meter='process-group'")
