"""Weighted MAX-k-SAT, planted with frustrated cores on any variables."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Cores
from glasshouse.planting import arguments
from glasshouse.planting.arguments import State
from glasshouse.planting.counting import GroundStates
from glasshouse.planting.demand import Demand, Meter
from glasshouse.planting.kernels.clauses import draw_coefficients
from glasshouse.planting.kernels.cores import draw_cores
from glasshouse.planting.method import Plan, planting_method
from glasshouse.planting.planted import Planted
from glasshouse.problems import Clauses, MaxSat, SpinArray, validation
from glasshouse.problems.ratio import Ratio
from glasshouse.randomness import RngLike, Streams

Shape = Literal["ring", "chain", "tetrahedron"]

_MOST_WIDTH, _MOST_LENGTH, _MOST_WEIGHT = 12, 64, 2**31
# Bytes that growing takes, about: of a literal, a clause and its place in a tree, a variable.
LITERAL, CLAUSE, VARIABLE = 24, 256, 64


class _Templates(NamedTuple):
    """Templates of cores of several lengths: unsatisfiable sets of clauses over positions.

    Attributes:
        sizes: positions of each template.
        firsts: the first clause of each template, and the end of the last.
        starts: where each clause begins, and the end of the last.
        pattern: literals of all clauses: positions starting at 1, ascending, with signs.
    """

    sizes: npt.NDArray[np.int64]
    firsts: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    pattern: npt.NDArray[np.int64]


@planting_method(
    "cores",
    grows_on="clauses",
    examples=(
        {"n": 16, "clause_density": 4},
        {"n": 12, "cores": 5, "shape": "chain", "width": 3, "max_weight": 4, "harden": "1/4"},
        {"n": 14, "cores": 4, "shape": "tetrahedron", "frustrated": "1/2"},
    ),
    knobs={"clause_density": ("1", "6"), "frustrated": ("1/10", "1")},
    ground_states=lambda planted: GroundStates(1, False, "models of clauses are not counted"),
)
def cores(
    n: int,
    *,
    width: int = 3,
    cores: int | None = None,
    clause_density: Ratio | None = None,
    shape: Shape = "ring",
    length: int = 3,
    max_length: int | None = None,
    frustrated: Ratio = 1,
    max_weight: int = 1,
    harden: Ratio = 0,
    state: State | None = None,
    rng: RngLike = None,
) -> Plan:
    """Plant a model of weighted MAX-k-SAT with frustrated cores: clauses that cannot all hold.

    The planted model falsifies exactly one clause of each frustrated core. Every other assignment
    falsifies at least one, so the cores' weights add up to the least cost. A decision tree over
    the variables of a core shows that; the trees are the certificate.

    A ring is a cycle of equations "equal" and "different" that contradict each other, with two
    clauses per equation. A chain leads from a clause x1 by implications to a clause ¬xL. A
    tetrahedron has six variables and four equations of three variables, with 16 clauses. A clause
    with fewer than `width` literals is split on random variables, one clause per pattern of signs.

    If all cores are frustrated rings or tetrahedra, every variable has as many positive literals as
    negative ones, of the same weight, so a count of literals does not reveal the model.

    Args:
        n: variables from which all clauses are drawn.
        width: literals of every clause, at most 12; a tetrahedron needs 3, the others 2.
        cores: the number of cores. Use this or `clause_density`.
        clause_density: clauses per variable, before clauses are left out; rounded up to an integer
            number of cores of mean size.
        shape: "ring", "chain" or "tetrahedron".
        length: variables of the shortest ring (at least 2) or chain (at least 1).
        max_length: variables of the longest core, `length` by default; lengths are uniform.
        frustrated: the fraction of cores that are frustrated. From every other core, the clause
            that the model falsifies is left out, so the model satisfies the whole core.
        max_weight: all clauses of a core have the same weight, uniform from 1 to this.
        harden: the probability that a clause which the model satisfies is hard.
        state: the state to plant; uniform at random if None.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> plant = cores(50, clause_density=5, rng=1)
    >>> plant
    Planted(cores, 50 variables, 21 cores, ground energy 21)
    >>> plant.problem
    MaxSat(50 variables, 252 clauses, at most 3 literals, integer weights 1 to 1)
    >>> plant.verify()
    """
    arguments.one_of(shape, "shape", ("ring", "chain", "tetrahedron"))
    templates, natural = _templates(shape, length, max_length)
    wide = validation.count(width, "width", natural)
    if wide > _MOST_WIDTH:
        raise ValueError(f"width={wide} is above the limit of {_MOST_WIDTH}; use shorter clauses")
    most = int(templates.sizes.max())
    shortest = int(np.diff(templates.starts).min())
    size = arguments.spins(n, 1)
    if size < most + wide - shortest:
        raise ValueError(
            f"n={size} is too small: a core of {most} variables and clauses of {wide} literals "
            f"needs {most + wide - shortest} variables"
        )
    clauses = _clauses_per_core(templates, wide)
    mean = Fraction(int(clauses.sum()), len(clauses))
    number = arguments.number_of(cores, clause_density, size / mean, "cores", "clause_density")
    dials = WeightDials.of(frustrated, harden, max_weight)

    def draw(streams: Streams, meter: Meter) -> Planted:
        model = arguments.planted_state(state, size, streams[0])
        chosen = np.ones(number, dtype=np.int64)
        if len(clauses) > 1:
            draw_coefficients(streams[1], len(clauses), chosen)
        chosen -= 1
        literals = np.empty((int(clauses[chosen].sum()), wide), dtype=np.int32)
        tokens = np.empty(int(_tokens_per_core(templates, wide)[chosen].sum()), dtype=np.int64)
        ends, falsified = draw_cores(
            streams[1], model, wide, chosen, tuple(templates), literals, tokens
        )
        drawn = DrawnCores(Clauses.of(literals), tokens, ends, falsified)
        return planted_cores(drawn, model, streams[2:], dials)

    top = int(clauses.max()) * number
    memory = VARIABLE * size + (CLAUSE + wide * LITERAL) * top
    return Plan(Demand(size, number, memory), draw)


class DrawnCores(NamedTuple):
    """The clauses and trees of cores, all frustrated, before clauses are left out or hardened.

    Attributes:
        clauses: the clauses of all cores, core by core.
        tokens: the trees; clauses are numbered from 1 in the order above.
        ends: for each core, the end of its clauses and of its tokens.
        falsified: for each core, the clause that the planted model falsifies.
    """

    clauses: Clauses
    tokens: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    falsified: npt.NDArray[np.int64]


class WeightDials(NamedTuple):
    """The share of frustrated cores, the probability of hard clauses, and the largest weight."""

    share: Fraction
    hard: Fraction
    heaviest: int

    @classmethod
    def of(cls, frustrated: Ratio, harden: Ratio, max_weight: int) -> WeightDials:
        """Check the three arguments of a method."""
        share, hard = _share(frustrated, "frustrated"), _share(harden, "harden")
        heaviest = validation.count(max_weight, "max_weight", 1)
        if heaviest > _MOST_WEIGHT:
            raise ValueError(
                f"max_weight={heaviest} is above the limit of 2^31; use a smaller weight"
            )
        return cls(share, hard, heaviest)


def planted_cores(
    drawn: DrawnCores, model: SpinArray, streams: Streams, dials: WeightDials
) -> Planted:
    """Draw weights and hard clauses, and leave the falsified clause out of unfrustrated cores."""
    clauses, tokens, ends, falsified = drawn
    share, hard, heaviest = dials
    number, total = len(ends), len(clauses.starts) - 1
    broken = math.floor(share * number + Fraction(1, 2))
    weights = np.ones(number, dtype=np.int64)
    draw_coefficients(streams[0], heaviest, weights)
    draws = np.ones(total, dtype=np.int64)
    draw_coefficients(streams[1], hard.denominator, draws)
    is_hard = draws <= hard.numerator
    is_hard[falsified] = False
    kept = np.ones(total, dtype=np.bool_)
    kept[falsified[broken:]] = False
    each = np.repeat(weights, np.diff(ends[:, 0], prepend=0))
    soft = kept & ~is_hard
    # Clauses count from 1, soft ones first, in the order in which they were drawn.
    new = np.where(soft, np.cumsum(soft), soft.sum() + np.cumsum(is_hard))
    starts = np.append(0, ends[:broken, 1])
    used = tokens[: starts[-1]].copy()
    used[used < 0] = -new[-used[used < 0] - 1]
    problem = MaxSat(len(model), _chosen(clauses, soft), each[soft], _chosen(clauses, is_hard))
    return Planted.of_cores(problem, Cores(used, starts, weights[:broken]), model)


def _chosen(clauses: Clauses, mask: npt.NDArray[np.bool_]) -> Clauses:
    """Return the marked clauses."""
    lengths = clauses.lengths
    return Clauses(
        clauses.literals[np.repeat(mask, lengths)], np.append(0, np.cumsum(lengths[mask]))
    )


def _share(value: Ratio, name: str) -> Fraction:
    share = arguments.ratio(value, name)
    if not 0 <= share <= 1 or share.denominator > _MOST_WEIGHT:
        raise ValueError(f"{name}={value} must be from 0 to 1, with a denominator of at most 2^31")
    return share


def _templates(shape: Shape, length: int, max_length: int | None) -> tuple[_Templates, int]:
    """Return templates of all lengths, and the number of literals in their longest clause."""
    if shape == "tetrahedron":
        if (length, max_length) != (3, None):
            raise ValueError("a tetrahedron has one size; remove length= and max_length=")
        lists = [_tetrahedron()]
    else:
        first = validation.count(length, "length", 2 if shape == "ring" else 1)
        last = first if max_length is None else validation.count(max_length, "max_length", first)
        if last > _MOST_LENGTH:
            raise ValueError(f"a core may have at most {_MOST_LENGTH} variables, not {last}")
        make = _ring if shape == "ring" else _chain
        lists = [make(k) for k in range(first, last + 1)]
    rows = [clause for clauses in lists for clause in clauses]
    lengths = [len(row) for row in rows]
    sizes = np.array([max(abs(x) for row in clauses for x in row) for clauses in lists])
    firsts = np.cumsum([0, *map(len, lists)])
    flat = np.array([literal for row in rows for literal in row])
    return _Templates(sizes, firsts, np.cumsum([0, *lengths]), flat), max(lengths)


def _ring(length: int) -> list[list[int]]:
    """Return a ring's clauses: neighbours are equal, but the first and last variables differ."""
    equal = [[sign * i, -sign * (i + 1)] for i in range(1, length) for sign in (-1, 1)]
    return [*equal, [1, length], [-1, -length]]


