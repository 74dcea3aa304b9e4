"""Random instances for testing solvers: each seed gives one file with a proven optimum.

The same seed gives the same file, bit for bit. A small plant of any method that adds up frustrated
loops, or an almost empty problem, is changed in ways that keep its proof, and its weights are
scaled. The proof is verified, loop by loop and in exact integers, before the solver is asked. Long
clauses come from `long_clauses`, and all their assignments are enumerated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from glasshouse import planting
from glasshouse.files.clause_file import Layout
from glasshouse.files.formats.format import Dialect
from glasshouse.fuzzing import mutations
from glasshouse.fuzzing.deciding import enumerated_optimum
from glasshouse.fuzzing.dice import Dice
from glasshouse.fuzzing.long_clauses import Bounds, draw_lines
from glasshouse.fuzzing.question import (
    MOST_CLASSIC_TOTAL,
    MOST_TOTAL,
    MOST_WEIGHT,
    Question,
    clauses_of,
)
from glasshouse.fuzzing.specimen import Specimen
from glasshouse.planting import Planted, Seed
from glasshouse.problems import validation

Kind = Literal["pairs", "long"]

_MOST_CHANGES = 6
_TRIES = 20  # attempts; a plant that finds no space for its loops is drawn again
# Sums of weights at which solvers change from one number type to the next.
_MAGNITUDES = (2**31 - 1, 2**32, 2**53, 2**53 + 1, 2**62, 2**63 - 1, 2**63, MOST_TOTAL)
_MOST_PIECES = 40  # cutting weights into pieces makes at most this many clauses
_BIPARTITE, _GRAPHS = ("lattice:3x4", "torus:4x4", "lattice:2x7"), ("complete:5", "complete:7")
_FRUSTRATIONS = ("0", "1/10", "1/5", "0.23", "1/4")


@dataclass(frozen=True)
class Corners:
    """The options that determine which instances are drawn.

    Attributes:
        dialect: the dialect of all files; None draws a dialect at random.
        is_plain: leave out what a reader might refuse: empty clauses, tautologies, repeated
            literals, remarks between clauses, and files without clauses.
        most_weight: the largest weight of a soft clause; 1 draws unweighted instances. By default
            the largest weight in the MaxSAT Evaluation's rules, or `most_total` beyond the rules.
        most_total: the largest sum of all soft weights.
        clauses: "pairs" draws clauses of at most two literals, with a certificate; "long" draws
            clauses of any length, and enumerates all assignments. If None, `hunt` alternates.
        beyond_rules: draw weights of 0, weights of 2^63 or more, and classic files whose weights
            add up to that or more.
    """

    dialect: Dialect | None = None
    is_plain: bool = False
    most_weight: int | None = None
    most_total: int = MOST_TOTAL
    beyond_rules: bool = False
    clauses: Kind | None = "pairs"

    def __post_init__(self) -> None:
        if self.most_weight is not None:
            validation.count(self.most_weight, "most_weight", 1)
        validation.count(self.most_total, "most_total", 2**20)
        if not self.beyond_rules and (self.most_weight or 0) > MOST_WEIGHT:
            raise ValueError(
                f"most_weight={self.most_weight} is above 2^63-1, the largest weight in the rules "
                "of the MaxSAT Evaluation; use a smaller weight, or allow weights beyond the rules"
            )
        if self.dialect not in (None, "classic", "mse22"):
            raise ValueError(f"dialect={self.dialect!r} must be 'classic' or 'mse22'")

    @property
    def options(self) -> list[str]:
        """The options of `glasshouse fuzz` that draw the same instances."""
        words = ["--dialect", self.dialect] if self.dialect else []
        words += ["--plain"] * self.is_plain
        words += [] if self.most_weight is None else ["--most-weight", str(self.most_weight)]
        words += ["--most-total", str(self.most_total)] * (self.most_total != MOST_TOTAL)
        words += ["--beyond-rules"] * self.beyond_rules
        return words + (["--clauses", "long"] if self.clauses == "long" else [])

    @property
    def heaviest(self) -> int:
        """The largest weight that a soft clause may have."""
        return self.most_weight or (MOST_TOTAL if self.beyond_rules else MOST_WEIGHT)

    def most_in(self, dialect: Dialect) -> int:
        """Return the largest allowed sum of soft weights for files in a dialect."""
        is_bounded = dialect == "classic" and not self.beyond_rules
        return min(self.most_total, MOST_CLASSIC_TOTAL) if is_bounded else self.most_total


DEFAULT = Corners()


def fuzz_question(seed: int, corners: Corners = DEFAULT) -> Question:
    """Draw the instance for a seed, as a `Question` with a proven optimum.

    >>> print(fuzz_question(138).text.decode(), end="")
    p wcnf 5 6 19
    3 1 -5 0
    3 -1 5 0
    3 5 -4 0
    3 -5 4 0
    3 4 1 0
    3 -4 -1 0
    """
    if corners.clauses == "long":
        return _long_question(Dice(Seed.of(seed).child(1)), corners)
    return fuzz_specimen(seed, corners).question()


def _long_question(dice: Dice, corners: Corners) -> Question:
    layout = _layout(dice, corners)
    most = min(corners.most_in(layout.dialect), _MOST_PIECES * corners.heaviest)
    goals = tuple(goal for goal in (*_MAGNITUDES, most) if goal <= most)
    bounds = Bounds(corners.is_plain, corners.heaviest, goals, corners.beyond_rules)
    size, lines = draw_lines(dice, bounds)
    return Question(size, lines, enumerated_optimum(clauses_of(size, lines)), layout)


def fuzz_specimen(seed: int, corners: Corners = DEFAULT) -> Specimen:
    """Draw the instance for a seed, with its parts and the loops that prove its optimum."""
    dice = Dice(Seed.of(seed))
    layout = _layout(dice, corners)
    specimen = _start(dice, Seed.of(seed).child(0), corners)
    if layout.dialect == "mse22" and not specimen.clauses:
        specimen = mutations.add_satisfied(specimen, dice)  # a file needs a clause
    kinds = mutations.PLAIN if corners.is_plain else (*mutations.PLAIN, *mutations.CORNERS)
    if not corners.beyond_rules:
        kinds = tuple(kind for kind in kinds if kind is not mutations.add_weightless)
    for _ in range(dice.between(0, _MOST_CHANGES)):
        specimen = dice.choice(kinds)(specimen, dice)
    if corners.is_plain or not corners.beyond_rules:
        clauses = (c for c in specimen.clauses if c.weight or c.is_hard)
        specimen = replace(specimen, clauses=tuple(clauses))  # the loops have no frustration
    specimen = _magnified(specimen, dice, corners.most_in(layout.dialect), corners.heaviest)
    return replace(mutations.cut(specimen, corners.heaviest), layout=layout)


def _start(dice: Dice, seed: Seed, corners: Corners) -> Specimen:
    if dice.below(10) == 0:
        bare = Specimen(tuple(dice.below(2) for _ in range(dice.between(1, 3))))
        return mutations.add_satisfied(bare, dice) if corners.is_plain else bare
    for attempt in range(_TRIES):
        method = dice.choice(tuple(_PLANTS))
        try:
            planted = _PLANTS[method](dice, seed.child(attempt))
        except ValueError:  # no space for the loops
            continue
        specimen = Specimen.of(planted)
        if sum((c.weight - 1) // corners.heaviest for c in specimen.clauses) <= _MOST_PIECES:
            return specimen
    return mutations.add_satisfied(Specimen((1,)), dice)


def _magnified(specimen: Specimen, dice: Dice, most: int, heaviest: int) -> Specimen:
    """Scale all weights by 1 or 3, or to a sum at the limit of a number type, such as 2^31 - 1.

    Args:
        specimen: the instance.
        dice: the source of all choices.
        most: the largest sum of all weights.
        heaviest: the largest weight, which bounds the sum, because there are few clauses.
    """
    most = min(most, _MOST_PIECES * heaviest)
    total = specimen.soft_weight
    if dice.happens(Fraction(1, 2)) or not total:
        return mutations.scale(specimen, dice.choice((1, 1, 1, 3)))
    goal = dice.choice([m for m in (*_MAGNITUDES, most) if total <= m <= most] or [total])
    specimen = mutations.scale(specimen, goal // total)
    rest = goal - specimen.soft_weight
    if not rest:
        return specimen
    variable = dice.between(1, len(specimen.model))
    literal = variable if specimen.model[variable - 1] else -variable
    return mutations.added(specimen, dice, (literal,), rest)


def _layout(dice: Dice, corners: Corners) -> Layout:
    drawn: Dialect = "classic" if dice.below(2) else "mse22"
    odd, which = dice.below(4) == 0, [bool(dice.below(2)) for _ in range(3)]
    top = dice.choice((0, 0, 2**62, 2**63 - 1, MOST_TOTAL + 1))
    if top > MOST_WEIGHT and not corners.beyond_rules:
        top = MOST_WEIGHT
    layout = Layout(corners.dialect or drawn)
    return Layout(layout.dialect, top, *which) if odd and not corners.is_plain else layout


# One small plant per method --------------------------------------------------------------------


def _layers(dice: Dice) -> dict[str, Any]:
    return {
        "n": dice.between(2, 6), "m": dice.between(2, 6), "loops": dice.between(1, 9),
        "frustration": dice.choice(_FRUSTRATIONS),
    }  # fmt: skip


def _random(dice: Dice, seed: Seed) -> Planted:
    weights = dice.choice(("equal", "equal", "normal"))
    overlap = "constructive" if weights == "normal" else dice.choice(("constructive", "none"))
    words: dict[str, Any] = {"weights": weights, "overlap": overlap}
    return planting.random_loops(**_layers(dice), **words, rng=seed)


def _structured(dice: Dice, seed: Seed) -> Planted:
    block = dice.choice(("0.3", "0.5", "0.7"))
    return planting.structured_loops(**_layers(dice), block=block, rng=seed)


def _bias(dice: Dice, seed: Seed) -> Planted:
    ghosts = dice.between(1, 2)
    strength = dice.choice(("1", "3/2", "4"))
    return planting.bias_loops(
        **_layers(dice), ghosts=1 if ghosts == 1 else 2, bias_strength=strength, rng=seed
    )


def _uniform(dice: Dice, seed: Seed) -> Planted:
    size, density = dice.between(3, 8), dice.choice(("1/2", "1", "2"))
    return planting.uniform_max2sat(size, size, clause_density=density, rng=seed)


def _classic(dice: Dice, seed: Seed) -> Planted:
    graph = dice.choice((*_BIPARTITE, *_GRAPHS))
    return planting.classic_loops(graph, loops=dice.between(1, 8), rng=seed)


def _graph(dice: Dice, seed: Seed) -> Planted:
    is_complete = bool(dice.below(2))
    graph = dice.choice(_GRAPHS if is_complete else _BIPARTITE)
    f = "1/3" if is_complete and dice.below(2) else dice.choice(_FRUSTRATIONS)
    return planting.graph_loops(graph, frustration=f, loops=dice.between(1, 8), rng=seed)


def _structured_graph(dice: Dice, seed: Seed) -> Planted:
    f, loops = dice.choice(_FRUSTRATIONS), dice.between(1, 8)
    return planting.structured_graph_loops(
        "complete:9", frustration=f, loops=loops, block="0.4", rng=seed
    )


_PLANTS: dict[str, Callable[[Dice, Seed], Planted]] = {
    "random_loops": _random,
    "structured_loops": _structured,
    "bias_loops": _bias,
    "uniform_max2sat": _uniform,
    "classic_loops": _classic,
    "graph_loops": _graph,
    "structured_graph_loops": _structured_graph,
}
