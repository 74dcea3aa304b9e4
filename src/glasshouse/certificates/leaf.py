"""The lower bound of one leaf of a tree, and the least value that this bound allows."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from glasshouse.certificates.bound import Parts, contracted, lower_bound
from glasshouse.certificates.cover import least_value
from glasshouse.certificates.elimination import Elimination
from glasshouse.certificates.exact_form import ExactForm
from glasshouse.certificates.ties import Pair, ties_of
from glasshouse.certificates.tree import Cover, Order


class LeafBound(NamedTuple):
    """The proven bound of a leaf, and the least possible value of a state given that bound."""

    bound: Fraction
    least: int


def bounded_leaf(
    form: ExactForm, pairs: Sequence[Pair], parts: Parts, value: int
) -> LeafBound | None:
    """Bound the states that satisfy `pairs` by loops and squares; return None if no state does.

    Args:
        form: the problem.
        pairs: the pairs of spins that agree or differ in the leaf.
        parts: the loops and squares of the leaf.
        value: the value of any valid state. All such values differ by multiples of the form's step,
            and those within the leaf by multiples of the leaf's own step.
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


def exact_leaf(form: ExactForm, pairs: Sequence[Pair], row: Cover | Order) -> LeafBound | None:
    """Compute the least value of a leaf; return None if no state satisfies `pairs`."""
    if isinstance(row, Order):
        elimination = elimination_of(form, pairs, row)
        if elimination is None:
            return None
        least = elimination.least_value()
        return LeafBound(Fraction(least), least)
    ties = ties_of(form.num_variables + 1, pairs)
    if ties is None:
        return None
    roots = ties.roots[list(row.nodes)]
    least = least_value(contracted(form, ties), roots, int(ties.roots[-1]))
    return LeafBound(Fraction(least), least)


def elimination_of(form: ExactForm, pairs: Sequence[Pair], order: Order) -> Elimination | None:
    """Prepare the elimination of a leaf; return None if no state satisfies `pairs`."""
    ties = ties_of(form.num_variables + 1, pairs)
    if ties is None:
        return None
    return Elimination(contracted(form, ties), ties.roots[list(order.nodes)], int(ties.roots[-1]))


def rounded_up(bound: Fraction, value: Any, step: Any) -> Any:
    """Round a bound up to a number that differs from `value` by a multiple of `step`.

    If the step is 0, the value itself is returned.

    >>> rounded_up(Fraction(-7, 2), 4, 3)
    -2
    """
    return value - int((value - bound) // step) * step if step else value
