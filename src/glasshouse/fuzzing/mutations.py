"""Random changes to an instance that keep the proof of its optimum valid.

There are three kinds: new names and order (gauge, rename, reorder), clauses of the same cost
(split, merge, scale), and further clauses that the model satisfies or that have a constant cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from glasshouse.fuzzing.dice import Dice
from glasshouse.fuzzing.specimen import Clause, Loop, Specimen

Mutation = Callable[[Specimen, Dice], Specimen]

_HALF, _FIFTH = Fraction(1, 2), Fraction(1, 5)
_MOST_NEW_WEIGHT = 9


# New names and order ---------------------------------------------------------------------------


def gauge(specimen: Specimen, dice: Dice) -> Specimen:
    """Negate random variables in all clauses and in the model."""
    flips = [dice.below(2) for _ in specimen.model]
    model = tuple(bit ^ flip for bit, flip in zip(specimen.model, flips, strict=True))
    return _renamed(specimen, model, lambda x: -x if flips[abs(x) - 1] else x)


def rename(specimen: Specimen, dice: Dice) -> Specimen:
    """Give the variables random new numbers, with up to 40 unused numbers among them."""
    size = len(specimen.model)
    spare = dice.choice((0, 0, 1, 3, 40))
    names = dice.order(range(1, size + spare + 1))
    model = [dice.below(2) for _ in names]
    for old, bit in enumerate(specimen.model):
        model[names[old] - 1] = bit
    return _renamed(
        specimen, tuple(model), lambda x: names[abs(x) - 1] if x > 0 else -names[abs(x) - 1]
    )


def reorder(specimen: Specimen, dice: Dice) -> Specimen:
    """Shuffle all clauses, and the literals in each clause."""
    mixed = dice.order(specimen.clauses)
    clauses = [c._replace(literals=tuple(dice.order(c.literals))) for c in mixed]
    return replace(specimen, clauses=tuple(clauses))


def _renamed(specimen: Specimen, model: tuple[int, ...], new: Callable[[int], int]) -> Specimen:
    clauses = tuple(c._replace(literals=tuple(map(new, c.literals))) for c in specimen.clauses)
    loops = tuple(
        loop._replace(vertices=tuple(v and abs(new(v)) for v in loop.vertices))
        for loop in specimen.loops
    )
    return replace(specimen, model=model, clauses=clauses, loops=loops)


# The same costs --------------------------------------------------------------------------------


def split(specimen: Specimen, dice: Dice) -> Specimen:
    """Split random soft clauses into two with the same literals and the same total weight."""

    def halves(clause: Clause) -> list[Clause]:
        if clause.is_hard or clause.weight < 2 or not dice.happens(_FIFTH):
            return [clause]
        share = clause.weight // 2
        if dice.happens(_HALF):
            share = dice.between(1, clause.weight - 1)
        return [clause._replace(weight=w) for w in (share, clause.weight - share)]

    return replace(specimen, clauses=tuple(h for c in specimen.clauses for h in halves(c)))


def expand(specimen: Specimen, dice: Dice) -> Specimen:
    """Replace random unit clauses l by the pair l ∨ x and l ∨ ¬x, which has the same cost."""

    def both(clause: Clause) -> list[Clause]:
        if len(clause.literals) != 1 or not dice.happens(_HALF):
            return [clause]
        variable = dice.between(1, len(specimen.model))
        if variable == abs(clause.literals[0]):
            return [clause]
        sides = ((*clause.literals, x) for x in (variable, -variable))
        return [clause._replace(literals=literals) for literals in sides]

    return replace(specimen, clauses=tuple(c for clause in specimen.clauses for c in both(clause)))


def merge(specimen: Specimen, dice: Dice) -> Specimen:
    """Merge soft clauses with the same literals, and the parts that share a merged clause."""
    merged: dict[tuple[int, ...], Clause] = {}
    clauses: list[Clause] = []
    joined: dict[int, int] = {}

    def root(part: int) -> int:
        while part in joined:
            part = joined[part]
        return part

    for clause in specimen.clauses:
        key = tuple(sorted(clause.literals))
        if clause.is_hard:
            clauses.append(clause)
        elif key in merged:
            other = merged[key]
            merged[key] = other._replace(weight=other.weight + clause.weight)
            if root(clause.part) != root(other.part):
                joined[root(clause.part)] = root(other.part)
        else:
            merged[key] = clause
    clauses += merged.values()
    loops = (loop._replace(part=root(loop.part)) for loop in specimen.loops)
    return replace(
        specimen, clauses=tuple(c._replace(part=root(c.part)) for c in clauses), loops=tuple(loops)
    )


def cut(specimen: Specimen, most: int) -> Specimen:
    """Split soft clauses heavier than `most` into several clauses with the same literals."""
    clauses: list[Clause] = []
    for clause in specimen.clauses:
        pieces, rest = divmod(clause.weight, most)
        if clause.is_hard or clause.weight <= most:
            clauses.append(clause)
            continue
        clauses += [clause._replace(weight=most)] * pieces
        clauses += [clause._replace(weight=rest)] * bool(rest)
    return replace(specimen, clauses=tuple(clauses))


def scale(specimen: Specimen, factor: int) -> Specimen:
    """Multiply all weights of an instance by an integer."""
    clauses = tuple(c._replace(weight=factor * c.weight) for c in specimen.clauses)
    loops = tuple(x._replace(multiplier=factor * x.multiplier) for x in specimen.loops)
    return replace(specimen, clauses=clauses, loops=loops)


# Hard clauses ----------------------------------------------------------------------------------


def harden(specimen: Specimen, dice: Dice) -> Specimen:
    """Turn a random fraction of the satisfied soft clauses into hard clauses.

    If the hard clauses hold, costs are as before, so the model stays optimal. The proof counts a
    hard clause with its old weight. That must not exceed its new weight, which is more than the
    total weight of the remaining soft clauses.
    """
    share = Fraction(1, dice.choice((1, 2, 4)))
    rest = specimen.soft_weight
    heaviest = max((c.weight for c in specimen.clauses if c.is_hard), default=0)
    clauses = []
    for clause in specimen.clauses:
        weight = max(clause.weight, heaviest)
        if (
            not clause.is_hard
            and specimen.satisfies(clause.literals)
            and rest - clause.weight >= weight
            and dice.happens(share)
        ):
            rest, heaviest = rest - clause.weight, weight
            clause = clause._replace(is_hard=True)
        clauses.append(clause)
    return replace(specimen, clauses=tuple(clauses))


def add_hard(specimen: Specimen, dice: Dice) -> Specimen:
    """Add one to four hard clauses that the model satisfies."""
    for _ in range(dice.between(1, 4)):
        specimen = added(specimen, dice, _satisfied(specimen, dice), 0, is_hard=True)
    return specimen


# More clauses ----------------------------------------------------------------------------------


def add_satisfied(specimen: Specimen, dice: Dice) -> Specimen:
    """Add one to three soft clauses that the model satisfies."""
    for _ in range(dice.between(1, 3)):
        weight = dice.between(1, _MOST_NEW_WEIGHT)
        specimen = added(specimen, dice, _satisfied(specimen, dice), weight)
    return specimen


def duplicate(specimen: Specimen, dice: Dice) -> Specimen:
    """Add copies of random clauses that the model satisfies, including hard clauses."""
    for clause in specimen.clauses:
        if specimen.satisfies(clause.literals) and dice.happens(_FIFTH):
            weight = 0 if clause.is_hard else clause.weight
            specimen = added(specimen, dice, clause.literals, weight, is_hard=clause.is_hard)
    return specimen


def add_tautologies(specimen: Specimen, dice: Dice) -> Specimen:
    """Add one to three clauses x ∨ ¬x, soft or hard."""
    for _ in range(dice.between(1, 3)):
        variable = dice.between(1, len(specimen.model))
        is_hard = dice.happens(_HALF)
        weight = 0 if is_hard else dice.between(1, _MOST_NEW_WEIGHT)
        specimen = added(specimen, dice, (variable, -variable), weight, is_hard=is_hard)
    return specimen


def add_empty(specimen: Specimen, dice: Dice) -> Specimen:
    """Add one soft clause without literals, which every assignment falsifies."""
    return added(specimen, dice, (), dice.between(1, _MOST_NEW_WEIGHT))


def add_weightless(specimen: Specimen, dice: Dice) -> Specimen:
    """Add one to three random clauses of weight 0."""
    for _ in range(dice.between(1, 3)):
        specimen = added(specimen, dice, _any_literals(specimen, dice), 0)
    return specimen


def repeat_literals(specimen: Specimen, dice: Dice) -> Specimen:
    """Replace random unit clauses x by x ∨ x."""
    clauses = (
        c._replace(literals=c.literals * 2) if len(c.literals) == 1 and dice.happens(_HALF) else c
        for c in specimen.clauses
    )
    return replace(specimen, clauses=tuple(clauses))


def added(
    specimen: Specimen, dice: Dice, literals: tuple[int, ...], weight: int, is_hard: bool = False
) -> Specimen:
    """Return the instance with one more clause, which is a new part, at a random position.

    The model must satisfy the clause, or the cost of the clause must be constant.
    """
    part = 1 + max((c.part for c in specimen.clauses), default=-1)
    new: tuple[Loop, ...] = ()
    if weight and specimen.satisfies(literals):
        new = specimen.triangle(literals, weight, part)
    clauses = list(specimen.clauses)
    clauses.insert(dice.below(len(clauses) + 1), Clause(literals, weight, part, is_hard))
    return replace(specimen, clauses=tuple(clauses), loops=(*specimen.loops, *new))


def _any_literals(specimen: Specimen, dice: Dice) -> tuple[int, ...]:
    size = len(specimen.model)
    variables = dice.order(range(1, size + 1))[: dice.between(1, 2)]
    return tuple(v if dice.happens(_HALF) else -v for v in variables)


def _satisfied(specimen: Specimen, dice: Dice) -> tuple[int, ...]:
    """Draw one or two literals, at least one of which is true in the model."""
    first, *others = _any_literals(specimen, dice)
    true = first if specimen.satisfies([first]) else -first
    return tuple(dice.order((true, *others)))


PLAIN: tuple[Mutation, ...] = (
    gauge, rename, reorder, split, expand, merge, harden, add_hard, add_satisfied, duplicate,
)  # fmt: skip
CORNERS: tuple[Mutation, ...] = (add_tautologies, add_empty, add_weightless, repeat_literals)
