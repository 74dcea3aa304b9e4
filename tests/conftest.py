"""How the tests run: Hypothesis reproducibly, NumPy with overflow as an error.

NumPy's integer arrays wrap around without a word, whatever is set here: the `test_magnitudes.py` of
each room look for that. But integer scalars warn when they wrap, and floats when they overflow, are
divided by zero or lose their meaning: none of it passes unseen, in doctests neither. Where our own
code means it, a local `np.errstate` says so.
"""

import numpy as np
from hypothesis import HealthCheck, settings

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
