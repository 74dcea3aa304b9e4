"""Changes to inputs that keep them good enough to get past the first check.

Each is a function of the input and a `random.Random`, so that a seed means the same change.
"""

from collections.abc import Callable
from random import Random

Mutate = Callable[[bytes, Random], bytes]
"""A changed input; whatever a mutator cannot take apart it changes as plain bytes."""
