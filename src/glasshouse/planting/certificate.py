"""Certificates: a state and loops that prove how low an energy can get.

One definition serves plants, the cycle LP and the checkers. In the gauge of the state, a loop of
length L with multiplier μ stands for +μ on its edges but the last and -μ on the last, the one the
state violates. Its own minimum is -μ(L-2). With R = problem minus all loops, edge by edge,

    E(any state) ≥ B = -Σ μ(L-2) - Σ |R_e| + offset,

and E(s) - B is twice the negative part of R. Where R ≥ 0 the state is optimal; so it is where the
difference is smaller than the least difference of two energies.

Where a state is not proven optimal, the best loops known may violate three or more of their edges
in it. They still bound all energies: the minimum of a loop depends only on the parity of its
negative edges.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.planting.kernels import sums
from glasshouse.planting.loops import NodeArray, checked_cycles
from glasshouse.problems import Ising, checks, exact
from glasshouse.problems.checks import INT64_MAX, IntArray, SpinArray


class CertificateError(ValueError):
    """A certificate that does not prove what it should; the message says what is wrong."""


@dataclass(frozen=True, eq=False, repr=False)
class Certificate:
    """A state and loops with multipliers over one common denominator.

    Loops may run over edges that the problem lacks, because weights cancelled there, and over the
    ghost spin (the node after the last spin), whose edges are the fields.

    Attributes:
        state: the spins s.
        nodes: the loops' nodes, flat, each loop's violated edge the one from last to first.
        starts: where each loop begins, and the end of the last.
        multipliers: μ > 0 of each loop, in units of 1/denominator.
        denominator: 1 for plants; linear programs need others.
        violated: which edges (from a node to the next of its loop) the state violates, an odd
            number in every loop and always its last; None where they are only the last ones, as
            in every plant.

    >>> square = Ising.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [4, 4, 4, -3])
    >>> proof = Certificate([1, 1, 1, 1], [0, 1, 2, 3], [0, 4], [3])
    >>> proof.check(square)
    -9
    """

    state: SpinArray
    nodes: NodeArray
    starts: IntArray
    multipliers: npt.NDArray[Any]
    denominator: int = 1
    violated: npt.NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        state = checks.states(self.state, np.size(self.state), (-1, 1), "state")
        nodes, starts = checked_cycles(self.nodes, self.starts)
        multipliers = _whole_numbers(self.multipliers)
        if len(multipliers) != len(starts) - 1:
            raise ValueError(f"{len(starts) - 1} loops but {len(multipliers)} multipliers")
        if len(multipliers) and multipliers.min() < 1:
            raise ValueError(f"multiplier {multipliers.min()} is not above 0; leave the loop out")
        values = {
            "state": checks.read_only(state), "nodes": nodes, "starts": starts,
            "multipliers": multipliers,
            "denominator": checks.count(self.denominator, "denominator", 1),
            "violated": _checked_violated(self.violated, starts),
        }  # fmt: skip
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def num_loops(self) -> int:
        """How many loops the proof uses."""
        return len(self.multipliers)

    def gap(self, problem: Ising) -> Fraction:
        """E(s) - B ≥ 0: how far the proven bound lies below the state's energy."""
        self._fit(problem)
        scale = self.denominator
        largest = scale * int(problem.total_weight) + self._loop_weight()
        rest = self._rest_in_int64 if largest <= INT64_MAX else self._rest_in_python
        return Fraction(2 * (rest(problem) + self._surplus()), scale)

    def bound(self, problem: Ising) -> Fraction:
        """B: no state of the problem has a lower energy."""
        gap = self.gap(problem)  # first: it refuses what does not fit
        return Fraction(problem.energy(self.state)) - gap

    def check(self, problem: Ising) -> int:
        """The state's energy, once it is proven to be the lowest; else a CertificateError."""
        gap = self.gap(problem)
        energy = problem.energy(self.state)
        step = 2 * exact.gcd(problem.weights, problem.fields)
        if gap and gap >= step:
            raise CertificateError(
                f"the loops prove no state below {energy - gap}, but the certificate's state has "
                f"energy {energy}; energies differ by {step} at least, so it is not shown optimal"
            )
        return int(energy)

    def _fit(self, problem: Ising) -> None:
        if not problem.is_integer:
            raise CertificateError(
                "a certificate needs integer weights, but these are floats; scale and round them"
            )
        size = problem.num_spins
        if len(self.state) != size:
            raise CertificateError(
                f"the certificate is for {len(self.state)} spins, the problem has {size}"
            )
        if len(self.nodes) and int(self.nodes.max()) > size:
            raise CertificateError(
                f"a loop visits node {self.nodes.max()}, but the problem's {size} spins end at "
                f"{size - 1} and their ghost is {size}"
            )

    def _loop_weight(self) -> int:
        """Sum of μL over all loops: no sum of their weights can be larger."""
        lengths = np.diff(self.starts)
        (multipliers,) = exact.room(self.multipliers, factor=int(lengths.max(initial=0)))
        return int(multipliers @ lengths)

    def _surplus(self) -> int:
        """Half of what the loops' energies in the state are above their minima."""
        if self.violated is None:
            return 0
        counts = np.add.reduceat(self.violated.astype(np.int64), self.starts[:-1])
        return sum(m * (c - 1) for m, c in zip(map(int, self.multipliers), counts, strict=True))

    def _negative(self) -> npt.NDArray[np.bool_]:
        """Which edges of the loops are negative in the gauge of the state."""
        if self.violated is not None:
            return self.violated
        last = np.zeros(len(self.nodes), dtype=bool)
        last[self.starts[1:] - 1] = True
        return last

    def _rest_in_int64(self, problem: Ising) -> int:
        """The negative part of R, times the denominator, where no sum can leave int64."""
        size, spins, scale = problem.num_spins, self.state, self.denominator
        weights = np.repeat(self.multipliers, np.diff(self.starts))
        weights[self._negative()] *= -1
        weights = checks.read_only(weights)  # as in Loops.sum, so that it compiles only once
        edges, loop_weights = sums.sum_edges(self.nodes, self.starts, weights, size + 1)
        is_field = edges[:, 1] == size
        fields = scale * problem.fields * spins
        fields[edges[is_field, 0]] -= loop_weights[is_field]
        gauged = scale * problem.weights * spins[problem.edges[:, 0]] * spins[problem.edges[:, 1]]
        rest = sums.negative_rest(problem.edges, gauged, edges[~is_field], loop_weights[~is_field])
        return int(rest) - int(fields[fields < 0].sum())

    def _rest_in_python(self, problem: Ising) -> int:
        """The same in Python integers, edge by edge, for numbers of any size."""
        spins = [*self.state.tolist(), 1]
        ghost, scale = problem.num_spins, self.denominator
        rest: defaultdict[tuple[int, int], int] = defaultdict(int)
        for (i, j), weight in zip(problem.edges.tolist(), problem.weights.tolist(), strict=True):
            rest[i, j] += scale * weight * spins[i] * spins[j]
        for i, weight in enumerate(problem.fields.tolist()):
            rest[i, ghost] += scale * weight * spins[i]
        bounds, negative = self.starts.tolist(), self._negative().tolist()
        for k, multiplier in enumerate(self.multipliers.tolist()):
            cycle = self.nodes[bounds[k] : bounds[k + 1]].tolist()
            signs = negative[bounds[k] : bounds[k + 1]]
            for (i, j), is_negative in zip(pairwise([*cycle, cycle[0]]), signs, strict=True):
                rest[min(i, j), max(i, j)] -= -multiplier if is_negative else multiplier
        return -sum(weight for weight in rest.values() if weight < 0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Certificate):
            return NotImplemented
        return (
            self.denominator == other.denominator
            and np.array_equal(self.state, other.state)
            and np.array_equal(self.nodes, other.nodes)
            and np.array_equal(self.starts, other.starts)
            and np.array_equal(self.multipliers, other.multipliers)
            and np.array_equal(self._negative(), other._negative())
        )

    def __hash__(self) -> int:
        return hash((self.denominator, self.nodes.tobytes(), tuple(self.multipliers.tolist())))

    def __repr__(self) -> str:
        over = f", over {self.denominator}" if self.denominator > 1 else ""
        return f"Certificate({len(self.state)} spins, {self.num_loops} loops{over})"


