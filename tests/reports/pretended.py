"""Stores that look like those of long races and studies, made in a moment."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from glasshouse.files.known import Known
from glasshouse.races.commands.entrants import Entrant
from glasshouse.races.commands.race_task import RACE, RaceTask, row_of
from glasshouse.races.commands.racing import NOTE
from glasshouse.races.judging.clauses import Judgement, RunVerdict
from glasshouse.races.running.command import Limits, SolverCommand
from glasshouse.store.store import Store
from glasshouse.studies.quantities.hardness import HARDNESS
from glasshouse.studies.study import parse_study, reserve

LIMIT = 60.0


def race_store(
    path: Path, solvers: int = 10, instances: int = 200, *, names: list[str] | None = None,
    left_out: int = 0,
) -> Path:  # fmt: skip
    """A race with log-normal times, incumbents and some faults; the last tasks may have no runs."""
    rng = np.random.default_rng(7)
    names = names or [f"solver-{k}" for k in range(solvers)]
    command = SolverCommand.parse(f"{sys.executable} {{file}}")
    entrants = [Entrant(name, command, "classic", "x") for name in names]
    tasks = [
        RaceTask(entrant, f"peak n={20 + 20 * (k % 5)} #{k}", Path(f"/x/instance-{k}.wcnf"),
                 "0" * 64, {"method": "random_loops", "n": 20 + 20 * (k % 5)},
                 Known(100 + k, 100 + k), Limits(LIMIT))
        for k in range(instances) for entrant in entrants
    ]  # fmt: skip
    with Store(path, write=True) as store:
        solver_notes = {one.name: {"command": "solve {file}", "dialect": "classic",
                                   "fingerprint": "x", "start_seconds": None}
                        for one in entrants}  # fmt: skip
        rules = {"suite": "pretended", "digest": "0", "seed": 1, "seconds": LIMIT, "grace": 1.0,
                 "memory": 1 << 32}  # fmt: skip
        store.note(NOTE, json.dumps(rules | {"solvers": solver_notes}))
        stored = store.add_tasks(tasks)
        speeds = {name: 0.2 * 1.8**k for k, name in enumerate(names)}
        for task, held in list(zip(tasks, stored, strict=True))[: len(tasks) - left_out]:
            rows = [_run(rng, speeds[task.entrant.name], task)]
            columns = {c.name: np.array([row[c.name] for row in rows], c.dtype)
                       for c in RACE.measured}  # fmt: skip
            store.add_batch(held, 0, columns)
        if not left_out:
            store.mark_finished(stored)
    return path


def _run(rng: np.random.Generator, speed: float, task: RaceTask) -> dict[str, object]:
    best = task.known.best
    assert best is not None
    seconds = float(np.exp(rng.normal(np.log(speed * task.parameters["n"] / 20), 1.3)))
    is_solved = seconds < LIMIT
    is_fault = rng.random() < 0.01
    verdict = RunVerdict.OPTIMAL if is_solved else RunVerdict.TIME_OUT
    cost: int | None = best if is_solved else best + int(rng.integers(1, 30))
    if is_fault:
        verdict, cost = RunVerdict.CRASH, None
    row = row_of(Judgement(verdict, "as pretended", cost=cost, stated=cost))
    steps = np.sort(rng.uniform(0.01, 1, 5)) * min(seconds, LIMIT)
    values = [best + 90, best + 40, best + 20, best + 8, best if cost is None else cost]
    said = [[float(at), str(value)] for at, value in zip(steps, values, strict=True)]
    row |= {
        "seconds": min(seconds, LIMIT), "solved": int(verdict is RunVerdict.OPTIMAL),
        "stopped": "" if is_solved else "time", "incumbents": json.dumps(said),
    }  # fmt: skip
    return row


STUDY = """
name = "pretended"
title = "A study of {rows} rows"
figure = "density"
statistic = "geometric_mean"
[stop]
instances = {instances}
[[family]]
method = "random_loops"
parameters = {{ frustration = "1/20" }}
grid = {{ n = [16, 24], loop_density = {{ first = 0.112, ratio = 1.2, count = {count} }} }}
"""


def study_store(
    path: Path, instances: int = 200, count: int = 12, *, unmeasured: int = 0, title: str = ""
) -> Path:
    """A study whose hardness has a peak; the last tasks may be unmeasured."""
    text = STUDY.format(instances=instances, count=count, rows=2 * count * instances)
    study = parse_study(text.replace("A study of", title or "A study of"))
    rng = np.random.default_rng(3)
    with Store(path, write=True) as store:
        reserve(store, study)
        stored = store.add_tasks(study.tasks)
        for k, held in enumerate(stored[: len(stored) - unmeasured]):
            peak = np.exp(-0.5 * ((k % count - count / 2) / (count / 4)) ** 2)
            sweeps = np.ceil(np.exp(rng.normal(2 + 2 * peak, 1, instances))).astype(np.int64)
            rows = {c.name: np.zeros(instances, c.dtype) for c in HARDNESS.measured}
            rows |= {"sweeps": sweeps, "solved": np.ones(instances, np.int64),
                     "seconds": np.full(instances, 0.001)}  # fmt: skip
            store.add_batch(held, 0, rows)
        if not unmeasured:
            store.mark_finished(stored)
    return path
