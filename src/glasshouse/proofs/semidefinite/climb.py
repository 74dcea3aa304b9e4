"""The search for a better bound of a subproblem: ascent and cuts, with decreasing regularisation α.

`Settings` define the effort for a node. `Inheritance` is what a node passes to its children: tying
s_a = ±s_b turns M into P'MP, which is positive semidefinite if M is, so multipliers are inherited
without any loss of the bound. `best_projection` finds states from a matrix X: the signs of random
projections of its vectors, then descent.
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
_COMFORT = 3e-3  # the margin, in units of the scale, that yields short certificates
_MOST_BITS = 44  # bits of a column's entries, limited by the precision of floats
_NEAR = 0.1  # the relative error of the estimated cost of α
_CLOSE = 3e-4  # the gap, in units of the scale, that only precision can explain
_BITS = 20  # bits of a column's entries if there is no goal
# A vertex outweighs all others if they have less than this fraction of the sum of squared weights.
_SHARE_OF_OTHERS = 0.1
_LARGEST_UNIT = 10**300  # the largest that a float can hold; next to larger ones, 1 is negligible


@dataclass(frozen=True)
class Settings:
    """Parameters of a climb, tuned on complete ±1 graphs and Max-Cut with 60 to 100 vertices.

    Attributes:
        alpha: the regularisation at the root, in units of the root mean square weight.
        alpha_below: the regularisation at nodes that inherit multipliers.
        alpha_search: the value down to which α is lowered while the goal is out of reach.
        alpha_least: the least value of α.
        cooling: the factor by which α is lowered at a time.
        stall: α is lowered when a round gains less than this fraction of what α costs.
        rounds: the most rounds of ascent and separation.
        evaluations: the eigendecompositions per round.
        flat: the greatest entry of the gradient that ends a round.
        violation: the least violation of a cut.
        room: the most new cuts of each width per round and vertex.
        seeds: the number of triangles from which wider cuts are searched for.
        branching_gain: the estimated gain of a decided pair, in units of the root mean square
            weight times the root of the size.
        price: the cost of a round, as a fraction of the cost of a node.
        projections: the number of states tried per round.
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
    """The multipliers of a node, in a form that all its descendants can use.

    Attributes:
        vertices: the vertices that represent the classes of the node.
        slack: the matrix M of the node, over these vertices.
        cuts: the cuts over vertices of the graph, with their multipliers.
    """

    vertices: npt.NDArray[np.int64]
    slack: npt.NDArray[np.float32]
    cuts: Cuts

    @property
    def num_bytes(self) -> int:
        """The memory of the multipliers and the matrix, in bytes."""
        arrays = self.vertices, self.slack, self.cuts.vertices, self.cuts.coefficients
        return sum(array.nbytes for array in arrays) + self.cuts.multipliers.nbytes

    @classmethod
    def of(cls, problem: Subproblem, diagonal: FloatArray, cuts: Cuts) -> Inheritance:
        """Return the inheritance of a node with the given y and cuts."""
        x = np.concatenate([diagonal, cuts.multipliers])
        slack = RegularisedDual(problem.matrix, cuts, 1.0).slack_matrix(x)
        names = problem.vertices.astype(np.int32)
        named = Cuts(names[cuts.vertices], cuts.coefficients, cuts.multipliers)
        return cls(problem.vertices, slack.astype(np.float32), named)

    def claimed_by(self, problem: Subproblem) -> tuple[FloatArray, Cuts]:
        """Return the inherited y and cuts from which a subproblem starts."""
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
    """Project randomly `tries` times; return the spins of least energy <A, ss'>, and this energy.

    Args:
        matrix: the matrix A, with a zero diagonal.
        factor: a matrix F with X = FF'.
        rng: the source of the projections.
        tries: the number of projections.
    """
    directions = rng.standard_normal((factor.shape[1], tries))
    states = np.where(factor @ directions >= 0.0, 1.0, -1.0).T.copy()
    kernels.descend(matrix, states)
    energies = np.einsum("ti,ti->t", states @ matrix, states)
    best = int(np.argmin(energies))
    return states[best], float(energies[best])


