"""The metastable state of structured loops: far from the ground state, but close in energy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from glasshouse.landscape.local import at_state, fields_of
from glasshouse.landscape.metric import distance
from glasshouse.problems import Given, Number, Rbm, SpinArray, WeightArray, given_problem
from glasshouse.problems.validation import count
from glasshouse.summaries import Summarised


@dataclass(frozen=True, eq=False, repr=False)
class Metastable(Summarised):
    """The metastable state of an instance of structured loops.

    Attributes:
        state: the spins of the metastable state.
        energy: the energy of the metastable state.
        gap: the energy above the planted state: `2(1-alpha)N` positive loop weights.
        distance: the distance from the planted state, the paper's `|F|/nm`.
        margins: `s_i θ_i` of each spin i; a flip of the spin costs twice its margin.
        is_local_minimum: whether no margin is negative.
    """

    state: SpinArray
    energy: Number
    gap: Number
    distance: Fraction
    margins: WeightArray
    is_local_minimum: bool

    def summary(self) -> str:
        """Return energy, gap, distance and margins as one line of text.

        >>> metastable_state(Rbm([[-1, 2], [2, 2]]), [1, 1, 1, 1], block=(1, 1)).summary()
        'metastable state at -3, 2 above the plant, distance 1/2, a local minimum, margins 0 to 3'
        """
        kind = "a local minimum" if self.is_local_minimum else "not a local minimum"
        return (
            f"metastable state at {self.energy}, {self.gap} above the plant, distance "
            f"{self.distance}, {kind}, margins {self.margins.min()} to {self.margins.max()}"
        )


def metastable_state(
    problem: Given, planted: npt.ArrayLike, *, block: tuple[int, int]
) -> Metastable:
    """Return the metastable state, whose switching subset from the planted state is `B1 ∪ B4`.

    Section "Degeneracy and Local Minima" and appendix H: flip the first n1 visible spins (I) and
    all hidden spins except the first m1 (outside J). Let n3 centre, n1 left and n2 upper loops pass
    through a row or column. The state is a local minimum if `n3 ≥ n1` on every row of I and
    `n3 ≥ n2` on every column of J. The paper adds "by a large margin". With centre loops only, this
    is wrong: all spins outside I and J have zero field, so the state drains.

    Args:
        problem: an RBM grown by structured loops.
        planted: its planted state.
        block: the rows and columns (n1, m1) of the block `B1`, which contains the negative weights.

    >>> gauged = Rbm([[-3, 4], [4, 4]])
    >>> found = metastable_state(gauged, [1, 1, 1, 1], block=(1, 1))
    >>> found.state
    array([-1,  1,  1, -1], dtype=int8)
    >>> found.gap, found.distance, found.margins
    (2, Fraction(1, 2), array([7, 0, 7, 0]))
    """
    given = given_problem(problem)
    if not isinstance(given, Rbm):
        raise ValueError(f"{given!r} must be an Rbm: only an Rbm has visible and hidden spins")
    problem = given
    rows, columns = (count(size, f"block[{k}]", 1) for k, size in enumerate(_pair(block)))
    n, m = problem.num_visible, problem.num_hidden
    if rows > n or columns > m:
        raise ValueError(f"block=({rows}, {columns}) must fit into the {n} × {m} weight matrix")
    form, spins = at_state(problem, planted)
    flips = np.ones(n + m, dtype=np.int8)
    flips[:rows] = -1
    flips[n + columns :] = -1
    state = spins * flips
    margins = state * fields_of(form, state)
    energy = problem.energy(state)
    return Metastable(
        state=state,
        energy=energy,
        gap=energy - problem.energy(spins),
        distance=distance(problem, spins, state),
        margins=margins,
        is_local_minimum=bool((margins >= 0).all()),
    )


def _pair(block: tuple[int, int]) -> tuple[int, int]:
    if not isinstance(block, (tuple, list)) or len(block) != 2:
        raise ValueError(f"block={block!r} must be a pair of integers: (rows, columns)")
    return block[0], block[1]
