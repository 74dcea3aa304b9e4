"""Unplanted spin glasses: how long `prove` and other solvers take to prove ground states.

`python -m benchmarks glasses` runs all that is not in `docs/proofs/glasses.jsonl` yet, one process
at a time on one core, and writes `docs/proofs/record.md`. If words are given, only families whose
names contain one of the words are run; `python -m benchmarks.glasses page` only writes the page.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.glasses_page import write_page
from benchmarks.record import setting
from glasshouse.problems import Ising

PLACE = Path(__file__).parents[1] / "docs" / "proofs"
RUNS = PLACE / "glasses.jsonl"
PEERS = ("scip", "cpsat", "toulbar2", "highs")
PEER_SECONDS = 300


def lattice(shape: tuple[int, ...], seed: int, *, normal: bool) -> Ising:
    """Return a periodic lattice with weights ±1, or with normal weights in units of 10^-5."""
    rng = np.random.default_rng(seed)
    grid = np.arange(int(np.prod(shape))).reshape(shape)
    steps = [np.stack([grid, np.roll(grid, -1, axis)], -1) for axis in range(len(shape))]
    edges = np.sort(np.stack(steps, -2).reshape(-1, 2), axis=1)
    return Ising.from_edges(grid.size, edges, _weights(rng, len(edges), normal))


def complete(size: int, seed: int, *, normal: bool = False, fields: bool = False) -> Ising:
    """Return an instance on a complete graph, with or without fields."""
    rng = np.random.default_rng(seed)
    edges = np.stack(np.triu_indices(size, 1), axis=1)
    weights = _weights(rng, len(edges), normal)
    own = _weights(rng, size, normal) if fields else None
    return Ising.from_edges(size, edges, weights, fields=own)


def half_complete(size: int, seed: int) -> Ising:
    """Return a Max-Cut instance on a random graph G(n, 1/2)."""
    rng = np.random.default_rng(seed)
    edges = np.stack(np.triu_indices(size, 1), axis=1)
    edges = edges[rng.random(len(edges)) < 0.5]
    return Ising.from_edges(size, edges, np.full(len(edges), -1))


def wishart(size: int, seed: int) -> Ising:
    """Return a planted Wishart instance without its plant."""
    from glasshouse.planting.methods import wishart as plant

    return plant(size, columns=size * 3 // 4, rng=seed).ising


def trained(visible: int, hidden: int, seed: int) -> Any:
    """Return the problem of an RBM with real weights, trained on random patterns."""
    from glasshouse.boltzmann import train

    data = np.random.default_rng(seed).choice([-1, 1], (50, visible))
    return train(data, hidden=hidden, epochs=20, rng=seed).machine.to_instance()


def _weights(rng: np.random.Generator, count: int, normal: bool) -> Any:
    if normal:
        return np.round(1e5 * rng.normal(size=count)).astype(np.int64)
    return rng.choice([-1, 1], count)


class Family(NamedTuple):
    """A family of instances, with its time limit and its peers."""

    make: Callable[[int], Any]
    seeds: int
    seconds: float
    peers: bool = False
    smaller: str | None = None  # a smaller family; peers that fail on it skip this family


FAMILIES = {
    "3D ±J, L = 5": Family(lambda s: lattice((5, 5, 5), s, normal=False), 1, 60, True),
    "3D normal, L = 5": Family(lambda s: lattice((5, 5, 5), s, normal=True), 1, 60, True),
    "3D ±J, L = 6": Family(
        lambda s: lattice((6, 6, 6), s, normal=False), 20, 90, True, "3D ±J, L = 5"
    ),
    "3D normal, L = 6": Family(
        lambda s: lattice((6, 6, 6), s, normal=True), 20, 90, True, "3D normal, L = 5"
    ),
    "3D ±J, L = 8": Family(lambda s: lattice((8, 8, 8), s, normal=False), 10, 900),
    "3D normal, L = 8": Family(lambda s: lattice((8, 8, 8), s, normal=True), 10, 400),
    "3D normal, L = 10": Family(lambda s: lattice((10, 10, 10), s, normal=True), 1, 400),
    "2D ±J, 100 × 100": Family(lambda s: lattice((100, 100), s, normal=False), 10, 120),
    "2D ±J, 140 × 140": Family(lambda s: lattice((140, 140), s, normal=False), 3, 300),
    "2D normal, 50 × 50": Family(lambda s: lattice((50, 50), s, normal=True), 5, 60),
    "2D normal, 100 × 100": Family(lambda s: lattice((100, 100), s, normal=True), 3, 300),
    "complete ±1, n = 30": Family(lambda s: complete(30, s), 1, 60, True),
    "complete ±1, n = 40": Family(lambda s: complete(40, s), 1, 60, True, "complete ±1, n = 30"),
    "complete ±1, n = 50": Family(lambda s: complete(50, s), 1, 60, True, "complete ±1, n = 40"),
    "complete ±1, n = 60": Family(lambda s: complete(60, s), 6, 120),
    "complete ±1, n = 80": Family(lambda s: complete(80, s), 6, 300),
    "complete ±1, n = 90": Family(lambda s: complete(90, s), 3, 600),
    "complete ±1, n = 100": Family(lambda s: complete(100, s), 1, 3600),
    "complete ±1, n = 120": Family(lambda s: complete(120, s), 1, 3600),
    "complete ±1 with fields, n = 60": Family(lambda s: complete(60, s, fields=True), 3, 120),
    "complete normal, n = 60": Family(lambda s: complete(60, s, normal=True), 3, 300),
    "Max-Cut of G(n, 1/2), n = 80": Family(lambda s: half_complete(80, s), 10, 300),
    "Wishart, n = 40": Family(lambda s: wishart(40, s), 3, 120),
    "trained RBM 64 × 16": Family(lambda s: trained(64, 16, s), 3, 120),
}


def run_one(family: str, seed: int, solver: str, limit: float) -> dict[str, Any]:
    """Run one solver on one instance, and return the proven energy and the CPU seconds."""
    from glasshouse.files import side_car, write
    from glasshouse.problems.convert import to_ising
    from glasshouse.proofs import prove, solve_exactly

    problem = FAMILIES[family].make(seed)
    ising = to_ising(problem)[0]
    row: dict[str, Any] = {"spins": ising.num_variables, "edges": ising.num_edges}
    if solver != "glasshouse":
        result = solve_exactly(problem, solver=solver, time_limit=limit)  # type: ignore[arg-type]
        proven = float(result.energy) if result.optimal else None
        return row | {"proven": proven, "seconds": result.seconds}
    torus = lattice((12, 12), 0, normal=False)
    for small in (lattice((4, 4, 4), 0, normal=True), complete(30, 0), torus):
        prove(small, time_limit=30)  # compilation
    began = time.process_time()
    proof = prove(problem, time_limit=limit)
    row |= {"seconds": time.process_time() - began, "method": proof.statistics.method,
            "nodes": proof.statistics.nodes, "leaves": proof.statistics.leaves,
            "proven": float(proof.energy) if proof.optimal else None,
            "gap": float(proof.gap) / max(1.0, abs(float(proof.energy)))}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        graph = Path(folder) / "glass.mc"
        write(graph, ising)
        return row | _checked(graph, side_car(graph), proof)


def _checked(graph: Path, beside: Path, proof: Any) -> dict[str, Any]:
    """Return the stand-alone checker's verdict, its time, and the size of the certificate."""
    from glasshouse.certificates import checker
    from glasshouse.files import write_certificate

    write_certificate(beside, proof.certificate)
    began = time.process_time()
    done = subprocess.run([sys.executable, checker.__file__, str(graph), str(beside)],
                          capture_output=True, text=True, check=False)  # fmt: skip
    children = os.times()
    return {"checked": done.stdout.strip(), "bytes": beside.stat().st_size,
            "checker_seconds": children.children_user, "began": began}  # fmt: skip


