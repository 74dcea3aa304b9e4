"""Tasks: a family of instances, a solver's settings, and what is measured of each instance."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import Any

from glasshouse.landscape.ratio import ratio
from glasshouse.planting import Planted, Seed
from glasshouse.planting.methods import CATALOGUE
from glasshouse.studies.kinds import excitations, hardness, shapes
from glasshouse.studies.kinds.hardness import Annealer, RunPlan
from glasshouse.studies.kinds.kind import Columns, Kind, Stop

# What a task can measure: the row kind, and whether a solver takes part.
KINDS: dict[str, tuple[Kind, bool]] = {
    "hardness": (hardness.HARDNESS, True),
    "excitations": (excitations.EXCITATIONS, False),
    "shapes": (shapes.SHAPES, False),
}


@dataclass(frozen=True, eq=False)
class Task:
    """A family of instances and what to measure of each.

    Instance k of a family grows from `SeedSequence(seed, spawn_key=(family, k))` and is solved with
    `SeedSequence(seed, spawn_key=(task, k))`, where the two numbers are hashes of what defines
    them: families are independent of each other, and tasks that differ in the solver's settings
    only are compared on the same instances.

    Attributes:
        method: a planting method, for example "random_loops".
        parameters: its arguments; m is n unless given.
        measures: "hardness" (sweeps to solution), "excitations" (gap and distance of the first
            excited state, small instances only) or "shapes" (realised f, intersections, parts).
        solver: the annealer's settings, for hardness only.
        seed: a whole number.
        stop: how many instances; no part of the task's identity.

    >>> task = Task("random_loops", {"n": 100, "frustration": 0.05, "loop_density": 0.345})
    >>> task.parameters["frustration"], task.parameters["m"]
    ('1/20', 100)
    >>> task.task_id == Task("random_loops", dict(task.parameters), stop=Stop(7)).task_id
    True
    """

    method: str
    parameters: Mapping[str, Any]
    measures: str = "hardness"
    solver: Annealer | None = None
    seed: int = 0
    stop: Stop = field(default_factory=lambda: Stop(100))

    def __post_init__(self) -> None:
        if not isinstance(self.measures, str) or self.measures not in KINDS:
            raise ValueError(f"measures={self.measures!r} is not one of {', '.join(KINDS)}")
        needs_solver = KINDS[self.measures][1]
        if needs_solver and self.solver is None:
            object.__setattr__(self, "solver", Annealer())
        if not needs_solver and self.solver is not None:
            raise ValueError(f"{self.measures} are measured without a solver; leave it out")
        if self.stop.relative_error is not None and self.measures != "hardness":
            raise ValueError(f"relative_error stops hardness only, not {self.measures}")
        Seed.of(self.seed)
        object.__setattr__(self, "parameters", _canonical_parameters(self.method, self.parameters))
        plant = self.grow(0)  # whatever is wrong with the parameters is said now
        if self.solver is not None:
            self.__dict__["schedule"] = self.solver.schedule(plant)

    @cached_property
    def _method(self) -> Callable[..., Planted]:
        return _find_method(self.method)

    @property
    def kind(self) -> Kind:
        """The kind of its rows."""
        return KINDS[self.measures][0]

    def family(self) -> dict[str, Any]:
        """What the instances depend on."""
        return {"method": self.method, "parameters": dict(self.parameters)}

    def canonical(self) -> str:
        """All that the rows depend on, as JSON on one line: sorted keys, no spaces, no floats."""
        solver = None if self.solver is None else self.solver.canonical()
        return _json(
            self.family() | {"measures": self.measures, "seed": self.seed, "solver": solver}
        )

    @cached_property
    def task_id(self) -> str:
        """SHA-256 of the canonical form."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()

    @classmethod
    def from_canonical(cls, text: str, stop: Stop) -> Task:
        """The task that a store describes."""
        values = json.loads(text)
        solver = None if values["solver"] is None else Annealer(**values["solver"])
        return cls(
            values["method"], values["parameters"], values["measures"], solver, values["seed"], stop
        )

    @cached_property
    def schedule(self) -> RunPlan:
        """The annealer's settings in numbers; the same for all instances."""
        if self.solver is None:
            raise ValueError(f"{self.measures} are measured without a solver")
        return self.solver.schedule(self.grow(0))

    @cached_property
    def planting_seed(self) -> Seed:
        """Instance k grows from its child k."""
        return Seed(self.seed, _words(_json(self.family())))

    @cached_property
    def solving_seed(self) -> Seed:
        """Instance k is solved with its child k."""
        return Seed(self.seed, (*_words(self.canonical()), 1))

    def grow(self, index: int) -> Planted:
        """Instance number `index`."""
        return self._method(**self.parameters, rng=self.planting_seed.child(index))

    def measure(self, first: int, count: int) -> Columns:
        """Rows of instances first to first+count-1."""
        if self.measures == "hardness":
            return hardness.measure(self, first, count)
        if self.measures == "excitations":
            return excitations.measure(self, first, count)
        return shapes.measure(self, first, count)

    def __getstate__(self) -> dict[str, Any]:
        schedule = None if self.solver is None else asdict(self.schedule)
        return {"canonical": self.canonical(), "stop": asdict(self.stop), "schedule": schedule}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A worker's copy: checked where it was made, so not again."""
        values = json.loads(state["canonical"])
        solver = None if values["solver"] is None else Annealer(**values["solver"])
        values |= {"solver": solver, "parameters": MappingProxyType(values["parameters"])}
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "stop", Stop(**state["stop"]))
        if state["schedule"] is not None:
            self.__dict__["schedule"] = RunPlan(**state["schedule"])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Task):
            return NotImplemented
        return self.task_id == other.task_id and self.stop == other.stop

    def __hash__(self) -> int:
        return hash(self.task_id)


