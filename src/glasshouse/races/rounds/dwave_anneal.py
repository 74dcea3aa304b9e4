"""D-Wave's simulated annealing."""

from __future__ import annotations

from typing import Any

from glasshouse.extras import optional
from glasshouse.races.rounds.sampler import sampler

_READS = 16


@sampler("dwave-anneal", package="dwave-samplers")
def sample(model: Any, effort: int, seed: int, seconds: float) -> Any:
    """A few anneals of so many sweeps, with its own range of temperatures."""
    samplers = optional("dwave.samplers", "dwave-anneal")
    return samplers.SimulatedAnnealingSampler().sample(
        model, num_reads=_READS, num_sweeps=effort, seed=seed
    )
