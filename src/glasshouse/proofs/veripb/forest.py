"""Ties between spins in a VeriPB proof, from the pairs on a path of a tree.

In a VeriPB proof no spin is ever replaced by another. Instead, the equalities of a contracted graph
are derived from loops: two pairs that the path makes equal close a loop with the pairs of the path
between them. Each pair of the path that is used adds the literal of its violation. So a leaf proves
that no better state is left, or that a pair of the path is violated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from glasshouse.certificates import Pair
from glasshouse.proofs.veripb.pairs import Edge, Pairs, pair_of, violated
from glasshouse.proofs.veripb.script import Line, Row, negated

# Two vertices, and the coefficient in a sum of "their spins differ".
Amount = tuple[int, int, int]


class Forest:
    """A forest of pairs: each tree is a class of tied vertices, rooted at its lowest vertex.

    Args:
        path: the pairs in the order of the tree.

    Attributes:
        contradiction: a cycle of pairs that no state satisfies; None if there is none.
        variables: the variables of the pairs.
    """

    def __init__(self, path: Sequence[Pair]) -> None:
        self.contradiction: list[Edge] | None = None
        self.variables: set[str] = set()
        self._near: dict[int, list[Edge]] = defaultdict(list)
        self._way_up: dict[int, list[Edge]] = {}
        for a, b, sign in path:
            if self.root(a) != self.root(b):
                self._tie(a, b, sign)
            elif self.sign(a) * self.sign(b) != sign:
                self.contradiction = [*self.way(a, b), (b, a, sign)]
                return

    def _tie(self, a: int, b: int, sign: int) -> None:
        self._near[a].append((a, b, sign))
        self._near[b].append((b, a, sign))
        self.variables.add(_variable(a, b))
        root = min(self.root(a), self.root(b))
        self._way_up[root], waiting, seen = [], [root], {root}
        while waiting:
            vertex = waiting.pop()
            for _, other, sign_there in self._near[vertex]:
                if other not in seen:
                    seen.add(other)
                    self._way_up[other] = [(other, vertex, sign_there), *self._way_up[vertex]]
                    waiting.append(other)

    def root(self, vertex: int) -> int:
        """Return the root of a vertex, which is the lowest vertex of its class."""
        way = self._way_up.get(vertex)
        return way[-1][1] if way else vertex

    def sign(self, vertex: int) -> int:
        """Return +1 if a vertex has the spin of its root, otherwise -1."""
        return _product(self._way_up.get(vertex, []))

    def way(self, a: int, b: int) -> list[Edge]:
        """Return the pairs on the path between vertices a and b, which are in the same class."""
        up, down = list(self._way_up.get(a, [])), list(self._way_up.get(b, []))
        while up and down and up[-1] == down[-1]:
            up.pop()
            down.pop()
        return [*up, *((to, start, sign) for start, to, sign in reversed(down))]


class TiedRow:
    """A sum over pairs, in which pairs that the path makes equal can replace each other.

    Args:
        row: the sum over variables of pairs; other variables are not changed.
        ties: the ties of the path.
        pairs: the pairs, which derive the loops.
    """

    def __init__(self, row: Row, ties: Forest, pairs: Pairs) -> None:
        self.row, self.ties, self.pairs = row, ties, pairs

    def settle(self) -> None:
        """Keep only violated pairs of the path; assume the worst case for all other pairs.

        Pairs that the path makes equal cancel each other first.
        """
        for amounts in self._groups().values():
            self._cancel(amounts)
            for i, j, _ in amounts:
                self.row.give_away(_variable(i, j))

    def contract(self) -> None:
        """Replace all pairs between two classes by the pair of the classes' roots."""
        root = self.ties.root
        for (a, b), amounts in self._groups().items():
            for i, j, amount in amounts:
                if (root(i), root(j)) == (i, j):
                    continue
                target = (a, b) if root(i) == a else (b, a)
                self._exchange((i, j, amount), target, abs(amount))

    def _groups(self) -> dict[tuple[int, int], list[Amount]]:
        """Return the pairs between every two classes, and eliminate the pairs inside a class."""
        groups: dict[tuple[int, int], list[Amount]] = defaultdict(list)
        for variable, amount in list(self.row.terms.items()):
            pair = pair_of(variable) if amount else None
            if pair is None:
                continue
            i, j = pair
            differs = amount if i else -amount  # the ghost's pair is violated if x is false
            a, b = sorted((self.ties.root(i), self.ties.root(j)))
            if a == b:
                self._fix(variable, i, j)
            else:
                groups[a, b].append((i, j, differs))
        return groups

    def _fix(self, variable: str, i: int, j: int) -> None:
        """Eliminate a pair inside a class; if it is violated, so is a pair of the path."""
        ties, amount = self.ties, self.row.terms[variable]
        sign = ties.sign(i) * ties.sign(j)
        literal = violated(i, j, sign)
        if (literal == variable) != (amount > 0):
            self.row.give_away(variable)
        elif variable not in ties.variables:
            self.row.add(self.pairs.loop([*ties.way(i, j), (j, i, -sign)]), abs(amount))

    def _cancel(self, amounts: list[Amount]) -> None:
        """Cancel pairs of opposite directions against each other, as far as possible."""
        sign = {(i, j): self.ties.sign(i) * self.ties.sign(j) for i, j, _ in amounts}
        left: dict[int, list[Amount]] = {
            way: sorted((x for x in amounts if x[2] * sign[x[:2]] * way > 0), key=_magnitude)
            for way in (1, -1)
        }
        while left[1] and left[-1]:
            (i, j, more), (a, b, less) = left[1].pop(), left[-1].pop()
            both = min(abs(more), abs(less))
            target = (a, b) if self.ties.root(a) == self.ties.root(i) else (b, a)
            self._exchange((i, j, more), target, both)
            for way, one in ((1, (i, j, more)), (-1, (a, b, less))):
                if rest := abs(one[2]) - both:
                    left[way].append((*one[:2], rest if one[2] > 0 else -rest))

    def _exchange(self, pair: Amount, target: tuple[int, int], times: int) -> None:
        """Replace `times` copies of a pair by the pair `target`, which joins the same classes."""
        i, j, differs = pair
        a, b = target
        there, back = self.ties.way(i, a), self.ties.way(b, j)
        # The literal in the sum is that of a violated edge of this sign; its opposite is added.
        closing = (j, i, -1 if differs > 0 else 1)
        sign = -_product([*there, *back, closing])
        self.row.add(self.pairs.loop([*there, (a, b, sign), *back, closing]), times)


