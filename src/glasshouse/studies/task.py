"""Tasks: a family of instances, a solver's settings, and the quantity to measure.

A store may be untrusted: `task_of` checks what a stored task requests before it is grown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from glasshouse.files.text.plain_json import canonical_json
from glasshouse.planting import METHODS, Planted, Seed
from glasshouse.problems import Problem, given_problem, validation
from glasshouse.store.records import StoredTask
from glasshouse.store.row_types import Columns, Identified, Kind, Stop
from glasshouse.store.storefile import StoreError, one_line
from glasshouse.studies.ensembles import family_parameters, family_size, grown, source_of
from glasshouse.studies.quantities.hardness import HARDNESS, Annealer, RunPlan
from glasshouse.studies.quantities.own import Own, own_kind
from glasshouse.studies.quantities.quantity import KINDS, StudyKind
from glasshouse.studies.realised import Realised
from glasshouse.suites.family import Family, exact_parameters, family_seed, words_of
from glasshouse.suites.grammar import is_own
from glasshouse.summaries import Summarised

# The tasks for which this process has loaded all code.
_WARM: set[str] = set()
# Bytes that growing one instance may take; instances for an annealer need far less.
_MOST_MEMORY = 1 << 28


@dataclass(frozen=True, eq=False, repr=False)
class Task(Identified, Summarised):
    """A family of instances, and the quantity to measure for each.

    Instance k of a family grows from `SeedSequence(seed, spawn_key=(family, k))` and is solved with
    `SeedSequence(seed, spawn_key=(task, k))`, where the two numbers are hashes of what defines
    them: families are independent of each other, and tasks that differ in the solver's settings
    only are compared on the same instances.

    Attributes:
        method: a planting method, for example "random_loops"; a name in `ENSEMBLES`: "lattice",
            "random-graph", "complete", "files"; or the user's `module:function`.
        parameters: its arguments; m is n unless given.
        measures: a name in `KINDS`: "hardness" (sweeps to solution), "excitations" (gap and
            distance of the first excited state, small instances only), "shapes" (realised f,
            intersections, parts), "ground", "levels", "solution", "thermal"; or the user's
            `module:function`.
        solver: the settings of the measurement, such as an `Annealer`; None if it has none.
        seed: an integer.
        stop: the stop rules, which are not part of the task's identity.

    >>> task = Task("random_loops", {"n": 100, "frustration": 0.05, "loop_density": 0.345})
    >>> task.parameters["frustration"], task.parameters["m"]
    ('1/20', 100)
    >>> task.task_id == Task("random_loops", dict(task.parameters), stop=Stop(7)).task_id
    True
    >>> task.grow(0).recipe.method, task.kind.name
    ('random_loops', 'hardness')
    >>> Task.from_canonical(task.canonical(), task.stop) == task
    True
    >>> task.with_stop(Stop(7)).stop.instances, sorted(task.family())
    (7, ['method', 'parameters'])
    >>> task.schedule.sweeps_per_run, sorted(task.realise())
    (122, ['loops', 'schedule', 'size'])
    >>> sorted(task.measure(0, 2))
    ['energy', 'frustration', 'loops', 'seconds', 'solved', 'sweeps']
    >>> glass = Task("lattice", {"L": 4}, "ground")
    >>> glass.problem(0).num_variables, glass.quantity.value, glass.functions
    (16, 'energy_per_spin', ())
    >>> task.realised.size, task.planting_seed != task.solving_seed
    (100.0, True)
    """

    method: str
    parameters: Mapping[str, Any]
    measures: str = HARDNESS.name
    solver: Any = None
    seed: int = 0
    stop: Stop = field(default_factory=lambda: Stop(100))

    def __post_init__(self) -> None:
        settings = settings_of(self.measures)
        if settings is not None and self.solver is None:
            object.__setattr__(self, "solver", settings())
        if settings is None and self.solver is not None:
            raise ValueError(f"measures={self.measures!r} uses no solver; remove the solver")
        if settings is not None and not isinstance(self.solver, settings):
            raise ValueError(f"{self.measures} needs {settings.__name__}, not {self.solver!r:.60}")
        kind = self.quantity
        if self.stop.relative_error is not None and kind.value is None:
            raise ValueError(f"relative_error needs a statistic, but {self.measures} has none")
        if isinstance(self.method, str) and self.method in METHODS:
            if kind.pairs and METHODS[self.method].grows_on == "clauses":
                raise ValueError(
                    f"{self.measures} needs pairs of spins, but {self.method} plants clauses; use "
                    "ground, hardness, levels, shapes, solution or thermal"
                )
            family = Family(self.method, self.parameters, self.seed)  # checks all three
            object.__setattr__(self, "seed", family.seed)
            object.__setattr__(self, "parameters", family.parameters)
            return
        if not is_own(self.method) and source_of(self.method) and kind.planted:
            raise ValueError(
                f"{self.measures} needs planted instances, but {self.method!r:.60} is not a "
                "planting method; use ground, levels, solution or thermal"
            )
        object.__setattr__(self, "seed", validation.count(self.seed, "seed"))
        object.__setattr__(self, "parameters", family_parameters(self.method, self.parameters))
        object.__setattr__(self, "stop", self._possible(self.stop))

    def _possible(self, stop: Stop) -> Stop:
        """Return stop rules that request at most as many instances as a folder has files."""
        most = self.parameters["files"] if self.method == "files" else stop.instances
        return replace(stop, instances=most) if most < stop.instances else stop

    @cached_property
    def quantity(self) -> StudyKind:
        """The quantity that the task measures."""
        if is_own(self.measures):
            return own_kind(self.measures, self.solver)
        return KINDS.find(self.measures, "measures")

    @property
    def kind(self) -> Kind:
        """The kind of rows that the task measures."""
        return self.quantity.rows

    @property
    def functions(self) -> tuple[str, ...]:
        """The user's functions that the task calls."""
        return tuple(name for name in (self.method, self.measures) if is_own(name))

    def family(self) -> dict[str, Any]:
        """The part of the task on which its instances depend."""
        return {"method": self.method, "parameters": dict(self.parameters)}

    def canonical(self) -> str:
        """Return everything that the rows depend on, as canonical JSON without floats."""
        solver = None if self.solver is None else self.solver.canonical()
        return canonical_json(
            self.family() | {"measures": self.measures, "seed": self.seed, "solver": solver}
        )

    @classmethod
    def from_canonical(
        cls, text: str, stop: Stop, realised: Mapping[str, Any] | None = None
    ) -> Task:
        """Return the task that a store describes.

        Args:
            text: the canonical form of the task.
            stop: the stop rules.
            realised: the stored values of the first instance. This instance was grown, so the
                parameters are valid, and are not checked again.
        """
        if realised is not None:
            task = cls.__new__(cls)
            task.__setstate__({"canonical": text, "stop": asdict(stop), "realised": realised})
            if task.method in METHODS:
                exact = exact_parameters(METHODS[task.method], task.parameters)
            else:
                exact = family_parameters(task.method, task.parameters)
            object.__setattr__(task, "parameters", exact)
            plans = isinstance(task.solver, Annealer) and task.method in METHODS
            if plans != (task.realised.schedule is not None):
                raise ValueError(f"realised values of {task.measures} do not match its solver")
            return task
        values = json.loads(text)
        return cls(
            values["method"], values["parameters"], values["measures"], _solver(values),
            values["seed"], stop,
        )  # fmt: skip

    def with_stop(self, stop: Stop) -> Task:
        """Return the task with other stop rules; checked and grown values are kept."""
        other = Task.__new__(Task)
        other.__dict__.update(self.__dict__, stop=self._possible(stop))
        return other

    @cached_property
    def realised(self) -> Realised:
        """Facts that hold for all instances; the first access grows one instance to find them.

        Only planted families are grown for this: a function of the user may fail or hang.
        """
        if self.method not in METHODS:
            return Realised(family_size(self.method, self.parameters), 0, None)
        solver = self.solver if isinstance(self.solver, Annealer) else None
        return Realised.of(METHODS[self.method].function(
            **self.parameters, rng=self.planting_seed.child(0)), solver)  # fmt: skip

    def realise(self) -> dict[str, Any]:
        """Return the realised values as plain values, as stores keep them."""
        return self.realised.plain()

    @property
    def schedule(self) -> RunPlan:
        """The annealer's settings as numbers, which are the same for all instances."""
        if self.realised.schedule is None:
            raise ValueError(f"measures={self.measures!r} uses no solver, so it has no schedule")
        return self.realised.schedule

    @cached_property
    def planting_seed(self) -> Seed:
        """The planting seed; instance k is grown from child seed k."""
        return family_seed(self.seed, self.family())

    @cached_property
    def solving_seed(self) -> Seed:
        """The solving seed; instance k is solved with child seed k."""
        return Seed(self.seed, (*words_of(self.canonical()), 1))

    def grow(self, index: int) -> Any:
        """Return instance `index`: a `Planted` for a planting method, otherwise a problem."""
        if self.method in METHODS:
            method = METHODS[self.method]
            return method.function(**self.parameters, rng=self.planting_seed.child(index))
        made = grown(self.method, self.parameters, self.planting_seed, index)
        if self.quantity.planted and not isinstance(made, Planted):
            raise ValueError(f"{self.method} must return a Planted, as {self.measures} requires")
        return made

    def problem(self, index: int) -> Problem:
        """Return the problem of instance `index`."""
        return given_problem(self.grow(index))

    def measure(self, first: int, count: int) -> Columns:
        """Measure and return the rows of instances `first` to `first + count - 1`."""
        kind = self.quantity
        if self.task_id not in _WARM:
            kind.warm_up(self, first)
            _WARM.add(self.task_id)
        return kind.measure(self, first, count)

    def __getstate__(self) -> dict[str, Any]:
        return {
            "canonical": self.canonical(),
            "stop": asdict(self.stop),
            "realised": self.realise(),
            # A worker that unpickles these imports the files that add them to the catalogues.
            "needs": (
                METHODS[self.method].function if self.method in METHODS else None,
                self.quantity.measure,
            ),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a worker's copy without checks, because the original was checked."""
        values = json.loads(state["canonical"])
        values |= {
            "solver": _solver(values), "parameters": MappingProxyType(values["parameters"]),
        }  # fmt: skip
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


def settings_of(measures: object) -> type[Any] | None:
    """Return the class of a quantity's settings; raise a ValueError if the quantity is unknown."""
    return Own if is_own(measures) else KINDS.find(measures, "measures").settings


def _solver(values: Mapping[str, Any]) -> Any:
    """Return the solver settings that a canonical form describes."""
    settings = settings_of(values["measures"])
    if values["solver"] is None or settings is None:
        return None
    return settings(**values["solver"])


def task_of(stored: StoredTask) -> Task:
    """Return the task that a store describes; raise a StoreError if it cannot be grown."""
    name = f"task {stored.task_id[:12]}"
    try:
        name_of_method: Any = stored.description.get("method")
        if name_of_method in METHODS:
            method = METHODS[name_of_method]
            demand = method.plan(**method.completed(stored.table("parameters"))).demand
            if demand.memory > _MOST_MEMORY:
                raise ValueError(
                    f"an instance needs {demand.memory} bytes, but the limit is {_MOST_MEMORY}"
                )
        elif name_of_method == "files" and "digest" not in stored.table("parameters"):
            raise ValueError("the digest of its folder is missing")
        task = Task.from_canonical(stored.canonical, stored.stop, stored.realised)
    # An untrusted description can contain anything, and here the planting methods read it.
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        raise StoreError(f"{name} cannot be grown: {one_line(error)}") from error
    if task.kind.name != stored.kind:
        raise StoreError(f"{name} has {stored.kind} rows, but it measures {task.measures}")
    return task
