"""What an exact solver is, and the catalogue of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from glasshouse.catalogue import Catalogue
from glasshouse.problems import Max2Sat, MaxSat

# Bits of the best assignment found (None: none) and whether it was proven to be the best.
Answer: TypeAlias = tuple[list[int] | None, bool]
Solve: TypeAlias = Callable[..., Answer]
# What a solver may call with the bits of each better assignment while it works.
Tell: TypeAlias = Callable[[list[int]], object]

# Names of `solve --solver` that are not for others.
OURS = ("anneal", "temper", "minimise", "brute", "prove")
EXACT_SOLVERS = Catalogue["ExactSolver"]("exact solver")

# Integer programs are solved in floats: an assignment that is feasible up to this costs up to this
# times all weights too little, which must stay below 1/2, half the least difference of two costs.
TOLERANCE = 1e-9


class RefusedError(ValueError):
    """A solver does not take this problem, and says why.

    Attributes:
        names_arguments: the message names arguments, which are options of a command.
    """

    names_arguments = True


@dataclass(frozen=True)
class ExactSolver:
    """Somebody else's solver.

    Attributes:
        solve: solves clauses with integer weights within a time limit in seconds, or None. It
            imports its package when it is called. One that `tells` takes a third argument.
        package: what to install.
        most_weight: up to which sum of soft weights its answers are exact; None for any.
        is_apart: whether it works in a process of its own; see `apart`.
        tells: whether it tells of better assignments while it works.
    """

    solve: Solve
    package: str
    most_weight: int | None = None
    is_apart: bool = False
    tells: bool = False


def exact_solver(
    name: str,
    *,
    package: str,
    most_weight: int | None = None,
    is_apart: bool = False,
    tells: bool = False,
) -> Callable[[Solve], Solve]:
    """Add a function to the catalogue of exact solvers; the arguments are its entry's."""
    if name in OURS:
        raise ValueError(f"{name!r} is a solver of our own; choose another name")

    def add(solve: Solve) -> Solve:
        EXACT_SOLVERS.add(name, ExactSolver(solve, package, most_weight, is_apart, tells))
        return solve

    return add


def literals(problem: Max2Sat | MaxSat) -> list[tuple[int | None, list[int]]]:
    """Clauses with their weights, hard ones with None; the empty clause, a constant, goes."""
    if isinstance(problem, MaxSat):
        lists = [(None, clause) for clause in problem.hard.lists()]
        lists += zip(problem.weights.tolist(), problem.soft.lists(), strict=True)
        return [(weight, clause) for weight, clause in lists if clause]
    hard = [(None, clause) for clause in problem.hard.tolist()]
    soft = list(zip(problem.weights.tolist(), problem.clauses.tolist(), strict=True))
    return [(w, [x for x in clause if x]) for w, clause in [*hard, *soft] if any(clause)]
