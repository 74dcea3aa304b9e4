"""A check at the end of a run of tests: no process that a test started is still there (Linux).

Every process of the run inherits a variable that names the run. What still carries it when pytest
and its workers are done was left behind: the run fails, names the test, and kills the process.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest
from tests.children import kill_all, processes_with, stubborn

# A run within a test has its own name beside the outer one's, so that both find their processes.
_MARK = f"GLASSHOUSE_TEST_RUN_{os.getpid()}"
# Processes that Python keeps for this one and ends with it.
_OF_PYTHON = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")


class LeftBehind:
    """The plugin; only in the process that controls the run, not in workers of pytest-xdist."""

    def __init__(self) -> None:
        os.environ[_MARK] = "1"

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> object:
        """Look when all others have ended their processes."""
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
    """Processes of this run that Python does not end by itself."""
    found = processes_with(_MARK).items()
    return {process: line for process, line in found if not any(k in line for k in _OF_PYTHON)}


def _test_of(process: int) -> str:
    """The test that ran when the process was started, which pytest keeps in the environment."""
    with suppress(OSError):
        for setting in Path(f"/proc/{process}/environ").read_bytes().split(b"\0"):
            if setting.startswith(b"PYTEST_CURRENT_TEST="):
                return setting.decode(errors="replace").partition("=")[2]
    return "some test"
