"""Catalogues: named objects of one kind, to which users can add.

Planting methods, formats, annealing kernels, exact solvers, samplers, quantities of studies and
monitors of trainings work alike: each has its own file, which adds it to its catalogue, and one
line imports that file. A user's package needs only the file.
"""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


class Catalogue(dict[str, T]):
    """A dictionary whose entries cannot be replaced; the error for unknown names lists all names.

    Args:
        what: the kind of an entry, for messages.

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
        """Add an entry under a name that is not yet taken."""
        if name in self:
            raise ValueError(f"the {self.what} {name!r} already exists; choose another name")
        self[name] = entry
        return entry

    def find(self, name: object, argument: str) -> T:
        """Return the entry of a name passed as `argument`; an error lists all names."""
        if not isinstance(name, str) or name not in self:
            raise ValueError(f"{argument}={name!r} is not one of {', '.join(self)}")
        return self[name]
