"""Problems for races of samplers, with their proven or best known energies."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from glasshouse.certificates import Proven
from glasshouse.files import Known, read_document
from glasshouse.landscape.local import TOLERANCE
from glasshouse.planting import Planted
from glasshouse.problems import Ising, Max2Sat, MaxSat, Polynomial, Qubo, Rbm, exchange, pairs
from glasshouse.problems.convert import Given, given_problem, to_ising
from glasshouse.problems.reduction import Reduction
from glasshouse.problems.validation import Number
from glasshouse.suites.loading import Suite, load_suite
from glasshouse.suites.standard import SuiteInstance
from glasshouse.summaries import Summarised

if TYPE_CHECKING:
    import dimod

SuiteLike: TypeAlias = str | Path | Suite | Given | Iterable[Given] | Mapping[Any, Given]

# A stated energy may have the rounding error of single-precision sums, as a fraction of all
# weights, but never half the least difference of two energies.
_STATED, _LEAST_GAP = 1e-6, 0.25


@dataclass(frozen=True, eq=False, repr=False)
class RacedProblem(Summarised):
    """A problem as a dimod model for samplers, with its proven or best known energy.

    Attributes:
        name: the name of the instance.
        problem: the problem that evaluates samples.
        bqm: the model; each call gets a copy.
        parameters: the parameters that the problem was grown with; empty if unknown.
        optimum: the least energy; None if it is not proven.
        best: the energy of a state that came with the problem, proven or not.
    """

    name: str
    problem: Ising | Rbm | Qubo
    bqm: dimod.BinaryQuadraticModel
    parameters: Mapping[str, Any]
    optimum: Number | None = None
    best: Number | None = None

    @property
    def num_variables(self) -> int:
        """The number of variables of the problem."""
        return self.problem.num_variables

    def model(self) -> Any:
        """Return a copy of the model, which a sampler may change."""
        model: Any = self.bqm
        return model.copy()

    @property
    def rounding(self) -> float:
        """The difference below which two energies count as equal; 0 for integer problems."""
        return 0.0 if self.problem.is_integer else TOLERANCE * self._magnitude

    @property
    def stated_tolerance(self) -> float:
        """The allowed error in the energies that a sampler states as floats."""
        loose = _STATED * self._magnitude
        if self.problem.is_integer:
            loose = min(loose, _LEAST_GAP)
        return max(loose, TOLERANCE * self._magnitude)

    @property
    def _magnitude(self) -> float:
        return float(self.problem.total_weight) + abs(float(self.problem.offset))

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the problem, including the names of its variables."""
        problem, total = self.problem, hashlib.sha256()
        labels = pairs.labels_of(problem)
        total.update(repr((self.bqm.vartype.name, problem.offset, labels)).encode())
        for array in (problem.edges, problem.weights, pairs.single_terms(problem)):
            total.update(f"{array.dtype.str} {array.shape}".encode())
            total.update(np.ascontiguousarray(array).tobytes())
        return total.hexdigest()


@dataclass(frozen=True, repr=False)
class StoredProblem(Summarised):
    """A problem of a race as described in a store, without its couplings and fields.

    Attributes:
        name: the name of the instance.
        parameters: the parameters that the problem was grown with.
        num_variables: the number of variables; 0 in old stores, which do not contain this number.
        optimum: the least energy; None if it was not proven.
        best: the energy of a state that came with the problem.
        rounding: the difference below which two energies count as equal; 0 for integer problems.
    """

    name: str
    parameters: Mapping[str, Any]
    num_variables: int
    optimum: Number | None
    best: Number | None
    rounding: float


def raced_problems(suite: SuiteLike, cache: str | Path | None = None) -> list[RacedProblem]:
    """Return all problems of a suite for a race, after verifying all their proofs.

    Args:
        suite: a suite, as for `race`.
        cache: the folder for a grown suite; None stores nothing.

    Raises:
        CertificateError: a plant or a file states something false.
        ValueError: something is not a problem, or too large for dimod's floats.
    """
    if isinstance(suite, (str, Path)):
        if cache is not None:
            return raced_problems(load_suite(suite, cache, any_format=True))
        with tempfile.TemporaryDirectory(prefix="glasshouse-suite-") as folder:
            return raced_problems(load_suite(suite, folder, any_format=True))
    if isinstance(suite, Suite):
        return [_named(one.name, lambda one=one: _of_file(one)) for one in suite.instances]
    named = suite.items() if isinstance(suite, Mapping) else _numbered(suite)
    found = [_named(str(name), lambda n=name, t=thing: _of(str(n), t)) for name, thing in named]
    if not found:
        raise ValueError("the suite is empty; pass at least one problem")
    if len({one.name for one in found}) < len(found):
        raise ValueError("two problems of the suite have the same name; use different names")
    return found


def _named(name: str, make: Any) -> RacedProblem:
    """Call `make`, and put the problem's name in front of the message of any error."""
    try:
        made: RacedProblem = make()
    except ValueError as fault:
        raise type(fault)(f"{name}: {fault}") if type(fault) is ValueError else fault from None
    return made


def _numbered(suite: Any) -> Iterable[tuple[str, Any]]:
    kinds = (Ising, Rbm, Qubo, Max2Sat, MaxSat, Polynomial, Proven)
    is_one = exchange.is_bqm(suite) or isinstance(suite, kinds)
    is_one = is_one or hasattr(suite, "proven")  # a plant, a proof or a document
    things = [suite] if is_one else suite
    try:
        things = list(things)
    except TypeError:
        raise ValueError(
            f"suite={suite!r:.60} must be a suite's name, a TOML file, a folder, a loaded Suite, "
            "a problem, or a list or dict of problems"
        ) from None
    return [(f"{_kind(thing)}#{k}", thing) for k, thing in enumerate(things)]


def _kind(thing: Any) -> str:
    return thing.recipe.method if isinstance(thing, Planted) else type(thing).__name__


def _of(name: str, thing: Any) -> RacedProblem:
    if isinstance(thing, Planted):
        parameters = {"method": thing.recipe.method, **thing.recipe.parameters}
        return _raced(name, thing.problem, parameters, Known.of(thing.proven))
    proven = getattr(thing, "proven", thing)
    if isinstance(proven, Proven):
        return _raced(name, proven.problem, {}, Known.of(proven))
    if exchange.is_bqm(thing):
        problem = given_problem(thing)
        assert not isinstance(problem, (Max2Sat, MaxSat, Polynomial))
        return RacedProblem(name, problem, thing.copy(), {})
    return _raced(name, given_problem(thing), {}, Known())


def _of_file(instance: SuiteInstance) -> RacedProblem:
    problem = read_document(instance.path).problem
    return _raced(instance.name, problem, instance.parameters, instance.known)


def _raced(name: str, problem: Any, parameters: Mapping[str, Any], known: Known) -> RacedProblem:
    """Prepare a problem for a race; clauses and polynomials are reduced to pairs of spins.

    Polynomials need ancillas. The energies for clauses are scaled and shifted costs.
    """
    reduction: Reduction | None = None
    if isinstance(problem, (Max2Sat, MaxSat, Polynomial)):
        problem, reduction = to_ising(problem)

    def energy(cost: Any) -> Number | None:
        if cost is None:
            return None
        exact: Number = cost if reduction is None else reduction.target_energy(cost)
        return exact if problem.is_integer else float(exact)  # JSON does not have fractions

    optimum, best = energy(known.optimum), energy(known.best)
    return RacedProblem(name, problem, problem.to_bqm(), dict(parameters), optimum, best)
