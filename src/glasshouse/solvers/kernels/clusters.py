"""Isoenergetic cluster moves (Houdayer 2001; Zhu, Ochoa and Katzgraber 2015) on byte lanes.

Take two replicas at one temperature. Sites where the replicas differ form clusters. A flip of a
cluster in both replicas moves energy between them and does not change the sum, because every bond
that leaves the cluster is satisfied in exactly one replica. So each cluster is flipped with
probability 1/2, and both replicas keep their distribution. Without fields a replica is equivalent
to its mirror image, and sites where the two agree form clusters as well: the rarer kind is taken.

Clusters do not touch each other, so their energies add up: flipping only the clusters that lower
the energy yields the best combination of the two states. This combination is evaluated, and stored
if it is better than all earlier states, but no replica changes to it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import compiled, inlined, inner
from glasshouse.kernels.arrays import zeros
from glasshouse.kernels.vectors import bits, item, load, masks, store
from glasshouse.kernels.xoshiro import next_word

ONE, SIX = np.uint64(1), 6
PAIRS = 16  # pairs of lanes that `sample_clusters` examines


class Clusters(NamedTuple):
    """The graph of the sites as plain arrays, and the scratch arrays of one thread."""

    starts: npt.NDArray[np.int64]  # first neighbour of each site
    sites: npt.NDArray[np.int32]  # neighbours of each site; the ghost comes last
    weights: npt.NDArray[np.int32]
    words: npt.NDArray[np.uint64]  # (rows, sites): the spins, a bit for each lane, 1 = down
    flips: npt.NDArray[np.uint64]  # (rows, sites): the bits to flip
    inside: npt.NDArray[np.uint8]  # whether a site is in a cluster,
    fresh: npt.NDArray[np.uint8]  # and has not been visited yet
    members: npt.NDArray[np.int32]  # the sites of all clusters, concatenated
    ends: npt.NDArray[np.int32]  # the end of each cluster
    costs: npt.NDArray[np.int64]  # the change of the first replica's energy by each flip


@compiled
def plain_neighbours(tables: Any) -> Any:
    """Return the neighbours and weights of each site, from the tables of the byte kernel."""
    sites, weights = (
        zeros(tables.neighbours.size, np.int32),
        zeros(tables.neighbours.size, np.int32),
    )
    for g in range(tables.groups.shape[0]):
        edge = tables.signatures[tables.groups[g, 2], 0]
        for site in range(tables.groups[g, 0], tables.groups[g, 1]):
            start = tables.starts[site]
            for k in range(start, tables.starts[site + 1]):
                place = tables.neighbours[k]
                weight = np.int32(tables.edge_weights[edge + k - start])
                sites[k], weights[k] = place >> 7, -weight if place >> SIX & 1 else weight
    return sites, weights


@inlined
def read_spins(spins: Any, clusters: Any) -> None:
    """Pack the spins of all rows of lanes into words, one bit per lane, and clear all flips."""
    for row in range(spins.shape[0]):
        lanes, words, flips = spins[row], clusters.words[row], clusters.flips[row]
        for site in range(flips.size):
            words[site] = bits(load(lanes, site * 128, 64))
            flips[site] = 0


@inlined
def turn_spins(spins: Any, clusters: Any) -> None:
    """Flip the spins that are marked in `clusters.flips`, and their complements."""
    for row in range(spins.shape[0]):
        lanes, flips = spins[row], clusters.flips[row]
        for site in range(flips.size):
            if flips[site]:
                spin = load(lanes, site * 128, 64) ^ masks(flips[site])
                store(lanes, site * 128, spin)
                store(lanes, site * 128 + 64, ~spin)


@inner
def find_clusters(first: Any, second: Any, even: Any, clusters: Any) -> Any:
    """Find the clusters of two lanes, and their costs; return their number and the largest size.

    `even` means that no site has a field, so that sites where the lanes agree may be taken.
    """
    inside, fresh, words = clusters.inside, clusters.fresh, clusters.words
    members, starts = clusters.members, clusters.starts
    sites, weights = clusters.sites, clusters.weights
    mine, yours = words[first >> SIX], words[second >> SIX]
    shift, other = np.uint64(first & 63), np.uint64(second & 63)
    size = clusters.ends.size
    differ = 0
    for i in range(size):
        inside[i] = np.uint8((mine[i] >> shift ^ yours[i] >> other) & ONE)
        differ += inside[i]
    turn = np.uint8(even and 2 * differ > size)
    for i in range(size):
        inside[i] ^= turn
        fresh[i] = inside[i]
    number, end, largest = 0, np.int64(0), np.int64(0)
    for seed in range(size):
        if not fresh[seed]:
            continue
        begin, done, cost = end, end, np.int64(0)
        fresh[seed], members[end] = 0, seed
        end += 1
        while done < end:
            i = members[done]
            done += 1
            spin = item(mine, np.int64(i))
            for k in range(item(starts, np.int64(i)), item(starts, np.int64(i) + 1)):
                # A branch would be unpredictable. Sites that are not new are overwritten.
                j = item(sites, k)
                members[np.uint64(end)] = j
                end += np.int64(item(fresh, j))
                fresh[np.uint64(j)] = 0
                opposite = np.int64((spin ^ item(mine, j)) >> shift & ONE)
                outside = np.int64(item(inside, j)) - 1  # all bits set, or none
                cost += ((item(weights, k) ^ -opposite) + opposite) & outside
        clusters.ends[number], clusters.costs[number] = end, 2 * cost
        number += 1
        largest = max(largest, end - begin)
    return number, largest


@inner
def toss(first: Any, second: Any, number: Any, dice: Any, clusters: Any) -> Any:
    """Flip each cluster with probability 1/2, and return the first lane's energy change."""
    mine, yours = clusters.flips[first >> SIX], clusters.flips[second >> SIX]
    one, other = ONE << np.uint64(first & 63), ONE << np.uint64(second & 63)
    gain, start, word = np.int64(0), 0, np.uint64(0)
    for c in range(number):
        if c & 63 == 0:
            word = next_word(dice)
        end = clusters.ends[c]
        if word >> np.uint64(c & 63) & ONE:
            gain += clusters.costs[c]
            for k in range(start, end):
                mine[clusters.members[k]] ^= one
                yours[clusters.members[k]] ^= other
        start = end
    return gain


@inner
def best_gain(number: Any, clusters: Any) -> Any:
    """Return the first lane's energy change (at most 0) for the best choice of clusters."""
    gain = np.int64(0)
    for c in range(number):
        gain += min(clusters.costs[c], 0)
    return gain


@inner
def write_best(first: Any, number: Any, clusters: Any, states: Any) -> None:
    """Write the state of the best choice of clusters, one byte per site."""
    words, shift = clusters.words[first >> SIX], np.uint64(first & 63)
    for i in range(states.size):
        states[i] = 255 if words[i] >> shift & ONE else 0
    start = 0
    for c in range(number):
        end = clusters.ends[c]
        if clusters.costs[c] < 0:
            for k in range(start, end):
                states[clusters.members[k]] ^= 255
        start = end


@compiled
def sample_clusters(states: Any, even: Any, clusters: Any) -> Any:
    """For 16 pairs of lanes, count the sites in all clusters and in the largest clusters."""
    words = clusters.words[0]
    for site in range(states.size // 64):
        words[site] = bits(load(states, 64 * site, 64))
    total, largest = 0, 0
    for lane in range(PAIRS):
        count, most = find_clusters(lane, lane + 32, even, clusters)
        total += clusters.ends[count - 1] if count else 0
        largest += most
    return total, largest
