"""Exact reductions between the kinds of problems (paper, section 2 and appendix A; ERRATA 1).

Each function returns the new problem and a `Reduction`. Integers stay integers: if the algebra
yields halves or eighths, all weights are multiplied by the smallest factor that clears them, and
the reduction records it. The chain of the paper is

    MAX-2-SAT → QUBO → bipartite QUBO → ±1 RBM → ghost-spin form

and `to_rbm`, `to_ising`, `to_qubo`, `to_max2sat`, `to_maxcut` follow it from any kind of problem.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np

from glasshouse.problems import exact, exchange, pairs
from glasshouse.problems.bipartite import Penalty, ising_to_rbm, qubo_to_bipartite
from glasshouse.problems.expansion import in_units, of_pairs, to_pairs
from glasshouse.problems.ising import Ising
from glasshouse.problems.max2sat import Max2Sat, cost_as_qubo, with_hard_clauses
from glasshouse.problems.maxsat import (
    MaxSat,
    clause_polynomial,
    clause_qubo,
    clauses_of_pairs,
    pairs_of_clauses,
)
from glasshouse.problems.naming import Units
from glasshouse.problems.polynomial import Polynomial
from glasshouse.problems.qubo import Qubo
from glasshouse.problems.rbm import Rbm
from glasshouse.problems.reduction import Reduction, same_state, spins, to_bits, to_spins
from glasshouse.problems.two_sides import two_colouring

Problem: TypeAlias = Ising | Rbm | Qubo | Max2Sat | MaxSat | Polynomial
AnyProblem = TypeVar("AnyProblem", bound=Problem)


class HasProblem(Protocol):
    """An object with an attribute `problem`, such as a plant."""

    @property
    def problem(self) -> Problem:
        """The object's problem."""


class Bqm(Protocol):
    """The members of a dimod binary quadratic model that glasshouse uses."""

    @property
    def vartype(self) -> Any:
        """The model's vartype, SPIN or BINARY."""

    def to_numpy_vectors(self) -> Any:
        """Return the model's coefficients as NumPy arrays."""


Given: TypeAlias = Problem | HasProblem | Bqm


# From any problem ------------------------------------------------------------------------------


def to_ising(problem: Given) -> tuple[Ising, Reduction]:
    """Convert any problem to an Ising problem with one spin per variable.

    Terms of three or more variables, and clauses of three or more literals, need ancillas: more
    spins, after those of the variables.

    >>> to_ising(Max2Sat.from_clauses(2, [[1, 2]], [4]))[0].energy([-1, -1])
    4
    """
    problem = given_problem(problem)
    if isinstance(problem, Ising):
        return unchanged(problem)
    if isinstance(problem, Rbm):
        return rbm_to_ising(problem)
    if isinstance(problem, Max2Sat):
        return max2sat_to_ising(problem)
    if isinstance(problem, (Polynomial, MaxSat)):
        quadratic, first = _in_pairs(problem)
        ising, second = to_ising(quadratic)
        return ising, first.then(second)
    return qubo_to_ising(problem)


def to_qubo(problem: Given) -> tuple[Qubo, Reduction]:
    """Convert any problem to a QUBO to be minimised; `to_ising` describes any added variables.

    >>> from glasshouse.problems import Ising
    >>> qubo, reduction = to_qubo(Ising.from_edges(2, [(0, 1)], [3]))
    >>> qubo
    Qubo(2 variables, 1 pairs, integer weights -12 to -12)
    >>> print(reduction)
    Ising → QUBO: E_target = E_source
    """
    problem = given_problem(problem)
    if isinstance(problem, Qubo):
        return unchanged(problem)
    if isinstance(problem, Max2Sat):
        return max2sat_to_qubo(problem)
    if isinstance(problem, (Polynomial, MaxSat)):
        quadratic, first = _in_pairs(problem)
        qubo, second = to_qubo(quadratic)
        return qubo, first.then(second)
    ising, first = to_ising(problem)
    qubo, second = ising_to_qubo(ising)
    return qubo, first.then(second)