def _whole_numbers(values: npt.ArrayLike) -> npt.NDArray[Any]:
    """Multipliers as int64, or as Python integers where one is above 2^63-1."""
    array = np.asarray(values)
    if not array.size:
        array = array.astype(np.int64)
    if array.dtype == object and all(isinstance(x, int) for x in array.flat):
        if max(map(abs, array.flat), default=0) > INT64_MAX:
            return checks.read_only(array.astype(object))
        array = array.astype(np.int64)
    whole = checks.weights(array, "multipliers")
    if whole.dtype != np.int64:
        raise ValueError("multipliers must be integers, over a common denominator")
    return whole


def _checked_violated(
    values: npt.ArrayLike | None, starts: IntArray
) -> npt.NDArray[np.bool_] | None:
    """The mask of violated edges, or None if it marks only each loop's last edge."""
    if values is None:
        return None
    mask = np.asarray(values)
    if mask.dtype != np.bool_ or mask.shape != (int(starts[-1]),):
        raise ValueError(f"violated must be {int(starts[-1])} booleans, one for each node")
    if not len(mask):
        return None
    counts = np.add.reduceat(mask.astype(np.int64), starts[:-1])
    wrong = np.flatnonzero((counts % 2 == 0) | ~mask[starts[1:] - 1])
    if len(wrong):
        raise ValueError(
            f"loop {wrong[0]} marks {counts[wrong[0]]} edges as violated; their number must be odd "
            "and the last edge one of them"
        )
    return checks.read_only(mask) if counts.max() > 1 else None
