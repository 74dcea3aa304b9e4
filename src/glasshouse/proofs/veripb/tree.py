"""VeriPB proofs of certificates with a tree or squares, or whose bound needs an energy step.

A new variable, the goal, means "cost ≥ bound". If the goal is false, the weights of all violated
pairs add up to less than the bound; this constraint is the *ceiling*. A leaf adds its loops and
squares to the ceiling, and settles the remainder of each pair (see `forest`). The result is a
clause: the goal is true, or a pair on the path to the leaf is violated. The clauses of two halves
resolve to the clause of their branch, and the clause of the whole tree is the goal.

VeriPB reasons about integers, but not about steps between costs, so a proof derives the step: over
spins instead of pairs (see `pairs`), it divides all coefficients of the ceiling, and division
rounds the ceiling down to the next cost. Within a leaf, the spins are the roots of its classes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from glasshouse.certificates import Branch, Certificate, Cover, Leaf, Pair, Tree
from glasshouse.proofs.veripb.forest import Clause, Forest, TiedRow
from glasshouse.proofs.veripb.pairs import Edge, Pairs, Square, SquareLines, pair_of, violated
from glasshouse.proofs.veripb.script import Line, Row, Script, negated
from glasshouse.proofs.veripb.sheet import Sheet

# The most leaves into which all covers are split; each leaf takes a few kilobytes.
MOST_CASES = 1 << 14

_GOAL = "goal"


class TreeProof:
    """The VeriPB proof of the bound of one certificate.

    Args:
        sheet: the sheet of the problem's file.
        certificate: a certificate of the problem.
        script: the script that the proof is written to.
        bound: the bound that the certificate proves, above 0.
    """

    def __init__(self, sheet: Sheet, certificate: Certificate, script: Script, bound: int) -> None:
        self.sheet, self.script, self.bound = sheet, script, bound
        self.pairs = Pairs(script)
        self.squares = SquareLines(self.pairs)
        self.denominator = certificate.denominator
        self.tree = certificate.tree or Tree(
            (Leaf(certificate.num_loops, certificate.num_squares),)
        )
        self._loops = list(_loops_of(certificate))
        self._squares = list(_squares_of(certificate))
        self._ghost = len(certificate.state)
        self._cases = 0
        # In relaxation literals: the goal is true, or they weigh less than the bound.
        objective = sheet.objective()
        room = sum(objective.values()) - bound + 1
        terms = {negated(literal): weight for literal, weight in objective.items()}
        terms[_GOAL] = room
        self._below = Line.given(terms, room, script.define(terms, room, _GOAL, 1))
        terms = objective | {f"~{_GOAL}": bound}
        self._above = Line.given(terms, bound, script.define(terms, bound, _GOAL, 0))

    def write(self) -> None:
        """Write the proof; its last line states cost ≥ bound."""
        halves: list[tuple[str, list[Clause | None]]] = []
        leaves = enumerate(self.tree.leaves(), 1)
        clause: Clause | None = None
        for row in self.tree.rows:
            if isinstance(row, Branch):
                halves.append((violated(self._named(row.first), self._named(row.second), 1), []))
                continue
            number, leaf = next(leaves)
            path = [(self._named(a), self._named(b), sign) for a, b, sign in leaf.pairs]
            if isinstance(row, Cover):
                nodes = [self._named(node) for node in row.nodes if node != self._ghost]
                clause = self._covered(path, nodes, number)
            else:
                clause = self._bounded(path, leaf.loops, leaf.squares)
            while halves and halves[-1][1]:
                pivot, (first,) = halves.pop()
                clause = self._resolved(first, clause, pivot)
            if halves:
                halves[-1][1].append(clause)
        assert clause is not None, "some leaf has states"
        end = Row()
        end.add(clause.line, self.bound)
        end.add(self._above)
        self.script.pol(end.words())

    def _resolved(self, first: Clause | None, second: Clause | None, pivot: str) -> Clause | None:
        """Return the clause of a branch; None represents a clause that is always true."""
        if first is None or second is None:
            return first or second
        return first.resolved(second, pivot, self.pairs)

    def _bounded(self, path: list[Pair], loops: slice, squares: slice) -> Clause | None:
        """Return the clause of a leaf that is bounded by loops and squares."""
        ties = Forest(path)
        if ties.contradiction is not None:
            return self._contradicted(ties.contradiction)
        row = Row()
        if self.tree.common_loops:
            row.add(self._common_loops)
        for multiplier, edges in self._loops[loops]:
            row.add(self.pairs.loop(edges), multiplier)
        for k in (*range(self.tree.common_squares), *range(squares.start, squares.stop)):
            multiplier, square = self._squares[k]
            line = self.squares.line(_contracted(square, ties), k)
            if line is not None:
                row.add(line, multiplier)
        # Parts that worsen the bound are ignored.
        clause = self._closed(row, ties, self.denominator) or self._closed(Row(), ties, 1)
        assert clause is not None, "a leaf that was verified is closed"
        return clause

    def _covered(self, path: list[Pair], nodes: list[int], number: int) -> Clause | None:
        """Return the clause of a cover, by branching on its nodes until all signs are enumerated.

        If all of them are tied to the ghost, every other vertex is coupled to the ghost alone, and
        gets its best value.
        """
        self._cases += 1
        if self._cases > MOST_CASES:
            raise ValueError(
                f"the covers up to leaf {number} of the tree have more than {MOST_CASES} cases, "
                "the limit for VeriPB; check the certificate with `glasshouse check` instead"
            )
        ties = Forest(path)
        if ties.contradiction is not None:
            return self._contradicted(ties.contradiction)
        clause = self._closed(Row(), ties, 1)
        if clause is not None:
            return clause
        # Never empty here: with all nodes tied to the ghost, the least value is exact.
        node, *others = (node for node in nodes if ties.root(node) != 0)
        first, second = (
            self._covered([*path, (0, node, sign)], others, number) for sign in (1, -1)
        )
        return self._resolved(first, second, violated(0, node, 1))

    def _contradicted(self, cycle: list[Edge]) -> Clause | None:
        """Return the clause that excludes a leaf without states, or None if it is always true."""
        return Clause(self.pairs.loop(cycle)) if len(cycle) > 2 else None

    def _closed(self, parts: Row, ties: Forest, denominator: int) -> Clause | None:
        """Return a leaf's clause from the weakest ceiling that proves it; None if none does."""
        for ceiling in self._ceilings(ties):
            row = Row()
            row.add(ceiling, denominator)
            if parts.terms:
                row.add_row(parts)
            TiedRow(row, ties, self.pairs).settle()
            if row.literal_degree > 0:
                return Clause.of(row, self.pairs)
        return None

    def _ceilings(self, ties: Forest) -> Iterator[Line]:
        """Yield lower and lower ceilings: upper bounds on the total weight of violated pairs."""
        yield self._ceiling
        if self._stepped_ceiling is not None:
            yield self._stepped_ceiling
        if ties.variables:
            row = Row()
            row.add(self._stepped_ceiling or self._ceiling)
            TiedRow(row, ties, self.pairs).contract()
            self._step_down(row, {_GOAL, *ties.variables})
            yield row.line(self.script)

    @cached_property
    def _ceiling(self) -> Line:
        """The bound on the violated weight, rounded down to a multiple of the weights' gcd."""
        row = Row()
        row.add(self._below)
        for weight, line in self.sheet.exchanges(self.pairs):
            row.add(line, weight)
        row.round(self.sheet.unit)
        return row.line(self.script)

    @cached_property
    def _stepped_ceiling(self) -> Line | None:
        """The bound `_ceiling`, rounded down to the next cost; None if the gcd achieves this."""
        row = Row()
        row.add(self._ceiling)
        step = self._step_down(row, {_GOAL})
        return row.line(self.script) if step > self.sheet.unit else None

    def _step_down(self, row: Row, others: set[str]) -> int:
        """Round a sum over spins instead of pairs; return the gcd of its coefficients over spins.

        Args:
            row: weights of pairs, in the form of a ceiling.
            others: variables that do not belong to the weights.
        """
        amounts = {pair: amount for variable, amount in row.terms.items()
                   if amount and variable not in others
                   and (pair := pair_of(variable)) and pair[0]}  # fmt: skip
        for pair, amount in amounts.items():
            row.add(self.pairs.equation(*pair)[amount < 0], abs(amount))
        step = math.gcd(*(c for variable, c in row.terms.items() if variable not in others))
        if step:
            row.round(step)
        for pair, amount in amounts.items():
            row.add(self.pairs.equation(*pair)[amount > 0], abs(amount))
        return step

    @cached_property
    def _common_loops(self) -> Line:
        """The sum of the loops that all leaves share."""
        row = Row()
        for multiplier, edges in self._loops[: self.tree.common_loops]:
            row.add(self.pairs.loop(edges), multiplier)
        return row.line(self.script)

    def _named(self, node: int) -> int:
        return 0 if node == self._ghost else node + 1


