"""Small plants with fixed seeds: at least one of every planting method."""

from __future__ import annotations

from dataclasses import replace

import glasshouse as gh

# The name of a plant is its method's, and a word on what is special about it.
PLANTS = {
    "random_loops": {"n": 6, "m": 5, "frustration": "1/5", "loops": 4},
    "random_loops normal": {
        "n": 6, "m": 6, "frustration": "0.21", "loops": 4, "weights": "normal",
    },
    "random_loops shuffled": {"n": 5, "m": 6, "frustration": "1/4", "loops": 4},
    "bias_loops": {"n": 5, "m": 6, "frustration": "1/5", "loop_density": "0.5"},
    "bias_loops two ghosts": {
        "n": 5, "m": 5, "frustration": "1/5", "loop_density": "0.5", "ghosts": 2,
    },
    "classic_loops": {"graph": (8, 8), "loop_density": "0.3"},
    "classic_loops graph": {"graph": "torus:4x4", "loop_density": "0.3", "min_length": 4},
    "cluster_loops": {"rows": 2, "columns": 3, "alpha": "1/2", "shore": 2},
    "cores": {"n": 12, "cores": 3},
    "cores tetrahedron": {"n": 12, "cores": 2, "shape": "tetrahedron"},
    "exactly": {"n": 12, "literals": 3, "true_literals": 1, "clauses": 6},
    "graph_loops": {"graph": "torus:4x4", "frustration": "1/4", "length": 4, "loop_density": "1"},
    "hypergraph_cores": {
        "hypergraph": "sets:7 0-1-2 0-3-4 0-5-6 1-3-5 1-4-6 2-3-6 2-4-5", "cores": 4,
    },
    "nae3sat": {"n": 12, "clauses": 12},
    "partition": {"n": 8, "bits": 6},
    "partition odd": {"n": 10, "bits_per_spin": "3/4", "total": "odd"},
    "posiform": {"n": 10},
    "posiform block": {"n": 15, "block": 5, "scale": "1/20"},
    "product_loops": {"n": 8, "products": 3, "frustration": "1/4"},
    "product_loops lifted": {
        "n": 8, "products": 2, "frustration": "1/5", "length": 4, "lift": 1,
    },
    "structured_graph_loops": {
        "graph": "complete:12", "frustration": "0.23", "block": "0.5", "loop_density": "2",
    },
    "structured_loops": {
        "n": 10, "m": 10, "frustration": "0.23", "loop_density": "4", "block": "0.3",
    },
    "tiles2d": {"length": 4, "p1": "1/4", "p2": "3/4"},
    "tiles3d": {"length": 4, "boundary": "open", "p22": "1/2", "p42": "1/4"},
    "two_in_four": {"n": 12, "clauses": 5},
    "uniform_max2sat": {"n": 10, "m": 10, "clause_density": "3"},
    "wishart": {"n": 8, "columns": 6},
    "wishart normal": {"n": 10, "alpha": "1/5", "weights": "normal"},
    "xorsat": {"n": 9},
    "xorsat native": {"n": 9, "native": True},
}  # fmt: skip


def grown(name: str) -> gh.Planted:
    """Return a plant by its name, with a recipe that does not contain the version of today."""
    plant = getattr(gh, name.split()[0])(**PLANTS[name], rng=1)
    if name.endswith("shuffled"):
        plant = gh.shuffle(plant)
    return replace(plant, recipe=replace(plant.recipe, version="golden"))
