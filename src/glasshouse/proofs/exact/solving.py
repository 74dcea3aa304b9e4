"""`solve_exactly`: one function for all third-party exact solvers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.extras import MissingPackageError
from glasshouse.problems import Max2Sat, MaxSat, Problem, to_max2sat, validation
from glasshouse.problems.convert import unchanged
from glasshouse.problems.hard_clauses import HardClausesUnsatisfiableError, satisfy
from glasshouse.proofs.exact.apart import solve_apart
from glasshouse.proofs.exact.solver import (
    EXACT_SOLVERS,
    ExactSolver,
    RefusedError,
    literals,
)
from glasshouse.summaries import Summarised


@dataclass(frozen=True, repr=False)
class ExactResult(Summarised):
    """The result of an exact solver.

    Attributes:
        solver: the name of the solver.
        state: the best state, in the problem's own values; None if the solver found no state.
        energy: the energy of the state.
        optimal: whether the solver states that the state is optimal.
        seconds: the wall-clock time in seconds, without the conversion of the problem.
    """

    solver: str
    state: npt.NDArray[np.int8] | None
    energy: Any
    optimal: bool
    seconds: float


def solve_exactly(
    problem: Problem,
    *,
    solver: str = "rc2-stratified",
    time_limit: float | None = None,
    incumbent: Callable[[npt.NDArray[np.int8]], object] | None = None,
) -> ExactResult:
    """Solve a problem with a third-party exact solver.

    Args:
        problem: any problem with integer weights. Their sum must be at most 2^61 for CP-SAT, and
            less for toulbar2, SCIP, HiGHS and dwave-tree, which compute in floats.
        solver: a name in `EXACT_SOLVERS`: "rc2" (PySAT's RC2 with default options: core-guided
            MaxSAT), "rc2-stratified" (PySAT's RC2Stratified: heavy clauses first, which is far
            faster if weights differ), "rc2-stratified-edge" (with one relaxation variable for both
            clauses of an edge), "toulbar2" (branch and bound on cost functions), "scip" or
            "highs" (integer programs), "cpsat" (clause learning with linear programs), "dwave-tree"
            (dynamic programming; refuses graphs of treewidth above 25).
        time_limit: the time limit in seconds.
        incumbent: called in any thread with each better state that cpsat or highs finds, and with
            the last state of scip. It has received the best state even after Ctrl-C.

    Ctrl-C ends every solver within about a second.

    Raises:
        MissingPackageError: the solver is not installed.
        ValueError: the solver failed.
        RefusedError: the solver does not support this problem, or is not exact for its weights.
        HardClausesUnsatisfiableError: no assignment satisfies the hard clauses.

    >>> from glasshouse.problems import Ising
    >>> triangle = Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [-1, -1, -1])
    >>> solve_exactly(triangle, solver="highs").energy
    -1
    """
    known = EXACT_SOLVERS.find(solver, "solver")
    time_limit = validation.time_limit(time_limit)
    clauses: Max2Sat | MaxSat
    if isinstance(problem, MaxSat):
        clauses, reduction = unchanged(problem)
    else:
        clauses, reduction = to_max2sat(problem)
    clauses = clauses.simplified()
    if not clauses.is_integer:
        raise ValueError(f"{solver} needs integer weights, but these weights are floats; use prove")
    feasible, clauses = _feasible(clauses)
    total = sum(weight for weight, _ in literals(clauses) if weight is not None)
    if known.most_weight is not None and total > known.most_weight:
        raise RefusedError(
            f"{solver} is exact only up to a total weight of {known.most_weight}: the weights add "
            f"up to {total}; use solver='rc2-stratified', or use prove"
        )

    def tell(bits: list[int]) -> None:
        if incumbent is not None:
            incumbent(reduction.back(bits))

    start = time.perf_counter()
    # Some solvers do not accept a problem without an objective.
    bits, optimal = feasible, True
    if total or feasible is None:
        with _errors_in_our_words(solver, known):
            if known.is_apart:
                bits, optimal = solve_apart(known, clauses, time_limit, tell)
            else:
                listeners = (tell,) if known.tells else ()
                bits, optimal = known.solve(clauses, time_limit, *listeners)
    seconds = time.perf_counter() - start
    if bits is None:
        return ExactResult(solver, None, None, False, seconds)
    state = reduction.back(bits)
    if optimal and isinstance(problem, MaxSat) and problem.broken(state):
        raise HardClausesUnsatisfiableError(f"{solver} found the hard clauses unsatisfiable")
    return ExactResult(solver, state, problem.energy(state), optimal, seconds)


def _feasible(clauses: Max2Sat | MaxSat) -> tuple[list[int] | None, Max2Sat | MaxSat]:
    """Return bits that satisfy the hard clauses (None if unknown), and the clauses to solve.

    The bits are None if the solver must find them. Some solvers need an objective, so clauses
    without an objective get one, which is ignored.
    """
    if isinstance(clauses, Max2Sat):
        return satisfy(clauses.num_variables, clauses.hard).tolist(), clauses
    if not clauses.num_hard:
        return [0] * clauses.num_variables, clauses
    if not clauses.hard.lengths.all():
        raise HardClausesUnsatisfiableError("a hard clause is empty, so no assignment is feasible")
    if not clauses.soft.lengths.any():
        clauses = MaxSat(clauses.num_variables, [[1]], [1], clauses.hard)
    return None, clauses


@contextmanager
def _errors_in_our_words(solver: str, known: ExactSolver) -> Iterator[None]:
    """Convert a solver's exceptions to errors that `solve_exactly` documents."""
    try:
        yield
    except (MissingPackageError, RefusedError, HardClausesUnsatisfiableError):
        raise
    except ImportError as error:
        raise MissingPackageError(
            f"solver={solver!r} needs {known.package}, which cannot be imported ({error})"
        ) from error
    except Exception as error:  # each solver has its own exceptions
        raise ValueError(
            f"solver={solver!r} failed with {type(error).__name__}: {error}; use "
            "solver='rc2-stratified', or use prove"
        ) from error
