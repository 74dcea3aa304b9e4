"""What a certificate proves about a problem: one linear pass in exact integers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from glasshouse.planting.certificate import Certificate, CertificateError
from glasshouse.problems import Ising, Max2Sat, Problem, Rbm
from glasshouse.proofs.graph import SignedGraph


@dataclass(frozen=True)
class Verdict:
    """What was proven, in the problem's own numbers.

    Floats are whole numbers over a power of two, so float problems are checked exactly as they
    stand, and without tolerance, like integers: a state is optimal only if no sum of the weights
    fits between the bound and its exact energy. Where rounding leaves a gap of 1e-16, the verdict
    is a gap of 1e-16.

    Attributes:
        bound: B, exactly: no state has a lower energy (or cost).
        lower_bound: the least value that an energy not below B can take; in float problems rounded
            down.
        energy: of the certificate's state; in float problems rounded.
        optimal: whether the state is proven to have the least energy.
    """

    bound: Fraction
    lower_bound: Any
    energy: Any
    optimal: bool

    @property
    def gap(self) -> Any:
        """How far the state might be from the optimum."""
        return self.energy - self.lower_bound


def verify(problem: Problem, certificate: Certificate) -> Verdict:
    """Compute what a certificate proves, from nothing but the problem and the certificate.

    The certificate of an Ising problem, RBM or QUBO is in units of its Ising form's couplings, that
    of a MAX-2-SAT problem in units of cost. A certificate that does not fit the problem, or whose
    state breaks a hard clause, is a `CertificateError`.

    >>> square = Ising.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [4, 4, 4, -3])
    >>> verify(square, Certificate([1, 1, 1, 1], [0, 1, 2, 3], [0, 4], [3]))
    Verdict(bound=Fraction(-9, 1), lower_bound=-9, energy=-9, optimal=True)
    """
    size = problem.num_spins if isinstance(problem, (Ising, Rbm)) else problem.num_variables
    _check_fit(certificate, size)
    if isinstance(problem, Max2Sat) and (broken := problem.broken(certificate.state > 0)):
        raise CertificateError(f"the certificate's state breaks {broken} hard clauses")
    graph = SignedGraph.of(problem)
    spins = np.append(certificate.state, np.int8(1))
    value = graph.value(graph.cost(spins))
    bound = _bound(graph, certificate)
    assert bound <= value, "a bound above the energy of a state"
    steps = (value - bound) // graph.step
    least = Fraction(value - steps * graph.step, graph.scale)
    energy = _number(Fraction(value, graph.scale), problem.is_integer)
    lower = _number(least, problem.is_integer)
    if steps and not problem.is_integer and (lower > least or lower >= energy):
        lower = np.nextafter(min(lower, energy), -np.inf).item()
    return Verdict(bound / graph.scale, lower, energy, bool(steps == 0))


def _check_fit(certificate: Certificate, size: int) -> None:
    if len(certificate.state) != size:
        raise CertificateError(
            f"the certificate is for {len(certificate.state)} variables, the problem has {size}"
        )
    if len(certificate.nodes) and int(certificate.nodes.max()) > size:
        raise CertificateError(
            f"a loop visits node {certificate.nodes.max()}, but the problem's {size} variables end "
            f"at {size - 1} and their ghost is {size}"
        )


def _bound(graph: SignedGraph, certificate: Certificate) -> Fraction:
    """B = constant - Σ μ(L-2) - Σ|R|, in units of the graph's weights."""
    spins = [*certificate.state.tolist(), 1]
    denominator, unit = certificate.denominator, graph.loop_scale
    rest: defaultdict[tuple[int, int], int] = defaultdict(int)
    for (a, b), weight in zip(graph.edges.tolist(), graph.weights, strict=True):
        rest[a, b] = denominator * weight
    nodes, starts = certificate.nodes.tolist(), certificate.starts.tolist()
    violated = None if certificate.violated is None else certificate.violated.tolist()
    minima = 0
    for loop, multiplier in enumerate(map(int, certificate.multipliers.tolist())):
        first, end = starts[loop], starts[loop + 1]
        cycle = nodes[first:end]
        minima -= unit * multiplier * (len(cycle) - 2)
        for k, (a, b) in enumerate(pairwise([*cycle, cycle[0]]), first):
            negative = k == end - 1 if violated is None else violated[k]
            sign = -spins[a] * spins[b] if negative else spins[a] * spins[b]
            rest[(a, b) if a < b else (b, a)] -= unit * multiplier * sign
    return graph.constant + Fraction(minima - sum(map(abs, rest.values())), denominator)


def _number(value: Fraction, is_integer: bool) -> Any:
    return int(value) if is_integer and value.denominator == 1 else float(value)
