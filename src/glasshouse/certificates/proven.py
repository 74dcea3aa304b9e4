"""Proven: a certificate that the verifier has accepted, with its problem and the verdict.

This is the one type of truth. Whatever a file, a solver or a planting method says is only stated.
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
    """A problem, a certificate, and what the certificate proves of the problem.

    Making one runs the verifier, whatever makes it: a call, `dataclasses.replace`, a copy, or
    reading a pickle. A certificate that does not fit the problem is a `CertificateError`.

    Attributes:
        problem: what the certificate was verified for; nobody can write to its arrays.
        certificate: the state, and the loops and squares that bound all energies.
        verdict: what `verify` returned. It may be a bound only; see `Verdict.optimal`.

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
        raise TypeError("Proven has no subclasses, because one of them could skip the verifier")

    def __reduce__(self) -> tuple[type[Proven], tuple[Problem, Certificate]]:
        return Proven, (self.problem, self.certificate)  # copies and pickles are verified anew

    def __repr__(self) -> str:
        verdict = self.verdict
        energy, bound = map(validation.shown, (verdict.energy, verdict.lower_bound))
        what = f"{energy} is the optimum" if verdict.optimal else f"{bound} ≤ optimum ≤ {energy}"
        return f"Proven({what}, by {self.certificate.parts})"


def _locked(thing: Any) -> Any:
    """The same problem or certificate; made anew if somebody can write to one of its arrays.

    Unpickled and deeply copied arrays can be written to.
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
    """The arrays of a field: its own, or those of a sparse matrix."""
    if hasattr(value, "indptr"):
        return [value.data, value.indices, value.indptr]
    held = value if isinstance(value, (Monomials, Clauses)) else [value]
    return [array for array in held if isinstance(array, np.ndarray)]
