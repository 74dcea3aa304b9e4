"""Speed of planting loops: compared with dimod's generator, at scale, and by number of loops."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from benchmarks.record import RESULTS, store
from glasshouse.planting import random_loops_ensemble
from glasshouse.planting.methods import random_loops

F = "1/5"


def best_of(repeats: int, work: Callable[[], Any]) -> float:
    """Return the shortest CPU time of `repeats` runs, because other work can only add time."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def beside_dimod() -> dict[str, Any]:
    """Measure the planting of equal numbers of loops on K(1000, 1000) by dimod and glasshouse."""
    import dimod

    loops = 310
    nodes, edges = list(range(2000)), [(i, 1000 + j) for i in range(1000) for j in range(1000)]
    theirs = best_of(2, lambda: dimod.generators.frustrated_loop((nodes, edges), loops, seed=1))
    ours = best_of(50, lambda: random_loops(1000, 1000, frustration=F, loop_density=0.31, rng=1))
    return {
        "what": "1000 × 1000, 310 loops", "seconds": ours, "loops/s": loops / ours,
        "dimod, seconds": theirs, "times faster": theirs / ours,
    }  # fmt: skip


def sustained() -> dict[str, Any]:
    seconds = best_of(7, lambda: random_loops(1000, 1000, frustration=F, loop_density=100, rng=1))
    what = "1000 × 1000, loop density 100"
    return {"what": what, "seconds": seconds, "loops/s": 100_000 / seconds}


def ensemble() -> dict[str, Any]:
    seconds = best_of(
        3, lambda: random_loops_ensemble(100, 100, 10_000, frustration=F, loop_density=0.345, rng=1)
    )
    what = "10 000 instances of 100 × 100, loop density 0.345"
    return {"what": what, "seconds": seconds, "loops/s": 350_000 / seconds}


_LARGE = """
import resource, time
from glasshouse.planting import random_loops
random_loops(400, 400, frustration="1/5", loops=10, rng=1)
start = time.process_time()
plant = random_loops(10**6, 10**6, frustration="1/5", loops=10**6, rng=1)
grown = time.process_time() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
start = time.process_time()
plant.verify()
print(grown, peak, time.process_time() - start)
"""


def large() -> dict[str, Any]:
    """Plant a large instance in a new process, to measure its memory alone."""
    run = subprocess.run([sys.executable, "-c", _LARGE], capture_output=True, text=True, check=True)
    seconds, peak, verified = map(float, run.stdout.split())
    return {
        "what": "10^6 × 10^6, 10^6 loops", "seconds": seconds, "loops/s": 1e6 / seconds,
        "peak GiB": peak, "verify, seconds": verified,
    }  # fmt: skip


def growth() -> list[dict[str, Any]]:
    """Measure the seconds per loop, which should not depend on the number of loops."""
    rows = []
    for size, most in ((1000, 6), (10**6, 6)):
        for power in range(4, most + 1):
            loops = 10**power
            seconds = best_of(
                2 if power < 6 else 1,
                lambda n=size, k=loops: random_loops(n, n, frustration=F, loops=k, rng=1),
            )
            rows.append({
                "what": f"{size} × {size}, {loops} loops", "seconds": seconds,
                "loops/s": loops / seconds, "size": size, "loops": loops,
            })  # fmt: skip
    return rows


def draw_growth(rows: list[dict[str, Any]]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 3.5), layout="constrained")
    ax = figure.subplots()
    for size in dict.fromkeys(row["size"] for row in rows):
        points = [(row["loops"], row["seconds"]) for row in rows if row["size"] == size]
        ax.loglog(*zip(*points, strict=True), "o-", label=f"{size} × {size}")
    first = min(row["loops"] for row in rows)
    last = max(row["loops"] for row in rows)
    end = min(row["seconds"] for row in rows if row["loops"] == last)
    ax.loglog([first, last], [end * first / last, end], "k:", label="linear")
    ax.set(xlabel="loops", ylabel="seconds", title="random_loops: cost of an instance")
    ax.legend()
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / "planting-growth.svg")


def main() -> None:
    random_loops_ensemble(4, 4, 2, frustration=F, loops=2, rng=1)  # compile before the clock runs
    for size in (100, 1000):
        random_loops(size, size, frustration=F, loops=10_000, rng=1)
    rows = [beside_dimod(), sustained(), ensemble(), large()]
    grown = growth()
    draw_growth(grown)
    rows += [{k: v for k, v in row.items() if k not in ("size", "loops")} for row in grown]
    notes = (
        "CPU seconds on one core, the least of several runs. A 10^6 × 10^6 instance has 2·10^6 "
        "spins whatever its loops, which is its cost while loops are few. `planting-growth.svg` "
        "draws the growth."
    )
    store("planting", "Planting random loops", rows, ("dimod",), notes)


if __name__ == "__main__":
    main()
