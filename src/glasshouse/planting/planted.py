"""Planted instances: a problem, its ground state, and the proof of optimality."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from glasshouse.certificates import (
    NO_CORES,
    Certificate,
    CertificateError,
    Cores,
    Proven,
    Squares,
)
from glasshouse.certificates.certificate import counted_parts
from glasshouse.certificates.products import NO_MONOMIALS
from glasshouse.certificates.square_sums import SquareSums
from glasshouse.certificates.squares import NO_SQUARES
from glasshouse.landscape import gauge
from glasshouse.planting.arguments import State, half, planted_state, state_signs
from glasshouse.planting.demand import Meter, new_meter, spend
from glasshouse.planting.kernels.sums import add_to_matrix
from glasshouse.planting.loops import NO_LOOPS, Loops, ising_of_edges
from glasshouse.planting.method import Plan
from glasshouse.planting.recipe import Recipe
from glasshouse.planting.shuffling import names, shuffle
from glasshouse.planting.summary import Summary
from glasshouse.planting.sums import check_loop_weight, check_parts, polynomial_of_squares
from glasshouse.problems import Ising, Labels, MaxSat, Polynomial, Rbm, naming, to_ising, validation
from glasshouse.problems.monomials import Monomials
from glasshouse.problems.validation import INT64_MAX, SpinArray, WeightArray
from glasshouse.randomness import Seed
from glasshouse.summaries import Summarised, SummaryTable

# A weight matrix is dense if it is this small, or if loops cover an eighth of it.
_SMALL_MATRIX, _DENSE_SHARE = 1 << 16, 8
# For instances that no recipe grows, or before the recipe is known.
_BY_HAND = Recipe("by hand", {}, Seed(0))


@dataclass(frozen=True, eq=False, repr=False)
class Planted(Summarised):
    """A problem with a known ground state, its proof, and the recipe that grows it.

    The problem is the sum of its loops and squares, divided by the denominator; or it has clauses,
    and frustrated cores whose charges fit into their weights.

    Attributes:
        problem: an Rbm, an Ising problem on a general graph, a polynomial of spins, or clauses
            (MaxSat).
        state: the planted ground state, int8 ±1, visible spins first.
        energy: the exact energy of the planted state.
        loop_weight: the positive weight of a loop, the unit of the paper's β: the least one if
            biases are stronger, the mean if weights are normal; 1 if there are squares or a
            denominator.
        loops: frustrated loops, in the planted gauge.
        recipe: the recipe that grows the instance again.
        squares: c·(a·s)², each at its minimum in the planted state.
        denominator: the number by which loops and squares are divided.
        cores: cores of clauses, instead of loops and squares.
        monomials: the products of spins that a polynomial's squares contain: the nodes after the
            ghost.

    >>> from glasshouse.planting import random_loops
    >>> plant = random_loops(100, 100, frustration="1/5", loop_density=0.345, rng=1)
    >>> plant
    Planted(random_loops, 100 visible × 100 hidden, 35 loops, ground energy -315)
    >>> plant.verify()
    >>> plant.proven
    Proven(-315 is the optimum, by 35 loops)
    >>> Planted.from_recipe(plant.recipe) == plant
    True
    >>> plant.certificate, plant.parts, plant.half
    (Certificate(200 spins, 35 loops), '35 loops', Fraction(100, 1))
    >>> plant.ising
    Ising(200 spins, 140 edges, integer weights -4 to 4)
    >>> plant.form is plant.ising
    True
    >>> plant.regauge([1] * 200).energy == plant.energy
    True
    """

    problem: Rbm | Ising | Polynomial | MaxSat
    state: SpinArray
    energy: int
    loop_weight: int
    loops: Loops
    recipe: Recipe
    squares: Squares = NO_SQUARES
    denominator: int = 1
    cores: Cores = NO_CORES
    monomials: Monomials = NO_MONOMIALS

    def __post_init__(self) -> None:
        is_spins = isinstance(self.problem, (Rbm, Ising, Polynomial)) and self.problem.space.low
        if not is_spins and not isinstance(self.problem, MaxSat):
            raise ValueError(f"a plant needs spins or clauses, not {self.problem!r}")
        state = validation.states(self.state, self.problem.num_variables, (-1, 1), "state")
        if state.ndim != 1:
            raise ValueError(f"state has shape {state.shape}; pass a single state")
        object.__setattr__(self, "state", validation.read_only(state))
        object.__setattr__(
            self, "denominator", validation.count(self.denominator, "denominator", 1)
        )

    @classmethod
    def of_rbm(
        cls, n: int, m: int, loops: Loops, state: SpinArray, loop_weight: int,
        recipe: Recipe = _BY_HAND,
    ) -> Planted:  # fmt: skip
        """Return a plant whose RBM, with n visible and m hidden spins, is the sum of the loops.

        >>> import numpy as np
        >>> loop = Loops.of_length([[0, 2, 1, 3]], positive=4, negative=-3)
        >>> Planted.of_rbm(2, 2, loop, np.ones(4, np.int8), 4)
        Planted(by hand, 2 visible × 2 hidden, 1 loop, ground energy -9)
        """
        if n * m <= max(_SMALL_MATRIX, _DENSE_SHARE * len(loops.nodes)):
            matrix: Any = np.zeros((n, m), dtype=np.int64)
            biases: WeightArray = np.zeros(n + m, dtype=np.int64)
            add_to_matrix(loops.nodes, loops.starts, loops.weights, state, matrix, biases)
        else:
            from scipy.sparse import csr_array

            form = gauge(loops.sum(n + m), state)
            rows, columns = form.edges[:, 0], form.edges[:, 1] - np.int32(n)
            ends = np.searchsorted(rows, np.arange(n + 1))  # edges come row by row
            matrix = csr_array((form.weights, columns, ends), shape=(n, m))
            biases = form.fields
        energy = -int(loops.weights.sum())
        return cls(Rbm(matrix, biases[:n], biases[n:]), state, energy, loop_weight, loops, recipe)

    @classmethod
    def of_ising(
        cls,
        num_spins: int,
        loops: Loops,
        state: SpinArray,
        loop_weight: int,
        recipe: Recipe = _BY_HAND,
        labels: Labels | None = None,
        denominator: int = 1,
        offset: int = 0,
    ) -> Planted:
        """Return a plant whose Ising problem is the sum of the loops, divided by `denominator`.

        The sum of the loops is divided by the denominator, which must divide all its weights; then
        the offset is added to all energies.

        >>> import numpy as np
        >>> ring = Loops.of_length([[0, 1, 2]], positive=2, negative=-1)
        >>> Planted.of_ising(3, ring, np.ones(3, np.int8), 2)
        Planted(by hand, 3 spins, 1 loop, ground energy -3)
        """
        edges, weights = loops.edge_sums(num_spins)
        if denominator > 1:
            if (weights % denominator).any():
                raise ValueError(f"denominator={denominator} must divide all summed weights")
            weights //= denominator
        signs = np.append(state, np.int8(1))  # the sign of the ghost is +1
        weights *= signs[edges[:, 0]] * signs[edges[:, 1]]
        problem = ising_of_edges(num_spins, edges, weights, offset)
        if naming.check(labels, num_spins) is not None:
            problem = replace(problem, labels=labels)
        energy = offset - int(loops.weights.sum()) // denominator
        return cls(problem, state, energy, loop_weight, loops, recipe, denominator=denominator)

    @classmethod
    def of_squares(
        cls,
        num_spins: int,
        squares: Squares,
        state: SpinArray,
        recipe: Recipe = _BY_HAND,
        meter: Meter | None = None,
    ) -> Planted:
        """Return a plant whose Ising problem is half the sum of the squares, without the constant.

        Halves keep weights as small as possible: c·(a·s)² has couplings -2c·a_i·a_j. There is no
            offset, so the energy is that of the couplings and fields alone. A meter counts the
            pairs before they are added up.

        >>> import numpy as np
        >>> from glasshouse.certificates import Squares
        >>> square = Squares.of([[(0, 1), (1, -1)]])  # (s0 - s1)²
        >>> Planted.of_squares(2, square, np.ones(2, np.int8))
        Planted(by hand, 2 spins, 1 square, ground energy -1)
        """
        spend(new_meter() if meter is None else meter, squares.num_terms)
        edges, sums = SquareSums(squares, num_spins + 1).pairs()
        if squares.is_wide and sum(map(abs, sums.tolist())) > INT64_MAX:
            raise ValueError(
                "the squares add up to more than 2^63-1, beyond which energies are not exact; use "
                "fewer or smaller squares"
            )
        weights = -(sums.astype(np.int64, copy=False) >> 1)
        problem = ising_of_edges(num_spins, edges, weights)
        energy = int(problem.energy(state))
        return cls(problem, state, energy, 1, NO_LOOPS, recipe, squares, 2)

    @classmethod
    def of_cores(
        cls, problem: MaxSat, cores: Cores, state: SpinArray, recipe: Recipe = _BY_HAND
    ) -> Planted:
        """Return a plant of clauses, whose state is proven optimal by cores.

        >>> import numpy as np
        >>> problem = MaxSat(2, [[1, 2], [-1], [-2]], [1, 1, 1])
        >>> cores = Cores.of([(1, [1, 2, -1, -3, -2])])
        >>> Planted.of_cores(problem, cores, np.array([1, -1], np.int8))
        Planted(by hand, 2 variables, 1 core, ground energy 1)
        """
        return cls(problem, state, int(cores.costs.sum()), 1, NO_LOOPS, recipe, cores=cores)

    @classmethod
    def of_products(
        cls, num_spins: int, monomials: Monomials, squares: Squares, state: SpinArray,
        denominator: int, meter: Meter,
    ) -> Planted:  # fmt: skip
        """Return a plant whose polynomial is (sum of squares) / denominator, without the constant.

        >>> import numpy as np
        >>> from glasshouse.planting.demand import new_meter
        >>> equation = Squares.of([[(3, 1), (4, -1)]])  # (s0·s1·s2 - 1)²; node 3 is the ghost
        >>> cubic = Monomials.of([[0, 1, 2]])
        >>> Planted.of_products(3, cubic, equation, np.ones(3, np.int8), 2, new_meter())
        Planted(by hand, 3 spins, 1 square, ground energy -1)
        """
        spend(meter, squares.num_terms)
        problem = polynomial_of_squares(num_spins, monomials, squares, denominator)
        energy = int(problem.energy(state))
        return cls(
            problem, state, energy, 1, NO_LOOPS, _BY_HAND, squares, denominator,
            monomials=monomials,
        )  # fmt: skip

    @classmethod
    def from_recipe(cls, recipe: Recipe, steps: int | None = None) -> Planted:
        """Grow an instance again, bit for bit; raise `EffortError` if `steps` is too small."""
        planted = Plan.of(recipe).grow(rng=recipe.seed, steps=steps)
        return shuffle(planted) if recipe.parameters.get("shuffled") else planted

    @cached_property
    def ising(self) -> Ising:
        """The problem in Ising form, visible spins first; raises for polynomials and clauses."""
        if isinstance(self.problem, MaxSat):
            raise ValueError(
                f"{self.recipe.method} plants clauses, which have no Ising form of the same "
                "variables; convert the problem with to_polynomial or to_ising"
            )
        if isinstance(self.problem, Polynomial):
            raise ValueError("a polynomial has no pairs of spins; convert it with to_ising")
        return to_ising(self.problem)[0]

    @property
    def form(self) -> Ising | Polynomial:
        """The problem over spins: the polynomial if it is one, otherwise the Ising form."""
        return self.problem if isinstance(self.problem, Polynomial) else self.ising

    @property
    def half(self) -> Fraction:
        """The paper's n: the number of visible spins of an RBM, or half of a graph's spins."""
        spins = self.problem.num_variables
        if isinstance(self.problem, Rbm):
            return half(spins, self.problem.num_visible)
        asked = self.recipe.parameters
        layers = asked.get("graph", asked.get("n"))  # an RBM's graph is stored as [n, m]
        n = layers[0] if isinstance(layers, (list, tuple)) and layers else layers
        return half(spins, n if isinstance(n, int) and 0 < n < spins else None)

    @property
    def certificate(self) -> Certificate:
        """The proof: frustrated cores, or squares and loops."""
        if isinstance(self.problem, MaxSat):
            return Certificate.of_cores(self.state, self.cores)
        multipliers = -self.loops.negative_weights
        used = multipliers > 0  # a loop of f = 0 is part of the non-negative remainder
        nodes = self.loops.nodes[np.repeat(used, self.loops.lengths)]
        starts = np.concatenate([[0], np.cumsum(self.loops.lengths[used])])
        return Certificate(
            self.state, nodes, starts, multipliers[used], self.denominator, None, self.squares,
            None, self.monomials,
        )  # fmt: skip

    def verify(self) -> None:
        """Prove the plant in linear time with exact integers, or raise a `CertificateError`.

        Nothing of the generator is trusted. These are checked: every loop is a cycle whose own
        ground states include all up; the problem is the sum of loops and squares, gauged to the
        planted state; the state has the stated energy; and the minima of loops and squares and the
        remainder add up to a lower bound that the state attains (see `certificate`). The loop
        weight must be the least positive weight, or be among the weights if the recipe states that
        they are normal; with squares or a denominator it is 1.

        The recipe is not checked. To check it, grow the instance again with `Planted.from_recipe`.
        """
        self._verified()

    @cached_property
    def proven(self) -> Proven:
        """The proof, verified on first access; raises `CertificateError` if the plant is false."""
        return self._verified()

    def _verified(self) -> Proven:
        certificate = self.certificate if isinstance(self.problem, MaxSat) else check_parts(self)
        proven = Proven(self.problem, certificate)
        verdict = proven.verdict
        if type(self.energy) is not int or self.energy != verdict.exact_energy:
            raise CertificateError(
                f"the planted energy is stated as {validation.shown(self.energy)}, "
                f"but the state has the energy {verdict.energy}"
            )
        if verdict.bound != self.energy:
            raise CertificateError(
                f"the {self.parts} prove a bound of {validation.shown(verdict.bound)}, below the "
                f"planted energy {self.energy}"
            )
        if not isinstance(self.problem, MaxSat):
            check_loop_weight(self)
        return proven

    @property
    def parts(self) -> str:
        """The numbers of all parts as text, such as "8 loops"."""
        if isinstance(self.problem, MaxSat):
            return self.certificate.parts if self.cores else "0 cores"
        return counted_parts(self.loops.num_loops, self.squares.num_squares)

    def summary(self) -> Summary:
        """Return requested and realised values next to each other.

        >>> from glasshouse.planting import random_loops
        >>> print(random_loops(8, 8, frustration="1/5", loops=4, rng=1).summary())
        random_loops: 8 visible × 8 hidden, 16 edges; ground energy -36, loop weight 4
                       requested  realised
        frustration    1/5 (0.2)  1/5 (0.2)
        loop density              1/2 (0.5)
        clause density            2
        loops                  4  4
        ground states             16 (proven: 4 components can be flipped)
        components                4
        free spins                3
        """
        return Summary.of(self)

    def _summary_table(self) -> SummaryTable:
        """Return the table of `summary()`."""
        return self.summary()._summary_table()

    def regauge(self, state: State) -> Planted:
        """Return the instance with another planted state: signs change, loops and energies do not.

        Args:
            state: the new ground state, spins ±1 or a string of + and -.
        """
        new = planted_state(state, self.problem.num_variables, np.zeros(4, dtype=np.uint64))
        is_shuffled = self.recipe.parameters.get("shuffled", False)
        # A recipe stores the state that was planted, before any renaming.
        first = new[names(self.recipe, len(new))] if is_shuffled else new
        parameters = dict(self.recipe.parameters) | {"state": state_signs(first)}
        recipe = replace(self.recipe, parameters=parameters)
        if isinstance(self.problem, MaxSat):  # a regauged tree has its halves in another order
            return Planted.from_recipe(recipe)
        turned: Any = gauge(self.problem, self.state * new)
        squares = self.squares.turned(self.state * new, self.monomials)
        return replace(self, problem=turned, state=new, recipe=recipe, squares=squares)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Planted):
            return NotImplemented
        return (
            self.problem == other.problem
            and np.array_equal(self.state, other.state)
            and self.energy == other.energy
            and self.loop_weight == other.loop_weight
            and self.loops == other.loops
            and self.squares == other.squares
            and self.denominator == other.denominator
            and self.cores == other.cores
            and np.array_equal(self.monomials.indices, other.monomials.indices)
            and np.array_equal(self.monomials.starts, other.monomials.starts)
            and self.recipe == other.recipe
        )

    def __hash__(self) -> int:
        return hash((self.energy, self.state.tobytes(), self.recipe))

    def __repr__(self) -> str:
        what = "variables" if isinstance(self.problem, MaxSat) else "spins"
        size = f"{self.problem.num_variables} {what}"
        if isinstance(self.problem, Rbm):
            size = f"{self.problem.num_visible} visible × {self.problem.num_hidden} hidden"
        return f"Planted({self.recipe.method}, {size}, {self.parts}, ground energy {self.energy})"
