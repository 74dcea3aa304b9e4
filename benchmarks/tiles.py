"""Tiles and cluster loops compared with chook: classes, energies, ground states and time.

Set CHOOK_PYTHON to a Python that has chook. chook calls functions of NumPy through SciPy, which no
longer has them, so they are added to SciPy.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.record import store
from glasshouse.planting import Planted
from glasshouse.planting.methods import cluster_loops
from glasshouse.planting.methods.lattice_tiles import tiles2d, tiles3d
from glasshouse.planting.methods.tiles import TileLattice
from glasshouse.problems import Ising
from glasshouse.solvers import anneal

# All classes, and chook's example of a mixture. chook has no other classes of cubes.
SQUARES = [{"p1": "1"}, {"p2": "1"}, {"p3": "1"}, {"p1": "0"},
           {"p1": "1/5", "p2": "1/2", "p3": "1/10"}]  # fmt: skip
CUBES = [{"p22": "1"}, {"p42": "1"}, {}, {"p22": "1/10", "p42": "1/2"}]
INSTANCES, LENGTH = 200, {2: 4, 3: 4}
TIMED = {2: (32, 64), 3: (8, 16)}
TIMED_CELLS = (("1/4", 1, 2), ("7/16", 1, 1), ("3/4", 2, 1))
REPEATS = 20
CELLS, LOOPS_PER_CELL, SCALES = 6, "1/4", (1, 2, 4, 5, 8, 16)

_CHOOK = """
import json, random, sys, time
import numpy, scipy
for name in set(dir(numpy)) - set(dir(scipy)):
    if not name.startswith("_"):
        setattr(scipy, name, getattr(numpy, name))
scipy.rand = numpy.random.rand
from chook.wrappers import dcl_wrapper, tile_planting_wrapper
numpy.random.seed(1), random.seed(1)
asked = json.loads(sys.argv[1])
def timed(plant):
    plant()
    begin = time.process_time()
    for _ in range(asked["repeats"]):
        plant()
    return (time.process_time() - begin) / asked["repeats"]
found = {}
for what, planter, arguments, number in asked["what"]:
    plant = lambda: {"tiles": tile_planting_wrapper, "cells": dcl_wrapper}[planter](*arguments)
    if not number:
        found[what] = timed(plant)
        continue
    made = [plant() if planter == "tiles" else (plant(), 0) for _ in range(number)]
    found[what] = [[[[int(i), int(j), float(w)] for i, j, w in bonds], float(energy)]
                   for bonds, energy in made]
