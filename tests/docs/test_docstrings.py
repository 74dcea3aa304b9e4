"""Every public name, and every public method of a public class, has an example that runs.

An example of a method is in its own docstring or in that of its class. That examples are true
is seen by the doctests.
"""

from __future__ import annotations

import doctest
import inspect
import re
from functools import cached_property
from typing import Any

import pytest

import glasshouse

NAMES = [name for name in dir(glasshouse) if name != "__version__"]
CLASSES = [name for name in NAMES if inspect.isclass(getattr(glasshouse, name))]


def examples(thing: object) -> str:
    """The code of the examples in a docstring."""
    found = doctest.DocTestParser().get_examples(inspect.getdoc(thing) or "")
    return "".join(example.source for example in found)


def methods_of(kind: type) -> dict[str, Any]:
    """The public methods, properties and constructors of a glasshouse class and its bases."""
    found = {}
    for base in kind.__mro__:
        if base.__module__.startswith("glasshouse"):
            found |= {
                name: _function(value)
                for name, value in vars(base).items()
                if not name.startswith("_") and name not in found and _function(value) is not None
            }
    return found


def _function(value: object) -> Any:
    if isinstance(value, (classmethod, staticmethod)):
        return value.__func__
    if isinstance(value, property):
        return value.fget
    if isinstance(value, cached_property):
        return value.func
    return value if inspect.isfunction(value) else None


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_an_example(name):
    assert examples(getattr(glasshouse, name)), f"{name} has no example"


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_method_has_an_example(name):
    kind = getattr(glasshouse, name)
    shown = "".join(examples(base) for base in kind.__mro__ if base is not object)
    missing = [
        method
        for method, function in methods_of(kind).items()
        if not examples(function) and not re.search(rf"\.{method}\b", shown)
    ]
    assert not missing, f"{name} shows no use of {', '.join(missing)}"


@pytest.mark.parametrize("name", CLASSES)
def test_every_public_method_is_described(name):
    for method, function in methods_of(getattr(glasshouse, name)).items():
        assert inspect.getdoc(function), f"{name}.{method} has no docstring"
