"""A plugin that fails a run of tests if a process that a test started is still alive (Linux).

Every process of the run inherits a variable that names the run. If a process still has this
variable when pytest and its workers have finished, the plugin reports its test and kills it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest
from tests.children import kill_all, processes_with, stubborn

# A run within a test has its own name in addition to the outer name, so both find their processes.
_MARK = f"GLASSHOUSE_TEST_RUN_{os.getpid()}"
# Helpers of this process that end with it: Python's own, and those of races and exact solvers.
_HELPERS = (
    "multiprocessing.resource_tracker",
    "multiprocessing.forkserver",
    "glasshouse/races/running/guardian.py",
    "glasshouse/races/running/keeper.py",
    "glasshouse.proofs.exact.apart",
)


class LeftBehind:
    """The plugin, for the process that controls the run, not for workers of pytest-xdist."""

    def __init__(self) -> None:
        os.environ[_MARK] = "1"

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> object:
        """Check for processes left behind, after all other plugins have ended their processes."""
        result = yield
        os.environ.pop(_MARK, None)
        if left := stubborn(_strangers):
            terminal = session.config.get_terminal_writer()
            for process, command in left.items():
                guilty = f"process {process} was left behind by {_test_of(process)}: {command}"
                terminal.line(f"\nERROR: {guilty}", red=True)
            kill_all(_strangers)
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        return result


def _strangers() -> dict[int, str]:
    """Return the processes of this run, except for helpers of the current process."""
    found = processes_with(_MARK).items()
    return {process: line for process, line in found if not _is_helper(process, line)}


def _is_helper(process: int, line: str) -> bool:
    """Return whether a process is one of our helpers, or the child of a helper."""
    with suppress(OSError):
        parent = _parent_of(process)
        ours = os.getpid() in (parent, _parent_of(parent))
        return ours and any(name in line for name in _HELPERS)
    return True  # the process has just ended


def _parent_of(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def _test_of(process: int) -> str:
    """Return the test that started a process, from the variable that pytest sets."""
    with suppress(OSError):
        for setting in Path(f"/proc/{process}/environ").read_bytes().split(b"\0"):
            if setting.startswith(b"PYTEST_CURRENT_TEST="):
                return setting.decode(errors="replace").partition("=")[2]
    return "some test"