print(json.dumps(found))
"""


def chook(what: list[tuple[str, str, list[Any], int]]) -> Any:
    """Return instances of chook, or CPU seconds for each request of 0 instances."""
    python = os.environ.get("CHOOK_PYTHON")
    if not python:
        raise SystemExit("benchmarks: CHOOK_PYTHON is not set; set it to a Python with chook")
    text = json.dumps({"what": what, "repeats": REPEATS})
    run = subprocess.run(
        [python, "-W", "ignore", "-c", _CHOOK, text], capture_output=True, text=True, check=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": ""},
    )  # fmt: skip
    return json.loads(run.stdout)


def shares_of(dimensions: int, shares: dict[str, str]) -> list[float]:
    names = ("p1", "p2", "p3") if dimensions == 2 else ("p22", "p42")
    return [_number(shares.get(name, "0")) for name in names]


def _number(text: str) -> float:
    over, _, under = text.partition("/")
    return int(over) / int(under or 1)


def classes_of(problem: Ising, dimensions: int, length: int) -> list[tuple[int, int]]:
    """Return energy and number of ground states of every tile, which distinguish the classes."""
    corners = 2**dimensions
    bonded = zip(problem.edges.tolist(), problem.weights.tolist(), strict=True)
    weights = {(i, j): weight for (i, j), weight in bonded}
    states = np.array(list(itertools.product((-1, 1), repeat=corners)))
    edges = [(a, a | 1 << axis) for a in range(corners) for axis in range(dimensions)
             if not a >> axis & 1]  # fmt: skip
    pairs = np.stack([states[:, a] * states[:, b] for a, b in edges])
    found = []
    for place in TileLattice.of(length, dimensions, "periodic").places().tolist():
        bonds = [(min(place[a], place[b]), max(place[a], place[b])) for a, b in edges]
        energies = -np.array([weights[bond] for bond in bonds]) @ pairs
        found.append((int(energies.min()), int((energies == energies.min()).sum())))
    return sorted(found)


def ground_states(problem: Ising) -> tuple[int, int]:
    """Return the least energy and its degeneracy, by enumeration with the last spin fixed."""
    size = problem.num_variables
    numbers = np.arange(1 << (size - 1))
    spins = [1 - 2 * (numbers >> k & 1) for k in range(size - 1)] + [np.ones(1, dtype=int)]
    energies = np.zeros(len(numbers), dtype=np.int64)
    for (i, j), weight in zip(problem.edges.tolist(), problem.weights.tolist(), strict=True):
        energies -= weight * spins[i] * spins[j]
    return int(energies.min()), 2 * int((energies == energies.min()).sum())


def problem_of(bonds: list[list[float]], spins: int) -> Ising:
    """Return an instance of chook as an Ising problem in our sign, with exact integers."""
    ends = [[int(i), int(j)] for i, j, _ in bonds]
    weights = [-w for _, _, w in bonds]
    assert all(w == int(w) for w in weights)
    return Ising.from_edges(spins, ends, [int(w) for w in weights])


def agreement(dimensions: int, shares: dict[str, str], theirs: Any) -> dict[str, Any]:
    """Compare one class or mixture of both packages: tiles, stated energies, ground states."""
    length, method = LENGTH[dimensions], tiles2d if dimensions == 2 else tiles3d
    problems = [problem_of(bonds, length**dimensions) for bonds, _ in theirs]
    plants = [method(length, **shares, rng=k) for k in range(len(theirs))]
    kinds = [
        {kind for problem in some for kind in classes_of(problem, dimensions, length)}
        for some in (problems, [plant.ising for plant in plants])
    ]
    row = {
        "tiles": f"{dimensions}D, " + (", ".join(f"{k} = {v}" for k, v in shares.items()) or "F6"),
        "classes agree": "yes" if kinds[0] == kinds[1] else f"no: {kinds}",
        "energy, chook": _mean([energy for _, energy in theirs]),
        "energy, here": _mean([plant.energy for plant in plants]),
    }
    if dimensions == 2:
        counted = [ground_states(problem) for problem in problems]
        stated = [plant.summary().ground_states for plant in plants]
        row["chook's energy is the minimum"] = _share(
            least == energy for (least, _), (_, energy) in zip(counted, theirs, strict=True)
        )
        row["our count is enumeration's"] = _share(
            states.is_exact and (plant.energy, states.least) == ground_states(plant.ising)
            for plant, states in zip(plants, stated, strict=True)
        )
        row["log2 ground states, chook"] = _mean([np.log2(number) for _, number in counted])
        row["log2 ground states, here"] = _mean([np.log2(states.least) for states in stated])
    return row


def _share(held: Any) -> str:
    found = list(held)
    return f"{sum(found)} of {len(found)}"


def _mean(values: list[float]) -> str:
    spread = np.std(values) / np.sqrt(len(values))
    return f"{np.mean(values):g}" if not spread else f"{np.mean(values):.2f} ± {spread:.2f}"


def seconds_of(plant: Callable[[int], Planted]) -> float:
    """Return the mean CPU time of planting an instance, after a first one that compiles."""
    plant(0)
    begin = time.process_time()
    for seed in range(REPEATS):
        plant(seed)
    return (time.process_time() - begin) / REPEATS


def cells_below(scale: int, theirs: Any) -> dict[str, Any]:
    """Return a row with how many of chook's cluster loops have a state below the planted energy."""
    below = 0
    for k, (bonds, _) in enumerate(theirs):
        used = sorted({node for bond in bonds for node in bond[:2]})
        number = {node: k for k, node in enumerate(used)}
        compact = [[number[i], number[j], w] for i, j, w in bonds]
        problem = problem_of(compact, len(used))
        planted = problem.energy(np.ones(len(used), dtype=np.int8))
        below += anneal(problem, sweeps=2000, runs=64, rng=k).best_energy < planted
    row = {"scale": scale, "chook's loops are not the ground state": f"{below} of {len(theirs)}"}
    try:
        cluster_loops(CELLS, alpha=LOOPS_PER_CELL, scale=scale, ruggedness=1, rng=1).verify()
        row["here"] = "planted and proven"
    except ValueError as error:
        row["here"] = "refused: " + str(error).split(";")[0]
    return row


