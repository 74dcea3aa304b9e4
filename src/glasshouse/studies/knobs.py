"""Knobs: the planting parameters that tuning varies, and their ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from glasshouse.planting import METHODS, Graph
from glasshouse.problems import validation
from glasshouse.solvers import peak_density
from glasshouse.studies.quantities.hardness import Annealer
from glasshouse.studies.task import Task

if TYPE_CHECKING:
    from glasshouse.planting.graphs import GraphLike

STEP = Fraction(1, 1000)  # finer differences are lost in the scatter of instances
# Loops per half the nodes of a graph. The first are few enough for instances to be easy. By
# default, the hard end is the second, beyond which loops overlap and weights grow.
_SPARSE, FULL_DENSITY, _DENSEST = Fraction(1, 50), Fraction(1, 2), Fraction(8)
# Lengths of loops on a graph, in the order in which they are tried, and the largest weight of one.
_LENGTHS, _MOST_WEIGHT = (4, 3, 6, 5, 8), 16


def usual_knob(method: str | None) -> str:
    """Return the default knob: a method's first knob, or the frustration if no method is given."""
    if method is None:
        return "frustration"
    knobs = METHODS.find(method, "method").knobs
    if not knobs:
        raise ValueError(f"{method} has no knob; choose a method that has one")
    return next(iter(knobs))


