"""A seed means the same everywhere: hashes of what seeds have grown so far.

A change here changes every published instance. It needs a new version and a line in the notes.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from glasshouse.planting import Planted, random_loops_ensemble
from glasshouse.planting.methods import bias_loops, random_loops, structured_loops, uniform_max2sat

PLANTS = {
    "random": lambda: random_loops(100, 100, frustration="1/5", loop_density=0.345, rng=1),
    "random, dense": lambda: random_loops(20, 30, frustration="0.24", loop_density=40, rng=2),
    "random, sparse": lambda: random_loops(5000, 400, frustration="1/8", loops=3000, rng=3),
    "random, disjoint": lambda: random_loops(
        30, 30, frustration="1/4", loops=150, overlap="none", rng=4
    ),
    "random, normal": lambda: random_loops(
        30, 30, frustration="1/5", loops=90, weights="normal", rng=5
    ),
    "random, limited": lambda: random_loops(
        10, 10, frustration="1/5", loops=40, max_weight=8, rng=6
    ),
    "structured": lambda: structured_loops(
        40, 50, frustration="0.245", block="1/3", left="1/5", upper="1/5", loop_density=5, rng=7
    ),
    "one ghost": lambda: bias_loops(
        30, 20, frustration="1/5", loop_density=3, bias_strength="3/2", rng=8
    ),
    "two ghosts": lambda: bias_loops(30, 20, frustration="0.3", loop_density=3, ghosts=2, rng=9),
    "uniform": lambda: uniform_max2sat(60, 40, clause_density=5, rng=10),
    "of an ensemble": lambda: random_loops_ensemble(
        50, 50, 3, frustration="1/5", loop_density="1/2", rng=11
    )[2],
}

GOLDEN = {
    "random": "0b7233132c925294",
    "random, dense": "1ac9cde128c920ea",
    "random, sparse": "7dba3267cd772bf7",
    "random, disjoint": "defbc15e09ba5b0a",
    "random, normal": "fb509ce751e33320",
    "random, limited": "097252ad5683aeaf",
    "structured": "84494fc8840bc353",
    "one ghost": "8ba2676bcc723aa7",
    "two ghosts": "bb8a6974f3e5c969",
    "uniform": "58fed26cd438a704",
    "of an ensemble": "38cb64e50c2808da",
}


def fingerprint(plant: Planted) -> str:
    """Weights, state and loops in a fixed byte order."""
    ising, loops = plant.ising, plant.loops
    parts = [ising.edges, ising.weights, ising.fields, plant.state]
    parts += [loops.nodes, loops.starts, loops.weights]
    hashed = hashlib.sha256()
    for part in parts:
        hashed.update(np.ascontiguousarray(part, dtype=part.dtype.newbyteorder("<")).tobytes())
    return hashed.hexdigest()[:16]


@pytest.mark.parametrize("name", PLANTS)
def test_seeds_grow_what_they_always_grew(name: str) -> None:
    assert fingerprint(PLANTS[name]()) == GOLDEN[name]


@pytest.mark.parametrize("seed", ["0", "4242"])
def test_instances_do_not_depend_on_the_hash_seed(seed: str) -> None:
    code = (
        "from tests.planting.test_golden import *;"
        "print([fingerprint(PLANTS[n]()) for n in ('random', 'structured')])"
    )
    environment = os.environ | {"PYTHONHASHSEED": seed}
    run = [sys.executable, "-c", code]
    found = subprocess.run(run, capture_output=True, text=True, check=True, env=environment)
    assert found.stdout.strip() == str([GOLDEN["random"], GOLDEN["structured"]])
