"""Matchings of nodes of small graphs against brute force over all pairings, and their duals."""

from __future__ import annotations

import functools
import itertools
import sys

import networkx as nx
import numpy as np
import pytest
from tests.interrupts import assert_heard

from glasshouse.kernels.adjacency import adjacency
from glasshouse.proofs.matching.kernels import matching, moats
from glasshouse.proofs.matching.kernels.regions import Regions

NEVER = 1 << 60


def network(seed: int, most: int) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """A connected graph with parallel edges and loops; its weights have ties, zeros, or neither."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, most))
    tree = np.array([[k, rng.integers(0, k)] for k in range(1, size)]).reshape(-1, 2)
    sides = np.concatenate([tree, rng.integers(0, size, (int(rng.integers(0, 3 * size)), 2))])
    heaviest = (1, 2, 5, 10**6)[seed % 4]
    weights = rng.integers(1 if heaviest == 1 else 0, heaviest + 1, len(sides))
    chosen = rng.permutation(size)[: 2 * int(rng.integers(0, size // 2 + 1))]
    return size, sides.astype(np.int32), weights, chosen.astype(np.int32)


def distances(size: int, sides: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """All distances (Floyd and Warshall)."""
    apart = np.full((size, size), NEVER)
    for (a, b), weight in zip(sides.tolist(), weights.tolist(), strict=True):
        apart[a, b] = apart[b, a] = min(apart[a, b], weight)
    np.fill_diagonal(apart, 0)
    for k in range(size):
        apart = np.minimum(apart, apart[:, k : k + 1] + apart[k])
    return apart


def least_pairing(apart: np.ndarray, chosen: np.ndarray) -> int:
    """The least total distance of all pairings of the chosen nodes."""

    @functools.cache
    def least(left: tuple[int, ...]) -> int:
        if not left:
            return 0
        first, *rest = left
        return min(
            int(apart[first, other]) + least(tuple(x for x in rest if x != other)) for other in rest
        )

    return least(tuple(chosen.tolist()))


def radii(regions: Regions) -> np.ndarray:
    """The radii of all regions that exist in the end."""
    count = len(regions.home)
    exists = np.append(np.ones(count, np.bool_), regions.first[count:] >= 0)
    return regions.base[exists]


def assert_joins(sides: np.ndarray, crossed: np.ndarray, chosen: np.ndarray) -> None:
    size = int(sides.max()) + 1
    odd = np.bincount(sides[crossed].ravel(), minlength=size) % 2
    assert np.flatnonzero(odd).tolist() == sorted(chosen.tolist())


@pytest.mark.parametrize("group", range(10))
def test_a_matching_is_minimal_and_its_radii_prove_it(group):
    for seed in range(200 * group, 200 * group + 200):
        size, sides, weights, chosen = network(seed, 11)
        regions = matching.match(adjacency(size, sides), 2 * weights, chosen)
        assert regions is not None
        crossed = matching.crossed_edges(regions)
        assert_joins(sides, crossed, chosen)
        total = weights[crossed].sum()
        assert total == least_pairing(distances(size, sides, weights), chosen)
        assert radii(regions).min(initial=0) >= 0
        assert radii(regions).sum() == 2 * total


@pytest.mark.parametrize("seed", range(40))
def test_larger_matchings_agree_with_networkx(seed):
    size, sides, weights, chosen = network(seed + 7000, 70)
    regions = matching.match(adjacency(size, sides), 2 * weights, chosen)
    assert regions is not None
    crossed = matching.crossed_edges(regions)
    assert_joins(sides, crossed, chosen)
    apart = distances(size, sides, weights)
    complete = nx.Graph()
    for a in chosen.tolist():
        complete.add_weighted_edges_from((a, b, -int(apart[a, b])) for b in chosen if a < b)
    best = nx.max_weight_matching(complete, maxcardinality=True)
    assert weights[crossed].sum() == sum(apart[a, b] for a, b in best)
    assert radii(regions).sum() == 2 * weights[crossed].sum()


def test_a_node_without_partner_cannot_be_matched():
    sides, lengths = np.array([[0, 1], [1, 2], [3, 4]], np.int32), np.array([2, 4, 6])
    assert matching.match(adjacency(5, sides), lengths, np.array([0, 3], np.int32)) is None
    assert matching.match(adjacency(5, sides), lengths, np.array([0, 2, 1], np.int32)) is None
    assert matching.match(adjacency(5, sides), lengths, np.array([0, 2], np.int32)) is not None


def test_outdated_events_are_removed_when_the_heap_is_full(monkeypatch):
    """The heap has a limited size; it is rebuilt when outdated events fill it."""
    size, sides, weights, chosen = network(7003, 70)
    dual, new_regions = adjacency(size, sides), matching.new_regions
    expected = matching.match(dual, 2 * weights, chosen)

    def tight(*arguments):
        regions = new_regions(*arguments)
        most = len(regions.wanted) + 1
        return regions._replace(keys=regions.keys[:most], items=regions.items[:most])

    monkeypatch.setattr(matching, "new_regions", tight)
    again = matching.match(dual, 2 * weights, chosen)
    assert expected is not None
    assert again is not None
    assert radii(again).sum() == radii(expected).sum()


def test_the_moats_of_a_ring_of_three_faces_are_the_faces_and_their_blossom():
    """Three triangles around a vertex, all odd, and the odd outer face."""
    ends = np.array([[0, 3], [1, 3], [2, 3], [0, 1], [1, 2], [0, 2]], np.int32)
    sides = np.array([[0, 2], [0, 1], [1, 2], [0, 3], [1, 3], [2, 3]], np.int32)
    lengths = 2 * np.array([1, 1, 1, 5, 5, 5])
    regions = matching.match(adjacency(4, sides), lengths, np.arange(4, dtype=np.int32))
    assert regions is not None
    rows, negative = tuple(adjacency(4, ends)), np.ones(6, np.uint8)
    edges, begins, widths = moats.moats(regions, rows, ends, negative, 0, len(regions.base))
    cycles = [sorted(edges[a:b].tolist()) for a, b in itertools.pairwise(begins)]
    assert cycles[:3] == [[0, 1, 3], [1, 2, 4], [0, 2, 5]]
    assert all(cycle == [3, 4, 5] for cycle in cycles[3:])
    assert widths[:3].tolist() == [1, 1, 1]
    assert widths.sum() == 2 * (1 + 5)


MATCHING_WITH_CTRL_C = """
import os, signal, threading
import numpy as np
from glasshouse.kernels.adjacency import adjacency
from glasshouse.proofs.matching.kernels import matching

def line(size):  # points in pairs, ever farther apart
    ways = np.arange(size - 1)
    dual = adjacency(size, np.stack([ways, ways + 1], axis=1))
    return dual, np.where(ways % 2, 10**9, 2 * ways), np.arange(size, dtype=np.int32)

matching.match(*line(4))
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True:
        matching.match(*line(6000))
except KeyboardInterrupt:
    print("heard")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
def test_ctrl_c_within_a_matching_is_heard():
    """Compiled code must not return named tuples, because Ctrl-C would then crash the process."""
    assert_heard(MATCHING_WITH_CTRL_C)
