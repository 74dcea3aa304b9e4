"""Compiled functions for odd cliques: sums over a matrix, and the search for violated cliques.

A clique is a row of vertices and a row of integer coefficients a, padded with zeros. Its *sum* over
a matrix X is Σ a_p a_q X_pq over its pairs; (a·s)² ≥ 1 means that it is at least (1 - Σ a²)/2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled, inner

FAR = 1e30  # above any sum: prevents vertices from being taken twice


@compiled
def pairs_of(vertices: Any, coefficients: Any, size: Any) -> Any:
    """Return the pairs of all cliques, as flat indices below the diagonal of a square matrix.

    Returns where each clique begins, the indices, and the products of the two coefficients.
    """
    count, width = vertices.shape
    starts = np.zeros(count + 1, np.int64)
    places = np.empty(count * width * (width - 1) // 2, np.int32)
    products = np.empty(len(places))
    end = 0
    for t in range(count):
        for p in range(width):
            if coefficients[t, p] == 0:
                break
            for q in range(p):
                u, v = vertices[t, p], vertices[t, q]
                places[end] = max(u, v) * size + min(u, v)
                products[end] = coefficients[t, p] * coefficients[t, q]
                end += 1
        starts[t + 1] = end
    return starts, places[:end].copy(), products[:end].copy()


@compiled
def add_cliques(matrix: Any, starts: Any, places: Any, products: Any, factors: Any) -> None:
    """Add factor · product to the entries of each clique below the diagonal; mirror the matrix."""
    size = len(matrix)
    flat = matrix.reshape(size * size)
    for t in range(len(factors)):
        factor = factors[t]
        if factor != 0.0:
            for k in range(starts[t], starts[t + 1]):
                flat[places[k]] += factor * products[k]
    for i in range(size):
        for j in range(i):
            matrix[j, i] = matrix[i, j]


@compiled
def sums_of_cliques(matrix: Any, starts: Any, places: Any, products: Any, sums: Any) -> None:
    """Compute each clique's sum from the matrix entries below the diagonal."""
    flat = matrix.reshape(matrix.size)
    for t in range(len(sums)):
        total = 0.0
        for k in range(starts[t], starts[t + 1]):
            total += products[k] * flat[places[k]]
        sums[t] = total


@compiled
def violated_triangles(gram: Any, limit: Any, room: Any) -> Any:
    """Return the vertices and signs of triangles whose slack, 1 plus their sum, is below a limit.

    At most `room` are returned. Only the worst of a triangle's four sign patterns can be violated.
    """
    size = len(gram)
    vertices = np.empty((room, 3), np.int32)
    signs = np.empty((room, 3), np.int8)
    slacks = np.empty(room)
    count = 0
    for i in range(size):
        for j in range(i):
            x = gram[i, j]
            for k in range(j):
                y, z = gram[i, k], gram[j, k]
                # The signs of j and k if that of i is +1: (+, +), (+, -), (-, +), (-, -).
                same, other = 1.0 + x - abs(y + z), 1.0 - x - abs(y - z)
                if min(same, other) < limit and count < room:
                    vertices[count, 0], vertices[count, 1], vertices[count, 2] = i, j, k
                    signs[count, 0] = 1
                    if same < other:
                        signs[count, 1] = 1
                        signs[count, 2] = -1 if y + z > 0 else 1
                        slacks[count] = same
                    else:
                        signs[count, 1] = -1
                        signs[count, 2] = -1 if y - z > 0 else 1
                        slacks[count] = other
                    count += 1
    return vertices[:count], signs[:count], slacks[:count]


@compiled(fastmath=True)
def widened(gram: Any, vertices: Any, signs: Any) -> Any:
    """Extend every clique by the two vertices that minimise its sum, then improve the clique."""
    count, width = vertices.shape
    size = len(gram)
    wider = np.empty((count, width + 2), np.int32)
    wider_signs = np.empty((count, width + 2), np.int8)
    slacks = np.empty(count)
    pull, taken = np.empty(size), np.empty(size)
    for t in range(count):
        pull[:] = 0.0
        taken[:] = 0.0
        for p in range(width):
            wider[t, p], wider_signs[t, p] = vertices[t, p], signs[t, p]
            taken[vertices[t, p]] = FAR
            for u in range(size):
                pull[u] += signs[t, p] * gram[vertices[t, p], u]
        u, v, sign_u, sign_v = best_two(gram, pull, taken)
        wider[t, width], wider[t, width + 1] = u, v
        wider_signs[t, width], wider_signs[t, width + 1] = sign_u, sign_v
        taken[u] = taken[v] = FAR
        for w in range(size):
            pull[w] += sign_u * gram[u, w] + sign_v * gram[v, w]
        exchange(gram, wider[t], wider_signs[t], pull, taken)
        total = 0.0
        for p in range(width + 2):
            total += wider_signs[t, p] * pull[wider[t, p]]
            total -= gram[wider[t, p], wider[t, p]]
        slacks[t] = 0.5 * total + (width + 1) / 2
    return wider, wider_signs, slacks


