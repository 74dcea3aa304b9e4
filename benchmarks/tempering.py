"""Time to solution of tempering, compared with annealing, dwave-samplers and openjij.

All solvers get the same ungauged problem. Results are for the best of a few run lengths and, for
annealers, of two ranges of β: the solver's default and ours. Times are CPU seconds of one thread
for whole calls, including warm-ups and everything before the first sweep.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from benchmarks.anneal import dwave, openjij, without_isolated
from benchmarks.glasses import lattice
from benchmarks.record import store
from glasshouse.planting import Planted
from glasshouse.planting.methods import graph_loops, random_loops, wishart
from glasshouse.planting.methods.lattice_tiles import tiles2d, tiles3d
from glasshouse.problems import Ising
from glasshouse.solvers import anneal, peak_density, temper
from glasshouse.solvers.engine import ColouredGraph
from glasshouse.solvers.schedule import default_range
from glasshouse.statistics.intervals import runs_needed

ROUNDS = 5
OUR_GRID, PEER_GRID = (30, 100, 300, 1000, 3000, 10_000), (100, 1000, 10_000)
OUR_SECONDS, PEER_SECONDS = 1.0, 2.0  # approximate time per solver, setting and instance
OUR_RUNS, PEER_RUNS = (16, 1024), (8, 256)  # the fewest and the most runs
QUANTUM = ((100, 1000), 3.0, (4, 32))  # grid, seconds, runs of simulated quantum annealing
LONG = {"sweeps": 20_000, "runs": 256, "rng": 99}  # runs that find the best known energy


class Case(NamedTuple):
    """An instance, and the energy that solvers must reach."""

    what: str
    problem: Ising
    target: int


def cases() -> Iterator[Case]:
    for seed in (1, 2, 3):
        yield best_known(f"3D ±J, L = 8, instance {seed}", (8, 8, 8), seed)
    yield best_known("2D ±J, L = 20", (20, 20), 1)
    yield best_known("2D ±J, L = 32", (32, 32), 1)
    yield planted("tiles in 2D, L = 32, p1 = 1/4, p2 = 1/2", tiles2d(32, p1="1/4", p2="1/2", rng=1))
    yield planted("tiles in 3D, L = 8, p22 = 1", tiles3d(8, p22=1, rng=1))
    yield planted("Wishart, n = 64, α = 3/4", wishart(64, alpha="3/4", rng=1))
    for graph, name in (("torus:24x24", "a torus, 24 × 24"), ("chimera:8", "Chimera, 8 × 8")):
        plant = graph_loops(graph, frustration="1/6", loop_density=1, rng=1)
        yield planted(f"loops on {name}, f = 1/6, density 1", plant)
    peak = round(peak_density(100), 4)
    plant = random_loops(100, 100, frustration="0.2", loop_density=peak, rng=1)
    yield planted("random loops, n = 100, f = 0.2, peak", plant)


def planted(what: str, plant: Planted) -> Case:
    return Case(what, without_isolated(plant.ising), plant.energy)


def best_known(what: str, shape: tuple[int, ...], seed: int) -> Case:
    """Return a lattice of weights ±1, and the lowest energy of long runs of both methods."""
    problem = lattice(shape, seed, normal=False)
    tempered = temper(problem, sweeps=5000, runs=64, rng=99)
    return Case(what, problem, min(anneal(problem, **LONG).best_energy, tempered.best_energy))


# The solvers ----------------------------------------------------------------------------------


def ours(solve: Callable[..., Any], case: Case) -> Callable[..., Any]:
    def run(sweeps: int, runs: int, beta: Any) -> Any:
        found = solve(
            case.problem, sweeps=sweeps, runs=runs, beta=beta, target=case.target, rng=1
        )  # fmt: skip
        return found.energies, found.share

    return run


def theirs(run: Callable[..., Any]) -> Callable[..., Any]:
    return lambda sweeps, runs, beta: (run(sweeps, runs, beta), 1.0)


def quantum(problem: Ising) -> Callable[..., Any]:
    """Return a function that runs simulated quantum annealing of openjij at the last β."""
    from openjij import SQASampler

    edges = zip(problem.edges.tolist(), (-problem.weights).tolist(), strict=True)
    couplings = {tuple(e): float(w) for e, w in edges}
    fields = {k: float(-h) for k, h in enumerate(problem.fields.tolist())}
    sampler = SQASampler()

    def run(sweeps: int, runs: int, beta: Any) -> Any:
        options = {} if beta is None else {"beta": beta[1]}
        answer = sampler.sample_ising(
            fields, couplings, num_reads=runs, num_sweeps=sweeps, **options
        )  # fmt: skip
        return answer.record.energy

    return run


class Timed(NamedTuple):
    """The shortest time to solution of a solver (or infinity), and its run length."""

    seconds: float
    sweeps: int

    def __str__(self) -> str:
        return f"{self.seconds:.3g}" if math.isfinite(self.seconds) else "–"


def least(
    run: Callable[..., Any], target: int, betas: list[Any], grid: tuple[int, ...],
    seconds: float, least_and_most: tuple[int, int],
) -> Timed:  # fmt: skip
    """Return TTS99 of a solver, minimised over run lengths and ranges of β.

    A block of our runs ends early when all runs have reached the target, but a run counts in full.
    """
    found = [Timed(math.inf, 0)]
    fewest, most = least_and_most
    run(2, fewest, betas[0])  # compiles everything
    for beta in betas:
        for sweeps in grid:
            each, _ = timed(run, sweeps, fewest, beta, target)
            runs = int(min(max(seconds / each, fewest), most))
            each, successes = timed(run, sweeps, runs, beta, target)
            found.append(Timed(each * runs_needed(successes / runs, 0.99), sweeps))
    return min(found)


def timed(
    run: Callable[..., Any], sweeps: int, runs: int, beta: Any, target: int
) -> tuple[float, int]:
    """Return the CPU seconds of one run, and the number of runs that reached the target."""
    start = time.process_time()
    energies, share = run(sweeps, runs, beta)
    seconds = time.process_time() - start
    return seconds / runs / share, int(np.count_nonzero(energies <= target + 0.5))


def times_to_solution() -> list[dict[str, Any]]:
    rows = []
    for case in cases():
        problem, target = case.problem, case.target
        ranges = [None, default_range(ColouredGraph(problem))]
        own = (OUR_GRID, OUR_SECONDS, OUR_RUNS)
        peers = (PEER_GRID, PEER_SECONDS, PEER_RUNS)
        times = {
            "anneal": least(ours(anneal, case), target, [None], *own),
            "temper": least(ours(temper, case), target, [None], *own),
            "dwave": least(theirs(dwave(problem)), target, ranges, *peers),
            "openjij": least(theirs(openjij(problem)), target, ranges, *peers),
            "openjij SQA": least(theirs(quantum(problem)), target, ranges, *QUANTUM),
        }
        result = temper(problem, sweeps=100, runs=1, rng=1)
        row: dict[str, Any] = {"what": case.what, "spins": problem.num_variables}
        row |= {f"{name}, s": str(time) for name, time in times.items()}
        best = min(times["anneal"], times["temper"])
        peer = min(times[name] for name in ("dwave", "openjij", "openjij SQA"))
        row["× best peer"] = _ratio(peer, best)
        row["anneal / temper"] = _ratio(times["anneal"], times["temper"])
        row["sweeps"] = times["temper"].sweeps
        row["temperatures"] = len(result.betas)
        row["cluster moves at"] = int(result.ladder.clusters.sum()) if result.ladder else 0
        print(row, flush=True)
        rows.append(row)
    return rows


def _ratio(slow: Timed, fast: Timed) -> str:
    ratio = slow.seconds / fast.seconds
    return f"{ratio:.3g}" if 0 < ratio < math.inf else "–"


# Updates --------------------------------------------------------------------------------------


def updates() -> list[dict[str, Any]]:
    shapes = {"3D ±J, L = 8": (8, 8, 8), "2D ±J, L = 32": (32, 32)}
    return [compare(what, lattice(shape, 1, normal=False)) for what, shape in shapes.items()]


def compare(what: str, problem: Ising) -> dict[str, Any]:
    """Compare one ladder, many ladders and annealing in turn: CPU time of a replica's update."""
    ladder = temper(problem, sweeps=100, runs=1, rng=1)
    looking: dict[str, Any] = {"target": -(2**30), "rng": 1}
    solvers: dict[str, tuple[Any, int, int]] = {
        "anneal, 256 runs": (anneal, 256, 256),
        "temper, 1 run": (temper, 1, ladder.replicas),
        "temper, 64 runs": (temper, 64, 64 * ladder.replicas),
    }
    found: dict[str, list[float]] = {name: [] for name in solvers}
    for _ in range(ROUNDS):
        for name, (solve, runs, replicas) in solvers.items():
            sweeps = round(1e8 / problem.num_variables / max(replicas, 64))
            # The difference of two runs cancels the time that does not depend on the sweeps.
            twice = cpu_seconds(solve, problem, sweeps=2 * sweeps, runs=runs, **looking)
            once = cpu_seconds(solve, problem, sweeps=sweeps, runs=runs, **looking)
            found[name].append(1e9 * (twice - once) / sweeps / problem.num_variables / replicas)
    row: dict[str, Any] = {"what": what, "replicas of a run": ladder.replicas}
    return row | {f"{name}, ns": statistics.median(times) for name, times in found.items()}


def cpu_seconds(solve: Callable[..., Any], *arguments: Any, **options: Any) -> float:
    start = time.process_time()
    solve(*arguments, **options)
    return time.process_time() - start


def main() -> None:
    peers = ("dwave-samplers", "openjij")
    notes = (
        "Per spin of a replica, cluster moves included; median of five rounds in which they take "
        "turns. Annealing looks for a target that is never reached, so that it measures energies "
        "after each sweep, as tempering has to."
    )
    store("tempering-updates", "Tempering: nanoseconds per spin update", updates(), (), notes)
    notes = (
        "TTS99 in CPU seconds of one thread, the least over run lengths (30 to 10 000 sweeps; the "
        "peers 100 to 10 000, SQA to 1000) and, of the peers, over two ranges of β: their own "
        "default and ours. "
        "Targets are planted energies, and for ±J the lowest energy found by long runs of both our "
        "methods. –: no run of any setting succeeded. Whole calls "
        "are timed, the warm-up of tempering included. Ours look for the target at the end of each "
        "sweep; the peers return the last state of a run only."
    )
    rows = times_to_solution()
    store("tempering-tts", "Tempering: time to solution", rows, peers, notes)


if __name__ == "__main__":
    main()
