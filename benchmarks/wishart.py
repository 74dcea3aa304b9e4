"""The hardness peak of the Wishart planted ensemble, and a comparison with chook.

Set CHOOK_PYTHON to a Python that has chook; without it, the comparison is left out. chook calls
functions of NumPy through SciPy, which no longer has them, so they are added to SciPy.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
from functools import partial
from typing import Any

import numpy as np

from benchmarks.planting import best_of
from benchmarks.record import store
from glasshouse.planting.methods import wishart
from glasshouse.problems import Ising
from glasshouse.solvers import anneal, sweeps_to_solution

# The sizes for the hardness peak. For fine columns, 32 spins would take too many sweeps.
INSTANCES, SWEEPS_PER_RUN, GIVEN_UP = 60, 100, 10_000_000
COLD = (10, 30)  # the last β of a run, divided by N; the first β is 0.1
CURVES: dict[str, tuple[int, dict[str, Any], tuple[int, ...]]] = {
    "signs": (32, {}, (3, 5, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 24, 32, 48)),
    "normal, resolution 10": (
        32, {"weights": "normal", "resolution": 10}, (2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 48),
    ),
    "normal, resolution 1000": (
        24, {"weights": "normal", "resolution": 1000}, (1, 2, 3, 4, 5, 6, 8, 12, 18, 24, 36),
    ),
}  # fmt: skip


def turning_point(n: int, resolution: int | None) -> float:
    """Return the columns at which one other pair of states is expected to have only zero sums.

    The sums w·s of a column over all states are nearly normal, with deviation σ√n and a spacing of
    two. For signs, the spacing is four: sums can be zero only for states at an even distance from
    the planted state, which are half of all states.
    """
    states, apart = (n - 1, 2) if resolution else (n - 2, 4)
    odds = apart / ((resolution or 1) * math.sqrt(2 * math.pi * n))
    return states * math.log(2) / -math.log(odds)


def hardness(n: int, columns: int, law: dict[str, Any]) -> tuple[float, int]:
    """Return the better schedule's median sweeps to solution, and its censored instances."""
    unit = n * law.get("resolution", 1) ** 2  # the paper divides couplings by N
    plants = [wishart(n, columns=columns, **law, rng=k) for k in range(INSTANCES)]
    medians = []
    for cold in COLD:
        found = [
            sweeps_to_solution(
                plant, sweeps_per_run=SWEEPS_PER_RUN, beta=(0.1 / unit, cold / unit),
                max_sweeps=GIVEN_UP, rng=k,
            )
            for k, plant in enumerate(plants)
        ]  # fmt: skip
        median = float(np.median([one.totals[0] for one in found]))
        medians.append((median, sum(bool(one.censored[0]) for one in found)))
    return min(medians)


def peak() -> None:
    """Measure the sweeps to solution over alpha, for each distribution of the columns."""
    rows: list[dict[str, Any]] = []
    peaks = []
    for name, (n, law, numbers) in CURVES.items():
        measured = {columns: hardness(n, columns, law) for columns in numbers}
        for columns, (median, lost) in measured.items():
            shown = f"> {GIVEN_UP:.0e}" if 2 * lost >= INSTANCES else median
            rows.append({
                "columns are": name, "n": n, "columns": columns, "alpha": columns / n,
                "median sweeps": shown, "given up": lost,
            })  # fmt: skip
        hardest = max(measured, key=measured.__getitem__)
        expected = turning_point(n, law.get("resolution"))
        peaks.append(
            f"* {name}, n = {n}: hardest at {hardest} columns (alpha {hardest / n:.3f}); turning "
            f"point expected at {expected:.1f} columns ({expected / n:.3f})"
        )
        print(peaks[-1], flush=True)
    notes = (
        f"Median sweeps to solution of {INSTANCES} instances per point, {SWEEPS_PER_RUN} sweeps "
        f"per run; β linear from 0.1/n to {' or '.join(map(str, COLD))}/n, over resolution², the "
        f"better of them; given up after {GIVEN_UP:.0e} sweeps.\n\n" + "\n".join(peaks) + "\n\n"
        "At the turning point one pair of states besides the planted one is expected to be at zero "
        "in all columns: (n-1) ln 2 / ln(σ √(2πn) / 2) columns, σ the resolution; for signs "
        "(n-2) ln 2 / ln(√(2πn) / 4)."
    )
    store("families-wishart", "Hardness of the Wishart planted ensemble", rows, (), notes)


