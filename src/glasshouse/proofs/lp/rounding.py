"""Rounding of floating-point duals to exact multipliers, at the root and at nodes of a tree.

The dual of the root's cycle LP gives each cycle a multiplier such that no edge is used above its
weight. `round_duals` makes the multipliers integers over a common denominator, and the packing
exactly feasible: its sum is a lower bound whatever the LP solver did.

If weights have more digits than a float, rounded duals miss the optimum by the float error. The
missing part is again a packing problem, in the remaining capacity, with small numbers. `refine`
solves it and adds the result, which gains about seven digits per step.

Floats become a certificate in Python's integers, loop by loop: rounded, lifted to the whole graph,
walked along and verified. A search that stops at its deadline would still need seconds for that in
large graphs. `Certifying` determines how many loops there is time for.

At a node, any multipliers μ ≥ 0 yield a bound, so nothing has to be repaired: they are rounded to
integers over a denominator, and the exact bound decides whether they are good enough.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Parts, packed
from glasshouse.proofs.lp.cuts import Cut, parts_of
from glasshouse.proofs.lp.highs import checked, new_highs, run
from glasshouse.proofs.lp.tied_graph import TiedGraph
from glasshouse.proofs.signed_graph import SignedGraph, exact_array
from glasshouse.stopping import working_time

# Vertices of the dual polytope mostly have small denominators, which make certificates readable.
_SMALL_DENOMINATORS = (1, 2, 3, 4, 6, 8, 12, 24)


@dataclass(frozen=True, eq=False)
class Rounded:
    """Cuts with exact multipliers over a denominator, and the bound that they prove."""

    denominator: int
    multipliers: npt.NDArray[Any]
    cuts: Sequence[Cut]
    bound: int  # times the denominator

    @property
    def total(self) -> Fraction:
        """The bound as a fraction; for a packing, every state violates at least this weight."""
        return Fraction(self.bound, self.denominator)

    def proves(self, target: int | None) -> bool:
        """Return whether the bound proves that all values are above `target`."""
        return target is None or self.bound > target * self.denominator

    def parts(self, graph: SignedGraph) -> Parts:
        """Return the loops and squares of the cuts."""
        return parts_of(graph, self.cuts, self.multipliers, self.denominator)


def round_duals(
    duals: npt.NDArray[np.float64],
    largest: int,
    cuts: Sequence[Cut],
    capacity: Sequence[int],
    loss: Fraction,
) -> Rounded:
    """Round duals, given in units of the greatest capacity `largest`, to an exact packing.

    At most `loss` of the bound is lost, up to half of it with the smallest multipliers, which are
    the noise of an interior point. Small denominators are tried first, then a power of two that is
    fine enough for rounding down. If all duals are zero, cycles are filled greedily.
    """
    if not duals.any():
        return fit(1, [0] * len(cuts), cuts, capacity)
    used = _without_noise(duals, float(loss / largest) / 2)
    chosen = [cuts[k] for k in used]
    # Floats are integers over powers of two; Fraction would reduce at every step.
    exact = [(n * largest, d) for n, d in (float(duals[k]).as_integer_ratio() for k in used)]
    finest = max((d for _, d in exact), default=1)
    total = Fraction(sum(n * (finest // d) for n, d in exact), finest)
    for denominator in _SMALL_DENOMINATORS:
        wanted = [_rounded(n * denominator, d) for n, d in exact]
        packing = fit(denominator, wanted, chosen, capacity)
        if packing.total > total - loss / 2:
            return packing
    denominator = 1 << int(4 * len(chosen) / loss).bit_length()
    return fit(denominator, [n * denominator // d for n, d in exact], chosen, capacity)


def _rounded(numerator: int, denominator: int) -> int:
    """Return the integer nearest to a fraction; ties go to the even integer, as in `round`."""
    floor, rest = divmod(numerator, denominator)
    return floor + (2 * rest > denominator or (2 * rest == denominator and floor % 2))


def _without_noise(duals: npt.NDArray[np.float64], loss: float) -> list[int]:
    """Return the duals' indices, largest first, without small duals that total at most `loss`."""
    order = np.argsort(-duals, kind="stable")
    after = np.append(np.cumsum(duals[order][::-1])[::-1][1:], 0.0)
    keep = int(np.searchsorted(-(duals[order] + after), -loss, side="left"))
    return [int(k) for k in order[:keep] if duals[k] > 0]


def fit(
    denominator: int, wanted: list[int], cuts: Sequence[Cut], capacity: Sequence[int]
) -> Rounded:
    """Give cycles their wanted multipliers within the capacities, then fill the rest greedily."""
    cycles = [cut.edges.tolist() for cut in cuts]
    room = {edge: denominator * capacity[edge] for cycle in cycles for edge in cycle}
    given, room_of = [0] * len(cycles), room.__getitem__
    for is_rest in (False, True):
        for k, cycle in enumerate(cycles):
            amount = min(map(room_of, cycle))
            if not is_rest and wanted[k] < amount:
                amount = wanted[k]
            if amount > 0:
                given[k] += amount
                for edge in cycle:
                    room[edge] -= amount
    kept = [k for k, amount in enumerate(given) if amount]
    return Rounded(denominator, packed(given[k] for k in kept), [cuts[k] for k in kept], sum(given))


