"""What one leaf of a tree proves: its own bound, and the least value that it leaves possible."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from glasshouse.certificates.bound import Parts, contracted, lower_bound
from glasshouse.certificates.cover import least_value
from glasshouse.certificates.exact_form import ExactForm
from glasshouse.certificates.ties import Pair, ties_of


class LeafBound(NamedTuple):
    """No state of a leaf has a value below `bound`, and so none below `least`."""

    bound: Fraction
    least: int


def bounded_leaf(
    form: ExactForm, pairs: Sequence[Pair], parts: Parts, value: int
) -> LeafBound | None:
    """What loops and squares prove of all states that keep some pairs; None if there are none.

    Args:
        form: the problem.
        pairs: which spins agree and which differ in the leaf.
        parts: its loops and squares.
        value: that of any state that counts. All of them differ from it by multiples of the form's
            step, and those of the leaf among each other by multiples of the leaf's own.
    """
    if not pairs:
        bound = lower_bound(form, parts)
        return LeafBound(bound, rounded_up(bound, value, form.step))
    ties = ties_of(form.num_variables + 1, pairs)
    if ties is None:
        return None
    small = contracted(form, ties)
    bound = lower_bound(small, parts, ties)
    one_of_them = small.constant - int(small.weights.sum())
    within = rounded_up(bound, one_of_them, small.flip_step)
    return LeafBound(bound, max(within, rounded_up(bound, value, form.step)))


def covered_leaf(form: ExactForm, pairs: Sequence[Pair], nodes: Sequence[int]) -> LeafBound | None:
    """What looking at all states of some vertices proves; None if no state keeps the pairs."""
    ties = ties_of(form.num_variables + 1, pairs)
    if ties is None:
        return None
    roots = ties.roots[list(nodes)]
    least = least_value(contracted(form, ties), roots, int(ties.roots[-1]))
    return LeafBound(Fraction(least), least)


def rounded_up(bound: Fraction, value: Any, step: Any) -> Any:
    """The least number not below a bound that differs from a value by a multiple of a step.

    A step of 0 leaves the value alone.

    >>> rounded_up(Fraction(-7, 2), 4, 3)
    -2
    """
    return value - int((value - bound) // step) * step if step else value
