"""Random clauses of any length for testing solvers, with few enough variables to enumerate.

There are soft and hard clauses of one to ten literals, hard clauses that a model satisfies or that
no assignment does, unsatisfiable cores, literals of one sign only, and the corners of the format.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import combinations, product
from typing import NamedTuple

from glasshouse.files.clause_file import Line
from glasshouse.fuzzing.dice import Dice

_LENGTHS = (1, 1, 2, 3, 3, 3, 3, 4, 4, 5, 6, 8, 10)
_MOST_VARIABLES = 12
_MOST_WEIGHT_DRAWN = 9
_QUARTER, _EIGHTH = Fraction(1, 4), Fraction(1, 8)


class Bounds(NamedTuple):
    """Limits on the weights and clauses that are drawn.

    Attributes:
        is_plain: no clauses that a reader might refuse.
        heaviest: the largest weight.
        goals: sums of all weights that are worth a test, including the largest allowed sum.
        has_zeros: whether weights may be 0.
    """

    is_plain: bool
    heaviest: int
    goals: tuple[int, ...]
    has_zeros: bool


def draw_lines(dice: Dice, bounds: Bounds) -> tuple[int, tuple[Line, ...]]:
    """Draw random clauses; return the number of variables, and the clauses as lines of a file."""
    size = dice.between(1, _MOST_VARIABLES)
    model = [dice.below(2) for _ in range(size)]
    pure = [dice.choice((0, 0, 1, -1)) if dice.happens(_QUARTER) else 0 for _ in range(size)]
    share, is_kept = dice.choice((0, 0, 1, 2, 4)), dice.happens(Fraction(3, 4))
    lines: list[Line] = []
    for _ in range(dice.between(1, 3 * size + 3)):
        literals = _clause(dice, size, pure)
        if not dice.happens(Fraction(share, 4)):
            lines.append((dice.between(1, _MOST_WEIGHT_DRAWN), literals))
            continue
        if is_kept and all((x > 0) != bool(model[abs(x) - 1]) for x in literals):
            literals = (-literals[0], *literals[1:])
        lines.append((None, literals))
    if dice.happens(_QUARTER):
        is_hard = dice.happens(_QUARTER)
        weight = None if is_hard else dice.between(1, _MOST_WEIGHT_DRAWN)
        lines += [(weight, literals) for literals in _core(dice, size)]
    if not bounds.is_plain:
        lines = _with_corners(dice, size, lines, has_zeros=bounds.has_zeros)
    lines = _weighted(dice, dice.order(lines), size, bounds)
    return size + dice.choice((0, 0, 0, 1, 3)), tuple(lines)


def _clause(dice: Dice, size: int, pure: list[int]) -> tuple[int, ...]:
    variables = dice.order(range(1, size + 1))[: dice.choice(_LENGTHS)]
    signs = (pure[v - 1] or (1 if dice.below(2) else -1) for v in variables)
    return tuple(v * sign for v, sign in zip(variables, signs, strict=True))


def _core(dice: Dice, size: int) -> Iterable[tuple[int, ...]]:
    """Draw a set of clauses such that every assignment falsifies at least one of them."""
    if size >= 6 and dice.below(2):
        # Three pigeons in two holes: pigeon p is in hole h where variable 2p + h is true.
        names = dice.order(range(1, size + 1))[:6]
        homes = [(names[2 * p], names[2 * p + 1]) for p in range(3)]
        rivals = [(-names[2 * p + h], -names[2 * q + h])
                  for p, q in combinations(range(3), 2) for h in (0, 1)]  # fmt: skip
        return [*homes, *rivals]
    variables = dice.order(range(1, size + 1))[: dice.between(1, 3)]
    patterns = product((1, -1), repeat=len(variables))
    return [tuple(v * s for v, s in zip(variables, signs, strict=True)) for signs in patterns]


def _with_corners(dice: Dice, size: int, lines: list[Line], *, has_zeros: bool) -> list[Line]:
    """Add random corner cases: repetitions, tautologies, empty clauses and weights of 0."""
    changed: list[Line] = []
    for weight, literals in lines:
        if literals and dice.happens(_EIGHTH):
            literals = tuple(dice.order((*literals, dice.choice(literals))))
        if has_zeros and weight is not None and dice.happens(_EIGHTH):
            weight = 0
        changed += [(weight, literals)] * (2 if dice.happens(_EIGHTH) else 1)
    if dice.happens(_QUARTER):
        variable = dice.between(1, size)
        both = (variable, *dice.order(range(1, size + 1))[: dice.below(4)], -variable)
        changed.append((dice.choice((None, 1, 5)), both))
    if dice.happens(_QUARTER):
        changed += [(dice.between(1, _MOST_WEIGHT_DRAWN), ())] * dice.between(1, 2)
    if dice.below(40) == 0:
        changed.append((None, ()))
    return changed


def _weighted(dice: Dice, lines: list[Line], size: int, bounds: Bounds) -> list[Line]:
    """Scale the weights to a random sum, or leave them; then split clauses that are too heavy."""
    total = sum(weight or 0 for weight, _ in lines)
    goals = [goal for goal in bounds.goals if goal >= total]
    if total and goals and dice.below(2):
        goal = dice.choice(goals)
        lines = [(weight and weight * (goal // total), literals) for weight, literals in lines]
        if rest := goal % total:
            literal = dice.between(1, size)
            lines.insert(dice.below(len(lines) + 1), (rest, (dice.choice((literal, -literal)),)))
    cut: list[Line] = []
    for weight, literals in lines:
        if weight is None or weight <= bounds.heaviest:
            cut.append((weight, literals))
            continue
        pieces, rest = divmod(weight, bounds.heaviest)
        cut += [(bounds.heaviest, literals)] * pieces
        cut += [(rest, literals)] * bool(rest)
    return cut
