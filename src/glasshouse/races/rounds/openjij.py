"""OpenJij's simulated annealing."""

from __future__ import annotations

from typing import Any

from glasshouse.extras import optional
from glasshouse.races.rounds.sampler import sampler

_READS = 16


@sampler("openjij", package="openjij")
def sample(model: Any, effort: int, seed: int, seconds: float) -> Any:
    """A few anneals of so many sweeps, with its own range of temperatures."""
    annealer = optional("openjij", "openjij").SASampler()
    return annealer.sample(model, num_reads=_READS, num_sweeps=effort, seed=seed, sparse=True)
