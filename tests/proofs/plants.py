"""One instance of every planting method, of a size that a seed decides."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from glasshouse.planting import Planted
from glasshouse.planting.methods import (
    bias_loops,
    classic_loops,
    graph_loops,
    random_loops,
    structured_graph_loops,
    structured_loops,
    uniform_max2sat,
)


def _size(rng: np.random.Generator, low: int = 5, high: int = 25) -> int:
    return int(rng.integers(low, high))


def _density(rng: np.random.Generator) -> float:
    return round(float(rng.choice([0.3, 0.6, 1.0, 2.0, 4.0])), 2)


def _frustration(rng: np.random.Generator, *choices: str) -> str:
    return str(rng.choice(choices or ("1/20", "1/5", "23/100", "1/4")))


METHODS: dict[str, Callable[[np.random.Generator, int], Planted]] = {
    "random": lambda rng, seed: random_loops(
        _size(rng), _size(rng), frustration=_frustration(rng), loop_density=_density(rng), rng=seed
    ),
    "random with normal weights": lambda rng, seed: random_loops(
        _size(rng), _size(rng), frustration=_frustration(rng, "1/5", "23/100"),
        loop_density=_density(rng), weights="normal", spread="1/10", resolution=100, rng=seed,
    ),
    "structured": lambda rng, seed: structured_loops(
        _size(rng, 8), _size(rng, 8), frustration=_frustration(rng), block=0.3,
        loop_density=_density(rng), rng=seed,
    ),
    "bias, one ghost": lambda rng, seed: bias_loops(
        _size(rng), _size(rng), frustration=_frustration(rng), loop_density=_density(rng), rng=seed
    ),
    "bias, two ghosts": lambda rng, seed: bias_loops(
        _size(rng), _size(rng), frustration=_frustration(rng), loop_density=_density(rng),
        ghosts=2, rng=seed,
    ),
    "classic": lambda rng, seed: classic_loops(
        (_size(rng), _size(rng)), loop_density=_density(rng), frustration=_frustration(rng),
        length=4, rng=seed,
    ),
    "classic on a lattice": lambda rng, seed: classic_loops(
        f"lattice:{_size(rng, 4, 9)}x{_size(rng, 4, 9)}", loop_density=_density(rng), rng=seed
    ),
    "graph": lambda rng, seed: graph_loops(
        f"torus:{_size(rng, 4, 8)}x{_size(rng, 4, 8)}", frustration="1/10",
        loop_density=_density(rng) / 2, max_length=8, rng=seed,
    ),
    "graph, complete": lambda rng, seed: graph_loops(
        f"complete:{_size(rng, 6, 20)}", frustration=_frustration(rng, "1/5", "1/4"),
        loop_density=_density(rng), max_length=4, rng=seed,
    ),
    "structured graph": lambda rng, seed: structured_graph_loops(
        f"complete:{_size(rng, 12, 24)}", frustration=_frustration(rng, "1/5", "23/100"),
        block=0.3, loop_density=1, rng=seed,
    ),
    "uniform max2sat": lambda rng, seed: uniform_max2sat(
        _size(rng), _size(rng), clause_density=round(float(rng.uniform(1, 3)), 2), rng=seed
    ),
}  # fmt: skip


def planted(method: str, seed: int) -> Planted:
    return METHODS[method](np.random.default_rng([seed, len(method)]), seed)
