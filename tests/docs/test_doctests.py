"""Doctests pass whichever files they are collected from."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_files_whose_function_has_their_name_are_collected_first():
    """Collected before its package is imported, a module took the place of its function."""
    names = ("landscape/gauge.py", "planting/methods/structured_loops.py")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        + [f"src/glasshouse/{name}" for name in names],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    assert "passed" in run.stdout
