"""A sampler that draws random states."""

from __future__ import annotations

from typing import Any

from glasshouse.extras import optional
from glasshouse.races.samplers import sampler


@sampler("coin", package="dimod")
def sample(model: Any, effort: int, seed: int, seconds: float) -> Any:
    """Draw `effort` random states."""
    dimod = optional("dimod", "coin")
    return dimod.RandomSampler().sample(model, num_reads=effort, seed=seed)
