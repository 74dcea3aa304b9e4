"""The interface of an exact solver, and the catalogue of all solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from glasshouse.catalogue import Catalogue
from glasshouse.problems import Max2Sat, MaxSat

# The best assignment's bits (or None if none), and whether the solver states that it is optimal.
Answer: TypeAlias = tuple[list[int] | None, bool]
Solve: TypeAlias = Callable[..., Answer]
# A function that a solver may call with the bits of each better assignment while it works.
Tell: TypeAlias = Callable[[list[int]], object]

# Names of `solve --solver` that other solvers must not use.
OURS = ("anneal", "temper", "minimise", "brute", "prove")
EXACT_SOLVERS = Catalogue["ExactSolver"]("exact solver")

# Integer programs are solved in floats. The cost of an assignment that is feasible up to this
# tolerance may be too low by the tolerance times the sum of all weights; this must be below 1/2.
TOLERANCE = 1e-9


class RefusedError(ValueError):
    """Raised if a solver does not support a problem.

    Attributes:
        names_arguments: whether the message names arguments, which are options of a command.
    """

    names_arguments = True


@dataclass(frozen=True)
class ExactSolver:
    """An entry of the catalogue: a third-party exact solver and its properties.

    Attributes:
        solve: solves clauses with integer weights within a time limit in seconds (None: no limit).
            It imports its package when called. If `tells` is true, it takes a third argument.
        package: the package to install.
        most_weight: the largest sum of soft weights for which answers are exact; None for any sum.
        is_apart: whether it runs in its own process; see `apart`.
        tells: whether it reports better assignments while it works.
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
    """Return a decorator that adds a function to `EXACT_SOLVERS` (arguments: see `ExactSolver`)."""
    if name in OURS:
        raise ValueError(f"{name!r} is the name of a glasshouse solver; choose a different name")

    def add(solve: Solve) -> Solve:
        EXACT_SOLVERS.add(name, ExactSolver(solve, package, most_weight, is_apart, tells))
        return solve

    return add


def literals(problem: Max2Sat | MaxSat) -> list[tuple[int | None, list[int]]]:
    """Return (weight, literals) of each non-empty clause; a hard clause has the weight None."""
    if isinstance(problem, MaxSat):
        lists = [(None, clause) for clause in problem.hard.lists()]
        lists += zip(problem.weights.tolist(), problem.soft.lists(), strict=True)
        return [(weight, clause) for weight, clause in lists if clause]
    hard = [(None, clause) for clause in problem.hard.tolist()]
    soft = list(zip(problem.weights.tolist(), problem.clauses.tolist(), strict=True))
    return [(w, [x for x in clause if x]) for w, clause in [*hard, *soft] if any(clause)]
