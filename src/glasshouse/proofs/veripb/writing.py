"""Proofs for VeriPB, the MaxSAT community's own checker of cutting-planes proofs.

A loop of the certificate becomes one line. The clauses of its edges, added up in the two directions
around the cycle and saturated, yield the sum of their relaxation literals ≥ 1: some clause of the
cycle is violated. The lines of all loops, added up with their multipliers and divided by the common
denominator, are the lower bound on the objective, and the state is the upper bound.

Trees, squares, loops over pairs that the file lacks, and energy steps need more (see `tree`).

Cores are trees over any clauses, including hard clauses (see `cores`). All other proofs are for
files that contain both clauses of every edge, with equal weights, and unit clauses for fields, as
`files.write` writes an Ising problem or RBM.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, TypeAlias

from glasshouse.certificates import Certificate, verify
from glasshouse.problems import Max2Sat, MaxSat
from glasshouse.proofs.veripb.cores import ClauseSheet, add_up_cores
from glasshouse.proofs.veripb.script import Script
from glasshouse.proofs.veripb.sheet import Form, Sheet
from glasshouse.proofs.veripb.tree import TreeProof

Version: TypeAlias = Literal["3.0", "2.0"]


def veripb_proof(
    problem: Max2Sat | MaxSat,
    certificate: Certificate,
    *,
    form: Form = "wcnf",
    version: Version = "3.0",
) -> str:
    """Return the VeriPB proof of a certificate, for a WCNF or OPB file that `files` wrote.

    The certificate is in units of cost, like those of `prove(problem)` and of plants. Its squares
    may be over at most 4 spins, not counting the ghost and spins that the tree ties to others, and
    its covers may not need too many cases; otherwise a ValueError is raised.

    >>> triangle = Max2Sat.from_clauses(
    ...     3, [[1, 2], [-1, -2], [2, 3], [-2, -3], [1, 3], [-1, -3]], [2, 2, 1, 1, 1, 1])
    >>> print(veripb_proof(triangle, Certificate([1, -1, 1], [2, 1, 0], [0, 3], [1])))
    pseudo-Boolean proof version 3.0
    f 6 ;
    pol 4 1 + 6 + s 3 2 + 5 + s + ;
    pol 7 1 * ;
    output NONE ;
    conclusion BOUNDS 1 : 8 1 : x1 ~x2 x3 _b1 _b2 _b3 _b4 _b5 ~_b6 ;
    end pseudo-Boolean proof ;
    """
    if form not in ("wcnf", "opb") or version not in ("3.0", "2.0"):
        raise ValueError(
            f"form={form!r} must be wcnf or opb, and version={version!r} must be 3.0 or 2.0"
        )
    if certificate.num_monomials:
        raise ValueError(
            "the certificate has products of spins as vertices, but VeriPB does not support these; "
            "check the certificate with `glasshouse check` instead"
        )
    if certificate.tree is not None and certificate.tree.num_orders:
        raise ValueError(
            "the certificate has elimination orders, but VeriPB does not support these; prove the "
            "problem again with loops_only=True, or use `glasshouse check`"
        )
    verdict = verify(problem, certificate)
    bound = max(0, int(verdict.lower_bound))
    if isinstance(problem, MaxSat) or certificate.num_cores:
        clauses = ClauseSheet(problem, form)
        script = Script(clauses.num_constraints, version)
        add_up_cores(clauses, certificate, script)
        return _concluded(script, problem, certificate, bound, clauses, version)
    sheet = Sheet(problem, form)
    script = Script(sheet.num_constraints, version)
    walks = _walks(sheet, certificate, bound)
    if bound == 0:
        script.pol("x1" if problem.num_variables else "")
    elif walks is not None:
        _add_up(sheet, certificate, walks, script)
    else:
        TreeProof(sheet, certificate, script, bound).write()
    return _concluded(script, problem, certificate, bound, sheet, version)


def _concluded(
    script: Script,
    problem: Max2Sat | MaxSat,
    certificate: Certificate,
    bound: int,
    sheet: Sheet | ClauseSheet,
    version: Version,
) -> str:
    """Write the conclusion, and return the whole proof as text."""
    bits = [int(spin > 0) for spin in certificate.state.tolist()]
    script.conclude(bound, problem.cost(bits), sheet.assignment(bits))
    return f"pseudo-Boolean proof version {version}\n" + "".join(script.lines)


def _walks(sheet: Sheet, certificate: Certificate, bound: int) -> list[list[list[int]]] | None:
    """Return the clauses of each loop, or None if sums of the file's clauses cannot give the bound.

    All loops must be odd cycles of the file and fit into its weights together. The bound must not
    need a step between costs that is larger than the weights' gcd.
    """
    if certificate.tree is not None or certificate.num_squares:
        return None
    load, walks = [0] * len(sheet.clauses), []
    multipliers: list[int] = certificate.multipliers.tolist()
    for multiplier, cycle in zip(multipliers, _cycles(certificate), strict=True):
        ways = sheet.walk(cycle)
        if ways is None:
            return None
        for clause in (clause for way in ways for clause in way):
            load[clause] += multiplier
        walks.append(ways)
    over = certificate.denominator
    if any(used > weight * over for used, weight in zip(load, sheet.weights, strict=True)):
        return None
    return walks if -(-sum(multipliers) // (over * sheet.unit)) * sheet.unit >= bound else None


def _add_up(
    sheet: Sheet, certificate: Certificate, walks: list[list[list[int]]], script: Script
) -> None:
    """Write each loop as a sum of the file's clauses, then their sum divided by the denominator.

    Division rounds up coefficients and the right-hand side to multiples of the weights' gcd. No
    coefficient exceeds the weight, so the result implies objective ≥ bound.
    """
    lines = [script.pol(sheet.sum_of(ways)) for ways in walks]
    multipliers = certificate.multipliers.tolist()
    words = [f"{line} {multiplier} *" + " +" * (line > lines[0])
             for line, multiplier in zip(lines, multipliers, strict=True)]  # fmt: skip
    divisor = certificate.denominator * sheet.unit
    script.pol(" ".join([*words, *([f"{divisor} d {sheet.unit} *"] if divisor > 1 else [])]))


def _cycles(certificate: Certificate) -> Iterator[list[int]]:
    """Yield the loops as cycles of variables from 1; cycles through the ghost start with 0."""
    nodes, starts = certificate.nodes.tolist(), certificate.starts.tolist()
    ghost = len(certificate.state)
    for first, end in pairwise(starts):
        cycle = [0 if node == ghost else node + 1 for node in nodes[first:end]]
        turn = cycle.index(0) if 0 in cycle else 0
        yield cycle[turn:] + cycle[:turn]