def main() -> None:
    mixtures = [(2, one) for one in SQUARES] + [(3, one) for one in CUBES]
    timed = [(d, length) for d, lengths in TIMED.items() for length in lengths]
    what: list[tuple[str, str, list[Any], int]] = [
        (f"{d} {one}", "tiles", [LENGTH[d], d, shares_of(d, one)], INSTANCES) for d, one in mixtures
    ]
    loops = int(np.ceil(CELLS**2 * _number(LOOPS_PER_CELL)))
    what += [(f"{d} {n}", "tiles", [n, d, shares_of(d, SQUARES[-1] if d == 2 else CUBES[-1])], 0)
             for d, n in timed]  # fmt: skip
    what += [(f"scale {s}", "cells", [CELLS, CELLS, loops, 1, s], 20) for s in SCALES]
    what += [(f"cells {alpha}", "cells", [16, 16, int(256 * _number(alpha)), limit, scale], 0)
             for alpha, limit, scale in TIMED_CELLS]  # fmt: skip
    theirs = chook(what)
    rows = [agreement(d, one, theirs[f"{d} {one}"]) for d, one in mixtures]
    notes = (
        f"{INSTANCES} instances per row and generator, periodic, length {LENGTH[2]}; energies and "
        "ground states as means ± their standard errors. A class is told by the energy and the "
        "number of ground states of a tile alone; they agree if the same ones come up in both."
    )
    store("families-tiles", "Tiles beside chook", rows, (), notes)
    rows = []
    for d, length in timed:
        method, shares = (tiles2d, SQUARES[-1]) if d == 2 else (tiles3d, CUBES[-1])
        own = seconds_of(lambda seed, m=method, n=length, s=shares: m(n, **s, rng=seed))
        rows.append(_row(f"{d}D, length {length}", length**d, theirs[f"{d} {length}"], own))
    for alpha, limit, scale in TIMED_CELLS:
        asked: dict[str, Any] = {"alpha": alpha, "ruggedness": limit, "scale": scale}
        own = seconds_of(lambda seed, asked=asked: cluster_loops(16, **asked, rng=seed))
        name = f"cluster loops, 16 × 16 cells, alpha {alpha}, ruggedness {limit}, scale {scale}"
        rows.append(_row(name, 2048, theirs[f"cells {alpha}"], own))
    for name, work in {
        "2D, length 320": lambda seed: tiles2d(320, rng=seed),
        "3D, length 46": lambda seed: tiles3d(46, rng=seed),
        "cluster loops, 112 × 112 cells": lambda seed: cluster_loops(
            112, alpha="1/4", scale=2, rng=seed
        ),
    }.items():
        rows.append({"what": name, "spins": work(1).ising.num_variables,
                     "seconds": seconds_of(work)})  # fmt: skip
    notes = (
        f"CPU seconds of one instance, the mean of {REPEATS}; nothing is written, and nothing "
        "verified, but ours have their loops, which are the proof. chook states no ground energy "
        "of cluster loops, and does not look whether so many turn in a cell that the planted state "
        "is no longer one: at alpha 3/4 that takes us ten times as many steps as without looking."
    )
    store("families-tiles-speed", "Planting tiles and cluster loops beside chook", rows, (), notes)
    rows = [cells_below(s, theirs[f"scale {s}"]) for s in SCALES]
    notes = (
        f"{CELLS} × {CELLS} cells, {LOOPS_PER_CELL} loops per cell, ruggedness 1, 20 instances of "
        "chook per row (it states no ground energy); annealing with 64 runs of 2000 sweeps. Found "
        "below means certainly not the ground state; not found below is no proof."
    )
    store("families-cluster", "Where cluster loops stop being planted", rows, (), notes)


def _row(what: str, spins: int, theirs: float, own: float) -> dict[str, Any]:
    return {"what": what, "spins": spins, "seconds": own, "chook, seconds": theirs,
            "times faster": theirs / own}  # fmt: skip


if __name__ == "__main__":
    main()
