"""Speed of annealing compared with dwave-samplers and openjij: updates and time to solution.

All solvers get the same ungauged problem without its isolated spins. Times are CPU seconds of one
thread. The solvers take turns in each round; ratios are formed within a round, and their median
over the rounds is reported.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.record import store
from glasshouse.planting.methods import random_loops, structured_loops, wishart
from glasshouse.problems import Ising, Rbm
from glasshouse.problems.convert import to_ising
from glasshouse.solvers import anneal, paper_schedule, peak_density
from glasshouse.solvers.engine import ColouredGraph
from glasshouse.solvers.kernels.kernel import FEW_RUNS
from glasshouse.solvers.schedule import default_range
from glasshouse.statistics.intervals import runs_needed

ROUNDS = 7
PEERS = ("dwave-samplers", "openjij")
PEER_UPDATES, OUR_UPDATES = 4e6, 1.5e8  # updates of one timing, which take .06 s and .04 s
TTS_GRID = (30, 100, 300, 1000, 3000)


def without_isolated(problem: Ising) -> Ising:
    """Return a problem without the spins that have neither an edge nor a field."""
    used = np.zeros(problem.num_variables, bool)
    used[problem.edges] = True
    used |= problem.fields != 0
    place = np.cumsum(used) - 1
    return Ising(
        int(used.sum()), place[problem.edges].astype(np.int32), problem.weights,
        problem.fields[used], problem.offset,
    )  # fmt: skip


def sparse(n: int, frustration: str) -> tuple[Ising, int]:
    planted = random_loops(
        n, n, frustration=frustration, loop_density=round(peak_density(n), 4), rng=1
    )
    return without_isolated(planted.ising), planted.energy


class Case(NamedTuple):
    """A dense problem, its number of runs, and the range of β of all solvers."""

    name: str
    problem: Ising
    runs: int
    beta: tuple[float, float]
    schedule: Any = "geometric"


def dense() -> list[Case]:
    planted = structured_loops(40, 40, frustration="0.23", block="0.3", loop_density=40, rng=1)
    structured = without_isolated(planted.ising)
    paper = paper_schedule(40, "0.23", 40, unit=planted.loop_weight)
    draws = np.random.default_rng(1)
    signs = Ising.from_matrix(np.triu(draws.choice([-1, 1], (200, 200)), 1))
    rbm = to_ising(Rbm(draws.normal(size=(64, 64)), *draws.normal(0, 0.5, (2, 64))))[0]
    others = [
        ("structured n = 40, density 40, default β", structured, 256),
        ("complete graph, ±1, n = 200", signs, 64),
        (
            "Wishart n = 128, 64 columns",
            without_isolated(wishart(128, columns=64, rng=1).ising),
            64,
        ),
        ("RBM 64 × 64, floats", rbm, 64),
    ]
    return [
        Case("structured n = 40, density 40, paper's β", structured, 256, paper.beta, "linear"),
        *(Case(*case, default_range(ColouredGraph(case[1]))) for case in others),
    ]


def cube(side: int, weights: Callable[..., Any]) -> tuple[Ising, int]:
    """Return a periodic cubic lattice, and an energy that no state reaches."""
    site = np.arange(side**3, dtype=np.int64).reshape(side, side, side)
    steps = [np.stack([site, np.roll(site, -1, axis)], -1).reshape(-1, 2) for axis in range(3)]
    edges = np.concatenate(steps)
    problem = Ising.from_edges(side**3, edges, weights(np.random.default_rng(1), len(edges)))
    return problem, -math.ceil(problem.total_weight)


CUBES = {
    "3D ±J L = 8": lambda rng, size: rng.choice([-1, 1], size),
    "3D Gaussian L = 8, floats": lambda rng, size: rng.normal(size=size),
    "3D Gaussian L = 8, integers": lambda rng, size: rng.normal(0, 1e5, size).round().astype(int),
}


# The peers ------------------------------------------------------------------------------------


def dwave(problem: Ising) -> Callable[..., Any]:
    """Return a function that anneals a problem with dwave-samplers, which negates weights."""
    import dimod
    from dwave.samplers import SimulatedAnnealingSampler

    edges = zip(problem.edges.tolist(), (-problem.weights).tolist(), strict=True)
    model = dimod.BinaryQuadraticModel(
        dict(enumerate((-problem.fields).tolist())), {tuple(e): w for e, w in edges}, 0.0, "SPIN"
    )
    sampler = SimulatedAnnealingSampler()

    def run(
        sweeps: int, runs: int, beta: tuple[float, float] | None = None, schedule: Any = "geometric"
    ) -> Any:
        answer = sampler.sample(
            model, num_reads=runs, num_sweeps=sweeps, beta_range=beta, seed=1,
            beta_schedule_type=schedule,
        )  # fmt: skip
        return answer.record.energy

    return run


def openjij(problem: Ising) -> Callable[..., Any]:
    """Return a function that anneals a problem with openjij, unseeded so that runs differ."""
    from openjij import SASampler

    edges = zip(problem.edges.tolist(), (-problem.weights).tolist(), strict=True)
    couplings = {tuple(e): float(w) for e, w in edges}
    fields = {k: float(-h) for k, h in enumerate(problem.fields.tolist())}
    is_sparse = problem.num_edges < problem.num_variables**2 / 16
    sampler = SASampler()

    def run(
        sweeps: int, runs: int, beta: tuple[float, float] | None = None, schedule: Any = "geometric"
    ) -> Any:
        first, last = beta or (None, None)
        if schedule == "linear":
            steps = [[b, 1] for b in np.linspace(first, last, sweeps).tolist()]
            return sampler.sample_ising(
                fields, couplings, num_reads=runs, schedule=steps, sparse=is_sparse
            ).record.energy
        answer = sampler.sample_ising(
            fields, couplings, num_reads=runs, num_sweeps=sweeps, beta_min=first, beta_max=last,
            sparse=is_sparse,
        )  # fmt: skip
        return answer.record.energy

    return run


def ours(problem: Ising, **options: Any) -> Callable[..., Any]:
    def run(
        sweeps: int, runs: int, beta: tuple[float, float] | None = None, schedule: Any = "geometric"
    ) -> Any:
        return anneal(
            problem, sweeps=sweeps, runs=runs, beta=beta, schedule=schedule, rng=1, **options
        ).energies

    return run


# Updates --------------------------------------------------------------------------------------


def nanoseconds(
    run: Callable[..., Any], spins: int, runs: int, updates: float, beta: tuple[float, float]
) -> float:
    """Return the CPU time of one spin update of one run, in nanoseconds.

    If there are few runs, calls have 1000 sweeps and are repeated, so that the time includes the
    start of a call, as for users. Otherwise runs are so long that the start is negligible.
    """
    few = runs <= FEW_RUNS
    sweeps = 1000 if few else max(100, round(updates / spins / runs))
    calls = max(1, round(updates / spins / runs / sweeps)) if few else 1
    start = time.process_time()
    for _ in range(calls):
        run(sweeps, runs, beta)
    return (time.process_time() - start) / (calls * sweeps * spins * runs) * 1e9


def compare(name: str, problem: Ising, runs: int, energy: int) -> dict[str, Any]:
    """Return a row of the table: ns per update of each solver, and the speed-up of glasshouse."""
    scale = runs / 256 if runs < 256 else 1
    solvers = {
        "glasshouse": (ours(problem), OUR_UPDATES * scale),
        "dwave": (dwave(problem), PEER_UPDATES),
        "openjij": (openjij(problem), PEER_UPDATES),
        "target, sweep": (ours(problem, target=energy - 1), OUR_UPDATES * scale),
        "target, flip": (ours(problem, target=energy - 1, check="flip"), OUR_UPDATES * scale),
    }
    beta = default_range(ColouredGraph(problem))  # all solvers use the same range
    for run, _ in solvers.values():
        run(2, runs, beta)
    rounds: dict[str, list[float]] = {key: [] for key in solvers}
    for _ in range(ROUNDS):
        for key, (run, updates) in solvers.items():
            rounds[key].append(nanoseconds(run, problem.num_variables, runs, updates, beta))
    return as_row(name, problem, runs, rounds)


def as_row(name: str, problem: Ising, runs: int, rounds: dict[str, list[float]]) -> dict[str, Any]:
    row: dict[str, Any] = {"what": name, "spins": problem.num_variables, "runs": runs}
    for key, times in rounds.items():
        row[f"{key}, ns"] = statistics.median(times)
    for peer in ("dwave", "openjij"):
        pairs = zip(rounds[peer], rounds["glasshouse"], strict=True)
        row[f"× {peer}"] = statistics.median(a / b for a, b in pairs)
    row["kernel"] = anneal(problem, sweeps=1, runs=runs, rng=1).kernel
    return row


def compare_dense(case: Case, runs: int) -> dict[str, Any]:
    """Return a row for a dense problem, for calls of 1000 sweeps over the same range of β."""
    problem = case.problem
    solvers = {
        "glasshouse": ours(problem),
        "dwave": dwave(problem),
        "openjij": openjij(problem),
        "target, sweep": ours(problem, target=-1e9),
        "target, flip": ours(problem, target=-1e9, check="flip"),
    }
    rounds: dict[str, list[float]] = {key: [] for key in solvers}
    for run in solvers.values():
        run(2, runs, case.beta, case.schedule)
    for _ in range(ROUNDS):
        for key, run in solvers.items():
            wanted = PEER_UPDATES if key in ("dwave", "openjij") else 2e7
            reads = runs if key not in ("dwave", "openjij") else min(runs, 32)
            calls = max(1, round(wanted / (1000 * reads * problem.num_variables)))
            start = time.process_time()
            for _ in range(calls):
                run(1000, reads, case.beta, case.schedule)
            updates = 1000 * reads * problem.num_variables * calls
            rounds[key].append((time.process_time() - start) / updates * 1e9)
    return as_row(case.name, problem, runs, rounds)


def updates() -> list[dict[str, Any]]:
    rows = []
    for runs in (256, 32):
        for n in (100, 200, 1000):
            for f in ("0.1", "0.2"):
                problem, energy = sparse(n, f)
                rows.append(compare(f"sparse n = {n}, f = {f}", problem, runs, energy))
    for runs in (8, 1):
        problem, energy = sparse(100, "0.2")
        rows.append(compare("sparse n = 100, f = 0.2", problem, runs, energy))
    for name, weights in CUBES.items():
        problem, energy = cube(8, weights)
        rows.append(compare(name, problem, 256, energy))
    rows += [compare_dense(case, runs) for case in dense() for runs in (case.runs, 8, 1)]
    for runs in (256, 32):
        chosen = [row for row in rows if row["runs"] == runs and row["what"].startswith("sparse")]
        mean = {
            key: math.exp(statistics.fmean(math.log(row[key]) for row in chosen))
            for key in ("× dwave", "× openjij")
        }
        rows.append({"what": f"geometric mean, sparse, {runs} runs", "runs": runs} | mean)
    return rows


# Time to solution -----------------------------------------------------------------------------


def best_tts(run: Callable[..., Any], energy: int, betas: list[Any], runs: int) -> float:
    """Return TTS99 in CPU seconds, minimised over run lengths and ranges of β."""
    least = math.inf
    for beta in betas:
        for sweeps in TTS_GRID:
            start = time.process_time()
            energies = run(sweeps, runs, beta)
            seconds = time.process_time() - start
            share = float(np.mean(energies <= energy + 0.5))
            least = min(least, seconds / runs * runs_needed(share, 0.99))
    return least


def times_to_solution() -> list[dict[str, Any]]:
    rows = []
    for seed in (1, 2, 3):
        planted = random_loops(
            60, 60, frustration="0.21", loop_density=round(peak_density(60), 4), rng=seed
        )
        problem = without_isolated(planted.ising)
        unit = planted.loop_weight
        # The default of each peer, the paper's range, and the range that suits our solver.
        ranges = [None, (0.01 / unit, math.log(60) / unit), (0.4 / unit, 13 / unit)]
        times = {
            "glasshouse": best_tts(
                ours(problem, target=planted.energy), planted.energy, [None, ranges[2]], 4096
            ),
            "dwave": best_tts(dwave(problem), planted.energy, ranges, 512),
            "openjij": best_tts(openjij(problem), planted.energy, ranges, 512),
        }
        row: dict[str, Any] = {"what": f"TTS99, n = 60, f = 0.21, instance {seed}"}
        row |= {f"{key}, s": value for key, value in times.items()}
        row["× best peer"] = min(times["dwave"], times["openjij"]) / times["glasshouse"]
        rows.append(row)
    return rows


def compare_updates() -> None:
    """Store the table of update times, under the name of the CPU that Numba compiles for."""
    notes = (
        "CPU time of one thread, median of seven rounds in which the solvers take turns; a ratio "
        "is formed within a round. All solvers get the same sweeps and the same range of β. Of 8 "
        "runs, of one, and of dense problems: whole calls of 1000 sweeps. `target` columns: the "
        "same runs looking for an energy that is "
        "never reached, at the end of each sweep and after every flip."
    )
    processor = os.environ.get("NUMBA_CPU_NAME", "")
    title = "Annealing: nanoseconds per spin update"
    title += f", compiled for {processor}" if processor else ""
    name = "anneal-updates" + (f"-{processor}" if processor else "")
    store(name, title, updates(), PEERS, notes)


def main() -> None:
    compare_updates()
    notes = (
        "The least over runs of 30 to 3000 sweeps and over ranges of β: each solver's own default, "
        "one that suits these instances, and for the peers also the paper's. CPU time of one "
        "thread. Ours looks for the target at the end of each sweep; the peers return the last "
        "state of a run only."
    )
    store("anneal-tts", "Annealing: time to solution", times_to_solution(), PEERS, notes)


if __name__ == "__main__":
    compare_updates() if sys.argv[1:] == ["updates"] else main()
