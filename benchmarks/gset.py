"""Max-Cut within a time limit: twenty graphs of the G-set, two 3D tori and a dense graph.

`python -m benchmarks gset --instances DIR` reads the files of a folder and its subfolders, whatever
their suffixes. The files are third-party data and not part of this repository. The twenty graphs,
of all kinds and sizes, were chosen before `minimise` was written. G38 replaces G63, whose available
file was truncated. The constants of `minimise` were chosen on G35, G55, G70, G81 and torusg3-15.

Every solver gets the same processor time over all of its threads, so that other work on the
computer does not matter. Our solver stops at the best known value. The peers get rounds of
increasing numbers of sweeps, the last of which fits into the remaining time. The table is stored
after each graph.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from benchmarks.anneal import dwave, openjij
from benchmarks.glasses import complete
from benchmarks.record import store
from glasshouse.files import read_document
from glasshouse.problems import Ising
from glasshouse.solvers import Minimum, minimise, minimising

# The largest cut in two public tables of November 2026. `prove` has proven those of `PROVEN`.
BEST_KNOWN = {
    "G1": 11624, "G6": 2178, "G11": 564, "G14": 3064, "G18": 992, "G22": 13359, "G27": 3341,
    "G32": 1410, "G35": 7687, "G38": 7688, "G39": 2408, "G43": 6660, "G48": 6000, "G51": 3848,
    "G55": 10299, "G57": 3494, "G60": 14188, "G67": 6950, "G70": 9591, "G81": 14060,
    "torusg3-15": 286626481, "toruspm3-15-50": 3016,
}  # fmt: skip
PROVEN = ("G11", "G32", "G48", "G57", "G67", "G81")
DENSE = "K2000"  # a complete graph with weights ±1, generated here, whose optimum is unknown
_RUNS = 8  # runs of a peer in one call
_FIRST, _MOST = 64, 2**24  # sweeps of a peer's first call, and of its largest call
_MOST_DENSE = 8000  # the most vertices of a dense matrix for simulated bifurcation


class Graph(NamedTuple):
    """An instance, the function that turns an energy into its cut, and the best known energy."""

    name: str
    problem: Ising
    cut_of: Callable[[Any], Any]
    best: Any = None


def graphs(folder: Path, names: list[str]) -> Iterator[Graph]:
    """Yield the named instances of a folder, and print which of them are missing."""
    for name in names:
        if name == DENSE:
            yield Graph(DENSE, complete(2000, 1), lambda energy: -energy)
            continue
        path = next((p for p in sorted(folder.rglob(f"{name}.*")) if p.is_file()), None)
        if path is None:
            print(f"{name}: there is no such file in {folder}")
            continue
        document = read_document(path, format="mc")
        measure = document.measure
        best = float((BEST_KNOWN[name] - measure.shift) / measure.factor)
        yield Graph(name, document.problem, measure.of, best)


# The solvers: each returns the lowest energy it finds within some seconds ------------------------


def ours(graph: Graph, seconds: float, seed: int) -> Minimum:
    """Run `minimise` on a graph, with a time limit in seconds of processor time."""
    with mock.patch.object(minimising, "working_time", time.process_time):
        return minimise(graph.problem, time_limit=seconds, target=graph.best, rng=seed)


def in_rounds(make: Callable[[Ising], Callable[..., Any]]) -> Callable[..., Any]:
    """Return a solver that calls an annealer with more and more sweeps until its time ends."""

    def solve(problem: Ising, seconds: float, seed: int) -> Any:
        began = time.process_time()
        run, sweeps, lowest = make(problem), _FIRST, np.inf
        while True:
            start = time.process_time()
            lowest = min(lowest, float(np.min(run(sweeps, _RUNS))))
            now = time.process_time()
            left = seconds - (now - began)
            possible = left / (now - start) * sweeps
            if possible < sweeps / 8 or left <= 0:
                return round(lowest) + problem.offset
            sweeps = max(1, int(min(2 * sweeps, possible, _MOST)))

    return solve


def bifurcation(problem: Ising) -> Callable[..., Any]:
    """Return a function that runs discrete simulated bifurcation on a dense matrix."""
    import simulated_bifurcation as sb
    import torch

    torch.set_num_threads(1)
    size = problem.num_variables
    matrix = torch.zeros((size, size))
    first, second = torch.tensor(problem.edges.T.astype(np.int64))
    matrix[first, second] = torch.tensor(-problem.weights.astype(np.float32))
    model = sb.build_model(matrix, torch.tensor(-problem.fields.astype(np.float32)))

    def run(steps: int, runs: int) -> Any:
        # The default number of agents is used, because matrix products need many agents.
        _, value = model.minimize(
            domain="spin", mode="discrete", max_steps=steps, early_stopping=False, verbose=False
        )
        return float(value)

    return run


PEERS = {
    "dwave-samplers": in_rounds(dwave),
    "openjij": in_rounds(openjij),
    "simulated-bifurcation": in_rounds(bifurcation),
}


# The table ------------------------------------------------------------------------------------


def row_of(graph: Graph, seconds: float, seeds: int, peers: list[str]) -> dict[str, Any]:
    """Run all solvers on one graph, and return its row of the table."""
    problem = graph.problem
    minimise(problem, time_limit=0.1, target=None, rng=0)  # compiles everything
    minima = [ours(graph, seconds, seed) for seed in range(1, seeds + 1)]
    cuts = [graph.cut_of(minimum.energy) for minimum in minima]
    taken = ["–" if m.ended == "time limit" else f"{m.seconds:.2g}" for m in minima]
    found = {name: _peer(name, graph, seconds) for name in peers}
    best = BEST_KNOWN.get(graph.name) or max([*cuts, *(c for c in found.values() if c is not None)])
    row: dict[str, Any] = {
        "graph": graph.name + ("*" if graph.name in PROVEN else ""),
        "vertices": problem.num_variables,
        "edges": problem.num_edges,
        "best known": best if graph.name in BEST_KNOWN else f"{best} (here)",
        "cuts": " ".join(map(str, cuts)),
        "reached": f"{sum(cut >= best for cut in cuts)} of {seeds}",
        "seconds": " ".join(taken),
        "gap, %": gap(statistics.median(cuts), best),
        "worst gap, %": gap(min(cuts), best),
    }
    row |= {f"{name}, %": "–" if c is None else gap(c, best) for name, c in found.items()}
    print(row, flush=True)
    return row


def _peer(name: str, graph: Graph, seconds: float) -> Any:
    """Return the cut that a peer finds, or None if the graph is too large for the peer."""
    if name == "simulated-bifurcation" and graph.problem.num_variables > _MOST_DENSE:
        return None
    return graph.cut_of(PEERS[name](graph.problem, seconds, 1))


def gap(cut: float, best: float) -> str:
    """Return how far a cut is below the best known cut, in percent."""
    return f"{100 * (best - cut) / best:.3f}"


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser("python -m benchmarks gset", description=__doc__)
    add = parser.add_argument
    add("names", nargs="*", help="graphs; all by default")
    add("--instances", type=Path, required=True, help="a folder with the files")
    add("--seconds", type=float, default=30, help="processor time of each run")
    add("--seeds", type=int, default=3, help="runs of glasshouse on each graph")
    add("--peers", nargs="*", default=list(PEERS), choices=list(PEERS), help="default: all peers")
    options = parser.parse_args(words)
    notes = (
        f"{options.seconds:g} s of processor time for each run of each solver. Ours is `minimise`, "
        f"{options.seeds} seeds, which stops at the best known value: the cuts, how many reach "
        "that value and after how many seconds, and the gaps of the median and of the worst. Best "
        "known: the largest cut of two public tables of November 2026; * the optimum, proven by "
        "`glasshouse prove`."
    )
    if options.peers:
        notes += (
            f" Peers run in rounds of {_FIRST}, {2 * _FIRST}, … sweeps (or steps), {_RUNS} runs "
            "each, with their own default temperatures; simulated bifurcation is the discrete one, "
            f"with 128 agents on a dense matrix, up to {_MOST_DENSE} vertices. A negative gap is "
            "above the best known value."
        )
    rows = []
    for graph in graphs(options.instances, options.names or [*BEST_KNOWN, DENSE]):
        rows.append(row_of(graph, options.seconds, options.seeds, options.peers))
        store("gset", "Max-Cut within a time limit", rows, tuple(options.peers), notes)