@dataclass(frozen=True)
class Family:
    """A family of instances that differ only in the setting of one knob.

    Attributes:
        method: the planting method.
        fixed: the other parameters.
        knob: the parameter that is varied.
        solver: the annealer that measures the hardness.
        seed: an integer.
        longest_run: the most sweeps of a run, if the solver has the paper's schedule; None sets no
            limit.
    """

    method: str
    fixed: Mapping[str, Any]
    knob: str
    solver: Annealer
    seed: int
    longest_run: int | None = None

    @classmethod
    def on_graph(
        cls, graph: Graph, given: Mapping[str, Any] | None, solver: Annealer, seed: int
    ) -> list[Family]:
        """Return families of loops on a graph, from easy to hard, for users who do not name a knob.

        The knob is the density of loops if their frustration is given, and the frustration if the
        density is. If neither is given, each family has its own frustration, whose loops weigh
        little: k + 1 on all edges and -k on one. The more of that weight is frustrated, the harder
        are the instances of full density, and the knob is the density again.
        """
        fixed = dict(given or {})
        if "frustration" in fixed:
            return [cls.of(graph, "loop_density", "graph_loops", fixed, solver, seed)]
        if "loop_density" in fixed or "loops" in fixed:
            return [cls.of(graph, "frustration", "graph_loops", fixed, solver, seed)]
        if "length" not in fixed:
            fixed["length"] = _length_of_loops(graph)
        others = int(fixed["length"]) - 1
        shares = [Fraction(1, 3 * others + 1)]  # weights 3 and -1
        shares += [Fraction(k, others * (k + 1) + k) for k in range(1, _MOST_WEIGHT)]
        return [
            cls.of(graph, "loop_density", "graph_loops", fixed | {"frustration": f}, solver, seed)
            for f in shares
        ]

    @classmethod
    def of(
        cls,
        where: int | GraphLike | None,
        knob: str | None,
        method: str | None,
        given: Mapping[str, Any] | None,
        solver: Annealer,
        seed: int,
    ) -> Family:
        """Return the family of a size or graph; by default, loops at the peak density."""
        fixed, n = dict(given or {}), 0
        knob = usual_knob(method) if knob is None else knob
        if where is None:
            if method is None:
                raise ValueError("pass n, or a graph, or a method with its size as a parameter")
        elif isinstance(where, int):
            n = validation.count(where, "n", 2)
            fixed["n"] = n
        else:
            graph = Graph.of(where)
            n = max(graph.num_nodes // 2, 1)
            fixed["graph"] = graph.name
        if method is None:
            ground = "graph" if "graph" in fixed else "random"
            has_block = knob == "block" or "block" in fixed
            structured = {"graph": "structured_graph_loops", "random": "structured_loops"}
            method = structured[ground] if has_block else f"{ground}_loops"
        known = METHODS.find(method, "method")
        if knob not in known.knobs:
            others = [name for name, other in METHODS.items() if knob in other.knobs]
            raise ValueError(
                f"knob={knob!r} is not one of {', '.join(known.knobs)}, which {method} has"
                + (f"; name a method that has it: {', '.join(others)}" if others else "")
            )
        if knob in fixed:
            raise ValueError(f"{knob} is the knob to tune, so it cannot have a value; remove it")
        is_dense = "loops" in fixed or knob == "loop_density"
        if n and not is_dense and "loop_density" in known.parameters:
            fixed.setdefault("loop_density", str(round(peak_density(n), 4)))
        return cls(method, fixed, knob, solver, seed)

    def bounds(self) -> tuple[Fraction, Fraction]:
        """Return the knob's easiest and hardest setting; loops of length L have f ≤ 1/L."""
        easy, hard = map(Fraction, METHODS[self.method].knobs[self.knob])
        if self.is_on_graph and self.knob == "loop_density":
            return _SPARSE, _DENSEST
        if self.knob != "frustration":
            return easy, hard
        longest = self.fixed.get("length") or self.fixed.get("max_length")
        if longest is None:
            has_triangles = self.method == "graph_loops" and not self._graph.is_bipartite
            longest = 3 if has_triangles else 4
        hard = (Fraction(1, int(longest)) // STEP - 1) * STEP
        return easy if easy < hard else hard / 5, hard

    @property
    def is_on_graph(self) -> bool:
        """Whether the instances are loops on a graph, which are planted and solved one by one."""
        return "graph" in self.fixed

    @property
    def step(self) -> Fraction:
        """The smallest difference between two settings of the knob."""
        return Fraction(1) if METHODS[self.method].is_whole(self.knob) else STEP

    @property
    def _graph(self) -> Graph:
        return Graph.parse(self.fixed["graph"])

    def task(self, setting: Fraction, limit: int) -> Task:
        """Return the task that measures the instances at a setting, up to a limit on the sweeps."""
        parameters = dict(self.fixed) | {self.knob: setting}
        solver = replace(self.solver, max_sweeps=limit)
        task = Task(self.method, parameters, solver=solver, seed=self.seed)
        if self.longest_run is None or task.schedule.sweeps_per_run <= self.longest_run:
            return task
        solver = replace(solver, sweeps_per_run=self.longest_run)
        return Task(self.method, parameters, solver=solver, seed=self.seed)


def families_of(
    where: int | GraphLike | None,
    knob: str | None,
    method: str | None,
    given: Mapping[str, Any] | None,
    solver: Annealer | None,
    target: float,
    seed: int,
) -> list[Family]:
    """Return the families (usually one) in which to search for a target, from easy to hard.

    Runs of an annealer that the user does not set are at most a quarter of the target on graphs:
    if one run took longer, instances would be solved long before the target, or long after it.
    """
    is_size, solver_used = where is None or isinstance(where, int), solver or Annealer()
    if is_size or knob is not None or method not in (None, "graph_loops"):
        families = [Family.of(where, knob, method, given, solver_used, seed)]
    else:
        families = Family.on_graph(Graph.of(where), given, solver_used, seed)
    if is_size or solver is not None:
        return families
    return [replace(one, longest_run=max(1, int(target) // 4)) for one in families]


def _length_of_loops(graph: Graph) -> int:
    """Return the first length in `_LENGTHS` for which the graph has cycles."""
    planner = METHODS["graph_loops"].plan
    for length in _LENGTHS:
        try:
            planner(graph, frustration=0, loops=1, length=length).check()
        except ValueError:
            continue
        return length
    raise ValueError(f"{graph!r} has no cycles of length {_LENGTHS}; pass a length and frustration")
