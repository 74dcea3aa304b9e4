"""Inputs of the corpus that are known to break a promise, each with the reason.

The replay expects these inputs to fail. When a fault is fixed, the replay fails until its line is
removed here. Fuzzing does not start from these inputs, because they would end a run at once.
"""

STILL_FAILING: dict[str, str] = {}