class Clause:
    """A derived clause, which states that at least one of its literals is true.

    Attributes:
        line: the line of the clause.
    """

    def __init__(self, line: Line) -> None:
        self.line = line

    @classmethod
    def of(cls, row: Row, pairs: Pairs) -> Clause:
        """Return the clause that a positive sum of literals implies."""
        row.divide(max([row.literal_degree, *row.literals().values()]))
        return cls(row.line(pairs.script))

    def resolved(self, other: Clause, pivot: str, pairs: Pairs) -> Clause:
        """Resolve this clause, which may contain `pivot`, with one that may contain ~`pivot`."""
        if pivot not in self.line.terms:
            return self
        if negated(pivot) not in other.line.terms:
            return other
        literals = (self.line.terms | other.line.terms).keys() - {pivot, negated(pivot)}
        words = f"{self.line.name} {other.line.name} + s"
        return Clause(Line.given(dict.fromkeys(sorted(literals), 1), 1, pairs.script.pol(words)))


def _variable(i: int, j: int) -> str:
    return violated(i, j, 1).removeprefix("~")


def _product(edges: Sequence[Edge]) -> int:
    product = 1
    for _, _, sign in edges:
        product *= sign
    return product


def _magnitude(amount: Amount) -> int:
    return abs(amount[2])
