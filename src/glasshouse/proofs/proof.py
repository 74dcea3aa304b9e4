"""Proving optima: lower bounds, states and certificates for any problem (paper, section 4.6)."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Certificate, ExactForm, Proven, Verdict
from glasshouse.compiled import announces
from glasshouse.problems import (
    Given,
    Labels,
    MaxSat,
    Polynomial,
    Units,
    given_problem,
    naming,
    validation,
)
from glasshouse.problems.expansion import to_pairs
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.polynomials import prove_polynomial
from glasshouse.proofs.preparation import Prepared, spins_of
from glasshouse.proofs.progress import (
    ELIMINATION,
    ENUMERATION,
    EVEN_COVERS,
    WEIGHTS,
    Bounds,
    Statistics,
)
from glasshouse.proofs.prover import Prover
from glasshouse.proofs.signed_graph import Spins
from glasshouse.summaries import Summarised, SummaryTable

# A gap below this fraction of the energy and of the weights is due to the search in floats.
_ROUNDING = Fraction(1, 10**9)


@dataclass(frozen=True, repr=False)
class Proof(Summarised):
    """A state, a lower bound, and the certificate that proves the bound.

    Attributes:
        proven: the problem, the certificate and the verdict.
        statistics: how the certificate was found.
        is_within_rounding: whether the gap is no larger than the rounding of floats.

    >>> import glasshouse as gh
    >>> proof = gh.prove(gh.Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [1, 1, -1]))
    >>> proof.optimal, proof.energy, proof.lower_bound, proof.gap, proof.is_within_rounding
    (True, -1, -1, 0, False)
    >>> proof.certificate, proof.verdict.bound, proof.state, proof.labels
    (Certificate(3 spins, 1 loop), Fraction(-1, 1), array([1, 1, 1], dtype=int8), None)
    >>> proof.sample(units="binary")
    {0: 1, 1: 1, 2: 1}
    >>> proof.verdict_in_words(proof.gap)
    'proven'
    >>> list(proof.work_rows())
    ['certificate', 'reduced to', 'time']
    """

    proven: Proven
    statistics: Statistics
    is_within_rounding: bool = False

    @property
    def certificate(self) -> Certificate:
        """The certificate that `verify` has accepted: loops and squares, in a tree if needed."""
        return self.proven.certificate

    @property
    def verdict(self) -> Verdict:
        """The result of `verify` for the certificate, with the exact bound and energy."""
        return self.proven.verdict

    @property
    def lower_bound(self) -> Any:
        """The proven bound: no state has a lower energy, or a lower cost for MAX-2-SAT."""
        return self.verdict.lower_bound

    @property
    def energy(self) -> Any:
        """The energy (or cost) of the state."""
        return self.verdict.energy

    @property
    def optimal(self) -> bool:
        """Whether the certificate proves the state to have the least energy."""
        return self.verdict.optimal

    @property
    def state(self) -> Spins:
        """The best state found: ±1 for an Ising problem or RBM, otherwise 0 and 1."""
        return self.proven.problem.space.from_spins(self.certificate.state)

    @property
    def labels(self) -> Labels | None:
        """The problem's variable labels; None if the variables are 0, 1 and so on."""
        return self.proven.problem.labels

    def sample(self, *, units: Units | None = None) -> dict[Any, int]:
        """Return the state as a mapping from labels to values (see `AnnealResult.sample`)."""
        return naming.sample_of(self.state, self.labels, units)

    @property
    def gap(self) -> Any:
        """The difference `energy - lower_bound`."""
        return self.energy - self.lower_bound

    def summary(self) -> str:
        """Return a human-readable table of energy, bound, verdict and work.

        >>> from glasshouse.problems import Ising
        >>> triangle = Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [-1, -1, -1])
        >>> print(prove(triangle).summary())
        energy       -1
        lower bound  -1
        optimal      proven
        certificate  1 loop
        reduced to   no edges, exactly: no LP was needed
        time         ... s
        """
        return "\n".join(f"{name:<11}  {value}" for name, value in self._summary_table().rows)

    def _summary_table(self) -> SummaryTable:
        """Return the table of energy, bound, verdict and work."""
        rows = {"energy": str(self.energy), "lower bound": str(self.lower_bound)}
        rows |= {"optimal": self.verdict_in_words(self.gap), **self.work_rows()}
        return SummaryTable(list(rows.items()))

    def verdict_in_words(self, gap: Any) -> str:
        """Return the verdict as text: "proven", or the given gap."""
        if self.optimal:
            return "proven"
        if self.is_within_rounding:
            return f"within {gap}, the limit of a search in floats"
        return f"not proven, gap {gap}"

    def work_rows(self) -> dict[str, str]:
        """Return the rows of the summary that describe the certificate and the search."""
        work, over = self.statistics, self.certificate.denominator
        rows = {
            "certificate": self.certificate.parts
            + (f", multipliers over {validation.shown(over)}" if over > 1 else ""),
        }
        if work.method == WEIGHTS:
            rows["bound"] = "that of the weights alone"
        elif work.method == EVEN_COVERS:
            rows["LP"] = f"{_some(work.rounds, 'round')}, {_some(work.cuts, 'cut')}"
        elif work.core_edges or work.method != ENUMERATION:
            rows["reduced to"] = "no edges, exactly: no LP was needed"
        if work.core_edges:
            blocks = _some(work.blocks, "block")
            rows["reduced to"] = f"{work.core_edges} of {work.num_edges} edges, in {blocks}"
            if work.rounds or work.method != ELIMINATION:
                rows["LP"] = f"{_some(work.rounds, 'round')}, {_some(work.cuts, 'cut')}"
        if work.nodes or work.method not in ("cycle LP", WEIGHTS):
            leaves = f"{work.leaves} lea{'f' if work.leaves == 1 else 'ves'}"
            nodes = f", {_some(work.nodes, 'node')}" if work.nodes else ""
            rows["tree"] = f"{leaves}{nodes}, by {work.method}"
        rows["time"] = f"{work.seconds:.2f} s"
        if work.stopped is not None:
            rows["stopped"] = f"by {work.stopped}; more time may close the gap"
        return rows


