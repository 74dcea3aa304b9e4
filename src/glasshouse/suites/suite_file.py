"""Suites as TOML files: families of instances, and the number of instances of each.

    name = "small"
    title = "Two sizes at the peak"
    seed = 1
    count = 10
    shuffle = true

    [[family]]
    method = "random_loops"
    parameters = { frustration = "1/5", loop_density = "peak" }
    grid = { n = [30, 50] }

Families are written as in studies (`grammar`). A family may have its own `count` and `shuffle`. The
method `plus_minus_j` does not plant: it needs a graph, and accepts `prove_seconds`. Unknown keys
are refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from glasshouse.planting import Graph, Seed, shuffle
from glasshouse.problems import validation
from glasshouse.suites import grammar
from glasshouse.suites.control import bounded, plus_minus_j
from glasshouse.suites.family import Family, as_typed, family_seed
from glasshouse.suites.writing import UNPLANTED, Instance

_KEYS = {"name", "title", "seed", "count", "shuffle", "family"}
_FAMILY_KEYS = {"method", "parameters", "grid", "count", "shuffle", "prove_seconds"}
_READY_MADE = resources.files(__package__).joinpath("ready_made")


@dataclass(frozen=True)
class SuiteFamily:
    """A family of a suite: instances that differ only in their seeds.

    Attributes:
        method: the method that grows the instances.
        parameters: the parameters, exact and without defaults.
        count: the number of instances.
        is_shuffled: whether the variables of each instance are renamed at random.
        prove_seconds: the time limit of `prove` for each unplanted instance; None sets no limit.
        draw: a function that grows instance k.
    """

    method: str
    parameters: Mapping[str, Any]
    count: int
    is_shuffled: bool
    prove_seconds: float | None
    draw: Callable[[int], Instance]

    def name(self, index: int) -> str:
        """Return the name of an instance, such as `random_loops(n=30,loops=12)#3`."""
        shown = dict(self.parameters)
        if shown.get("m") == shown.get("n"):
            shown.pop("m", None)
        first = {key: shown.pop(key) for key in ("n", "graph") if key in shown}
        words = (f"{key}={as_typed(value)}" for key, value in (first | shown).items())
        return f"{self.method}({','.join(words)})#{index}"

    def grow(self, index: int) -> Instance:
        """Grow instance number `index`, shuffled if the family is shuffled."""
        grown = self.draw(index)
        return shuffle(grown) if self.is_shuffled else grown  # type: ignore[arg-type]

    def canonical(self) -> dict[str, Any]:
        """Return all values that the instances and their proofs depend on, except for the seed."""
        return {
            "method": self.method, "parameters": dict(self.parameters), "count": self.count,
            "shuffle": self.is_shuffled, "prove_seconds": self.prove_seconds,
        }  # fmt: skip


@dataclass(frozen=True)
class SuiteFile:
    """A parsed suite file: the families of a suite that is not yet written.

    Attributes:
        name: the name for files.
        title: a human-readable title.
        seed: the seed of all instances.
        families: the families, in order.
    """

    name: str
    title: str
    seed: int
    families: tuple[SuiteFamily, ...]

    def __len__(self) -> int:
        return sum(family.count for family in self.families)

    def names(self) -> Iterator[str]:
        """Return an iterator over the names of all instances, in order."""
        return (family.name(k) for family in self.families for k in range(family.count))

    def grow(self) -> Iterator[Instance]:
        """Return an iterator that grows all instances, in order."""
        return (family.grow(k) for family in self.families for k in range(family.count))

    def canonical(self) -> str:
        """Return all values that the suite depends on, as one line of JSON."""
        families = [family.canonical() for family in self.families]
        values = {"name": self.name, "seed": self.seed, "families": families}
        return json.dumps(values, sort_keys=True)


def ready_made() -> list[str]:
    """Return the names of the suite files that glasshouse includes."""
    files = (file.name for file in _READY_MADE.iterdir())
    return sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml"))


def find_suite(
    source: str | Path, *, seed: int | None = None, count: int | None = None
) -> SuiteFile:
    """Parse a ready-made suite, given by its name, or a suite in a TOML file.

    Args:
        source: one of `ready_made()`, or the path of a file.
        seed: the seed; by default, the file's seed.
        count: the number of instances per family and grid point; by default, the file's number.

    >>> suite = find_suite("smoke")
    >>> suite.name, suite.families[0].method
    ('smoke', 'random_loops')
    """
    if str(source) in ready_made():
        text = _READY_MADE.joinpath(f"{source}.toml").read_text(encoding="utf-8")
        return parse_suite(text, f"{source}.toml", seed=seed, count=count)
    path = Path(source)
    if not path.is_file():
        raise ValueError(
            f"{path} is neither a file nor a suite's name; use one of {', '.join(ready_made())}"
        )
    return parse_suite(grammar.read_toml(path), str(path), seed=seed, count=count)


def parse_suite(
    text: str, source: str = "suite", *, seed: int | None = None, count: int | None = None
) -> SuiteFile:
    """Parse a suite from TOML text; `find_suite` explains `seed` and `count`."""
    given = {"seed": seed, "count": count}
    instead = {name: value for name, value in given.items() if value is not None}
    return grammar.parse_toml(text, source, lambda values: _suite(values, instead))


def _suite(values: dict[str, Any], instead: dict[str, int]) -> SuiteFile:
    grammar.refuse_unknown(values, _KEYS, "the suite")
    name = grammar.word(values.get("name"), "name")
    if Path(name).name != name or name.startswith("."):
        raise ValueError(
            f"name={name!r} must be a file name without folders and without a dot at the start"
        )
    values = values | instead
    seed = Seed.of(validation.count(values.get("seed", 0), "seed")).entropy
    families: dict[str, SuiteFamily] = {}
    for family in grammar.each_family(values, partial(_families, values, instead), "suite"):
        if families.setdefault(family.name(0), family) is not family:
            raise ValueError(f"{family.name(0)[:-2]} occurs twice; keep one, with a larger count")
    suite = SuiteFile(
        name, grammar.word(values.get("title", name), "title"), seed, tuple(families.values())
    )
    if len(suite) > grammar.MOST_COMBINATIONS:
        raise ValueError(f"the suite has more than {grammar.MOST_COMBINATIONS} instances; split it")
    return suite


def _families(
    suite: Mapping[str, Any], instead: Mapping[str, int], family: object
) -> Iterator[SuiteFamily]:
    values = dict(suite) | grammar.table(family, _FAMILY_KEYS, "a family") | dict(instead)
    method, seed = grammar.word(values.get("method"), "method"), values.get("seed", 0)
    number = validation.count(values.get("count", 1), "count", 1)
    mixed, seconds = values.get("shuffle", False), values.get("prove_seconds")
    if not isinstance(mixed, bool):
        raise ValueError(f"shuffle={mixed!r} must be true or false")
    for parameters in grammar.combinations(values):
        if method in UNPLANTED:
            exact, draw = _unplanted(method, parameters, seed, seconds)
        elif seconds is not None:
            raise ValueError("prove_seconds is for plus_minus_j only; remove it from this family")
        else:
            plants = Family(method, parameters, seed)  # this checks them and grows nothing
            exact, draw = plants.parameters, plants.grow
        is_shuffled = mixed and method not in UNPLANTED  # an unplanted instance has nothing to hide
        yield SuiteFamily(method, exact, number, is_shuffled, seconds, draw)


def _unplanted(
    method: str, parameters: dict[str, Any], seed: int, seconds: Any
) -> tuple[Mapping[str, Any], Callable[[int], Instance]]:
    grammar.refuse_unknown(parameters, {"graph"}, method)
    try:
        validation.time_limit("a slip" if isinstance(seconds, bool) else seconds)
    except ValueError:
        raise ValueError(f"prove_seconds={seconds!r} must be a number above 0") from None
    exact = {"graph": Graph.parse(grammar.word(parameters.get("graph"), "graph")).name}
    root = family_seed(seed, {"method": method, "parameters": exact})

    def draw(index: int) -> Instance:
        return bounded(*plus_minus_j(exact["graph"], rng=root.child(index)), seconds)

    return exact, draw
