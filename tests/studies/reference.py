"""A plain annealer, sweep by sweep: what the fast pipeline is compared with."""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.compiled import compiled


@compiled
def total_sweeps(
    seed: Any, num_spins: int, edges: Any, weights: Any, betas: Any, target: float, max_sweeps: int
) -> tuple[int, float]:
    """Sweeps of all runs until the target energy."""
    np.random.seed(seed)  # noqa: NPY002
    degree = np.zeros(num_spins + 1, dtype=np.int64)
    for e in range(len(edges)):
        degree[edges[e, 0] + 1] += 1
        degree[edges[e, 1] + 1] += 1
    starts = np.cumsum(degree)
    fill = starts.copy()
    near = np.empty(2 * len(edges), dtype=np.int64)
    couplings = np.empty(2 * len(edges))
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        near[fill[i]], couplings[fill[i]] = j, weights[e]
        near[fill[j]], couplings[fill[j]] = i, weights[e]
        fill[i] += 1
        fill[j] += 1
    spins = np.empty(num_spins)
    total, best = 0, np.inf
    while True:
        for i in range(num_spins):
            spins[i] = 1.0 if np.random.random() < 0.5 else -1.0  # noqa: NPY002
        energy = 0.0
        for e in range(len(edges)):
            energy -= weights[e] * spins[edges[e, 0]] * spins[edges[e, 1]]
        for c in range(len(betas)):
            for i in range(num_spins):
                if starts[i] == starts[i + 1]:
                    continue
                field = 0.0
                for k in range(starts[i], starts[i + 1]):
                    field += couplings[k] * spins[near[k]]
                cost = 2.0 * spins[i] * field
                if cost <= 0 or np.random.random() < np.exp(-betas[c] * cost):  # noqa: NPY002
                    spins[i] = -spins[i]
                    energy += cost
            total += 1
            best = min(best, energy)
            if energy <= target or total >= max_sweeps:
                return total, best
