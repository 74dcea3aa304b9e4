"""The type `Proven`: a problem, a certificate that the verifier has accepted, and the verdict.

This is the only type that stands for a proof. Statements of files and solvers are only claims.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, NoReturn

import numpy as np

from glasshouse.certificates.certificate import Certificate
from glasshouse.certificates.verdict import Verdict, verify
from glasshouse.problems import Clauses, MaxSat, Problem, given_problem, validation
from glasshouse.problems.monomials import Monomials
from glasshouse.summaries import Summarised


@dataclass(frozen=True, eq=False, repr=False)
class Proven(Summarised):
    """A problem with a verified certificate, and what the certificate proves about the problem.

    Every creation runs the verifier: a call, `dataclasses.replace`, a copy, or unpickling.
    A certificate that does not fit the problem raises a `CertificateError`.

    Attributes:
        problem: the problem that the certificate was verified for; its arrays are read-only.
        certificate: the state, and the loops and squares that bound all energies.
        verdict: the result of `verify`, which may be only a bound; see `Verdict.optimal`.

    >>> from glasshouse.problems import Ising
    >>> square = Ising.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [4, 4, 4, -3])
    >>> Proven(square, Certificate([1, 1, 1, 1], [0, 1, 2, 3], [0, 4], [3]))
    Proven(-9 is the optimum, by 1 loop)
    >>> Proven(square, Certificate([1, 1, 1, 1], [], [0], []))
    Proven(-15 ≤ optimum ≤ -9, by 0 loops)
    """

    problem: Problem
    certificate: Certificate
    verdict: Verdict = field(init=False)

    def __post_init__(self) -> None:
        problem, certificate = _locked(given_problem(self.problem)), _locked(self.certificate)
        object.__setattr__(self, "problem", problem)
        object.__setattr__(self, "certificate", certificate)
        object.__setattr__(self, "verdict", verify(problem, certificate))

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("Proven cannot be subclassed, because a subclass could skip the verifier")

    def __reduce__(self) -> tuple[type[Proven], tuple[Problem, Certificate]]:
        return Proven, (self.problem, self.certificate)  # copies and pickles are verified again

    def __repr__(self) -> str:
        verdict = self.verdict
        energy, bound = map(validation.shown, (verdict.energy, verdict.lower_bound))
        what = f"{energy} is the optimum" if verdict.optimal else f"{bound} ≤ optimum ≤ {energy}"
        return f"Proven({what}, by {self.certificate.parts})"


def _locked(thing: Any) -> Any:
    """Return a problem or certificate with read-only arrays, copied if an array is writable.

    Unpickled and deep-copied arrays are writable.
    """
    held = [getattr(thing, one.name) for one in fields(thing)]
    arrays = [array for value in held for array in _arrays(value)]
    if isinstance(thing, Certificate):
        squares, cores = _locked(thing.squares), _locked(thing.cores)
        if squares is not thing.squares or cores is not thing.cores:
            return replace(thing, squares=squares, cores=cores)
    is_open = any(array.size and validation.is_writable(array) for array in arrays)
    if is_open and isinstance(thing, MaxSat):  # its fields are not the arguments that make it
        return MaxSat(thing.num_variables, thing.soft, thing.weights, thing.hard, thing.labels)
    return replace(thing) if is_open else thing


def _arrays(value: Any) -> list[Any]:
    """Return the arrays of a field: the array itself, or those of a sparse matrix."""
    if hasattr(value, "indptr"):
        return [value.data, value.indices, value.indptr]
    held = value if isinstance(value, (Monomials, Clauses)) else [value]
    return [array for array in held if isinstance(array, np.ndarray)]
