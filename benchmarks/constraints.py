"""Constraint families compared with chook's XORSAT and dimod's generators: agreement and speed.

Set CHOOK_PYTHON to a Python that has chook, such as that of
`python -m venv chook && chook/bin/pip install chook`. Without this variable, the comparison with
chook is left out.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks.planting import best_of
from benchmarks.record import store
from glasshouse.certificates import Squares
from glasshouse.planting import Planted, Recipe, Seed
from glasshouse.planting.counting.equations import count_solutions, equation_rows, free_variables
from glasshouse.planting.methods import xorsat
from glasshouse.planting.methods.constraints import nae3sat, two_in_four

SMALL, MEDIUM, INSTANCES = 10, 48, 400
SIZES = ((24, 200), (96, 100), (384, 20))  # variables, and instances to be timed

_CHOOK = """
import json, sys, time
import numpy as np
from chook.planters.regular_xorsat import plant_regular_xorsat as plant
import importlib.metadata
sizes, asked = json.loads(sys.argv[1])
np.random.seed(1)
seconds = []
for n, count in sizes:
    begin = time.process_time()
    for _ in range(count):
        plant(3, n)
    seconds.append((time.process_time() - begin) / count)
plants = []
for n, count in asked:
    for _ in range(count):
        bonds, energy, solutions = plant(3, n)
        plants.append([n, [[int(x) for x in bond] for bond in bonds], int(energy), int(solutions)])
print(json.dumps({"seconds": seconds, "plants": plants,
                  "version": importlib.metadata.version("chook")}))
