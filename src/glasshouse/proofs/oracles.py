"""Exact solvers of other people, where they are installed: one call for all of them.

They solve the problem's MAX-2-SAT form. `prove` needs none of them; they are there to agree with it
and to be compared with it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.extras import MissingPackageError, optional
from glasshouse.problems import Max2Sat, Problem, validation
from glasshouse.problems.convert import to_max2sat
from glasshouse.proofs.interruption import interruptible
from glasshouse.proofs.two_sat import satisfy
from glasshouse.summaries import Summarised

Solver: TypeAlias = Literal[
    "rc2", "rc2-stratified", "rc2-stratified-edge", "toulbar2", "scip", "highs"
]

# Bits of the best assignment found (None: none) and whether it was proven to be the best.
_Answer: TypeAlias = tuple[list[int] | None, bool]

# Up to which sum of soft weights an answer can be trusted. Integer programs are solved in floats:
# an assignment that is feasible up to _TOLERANCE costs up to _TOLERANCE times all weights too
# little, which must stay below half of the least difference of two costs, 1/2. toulbar2 passes
# costs as doubles and scales them.
_TOLERANCE = 1e-9
_MOST_WEIGHT = {"toulbar2": 2**45, "scip": 2**28, "highs": 2**28}


@dataclass(frozen=True, repr=False)
class ExactResult(Summarised):
    """What an exact solver found.

    Attributes:
        solver: its name.
        state: the best state, in the problem's own values; None if the solver has none to show.
        energy: of that state.
        optimal: whether the solver says that it is the best.
        seconds: wall-clock time, without the conversion.
    """

    solver: str
    state: npt.NDArray[np.int8] | None
    energy: Any
    optimal: bool
    seconds: float


def solve_exactly(
    problem: Problem, *, solver: Solver = "rc2-stratified", time_limit: float | None = None
) -> ExactResult:
    """Solve a problem with an exact solver.

    Args:
        problem: any problem with integer weights; for toulbar2, SCIP and HiGHS, which compute in
            floats, not too large ones.
        solver: "rc2" (PySAT's RC2 as it comes: core-guided MaxSAT), "rc2-stratified" (PySAT's
            RC2Stratified: heavy clauses first, which is far faster where weights differ),
            "rc2-stratified-edge" (the same with one relaxation variable for both clauses of an
            edge), "toulbar2" (branch and bound on cost functions), "scip" or "highs" (integer
            programs).
        time_limit: seconds.

    Ctrl-C ends RC2 and HiGHS within a second.

    Raises:
        MissingPackageError: the solver is not installed.
        ValueError: it failed, or cannot tell weights this large apart.
        HardClausesUnsatisfiableError: no assignment satisfies the hard clauses.

    >>> from glasshouse.problems import Ising
    >>> triangle = Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [-1, -1, -1])
    >>> solve_exactly(triangle, solver="highs").energy
    -1
    """
    if solver not in _SOLVERS:
        raise ValueError(f"solver={solver!r} is not known; there are {', '.join(_SOLVERS)}")
    time_limit = validation.time_limit(time_limit)
    clauses, reduction = to_max2sat(problem)
    clauses = clauses.simplified()
    if not clauses.is_integer:
        raise ValueError(f"{solver} needs integer weights, but these are floats")
    feasible = satisfy(clauses.num_variables, clauses.hard)
    total = sum(weight for weight, _ in _literals(clauses) if weight is not None)
    if total > _MOST_WEIGHT.get(solver, total):
        raise ValueError(
            f"weights add up to {total}, but {solver} computes in floats and is exact only up to "
            f"{_MOST_WEIGHT[solver]}; use solver='rc2-stratified', or prove"
        )
    start = time.perf_counter()
    try:
        if total:
            bits, optimal = _SOLVERS[solver](clauses, time_limit)
        else:  # not every solver takes a problem without an objective
            bits, optimal = feasible.tolist(), True
    except MissingPackageError:
        raise
    except Exception as error:  # each solver has kinds of its own
        raise ValueError(
            f"solver={solver!r} failed with {type(error).__name__}: {error}; use "
            "solver='rc2-stratified', or prove"
        ) from error
    seconds = time.perf_counter() - start
    if bits is None:
        return ExactResult(solver, None, None, False, seconds)
    state = reduction.back(bits)
    return ExactResult(solver, state, problem.energy(state), optimal, seconds)


def _literals(problem: Max2Sat) -> list[tuple[int | None, list[int]]]:
    """Clauses with their weights, hard ones with None; the empty clause, a constant, goes."""
    hard = [(None, clause) for clause in problem.hard.tolist()]
    soft = list(zip(problem.weights.tolist(), problem.clauses.tolist(), strict=True))
    return [(w, [x for x in clause if x]) for w, clause in [*hard, *soft] if any(clause)]


def _rc2(problem: Max2Sat, time_limit: float | None) -> _Answer:
    return _compute("RC2", _formula(problem), problem.num_variables, time_limit)


def _rc2_stratified(problem: Max2Sat, time_limit: float | None) -> _Answer:
    return _compute("RC2Stratified", _formula(problem), problem.num_variables, time_limit)


def _formula(problem: Max2Sat) -> Any:
    formula = optional("pysat.formula", "solver='rc2'").WCNF()
    for weight, clause in _literals(problem):
        formula.append(clause, weight=weight)
    return formula


def _rc2_stratified_edge(problem: Max2Sat, time_limit: float | None) -> _Answer:
    formula = optional("pysat.formula", "solver='rc2-stratified-edge'").WCNF()
    relaxed: dict[tuple[int, ...], tuple[int, int]] = {}
    for weight, clause in _literals(problem):
        opposite = tuple(sorted(-x for x in clause))
        if weight is None or len(clause) == 1:
            formula.append(clause, weight=weight)
            continue
        # Of l ∨ m and ¬l ∨ ¬m at most one is false: they can share what their weights share.
        variable, shared = relaxed.get(opposite, (0, 0))
        if weight != shared:
            variable = problem.num_variables + len(relaxed) + 1
            relaxed[tuple(sorted(clause))] = variable, weight
            formula.append([-variable], weight=weight)
        formula.append([*clause, variable])
    return _compute("RC2Stratified", formula, problem.num_variables, time_limit)


def _compute(variant: str, formula: Any, num_variables: int, time_limit: float | None) -> _Answer:
    rc2 = optional("pysat.examples.rc2", "solver='rc2'")
    running: list[Any] = []

    def work() -> list[int] | None:
        with getattr(rc2, variant)(formula) as solver:  # freed by whoever uses it
            running.append(solver)
            model: list[int] | None = solver.compute(expect_interrupt=True)
            return model

    model = interruptible(work, lambda: [s.interrupt() for s in running], time_limit)
    if model is None:
        return None, False
    true = {literal for literal in model if literal > 0}
    return [int(v in true) for v in range(1, num_variables + 1)], True


def _toulbar2(problem: Max2Sat, time_limit: float | None) -> _Answer:
    pytoulbar2 = optional("pytoulbar2", "solver='toulbar2'")
    top = int(problem.hard_weight)
    network = pytoulbar2.CFN(top, vac=0)
    for variable in range(problem.num_variables):
        network.AddVariable(f"x{variable + 1}", range(2))
    for weight, clause in _literals(problem):
        scope = [abs(x) - 1 for x in clause]
        costs = [0] * 2 ** len(clause)
        # Falsified where every literal is false; the table's last variable runs fastest.
        place = sum((x < 0) << k for k, x in enumerate(reversed(clause)))
        costs[place] = top if weight is None else weight
        network.AddFunction(scope, costs)
    answer = network.Solve(timeLimit=math.ceil(time_limit or 0), showSolutions=0)
    if not answer:
        return None, False
    return [int(bit) for bit in answer[0]], bool(network.GetDDualBound() >= answer[1])


def _scip(problem: Max2Sat, time_limit: float | None) -> _Answer:
    pyscipopt = optional("pyscipopt", "solver='scip'")
    model = pyscipopt.Model()
    model.hideOutput()
    for name in ("sumepsilon", "feastol", "dualfeastol"):
        model.setParam(f"numerics/{name}", _TOLERANCE)
    if time_limit is not None:
        model.setParam("limits/time", time_limit)
    variables = [model.addVar(vtype="B") for _ in range(problem.num_variables)]
    cost: Any = 0
    for weight, clause in _literals(problem):
        relaxed: Any = 0
        if weight is not None:
            relaxed = model.addVar(lb=0, ub=1)
            cost += weight * relaxed
        literals = [variables[abs(x) - 1] if x > 0 else 1 - variables[abs(x) - 1] for x in clause]
        model.addCons(pyscipopt.quicksum(literals) + relaxed >= 1)
    model.setObjective(cost, "minimize")
    model.optimize()
    if not model.getNSols():
        return None, False
    best: Any = model.getBestSol()
    return [round(best[x]) for x in variables], model.getStatus() == "optimal"


def _highs(problem: Max2Sat, time_limit: float | None) -> _Answer:
    import highspy

    make: Any = highspy.Highs
    solver = make()
    solver.setOptionValue("output_flag", False)
    # The default stops within 0.01 % of the optimum, which is not exact.
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", 0.0)
    for name in ("mip", "primal", "dual"):
        solver.setOptionValue(f"{name}_feasibility_tolerance", _TOLERANCE)
    if time_limit is not None:
        solver.setOptionValue("time_limit", float(time_limit))
    clauses = _literals(problem)
    weights = [weight for weight, _ in clauses if weight is not None]
    size = problem.num_variables
    count = size + len(weights)
    solver.addVars(count, np.zeros(count), np.ones(count))
    columns = np.arange(count, dtype=np.int32)
    solver.changeColsCost(count, columns, np.array([0.0] * size + [float(w) for w in weights]))
    kinds = np.full(size, highspy.HighsVarType.kInteger)
    solver.changeColsIntegrality(size, columns[:size], kinds)
    relaxation = size
    for weight, clause in clauses:
        indices, values = [abs(x) - 1 for x in clause], [1.0 if x > 0 else -1.0 for x in clause]
        least = 1.0 - sum(x < 0 for x in clause)
        if weight is not None:
            indices.append(relaxation)
            values.append(1.0)
            relaxation += 1
        row = np.array(indices, dtype=np.int32), np.array(values)
        solver.addRow(least, highspy.kHighsInf, len(indices), *row)
    solver.HandleUserInterrupt = True
    interruptible(solver.run, solver.cancelSolve)
    solution = solver.getSolution()
    if not solution.value_valid:
        return None, False
    optimal = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return [round(x) for x in solution.col_value[:size]], bool(optimal)


_SOLVERS: dict[str, Callable[[Max2Sat, float | None], _Answer]] = {
    "rc2": _rc2,
    "rc2-stratified": _rc2_stratified,
    "rc2-stratified-edge": _rc2_stratified_edge,
    "toulbar2": _toulbar2,
    "scip": _scip,
    "highs": _highs,
}
