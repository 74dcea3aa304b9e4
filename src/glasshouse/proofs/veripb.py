"""Proofs for VeriPB, the MaxSAT community's own checker of cutting-planes proofs.

A loop of the certificate becomes one line. The clauses of its edges, added up in the two directions
around the cycle and saturated, leave the sum of their relaxation literals ≥ 1: some clause of the
cycle is falsified. The loops' lines, added up with their multipliers and divided by the common
denominator, are the lower bound on the objective, and the state is the upper bound.

Squares need more than that, see `veripb_squares`.

Proofs are for files that hold, for every edge, both clauses of equal weight, and unit clauses for
fields: what `files.write` makes of an Ising problem or RBM.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Literal, TypeAlias

from glasshouse.certificates import Certificate
from glasshouse.certificates.verdict import check_fit
from glasshouse.problems import Max2Sat
from glasshouse.proofs.veripb_squares import Parts, Script, negated

Form: TypeAlias = Literal["wcnf", "opb"]
Version: TypeAlias = Literal["3.0", "2.0"]


def veripb_proof(
    problem: Max2Sat,
    certificate: Certificate,
    *,
    form: Form = "wcnf",
    version: Version = "3.0",
) -> str:
    """The proof that a certificate holds, for a problem's WCNF or OPB file as `files` writes it.

    The certificate is in units of cost, as `prove(problem)` and a plant's own one are. All its
    loops must be odd cycles of the file, together within the weights. Plants whose loops cancelled
    each other have other loops: `prove` finds them. Squares may cancel each other and loops, but
    may be over at most 4 spins, the ghost not counted.

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
        raise ValueError(f"form={form!r} and version={version!r}; there are wcnf, opb and 3.0, 2.0")
    sheet = _Sheet(problem, form)
    check_fit(certificate, problem.num_variables)
    script = Script(sheet.num_constraints, version)
    lower = (_by_pairs if certificate.num_squares else _by_clauses)(sheet, certificate, script)
    bits = [int(spin > 0) for spin in certificate.state.tolist()]
    script.conclude(lower, problem.cost(bits), sheet.assignment(bits))
    return f"pseudo-Boolean proof version {version}\n" + "".join(script.lines)


def _by_clauses(sheet: _Sheet, certificate: Certificate, script: Script) -> int:
    """Loops as sums of the file's own clauses; the bound that the last line proves."""
    load = [0] * sheet.problem.num_clauses
    multipliers = list(map(int, certificate.multipliers.tolist()))
    for multiplier, cycle in zip(multipliers, _cycles(certificate), strict=True):
        parts = sheet.walk(cycle)
        for clause in (clause for part in parts for clause in part):
            load[clause] += multiplier
        script.pol(sheet.sum_of(parts))
    sheet.refuse_overload(load, certificate.denominator)
    first = sheet.num_constraints + 1
    words = [f"{k} {m} *" + (" +" if k > first else "") for k, m in enumerate(multipliers, first)]
    return sheet.conclude(script, words, sum(multipliers), certificate.denominator)


def _by_pairs(sheet: _Sheet, certificate: Certificate, script: Script) -> int:
    """Loops and squares over variables of pairs, exchanged for what the file has of each."""
    parts = Parts(script, certificate)
    words, degree = parts.sums, parts.degree
    for variable, amount in parts.terms.items():
        degree += max(0, -amount)
        literal = variable if amount > 0 else f"~{variable}"
        exchange, weight = sheet.exchange(literal, parts)
        used = min(abs(amount), certificate.denominator * weight)
        if exchange and used:
            words.append(f"{exchange} {used} * +")
        if given := abs(amount) - used:
            words.append(f"{negated(literal)} {given} * +")
            degree -= given
    return sheet.conclude(script, words, degree, certificate.denominator)