"""


def xorsat_beside_chook() -> tuple[list[dict[str, Any]], str]:
    """Compare XORSAT with chook: energies of the same equations, and the time of own instances."""
    python = os.environ.get("CHOOK_PYTHON")
    if not python:
        return [], "CHOOK_PYTHON was not set: nothing was measured beside chook."
    asked = json.dumps([SIZES, [(SMALL, 50), (MEDIUM, INSTANCES)]])
    run = subprocess.run([python, "-c", _CHOOK, asked], capture_output=True, text=True, check=True)
    theirs = json.loads(run.stdout)
    rows = []
    for (n, count), seconds in zip(SIZES, theirs["seconds"], strict=True):
        begin = time.process_time()
        for k in range(count):
            count_solutions(xorsat(n, rng=k))
        own = (time.process_time() - begin) / count
        rows.append({
            "family": "xorsat", "size": f"{n} variables, {2 * n} spins", "peer": "chook",
            "peer, seconds": seconds, "seconds": own, "times faster": seconds / own,
        })  # fmt: skip
    small = [plant for plant in theirs["plants"] if plant[0] == SMALL]
    medium = [plant for plant in theirs["plants"] if plant[0] == MEDIUM]
    same_energies = sum(_has_the_same_energies(*plant) for plant in small)
    same_counts = sum(
        2 ** free_variables(_rows(bonds), n) == solutions for n, bonds, _, solutions in medium
    )
    notes = (
        f"chook {theirs['version']}. Of its XORSAT instances, {same_energies} of {len(small)} with "
        f"{SMALL} variables have our energies in all {2**SMALL} states (ours, least over z, is "
        "chook's minus 3 per equation) and as many ground states as chook states; "
        f"{same_counts} of {len(medium)} with {MEDIUM} variables have as many solutions by our "
        f"elimination as by its own. {_shares_of_unique(medium)} Times of XORSAT beside chook are "
        "means over instances, because both try again at random, and include counting the "
        "solutions, which chook always does."
    )
    return rows, notes


def _rows(bonds: list[list[int]]) -> Any:
    return np.array(bonds, dtype=np.int32)[:, :3]


def _has_the_same_energies(n: int, bonds: list[list[int]], energy: int, solutions: int) -> bool:
    """Return whether an instance of chook, written as squares, has its energies and degeneracy."""
    rows, couplings = _rows(bonds), np.array(bonds)[:, 3]
    states = np.array(list(itertools.product((-1, 1), repeat=n)), dtype=np.int8)
    products = states[:, rows].prod(axis=2, dtype=np.int64)
    their_energies = products @ couplings
    sums = states[:, rows].sum(axis=2, dtype=np.int64) + couplings
    own = np.where(sums > 0, 1, -1).astype(np.int8)  # the best z, of which there may be two
    size = n + len(rows)
    nodes = np.column_stack([rows, np.arange(n, size), np.full(len(rows), size)])
    factors = np.column_stack([np.ones_like(rows), np.full(len(rows), -2), couplings])
    best = int(np.argmin(their_energies))
    state = np.concatenate([states[best], own[best]])
    plant = Planted.of_squares(
        size, Squares.alike(nodes, factors, 1), state, Recipe("xorsat", {"n": n}, Seed(1))
    )
    plant.verify()
    our_energies = plant.problem.energy(np.column_stack([states, own]))
    count = count_solutions(plant)
    return (
        np.array_equal(our_energies, their_energies - 3 * len(rows))
        and (count.least, count.is_exact) == (solutions, True)
        and int(their_energies.min()) == energy
        and int((their_energies == energy).sum()) == solutions
    )


def _shares_of_unique(theirs: list[Any]) -> str:
    """Return a sentence on the fractions of instances that have a single solution."""
    n = theirs[0][0]
    free = []
    for k in range(len(theirs)):
        rows = equation_rows(xorsat(n, rng=k))
        assert rows is not None
        free.append(free_variables(rows, n))
    is_unique, weights = np.array(free) == 0, 0.5 ** np.array(free)
    unique = sum(solutions == 1 for *_, solutions in theirs)
    return (
        f"One solution only have {unique} of {len(theirs)} of chook's and {is_unique.sum()} of as "
        f"many of ours; chook draws right-hand sides until there is a solution, and with its "
        f"weights ours would be {len(free) * (weights @ is_unique) / weights.sum():.0f}."
    )


def clauses_beside_dimod() -> list[dict[str, Any]]:
    """Measure the time of planting the same number of clauses with dimod and with glasshouse."""
    import dimod

    cases = [
        ("nae3sat", nae3sat, dimod.generators.random_nae3sat, 2.1),
        ("two_in_four", two_in_four, dimod.generators.random_2in4sat, 0.7),
    ]
    rows = []
    for (name, ours, theirs, density), n in itertools.product(cases, (100, 2000)):
        clauses = round(density * n)
        peer = best_of(3, partial(theirs, n, clauses, plant_solution=True, seed=1))
        own = best_of(20, partial(ours, n, clauses=clauses, rng=1))
        rows.append({
            "family": name, "size": f"{n} spins, {clauses} clauses", "peer": "dimod",
            "peer, seconds": peer, "seconds": own, "times faster": peer / own,
        })  # fmt: skip
    return rows


def large() -> list[dict[str, Any]]:
    """Measure the time of planting large instances, and of counting their solutions."""
    rows: list[dict[str, Any]] = []
    for n in (20_000, 50_000, 100_000):
        row = {"family": "xorsat", "size": f"{n} variables, {2 * n} spins"}
        plant = xorsat(n, rng=1)
        seconds = best_of(3, partial(xorsat, n, rng=1))
        counted = best_of(1, partial(count_solutions, plant, most=10**6))
        rows.append(row | {"seconds": seconds, "counting, seconds": counted})
    rows.append({
        "family": "nae3sat", "size": "100000 spins, 210000 clauses",
        "seconds": best_of(3, partial(nae3sat, 10**5, clauses=210_000, rng=1)),
    })  # fmt: skip
    rows.append({
        "family": "two_in_four", "size": "100000 spins, 70000 clauses",
        "seconds": best_of(3, partial(two_in_four, 10**5, clauses=70_000, rng=1)),
    })  # fmt: skip
    return rows


def main() -> None:
    for plant in (xorsat(24, rng=1), nae3sat(24, clauses=9, rng=1)):  # compile before the clock
        plant.summary()
    rows, notes = xorsat_beside_chook()
    rows += clauses_beside_dimod() + large()
    head = "CPU seconds of one instance on one core, the least of several runs.\n"
    store("families-csp", "Planting families of constraints", rows, ("dimod",), head + notes)


if __name__ == "__main__":
    main()
