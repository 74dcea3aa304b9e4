"""Inputs of the corpus that still break a promise, each with the reason.

The replay expects them to fail, and fails itself once they do not: whoever mends one removes its
line here. Fuzzing leaves them out of its first inputs, where they would end it at once.
"""

STILL_FAILING: dict[str, str] = {}