def _chain(length: int) -> list[list[int]]:
    """Return a chain's clauses: the first is true, each implies the next, the last is false."""
    return [[1], *([-i, i + 1] for i in range(1, length)), [-length]]


def _tetrahedron() -> list[list[int]]:
    """Return a tetrahedron's clauses: the product of edges is +1 at three vertices, -1 at one."""
    signs = [(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]
    vertices = [(1, 2, 3), (1, 4, 5), (2, 4, 6), (3, 5, 6)]
    even = [[s * e for s, e in zip(row, at, strict=True)] for at in vertices[:3] for row in signs]
    odd = [[-s * e for s, e in zip(row, vertices[3], strict=True)] for row in signs]
    return [*even, *odd[::-1]]


def _clauses_per_core(templates: _Templates, width: int) -> npt.NDArray[np.int64]:
    """Return the number of clauses in a core of each template, after splitting."""
    counts = 1 << (width - np.diff(templates.starts))
    return np.add.reduceat(counts, templates.firsts[:-1])


def _tokens_per_core(templates: _Templates, width: int) -> npt.NDArray[np.int64]:
    """Return the number of tokens in each template's tree, which does not depend on the gauge."""
    found = []
    for kind in range(len(templates.sizes)):
        part = slice(templates.firsts[kind], templates.firsts[kind + 1] + 1)
        starts = templates.starts[part].tolist()
        rows = [templates.pattern[a:b].tolist() for a, b in pairwise(starts)]
        found.append(_tokens(rows, width))
    return np.array(found, dtype=np.int64)


def _tokens(rows: list[list[int]], width: int) -> int:
    """Return the number of tokens in a tree that branches on positions until a clause is false."""
    count, waiting = 0, [()]
    while waiting:
        values: Any = waiting.pop()
        false = [
            r
            for r in rows
            if abs(r[-1]) == len(values) and all(values[abs(x) - 1] != (x > 0) for x in r)
        ]
        if false:
            count += (2 << (width - len(false[0]))) - 1
        else:
            count += 1
            waiting += [(*values, False), (*values, True)]
    return count
