"""Knobs: the parameters of planting that tuning turns, and how far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from glasshouse.planting import METHODS
from glasshouse.planting.graphs import Graph
from glasshouse.problems import validation
from glasshouse.solvers import peak_density
from glasshouse.studies.quantities.hardness import Annealer
from glasshouse.studies.task import Task

if TYPE_CHECKING:
    from glasshouse.planting.graphs import GraphLike

STEP = Fraction(1, 1000)  # finer differences are lost in the scatter of instances


def usual_knob(method: str | None) -> str:
    """What is turned where nobody says what: the first knob of a method, f of loops."""
    if method is None:
        return "frustration"
    knobs = METHODS.find(method, "method").knobs
    if not knobs:
        raise ValueError(f"{method} has no knob to turn; name a method that has one")
    return next(iter(knobs))


@dataclass(frozen=True)
class Family:
    """Instances that differ in the setting of a knob.

    Attributes:
        method: how they are planted.
        fixed: the other parameters.
        knob: the parameter that is turned.
        solver: what measures them.
        seed: a whole number.
    """

    method: str
    fixed: Mapping[str, Any]
    knob: str
    solver: Annealer
    seed: int

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
        """The family of a size or on a graph; loops at the peak density if none is given."""
        fixed, n = dict(given or {}), 0
        knob = usual_knob(method) if knob is None else knob
        if where is None:
            if method is None:
                raise ValueError("give n or a graph; or a method, and its size as a parameter")
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
            raise ValueError(f"{knob} is the knob that is tuned; leave it out")
        is_dense = "loops" in fixed or knob == "loop_density"
        if n and not is_dense and "loop_density" in known.parameters:
            fixed.setdefault("loop_density", str(round(peak_density(n), 4)))
        return cls(method, fixed, knob, solver, seed)

    def bounds(self) -> tuple[Fraction, Fraction]:
        """The easy and the hard end; the frustration of a loop of length L is at most 1/L."""
        easy, hard = map(Fraction, METHODS[self.method].knobs[self.knob])
        if self.knob != "frustration":
            return easy, hard
        longest = self.fixed.get("length") or self.fixed.get("max_length")
        if longest is None:
            has_triangles = self.method == "graph_loops" and not self._graph.is_bipartite
            longest = 3 if has_triangles else 4
        hard = (Fraction(1, int(longest)) // STEP - 1) * STEP
        return easy if easy < hard else hard / 5, hard

    @property
    def step(self) -> Fraction:
        """The least difference of two settings."""
        return Fraction(1) if METHODS[self.method].is_whole(self.knob) else STEP

    @property
    def _graph(self) -> Graph:
        return Graph.parse(self.fixed["graph"])

    def task(self, setting: Fraction, limit: int) -> Task:
        """The instances at a setting, given up at a limit."""
        parameters = dict(self.fixed) | {self.knob: setting}
        solver = replace(self.solver, max_sweeps=limit)
        return Task(self.method, parameters, solver=solver, seed=self.seed)
