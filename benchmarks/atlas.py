"""The atlas: measurements of which attack breaks which planted family.

`python -m benchmarks atlas` measures all missing cells and writes docs/atlas. A shorter run is
`python -m benchmarks.atlas --count 2 --seconds 1 --folder build/try`. Every attack gets one thread
and the same time per instance. Finding and proving are separate: finders search for the planted
energy, and provers must show that it is optimal.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import glasshouse as gh
from benchmarks.atlas_page import write_page
from benchmarks.semidefinite import semidefinite_bound
from glasshouse.certificates.exact_form import ExactForm
from glasshouse.proofs.exact import RefusedError, solve_exactly
from glasshouse.races.samplers import iter_sampled
from glasshouse.solvers.doubling import iter_rounds

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs" / "atlas"
SPINS = 64  # spins (including ancillas) of every family in the first half, or the nearest size
HARD = 0.05  # median seconds of annealing of every family in the second half
EXACT = ("rc2-stratified", "toulbar2", "cpsat", "scip")


@dataclass(frozen=True)
class Family:
    """A family of instances of several sizes.

    Attributes:
        grow: a function of a size and a seed, which returns a plant or an unplanted problem.
        sizes: the size for about 64 spins first, then other sizes.
    """

    grow: Callable[[int, int], Any]
    sizes: tuple[int, ...]


def _glass(graph: str, seed: int) -> Any:
    """Return random couplings ±1 on a graph, without a plant."""
    edges = gh.Graph.parse(graph).edges
    weights = np.random.default_rng(seed).choice([-1, 1], len(edges))
    return gh.Ising.from_edges(int(edges.max()) + 1, edges, weights)


FAMILIES: dict[str, Family] = {
    "random loops, f = 1/5": Family(
        lambda n, s: gh.random_loops(n, n, frustration="1/5", loop_density="0.345", rng=s),
        (32, 64, 100, 150, 200, 300, 400),
    ),
    "structured loops, f = 1/5": Family(
        lambda n, s: gh.structured_loops(
            n, n, frustration="1/5", loop_density="2", block="1/4", rng=s
        ),
        (32, 48, 64, 100, 150),
    ),
    "loops on a torus, f = 1/4": Family(
        lambda n, s: gh.graph_loops(
            f"torus:{n}x{n}", frustration="1/4", length=4, loop_density="3/4", rng=s
        ),
        (8, 12, 16, 24, 32, 48),
    ),
    "tiles 2D, C2 and C3": Family(
        lambda n, s: gh.tiles2d(n, p1=0, p2="1/2", p3="1/2", rng=s), (8, 12, 16, 20, 24, 32, 48)
    ),
    "tiles 3D, F6": Family(lambda n, s: gh.tiles3d(n, rng=s), (4, 6, 8, 10, 12)),
    "cluster loops, scale 1/4": Family(
        lambda n, s: gh.cluster_loops(n, alpha="1/4", scale="1/4", rng=s),
        (3, 4, 6, 8, 10, 12, 16),
    ),
    "Wishart, alpha = 1/2": Family(
        lambda n, s: gh.wishart(n, alpha="1/2", rng=s), (64, 40, 48, 56, 72, 80)
    ),
    "3-regular 3-XORSAT": Family(lambda n, s: gh.xorsat(n, rng=s), (32, 12, 16, 20, 24, 28, 40)),
    "NAE-3-SAT, 2.1 clauses per spin": Family(
        lambda n, s: gh.nae3sat(n, clause_density="2.1", rng=s), (64, 100, 200, 300, 400, 600)
    ),
    "2-in-4-SAT, 0.7 clauses per spin": Family(
        lambda n, s: gh.two_in_four(n, clause_density="0.7", rng=s), (64, 32, 48, 80, 100)
    ),
    "number partitioning, 20 bits": Family(
        lambda n, s: gh.partition(n, bits=20, rng=s), (64, 24, 32, 40, 48)
    ),
    "posiform": Family(lambda n, s: gh.posiform(n, rng=s), (64, 128, 256, 512, 1024)),
    "nobody's: complete graph, ±1": Family(
        lambda n, s: _glass(f"complete:{n}", s), (64, 100, 150, 200)
    ),
    "nobody's: cubic lattice, ±1": Family(
        lambda n, s: _glass(f"torus:{n}x{n}x{n}", s), (4, 6, 8, 10)
    ),
}


@dataclass(frozen=True)
class Instance:
    """A problem, the energy to reach, and its plant or None."""

    problem: Any
    target: int
    plant: Any

    @classmethod
    def of(cls, family: str, size: int, seed: int) -> Instance:
        """Grow an instance, with a target from its plant or from long annealing."""
        grown = FAMILIES[family].grow(size, seed)
        if isinstance(grown, gh.Planted):
            return cls(grown.ising, grown.energy, grown)
        best = gh.anneal(grown, sweeps=4000, runs=256, rng=seed)
        return cls(grown, int(best.best_energy), None)


def _found(states: Iterable[tuple[int, float]], target: int, seconds: float) -> dict[str, Any]:
    """Return whether an energy reached the target within the time, and after how many seconds."""
    for energy, at in states:
        if energy <= target:
            return {"done": at <= seconds, "seconds": at}
    return {"done": False, "seconds": seconds}


def _rounds(solve: Any) -> Callable[[Instance, float, int], dict[str, Any]]:
    def attack(one: Instance, seconds: float, seed: int) -> dict[str, Any]:
        begin = time.perf_counter()
        rounds = iter_rounds(
            solve, one.problem, target=one.target, rng=seed, time_limit=seconds, threads=1
        )
        told = ((int(r.best_energy), time.perf_counter() - begin) for r in rounds)
        return _found(told, one.target, seconds)

    return attack


def _sampled(name: str) -> Callable[[Instance, float, int], dict[str, Any]]:
    def attack(one: Instance, seconds: float, seed: int) -> dict[str, Any]:
        begin = time.perf_counter()
        states = iter_sampled(name, one.problem, rng=seed, time_limit=seconds)
        told = ((int(one.problem.energy(s)), time.perf_counter() - begin) for s in states)
        return _found(told, one.target, seconds)

    return attack


def _cycle_lp(one: Instance, seconds: float, _: int) -> dict[str, Any]:
    """Attack an instance with our cycle LP, which gets the planted state and must prove it."""
    begin = time.perf_counter()
    state = None if one.plant is None else one.plant.state
    proof = gh.prove(one.problem, state=state, time_limit=seconds)
    taken = time.perf_counter() - begin
    done = bool(proof.optimal) and not proof.enumerated
    return {"done": done, "seconds": taken if done else seconds, "gap": float(proof.gap)}


def _semidefinite(one: Instance, seconds: float, _: int) -> dict[str, Any]:
    """Attack an instance with the semidefinite bound, which is tight if no energy is between."""
    form = ExactForm.of(one.problem)
    enough = one.target - form.step / form.scale
    begin = time.perf_counter()
    bound = semidefinite_bound(one.problem, seconds, enough)
    taken = time.perf_counter() - begin
    done = bound > enough and taken <= 1.1 * seconds
    return {"done": done, "seconds": taken if done else seconds, "gap": one.target - bound}


def _exact(name: str) -> Callable[[Instance, float, int], dict[str, Any]]:
    def attack(one: Instance, seconds: float, _: int) -> dict[str, Any]:
        try:
            found = solve_exactly(one.problem, solver=name, time_limit=seconds)
        except (RefusedError, ValueError) as fault:
            return {"done": False, "seconds": seconds, "refused": str(fault)[:100]}
        done = found.optimal and found.seconds <= 1.1 * seconds
        wrong = done and one.plant is not None and int(found.energy) != one.target
        return {"done": done, "seconds": found.seconds if done else seconds, "wrong": wrong}

    return attack


def _structure(one: Instance, seconds: float, _: int) -> dict[str, Any] | None:
    """Attack an instance by its structure: GF(2) elimination for XORSAT, 2-SAT for posiforms."""
    method = None if one.plant is None else one.plant.recipe.method
    if method not in ("xorsat", "posiform"):
        return None
    begin = time.perf_counter()
    one.plant.summary()  # counts all solutions, by elimination or by 2-SAT
    taken = time.perf_counter() - begin
    return {"done": taken <= seconds, "seconds": taken}


FINDING = {
    "anneal (ours)": _rounds(gh.anneal), "temper (ours)": _rounds(gh.temper),
    "anneal (dwave-samplers)": _sampled("dwave-anneal"),
}  # fmt: skip
PROVING: dict[str, Any] = {
    "cycle LP": _cycle_lp, "semidefinite": _semidefinite,
    **{name: _exact(name) for name in EXACT}, "structure": _structure,
}  # fmt: skip
ATTACKS = FINDING | PROVING


def cells(half: str, family: str, size: int, seed: int, seconds: float) -> list[dict[str, Any]]:
    """Run all attacks on one instance, and return one row per attack."""
    one, rows = Instance.of(family, size, seed), []
    for name, attack in ATTACKS.items():
        found = attack(one, seconds, seed)
        if found is not None:
            rows.append({
                "half": half, "family": family, "size": size, "seed": seed, "attack": name,
                "spins": one.problem.num_variables, "limit": seconds, "planted":
                one.plant is not None, **found,
            })  # fmt: skip
    return rows


def warm_up() -> None:
    """Prepare a process: compile and load all measured code, and use one thread."""
    threadpool_limits(1)
    for family, known in FAMILIES.items():
        one = Instance.of(family, min(known.sizes), 999)
        for name in ("anneal (ours)", "temper (ours)", "cycle LP", "structure"):
            ATTACKS[name](one, 0.2, 999)


def hard_size(family: str, seconds: float) -> int:
    """Return the smallest size at which annealing takes `HARD` seconds, or the largest size."""
    annealed, sizes = FINDING["anneal (ours)"], sorted(FAMILIES[family].sizes)
    for size in sizes:
        pilots = [annealed(Instance.of(family, size, 1000 + s), seconds, s) for s in range(9)]
        if median(pilot["seconds"] for pilot in pilots) >= HARD:
            return size
    return sizes[-1]


def plan(count: int, seconds: float) -> Iterator[tuple[str, str, int, int, float]]:
    """Yield the instances to measure: at equal n, then at equal annealing hardness."""
    for family, known in FAMILIES.items():
        yield from (("equal n", family, known.sizes[0], seed, seconds) for seed in range(count))
    for family in FAMILIES:
        size = hard_size(family, 1.0)
        yield from (("equal hardness", family, size, seed, seconds) for seed in range(count))


def main(arguments: list[str] | None = None) -> None:
    """Measure the missing cells, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=20, help="instances per cell")
    parser.add_argument("--seconds", type=float, default=5.0, help="time per instance and attack")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=DOCS)
    asked = parser.parse_args([] if arguments is None else arguments)
    asked.folder.mkdir(parents=True, exist_ok=True)
    data = asked.folder / "cells.jsonl"
    rows = [json.loads(line) for line in data.read_text().splitlines()] if data.exists() else []
    known = {(row["half"], row["family"], row["seed"]) for row in rows}
    with ProcessPoolExecutor(asked.workers, initializer=warm_up) as pool, data.open("a") as file:
        jobs = {
            pool.submit(cells, *one): one
            for one in plan(asked.count, asked.seconds)
            if (one[0], one[1], one[3]) not in known
        }
        for number, job in enumerate(as_completed(jobs), 1):
            new = job.result()
            rows += new
            file.write("".join(json.dumps(row) + "\n" for row in new))
            file.flush()
            print(f"{number} of {len(jobs)}: {jobs[job][:4]}", flush=True)
    write_page(asked.folder, rows, list(FINDING), list(PROVING), list(FAMILIES), asked.seconds)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