@announces("proving")
def prove(
    problem: Given,
    *,
    time_limit: float | None = None,
    target: float | None = None,
    state: npt.ArrayLike | None = None,
    progress: Callable[[Bounds], object] | None = None,
    node_limit: int | None = None,
    memory_limit: int | None = None,
    certificate: Certificate | None = None,
    checkpoint: Callable[[Certificate], object] | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    loops_only: bool = False,
    incumbent: Callable[[npt.NDArray[np.int8]], object] | None = None,
) -> Proof:
    """Prove a lower bound on the energy, and find a state that often attains the bound.

    The linear relaxation with cycle inequalities is tight on every sum of frustrated loops, whether
    or not the loops are known, on planar graphs, and on many sparse graphs. If it leaves a gap, all
    states of a small cover are enumerated, or a tree is searched, branching on pairs of spins until
    every leaf is closed. The vertices of a narrow graph are eliminated one by one, without an LP if
    the LP would take longer. A search can take exponential time; `time_limit`, `node_limit` and
    Ctrl-C end it with a valid bound.

    A polynomial of degree 3 or more is annealed, and proven by its weights, a small cover or even
    covers, in this process. Its certificates need no `checkpoint`, and ignore `loops_only`.

    Args:
        problem: any problem, including fields, hard clauses and floats, or a dimod model. Of a
            plant, only the problem is used.
        time_limit: the time limit in seconds, without compilation. The search then returns its best
            bound and state so far, as after Ctrl-C.
        target: an energy; the search stops once no state can be below it.
        state: a state to start from, for instance a solver's best; it is never trusted.
        progress: called with `Bounds` after every LP solve and every node.
        node_limit: the most nodes of a tree to bound; 1 is the root, without branching.
        memory_limit: the most bytes that a tree or the tables of an elimination may take; 4 GiB by
            default. Every leaf takes 10 to 100 kB, and an open node also stores the warm start of
            its relaxation.
        certificate: a certificate of this problem to resume from: its state is known, and only the
            open leaves of its tree are searched.
        checkpoint: called at intervals of at least 10 s with a certificate to resume from.
        workers: the number of processes that search the tree; None searches it in this process.
        executor: any `concurrent.futures.Executor` to use instead of workers, for example Dask's.
        loops_only: prove with loops alone, without squares, covers and orders, for VeriPB.
        incumbent: called with every better state during the search, for instance to print it.

    Raises:
        HardClausesUnsatisfiableError: no assignment satisfies the hard clauses.
        LinearProgramError: HiGHS failed; this is never treated as a time limit.

    >>> from glasshouse.problems import Ising
    >>> ladder = Ising.from_edges(
    ...     4, [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)], [2, -1, 2, 1, 1], fields=[0, 1, 0, 0])
    >>> proof = prove(ladder)
    >>> proof.energy, proof.lower_bound, proof.optimal, proof.state
    (-6, -6, True, array([1, 1, 1, 1], dtype=int8))
    """
    problem = given_problem(problem)
    time_limit, target = validation.time_limit(time_limit), validation.target(target)
    if node_limit is not None:
        node_limit = validation.count(node_limit, "node_limit", 1)
    if certificate is not None and not isinstance(certificate, Certificate):
        raise ValueError(
            f"certificate={certificate!r:.60} must be a Certificate; use files.read_certificate"
        )
    if workers is not None and executor is not None:
        raise ValueError("executor and workers were both given; pass at most one of them")
    if workers is not None:
        workers = validation.count(workers, "workers", 1)
    if memory_limit is not None:
        memory_limit = validation.count(memory_limit, "memory_limit", 1)
    if isinstance(problem, MaxSat):
        raise ValueError(
            f"prove does not support MaxSat (this problem has clauses of up to {problem.longest} "
            "literals); convert it with to_max2sat or to a polynomial (.hubo), or use an exact "
            "solver, whose answer is not a proof"
        )
    budget = Budget(time_limit, target, node_limit, memory_limit, progress)
    source = problem
    if isinstance(problem, Polynomial):
        if problem.degree > 2:
            return _of_polynomial(problem, budget, state, certificate, incumbent)
        problem = to_pairs(problem)[0]
    prepared = Prepared(problem, state, certificate)

    def tell(spins: Spins) -> None:
        assert incumbent is not None
        incumbent(source.space.from_spins(spins[:-1] * spins[-1]))

    prover = Prover(
        prepared, budget, start=certificate, checkpoint=checkpoint, workers=workers,
        executor=executor, loops_only=loops_only, incumbent=tell if incumbent else None,
    )  # fmt: skip
    proven = prover.run()
    if source is not problem:
        proven = Proven(source, proven.certificate)
    is_rounding = not proven.verdict.optimal and _is_rounding(proven.verdict, prepared.form)
    return Proof(proven, prover.statistics(proven), is_rounding)


