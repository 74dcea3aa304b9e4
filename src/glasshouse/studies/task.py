"""Tasks: a family of instances, a solver's settings, and what is measured of each instance."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import Any

from glasshouse.landscape.ratio import ratio
from glasshouse.planting import Planted, Seed
from glasshouse.planting.methods import CATALOGUE
from glasshouse.planting.randomness import NO_SEED, SeedAskedForError
from glasshouse.problems import validation
from glasshouse.studies.kinds import excitations, hardness, shapes
from glasshouse.studies.kinds.hardness import Annealer, RunPlan
from glasshouse.studies.kinds.kind import Columns, Kind, Stop
from glasshouse.studies.realised import Realised
from glasshouse.summaries import Summarised

# What a task can measure: the row kind, and whether a solver takes part.
KINDS: dict[str, tuple[Kind, bool]] = {
    "hardness": (hardness.HARDNESS, True),
    "excitations": (excitations.EXCITATIONS, False),
    "shapes": (shapes.SHAPES, False),
}
_MODULES: dict[str, Any] = {"hardness": hardness, "excitations": excitations, "shapes": shapes}
# The tasks that this process has code for.
_WARM: set[str] = set()


@dataclass(frozen=True, eq=False, repr=False)
class Task(Summarised):
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
        object.__setattr__(self, "seed", validation.count(self.seed, "seed"))
        object.__setattr__(self, "parameters", _canonical_parameters(self.method, self.parameters))
        with suppress(SeedAskedForError):  # what is wrong with them is said; nothing is grown
            self._method(**self.parameters, rng=NO_SEED)

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
    def from_canonical(
        cls, text: str, stop: Stop, realised: Mapping[str, Any] | None = None
    ) -> Task:
        """The task that a store describes.

        Args:
            text: its canonical form.
            stop: its rules.
            realised: what the store knows of its first instance. It was grown, so its parameters
                were good, and are not tried again.
        """
        if realised is not None:
            task = cls.__new__(cls)
            task.__setstate__({"canonical": text, "stop": asdict(stop), "realised": realised})
            object.__setattr__(
                task, "parameters", _canonical_parameters(task.method, task.parameters)
            )
            if (task.solver is None) != (task.realised.schedule is None):
                raise ValueError(f"{task.measures} were realised with another solver")
            return task
        values = json.loads(text)
        solver = None if values["solver"] is None else Annealer(**values["solver"])
        return cls(
            values["method"], values["parameters"], values["measures"], solver, values["seed"], stop
        )

    def with_stop(self, stop: Stop) -> Task:
        """The same task with other stop rules; what was checked or grown of it is kept."""
        other = Task.__new__(Task)
        other.__dict__.update(self.__dict__, stop=stop)
        return other

    @cached_property
    def realised(self) -> Realised:
        """What the first instance tells of all of them; grown when it is first asked for."""
        return Realised.of(self.grow(0), self.solver)

    def realise(self) -> dict[str, Any]:
        """The same in plain values, as stores keep it."""
        return self.realised.plain()

    @property
    def schedule(self) -> RunPlan:
        """The annealer's settings in numbers; the same for all instances."""
        if self.realised.schedule is None:
            raise ValueError(f"{self.measures} are measured without a solver")
        return self.realised.schedule

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
        module = _MODULES[self.measures]
        if self.task_id not in _WARM:  # else the first rows' seconds would be those of compiling
            module.warm_up(self, first)
            _WARM.add(self.task_id)
        rows: Columns = module.measure(self, first, count)
        return rows

    def __getstate__(self) -> dict[str, Any]:
        return {
            "canonical": self.canonical(),
            "stop": asdict(self.stop),
            "realised": self.realise(),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A worker's copy: checked where it was made, so not again."""
        values = json.loads(state["canonical"])
        solver = None if values["solver"] is None else Annealer(**values["solver"])
        values |= {"solver": solver, "parameters": MappingProxyType(values["parameters"])}
        for name, value in values.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "stop", Stop(**state["stop"]))
        self.__dict__["realised"] = Realised.from_plain(state["realised"])

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