def to_max2sat(problem: Given) -> tuple[Max2Sat, Reduction]:
    """Convert any problem to weighted MAX-2-SAT; `to_ising` describes any added variables.

    >>> from glasshouse.problems import Ising
    >>> clauses, reduction = to_max2sat(Ising.from_edges(2, [(0, 1)], [3]))
    >>> clauses
    Max2Sat(2 variables, 2 clauses, integer weights 3 to 3)
    >>> print(reduction)
    Ising → MAX-2-SAT: E_target = 1/2·E_source + 3/2
    """
    problem = given_problem(problem)
    if isinstance(problem, Max2Sat):
        return unchanged(problem)
    if isinstance(problem, MaxSat) and problem.longest <= 2:
        short = pairs_of_clauses(problem)
        return short, same_state(problem.space, short.space)
    ising, first = to_ising(problem)
    clauses, second = ising_to_max2sat(ising)
    return clauses, first.then(second)


def to_maxsat(problem: Given) -> tuple[MaxSat, Reduction]:
    """Convert any problem to weighted MaxSAT, by `to_max2sat` unless it already is MaxSAT.

    >>> to_maxsat(Max2Sat.from_clauses(2, [[1, 2], [-1]], [3, 1]))[0]
    MaxSat(2 variables, 2 clauses, at most 2 literals, integer weights 1 to 3)
    """
    problem = given_problem(problem)
    if isinstance(problem, MaxSat):
        return unchanged(problem)
    short, first = to_max2sat(problem)
    clauses = clauses_of_pairs(short)
    return clauses, first.then(same_state(short.space, clauses.space))


def to_rbm(problem: Given, *, penalty: Penalty = "tight") -> tuple[Rbm, Reduction]:
    """Convert any problem to an RBM, a bipartite Ising problem.

    A bipartite Ising problem is split into its two sides (see `ising_to_rbm`). All others follow
    the paper, whose method works for every graph: each variable becomes a visible and a hidden spin
    that a `penalty` holds together (see `qubo_to_bipartite`).

    >>> rbm, reduction = to_rbm(Max2Sat.from_clauses(2, [[1, 2], [-1], [-2]], [3, 1, 1]))
    >>> rbm.num_visible, rbm.num_hidden
    (2, 2)
    """
    problem = given_problem(problem)
    if isinstance(problem, Rbm):
        return unchanged(problem)
    if isinstance(problem, Ising) and (
        two_colouring(problem.num_variables, problem.edges) is not None
    ):
        return ising_to_rbm(problem)
    qubo, first = to_qubo(problem)
    doubled, second = qubo_to_bipartite(qubo, penalty=penalty)
    ising, third = qubo_to_ising(doubled)
    rbm, fourth = ising_to_rbm(ising, num_visible=qubo.num_variables)
    return _lowest_terms(rbm, first.then(second).then(third).then(fourth))


def to_maxcut(problem: Given) -> tuple[Ising, Reduction]:
    """Convert any problem to an Ising problem without fields, which is MaxCut with weights -J.

    >>> from glasshouse.problems import Ising
    >>> graph, reduction = to_maxcut(Ising.from_edges(2, [(0, 1)], [3], fields=[1, 0]))
    >>> graph
    Ising(3 spins, 2 edges, integer weights 1 to 3)
    >>> print(reduction)
    Ising → MaxCut: E_target = E_source
    """
    ising, first = to_ising(problem)
    graph, second = ising_to_maxcut(ising)
    return graph, first.then(second)


def to_polynomial(problem: Given, units: Units | None = None) -> tuple[Polynomial, Reduction]:
    """Convert any problem to a polynomial in the same variables (spins or bits).

    Args:
        problem: any problem; pairs are degree 2, and so is a clause of two literals.
        units: "spin" or "binary", to change the units.

    >>> from glasshouse.problems import Ising
    >>> to_polynomial(Ising.from_edges(2, [(0, 1)], [3], fields=[1, 0]))[0].terms()
    {(0,): -1, (0, 1): -3}
    """
    problem, first = unchanged(given_problem(problem))
    if isinstance(problem, MaxSat):
        clauses, problem = problem, clause_polynomial(problem)
        first = same_state(clauses.space, problem.space)
    elif not isinstance(problem, Polynomial):
        is_binary = isinstance(problem, (Qubo, Max2Sat))
        quadratic, first = to_qubo(problem) if is_binary else to_ising(problem)
        problem = of_pairs(quadratic)
        first = first.then(same_state(quadratic.space, problem.space))
    new, second = in_units(problem, problem.units if units is None else units)
    return new, first.then(second)


# The single reductions -------------------------------------------------------------------------


