"""The runs of a race, read from an untrusted store."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from glasshouse.files.known import Known
from glasshouse.races.commands.race_task import INFEASIBLE, RACE
from glasshouse.races.commands.racing import HANGING, held_race
from glasshouse.races.judging.clauses import RunVerdict
from glasshouse.store import Store, StoredTask, StoreError, damaged
from glasshouse.store.records import short, stored_name, without_codes
from glasshouse.suites.loading import MOST_NAME
from glasshouse.summaries import Summarised

_DECIMAL = re.compile(r"[+-]?[0-9]{1,60}")

Incumbents = tuple[tuple[float, int], ...]
Clock = Literal["wall", "cpu"]


@dataclass(frozen=True, repr=False)
class Run(Summarised):
    """One run of one solver on one instance.

    Attributes:
        solver: the solver's name.
        instance: the instance's name.
        number: the number of the run on that instance, from 0.
        solved: whether the optimum was claimed, shown and right, in time.
        verdict: the verdict about the run.
        reason: the reason for the verdict.
        seconds: wall-clock time.
        limit: the time limit in seconds.
        cost: the cost of the run's last model, evaluated by glasshouse.
        incumbents: seconds and values of the run's `o` lines, which are not verified.
        remarks: deviations that are not faults.
        optimum: the least cost of the instance; None if it is not proven.
        best: the cost of the assignment that came with the instance; None without one.
        parameters: the parameters that the instance was grown with.
        file: the name of the instance's file.
        cpu_seconds: the CPU time of all processes of the run.
        cpu_limit: the limit on CPU time in seconds; None without a limit.
        memory: the most bytes of resident memory measured, of all processes together.
    """

    solver: str
    instance: str
    number: int
    solved: bool
    verdict: RunVerdict
    reason: str
    seconds: float
    limit: float
    cost: int | None = None
    incumbents: Incumbents = ()
    remarks: str = ""
    optimum: int | None = None
    best: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    file: str = ""
    cpu_seconds: float = 0.0
    cpu_limit: float | None = None
    memory: int = 0

    def taken(self, clock: Clock = "wall") -> float:
        """Return the run's time in seconds by a clock, but at most that clock's limit."""
        if clock == "wall":
            return min(self.seconds, self.limit)
        return min(self.cpu_seconds, math.inf if self.cpu_limit is None else self.cpu_limit)

    def most(self, clock: Clock = "wall") -> float:
        """Return the run's limit for a clock, in seconds; without a CPU limit, the time limit."""
        return self.limit if clock == "wall" or self.cpu_limit is None else self.cpu_limit

    @property
    def shown(self) -> int | None:
        """The cost of the run's last model; None without a model, or if the run has a fault."""
        return None if self.verdict.is_fault else self.cost


@dataclass(frozen=True, repr=False)
class Results(Summarised):
    """All runs of a race.

    Attributes:
        suite: the name of the suite.
        runs: all runs, by instance, solver and number.
        starts: the start-up time of each built-in solver in seconds, measured once.
        entered: for each solver, the number of runs in the finished race.
        num_entered: the number of instances in the finished race.
    """

    suite: str
    runs: tuple[Run, ...]
    starts: Mapping[str, float] = field(default_factory=dict)
    entered: Mapping[str, int] = field(default_factory=dict)
    num_entered: int = 0

    @cached_property
    def solvers(self) -> tuple[str, ...]:
        """The names of the solvers, in the order in which they entered."""
        return tuple(dict.fromkeys(run.solver for run in self.runs))

    @property
    def expected(self) -> int:
        """The number of runs of the finished race, including the runs of pending solvers."""
        return sum(self.entered.values())

    @cached_property
    def missing(self) -> dict[str, int]:
        """The number of missing runs for each solver that has not finished."""
        there = Counter(run.solver for run in self.runs)
        return {
            name: number - there[name] for name, number in self.entered.items()
            if number > there[name]
        }  # fmt: skip

    @cached_property
    def instances(self) -> tuple[str, ...]:
        """The names of the instances, in the order in which they entered."""
        return tuple(dict.fromkeys(run.instance for run in self.runs))

    @property
    def parameters(self) -> dict[str, Mapping[str, Any]]:
        """The parameters of each instance, by the name of the instance."""
        return {run.instance: run.parameters for run in self.runs}

    @property
    def limit(self) -> float:
        """The longest time limit of any run, in seconds; infinite if there are no runs."""
        return max((run.limit for run in self.runs), default=math.inf)

    @property
    def cpu_limit(self) -> float | None:
        """The longest CPU limit of any run, in seconds; None if CPU time is not limited."""
        return max((run.cpu_limit for run in self.runs if run.cpu_limit is not None), default=None)

    @property
    def unproven(self) -> set[str]:
        """The names of the instances whose optimum is not proven."""
        return {run.instance for run in self.runs if run.optimum is None}

    @cached_property
    def by_solver(self) -> dict[str, dict[str, list[Run]]]:
        """The runs of each solver on each instance: `by_solver[solver][instance]`."""
        table: dict[str, dict[str, list[Run]]] = {name: {} for name in self.solvers}
        for run in self.runs:
            table[run.solver].setdefault(run.instance, []).append(run)
        return table

    @cached_property
    def best_known(self) -> dict[str, int]:
        """The lowest known cost of each instance, by the name of the instance."""
        known: dict[str, int] = {}
        for run in self.runs:
            for cost in (run.optimum, run.best, run.shown):
                if cost is not None:
                    known[run.instance] = min(cost, known.get(run.instance, cost))
        return known

    @property
    def faults(self) -> list[Run]:
        """The runs that reveal a bug in a solver; the worst kinds of faults come first."""
        order = {
            verdict: place
            for place, verdict in enumerate(
                (RunVerdict.WRONG_OPTIMUM, RunVerdict.INVALID_MODEL, RunVerdict.CRASH)
            )
        }
        wrong = [run for run in self.runs if run.verdict.is_fault]
        return sorted(wrong, key=lambda run: (order.get(run.verdict, len(order)), run.solver))


