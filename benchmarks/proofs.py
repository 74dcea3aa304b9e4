"""Time of proofs of planted optima: the cycle LP compared with exact solvers.

`python -m benchmarks.proofs [SECONDS]` sets the time limit of each solver and instance, 60 by
default. Every solver runs in its own process, after a small instance for imports and compilation.
Times are wall-clock times of the solver alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.record import store
from glasshouse.planting import Planted
from glasshouse.planting.methods import random_loops, structured_loops
from glasshouse.proofs import prove
from glasshouse.proofs.exact import solve_exactly

LIMIT = 60.0
SOLVERS = ("glasshouse", "rc2-stratified", "rc2-stratified-edge", "toulbar2", "scip", "highs")

INSTANCES: dict[str, Callable[[], Planted]] = {
    "structured, n = 40, density 5": lambda: structured_loops(
        40, 40, frustration="23/100", block=0.3, loop_density=5, rng=7
    ),
    "structured, n = 40, density 40": lambda: structured_loops(
        40, 40, frustration="23/100", block=0.3, loop_density=40, rng=7
    ),
    "random, n = 100, density 1": lambda: random_loops(
        100, 100, frustration="1/5", loop_density=1, rng=7
    ),
    "random, n = 100, density 2": lambda: random_loops(
        100, 100, frustration="1/5", loop_density=2, rng=7
    ),
    "random, n = 100, density 4": lambda: random_loops(
        100, 100, frustration="1/5", loop_density=4, rng=7
    ),
    "random, n = 1000, peak": lambda: random_loops(
        1000, 1000, frustration="1/5", loop_density=0.31, rng=7
    ),
    "random, n = 5000, peak": lambda: random_loops(
        5000, 5000, frustration="1/5", loop_density=0.31, rng=7
    ),
}


def run_one(solver: str, name: str, limit: float) -> dict[str, Any]:
    """Run one solver on one instance, and return the proven energy (or None) and the seconds."""
    warm = random_loops(20, 20, frustration="1/5", loop_density=2, rng=1).ising
    problem = INSTANCES[name]().ising
    if solver == "glasshouse":
        prove(warm)
        start = time.perf_counter()
        proof = prove(problem, time_limit=limit)
        seconds = time.perf_counter() - start
        return {"proven": proof.energy if proof.optimal else None, "seconds": seconds}
    solve_exactly(warm, solver=solver, time_limit=limit)  # type: ignore[arg-type]
    result = solve_exactly(problem, solver=solver, time_limit=limit)  # type: ignore[arg-type]
    return {"proven": result.energy if result.optimal else None, "seconds": result.seconds}


def in_a_process(solver: str, name: str, limit: float) -> dict[str, Any]:
    """Run a solver in another process, which is killed if the solver exceeds its limit."""
    command = [sys.executable, "-m", "benchmarks.proofs", "--one", solver, name, str(limit)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=3 * limit + 60, check=False
        )
        return dict(json.loads(done.stdout.splitlines()[-1]))
    except subprocess.TimeoutExpired:
        return {"proven": None, "seconds": None}
    except (IndexError, json.JSONDecodeError):
        return {"proven": None, "seconds": None, "error": done.stderr.strip().splitlines()[-1:]}


def main(limit: float = LIMIT) -> None:
    rows = []
    for name, make in INSTANCES.items():
        planted = make()
        row: dict[str, Any] = {"instance": name, "edges": planted.ising.num_edges}
        for solver in SOLVERS:
            answer = in_a_process(solver, name, limit)
            if answer["proven"] == planted.energy:
                row[solver] = round(answer["seconds"], 3)
            elif answer["proven"] is None:
                row[solver] = _failure(answer, limit)
            else:
                row[solver] = "WRONG"
        rows.append(row)
        print(row, flush=True)
    store(
        "proofs",
        "Proving planted optima: seconds to a proof",
        rows,
        ("highspy", "python-sat", "pytoulbar2", "pyscipopt"),
        notes=f"Limit {limit:g} s; > means no proof within it. One core each, the same weighted "
        "MAX-2-SAT problem for all solvers (rc2-stratified-edge: one relaxation variable for both "
        "clauses of an edge; scip and highs: as an integer program).",
    )


def _failure(answer: dict[str, Any], limit: float) -> str:
    """Return why there is no proof: the time ran out, or the solver is missing or failed."""
    if "error" not in answer:
        return f"> {limit:g}"
    return "not installed" if "ModuleNotFoundError" in str(answer["error"]) else "failed"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(run_one(sys.argv[2], sys.argv[3], float(sys.argv[4]))))
    else:
        main(*map(float, sys.argv[1:]))