def max2sat_to_qubo(problem: Max2Sat) -> tuple[Qubo, Reduction]:
    """Return a QUBO whose energy is the cost; hard clauses have the weight `hard_weight`."""
    qubo = cost_as_qubo(problem)
    return qubo, same_state(problem.space, qubo.space)


def max2sat_to_ising(problem: Max2Sat) -> tuple[Ising, Reduction]:
    """Return an Ising problem whose energy is the cost of the clauses times 1, 2 or 4.

    A literal with sign σ is false as (1 - σs)/2, so a clause is falsified as the product of two
    such terms. The result equals that of the QUBO, in one pass and with smaller numbers. Hard
    clauses have the weight `hard_weight`.
    """
    clauses, weights = with_hard_clauses(problem)
    (weights,) = exact.room(weights, factor=8)
    sign = np.sign(clauses).astype(np.int64)
    spin = np.maximum(np.abs(clauses) - 1, 0)
    literals = np.count_nonzero(clauses, axis=1)
    # The unit is 1/4: a unit clause has one factor (1 - σs)/2, an empty clause has none.
    share = weights * (1 << (2 - literals))
    fields = np.zeros(problem.num_variables, dtype=weights.dtype)
    for end in (0, 1):
        held = sign[:, end] != 0
        np.add.at(fields, spin[held, end], (share * sign[:, end])[held])
    product = weights * sign[:, 0] * sign[:, 1]
    twice = (literals == 2) & (spin[:, 0] == spin[:, 1])  # s·s = 1
    pair = (literals == 2) & ~twice
    offset = exact.total(share) + exact.total(product[twice])
    edges, products = pairs.merge(spin[pair], product[pair], problem.num_variables)
    (couplings, fields, offset), factor = exact.cleared(4, products, fields, offset)
    ising = Ising(problem.num_variables, edges, -couplings, fields, offset, problem.labels)
    return ising, Reduction(problem.space, ising.space, to_spins, to_bits, factor)


def qubo_to_ising(problem: Qubo) -> tuple[Ising, Reduction]:
    """Substitute `x = (1 + s) / 2`: J = -Q/4, h = -(B/2 + Σ_j Q_ij/4), multiplied by 1, 2 or 4."""
    weights, linear = exact.room(problem.weights, problem.linear, factor=8, constant=problem.offset)
    sums = exact.sums_at_ends(problem.num_variables, problem.edges, weights)
    fields = 2 * linear + sums
    offset = 4 * problem.offset + 2 * exact.total(linear) + exact.total(weights)
    quarters, factor = exact.cleared(4, weights, fields, offset)
    weights, fields, offset = quarters
    ising = Ising(problem.num_variables, problem.edges, -weights, -fields, offset, problem.labels)
    return ising, Reduction(problem.space, ising.space, to_spins, to_bits, factor)


def ising_to_qubo(problem: Ising) -> tuple[Qubo, Reduction]:
    """Substitute `s = 2x - 1`: Q = -4J, B = 2 Σ_j J_ij - 2h. Integers stay integers."""
    weights, fields = exact.room(problem.weights, problem.fields, factor=8, constant=problem.offset)
    linear = 2 * exact.sums_at_ends(problem.num_variables, problem.edges, weights) - 2 * fields
    offset = problem.offset - exact.total(weights) + exact.total(fields)
    qubo = Qubo(problem.num_variables, problem.edges, -4 * weights, linear, offset, problem.labels)
    return qubo, Reduction(problem.space, qubo.space, to_bits, to_spins)


def rbm_to_ising(problem: Rbm) -> tuple[Ising, Reduction]:
    """Convert an RBM to an Ising problem, in which hidden spin j becomes spin n + j."""
    ising = Ising(
        problem.num_variables, problem.edges, problem.weights, problem.fields, problem.offset,
        problem.labels,
    )  # fmt: skip
    return ising, same_state(problem.space, ising.space)


