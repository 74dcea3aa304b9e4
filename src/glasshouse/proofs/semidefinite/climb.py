"""Raising the bound of one subproblem: rounds of ascent and separation, α lowered on the way.

`Settings` say how hard a node is worked on. `Inheritance` is what a node hands to its children:
tying s_a = ±s_b turns M into P'MP, which is positive semidefinite where M is, so multipliers are
inherited without any loss of the bound. `best_projection` finds states from a matrix X: the signs
of random projections of its vectors, then descent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Pair
from glasshouse.proofs.budget import Budget
from glasshouse.proofs.semidefinite import kernels
from glasshouse.proofs.semidefinite.ascent import Memory, ascend
from glasshouse.proofs.semidefinite.cuts import Cuts, FloatArray, separated
from glasshouse.proofs.semidefinite.dual import Point, RegularisedDual
from glasshouse.proofs.semidefinite.rounding import ExactSquares, exact_squares, lifting_diagonal
from glasshouse.proofs.semidefinite.subproblem import Subproblem

_LOOK_BACK = 3  # rounds over which gains are measured
_COMFORT = 3e-3  # the margin, in units of the scale, that makes for short certificates
_MOST_BITS = 44  # of a column's entries: beyond, floats have no more to tell
_NEAR = 0.1  # the part of what α costs that an estimate may be wrong by
_CLOSE = 1e-4  # the gap, in units of the scale, that only precision can be the reason of
_BITS = 20  # where there is nothing to reach
_LARGEST_UNIT = 10**300  # that a float can hold; in larger ones, 1 is as good as nothing


@dataclass(frozen=True)
class Settings:
    """Found by experiment, on complete ±1 graphs and on Max-Cut of 60 to 100 vertices.

    Attributes:
        alpha: the regularisation at the root, in units of the root mean square weight.
        alpha_below: that of nodes which inherit.
        alpha_search: to where it is lowered as long as the goal is out of reach.
        alpha_least: to where it is lowered at all.
        cooling: the factor by which, whenever that is due.
        stall: it is due when a round gains less than this part of what α costs.
        rounds: of ascent and separation, at most.
        evaluations: eigendecompositions per round.
        flat: the greatest entry of the gradient that ends a round.
        violation: what a cut has to be violated by.
        room: new cuts of each width per round and vertex.
        seeds: triangles from which to search for wider cuts.
        branching_gain: what a decided pair is thought to raise the bound by, in units of the root
            mean square weight times the root of the size.
        price: what a round costs, as part of a node.
        projections: states tried per round.
    """

    alpha: float = 2e-2
    alpha_below: float = 1e-2
    alpha_search: float = 1e-2
    alpha_least: float = 1e-9
    cooling: float = 0.6
    stall: float = 0.1
    rounds: int = 100
    evaluations: int = 30
    flat: float = 1e-3
    violation: float = 0.1
    room: int = 6
    seeds: int = 400
    branching_gain: float = 0.4
    price: float = 0.14
    projections: int = 8


class Inheritance(NamedTuple):
    """Multipliers of a node, in terms that all nodes below understand.

    Attributes:
        vertices: those that stand for the classes of the node.
        slack: M of the node, over these vertices.
        cuts: over vertices of the graph, with their multipliers.
    """

    vertices: npt.NDArray[np.int64]
    slack: npt.NDArray[np.float32]
    cuts: Cuts

    @property
    def num_bytes(self) -> int:
        """How much memory it takes."""
        arrays = self.vertices, self.slack, self.cuts.vertices, self.cuts.coefficients
        return sum(array.nbytes for array in arrays) + self.cuts.multipliers.nbytes

    @classmethod
    def of(cls, problem: Subproblem, diagonal: FloatArray, cuts: Cuts) -> Inheritance:
        """That of a node with the given y and cuts."""
        x = np.concatenate([diagonal, cuts.multipliers])
        slack = RegularisedDual(problem.matrix, cuts, 1.0).slack_matrix(x)
        names = problem.vertices.astype(np.int32)
        named = Cuts(names[cuts.vertices], cuts.coefficients, cuts.multipliers)
        return cls(problem.vertices, slack.astype(np.float32), named)

    def claimed_by(self, problem: Subproblem) -> tuple[FloatArray, Cuts]:
        """The y and the cuts with which a problem below begins."""
        classes = problem.class_of[self.vertices]
        kept = classes >= 0
        slack = self.slack[np.ix_(kept, kept)].astype(np.float64)
        merge = np.zeros((len(slack), problem.size))
        merge[np.arange(len(slack)), classes[kept]] = problem.signs[self.vertices[kept]]
        diagonal = -np.einsum("ia,ia->a", merge, slack @ merge)
        return diagonal, self.cuts.mapped(problem.class_of, problem.signs)


def best_projection(
    matrix: FloatArray, factor: FloatArray, rng: np.random.Generator, tries: int
) -> tuple[FloatArray, float]:
    """The spins of least energy <A, ss'> that some projections lead to, and that energy.

    Args:
        matrix: A, its diagonal zero.
        factor: a matrix F with X = FF'.
        rng: where projections come from.
        tries: how many projections.
    """
    directions = rng.standard_normal((factor.shape[1], tries))
    states = np.where(factor @ directions >= 0.0, 1.0, -1.0).T.copy()
    kernels.descend(matrix, states)
    energies = np.einsum("ti,ti->t", states @ matrix, states)
    best = int(np.argmin(energies))
    return states[best], float(energies[best])


class Climb:
    """The bound of one subproblem on its way up.

    Attributes:
        problem: the subproblem.
        bound: the best so far, in the problem's unit, its constant not counted.
        states: spins of the classes, each better than the best known before it.
    """

    def __init__(
        self, problem: Subproblem, highest: int, warm: Inheritance | None, settings: Settings
    ) -> None:
        self.problem = problem
        self.bound = -math.inf
        self.states: list[FloatArray] = []
        self._settings = settings
        size = problem.size
        self._scale = 2.0 * math.sqrt(float((problem.matrix**2).sum()) / (size * (size - 1)))
        self._unit = float(min(problem.unit, _LARGEST_UNIT))
        self._exclude(highest)
        self._rng = np.random.default_rng(size)
        if warm is None:
            self._alpha = settings.alpha * self._scale
            self._diagonal, self._cuts = _level(problem.matrix, self._alpha), Cuts.none()
        else:
            self._alpha = settings.alpha_below * self._scale
            self._diagonal, self._cuts = warm.claimed_by(problem)
        self._memory = Memory(size + len(self._cuts))
        self._best = self._diagonal, self._cuts
        self._gram = np.eye(size)
        self._lost = 0.0

    def _exclude(self, highest: int) -> None:
        """Aim at a bound above a value."""
        self._highest = highest
        self._target = (highest - self.problem.constant) / self.problem.unit
        self._goal = self._target + min(_COMFORT * self._scale, 0.01 / self._unit)

    def run(self, budget: Budget) -> ExactSquares | None:
        """Climb until exact squares prove the goal, or there is no more hope or time."""
        settings = self._settings
        reaches: list[float] = []
        for _ in range(settings.rounds):
            point = self._ascend(budget)
            reaches.append(self._shifted(point))
            if self.bound > self._goal and (proof := self._proof()):
                return proof
            self._look_for_states(point)
            if budget.asks_to_stop() or self._is_hopeless(reaches):
                break
            self._cool(reaches)
            self._exchange_cuts(point, few=self.problem.size if self._is_near(reaches[-1]) else 0)
        return None

    def _ascend(self, budget: Budget) -> Point:
        """One round with the cuts and the α as they are."""
        settings, size = self._settings, self.problem.size
        dual = RegularisedDual(self.problem.matrix, self._cuts, self._alpha)
        # At spins ‖X‖ is the size, so that the regularised value less this is a bound itself.
        offset = self._alpha * size * size / 2.0
        point = ascend(
            dual,
            np.concatenate([self._diagonal, self._cuts.multipliers]),
            self._memory,
            settings.evaluations,
            settings.flat,
            budget,
            lambda point: point.value - offset > self._goal,
        )
        self._diagonal = point.x[:size]
        self._cuts = self._cuts.weighted(point.x[size:])
        self._gram = point.gram
        return point

    def _shifted(self, point: Point) -> float:
        """Lower y until M is positive semidefinite; how far the bound could get if α were 0.

        With Gram matrices Y of unit vectors, the shift costs α max <X, Y>, of which α ‖X‖² is what
        the regularised optimum is above <A, X>. The rest is lost to α.
        """
        size = self.problem.size
        shift = lifting_diagonal(point.slack, self._alpha * point.gram, point.factor)
        bound = point.linear - float(shift.sum())
        if bound > self.bound:
            self.bound = bound
            self._best = point.x[:size] - shift, self._cuts
        self._lost = float(shift.sum()) - self._alpha * float((point.gram**2).sum())
        return bound + self._lost

    def _is_hopeless(self, reaches: list[float]) -> bool:
        """Whether branching now is cheaper than another round.

        A pair that is decided raises the bound by some amount, so the search below a node doubles
        with each such amount that is missing. A round pays as long as what it gains saves more of
        that search than the round costs.
        """
        settings = self._settings
        if len(reaches) <= _LOOK_BACK or self._is_near(reaches[-1]):
            return False
        gain = (reaches[-1] - reaches[-1 - _LOOK_BACK]) / _LOOK_BACK
        raised = settings.branching_gain * self._scale * math.sqrt(self.problem.size)
        missing = min((self._goal - reaches[-1]) / raised, 50.0)
        return gain * math.exp2(missing) < settings.price * raised

    def _is_near(self, reach: float) -> bool:
        """Whether the cuts seem to be enough, so that it is α alone that is in the way."""
        is_close = self._goal - self.bound < _CLOSE * self._scale
        return is_close or reach > self._goal - _NEAR * self._lost

    def _cool(self, reaches: list[float]) -> None:
        """Lower α where that is what it takes, or where cuts gain little against it.

        At a large α the ascent is quick, and the cuts that it leads to are those needed later.
        """
        settings = self._settings
        gain = reaches[-1] - reaches[-2] if len(reaches) > 1 else math.inf
        is_near = self._is_near(reaches[-1])
        if is_near or gain < settings.stall * self._lost:
            least = self._scale * (settings.alpha_least if is_near else settings.alpha_search)
            cooler = min(self._alpha, max(settings.cooling * self._alpha, least))
            self._memory.steepen(self._alpha / cooler)
            self._alpha = cooler

    def _exchange_cuts(self, point: Point, few: int) -> None:
        """Drop cuts that sleep, and add violated ones, unless they are few.

        Where α alone is in the way, as where the relaxation is tight, cuts would but slow down the
        ascent.
        """
        settings, size = self._settings, self.problem.size
        awake = (self._cuts.multipliers > 1e-6 * self._scale) | (point.gradient[size:] > -1e-3)
        cuts = self._cuts.kept(awake)
        more = separated(cuts, point.gram, settings.violation, settings.room * size, settings.seeds)
        self._cuts = more if len(more) - len(cuts) >= few else cuts
        kept = np.concatenate([np.ones(size, np.bool_), awake])
        self._memory.carry_over(kept, len(self._cuts) - len(cuts))

    def _look_for_states(self, point: Point) -> None:
        """Keep a state that is better than the best known; from then on, less is to be excluded."""
        spins, energy = best_projection(
            self.problem.matrix, point.factor, self._rng, self._settings.projections
        )
        if energy < self._goal + 1.0 / self._unit:  # worth a look in exact integers
            value = self.problem.value(spins)
            highest = self.problem.highest_below(value)
            if value <= self._highest and highest is not None:
                self.states.append(spins)
                self._exclude(highest)

    def _proof(self) -> ExactSquares | None:
        """Exact squares that exclude all that is to be excluded, with as few bits as will do."""
        margin = (self.bound - self._target) / self._scale
        # Rounding was seen to lose 2.5 size^1.5 / 2^bits.
        bits = max(4, math.ceil(math.log2(4.0 * self.problem.size**1.5 / margin)))
        for more in (0, 2, 4, 8):
            if bits + more > _MOST_BITS:
                break
            squares = self.rounded(bits + more)
            if squares.bound(self.problem) > self._highest:
                return squares
        return None

    def rounded(self, bits: int = _BITS) -> ExactSquares:
        """Exact squares whose bound is near the best."""
        diagonal, cuts = self._best
        return exact_squares(self.problem, cuts, diagonal, bits)

    def branch(self) -> Pair:
        """The pair of vertices that X would have to change most for, and the likelier sign.

        Tied, both have the same row up to the sign: what counts is how far their rows are apart,
        on the side where they are nearer to each other.
        """
        first, second = np.triu_indices(self.problem.size, 1)
        correlations = self._gram[first, second]
        products = self._gram @ self._gram
        norms = products.diagonal()
        apart = norms[first] + norms[second] - 2.0 * np.abs(products[first, second])
        most = int(np.argmax(apart))
        vertices = self.problem.vertices
        sign = 1 if correlations[most] >= 0.0 else -1
        return int(vertices[first[most]]), int(vertices[second[most]]), sign

    def inheritance(self) -> Inheritance:
        """What both children begin with."""
        return Inheritance.of(self.problem, self._diagonal, self._cuts)


def _level(matrix: FloatArray, alpha: float) -> FloatArray:
    """The y, all entries alike, at which X = -[M]₋ / α has the trace that it should have."""
    eigenvalues = np.linalg.eigvalsh(matrix)
    counts = np.arange(1, len(eigenvalues) + 1)
    levels = (alpha * len(eigenvalues) + np.cumsum(eigenvalues)) / counts
    reached = np.flatnonzero(levels > eigenvalues)[-1]
    return np.full(len(matrix), levels[reached])
