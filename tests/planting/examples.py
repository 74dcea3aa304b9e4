"""The examples of every planting method in the catalogue, for tests of what all methods share."""

from __future__ import annotations

from glasshouse.planting import METHODS, Planted

EXAMPLES = [f"{name} {k}" for name, method in METHODS.items() for k in range(len(method.examples))]


def grown(example: str, seed: int = 1) -> Planted:
    """An example by its name, grown from a seed."""
    name, number = example.split()
    method = METHODS[name]
    return method.function(**method.completed(method.examples[int(number)]), rng=seed)