def ising_to_max2sat(problem: Ising) -> tuple[Max2Sat, Reduction]:
    """Return two clauses of weight |J| for each edge, and one of weight |h| for each field.

    `cost = (E - offset + Σ|J| + Σ|h|) / 2`: a violated bond falsifies one of its two clauses. True
    is +1. This is the paper's inverse conversion with its common factor 2 removed and its biases
    kept (ERRATA 1).
    """
    first, second = problem.edges[:, 0] + 1, problem.edges[:, 1] + 1
    sign = np.where(problem.weights > 0, -1, 1).astype(np.int32)
    bonds = np.stack([first, sign * second, -first, -sign * second], axis=1).reshape(-1, 2)
    biased = np.flatnonzero(problem.fields)
    fields = problem.fields[biased]
    literals = np.where(fields > 0, biased + 1, -(biased + 1))
    units = np.column_stack([literals, np.zeros_like(literals)])
    clauses = Max2Sat(
        problem.num_variables,
        np.concatenate([bonds, units]).astype(np.int32),
        np.concatenate([np.repeat(np.abs(problem.weights), 2), np.abs(fields)]),
        labels=problem.labels,
    )
    shift = exact.half(problem.total_weight - problem.offset)
    spaces = problem.space, clauses.space
    return clauses, Reduction(*spaces, to_bits, to_spins, Fraction(1, 2), shift)


def ising_to_maxcut(problem: Ising) -> tuple[Ising, Reduction]:
    """Replace fields by couplings to an ancilla (the last spin); states are relative to this spin.

    The graph of weights -J then has `E = offset - ΣJ - 2·cut`. Without fields, nothing is added.
    """
    if not problem.fields.any():
        return problem, same_state(problem.space, spins("MaxCut", problem.num_variables))
    ancilla = problem.num_variables
    biased = np.flatnonzero(problem.fields)
    edges = np.concatenate(
        [problem.edges, np.column_stack([biased, np.full_like(biased, ancilla)])]
    )
    keys = edges[:, 0].astype(np.int64) * (ancilla + 1) + edges[:, 1]
    order = np.argsort(keys, kind="stable")  # two ascending runs
    weights = np.concatenate([problem.weights, problem.fields[biased]])[order]
    # from_edges would drop edges of weight zero.
    cut = Ising(
        ancilla + 1,
        edges[order],
        weights,
        np.zeros_like(weights, shape=ancilla + 1),
        problem.offset,
    )
    reduction = Reduction(
        problem.space,
        spins("MaxCut", ancilla + 1),
        lambda state: np.insert(state, ancilla, 1, axis=-1),
        lambda state: state[..., :-1] * state[..., -1:],
    )
    return cut, reduction


def unchanged(problem: AnyProblem) -> tuple[AnyProblem, Reduction]:
    """Return a problem, and its reduction to itself."""
    return problem, same_state(problem.space, problem.space)


def given_problem(thing: Given) -> Problem:
    """Return the problem that a caller passed: a problem, or the problem of a plant.

    A dimod model becomes an Ising problem or a QUBO, depending on its vartype, with its labels; a
    dimod polynomial becomes a `Polynomial`.
    """
    problem = getattr(thing, "problem", thing)
    if isinstance(problem, Ising | Rbm | Qubo | Max2Sat | MaxSat | Polynomial):
        return problem
    if exchange.is_bqm(thing):
        model: Any = thing
        return (Ising if model.vartype.name == "SPIN" else Qubo).from_bqm(model)
    if exchange.is_polynomial(thing):
        return Polynomial.from_dimod(thing)
    if isinstance(thing, tuple) and thing and hasattr(thing[0], "num_variables"):
        raise ValueError("this is a tuple of a problem and its reduction; pass its first item")
    raise ValueError(
        f"{type(thing).__name__} is not an Ising, Rbm, Qubo, Max2Sat, MaxSat or Polynomial "
        "problem, nor a plant or a dimod model; Ising.from_matrix and Qubo.from_matrix take "
        "a matrix"
    )


# Small parts -----------------------------------------------------------------------------------


def _in_pairs(problem: Polynomial | MaxSat) -> tuple[Ising | Qubo, Reduction]:
    return clause_qubo(problem) if isinstance(problem, MaxSat) else to_pairs(problem)


def _lowest_terms(problem: Rbm, reduction: Reduction) -> tuple[Rbm, Reduction]:
    """Divide the RBM's weights and the reduction's factor by their greatest common divisor."""
    if not problem.is_integer:
        return problem, reduction
    divisor = math.gcd(
        exact.gcd(problem.weights, problem.visible_bias, problem.hidden_bias, problem.offset),
        int(reduction.factor),
    )
    if divisor == 1:
        return problem, reduction
    lowered = Rbm(
        problem.matrix // divisor,
        problem.visible_bias // divisor,
        problem.hidden_bias // divisor,
        int(problem.offset) // divisor,
        problem.labels,
    )
    step = same_state(problem.space, lowered.space, Fraction(1, divisor))
    return lowered, reduction.then(step)