def _of_polynomial(
    problem: Polynomial,
    budget: Budget,
    state: npt.ArrayLike | None,
    start: Certificate | None,
    incumbent: Callable[[npt.NDArray[np.int8]], object] | None,
) -> Proof:
    """Prove a polynomial of degree 3 or more."""
    known = [] if state is None else [spins_of(problem, state)[:-1]]
    before = None if start is None else Proven(problem, start)
    if before is not None:
        known.append(before.certificate.state)

    def report(spins: Spins) -> None:
        if incumbent is not None:
            incumbent(problem.space.from_spins(spins))

    proven, statistics = prove_polynomial(problem, known, budget, report)
    if before is not None and before.verdict.bound > proven.verdict.bound:
        proven = before
    return Proof(proven, statistics)


def _is_rounding(verdict: Verdict, form: ExactForm) -> bool:
    """Return whether a gap may be due to rounding, given the weights and the precision of floats.

    The search does not use the offset, but a large float offset limits the precision of energies.
    """
    size = max(abs(verdict.energy), abs(verdict.lower_bound))
    digits = 2 * math.ulp(size) if isinstance(size, float) else 0
    weight = min(Fraction(size), Fraction(form.total, form.scale))
    return bool(verdict.gap <= digits or verdict.gap <= _ROUNDING * weight)


def _some(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
