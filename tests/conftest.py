"""Settings of all tests: reproducible Hypothesis, NumPy's overflow as an error, no child left.

NumPy's integer arrays wrap around silently, so `test_magnitudes.py` of each package tests for that.
Integer scalars warn when they wrap, and floats warn on overflow, division by zero and invalid
operations. These warnings are errors here, also in doctests. Code that needs such operations uses
a local `np.errstate`.
"""

import gc
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from tests.children import default_signals, end_all
from tests.left_behind import LeftBehind
from tests.warm import warm  # noqa: F401  # a fixture

settings.register_profile(
    "glasshouse",
    deadline=None,  # the first call may compile
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("glasshouse")

np.seterr(over="raise", divide="raise", invalid="raise")

# Importing a toy adds it to its catalogue, which only the tests of catalogues should do.
collect_ignore = ["toys"]

default_signals()
gc.disable()  # until all tests are collected: nothing that is imported becomes garbage


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Leave half a million objects of modules and tests out of all later garbage collections.

    With them, each collection of the oldest generation takes 0.3 s and more, and compiling causes
    many collections.
    """
    gc.freeze()
    gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    """Register the check for processes left behind, but not in workers of pytest-xdist."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(LeftBehind())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> object:
    """End the children of a test, even if it failed."""
    try:
        return (yield)
    finally:
        end_all()