_MOST_TURNS = 6
# A capacity this many times larger than the missing amount counts as unlimited.
_ENDLESS = 10**6


def refine(
    packing: Rounded,
    cuts: Sequence[Cut],
    capacity: Sequence[int],
    enough: Fraction,
    deadline: float = math.inf,
) -> Rounded:
    """Shift multipliers between cycles until the packing's total reaches `enough`, if possible.

    Args:
        packing: the packing of some of the cycles.
        cuts: the cycles.
        capacity: the capacity of each edge.
        enough: the sum that the multipliers should reach.
        deadline: the time to stop with the best result, on the clock of `working_time`.
    """
    cycles = [cut.edges.tolist() for cut in cuts]
    for _ in range(_MOST_TURNS):
        missing = math.ceil(enough * packing.denominator) - packing.bound
        if missing <= 0 or working_time() > deadline:
            break
        known = dict(zip(map(id, packing.cuts), packing.multipliers.tolist(), strict=True))
        given = [known.get(id(cut), 0) for cut in cuts]
        room = [packing.denominator * c for c in capacity]
        for cycle, multiplier in zip(cycles, given, strict=True):
            for edge in cycle:
                room[edge] -= multiplier
        shifts = _shifts(given, cycles, room, missing, deadline)
        if shifts is None:
            break
        wanted = [m + shift for m, shift in zip(given, shifts, strict=True)]
        better = fit(packing.denominator, wanted, cuts, capacity)
        if better.total <= packing.total:
            break
        packing = better
    return packing


def _shifts(
    given: list[int],
    cycles: Sequence[Sequence[int]],
    room: list[int],
    missing: int,
    deadline: float,
) -> list[int] | None:
    """Return the shifts δ ≥ -given with the largest sum within the capacities `room`, or None.

    The LP is in units of `missing`. Returns None if the time is up, or HiGHS is not sure.
    """
    # Compared as integers, because the quotient of large ones may exceed all floats.
    lower = [-min(m, _ENDLESS * missing) / missing for m in given]
    solver = new_highs(np.full(len(cycles), -1.0), lower, _ENDLESS)
    users: dict[int, list[int]] = {}
    for k, cycle in enumerate(cycles):
        for edge in cycle:
            users.setdefault(edge, []).append(k)
    for edge, members in users.items():
        if room[edge] < _ENDLESS * missing:
            indices = np.array(members, dtype=np.int32)
            ones = np.ones(len(members))
            limit = room[edge] / missing
            checked(solver.addRow(-np.inf, limit, len(members), indices, ones), "a row")
    if run(solver, deadline - working_time()) != "optimal":
        return None
    return [math.floor(Fraction(x) * missing) for x in solver.getSolution().col_value]


SAMPLE = 500  # loops to round for a measurement
# The time until a certificate is verified and written, in units of the time that rounding takes:
# for an unchanged graph, and for a contracted one, whose loops must be lifted.
_TIMES_ROUNDING, _TIMES_ROUNDING_LIFTED = 5.0, 8.0
# Seconds per edge of a loop, 20 times as many as the slowest of ten kinds of problems took.
_SLOWEST_PACE = 1e-3
# Seconds for the certificate after Ctrl-C. Systems that send SIGTERM wait a little longer.
_AFTER_CTRL_C = 3.0


class Certifying:
    """The speed of making a certificate, and the time by which the certificate must be complete.

    Args:
        until: the latest time, on the clock of `working_time`.
        is_lifted: whether loops are those of a contracted graph.
        reserved: seconds that a certificate takes even without loops.
    """

    def __init__(
        self, until: float = math.inf, is_lifted: bool = False, reserved: float = 0.0
    ) -> None:
        self.until, self.is_lifted, self.reserved = until, is_lifted, reserved
        self.pace = 0.0  # seconds per edge of a loop

    def measure(self, cuts: list[Cut], rounding: Callable[[list[Cut]], object]) -> None:
        """Measure the speed once, by rounding the first `SAMPLE` of many loops.

        Args:
            cuts: the loops.
            rounding: a function that rounds the loops it receives.
        """
        if self.pace or math.isinf(self.until) or len(cuts) <= SAMPLE:
            return
        began = working_time()
        rounding(cuts[:SAMPLE])
        edges = sum(len(cut.edges) for cut in cuts[:SAMPLE])
        times = _TIMES_ROUNDING_LIFTED if self.is_lifted else _TIMES_ROUNDING
        self.pace = times * (working_time() - began) / edges

    def may_be_late(self, num_edges: int) -> bool:
        """Return whether, at the slowest speed, certifying `num_edges` edges may take too long."""
        return self.until - working_time() < _SLOWEST_PACE * num_edges

    def hurry(self) -> None:
        """Limit the time for the certificate to what Ctrl-C or SIGTERM allows."""
        self.until = min(self.until, working_time() + _AFTER_CTRL_C - self.reserved)

    def latest_start(self, num_edges: int) -> float:
        """Return the latest time to start a certificate whose loops have `num_edges` edges."""
        return self.until - self.pace * num_edges if self.pace else self.until

    def affordable(self, duals: npt.NDArray[np.float64], cuts: list[Cut]) -> npt.NDArray[Any]:
        """Return the indices, in ascending order, of the heaviest loops for which there is time."""
        every = np.arange(len(cuts))
        if not self.pace:
            return every
        order = np.argsort(-duals, kind="stable")
        edges = np.cumsum(np.array([len(cut.edges) for cut in cuts])[order])
        seconds = max(self.until - working_time(), 0.0)
        count = int(np.searchsorted(edges, seconds / self.pace, side="right"))
        return every if count == len(every) else np.sort(order[:count])


