"""How the tests run: Hypothesis reproducibly, NumPy with overflow as an error, children ended.

NumPy's integer arrays wrap around without a word, whatever is set here: the `test_magnitudes.py` of
each room look for that. But integer scalars warn when they wrap, and floats when they overflow, are
divided by zero or lose their meaning: none of it passes unseen, in doctests neither. Where our own
code means it, a local `np.errstate` says so.
"""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from tests.children import default_signals, end_all
from tests.left_behind import LeftBehind

settings.register_profile(
    "glasshouse",
    deadline=None,  # the first call may compile
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("glasshouse")

np.seterr(over="raise", divide="raise", invalid="raise")

# Importing a toy adds it to its catalogue: only the tests of catalogues do.
collect_ignore = ["toys"]

default_signals()


def pytest_configure(config: pytest.Config) -> None:
    """Look for processes left behind, once per run: workers of pytest-xdist do not."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(LeftBehind())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> object:
    """End the children of a test, even if it failed."""
    try:
        return (yield)
    finally:
        end_all()
