"""D-Wave's tabu search with restarts."""

from __future__ import annotations

from typing import Any

from glasshouse.extras import optional
from glasshouse.races.rounds.sampler import sampler

_LONGEST = 86_400_000  # milliseconds


@sampler("dwave-tabu", package="dwave-samplers")
def sample(model: Any, effort: int, seed: int, seconds: float) -> Any:
    """One search of so many milliseconds, which is how it counts."""
    samplers = optional("dwave.samplers", "dwave-tabu")
    timeout = int(min(effort, max(1000 * seconds, 1), _LONGEST))
    return samplers.TabuSampler().sample(model, num_reads=1, timeout=timeout, seed=seed)
