"""An overview of a problem: its size, its weights and its graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glasshouse.landscape.connectivity import components, free_spins, graph_form
from glasshouse.landscape.local import ising_form
from glasshouse.problems import (
    Given,
    Ising,
    Max2Sat,
    MaxSat,
    Number,
    Polynomial,
    Problem,
    Rbm,
    given_problem,
)
from glasshouse.problems.two_sides import two_colouring
from glasshouse.summaries import Summarised, SummaryTable


@dataclass(frozen=True, repr=False)
class Overview(Summarised):
    """The size, the weights and the graph properties of a problem.

    Attributes:
        kind: Ising, RBM, QUBO, MAX-2-SAT, MaxSAT or polynomial.
        variables: the number of spins or variables.
        terms: the number of soft clauses, of monomials, or of non-zero couplings.
        hard_clauses: the number of clauses that must be satisfied.
        clause_density: the number of clauses per variable; None for problems without clauses.
        edges: the number of coupled pairs of the Ising form; for polynomials and MaxSAT, the number
            of monomials or clauses of at least two variables.
        fields: the number of non-zero fields of the Ising form, or of terms of one variable.
        edge_density: `edges` as a fraction of all pairs of variables.
        integer: whether all weights are integers.
        weight_range: the smallest and the largest weight; None without terms.
        distinct_weights: the number of different magnitudes of the weights.
        bipartite: the sizes of the two sides of the graph, or None if it has an odd cycle. Free
            variables are on neither side, except in an RBM, where they belong to a layer.
        components: the number of connected components, including isolated variables.
        free_variables: the number of variables that do not occur in any term.
        degree: the largest number of variables in a monomial, or of literals in a MaxSAT clause;
            2 for all other kinds of problem.
    """

    kind: str
    variables: int
    terms: int
    hard_clauses: int
    clause_density: float | None
    edges: int
    fields: int
    edge_density: float
    integer: bool
    weight_range: tuple[Number, Number] | None
    distinct_weights: int
    bipartite: tuple[int, int] | None
    components: int
    free_variables: int
    degree: int = 2

    def _summary_table(self) -> SummaryTable:
        """Return the properties and their values as a summary table."""
        return SummaryTable(self.rows())

    def __str__(self) -> str:
        return "\n".join(f"{name:<18}{value}" for name, value in self.rows())

    def rows(self) -> list[tuple[str, str]]:
        """Return the name and the value of each property as text."""
        sides = (
            "no" if self.bipartite is None else f"yes, {self.bipartite[0]} + {self.bipartite[1]}"
        )
        exact = "integers" if self.integer else "floats"
        kinds = self.distinct_weights
        different = "1 magnitude" if kinds == 1 else f"{kinds} different magnitudes"
        weights = f"{exact}, {different}"
        if self.weight_range is not None:
            weights = f"{self.weight_range[0]} to {self.weight_range[1]} ({weights})"
        rows = [("kind", self.kind), ("variables", f"{self.variables:,}")]
        if self.clause_density is not None:
            hard = f" + {self.hard_clauses:,} hard" if self.hard_clauses else ""
            rows.append(
                ("clauses", f"{self.terms:,}{hard}, {self.clause_density:.4g} per variable")
            )
        if self.kind in ("polynomial", "MaxSAT"):
            terms = ("terms", f"{self.terms:,}, up to degree {self.degree}")
            if self.kind == "MaxSAT":
                terms = ("literals", f"at most {self.degree} in a clause")
            parts = f"{self.components:,} ({self.free_variables:,} free variables)"
            return [*rows, terms, ("weights", weights), ("components", parts)]
        return [
            *rows,
            ("weights", weights),
            ("edges", f"{self.edges:,} ({self.edge_density:.3g} of all pairs)"),
            ("fields", f"{self.fields:,}"),
            ("bipartite", sides),
            (
                "components",
                f"{self.components:,} ({self.free_variables:,} free "
                f"variable{'s' * (self.free_variables != 1)})",
            ),
        ]


def overview(problem: Given) -> Overview:
    """Return the size, the weights and the graph properties of any problem.

    >>> print(overview(Rbm([[1, 1], [1, -1]])))
    kind              RBM
    variables         4
    weights           -1 to 1 (integers, 1 magnitude)
    edges             4 (0.667 of all pairs)
    fields            0
    bipartite         yes, 2 + 2
    components        1 (0 free variables)
    """
    problem = given_problem(problem)
    form, weights = _graph(problem), problem.weights
    size, degree = form.num_variables, 2
    edges, fields = form.num_edges, int(np.count_nonzero(form.fields))
    if isinstance(problem, Polynomial):
        degree, fields = problem.degree, int((problem.monomials.degrees == 1).sum())
        edges = problem.num_terms - fields
    elif isinstance(problem, MaxSat):
        lengths = np.concatenate([problem.soft.lengths, problem.hard.lengths])
        degree, fields = problem.longest, int((lengths == 1).sum())
        edges = int((lengths > 1).sum())
    colours, idle = two_colouring(size, form.edges), free_spins(form)
    sides = None
    if isinstance(problem, Rbm):
        sides = (problem.num_visible, problem.num_hidden)
    elif colours is not None and degree == 2 and not isinstance(problem, MaxSat):
        second = int(colours.sum())
        sides = (size - second - len(idle), second)
    is_sat = isinstance(problem, (Max2Sat, MaxSat))
    return Overview(
        kind=problem.space.kind,
        variables=size,
        terms=len(weights) if is_sat else int(np.count_nonzero(weights)),
        hard_clauses=problem.num_hard if isinstance(problem, (Max2Sat, MaxSat)) else 0,
        clause_density=problem.clause_density if isinstance(problem, (Max2Sat, MaxSat)) else None,
        edges=edges,
        fields=fields,
        edge_density=2 * edges / max(1, size * (size - 1)),
        integer=problem.is_integer,
        weight_range=(weights.min().item(), weights.max().item()) if len(weights) else None,
        distinct_weights=len(np.unique(np.abs(weights))),
        bipartite=sides,
        components=int(components(form).max(initial=-1)) + 1,
        free_variables=len(idle),
        degree=degree,
    )


def _graph(problem: Problem) -> Ising:
    """Return the graph form of a problem, with float weights if integer sums would overflow."""
    try:
        return graph_form(problem)
    except ValueError:
        if not isinstance(problem, Max2Sat):
            raise
        weights = problem.weights.astype(np.float64)
        return ising_form(Max2Sat(problem.num_variables, problem.clauses, weights, problem.hard))
