"""Catalogues: dictionaries of named objects of one kind, to which users can add objects.

There are catalogues of planting methods, formats, annealing kernels, exact solvers, samplers,
quantities of studies and monitors of training. Each object has its own file, which adds the object
to its catalogue, and one line of glasshouse imports that file. A user's package needs no such line.
"""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


class Catalogue(dict[str, T]):
    """A dictionary of named entries: new entries can be added, but none can be replaced.

    Args:
        what: the kind of the entries, such as "kernel", for messages.

    >>> tools = Catalogue[int]("tool")
    >>> tools.add("spade", 1)
    1
    >>> tools.find("rake", "tool")
    Traceback (most recent call last):
    ...
    ValueError: tool='rake' is not one of spade
    """

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what

    def add(self, name: str, entry: T) -> T:
        """Add an entry under a new name, and return the entry."""
        if name in self:
            raise ValueError(f"the {self.what} {name!r} already exists; choose another name")
        self[name] = entry
        return entry

    def find(self, name: object, argument: str) -> T:
        """Return the entry `name`, or raise a ValueError that names `argument` and all entries."""
        if not isinstance(name, str) or name not in self:
            raise ValueError(f"{argument}={name!r} is not one of {', '.join(self)}")
        return self[name]
