"""Proving optima: lower bounds, states and certificates for any problem (paper, section 4.6)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Certificate, verify
from glasshouse.certificates.exact_form import ExactForm
from glasshouse.problems import Max2Sat, Problem, naming, validation
from glasshouse.problems.convert import Given, given_problem
from glasshouse.problems.naming import Labels, Units
from glasshouse.problems.reduction import to_spins
from glasshouse.proofs import kernels
from glasshouse.proofs.cycles import clause_cycles, make_certificate, walk_loops
from glasshouse.proofs.search import Bounds, Search, Statistics
from glasshouse.proofs.signed_graph import SignedGraph, Spins
from glasshouse.proofs.two_sat import satisfy
from glasshouse.summaries import Summarised

# Seconds that an enumeration may take: even where the time is up; and at most.
_SHORT, _LONG = 0.2, 10.0
_COUPLINGS_PER_SECOND = 2**28


@dataclass(frozen=True, repr=False)
class Proof(Summarised):
    """A state, a lower bound, and the certificate that shows it.

    Attributes:
        lower_bound: no state has a lower energy (cost, for MAX-2-SAT).
        state: the best state found: spins of an Ising problem or RBM, else 0/1.
        energy: its energy (or cost).
        optimal: whether the certificate proves it to be the least.
        enumerated: whether it is the least because all states that could be lower were looked at
            (of floats, up to rounding). A certificate cannot show that: whoever does not believe
            it has to enumerate again.
        certificate: loops from which `verify(problem, certificate)` finds the same bound.
        statistics: how it was found.
        labels: what the variables are called by who gave the problem; None for 0, 1, 2, …
    """

    lower_bound: Any
    state: Spins
    energy: Any
    optimal: bool
    certificate: Certificate
    statistics: Statistics
    enumerated: bool = False
    labels: Labels | None = None

    def sample(self, *, units: Units | None = None) -> dict[Any, int]:
        """The state as a mapping from label to value, see `AnnealResult.sample`."""
        return naming.sample_of(self.state, self.labels, units)

    @property
    def gap(self) -> Any:
        """`energy - lower_bound`."""
        return self.energy - self.lower_bound

    def summary(self) -> str:
        """For people.

        >>> from glasshouse.problems import Ising
        >>> triangle = Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [-1, -1, -1])
        >>> print(prove(triangle).summary())
        energy       -1
        lower bound  -1
        optimal      proven
        certificate  1 loop
        core         0 of 3 edges in 0 blocks
        LP           0 rounds, 0 cuts, ... s
        """
        rows = {"energy": self.energy, "lower bound": self.lower_bound}
        rows |= {"optimal": self.verdict_in_words(self.gap), **self.work_rows()}
        return "\n".join(f"{name:<11}  {value}" for name, value in rows.items())

    def verdict_in_words(self, gap: Any) -> str:
        """Whether the state is optimal, and how that is known; else the gap, as it is given."""
        if self.optimal:
            return "proven"
        how = "by enumeration, not certified" if self.enumerated else "not proven"
        return f"{how}, gap {gap}"

    def work_rows(self) -> dict[str, str]:
        """What was done, in names and values."""
        work = self.statistics
        over, count = self.certificate.denominator, self.certificate.num_loops
        rows = {
            "certificate": f"{count} loop{'s' * (count != 1)}"
            + (f", multipliers over {over}" if over > 1 else ""),
            "core": f"{work.core_edges} of {work.num_edges} edges in {work.blocks} blocks",
            "LP": f"{work.rounds} rounds, {work.cuts} cuts, {work.seconds:.2f} s",
        }
        if work.stopped is not None:
            rows["stopped"] = f"by {work.stopped}; more time may close the gap"
        return rows


def prove(
    problem: Given,
    *,
    time_limit: float | None = None,
    target: float | None = None,
    state: npt.ArrayLike | None = None,
    progress: Callable[[Bounds], object] | None = None,
) -> Proof:
    """Prove a lower bound on the energy, and find a state that (often) attains it.

    The linear relaxation with cycle inequalities is tight on every sum of frustrated loops, whether
    or not anybody knows the loops, on planar graphs, and on many sparse ones. Elsewhere the gap is
    reported as it is; there is no branching. States are found by rounding, by annealing where that
    leaves a gap, and in the end by enumeration where that takes seconds (`brute_force`).

    Args:
        problem: any problem; fields, hard clauses and floats included. Of a plant only the problem
            is looked at. A dimod model is one, too.
        time_limit: seconds, after which the best bound and state so far are returned. Ctrl-C
            during the search does the same.
        target: an energy; stop once no state can be below it.
        state: a state to start from, for instance a solver's best; it is never trusted.
        progress: called with `Bounds` after every LP solve.

    Raises:
        HardClausesUnsatisfiableError: no assignment satisfies the hard clauses.

    >>> from glasshouse.problems import Ising
    >>> ladder = Ising.from_edges(
    ...     4, [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)], [2, -1, 2, 1, 1], fields=[0, 1, 0, 0])
    >>> proof = prove(ladder)
    >>> proof.energy, proof.lower_bound, proof.optimal, proof.state
    (-6, -6, True, array([1, 1, 1, 1], dtype=int8))
    """
    problem = given_problem(problem)
    time_limit, target = validation.time_limit(time_limit), validation.energy(target)
    known = [] if state is None else [_spins(problem, state)]
    lighter = Fraction(0)
    if isinstance(problem, Max2Sat):
        known.append(_feasible(problem))
        graph, lighter = _light_graph(problem, known)
    else:
        graph = SignedGraph.of(problem)
    search = Search(graph, time_limit, target, progress)
    known.append(search.run(known))
    certificate = _certificate(problem, search, known, lighter)
    verdict, enumerated = verify(problem, certificate), False
    if not verdict.optimal and (lowest := _lowest(problem, search)) is not None:
        enumerated = True
        known.append(lowest)
        certificate = _certificate(problem, search, known, lighter)
        verdict = verify(problem, certificate)
    return Proof(
        verdict.lower_bound,
        problem.space.from_spins(certificate.state),
        verdict.energy,
        verdict.optimal,
        certificate,
        search.statistics(),
        enumerated and not verdict.optimal,
        problem.labels,
    )


def _certificate(
    problem: Problem, search: Search, known: list[Spins], lighter: Fraction
) -> Certificate:
    """The loops that the search found, at the best of the known states."""
    graph = search.graph
    loops, denominator = search.loops()
    spins = min((s * s[graph.ghost] for s in known), key=graph.cost)
    cycles = list(walk_loops(graph, loops, spins))
    denominator *= graph.loop_scale
    if isinstance(problem, Max2Sat):
        cycles += clause_cycles(problem, spins, lighter * denominator / 2)
    return make_certificate(cycles, spins[:-1], denominator)


def _lowest(problem: Problem, search: Search) -> Spins | None:
    """The best of all states; None where looking at them takes too long, or was stopped."""
    from glasshouse.solvers.exhaustive import Enumeration

    if search.interrupted:
        return None
    try:
        enumeration = Enumeration(problem)
    except ValueError:  # too many states, or too large weights
        return None
    seconds = min(max(search.deadline - time.monotonic(), _SHORT), _LONG)
    if enumeration.work > seconds * _COUPLINGS_PER_SECOND:
        return None
    try:
        # Of floats that are equal up to rounding, the very lowest comes first.
        return _spins(problem, enumeration.run(keep=64).states[0])
    except KeyboardInterrupt:
        search.interrupted = True
        return None


def _spins(problem: Problem, state: npt.ArrayLike) -> Spins:
    """A state of the problem as spins, the ghost's +1 behind them."""
    if np.ndim(state) > 1:
        raise ValueError(f"state has shape {np.shape(state)}; expected one state, not a batch")
    allowed = (problem.space.low, 1)
    own = validation.states(state, problem.num_variables, allowed, "state")
    return np.append(to_spins(own), np.int8(1))


def _feasible(problem: Max2Sat) -> Spins:
    """An assignment that satisfies the hard clauses, improved by single flips."""
    spins = _spins(problem, satisfy(problem.num_variables, problem.hard))
    better = spins.copy()
    graph = SignedGraph.of(problem)
    kernels.descend(*graph.rows, graph.couplings, better)
    better *= better[graph.ghost]
    return min(better, spins, key=graph.cost)


def _light_graph(problem: Max2Sat, known: list[Spins]) -> tuple[SignedGraph, Fraction]:
    """The graph with hard clauses no heavier than need be, and how much lighter they are.

    More than any known cost is enough to keep them, and floats lose less between numbers of
    similar size.
    """
    graph = SignedGraph.of(problem)
    if not problem.num_hard or not problem.is_integer:
        return graph, Fraction(0)
    least = min(Fraction(graph.value(graph.cost(spins)), graph.scale) for spins in known)
    enough = min(int(problem.hard_weight), 2 * int(least) + 1)
    lighter = ExactForm.of_max2sat(problem, enough)
    return SignedGraph.of_form(lighter), Fraction(problem.hard_weight - enough)
