"""Recipes made to do harm: each would grow for hours, or take all memory there is."""

from __future__ import annotations

import json
from typing import Any

HALF, MANY = 1 << 19, 1 << 20  # as many idle variables as a small file may have
DIGITS = 4200
RING = 400_000

RBM = {"frustration": "1/5"}
LONG_PATH = " ".join(f"{k}-{k + 1}" for k in range(900))
# Cycles that share a long path: listing them takes its length for each.
BRAIDED = LONG_PATH + "".join(f" {900 + 2 * k}-{j}" for k in range(1, 2000) for j in (0, 900))

RECIPES: dict[str, tuple[int, str, dict[str, Any]]] = {
    "complete graph": (20_000, "graph_loops", RBM | {"graph": "complete:20000", "loops": 5}),
    "loops": (20, "random_loops", RBM | {"n": 10, "m": 10, "loops": 250_000_000}),
    "density": (20, "random_loops", RBM | {"n": 10, "m": 10, "loop_density": "1e999"}),
    "loops within the limit": (20, "random_loops", RBM | {"n": 10, "m": 10, "loops": 10**6}),
    "wide loops within the limit": (
        HALF, "random_loops", RBM | {"n": HALF // 2, "m": HALF // 2, "loops": 5 * 10**5},
    ),
    "flat and full": (
        HALF + 2, "random_loops",
        {"frustration": "1/4", "n": 2, "m": HALF, "loops": HALF // 2, "overlap": "none"},
    ),
    "square and full": (
        2000, "random_loops",
        {"frustration": "1/4", "n": 1000, "m": 1000, "loops": 250_000, "overlap": "none"},
    ),
    "all clauses": (2000, "uniform_max2sat", {"n": 1000, "m": 1000, "clause_density": "999"}),
    "light weights": (
        2000, "random_loops",
        {"frustration": "1/4", "n": 1000, "m": 1000, "loops": 10**6, "max_weight": 3},
    ),
    "heavy limit": (20, "random_loops", RBM | {"n": 10, "m": 10, "loops": 9, "max_weight": 10**30}),
    "normal weights": (
        20, "random_loops",
        RBM | {"n": 10, "m": 10, "loops": 10**6, "weights": "normal", "spread": "1/3"},
    ),
    "resolution": (
        20, "random_loops",
        RBM | {"n": 10, "m": 10, "loops": 9, "weights": "normal", "resolution": 10**DIGITS},
    ),
    "wide block": (
        HALF, "structured_loops",
        {"frustration": "1/4", "n": HALF - 9, "m": 9, "block": "1/2", "left": 1, "loops": 10**5},
    ),
    "full block": (
        4000, "structured_loops",
        {"frustration": "1/4", "n": 2000, "m": 2000, "block": "1/2", "left": "1/2",
         "upper": "1/2", "loops": 10**6},
    ),
    "ghosts": (4, "bias_loops", {"frustration": "1/4", "n": 2, "m": 2, "loops": 10**6}),
    "ring": (RING, "graph_loops", {"frustration": 0, "graph": f"torus:{RING}", "loops": 10**5}),
    "ring by length": (
        RING, "graph_loops",
        {"frustration": 0, "graph": f"torus:{RING}", "loops": 10**5, "length": RING},
    ),
    "ring walked": (RING, "classic_loops", {"graph": f"torus:{RING}", "loops": 10**5}),
    "long walks": (
        10**6 // 4, "classic_loops",
        {"graph": "torus:500x500", "loops": 10**5, "min_length": 200_000},
    ),
    "long paths": (
        10_000, "graph_loops",
        {"frustration": 0, "graph": "torus:100x100", "loops": 10**5, "length": 9998},
    ),
    "long paths on two layers": (
        HALF, "classic_loops", {"graph": [HALF // 2, HALF // 2], "loops": 10**5, "length": HALF},
    ),
    "limit on two layers": (
        MANY, "classic_loops", {"graph": [HALF, HALF], "loops": 9, "max_weight": 9},
    ),
    "triangles": (
        1300, "graph_loops",
        {"frustration": "1/3", "graph": "complete:1300", "loops": 10**5, "length": 3,
         "overlap": "none"},
    ),
    "listed triangles": (
        180, "graph_loops",
        {"frustration": "1/3", "graph": "complete:180", "loops": 10**6, "length": 3,
         "max_weight": 1},
    ),
    "braid": (
        5000, "graph_loops",
        {"frustration": 0, "graph": f"edges:5000 {BRAIDED}", "loops": 9, "length": 902},
    ),
    "blocks": (
        300, "structured_graph_loops",
        {"frustration": "1/4", "graph": "complete:300", "block": "1/2", "loops": 10**6},
    ),
    "no block": (
        10_000, "structured_graph_loops",
        {"frustration": "1/4", "graph": "torus:100x100", "block": 1, "loops": 10**6},
    ),
    "many layers": (MANY, "graph_loops", RBM | {
        "graph": "layers:" + "x".join(["1"] * MANY), "loops": 9}),
    "deep layers": (
        50_000, "graph_loops", RBM | {"graph": "deep:" + "x".join(["1"] * 50_000), "loops": 9},
    ),
    "many dimensions": (2, "graph_loops",
    RBM | {"graph": "lattice:" + "x".join(["9" * 18] * 10**5)}),
    "columns": (1000, "wishart", {"n": 1000, "columns": 10**9}),
    "columns within the limit": (1000, "wishart", {"n": 1000, "columns": 900}),
    "dense": (10**6, "wishart", {"n": 10**6, "alpha": "1/10"}),
    "chimera": (39_200, "graph_loops", RBM | {"graph": "chimera:70x70", "loops": 9}),
    "zephyr": (9520, "graph_loops", RBM | {"graph": "zephyr:17", "loops": 9}),
    "pegasus": (6400, "graph_loops", RBM | {"graph": "pegasus:17", "loops": 9}),
    "dead": (3, "graph_loops", RBM | {"graph": "torus:500003 without " + ",".join(
        map(str, range(5 * 10**5))), "loops": 9}),
    "edges as lists": (3, "graph_loops", RBM | {"graph": [[0, 1 << 24]], "loops": 9}),
    "state": (20, "random_loops", RBM | {"n": 10, "m": 10, "loops": 9, "state": "+" * 10**7}),
    "fraction": (20, "random_loops", {
        "n": 10, "m": 10, "loops": 9, "frustration": "1/" + "9" * DIGITS}),
    "unknown method": (20, "x\n" * 1000, RBM | {"n": 10, "m": 10, "loops": 9}),
    "unknown parameter": (20, "random_loops", RBM | {"n": 10, "m": 10, "loops": 9, "\ud800": 1}),
}  # fmt: skip


def bomb_text(name: str) -> str:
    """A MaxCut file of one edge whose comment holds the recipe."""
    size, method, parameters = RECIPES[name]
    return recipe_text(size, {"method": method, "parameters": parameters})


def recipe_text(size: int, recipe: dict[str, Any]) -> str:
    whole = {"seed": 1, "spawn_key": [], "version": "1"} | recipe
    return f"{size} 1\n1 2 1\n# recipe {json.dumps(whole)}\n"
