"""Summaries of plants: requested values next to realised values."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from glasshouse.landscape import components, free_spins, frustration_index
from glasshouse.landscape.connectivity import graph_form
from glasshouse.planting.counting import GroundStates
from glasshouse.planting.method import Method
from glasshouse.problems import Labels, MaxSat, Polynomial, Rbm
from glasshouse.problems.ratio import Ratio, ratio
from glasshouse.summaries import Summarised, SummaryTable

if TYPE_CHECKING:
    from glasshouse.planting.planted import Planted


# Parameters that have their own row, that the size shows, or that are too long for a line.
_SHOWN = {"frustration", "loop_density", "loops", "cores", "n", "m", "graph", "hypergraph", "state",
          "shuffled"}  # fmt: skip


@dataclass(frozen=True, repr=False)
class Summary(Summarised):
    """Requested and realised values, side by side; `str()` prints them as a table.

    Attributes:
        method: the planting method.
        size: spins, as "100 visible × 100 hidden" or "200 spins".
        energy: the exact energy of the planted ground state.
        loop_weight: the positive weight of a loop, the unit of the paper's β.
        requested_frustration: the requested f of every loop; None if the method takes none.
        frustration: f of the instance at its ground state.
        requested_loop_density: the requested N/n; None if the number of loops was given.
        loop_density: N/n.
        clause_density: clauses per variable of the MAX-2-SAT form.
        requested_clause_density: the requested clause density; None if it was not given.
        requested_loops: the requested N; None if a density was given.
        loops: N.
        squares: the number of squares in the proof.
        cores: the number of frustrated cores in the proof.
        edges: couplings that are not zero; of a polynomial, terms of two spins and more.
        fields: fields that are not zero.
        components: connected parts, isolated spins included.
        free_spins: spins that no loop touches.
        ground_states: the number of ground states, or a lower bound, and the reason.
        asked: the family's own parameters, as text.
        labels: the names of the spins, such as a chip's qubits; None for 0, 1, 2, ….
        degree: the largest number of spins in a term, at least 2; 0 for clauses.
    """

    method: str
    size: str
    energy: int
    loop_weight: int
    requested_frustration: Fraction | None
    frustration: Fraction
    requested_loop_density: Fraction | None
    loop_density: Fraction
    requested_clause_density: Fraction | None
    clause_density: Fraction
    requested_loops: int | None
    loops: int
    squares: int
    cores: int
    edges: int
    fields: int
    components: int
    free_spins: int
    ground_states: GroundStates
    asked: str
    labels: Labels | None
    degree: int = 2

    @classmethod
    def of(cls, planted: Planted) -> Summary:
        """Measure an instance, and return its summary."""
        problem, asked = planted.problem, planted.recipe.parameters
        size = f"{problem.num_variables} spins"
        if isinstance(problem, MaxSat):
            return cls._of_clauses(planted, problem)
        form = planted.form
        if isinstance(problem, Rbm):
            size = f"{problem.num_visible} visible × {problem.num_hidden} hidden"
        parts = int(components(form).max(initial=-1)) + 1
        if isinstance(form, Polynomial):
            fields, degree = int((form.monomials.degrees == 1).sum()), max(2, form.degree)
        else:
            fields, degree = int((form.fields != 0).sum()), 2
        edges = form.num_edges - (fields if isinstance(form, Polynomial) else 0)
        return cls(
            method=planted.recipe.method,
            size=size,
            energy=planted.energy,
            loop_weight=planted.loop_weight,
            requested_frustration=_fraction(asked.get("frustration")),
            frustration=Fraction(frustration_index(form, planted.state)),
            requested_loop_density=_fraction(asked.get("loop_density")),
            loop_density=planted.loops.num_loops / planted.half,
            # Clauses that are squares are not clauses of the MAX-2-SAT form; squares count them.
            requested_clause_density=_fraction(
                None if planted.squares else asked.get("clause_density")
            ),
            # An edge becomes two clauses and a field one.
            clause_density=Fraction(2 * edges + fields, form.num_variables),
            requested_loops=asked.get("loops"),
            loops=planted.loops.num_loops,
            squares=planted.squares.num_squares,
            cores=0,
            edges=edges,
            fields=fields,
            components=parts,
            free_spins=len(free_spins(form)),
            ground_states=Method.of(planted.recipe).ground_states(planted),
            asked=_own_parameters(planted),
            labels=problem.labels,
            degree=degree,
        )

    @classmethod
    def _of_clauses(cls, planted: Planted, problem: MaxSat) -> Summary:
        asked = planted.recipe.parameters
        graph = graph_form(problem)
        total = int(problem.total_weight)
        clauses = problem.num_clauses + problem.num_hard
        return cls(
            method=planted.recipe.method,
            size=f"{problem.num_variables} variables",
            energy=planted.energy,
            loop_weight=planted.loop_weight,
            requested_frustration=None,
            frustration=Fraction(planted.energy, max(1, total)),
            requested_loop_density=None,
            loop_density=Fraction(0),
            requested_clause_density=_fraction(asked.get("clause_density")),
            clause_density=Fraction(clauses, problem.num_variables),
            requested_loops=asked.get("cores"),
            loops=0,
            squares=0,
            cores=planted.cores.num_cores,
            edges=clauses,
            fields=0,
            components=int(components(graph).max(initial=-1)) + 1,
            free_spins=len(free_spins(graph)),
            ground_states=Method.of(planted.recipe).ground_states(planted),
            asked=_own_parameters(planted),
            labels=problem.labels,
            degree=0,
        )

    def _summary_table(self) -> SummaryTable:
        """Return requested and realised values in two columns, below one or two lines of text."""
        rows = [
            ("frustration", _text(self.requested_frustration), _text(self.frustration)),
            ("loop density", _text(self.requested_loop_density), _text(self.loop_density)),
            ("clause density", _text(self.requested_clause_density), _text(self.clause_density)),
            ("loops", _text(self.requested_loops), _text(self.loops)),
            ("squares", "", _text(self.squares)),
            ("cores", _text(self.requested_loops), _text(self.cores)),
            ("ground states", "", str(self.ground_states)),
            ("components", "", _text(self.components)),
            ("free spins", "", _text(self.free_spins)),
        ]
        # The density of the MAX-2-SAT form of squares has no meaning.
        missing = {"squares"} if not self.squares else {"clause density"}
        missing |= set() if self.loops else {"loops", "loop density"}
        missing |= {"cores"} if self.degree else set()
        rows = [row for row in rows if row[0] not in missing]
        if self.labels is not None:
            rows.append(("labels", "", f"{self.labels[0]!r} to {self.labels[-1]!r}"))
        what = {0: "clauses", 2: "edges"}.get(self.degree, f"terms up to degree {self.degree}")
        head = f"{self.method}: {self.size}, {self.edges} {what}"
        head += f", {self.fields} fields" if self.fields else ""
        head += f"; ground energy {self.energy}"
        head += f", loop weight {self.loop_weight}" if self.loops else ""
        above = [head, *([f"requested: {self.asked}"] if self.asked else [])]
        return SummaryTable(rows, ("", "requested", "realised"), above)

    def __str__(self) -> str:
        table = self._summary_table()
        rows = [table.head, *table.rows]
        width = max(len(row[1]) for row in rows)
        lines = [f"{a:<15}{b:>{width}}  {c}".rstrip() for a, b, c in rows]
        return "\n".join([*table.above, *lines])


def _own_parameters(planted: Planted) -> str:
    """Return the parameters that no other row of the summary shows, except for defaults."""
    known = Method.of(planted.recipe).parameters
    return ", ".join(
        f"{name}={value}" for name, value in planted.recipe.parameters.items()
        if name not in _SHOWN and name in known and str(known[name].default) != str(value)
    )  # fmt: skip


def _fraction(value: Ratio | None) -> Fraction | None:
    return None if value is None else ratio(value, "a recipe's parameter")


def _text(value: Fraction | int | None) -> str:
    if isinstance(value, Fraction) and value.denominator > 1:
        return f"{value} ({float(value):.4g})"
    return "" if value is None else str(value)