def _loops_of(certificate: Certificate) -> Iterator[tuple[int, list[Edge]]]:
    """Yield the multiplier and the edges of each loop; variables start at 1, and 0 is the ghost."""
    starts, ghost = certificate.starts.tolist(), len(certificate.state)
    nodes = [0 if node == ghost else node + 1 for node in certificate.nodes.tolist()]
    spins, marks = [1, *certificate.state.tolist()], certificate.negative_edges.tolist()
    multipliers = certificate.multipliers.tolist()
    for multiplier, (first, end) in zip(multipliers, pairwise(starts), strict=True):
        cycle = nodes[first:end]
        yield (
            multiplier,
            [
                (a, b, spins[a] * spins[b] * (-1 if mark else 1))
                for a, b, mark in zip(cycle, cycle[1:] + cycle[:1], marks[first:end], strict=True)
            ],
        )


def _squares_of(certificate: Certificate) -> Iterator[tuple[int, Sequence[tuple[int, int]]]]:
    """Yield the multiplier of each square and its pairs (variable, coefficient); 0 is the ghost."""
    squares, ghost = certificate.squares, len(certificate.state)
    nodes = [0 if node == ghost else node + 1 for node in squares.nodes.tolist()]
    pairs = list(zip(nodes, squares.coefficients.tolist(), strict=True))
    starts, multipliers = squares.starts.tolist(), squares.multipliers.tolist()
    for multiplier, (first, end) in zip(multipliers, pairwise(starts), strict=True):
        yield multiplier, pairs[first:end]


def _contracted(square: Sequence[tuple[int, int]], ties: Forest) -> Square:
    """Return a square with each spin replaced by its class's root, the roots in ascending order."""
    amounts: dict[int, int] = {}
    for node, a in square:
        root = ties.root(node)
        amounts[root] = amounts.get(root, 0) + a * ties.sign(node)
    return tuple(sorted((root, a) for root, a in amounts.items() if a))