def read_results(store: Store) -> Results:
    """Read all runs of a race from its store.

    Raises:
        StoreError: the store does not contain a race, or is damaged.
    """
    held = held_race(store)
    if held is None:
        raise StoreError(f"{store.path} does not contain a race yet; run one first")
    try:
        tasks = [task for task in store.tasks() if task.kind == RACE.name]
        runs = [run for task in tasks for run in _runs(store, task)]
        starts = {name: _seconds(one["start_seconds"]) for name, one in held["solvers"].items()
                  if one.get("start_seconds") is not None}  # fmt: skip
        entered: Counter[str] = Counter()
        for task in tasks:
            entered[_name(task.table("solver")["name"])] += task.stop.instances
        number = len({_name(task.table("parameters")["instance"]) for task in tasks})
    except StoreError:
        raise
    except (ValueError, TypeError, KeyError, RecursionError) as fault:
        raise damaged(store.path, fault) from None
    return Results(_name(held.get("suite")), tuple(runs), starts, entered, number)


def _runs(store: Store, task: StoredTask) -> list[Run]:
    asked, solver = task.table("parameters"), task.table("solver")
    known = _known(asked["bound"], asked["best"])
    own = {"instance", "file", "sha256", "bound", "best"}
    shared: dict[str, Any] = {
        "solver": _name(solver["name"]),
        "instance": _name(asked["instance"]),
        "file": _name(asked["file"]),
        "limit": _seconds(solver["seconds"]),
        "cpu_limit": None if (most := solver.get("cpu_seconds")) is None else _seconds(most),
        "optimum": known.optimum,
        "best": known.best,
        "parameters": {key: value for key, value in asked.items() if key not in own},
    }
    names = ["instance", "solved", "verdict", "reason", "seconds", "cost", "incumbents", "remarks",
             "stated", "stopped", "cpu_seconds", "memory"]  # fmt: skip
    rows = store.rows(task, names)
    runs = []
    for values in zip(*(rows[name].tolist() for name in names), strict=True):
        row = dict(zip(names, values, strict=True))
        run = Run(
            number=row["instance"], solved=bool(row["solved"]), verdict=RunVerdict(row["verdict"]),
            reason=without_codes(row["reason"]), remarks=without_codes(row["remarks"]),
            seconds=_seconds(row["seconds"]), cost=_cost(row["cost"]),
            incumbents=_incumbents(row["incumbents"]), cpu_seconds=_seconds(row["cpu_seconds"]),
            memory=max(0, row["memory"]), **shared,
        )  # fmt: skip
        longest = run.limit + _seconds(solver["grace"]) + HANGING
        if why := _contradiction(run, known, row, longest):
            raise ValueError(f"run {run.number} of {run.solver} on {short(run.instance)} {why}")
        runs.append(run)
    return runs


def _contradiction(run: Run, known: Known, row: Mapping[str, Any], most: float) -> str:
    """Return how a stored row contradicts itself or the proof; empty if it does not."""
    if run.cost is not None and (known.is_infeasible or run.cost < (known.bound or 0)):
        return f"has a model of cost {run.cost}, but the proven bound is higher"
    is_optimal = run.verdict is RunVerdict.OPTIMAL
    if is_optimal and not known.is_infeasible and (
        run.cost is None or run.cost != known.bound or run.cost != _cost(row["stated"])
    ):  # fmt: skip
        return "has the verdict optimal, but not the proven cost"
    if row["solved"] != int(is_optimal and row["stopped"] == ""):
        return f"has solved={row['solved']}, but {run.verdict!s} and stopped={row['stopped']!r}"
    if run.seconds > most:
        return f"took {run.seconds} seconds, but its limit was {run.limit} seconds"
    return ""


def _known(bound: object, best: object) -> Known:
    if bound == INFEASIBLE:
        return Known(is_infeasible=True)
    return Known(_cost(bound), _cost(best))


def _cost(text: object) -> int | None:
    if text == "":
        return None
    if not isinstance(text, str) or not _DECIMAL.fullmatch(text):
        raise ValueError(f"{short(text)} is not a cost; expected an integer")
    return int(text)


def _incumbents(text: str) -> Incumbents:
    pairs = json.loads(text)
    if not isinstance(pairs, list) or not all(
        isinstance(pair, list) and len(pair) == 2 for pair in pairs
    ):
        raise ValueError(f"incumbents must be [seconds, cost] pairs, not {short(text)}")
    found = []
    for seconds, value in pairs:
        cost = _cost(value)
        if cost is None:
            raise ValueError(f"incumbents must be [seconds, cost] pairs, not {short(text)}")
        found.append((_seconds(seconds), cost))
    return tuple(found)


def _seconds(value: object) -> float:
    if not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(f"{short(value)} is not a time; expected a number of seconds, at least 0")
    return float(value)


def _name(value: object) -> str:
    return stored_name(value, MOST_NAME)