@inner(fastmath=True)
def best_two(gram: Any, pull: Any, taken: Any) -> Any:
    """Return vertices u, v and signs a, b that minimise a·pull_u + b·pull_v + ab·gram_uv."""
    size = len(gram)
    least, best = FAR, 0
    for u in range(size):
        own = pull[u]
        low = FAR
        for v in range(u):
            same = gram[u, v] - abs(own + pull[v])
            other = -gram[u, v] - abs(own - pull[v])
            low = min(low, min(same, other) + taken[v])
        if low + taken[u] < least:
            least, best = low + taken[u], u
    u, own = best, pull[best]
    low, partner = FAR, 0
    for v in range(u):
        same = gram[u, v] - abs(own + pull[v])
        other = -gram[u, v] - abs(own - pull[v])
        if min(same, other) + taken[v] < low:
            low, partner = min(same, other) + taken[v], v
    v = partner
    if gram[u, v] - abs(own + pull[v]) < -gram[u, v] - abs(own - pull[v]):
        sign = -1 if own + pull[v] > 0 else 1
        return u, v, sign, sign
    sign = -1 if own - pull[v] > 0 else 1
    return u, v, sign, -sign


@inner
def exchange(gram: Any, clique: Any, signs: Any, pull: Any, taken: Any) -> None:
    """Improve a clique by exchanging single vertices, for at most four sweeps."""
    size = len(gram)
    for _ in range(4):
        moved = False
        for p in range(len(clique)):
            old, sign = clique[p], signs[p]
            taken[old] = 0.0
            least, best = sign * pull[old] - gram[old, old] - 1e-9, -1
            for u in range(size):
                gain = -abs(pull[u] - sign * gram[old, u]) + taken[u]
                if gain < least:
                    least, best = gain, u
            if best >= 0:
                new_sign = -1 if pull[best] - sign * gram[old, best] > 0 else 1
                for u in range(size):
                    pull[u] += new_sign * gram[best, u] - sign * gram[old, u]
                clique[p], signs[p] = best, new_sign
                moved = True
            taken[clique[p]] = FAR
        if not moved:
            break


@compiled(fastmath=True)
def turned(slope: Any, scales: Any, moves: Any, falls: Any, weights: Any, rows: Any) -> Any:
    """Return the gradient times the inverse negative Hessian, estimated from steps.

    A step is a move, the decrease of the gradient over it, and 1 / (move · decrease). The steps are
    stored in `rows`, oldest first.
    """
    direction = slope.copy()
    count, size = len(rows), len(slope)
    amounts = np.empty(count)
    for k in range(count - 1, -1, -1):
        row = rows[k]
        total = 0.0
        for i in range(size):
            total += moves[row, i] * direction[i]
        amounts[k] = total * weights[row]
        for i in range(size):
            direction[i] -= amounts[k] * falls[row, i]
    last = rows[count - 1]
    total = 0.0
    for i in range(size):
        total += falls[last, i] * scales[i] * falls[last, i]
    length = 1.0 / (weights[last] * total)
    for i in range(size):
        direction[i] *= scales[i] * length
    for k in range(count):
        row = rows[k]
        total = 0.0
        for i in range(size):
            total += falls[row, i] * direction[i]
        amount = amounts[k] - weights[row] * total
        for i in range(size):
            direction[i] += amount * moves[row, i]
    return direction


@compiled
def descend(couplings: Any, states: Any) -> None:
    """In each state, repeatedly flip the spin that lowers the energy most, until no flip does.

    This minimises the energy Σ q_ij s_i s_j of a symmetric matrix q without a diagonal.
    """
    size = len(couplings)
    for row in range(len(states)):
        state = states[row]
        pull = couplings @ state
        while True:
            best, most = -1, 1e-9
            for i in range(size):
                gain = state[i] * pull[i]
                if gain > most:
                    best, most = i, gain
            if best < 0:
                break
            state[best] = -state[best]
            for i in range(size):
                pull[i] += 2.0 * state[best] * couplings[best, i]
