"""Noise margins: how far couplings may change while a proven ground state stays optimal.

In the gauge of the ground state all spins are up, and flipping the spins of a set costs twice the
weights that its border cuts. The state is optimal if no border has a negative sum. Take a loop with
the weight μ ≥ 0 on its edges and -μ on one of them: a border cuts it an even number of times, so
the loop adds nothing negative to any border. The slack of an edge is its weight minus the loops on
it. The sum over a border is therefore at least the sum of its slacks, and stays at least zero while
no edge changes by more than its slack. A linear program chooses the μ of the certificate's loops
such that the least slack is as large as possible. Slacks are then computed in exact integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Certificate, Proven
from glasshouse.certificates.exact_form import ExactForm
from glasshouse.certificates.exact_sums import ROOM, summed
from glasshouse.certificates.flat_cycles import edges_of_cycles
from glasshouse.planting import Planted
from glasshouse.problems import Ising, Rbm
from glasshouse.proofs.lp import highs
from glasshouse.proofs.proof import Proof
from glasshouse.summaries import Summarised

# Multipliers are rounded to multiples of 1/d for each of these d; the best result is used.
_DENOMINATORS = (1, 2, 3, 4, 6, 12, 60, 720720, 1 << 20)


@dataclass(frozen=True, eq=False, repr=False)
class NoiseMargin(Summarised):
    """The noise margin: how far couplings and fields may change while a state stays optimal.

    Attributes:
        margin: every non-zero coupling and field may change by up to `margin`, all at the same
            time. The ground state then stays optimal, though not necessarily unique. The true
            margin may be larger. It is zero if ground states differ in more than a flip of all
            spins, because the smallest change can favour one of them.
        slacks: the limit of each coupling (key: labels of two spins) and field (label of one spin),
            at least `margin`. The state also stays optimal if every change is within its limit.
        largest: the largest magnitude of a coupling or field, for comparison.

    >>> from glasshouse.planting import graph_loops
    >>> found = noise_margin(graph_loops("torus:4", frustration="1/7", length=4, loops=1, rng=1))
    >>> found.margin, found.relative, sorted(found.slacks)
    (Fraction(1, 2), 0.25, [(0, 1), (0, 3), (1, 2), (2, 3)])
    >>> found.summary()[-26:]
    '1/2, 25.00% of the largest'
    """

    margin: Fraction
    slacks: dict[tuple[Any, ...], Fraction]
    largest: Fraction

    @property
    def relative(self) -> float:
        """The margin as a fraction of the largest coupling or field."""
        return float(self.margin / self.largest) if self.largest else 0.0

    def summary(self) -> str:
        """Return the margin as one line of text."""
        return (
            f"the ground state stays optimal while each of {len(self.slacks)} couplings and fields "
            f"changes by at most {self.margin}, {self.relative:.2%} of the largest"
        )

    def __repr__(self) -> str:
        return f"NoiseMargin({self.margin}, {self.relative:.2%} of the largest coupling)"


def noise_margin(proven: Planted | Proof | Proven) -> NoiseMargin:
    """Return the noise margin of a proven ground state: how far couplings and fields may change.

    Only loops yield a margin. It is zero for certificates with squares or a tree, for which this
    function promises nothing. In any case, if each number changes by some δ, the state's energy
    exceeds the new optimum by at most twice Σ|δ|. Zero couplings and fields must stay zero: a field
    on a single spin, however small, decides between a state and its flip.

    Args:
        proven: a plant, a proof, or a `Proven`, of an Ising problem or an Rbm.

    Raises:
        ValueError: the state is not proven to be optimal, or the problem has no spins.

    >>> from glasshouse.planting import graph_loops
    >>> plant = graph_loops("torus:6x6", frustration="1/7", length=4, loops=9, rng=1)
    >>> noise_margin(plant)
    NoiseMargin(1/2, 12.50% of the largest coupling)
    """
    if not isinstance(proven, (Planted, Proof, Proven)):
        raise ValueError(f"{proven!r:.60} is not a plant, Proof or Proven; pass gh.prove's result")
    truth = proven if isinstance(proven, Proven) else proven.proven
    problem, certificate = truth.problem, truth.certificate
    if not isinstance(problem, (Ising, Rbm)):
        raise ValueError(f"{problem!r} is not an Ising or Rbm; convert it with to_ising first")
    if not truth.verdict.optimal:
        raise ValueError("the state must be proven optimal for a noise margin; use gh.prove")
    form = ExactForm.of(problem)
    slacks = np.zeros(len(form.edges), dtype=object)
    if certificate.tree is None and not certificate.squares.num_squares:
        slacks = _best_slacks(form, certificate)
    labels: Any = (*range(form.num_variables),) if problem.labels is None else problem.labels
    named = {}
    for edge, slack in zip(form.edges.tolist(), slacks.tolist(), strict=True):
        key = tuple(labels[end] for end in edge if end < form.num_variables)
        named[key] = Fraction(slack) / form.scale
    largest = max(map(abs, form.weights.tolist()), default=0)
    return NoiseMargin(
        min(named.values(), default=Fraction(0)), named, Fraction(largest, form.scale)
    )


def _best_slacks(form: ExactForm, certificate: Certificate) -> npt.NDArray[Any]:
    """Return the slack of each edge, in units of `form`; all zero if no multipliers are valid."""
    spins = np.append(certificate.state, np.int8(1)).astype(np.int64)
    ends = edges_of_cycles(certificate.nodes, certificate.starts)
    loop_of = np.repeat(np.arange(certificate.num_loops), np.diff(certificate.starts))
    signs = np.where(certificate.negative_edges, -1, 1)
    # A loop that the state violates more than once does not help.
    usable = np.bincount(loop_of[signs < 0], minlength=certificate.num_loops) == 1
    weights = form.weights * (spins[form.edges[:, 0]] * spins[form.edges[:, 1]])
    nothing = np.zeros(len(ends), dtype=np.int64)
    # Number all edges of the form and of loops; their weights may cancel to zero.
    every, _ = summed(
        np.concatenate([form.edges, ends]),
        np.concatenate([np.ones(len(weights), np.int64), 1 + nothing]),
        form.num_variables + 1,
    )
    width = form.num_variables + 1
    keys = every[:, 0].astype(np.int64) * width + every[:, 1]
    own = np.searchsorted(keys, form.edges[:, 0].astype(np.int64) * width + form.edges[:, 1])
    low, high = ends.min(axis=1, initial=width), ends.max(axis=1, initial=-1)
    place = np.searchsorted(keys, low.astype(np.int64) * width + high)
    held = np.zeros(len(every), dtype=object)
    held[own] = weights.astype(object)
    is_own = np.zeros(len(every), dtype=bool)
    is_own[own] = True

    def slacks(multipliers: npt.NDArray[Any], over: int) -> npt.NDArray[Any] | None:
        left = held * over
        np.subtract.at(left, place, signs.astype(object) * multipliers[loop_of])
        if any(left < 0):
            return None
        return np.array([Fraction(value, over) for value in left[own].tolist()], dtype=object)

    found = [slacks(form.loop_scale * certificate.multipliers.astype(object) * usable,
                    certificate.denominator)]  # fmt: skip
    if sum(map(abs, form.weights.tolist())) < ROOM and usable.any():
        chosen = _multipliers(held.astype(float), is_own, place, loop_of, signs, usable)
        for over in _DENOMINATORS:
            rounded = np.array([round(Fraction(x) * over) for x in chosen.tolist()], dtype=object)
            found.append(slacks(rounded, over))
    valid = [one for one in found if one is not None]
    return max(valid, key=lambda one: min(one, default=0), default=np.zeros(len(own), dtype=object))


def _multipliers(
    weights: npt.NDArray[Any],
    is_own: npt.NDArray[np.bool_],
    place: npt.NDArray[Any],
    loop_of: npt.NDArray[Any],
    signs: npt.NDArray[Any],
    usable: npt.NDArray[np.bool_],
) -> npt.NDArray[np.float64]:
    """Return multipliers that nearly maximise the least slack, from a floating-point LP."""
    from scipy.sparse import coo_array

    size, edges = len(usable), len(weights)
    rows = np.concatenate([place, np.flatnonzero(is_own)])
    columns = np.concatenate([loop_of, np.full(is_own.sum(), size)])
    values = np.concatenate([signs, np.ones(is_own.sum())])
    matrix = coo_array((values, (rows, columns)), shape=(edges, size + 1)).tocsr()
    scale = max(float(np.abs(weights).max(initial=0)), 1.0)
    costs = np.append(np.zeros(size), -1.0)
    solver = highs.new_highs(costs, 0.0, np.append(np.where(usable, np.inf, 0.0), 1.0))
    highs.checked(
        solver.addRows(
            edges, np.full(edges, -np.inf), weights / scale, matrix.nnz,
            matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32),
            matrix.data.astype(np.float64),
        ),
        "rows",
    )  # fmt: skip
    highs.solve(solver)
    found: npt.NDArray[np.float64] = np.array(solver.getSolution().col_value, dtype=np.float64)
    return np.maximum(found[:size], 0.0) * scale
