"""Rounds of growing effort with a sampler."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from glasshouse.planting.randomness import RngLike, Seed
from glasshouse.problems import Problem, validation
from glasshouse.problems.convert import to_ising
from glasshouse.proofs.interruption import interruptible
from glasshouse.races.rounds.sampler import SAMPLERS

_FIRST = 16


def iter_sampled(
    name: str, problem: Problem, *, rng: RngLike = None, time_limit: float | None = None
) -> Iterator[npt.NDArray[np.int8]]:
    """The best state of each round, in the problem's own values, until time is up.

    Rounds are twice as long each time. Samplers cannot be stopped: a round that would not end in
    time, by the one before, is made shorter. On Ctrl-C one is left behind.

    Args:
        name: of a sampler in `SAMPLERS`.
        problem: any; weights above 2^53 are refused, because samplers compute in floats.
        rng: a seed; each round has one of its own that comes from it.
        time_limit: seconds of all rounds together; None goes on for ever.

    Raises:
        MissingPackageError: the sampler is not installed.
    """
    known, seed = SAMPLERS.find(name, "solver"), Seed.of(rng)
    limit = validation.time_limit(time_limit)
    deadline = math.inf if limit is None else time.monotonic() + limit
    ising, reduction = to_ising(problem)
    model = replace(ising, labels=None).to_bqm()
    effort, number, left = _FIRST, 0, deadline - time.monotonic()
    while left > 0 or number == 0:
        draw = int(seed.child(number).sequence().generate_state(1)[0]) >> 1  # samplers take 31 bits
        began, work, rest = time.monotonic(), effort, left
        found = interruptible(
            lambda: known.sample(model, work, draw, rest),  # noqa: B023
            lambda: None,
            patience=0.0,
        )
        best = found.record.sample[np.argmin(found.record.energy)]
        order = np.argsort(np.array(list(found.variables), dtype=np.int64))
        yield reduction.back(best[order].astype(np.int8))
        took, left = time.monotonic() - began, deadline - time.monotonic()
        effort = max(1, int(effort * min(2.0, left / max(took, 1e-6)))) if left > 0 else 1
        number += 1
