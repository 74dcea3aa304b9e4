"""Recipes: all data needed to grow an instance again, bit for bit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from glasshouse.randomness import Seed
from glasshouse.summaries import Summarised
from glasshouse.version import __version__

_KEYS = {"method", "parameters", "seed", "spawn_key", "version"}
# Seeds have a handful of ancestors, and parameters are flat; recipes are untrusted.
_LONGEST_SPAWN_KEY, _DEEPEST_PARAMETER = 1000, 8


@dataclass(frozen=True, repr=False)
class Recipe(Summarised):
    """The method, all its parameters, the seed and the version that grew an instance.

    Parameters are JSON values without floats: fractions are strings such as "1/5", a given planted
        state is a string of + and -. Two recipes are equal if their JSON is.

    Attributes:
        method: a name of the catalogue, `glasshouse.planting.METHODS`.
        parameters: the keyword arguments of the method, without `rng`.
        seed: the source of all randomness.
        version: the version of glasshouse that grew the instance.

    >>> recipe = Recipe("random_loops", {"n": 4, "m": 4, "frustration": "1/5", "loops": 2}, Seed(1))
    >>> Recipe.from_json(recipe.to_json()) == recipe
    True
    """

    method: str
    parameters: Mapping[str, Any]
    seed: Seed
    version: str = field(default=__version__)

    def __post_init__(self) -> None:
        if not isinstance(self.method, str) or not isinstance(self.version, str):
            raise ValueError("a recipe's method and version must be strings")
        if not isinstance(self.seed, Seed):
            raise ValueError(f"a recipe needs a Seed, not {self.seed!r}; make one with Seed.of")
        values = dict(self.parameters)
        for name, value in values.items():
            if not isinstance(name, str) or not _is_plain(value):
                raise ValueError(
                    f"recipe parameter {name}={value!r} must be plain JSON without floats; "
                    "write fractions as strings"
                )
        object.__setattr__(self, "parameters", MappingProxyType(dict(sorted(values.items()))))

    def to_json(self) -> str:
        """Return canonical JSON on one line: sorted keys, no spaces."""
        values = {
            "method": self.method, "parameters": dict(self.parameters), "version": self.version,
            "seed": self.seed.entropy, "spawn_key": list(self.seed.spawn_key),
        }  # fmt: skip
        return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        """Parse the JSON of `to_json`, with keys in any order and any spaces."""
        try:
            values = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"a recipe must be JSON: {error}") from None
        if not isinstance(values, dict) or set(values) != _KEYS:
            raise ValueError(f"a recipe must be an object with exactly the keys {sorted(_KEYS)}")
        entropy, path = values["seed"], values["spawn_key"]
        if not _is_count(entropy) or not isinstance(path, list) or not all(map(_is_count, path)):
            raise ValueError("a recipe's seed and spawn_key must be integers")
        if len(path) > _LONGEST_SPAWN_KEY:
            raise ValueError(
                f"the spawn_key has {len(path)} numbers; use at most {_LONGEST_SPAWN_KEY}"
            )
        if not isinstance(values["parameters"], dict):
            raise ValueError("a recipe's parameters must be a JSON object")
        seed = Seed(entropy, tuple(path))
        return cls(values["method"], values["parameters"], seed, values["version"])

    def __hash__(self) -> int:
        return hash(self.to_json())


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_plain(value: object, depth: int = 0) -> bool:
    if isinstance(value, (list, tuple)):
        return depth < _DEEPEST_PARAMETER and all(_is_plain(item, depth + 1) for item in value)
    return value is None or isinstance(value, (bool, int, str))
