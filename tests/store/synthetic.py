"""Tasks that cost nothing, and tasks that die, hang or fail: what collecting must survive."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from glasshouse.store.row_types import Column, Kind, Stop

KIND = Kind(
    "hardness",
    (
        Column("sweeps", "integer", "pretended sweeps"),
        Column("solved", "integer", "1 where solved"),
        Column("energy", "integer", "a large number that must stay exact"),
    ),
    counted="solved",
)


@dataclass(frozen=True)
class Fake:
    """Log-normal numbers from (seed, instance), as if they were sweeps.

    `trouble` names a thing that happens once, when instance `at` is measured: "die" (SIGKILL),
    "hang", "raise". A file in `folder` remembers that it happened, so that it happens `times`
    times only.
    """

    seed: int = 1
    stop: Stop = field(default_factory=lambda: Stop(50))
    pause: float = 0.0
    trouble: str = ""
    at: int = 7
    times: int = 1
    folder: str = ""
    mu: float = 4.0
    limit: int = 10**6

    @property
    def kind(self) -> Kind:
        return KIND

    def canonical(self) -> str:
        return json.dumps({"fake": self.seed, "mu": self.mu, "limit": self.limit}, sort_keys=True)

    @property
    def task_id(self) -> str:
        return hashlib.sha256(self.canonical().encode()).hexdigest()

    def realise(self) -> dict[str, float]:
        return {}

    def measure(self, first: int, count: int) -> dict[str, np.ndarray]:
        if self.trouble and first <= self.at < first + count:
            self._make_trouble()
        sweeps = np.empty(count, dtype=np.int64)
        for k in range(count):
            rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(first + k,)))
            sweeps[k] = int(np.exp(rng.normal(self.mu, 1.0))) + 1
            time.sleep(self.pause)
        solved = (sweeps <= self.limit).astype(np.int64)
        energy = -(2**60) - np.arange(first, first + count)
        seconds = np.full(count, max(self.pause, 1e-5))
        sweeps = np.minimum(sweeps, self.limit)
        return {"sweeps": sweeps, "solved": solved, "energy": energy, "seconds": seconds}

    def _make_trouble(self) -> None:
        marks = Path(self.folder)
        happened = len(list(marks.glob("trouble-*")))
        if happened >= self.times:
            return
        (marks / f"trouble-{os.getpid()}-{time.monotonic_ns()}").touch()
        if self.trouble == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.trouble == "hang":
            time.sleep(1000)
        raise ArithmeticError("pretended trouble")


def table(path: Path) -> dict[str, dict[str, list[float]]]:
    """All rows of a store but their seconds."""
    from glasshouse.store.store import Store

    found = {}
    with Store(path) as store:
        assert store.check() == []
        for task in store.tasks():
            rows = store.rows(task)
            del rows["seconds"]
            found[task.task_id] = {name: column.tolist() for name, column in rows.items()}
    return found