_CHOOK = """
import json, sys, time
import numpy as np, scipy
for name in ("ones", "eye", "sqrt", "diag", "random"):
    setattr(scipy, name, getattr(np, name))
scipy.randn = np.random.randn
from chook.wrappers import wishart_planting_wrapper as plant
sizes, (n, columns, instances) = json.loads(sys.argv[1])
found = {"seconds": [], "signs": [], "plants": []}
for key, discrete in (("seconds", False), ("signs", True)):
    for size in sizes:
        plant(*size, discrete)
        times = []
        for _ in range(7 if size[0] >= 1000 else 50):
            begin = time.process_time()
            plant(*size, discrete)
            times.append(time.process_time() - begin)
        found[key].append(min(times))
np.random.seed(1)
for _ in range(instances):
    bonds, energy = plant(n, columns)
    found["plants"].append([[int(i), int(j), float(w)] for i, j, w in bonds] + [float(energy)])
print(json.dumps(found))
"""


def beside_chook() -> None:
    """Compare ground energies and the time of planting with chook, on one thread."""
    python = os.environ.get("CHOOK_PYTHON")
    if not python:
        print("CHOOK_PYTHON is not set: nothing is measured beside chook")
        return
    sizes, ask = [(32, 24), (100, 100), (300, 300), (1000, 1000)], (24, 12, 100)
    run = subprocess.run(
        [python, "-W", "ignore", "-c", _CHOOK, json.dumps([sizes, ask])],
        capture_output=True, text=True, check=True, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    theirs = json.loads(run.stdout)
    rows: list[dict[str, Any]] = []
    for law, key in (("signs", "signs"), ("normal", "seconds")):
        for (n, columns), seconds in zip(sizes, theirs[key], strict=True):
            plant = partial(wishart, n, columns=columns, weights=law, rng=1)
            plant()  # compiled
            own = best_of(7 if n >= 1000 else 50, plant)
            rows.append({
                "columns are": law, "what": f"n = {n}, {columns} columns", "seconds": own,
                "chook, seconds": seconds, "times faster": seconds / own,
            })  # fmt: skip
    notes = (
        "CPU seconds of one instance in one process and thread, the least of seven runs or more; "
        "nothing is written, and nothing verified. chook's columns of signs are what it calls "
        "discrete. What takes us time at n = 32 is the same for all small instances: arguments, "
        "seed, recipe and checks, some 0.2 ms. A normal entry takes 0.15 µs, because it is drawn "
        "exactly, by integers only, so that a seed means the same on every machine.\n\n"
    )
    store("families-wishart-chook", "Planting Wishart beside chook", rows, (),
          notes + _energies(theirs["plants"], *ask))  # fmt: skip


def _energies(plants: list[list[Any]], n: int, columns: int, instances: int) -> str:
    """Return a sentence that compares ground energies of chook's instances with ours."""
    agree = lower = 0
    stated = []
    for k, (*bonds, energy) in enumerate(plants):
        ends, weights = [pair[:2] for pair in bonds], [-pair[2] for pair in bonds]
        found = anneal(Ising.from_edges(n, ends, weights), runs=200, rng=k).best_energy
        agree += (is_same := math.isclose(found, energy, rel_tol=1e-9))
        lower += found < energy and not is_same
        stated.append(energy)
    scale = n * 1000**2 * (1 - 1 / n)
    own = [
        wishart(n, columns=columns, weights="normal", rng=k).energy / scale
        for k in range(instances)
    ]
    return (
        f"Ground energies at n = {n}, {columns} columns, {instances} instances each: annealing "
        f"finds what chook states for {agree} of its instances, and less for {lower}; their mean "
        f"is {_mean(stated)} in chook, {_mean(own)} here in its units, expected {-columns / 2}."
    )


def _mean(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ± {np.std(values) / math.sqrt(len(values)):.3f}"


def main() -> None:
    beside_chook()
    peak()


if __name__ == "__main__":
    main()
