"""Ctrl-C at any moment of a library call does not change the results of later calls."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def interrupt(folder: Path, seed: int, tries: int, *names: str) -> dict[str, int]:
    ran = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-m", "tests.interrupted_calls", str(seed),
         str(tries), *names],
        cwd=ROOT, capture_output=True, text=True, env=os.environ | {"NUMBA_CACHE_DIR": str(folder)},
        check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout)


def test_calls_that_were_interrupted_while_compiling_work_afterwards(tmp_path):
    counts = interrupt(tmp_path, 1, 30, "fresh", "plant")
    assert sum(counts.values()) == 30
    assert counts["interrupted while compiling"] > 0


@pytest.mark.slow
def test_a_thousand_interrupts_of_library_calls_in_one_process(tmp_path):
    counts = interrupt(tmp_path, 2, 1000)
    assert sum(counts.values()) == 1000
    assert counts["interrupted while compiling"] >= 200
    assert counts["interrupted"] >= 100
