"""Exact solvers that run in this process, without a problem file or a command.

Their answers are judged like those of any other solver, and are not trusted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from threading import Timer
from typing import Any

from glasshouse.extras import MissingPackageError
from glasshouse.files.clause_file import ClauseFile, as_problem
from glasshouse.problems.hard_clauses import HardClausesUnsatisfiableError
from glasshouse.proofs.exact import EXACT_SOLVERS, RefusedError, solve_exactly
from glasshouse.races.judging.answer import Answer
from glasshouse.races.samplers import SAMPLERS

BuiltIn = Callable[[ClauseFile, float], Answer]

_UNKNOWN = Answer(("UNKNOWN",), (), None, ())
_UNSATISFIABLE = Answer(("UNSATISFIABLE",), (), None, ())

NAMES = tuple(EXACT_SOLVERS)


def package_of(name: str) -> str:
    """Return the name of the Python package that provides an exact solver or a sampler."""
    return (EXACT_SOLVERS if name in EXACT_SOLVERS else SAMPLERS)[name].package


def version_of(name: str) -> str | None:
    """Return the package and version of a solver or sampler, or None if it is not installed."""
    package = package_of(name)
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return None


def built_in(name: str) -> BuiltIn:
    """Return a function that solves clauses within a time limit with the built-in solver `name`.

    Raises:
        ValueError: no solver has this name.
        MissingPackageError: the solver is not installed.

    >>> answer = built_in("rc2")(ClauseFile(2, ((2, (1, 2)), (3, (-1,)), (1, (-2,))), ()), 10.0)
    >>> answer.status, answer.value, answer.model(2)
    ('OPTIMUM FOUND', 1, [0, 1])
    """
    if name not in NAMES:
        raise ValueError(f"solver={name!r} is not one of {', '.join(NAMES)}")
    refuse_missing(name)
    if name in ("rc2", "rc2-stratified"):
        return lambda clauses, seconds: _rc2(clauses, seconds, name == "rc2-stratified")
    return lambda clauses, seconds: _oracle(clauses, seconds, name)


def refuse_missing(name: str) -> None:
    """Raise MissingPackageError, with the install command, if a solver is not installed."""
    if version_of(name) is None:
        raise MissingPackageError(
            f"solver={name!r} is not installed; use pip install {package_of(name)}"
        )


def _rc2(clauses: ClauseFile, seconds: float, is_stratified: bool) -> Answer:
    """Solve clauses with RC2; add the weights of empty clauses afterwards, as RC2 refuses them."""
    from pysat.examples.rc2 import RC2, RC2Stratified
    from pysat.formula import WCNF

    formula = WCNF()
    for clause in clauses.hard:
        formula.append(list(clause))
    for weight, clause in clauses.soft:
        if weight and clause:
            formula.append(list(clause), weight=weight)
    always = sum(weight for weight, clause in clauses.soft if not clause)
    start = time.monotonic()
    make: Any = RC2Stratified if is_stratified and formula.soft else RC2
    with make(formula) as solver:
        timer = Timer(seconds, solver.interrupt)
        timer.daemon = True
        timer.start()
        model = solver.compute(expect_interrupt=True)
        timer.cancel()
        if model is None:
            return _UNKNOWN if solver.interrupted else _UNSATISFIABLE
        # RC2 does not know the variables of clauses that were left out above.
        unseen = sorted(clauses.used - set(map(abs, model)))
        return _optimum(time.monotonic() - start, int(solver.cost) + always, [*model, *unseen])


def _oracle(clauses: ClauseFile, seconds: float, name: str) -> Answer:
    """Solve the clauses with the exact solver `name` of `solve_exactly`."""
    try:
        problem = as_problem(clauses)
    except ValueError as fault:
        raise RefusedError(f"{name} needs weights whose sum is at most 2^63-1: {fault}") from None
    try:
        found = solve_exactly(problem, solver=name, time_limit=seconds)
    except HardClausesUnsatisfiableError:
        return _UNSATISFIABLE
    if found.state is None or not found.optimal:
        return _UNKNOWN
    literals = [k if bit else -k for k, bit in enumerate(found.state.tolist(), 1)]
    return _optimum(found.seconds, int(found.energy), literals)


def _optimum(seconds: float, cost: int, literals: list[int]) -> Answer:
    return Answer(("OPTIMUM FOUND",), ((seconds, cost),), tuple(map(str, literals)), ())