_LEAF_DENOMINATORS = (*_SMALL_DENOMINATORS, 60)
# Powers of two to try next, as long as a finer one can make a difference.
_BITS = (10, 20, 30, 40)
# Bits of a dual that are kept: those of a float, and some in reserve for duals below 1.
_DUAL_BITS = 60
# Below this limit no int64 sum here can overflow.
_ROOM = 2**62


def round_leaf_duals(
    ties: TiedGraph, cuts: Sequence[Cut], duals: npt.NDArray[np.float64], target: int | None
) -> Rounded:
    """Round duals to loops that exclude all values up to `target`, or else give the best bound.

    Args:
        ties: the states of the node.
        cuts: the rows of the node's LP.
        duals: one dual for each cut, in units of the graph's largest weight.
        target: the value to exceed, or None.
    """
    best = None
    for denominator in _denominators(ties.graph.largest):
        rounded = _rounded_to(denominator, ties, cuts, duals)
        if rounded.proves(target):
            return rounded
        if best is None or rounded.bound * best.denominator > best.bound * denominator:
            best = rounded
    assert best is not None
    return best


def honest_bound(ties: TiedGraph, cuts: Sequence[Cut], duals: npt.NDArray[np.float64]) -> Rounded:
    """Return loops that prove the bound of the duals, up to floating-point precision."""
    *_, denominator = _denominators(ties.graph.largest)
    return _rounded_to(denominator, ties, cuts, duals)


def _rounded_to(
    denominator: int, ties: TiedGraph, cuts: Sequence[Cut], duals: npt.NDArray[np.float64]
) -> Rounded:
    """Return loops whose multipliers are the duals, rounded to multiples of 1 / denominator."""
    used = np.flatnonzero(duals > 0.0)
    multipliers = _integers(duals[used], denominator * ties.graph.largest)
    kept = np.flatnonzero(multipliers)
    return exact_bound(ties, denominator, multipliers[kept], [cuts[k] for k in used[kept].tolist()])


def _denominators(largest: int) -> Iterator[int]:
    """Yield the denominators to try: small ones, then powers of two up to a float's precision."""
    yield from _LEAF_DENOMINATORS
    for bits in _BITS:
        if largest.bit_length() + bits > 50:
            break
        yield 1 << bits


def _integers(duals: npt.NDArray[np.float64], unit: int) -> npt.NDArray[Any]:
    """Return duals times `unit`, rounded: as int64 if they surely fit, else Python integers."""
    if unit * (int(duals.max(initial=0.0)) + 1) < 2**52:
        return np.rint(duals * float(unit)).astype(np.int64)
    half = 1 << (_DUAL_BITS - 1)
    return exact_array(
        (int(dual * 2.0**_DUAL_BITS) * unit + half) >> _DUAL_BITS for dual in duals.tolist()
    )


def exact_bound(
    ties: TiedGraph, denominator: int, multipliers: npt.NDArray[Any], cuts: Sequence[Cut]
) -> Rounded:
    """Compute in exact integers the bound of loops on all states that agree with the ties."""
    graph = ties.graph
    numbers = multipliers.tolist()
    largest = sum(m * cut.size for m, cut in zip(numbers, cuts, strict=True))
    # No partial sum below is larger than this.
    fits = denominator * graph.total + largest < _ROOM
    kind = np.dtype(np.int64) if fits else np.dtype(object)
    rest = (graph.weights * denominator).astype(kind)
    if cuts:
        edges = np.concatenate([cut.edges for cut in cuts])
        amounts = np.concatenate([cut.coefficients for cut in cuts])
        amounts *= graph.signs[edges]
        sizes = [len(cut.edges) for cut in cuts]
        np.subtract.at(rest, edges, np.repeat(multipliers.astype(kind), sizes) * amounts)
    inside = (rest * ties.products)[ties.inside].sum()
    between = np.abs(ties.aggregate(rest)).sum()
    spent = sum(m * cut.depth for m, cut in zip(numbers, cuts, strict=True))
    bound = denominator * graph.constant - spent - int(inside) - int(between)
    return Rounded(denominator, multipliers, cuts, bound)