class _Sheet:
    """A problem as its file shows it: which constraint a clause is, and what relaxes it.

    Attributes:
        edges: for each pair of variables, by each literal the clause (from 0) that holds it.
        units: for each variable, its unit clause.
        constraints: the number, from 1, of each clause's constraint.
        num_constraints: how many there are.
    """

    def __init__(self, problem: Max2Sat, form: Form) -> None:
        self.problem, self.form = problem, form
        self.clauses: list[list[int]] = problem.clauses.tolist()
        self.edges, self.units = _paired(problem)
        # VeriPB makes a soft unit clause of a WCNF file a term of the objective, no constraint.
        counted = [form == "opb" or second != 0 for _, second in self.clauses]
        self.constraints = list(accumulate(counted, initial=0))[1:]
        self.num_constraints = sum(counted)

    def walk(self, cycle: list[int]) -> list[list[int]]:
        """The clauses by which a cycle contradicts itself, from each value of its first variable.

        A cycle through the ghost (variable 0, always true and first) needs one direction only: from
        the value that its first field wants to the one that its last field does not want.
        """
        if 0 not in cycle:
            parts = [self._follow([*cycle, cycle[0]], start) for start in (cycle[0], -cycle[0])]
            if parts[0][1] != -cycle[0]:
                raise _no_cycle(cycle)
            return [clauses for clauses, _ in parts]
        start, end = (self.units.get(variable, -1) for variable in (cycle[1], cycle[-1]))
        if start < 0 or end < 0:
            raise _no_cycle(cycle)
        clauses, reached = self._follow(cycle[1:], self.clauses[start][0])
        if reached != -self.clauses[end][0]:
            raise _no_cycle(cycle)
        return [[start, *clauses, end]]

    def _follow(self, path: list[int], literal: int) -> tuple[list[int], int]:
        """The clauses ¬l ∨ m by which literal l of the path's start forces m, and the last m."""
        clauses = []
        for a, b in pairwise(path):
            at = self.edges.get((min(a, b), max(a, b)))
            if at is None:
                raise _no_cycle(path)
            clauses.append(at[-literal])
            literal = b if at.get(b) == clauses[-1] else -b
        return clauses, literal

    def sum_of(self, parts: list[list[int]]) -> str:
        """Reverse Polish: the sum of a cycle's clauses, saturated in each direction."""
        words = []
        for clauses in parts:
            # A unit clause that is no constraint has its literal in the objective already.
            has_number = [self.form == "opb" or self.clauses[k][1] != 0 for k in clauses]
            ids = [self.constraints[k] for k, has in zip(clauses, has_number, strict=True) if has]
            words.append(f"{ids[0]} " + "".join(f"{k} + " for k in ids[1:]) + "s")
        return " ".join(words) + " +" * (len(parts) - 1)

    def refuse_overload(self, load: list[int], denominator: int) -> None:
        """The certificate's loops must fit into the weights."""
        weights = map(int, self.problem.weights.tolist())
        for clause, used, weight in zip(self.clauses, load, weights, strict=True):
            if used > weight * denominator:
                raise ValueError(
                    f"the loops use the clause {clause} {used}/{denominator} times, but it weighs "
                    f"{weight}; loops that cancelled each other are none of the file: give the "
                    "certificate that `prove` finds"
                )

    def exchange(self, literal: str, parts: Parts) -> tuple[str, int]:
        """How a violated pair turns into relaxation literals, and how much of it the file has.

        A soft unit clause of a WCNF file has its literal in the objective already.
        """
        sign = -1 if literal.startswith("~") else 1
        name = literal.removeprefix("~")
        if name.startswith("x"):
            clause = self.units.get(int(name[1:]), -1)
            if clause < 0 or self.clauses[clause][0] * sign > 0:
                return "", 0
            weight = int(self.problem.weights[clause])
            return (f"{self.constraints[clause]}" if self.form == "opb" else ""), weight
        a, b = map(int, name[1:].split("_"))
        at = self.edges.get((a, b), {})
        other = -b * sign  # of the clause that holds a, if it is violated where the literal is true
        if not at or at[a] != at[other]:
            return "", 0
        ways = (
            f"{parts.definition(x, -y)} {self.constraints[at[x]]} + s"
            for x, y in ((a, other), (-a, -other))
        )
        return " ".join(ways) + " + s", int(self.problem.weights[at[a]])

    def conclude(self, script: Script, words: list[str], degree: int, denominator: int) -> int:
        """Divide a sum by the denominator, rounded up to multiples of the weights' gcd.

        Division rounds up coefficients and the right-hand side; no coefficient gets above the
        weight, so that the result implies objective ≥ bound.
        """
        if degree <= 0 or not words:
            script.pol("x1" if self.problem.num_variables else "")
            return 0
        unit = math.gcd(*map(int, self.problem.weights.tolist()))
        divisor = denominator * unit
        script.pol(" ".join([*words, *([f"{divisor} d {unit} *"] if divisor > 1 else [])]))
        return -(-degree // divisor) * unit

    def assignment(self, bits: list[int]) -> str:
        """The state and what it makes of the relaxation variables."""
        words = [f"x{v}" if bit else f"~x{v}" for v, bit in enumerate(bits, 1)]
        for k, clause in enumerate(self.clauses, 1):
            holds = any(x and bits[abs(x) - 1] == (x > 0) for x in clause)
            if self.form == "opb":
                words.append(f"~x{len(bits) + k}" if holds else f"x{len(bits) + k}")
            elif clause[1]:
                words.append(f"_b{k}" if holds else f"~_b{k}")
        return " ".join(words)


def _paired(problem: Max2Sat) -> tuple[dict[tuple[int, int], dict[int, int]], dict[int, int]]:
    """Edges and units of a problem that has both clauses of each edge, else an error."""
    only = "a VeriPB proof is written only for files of soft clauses, both of each edge once"
    if problem.num_hard or not problem.is_integer:
        what = "hard clauses" if problem.num_hard else "float weights"
        raise ValueError(f"the problem has {what}; {only}, with integer weights")
    edges: dict[tuple[int, int], dict[int, int]] = {}
    units: dict[int, int] = {}
    for k, (one, two) in enumerate(problem.clauses.tolist()):
        a, b = sorted((abs(one), abs(two)))
        at = units if a == 0 else edges.setdefault((a, b), {})
        keys = {b} if a == 0 else {one, two}
        if a == b or keys & at.keys():
            raise ValueError(f"clause {k + 1}, {one} {two}, is empty or repeated; {only}")
        at.update(dict.fromkeys(keys, k))
    for (a, b), at in edges.items():
        if len(at) < 4 or len({int(problem.weights[k]) for k in at.values()}) > 1:
            raise ValueError(f"variables {a} and {b} lack two clauses of equal weight; {only}")
    return edges, units


def _cycles(certificate: Certificate) -> Iterator[list[int]]:
    """The loops as cycles of variables from 1; one through the ghost, 0, begins there."""
    nodes, starts = certificate.nodes.tolist(), certificate.starts.tolist()
    ghost = len(certificate.state)
    for first, end in pairwise(starts):
        cycle = [0 if node == ghost else node + 1 for node in nodes[first:end]]
        turn = cycle.index(0) if 0 in cycle else 0
        yield cycle[turn:] + cycle[:turn]


def _no_cycle(cycle: list[int]) -> ValueError:
    return ValueError(
        f"the loop {cycle} is no odd cycle of the file: weights cancelled where it runs; give the "
        "certificate that `prove` finds"
    )
