"""Local fields: what a single flip costs at a state."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glasshouse.landscape.spins import at_state
from glasshouse.problems import Ising
from glasshouse.problems.convert import Given
from glasshouse.problems.validation import SpinArray, WeightArray

# Floats only: a flip that gains less than this share of all weight is rounding, not descent.
TOLERANCE = 1e-12


def local_fields(problem: Given, state: npt.ArrayLike) -> WeightArray:
    """The field `θ_i = Σ_j J_ij s_j + h_i` that each spin feels.

    Flipping spin i costs `2 s_i θ_i`. In an RBM these are `W·h + a` and then `Wᵀ·v + b`.

    >>> from glasshouse.problems import Rbm
    >>> local_fields(Rbm([[1, 2], [1, -1]]), [1, 1, 1, 1])
    array([3, 0, 2, 1])
    """
    return fields_of(*at_state(problem, state))


def is_local_minimum(problem: Given, state: npt.ArrayLike) -> bool:
    """Whether no single flip lowers the energy (section "Local Minima").

    Flips that cost nothing are allowed, as in the paper.

    >>> from glasshouse.problems import Rbm
    >>> is_local_minimum(Rbm([[1, 2], [1, -1]]), [1, 1, 1, 1])
    True
    """
    form, spins = at_state(problem, state)
    slack = 0 if form.is_integer else TOLERANCE * form.total_weight
    return bool((spins * fields_of(form, spins) >= -slack).all())


def fields_of(form: Ising, spins: SpinArray) -> WeightArray:
    """Local fields of an Ising problem, exact for integers."""
    fields = form.fields.copy()
    first, second = form.edges[:, 0], form.edges[:, 1]
    # add.at keeps int64 exact, where bincount would go through floats.
    np.add.at(fields, first, form.weights * spins[second])
    np.add.at(fields, second, form.weights * spins[first])
    return fields
