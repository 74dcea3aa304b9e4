"""Third-party samplers: simulated annealing by D-Wave and by OpenJij, and tabu search by D-Wave.

The package of a sampler is imported only when the sampler is called.
"""

from __future__ import annotations

from typing import Any

from glasshouse.extras import optional
from glasshouse.races.samplers.rounds import sampler

_READS = 16
_LONGEST = 86_400_000  # milliseconds


@sampler("dwave-anneal", package="dwave-samplers")
def dwave_anneal(model: Any, effort: int, seed: int, seconds: float) -> Any:
    """Run 16 anneals of `effort` sweeps with D-Wave's sampler, at its default temperatures."""
    samplers = optional("dwave.samplers", "dwave-anneal")
    return samplers.SimulatedAnnealingSampler().sample(
        model, num_reads=_READS, num_sweeps=effort, seed=seed
    )


@sampler("dwave-tabu", package="dwave-samplers")
def dwave_tabu(model: Any, effort: int, seed: int, seconds: float) -> Any:
    """Run one tabu search with D-Wave's sampler, for at most `effort` milliseconds."""
    samplers = optional("dwave.samplers", "dwave-tabu")
    timeout = int(min(effort, max(1000 * seconds, 1), _LONGEST))
    return samplers.TabuSampler().sample(model, num_reads=1, timeout=timeout, seed=seed)


@sampler("openjij", package="openjij")
def openjij(model: Any, effort: int, seed: int, seconds: float) -> Any:
    """Run 16 anneals of `effort` sweeps with OpenJij's sampler, at its default temperatures."""
    annealer = optional("openjij", "openjij").SASampler()
    return annealer.sample(model, num_reads=_READS, num_sweeps=effort, seed=seed, sparse=True)
