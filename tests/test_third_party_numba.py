"""Third-party Numba code in the same process gives the same results as without glasshouse."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = "tests.third_party_numba"


def run(*arguments: str) -> dict:
    ran = subprocess.run(
        [sys.executable, "-m", SCRIPT, *arguments], cwd=ROOT, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.fixture(scope="module")
def together() -> dict:
    return run()


@pytest.fixture(scope="module")
def imported() -> dict:
    return run("imported")


def test_functions_of_users_give_the_same_results_before_and_after(together, imported):
    assert together["before"] == together["after"]
    assert together["before"] == imported["before"]
    strict, fast = (
        [value for name, value in together["after"].items() if f"fastmath={fast}" in name]
        for fast in (False, True)
    )
    assert strict != fast  # the options do make a difference here


def test_nothing_of_numba_was_replaced(together):
    assert together["changed"] == []


def test_the_process_is_as_it_was(together):
    assert together["process"] == []


def test_importing_is_enough_to_change_nothing(imported):
    assert (imported["changed"], imported["process"]) == ([], [])
