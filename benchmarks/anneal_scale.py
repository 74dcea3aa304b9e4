"""Annealing beyond the speed of updates: start-up time, threads, ensembles, large problems."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import Any

from benchmarks.anneal import ROUNDS, sparse
from benchmarks.record import store
from glasshouse.planting import random_loops_ensemble
from glasshouse.solvers import anneal, peak_density, sweeps_to_solution

_START = """
import time
began = time.perf_counter()
import numpy as np
from glasshouse.problems import Ising
from glasshouse.solvers import anneal
draws = np.random.default_rng(1)
ring = [(k, (k + 1) % 60) for k in range(60)]
problem = {problem}
anneal(problem, sweeps=10, runs={runs}, rng=1)
print(time.perf_counter() - began, time.process_time())
"""
# The kernels that users meet first.
_STARTS = {
    "sparse, integers, 64 runs": ("Ising.from_edges(60, ring, draws.integers(1, 4, 60))", 64),
    "sparse, integers, 10 runs": ("Ising.from_edges(60, ring, draws.integers(1, 4, 60))", 10),
    "sparse, floats, 64 runs": ("Ising.from_edges(60, ring, draws.normal(size=60))", 64),
    "complete graph, 64 runs": (
        "Ising.from_matrix(np.triu(draws.choice([-1, 1], (60, 60)), 1))",
        64,
    ),
    "two layers, floats, 64 runs": (
        "Ising.from_edges(60, np.argwhere(np.ones((30, 30))) + (0, 30), draws.normal(size=900))",
        64,
    ),
}
# Calls with other kernels, which print seconds and CPU seconds as above.
_OTHER_STARTS = {
    "prove, 4 x 4 x 4 lattice": """
import time
began = time.perf_counter()
import numpy as np
import glasshouse as gh
site = np.arange(64).reshape(4, 4, 4)
steps = [np.stack([site, np.roll(site, -1, axis)], -1).reshape(-1, 2) for axis in range(3)]
edges = np.concatenate(steps)
weights = np.random.default_rng(1).choice([-1, 1], len(edges))
gh.prove(gh.Ising.from_edges(64, edges, weights), time_limit=60)
print(time.perf_counter() - began, time.process_time())
""",
    "train, bars and stripes 3 x 3": """
import time
began = time.perf_counter()
import glasshouse as gh
gh.train(gh.bars_and_stripes(3), hidden=4, epochs=2, rng=1)
print(time.perf_counter() - began, time.process_time())
""",
}

_LARGE = """
import time
from pathlib import Path
import numpy as np
from glasshouse.problems import Ising
from glasshouse.solvers import anneal
side = 100
site = np.arange(side**3, dtype=np.int64).reshape(side, side, side)
steps = [np.stack([site, np.roll(site, -1, axis)], -1).reshape(-1, 2) for axis in range(3)]
edges = np.concatenate(steps)
weights = np.random.default_rng(1).choice([-1, 1], len(edges))
problem = Ising.from_edges(side**3, edges, weights)
result = anneal(problem, sweeps=100, runs=32, rng=1)
status = Path("/proc/self/status").read_text()
print(int(status.split("VmHWM:")[1].split()[0]) / 2**20, result.seconds, result.best_energy)
"""


def run_alone(script: str, **environment: str) -> list[float]:
    command = [sys.executable, "-c", script]
    run = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | environment
    )
    return [float(x) for x in run.stdout.split()]


def starts() -> list[dict[str, Any]]:
    """Return rows of the seconds until a first answer, with an empty and with a filled cache."""
    rows = []
    scripts = {
        name: _START.format(problem=problem, runs=runs) for name, (problem, runs) in _STARTS.items()
    }
    for name, script in (scripts | _OTHER_STARTS).items():
        first, later = [], []
        for _ in range(3):
            with tempfile.TemporaryDirectory() as folder:
                first.append(run_alone(script, NUMBA_CACHE_DIR=folder)[0])
                later += [run_alone(script, NUMBA_CACHE_DIR=folder)[0] for _ in range(3)]
        rows.append({"what": f"first call after installation: {name}", "seconds": min(first)})
        rows.append({"what": f"import and first call, later: {name}", "seconds": min(later)})
    return rows


def threads() -> dict[str, Any]:
    """Return the speed-up of two threads in wall-clock time, which needs two idle cores."""
    problem, _ = sparse(1000, "0.1")
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(4 * ROUNDS):
        for number, found in times.items():
            found.append(anneal(problem, sweeps=1000, runs=256, rng=1, threads=number).seconds)
    ratio = min(times[1]) / min(times[2])
    return {"what": "two threads over one, n = 1000", "times faster": ratio}


def ensemble() -> dict[str, Any]:
    def work() -> None:
        many = random_loops_ensemble(
            100, 100, 10_000, frustration="0.1", loop_density=round(peak_density(100), 4), rng=1
        )
        sweeps_to_solution(many, rng=1)

    times = []
    for _ in range(2):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    what = "grow, build and solve 10 000 instances, n = 100, f = 0.1 (one N_tot each)"
    return {"what": what, "seconds": min(times)}


def large() -> dict[str, Any]:
    peak, seconds, _ = run_alone(_LARGE)
    what = "10^6 spins, 3·10^6 edges, 100 sweeps, 32 runs"
    return {"what": what, "seconds": seconds, "peak GiB": peak}


def main() -> None:
    """Measure start-up times, threads, ensembles and a large problem, and store the table."""
    rows = [*starts(), threads(), ensemble(), large()]
    store("anneal-scale", "Annealing: starts, threads, ensembles, large problems", rows)


if __name__ == "__main__":
    main()
