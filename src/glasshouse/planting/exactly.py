"""Exactly-k-of-m satisfiability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.clauses import clause_demand, plant_clauses
from glasshouse.planting.demand import Demand
from glasshouse.planting.method import planting_method
from glasshouse.planting.planted import Planted
from glasshouse.problems import validation
from glasshouse.randomness import RngLike


def _shape(literals: Any, true_literals: Any) -> tuple[int, int]:
    """Literals of a clause, and how many of them are true."""
    length = validation.count(literals, "literals", 2)
    number = validation.count(true_literals, "true_literals")
    if not 0 < number < length:
        raise ValueError(
            f"true_literals={number} of literals={length} leaves nothing to choose; use 1 to "
            f"{length - 1}"
        )
    return length, number


def _exactly_demand(asked: Mapping[str, Any]) -> Demand:
    length, _ = _shape(asked.get("literals"), asked.get("true_literals"))
    return clause_demand(asked.get("n"), asked.get("clauses"), asked.get("clause_density"), length)


@planting_method(
    "exactly",
    grows_on="spins",
    demand=_exactly_demand,
    examples=(
        {"n": 40, "literals": 3, "true_literals": 1, "clause_density": "3/5"},
        {"n": 30, "literals": 6, "true_literals": 3, "clauses": 12},
    ),
    knobs={"clause_density": ("1/5", "3/5")},
)
def exactly(
    n: int,
    *,
    literals: int,
    true_literals: int,
    clauses: int | None = None,
    clause_density: Ratio | None = None,
    state: State | None = None,
    rng: RngLike = None,
) -> Planted:
    """Plant a state in which exactly k of the m literals of every clause are true.

    A clause of literals l = ±s is half of (Σ l - (2k - m))² without its constant; the number 2k - m
    becomes fields. Zero is reached by exactly k true literals and by nothing else. 1 of 3 is
    1-in-3-SAT (Schaefer 1978). Variables of a clause are distinct; clauses are drawn with
    replacement, their signs uniformly among those that the planted state satisfies. At 2k = m there
    are no fields, and the planted state turned upside down is a ground state as well.

    Args:
        n: spins, at least as many as a clause has literals.
        literals: m of each clause, at least 2.
        true_literals: k of them are true, at least 1 and fewer than m.
        clauses: how many there are; give this or `clause_density`.
        clause_density: clauses per spin; their number is rounded up.
        state: the state to plant; uniform at random when None.
        rng: a seed, or whatever `numpy.random.default_rng` takes.

    >>> plant = exactly(40, literals=3, true_literals=1, clause_density="3/5", rng=1)
    >>> plant
    Planted(exactly, 40 spins, 24 squares, ground energy -48)
    >>> plant.verify()
    """
    length, number = _shape(literals, true_literals)
    return plant_clauses(
        "exactly", n, length, number, clauses=clauses, clause_density=clause_density, state=state,
        rng=rng, held={"literals": length, "true_literals": number},
    )  # fmt: skip
