"""Compiled search for odd cycles in graphs whose edges mostly have length 0.

Edges of length 0 join vertices to clusters. A cycle of positive length is a cycle of clusters, with
a path inside each cluster from the vertex where the cycle enters to the vertex where it leaves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inner
from glasshouse.kernels.arrays import enlarged


@compiled
def clusters(graph: Any) -> Any:
    """Find the clusters, which are the components connected by edges of length 0.

    Returns the index of each vertex's cluster, and the parity of negative edges on the path from
    the first vertex of the cluster to the vertex.
    """
    size = len(graph.starts) - 1
    label, parity = np.full(size, -1, np.int32), np.zeros(size, np.uint8)
    queue = np.empty(size, np.int32)
    count = 0
    for first in range(size):
        if label[first] >= 0:
            continue
        label[first] = count
        queue[0], head, tail = first, 0, 1
        while head < tail:
            vertex = queue[head]
            head += 1
            for t in range(graph.starts[vertex], graph.starts[vertex + 1]):
                other, edge = graph.neighbours[t], graph.edge_ids[t]
                if graph.lengths[edge] == 0.0 and label[other] < 0:
                    label[other] = count
                    parity[other] = parity[vertex] ^ graph.negative[edge]
                    queue[tail] = other
                    tail += 1
        count += 1
    return label, parity


@compiled
def expand(graph: Any, ends: Any, label: Any, parity: Any, rings: Any, begins: Any) -> Any:
    """Expand cycles of clusters to cycles of vertices by closing every gap with a shortest path.

    The edges of a ring, in any order, touch each of its clusters at two vertices, or at one vertex
    twice. Paths use edges of length 0 that agree with the parities. Returns new edges and starts.
    """
    size = len(graph.starts) - 1
    entered, entry = np.full(size, -1, np.int64), np.empty(size, np.int32)
    visited, over = np.full(size, -1, np.int64), np.empty(size, np.int32)
    queue = np.empty(size, np.int32)
    edges, new_begins = np.empty(4 * len(rings) + 1024, np.int32), np.zeros_like(begins)
    used = search = 0
    for ring in range(len(begins) - 1):
        for t in range(begins[ring], begins[ring + 1]):
            if used + size + 1 > len(edges):
                edges = enlarged(edges, 2 * len(edges) + size + 1)
            edges[used] = rings[t]
            used += 1
            for side in range(2):
                vertex = ends[rings[t], side]
                if entered[label[vertex]] != ring:
                    entered[label[vertex]] = ring
                    entry[label[vertex]] = vertex
                elif entry[label[vertex]] != vertex:
                    if used + size > len(edges):
                        edges = enlarged(edges, 2 * len(edges) + size)
                    goal = entry[label[vertex]]
                    find_path(graph, parity, vertex, goal, search, visited, over, queue)
                    search += 1
                    while goal != vertex:
                        edge = over[goal]
                        edges[used] = edge
                        used += 1
                        goal = ends[edge, 0] + ends[edge, 1] - goal
        new_begins[ring + 1] = used
    return edges[:used].copy(), new_begins


@inner
def find_path(
    graph: Any, parity: Any, start: Any, goal: Any, search: Any, visited: Any, over: Any, queue: Any
) -> None:
    """Search breadth-first for `goal`; set `over` to the edge by which each vertex was reached."""
    visited[start] = search
    queue[0], head, tail = start, 0, 1
    while head < tail:
        vertex = queue[head]
        head += 1
        for t in range(graph.starts[vertex], graph.starts[vertex + 1]):
            other, edge = graph.neighbours[t], graph.edge_ids[t]
            if visited[other] == search or graph.lengths[edge] != 0.0:
                continue
            if parity[vertex] ^ parity[other] != graph.negative[edge]:
                continue
            visited[other], over[other] = search, edge
            if other == goal:
                return
            queue[tail] = other
            tail += 1
