"""The interface of an exact solver, and the catalogue of all solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from glasshouse.catalogue import Catalogue
from glasshouse.problems import Max2Sat, MaxSat

# Bits of the best assignment found, or None, and whether it was proven to be the best.
Answer: TypeAlias = tuple[list[int] | None, bool]
Solve: TypeAlias = Callable[..., Answer]
# A function that a solver may call with the bits of each better assignment while it works.
Tell: TypeAlias = Callable[[list[int]], object]

# Names of `solve --solver` that other solvers must not use.
OURS = ("anneal", "temper", "minimise", "brute", "prove")
EXACT_SOLVERS = Catalogue["ExactSolver"]("exact solver")

# Integer programs are solved in floats: an assignment that is feasible up to this tolerance may
# cost too little by the tolerance times all weights, which must stay below 1/2.
TOLERANCE = 1e-9


class RefusedError(ValueError):
    """Raised if a solver does not support a problem; the message states why.

    Attributes:
        names_arguments: whether the message names arguments, which are options of a command.
    """

    names_arguments = True


@dataclass(frozen=True)
class ExactSolver:
    """A third-party solver.

    Attributes:
        solve: solves clauses with integer weights within a time limit in seconds, or None. It
            imports its package when it is called. If `tells` is true, it takes a third argument.
        package: the package to install.
        most_weight: the largest sum of soft weights for exact answers; None for any.
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
    """Add a function to the catalogue of exact solvers; see `ExactSolver` for the arguments."""
    if name in OURS:
        raise ValueError(f"{name!r} is the name of a glasshouse solver; choose another name")

    def add(solve: Solve) -> Solve:
        EXACT_SOLVERS.add(name, ExactSolver(solve, package, most_weight, is_apart, tells))
        return solve

    return add


def literals(problem: Max2Sat | MaxSat) -> list[tuple[int | None, list[int]]]:
    """Return clauses with their weights, None for hard ones; the empty clause is left out."""
    if isinstance(problem, MaxSat):
        lists = [(None, clause) for clause in problem.hard.lists()]
        lists += zip(problem.weights.tolist(), problem.soft.lists(), strict=True)
        return [(weight, clause) for weight, clause in lists if clause]
    hard = [(None, clause) for clause in problem.hard.tolist()]
    soft = list(zip(problem.weights.tolist(), problem.clauses.tolist(), strict=True))
    return [(w, [x for x in clause if x]) for w, clause in [*hard, *soft] if any(clause)]
