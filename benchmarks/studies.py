"""The overhead of studies over the bare pipeline, their scaling, and large stores."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import store
from glasshouse.charts.style import picture_paths, save
from glasshouse.store import Stop, Store, collect
from glasshouse.studies import Task
from glasshouse.studies.charts import plot_study
from glasshouse.studies.study import parse_study

FAMILY = {"n": 100, "frustration": "1/10", "loop_density": "0.3451"}
ROWS = 10_000_000
ROUNDS = 5
# Ten sizes of one family, for the plot of a store of many rows.
STUDY = """
name = "large"
title = "Ten million rows"
figure = "size"
statistic = "geometric_mean"

[[family]]
method = "random_loops"
parameters = { frustration = "1/10", loop_density = "peak" }
grid = { n = [30, 40, 50, 60, 70, 80, 90, 100, 110, 120] }
"""


def family(instances: int, seed: int) -> Task:
    return Task("random_loops", FAMILY, seed=seed, stop=Stop(instances))


def collected(tasks: list[Task], workers: int | None = None) -> float:
    """Return the seconds of a study from an empty store to its end."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        end = collect(tasks, Path(folder) / "s.sqlite", workers=workers)
        seconds = time.perf_counter() - begin
        assert end.is_complete
    return seconds


def overhead(instances: int = 10_000) -> dict[str, Any]:
    """Measure the same instances by one call of the bare pipeline and by a study, in turn."""
    family(100, 0).measure(0, 100)  # compiles and loads everything
    bare, study = [], []
    for seed in range(ROUNDS):
        begin = time.process_time()
        family(instances, seed).measure(0, instances)
        bare.append(time.process_time() - begin)
        begin = time.process_time()
        collected([family(instances, seed)])
        study.append(time.process_time() - begin)
    return {
        "what": f"{instances} instances, n = 100, f = 0.1, one process",
        "bare pipeline, CPU seconds": min(bare), "study, CPU seconds": min(study),
        "overhead": min(study) / min(bare) - 1,
    }  # fmt: skip


def workers(instances: int = 100_000) -> dict[str, Any]:
    """Measure a study with one and two worker processes, including their start."""
    tasks = [family(instances, 1)]
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(2):
        for number, seconds in times.items():
            seconds.append(collected(tasks, number))
    one, two = (min(times[number]) for number in (1, 2))
    return {
        "what": f"{instances} instances, workers", "1 worker, seconds": one,
        "2 workers, seconds": two, "times faster": one / two,
    }  # fmt: skip


def large(rows: int = ROWS) -> dict[str, Any]:
    """Measure a store of many rows: its size, and the time of status, check and plot."""
    study = parse_study(STUDY)
    rng = np.random.default_rng(1)
    each, batch = rows // len(study.tasks), 20_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.sqlite"
        begin = time.perf_counter()
        with Store(path, write=True) as opened:
            opened.note("study", study.text)
            for task in opened.add_tasks(study.tasks):
                for first in range(0, each, batch):
                    opened.add_batch(task, first, pretended_rows(rng, batch))
        result: dict[str, Any] = {
            "what": f"{rows} rows", "insert, seconds": time.perf_counter() - begin,
            "megabytes": path.stat().st_size / 1e6,
        }  # fmt: skip
        with Store(path) as opened:
            for name, work in (("status", opened.status), ("check", opened.check)):
                begin = time.perf_counter()
                work()
                result[f"{name}, seconds"] = time.perf_counter() - begin
            begin = time.perf_counter()
            save(plot_study(opened).figure, picture_paths(Path(folder) / "large"))
            result["plot, seconds"] = time.perf_counter() - begin
    return result


def pretended_rows(rng: np.random.Generator, count: int) -> dict[str, Any]:
    """Return random rows whose numbers have realistic sizes."""
    return {
        "sweeps": np.exp(rng.normal(5, 1, count)).astype(np.int64) + 1,
        "solved": np.ones(count, dtype=np.int64),
        "energy": np.full(count, -2835),
        "frustration": np.full(count, 0.1),
        "loops": np.full(count, 35),
        "seconds": rng.exponential(1e-4, count),
    }


def main() -> None:
    rows = []
    for measured in (overhead, workers, large):
        rows.append(measured())
        print(json.dumps(rows[-1], indent=1))
    store(
        "studies", "Studies: cost of the layer, workers, large stores", rows, ("dask", "matplotlib")
    )


if __name__ == "__main__":
    main()