class Climb:
    """The search for a better bound of one subproblem, in rounds of ascent and separation.

    Attributes:
        problem: the subproblem.
        bound: the best bound so far, in the problem's unit, without its constant.
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
        self._scale = _typical_weight(problem.matrix)
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
        """Set the climb's goal: a bound above the value `highest`."""
        self._highest = highest
        self._target = (highest - self.problem.constant) / self.problem.unit
        self._goal = self._target + min(_COMFORT * self._scale, 0.01 / self._unit)

    def run(self, budget: Budget) -> ExactSquares | None:
        """Return exact squares that prove the goal; None if progress stops or time runs out."""
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
        """Run one round of ascent with the current cuts and the current regularisation α."""
        settings, size = self._settings, self.problem.size
        dual = RegularisedDual(self.problem.matrix, self._cuts, self._alpha)
        # For X = ss', ‖X‖ is the size, so the regularised value minus this offset is a bound.
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
        """Lower y until M is positive semidefinite; estimate the bound without regularisation.

        With Gram matrices Y of unit vectors, the shift costs α max <X, Y>, of which α ‖X‖² is the
        excess of the regularised optimum over <A, X>. The rest is lost to α.
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
        """Return whether branching now is cheaper than another round.

        A decided pair raises the bound by some amount, so the search below a node doubles with each
        such amount that is missing. A round pays off as long as its gain saves more of that search
        than the round costs.
        """
        settings = self._settings
        if len(reaches) <= _LOOK_BACK or self._is_near(reaches[-1]):
            return False
        gain = (reaches[-1] - reaches[-1 - _LOOK_BACK]) / _LOOK_BACK
        raised = settings.branching_gain * self._scale * math.sqrt(self.problem.size)
        missing = min((self._goal - reaches[-1]) / raised, 50.0)
        return gain * math.exp2(missing) < settings.price * raised

    def _is_near(self, reach: float) -> bool:
        """Return whether the cuts seem sufficient, so that only regularisation limits the bound."""
        is_close = self._goal - self.bound < _CLOSE * self._scale
        return is_close or reach > self._goal - _NEAR * self._lost

    def _cool(self, reaches: list[float]) -> None:
        """Lower the regularisation α if it limits the bound, or costs much more than cuts gain.

        At a large α the ascent is quick, and it leads to the cuts that are needed later.
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
        """Drop slack cuts, and add violated cuts if there are at least `few`.

        If α alone limits the bound, as for a tight relaxation, cuts would only slow down the
        ascent.
        """
        settings, size = self._settings, self.problem.size
        awake = (self._cuts.multipliers > 1e-6 * self._scale) | (point.gradient[size:] > -1e-3)
        cuts = self._cuts.kept(awake)
        more = separated(cuts, point.gram, settings.violation, settings.room * size, settings.seeds)
        self._cuts = more if len(more) - len(cuts) >= few else cuts
        kept = np.concatenate([np.ones(size, np.bool_), awake])
        self._memory = self._memory.carried_over(kept, len(self._cuts) - len(cuts))

    def _look_for_states(self, point: Point) -> None:
        """Search for a better state near X; if there is one, record it and lower the goal."""
        spins, energy = best_projection(
            self.problem.matrix, point.factor, self._rng, self._settings.projections
        )
        if energy < self._goal + 1.0 / self._unit:  # worth evaluating in exact integers
            value = self.problem.value(spins)
            highest = self.problem.highest_below(value)
            if value <= self._highest and highest is not None:
                self.states.append(spins)
                self._exclude(highest)

    def _proof(self) -> ExactSquares | None:
        """Return exact squares of few bits that prove the goal; None if rounding loses too much."""
        margin = (self.bound - self._target) / self._scale
        # Rounding loses 2.5 size^1.5 / 2^bits, by experience.
        bits = max(4, math.ceil(math.log2(4.0 * self.problem.size**1.5 / margin)))
        for more in (0, 2, 4, 8):
            if bits + more > _MOST_BITS:
                break
            squares = self.rounded(bits + more)
            if squares.bound(self.problem) > self._highest:
                return squares
        return None

    def rounded(self, bits: int = _BITS) -> ExactSquares:
        """Round the best solution so far to exact squares, which prove nearly the same bound."""
        diagonal, cuts = self._best
        return exact_squares(self.problem, cuts, diagonal, bits)

    def branch(self) -> Pair:
        """Return the two vertices that change X most if they are tied, and their more likely sign.

        Tied vertices have the same row up to the sign. So pairs are compared by the distance of
        their rows, with the sign for which the rows are closer.
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
        """Return the data from which both children of the node start."""
        return Inheritance.of(self.problem, self._diagonal, self._cuts)


def _typical_weight(matrix: FloatArray) -> float:
    """Return the root mean square weight, without a vertex that outweighs the others.

    The fields of 0/1 unknowns add up at the ghost if all terms are positive: its weights can be
    forty times the other weights, and would set α so high that the bound is useless.
    """
    sums = (matrix**2).sum(axis=1)
    total, size = float(sums.sum()), len(matrix)
    rest = total - 2.0 * float(sums.max())
    if 1e-9 * total < rest < _SHARE_OF_OTHERS * total:
        return 2.0 * math.sqrt(rest / ((size - 1) * (size - 2)))
    return 2.0 * math.sqrt(total / (size * (size - 1)))


def _level(matrix: FloatArray, alpha: float) -> FloatArray:
    """Return a constant vector y such that X = -[M]₋ / α has the required trace."""
    eigenvalues = np.linalg.eigvalsh(matrix)
    counts = np.arange(1, len(eigenvalues) + 1)
    levels = (alpha * len(eigenvalues) + np.cumsum(eigenvalues)) / counts
    reached = np.flatnonzero(levels > eigenvalues)[-1]
    return np.full(len(matrix), levels[reached])