def _find_method(name: str) -> Callable[..., Planted]:
    if name not in CATALOGUE:
        raise ValueError(f"method={name!r} is not one of {', '.join(CATALOGUE)}")
    method: Callable[..., Planted] = getattr(import_module(f"glasshouse.planting.{name}"), name)
    return method


def _canonical_parameters(method: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """One spelling for equal parameters: exact fractions, no defaults, ascending names."""
    signature = inspect.signature(_find_method(method)).parameters
    values = dict(given)
    if "m" in signature and "n" in values:
        values.setdefault("m", values["n"])
    unknown = sorted(set(values) - set(signature) | ({"rng", "state"} & set(values)))
    if unknown:
        allowed = sorted(set(signature) - {"rng", "state"})
        raise ValueError(
            f"{method} takes no {', '.join(unknown)} in a study; it takes {', '.join(allowed)}"
        )
    kept = {}
    for name in sorted(values):
        value = _exact(values[name], name)
        default = signature[name].default
        if default is inspect.Parameter.empty or value != _exact(default, name):
            kept[name] = value
    missing = [
        name
        for name, parameter in signature.items()
        if parameter.default is inspect.Parameter.empty and name not in kept
    ]
    if missing:
        raise ValueError(f"{method} needs {', '.join(missing)}")
    return MappingProxyType(kept)


def _exact(value: Any, name: str) -> Any:
    """Numbers as whole numbers or strings like "1/20"; words and lists of such as they are."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (list, tuple)):
        return [_exact(part, name) for part in value]
    try:
        number = ratio(value, name)
    except ValueError:
        if isinstance(value, str):
            return value
        raise ValueError(f"{name}={value!r} cannot be kept in a study") from None
    return int(number) if number.denominator == 1 else str(number)


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _words(text: str) -> tuple[int, int]:
    """Two 32-bit words of a text's SHA-256, for a spawn key."""
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:4], "big"), int.from_bytes(digest[4:8], "big")
