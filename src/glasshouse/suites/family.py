"""Families: instances that one method grows from the same parameters and different seeds."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Protocol

from glasshouse.files.text.plain_json import canonical_json
from glasshouse.planting import METHODS, Planted, Seed
from glasshouse.problems import validation
from glasshouse.problems.ratio import decimal_text, ratio


@dataclass(frozen=True)
class Family:
    """A planting method with fixed parameters, which grows instance k from child seed k.

    Attributes:
        method: a planting method, for example "random_loops".
        parameters: the method's arguments; m is n unless given. They are checked, and stored
            exactly and without defaults.
        seed: the integer from which `planting_seed` follows.

    >>> family = Family("random_loops", {"n": 30, "frustration": 0.05, "loops": 12})
    >>> family.parameters["frustration"], family.grow(0).recipe.method
    ('1/20', 'random_loops')
    """

    method: str
    parameters: Mapping[str, Any]
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", validation.count(self.seed, "seed"))
        method = METHODS.find(self.method, "method")
        object.__setattr__(self, "parameters", exact_parameters(method, self.parameters))
        method.plan(**self.parameters).check()  # This reports wrong parameters; nothing is grown.

    @cached_property
    def planting_seed(self) -> Seed:
        """The seed of the family; its child seed k grows instance k."""
        defined = {"method": self.method, "parameters": dict(self.parameters)}
        return family_seed(self.seed, defined)

    def grow(self, index: int) -> Planted:
        """Grow instance number `index` of the family."""
        method = METHODS.find(self.method, "method")
        return method.function(**self.parameters, rng=self.planting_seed.child(index))


class Described(Protocol):
    """The interface of a source of instances with named parameters, such as a planting method."""

    @property
    def name(self) -> str:
        """The name of the source, such as random_loops."""

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The parameters whose values distinguish families of this source."""

    def completed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the given parameters, and the parameters that follow from them."""


def exact_parameters(method: Described, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return parameters in canonical form: exact numbers, no defaults, sorted by name."""
    values = method.completed(given)
    unknown = sorted(set(values) - set(method.parameters))
    if unknown:
        raise ValueError(
            f"{method.name} does not take {', '.join(unknown)} in a study; it takes "
            f"{', '.join(sorted(method.parameters))}"
        )
    kept = {}
    for name in sorted(values):
        value = exact_value(values[name], name)
        default = method.parameters[name].default
        if default is inspect.Parameter.empty or value != exact_value(default, name):
            kept[name] = value
    missing = [
        name
        for name, parameter in method.parameters.items()
        if parameter.default is inspect.Parameter.empty and name not in kept
    ]
    if missing:
        raise ValueError(f"{method.name} needs values for {', '.join(missing)}")
    return MappingProxyType(kept)


def exact_value(value: Any, name: str) -> Any:
    """Return a number as an integer or a string like "1/20", and other values unchanged."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (list, tuple)):
        return [exact_value(part, name) for part in value]
    try:
        number = ratio(value, name)
    except ValueError:
        if isinstance(value, str):
            return value
        raise ValueError(f"{name}={value!r} must be a number, a string or a list of both") from None
    return int(number) if number.denominator == 1 else str(number)


def family_seed(seed: int, family: Mapping[str, Any]) -> Seed:
    """Return the seed of a family, independent of the seeds of all other families."""
    return Seed(seed, words_of(canonical_json(family)))


def words_of(text: str) -> tuple[int, int]:
    """Return two 32-bit words of a text's SHA-256, for use as a seed's spawn key."""
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:4], "big"), int.from_bytes(digest[4:8], "big")


def as_typed(value: object) -> str:
    """Return a parameter's value as users type it, such as 0.2 for the exact "1/5"."""
    try:
        return decimal_text(ratio(value, "it"))  # type: ignore[arg-type]  # whatever it is
    except ValueError:
        return str(value)
