"""A stock returns exactly the violated cuts among those it was given, each once."""

from __future__ import annotations

import numpy as np
from tests.proofs.lattices import lattice
from tests.proofs.trees.test_node import grown_tree

from glasshouse.proofs.budget import Budget
from glasshouse.proofs.lp import stock as stocks
from glasshouse.proofs.lp.cuts import Cut, cycle_cuts
from glasshouse.proofs.lp.node import CliqueRelaxation
from glasshouse.proofs.lp.stock import Stock
from glasshouse.proofs.signed_graph import SignedGraph, exact_array


def cut(edges, coefficients, right_side):
    return Cut(np.array(edges, np.int32), np.array(coefficients, np.int64), right_side)


def as_text(cuts):
    return sorted(sorted(zip(c.edges.tolist(), c.coefficients.tolist(), strict=True)) for c in cuts)


def test_violated_cuts_are_those_of_the_definition():
    rng = np.random.default_rng(1)
    stock, cuts = Stock(30), []
    for _ in range(200):
        edges = rng.permutation(30)[: rng.integers(3, 9)]
        cuts.append(cut(edges, rng.integers(1, 3, len(edges)), int(rng.integers(1, 5))))
        cuts.append(cut(edges, -rng.integers(1, 3, len(edges)), -int(rng.integers(1, 9))))
    stock.keep(cuts[:150])
    stock.keep(cuts[100:])
    for _ in range(20):
        point, tolerance = rng.random(30), float(rng.random())
        expected = [c for c in cuts
                    if point[c.edges] @ c.coefficients < c.right_side - tolerance]  # fmt: skip
        assert as_text(stock.violated(point, tolerance)) == as_text(expected)


def test_an_empty_stock_has_no_cuts():
    assert Stock(5).violated(np.zeros(5), 0.0) == []


def test_the_same_cycle_in_another_order_is_one_cut():
    one, same = (cycle_cuts(np.array(arcs, np.int32), np.array([0, 4]), 2)[0]
                 for arcs in ([0, 2, 5, 6], [6, 5, 0, 2]))  # fmt: skip
    other = cycle_cuts(np.array([0, 2, 4, 7], np.int32), np.array([0, 4]), 2)[0]
    stock = Stock(4)
    stock.keep([one])
    stock.keep([same, other])
    assert len(stock.cuts) == 2
    assert as_text(stock.joined([one], [same, other])) == as_text([one, other])


def test_the_oldest_cuts_leave(monkeypatch):
    monkeypatch.setattr(stocks, "_MOST", 3)
    stock = Stock(9)
    cuts = [cut([k, k + 1], [1, 1], 1) for k in range(8)]
    for some in (cuts[:2], cuts[2:]):
        stock.keep(some)
    assert as_text(stock.violated(np.zeros(9), 0.5)) == as_text(cuts[-3:])


def test_the_stock_counts_for_the_memory_limit_of_a_tree():
    search, _ = grown_tree(lattice(5, 5, 5, seed=1), "clique LP", 1)
    stock = search.relaxation.stock
    cuts = list(stock.cuts.values())
    arrays = [array for cut in cuts for array in (cut.edges, cut.coefficients)]
    assert len(cuts) > 100
    assert stock.num_bytes > 2 * sum(array.nbytes for array in arrays)  # the cuts and their copy
    held = search.progress(None).held
    assert held == search.holdings.num_bytes + stock.num_bytes
    stock.keep([cut([k, k + 1], [1, 1], 1) for k in range(50)])
    assert search.progress(None).held > held


def test_a_stock_that_has_lost_cuts_still_follows_the_definition(monkeypatch):
    monkeypatch.setattr(stocks, "_MOST", 40)
    rng = np.random.default_rng(2)
    stock, cuts = Stock(30), []
    for count in (25, 1, 0, 30, 60, 7):
        found = [
            cut(rng.permutation(30)[:size], rng.choice([-2, -1, 1], size), int(rng.integers(-3, 4)))
            for size in rng.integers(4, 9, count)
        ]
        stock.keep([*cuts[-5:], *found])  # cuts that it has keep their places
        cuts = [*cuts, *found][-40:]
        assert list(stock.cuts.values()) == cuts
        for _ in range(10):
            point = rng.random(30)
            expected = [c for c in cuts if point[c.edges] @ c.coefficients < c.right_side - 0.1]
            assert stock.violated(point, 0.1) == expected


def test_a_node_takes_cuts_of_the_stock_before_it_searches(monkeypatch):
    problem = lattice(4, 4, 4, seed=3)
    graph = SignedGraph(64, problem.edges, exact_array(problem.weights.tolist()))
    cost = CliqueRelaxation(graph).bound([], graph.total, Budget()).states[-1]
    first = CliqueRelaxation(graph)
    first.bound([], graph.cost(cost), Budget())
    second, searches = CliqueRelaxation(graph), []
    second.stock = first.stock
    real = CliqueRelaxation.cuts_at

    def counted(self, *arguments):
        searches.append(self is second)
        return real(self, *arguments)

    monkeypatch.setattr(CliqueRelaxation, "cuts_at", counted)
    assert second.bound([], graph.cost(cost), Budget()).closed
    known = len(searches)
    assert CliqueRelaxation(graph).bound([], graph.cost(cost), Budget()).closed
    assert known < len(searches) - known