def main(words: list[str] | None = None) -> None:
    """Make all missing runs, and write the page."""
    PLACE.mkdir(exist_ok=True)
    done = [json.loads(line) for line in RUNS.read_text().splitlines()] if RUNS.exists() else []
    for name, family in FAMILIES.items():
        if words and not any(word in name for word in words):
            continue
        for seed in range(family.seeds):
            if _is_missing(done, name, seed, "glasshouse", 0):
                done.append(_run(name, seed, "glasshouse", family.seconds))
        for solver in PEERS if family.peers else ():
            hopeless = family.smaller and not _is_proven(done, family.smaller, solver)
            if not hopeless and _is_missing(done, name, 0, solver, PEER_SECONDS):
                done.append(_run(name, 0, solver, PEER_SECONDS))
    make_page(done)


def make_page(rows: list[dict[str, Any]]) -> None:
    """Write the page `docs/proofs/record.md` from all runs."""
    beside_others = [name for name, family in FAMILIES.items() if family.peers]
    packages = ("highspy", "ortools", "pytoulbar2", "pyscipopt")
    write_page(rows, beside_others, setting(*packages), PLACE / "record.md")


def _is_missing(
    done: list[dict[str, Any]], name: str, seed: int, solver: str, limit: float
) -> bool:
    """Return whether no run has proven an instance or had at least this time limit."""
    key = (name, seed, solver)
    return not any(
        (row["family"], row["seed"], row["solver"]) == key
        and (row["proven"] is not None or row["limit"] >= limit)
        for row in done
    )


def _is_proven(done: list[dict[str, Any]], name: str, solver: str) -> bool:
    """Return whether a solver has proven the first instance of a family."""
    return any(
        (row["family"], row["seed"], row["solver"]) == (name, 0, solver)
        and row["proven"] is not None
        for row in done
    )


def _run(family: str, seed: int, solver: str, limit: float) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.glasses", "--one", family, str(seed), solver,
               str(limit)]  # fmt: skip
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    row: dict[str, Any] = {"family": family, "seed": seed, "solver": solver, "limit": limit}
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False,
                                timeout=3 * limit + 120, env=os.environ | threads)  # fmt: skip
        row |= json.loads(answer.stdout.splitlines()[-1])
    except (subprocess.TimeoutExpired, IndexError, json.JSONDecodeError) as fault:
        row |= {"proven": None, "seconds": None, "error": type(fault).__name__}
    row.pop("began", None)
    with RUNS.open("a") as file:
        file.write(json.dumps(row) + "\n")
    print(row, flush=True)
    return row


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        name, seed, solver, limit = sys.argv[2:]
        print(json.dumps(run_one(name, int(seed), solver, float(limit))))
    elif sys.argv[1:] == ["page"]:
        make_page([json.loads(line) for line in RUNS.read_text().splitlines()])
    else:
        main(sys.argv[1:])
