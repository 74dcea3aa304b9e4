"""The least cost of clauses, found by loops or by enumeration, without third-party solvers.

Both ways are exact for weights of any size. `prove` finds loops if the weights are within the
library's limit; loops are verified, never trusted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Certificate
from glasshouse.files.clause_file import ClauseFile, as_problem
from glasshouse.problems import MaxSat
from glasshouse.proofs import HardClausesUnsatisfiableError, prove

MOST_ENUMERATED = 24  # variables
_FEW = 16  # up to this many variables, enumeration is faster than a proof
_AT_ONCE = 16  # variables whose assignments are evaluated together
_PROVE_SECONDS = 5.0
_LOW = 2**32 - 1


@dataclass(frozen=True)
class Decision:
    """The least cost of clauses, and how it is proven.

    Attributes:
        optimum: the least cost; None if no assignment satisfies the hard clauses.
        certificate: loops that prove the least cost; None if all assignments were enumerated.
    """

    optimum: int | None
    certificate: Certificate | None = None


def decide(clauses: ClauseFile) -> Decision | None:
    """Return the least cost of clauses and its proof, or None if that takes too much work."""
    size = len(clauses.used)
    if size <= _FEW:
        return Decision(enumerated_optimum(clauses))
    try:
        return proven_optimum(clauses) or (
            Decision(enumerated_optimum(clauses)) if size <= MOST_ENUMERATED else None
        )
    except HardClausesUnsatisfiableError:
        return Decision(None)


def proven_optimum(clauses: ClauseFile) -> Decision | None:
    """Return the least cost and the loops that prove it, or None if `prove` finds no such loops."""
    try:
        problem = as_problem(clauses)
    except ValueError:
        return None
    if isinstance(problem, MaxSat):
        return None
    proof = prove(problem, time_limit=_PROVE_SECONDS)
    if proof.statistics.stopped == "Ctrl-C":  # the interrupt is for the caller
        raise KeyboardInterrupt
    if not proof.optimal:
        return None
    return Decision(int(proof.energy), proof.certificate)


def enumerated_optimum(clauses: ClauseFile) -> int | None:
    """Return the least cost over all assignments, or None if the hard clauses are unsatisfiable.

    >>> enumerated_optimum(ClauseFile(2, ((2**64, (1, 2)), (3, (-1,)), (4, (-2,))), ((1, -2),)))
    3
    """
    found = enumerated_best(clauses)
    return None if found is None else found[0]


def enumerated_best(clauses: ClauseFile) -> tuple[int, list[int]] | None:
    """Return the least cost and an assignment with it; None if hard clauses are unsatisfiable.

    >>> enumerated_best(ClauseFile(2, ((2**64, (1, 2)), (3, (-1,)), (4, (-2,))), ((1, -2),)))
    (3, [1, 0])
    """
    used = sorted(clauses.used)
    if len(used) > MOST_ENUMERATED:
        raise ValueError(f"cannot enumerate {len(used)} variables; use at most {MOST_ENUMERATED}")
    names = {variable: place for place, variable in enumerate(used)}
    free = max(0, len(used) - _AT_ONCE)
    found = [_least_of(clauses, names, part << _AT_ONCE) for part in range(1 << free)]
    least = min((one for one in found if one is not None), default=None)
    if least is None:
        return None
    cost, code = least
    model = [0] * clauses.num_variables
    for variable, place in names.items():
        model[variable - 1] = (code >> place) & 1
    return cost, model


def _least_of(clauses: ClauseFile, names: dict[int, int], first: int) -> tuple[int, int] | None:
    """Return a block's least cost and the first assignment with that cost; None if infeasible."""
    codes = first + np.arange(1 << min(len(names), _AT_ONCE), dtype=np.int64)
    kept = np.ones(len(codes), dtype=np.bool_)
    for clause in clauses.hard:
        kept &= ~_falsified(clause, names, codes)
    codes = codes[kept]
    if not len(codes):
        return None
    # Weights are split into two halves of 32 bits: sums of up to 2^31 clauses cannot overflow.
    high, low = np.zeros(len(codes), dtype=np.int64), np.zeros(len(codes), dtype=np.int64)
    for weight, clause in clauses.soft:
        false = _falsified(clause, names, codes)
        high[false] += weight >> 32
        low[false] += weight & _LOW
    high += low >> 32
    low &= _LOW
    least = int(high.min())
    lowest = int(low[high == least].min())
    code = codes[(high == least) & (low == lowest)][0]
    return (least << 32) + lowest, int(code)


def _falsified(
    clause: tuple[int, ...], names: dict[int, int], codes: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    false = np.ones(len(codes), dtype=np.bool_)
    for literal in clause:
        false &= ((codes >> names[abs(literal)]) & 1) != (literal > 0)
    return false
