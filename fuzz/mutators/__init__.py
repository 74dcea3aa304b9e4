"""Mutators, which change inputs but keep them plausible enough to pass the first checks.

Each mutator is a function of the input and a `random.Random`, so a seed determines the change.
"""

from collections.abc import Callable
from random import Random

Mutate = Callable[[bytes, Random], bytes]
"""Returns a changed input; an input that cannot be parsed is changed as plain bytes."""
